//! Who sleeps, who searches, and why no wake-up is lost: the README of this folder has the argument.
//! Model-checked on bounded TSO: `crates/filch-model/src/models/runtime/sleep.tso`.
#![doc = include_str!("README.md")]

mod parker;

use std::time::Duration;

use crossbeam_utils::CachePadded;

pub(crate) use parker::Parker;

use crate::defect::{defect, Defect};
use crate::stack::Slot;
use crate::sync::{fence, thread, AtomicU64, AtomicUsize, Ordering};

/// What a worker that sleeps may be woken for, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It does not sleep.
    Awake,
    /// Somebody is about to wake it, and has not counted it as searching yet.
    Waking,
    /// Any work at all.
    Idle,
    /// Work that descends from the stolen job in the slot at this address.
    Stolen(usize),
    /// Work that descends from the scope of this number.
    Scope(usize),
    /// Work that descends from what it has installed elsewhere, or broadcast.
    Installed,
}

impl Rest {
    fn pack(self) -> usize {
        match self {
            Rest::Awake => 0,
            Rest::Idle => 1,
            Rest::Waking => 4,
            Rest::Installed => 8,
            // Slots are aligned to more than the tag.
            Rest::Stolen(address) => address | 2,
            Rest::Scope(number) => number << 2 | 3,
        }
    }

    fn unpack(word: usize) -> Rest {
        match word & 3 {
            0 if word == 0 => Rest::Awake,
            0 if word == 4 => Rest::Waking,
            0 => Rest::Installed,
            1 => Rest::Idle,
            2 => Rest::Stolen(word & !3),
            _ => Rest::Scope(word >> 2),
        }
    }

    /// A worker that waits for the job in `slot`.
    pub(crate) fn on(slot: &Slot) -> Rest {
        Rest::Stolen(std::ptr::from_ref(slot).addr())
    }
}

/// One worker's bed.
#[derive(Debug)]
pub(crate) struct Bed {
    rest: AtomicUsize,
    parker: Parker,
}

impl Bed {
    pub(crate) fn new() -> Bed {
        Bed { rest: AtomicUsize::new(0), parker: Parker::default() }
    }

    /// What it may be woken for.
    pub(crate) fn rest(&self) -> Rest {
        // SeqCst: after the publisher's own write, in the one order that both sides agree on.
        Rest::unpack(self.rest.load(Ordering::SeqCst))
    }

    /// Whether it sleeps, and nobody is about to wake it.
    pub(crate) fn is_occupied(&self) -> bool {
        !matches!(self.rest(), Rest::Awake | Rest::Waking)
    }

    /// Wakes the worker, whatever it sleeps for; it sees for itself why.
    pub(crate) fn call(&self) {
        self.parker.unpark();
    }
}

/// The counters of a pool: `watching`, `searching` and `sleeping` in one word.
#[derive(Debug)]
pub(crate) struct Sleep {
    counters: CachePadded<AtomicU64>,
}

const SLEEPING: u64 = 1;
const SEARCHING: u64 = 1 << 16;
const WATCHING: u64 = 1 << 32;

/// The most workers of a pool: as many as the counters can tell apart.
pub(crate) const MOST_WORKERS: usize = u16::MAX as usize - 1;

/// The counters at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts(u64);

impl Counts {
    pub(crate) fn sleeping(self) -> u64 {
        self.0 & 0xffff
    }

    pub(crate) fn searching(self) -> u64 {
        self.0 >> 16 & 0xffff
    }

    pub(crate) fn watching(self) -> u64 {
        self.0 >> 32
    }

    /// Those who see to it, at the latest when they stop, that nothing is left to nobody.
    pub(crate) fn minding(self) -> u64 {
        self.searching() + self.watching()
    }
}

impl Sleep {
    pub(crate) fn new() -> Sleep {
        Sleep { counters: CachePadded::new(AtomicU64::new(0)) }
    }

    /// The counters now.
    pub(crate) fn counts(&self) -> Counts {
        // SeqCst: see the README; also acquires what was queued before the last event.
        Counts(self.counters.load(Ordering::SeqCst))
    }

    /// A worker has nothing to do and starts to look.
    pub(crate) fn start_searching(&self) -> Counts {
        Counts(self.counters.fetch_add(SEARCHING, Ordering::SeqCst) + SEARCHING)
    }

    /// A searching worker stops: it has found something, or what it waited for has come. Returns whether it was the last to search while others sleep: then
    /// it must see to it that nothing visible is left to nobody.
    pub(crate) fn stop_searching(&self) -> bool {
        let counts = Counts(self.counters.fetch_sub(SEARCHING, Ordering::SeqCst));
        counts.minding() == 1 && counts.sleeping() > 0
    }

    /// A thread that is no worker waits for a moment, awake, and minds what forks leave to it meanwhile.
    pub(crate) fn start_watching(&self) {
        self.counters.fetch_add(WATCHING, Ordering::SeqCst);
    }

    /// It stops. Returns whether nobody searches while others sleep: then it must see to it that nothing visible is left to nobody. Others who watch do not excuse it: there may always be some.
    pub(crate) fn stop_watching(&self) -> bool {
        let counts = Counts(self.counters.fetch_sub(WATCHING, Ordering::SeqCst));
        counts.searching() == 0 && counts.sleeping() > 0
    }

    /// Something was put into a queue that everybody may take from. Returns the counters.
    pub(crate) fn event(&self) -> Counts {
        // What was queued is so before the counters and the beds are looked at.
        if !defect(Defect::EventWithoutFence) {
            fence(Ordering::SeqCst);
        }
        self.counts()
    }

    /// A searching worker lies down. It may be called from here on, but has to look once more itself.
    pub(crate) fn lie_down(&self, bed: &Bed) {
        self.counters.fetch_sub(SEARCHING - SLEEPING, Ordering::SeqCst);
        // After the counters: whoever flips it back corrects them.
        self.lie_down_for(bed, Rest::Idle);
    }

    /// A worker that waits for something of its own lies down. The counters are for those that take anything.
    pub(crate) fn lie_down_for(&self, bed: &Bed, rest: Rest) {
        bed.rest.swap(rest.pack(), Ordering::SeqCst);
        // What the worker looks at next, it looks at after this: an alarm that is still up was answered by nobody who has not seen it lie here.
        // (Where a model has no barrier it has none here either: loom's owners fence, so that any fence of the sleeper's would do.)
        if !defect(Defect::NoBarrier) {
            fence(Ordering::SeqCst);
        }
    }

    /// Sleeps until called.
    pub(crate) fn sleep(&self, bed: &Bed) {
        bed.parker.park();
    }

    /// Sleeps until called, for so long at most. Returns whether it was called.
    pub(crate) fn doze(&self, bed: &Bed, time: Duration) -> bool {
        bed.parker.park_for(time)
    }

    /// Gets up, called or not. One that lay down idle is searching again.
    pub(crate) fn get_up(&self, bed: &Bed) {
        self.rise(bed);
        // What the worker forks next, it forks after this: who looked and saw it in bed relies on that instead of a barrier.
        fence(Ordering::SeqCst);
    }

    fn rise(&self, bed: &Bed) {
        let awake = Rest::Awake.pack();
        let mut now = bed.rest();
        loop {
            match now {
                Rest::Awake => return,
                // Whoever lies down again must have been counted before.
                Rest::Waking => {
                    thread::yield_now();
                    now = bed.rest();
                    continue;
                }
                _ => {}
            }
            match bed.rest.compare_exchange(now.pack(), awake, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => break,
                Err(other) => now = Rest::unpack(other),
            }
        }
        if now == Rest::Idle {
            self.counters.fetch_add(SEARCHING - SLEEPING, Ordering::SeqCst);
        }
    }

    /// Wakes the worker in `bed` if it still sleeps for what `rest` says. One that was idle counts as searching from now on.
    pub(crate) fn wake(&self, bed: &Bed, rest: Rest) -> bool {
        let idle = rest == Rest::Idle;
        let next = if idle { Rest::Waking } else { Rest::Awake };
        if bed.rest.compare_exchange(rest.pack(), next.pack(), Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return false;
        }
        if idle {
            self.counters.fetch_add(SEARCHING - SLEEPING, Ordering::SeqCst);
            bed.rest.swap(Rest::Awake.pack(), Ordering::SeqCst);
        }
        bed.parker.unpark();
        true
    }
}
