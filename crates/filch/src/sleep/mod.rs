//! Who sleeps, who searches, and why no wake-up is lost: the README of this folder has the argument.
//! Model-checked on bounded TSO: `sleep.tso` and `waiters.tso` in
//! `crates/filch-model/src/models/runtime`.
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
    /// Work that descends from the wait whose frame is at this address: for another pool, or for a
    /// broadcast.
    Installed(usize),
}

impl Rest {
    fn pack(self) -> usize {
        match self {
            Rest::Awake => 0,
            Rest::Idle => 1,
            Rest::Waking => 4,
            // Frames and slots are aligned to 4 and more, and none is at address 4.
            Rest::Installed(address) => address,
            Rest::Stolen(address) => address | 2,
            Rest::Scope(number) => number << 2 | 3,
        }
    }

    fn unpack(word: usize) -> Rest {
        match word & 3 {
            0 if word == 0 => Rest::Awake,
            0 if word == 4 => Rest::Waking,
            0 => Rest::Installed(word),
            1 => Rest::Idle,
            2 => Rest::Stolen(word & !3),
            _ => Rest::Scope(word >> 2),
        }
    }

    /// Whether the worker sleeps until something of its own is done.
    pub(crate) fn is_wait(self) -> bool {
        matches!(self, Rest::Stolen(_) | Rest::Scope(_) | Rest::Installed(_))
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

/// The counters of a pool: `waiting`, `searching` and `sleeping` in one word.
#[derive(Debug)]
pub(crate) struct Sleep {
    counters: CachePadded<AtomicU64>,
}

const SLEEPING: u64 = 1;
const SEARCHING: u64 = 1 << 16;
/// The upper half of the word: for a moment a waiter may be counted twice, see [`Sleep::wake`].
const WAITING: u64 = 1 << 32;

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

    /// Workers that sleep until something of their own is done: an upper bound.
    pub(crate) fn waiting(self) -> u64 {
        self.0 >> 32
    }

    /// Whether a worker sleeps that could be woken for work, and no worker searches for work.
    pub(crate) fn only_sleepers_are_free(self) -> bool {
        self.searching() == 0 && (self.sleeping() > 0 || self.waiting() > 0)
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

    /// Ends a worker's search: it has found something, or its wait is over.
    ///
    /// Returns whether it was the last to search while others sleep. Then it must
    /// [look for unclaimed work](crate::pool::Shared::wake_for_unclaimed_work): a producer that saw
    /// it search has woken no worker.
    pub(crate) fn stop_searching(&self) -> bool {
        let before = self.counters.fetch_sub(SEARCHING, Ordering::SeqCst);
        !defect(Defect::LastSearcherDoesNotLook) && Counts(before - SEARCHING).only_sleepers_are_free()
    }

    /// Something was put into a queue that everybody may take from. Returns the counters.
    pub(crate) fn event(&self) -> Counts {
        // What was queued is so before the counters and the beds are looked at.
        if !defect(Defect::EventWithoutFence) {
            fence(Ordering::SeqCst);
        }
        self.counts()
    }

    /// Marks a searching worker as idle and asleep. From here on it may be woken, but it has to
    /// look once more itself.
    pub(crate) fn lie_down(&self, bed: &Bed) {
        self.counters.fetch_sub(SEARCHING - SLEEPING, Ordering::SeqCst);
        Sleep::write(bed, Rest::Idle);
    }

    /// Marks a worker as asleep that waits for something of its own.
    pub(crate) fn lie_down_for(&self, bed: &Bed, rest: Rest) {
        debug_assert!(rest.is_wait());
        self.counters.fetch_add(WAITING, Ordering::SeqCst);
        Sleep::write(bed, rest);
    }

    /// Writes the bed, after the counters: the worker or waker that changes it back corrects them.
    fn write(bed: &Bed, rest: Rest) {
        bed.rest.swap(rest.pack(), Ordering::SeqCst);
        // The worker looks at alarms and work after this. An alarm that is still up was not
        // answered by an owner that has not seen the worker lie here. (A model without barriers has
        // none here either: loom's owners fence, so any fence of the sleeper's would do.)
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
        // The worker forks and returns after this. Workers that saw it in bed rely on that instead of
        // a barrier: sleepers, and raiders.
        if !defect(Defect::RisesWithoutFence) {
            fence(Ordering::SeqCst);
        }
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
        } else {
            self.counters.fetch_sub(WAITING, Ordering::SeqCst);
        }
    }

    /// Wakes the worker in `bed` if it still sleeps for what `rest` says. An idle worker counts as
    /// searching from now on.
    ///
    /// A waiter leaves its count after it is up. It may lie down again before that, and is then
    /// counted twice for a moment: the last searcher looks once too often.
    pub(crate) fn wake(&self, bed: &Bed, rest: Rest) -> bool {
        let idle = rest == Rest::Idle;
        let next = if idle { Rest::Waking } else { Rest::Awake };
        if bed.rest.compare_exchange(rest.pack(), next.pack(), Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return false;
        }
        if idle {
            self.counters.fetch_add(SEARCHING - SLEEPING, Ordering::SeqCst);
            bed.rest.swap(Rest::Awake.pack(), Ordering::SeqCst);
        } else {
            self.counters.fetch_sub(WAITING, Ordering::SeqCst);
        }
        bed.parker.unpark();
        true
    }
}
