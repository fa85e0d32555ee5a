//! The counters of a pool, and the state changes of seats that go with them.

use std::time::Duration;

use crossbeam_utils::CachePadded;

use super::state::Word;
use super::{SleepCell, SleepState};
use crate::defect::{defect, Defect};
use crate::sync::{fence, fence_after_exchange, thread, AtomicU64, Ordering};

/// The numbers of workers of a pool that search, sleep and wait, in one word.
#[derive(Debug)]
pub(crate) struct Sleep {
    counters: CachePadded<AtomicU64>,
}

const SLEEPING: u64 = 1;
const SEARCHING: u64 = 1 << 16;
const RESTING: u64 = 1 << 32;
const WAITING: u64 = 1 << 48;

/// The most workers of a pool: as many as the counters can count.
pub(crate) const MAX_WORKERS: usize = u16::MAX as usize - 1;

/// The counters at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts(u64);

impl Counts {
    fn field(self, unit: u64) -> usize {
        ((self.0 / unit) & 0xffff) as usize
    }

    /// Returns whether each of these counters is at least as large as in `units`.
    fn have(self, units: u64) -> bool {
        [SLEEPING, SEARCHING, RESTING, WAITING].iter().all(|&unit| self.field(unit) >= Counts(units).field(unit))
    }

    /// Returns the number of workers that sleep and take any work.
    pub(crate) fn sleeping(self) -> usize {
        self.field(SLEEPING)
    }

    /// Returns the number of workers that search for any work.
    pub(crate) fn searching(self) -> usize {
        self.field(SEARCHING)
    }

    /// Returns the number of sleeping workers that run nothing: their seats can be lent.
    pub(crate) fn resting(self) -> usize {
        self.field(RESTING)
    }

    /// Returns the number of workers that sleep until something of their own is done.
    pub(crate) fn waiting(self) -> usize {
        self.field(WAITING)
    }

    /// Returns whether workers sleep idle, none sleeps in a wait, and a worker searches.
    pub(crate) fn searchers_suffice(self) -> bool {
        self.searching() > 0 && self.sleeping() > 0 && self.waiting() == 0
    }

    /// Returns whether a worker sleeps that could be woken for work, and none searches.
    pub(crate) fn only_sleepers_are_free(self) -> bool {
        self.searching() == 0 && (self.sleeping() > 0 || self.waiting() > 0)
    }
}

/// Returns what a worker adds to the counters in this state, and when awake again.
fn units_of(state: SleepState) -> (u64, u64) {
    match state {
        SleepState::Idle => (SLEEPING, SEARCHING),
        SleepState::Resting | SleepState::Vacant => (SLEEPING + RESTING, SEARCHING),
        SleepState::WaitingFor(_) => (WAITING, 0),
        SleepState::Awake | SleepState::Waking => (0, 0),
    }
}

impl Sleep {
    pub(crate) fn new() -> Sleep {
        Sleep { counters: CachePadded::new(AtomicU64::new(0)) }
    }

    /// Returns the counters now.
    pub(crate) fn counts(&self) -> Counts {
        // SeqCst: see the README; also acquires what was queued before the last event.
        Counts(self.counters.load(Ordering::SeqCst))
    }

    /// Moves a worker from one set of counters to another at one moment. Returns the counters
    /// before.
    fn shift(&self, from: u64, to: u64) -> Counts {
        Counts(self.counters.fetch_add(to.wrapping_sub(from), Ordering::SeqCst))
    }

    /// Starts a worker's search for any work. Returns the counters, with this worker.
    pub(crate) fn start_searching(&self) -> Counts {
        Counts(self.shift(0, SEARCHING).0 + SEARCHING)
    }

    /// Ends a worker's search: it has found something, or its wait is over.
    ///
    /// Returns whether it was the last to search while others sleep. Then it must
    /// [look for unclaimed work](crate::pool::Shared::wake_for_unclaimed_work): a producer that saw
    /// it search has woken no worker.
    pub(crate) fn stop_searching(&self) -> bool {
        let before = self.shift(SEARCHING, 0);
        !defect(Defect::LastSearcherDoesNotLook) && Counts(before.0 - SEARCHING).only_sleepers_are_free()
    }

    /// Announces something that was queued for all workers. Returns the counters.
    pub(crate) fn event(&self) -> Counts {
        // It is queued before this worker looks at the counters and the states.
        if !defect(Defect::EventWithoutFence) {
            fence(Ordering::SeqCst);
        }
        self.counts()
    }

    /// Writes that a worker sleeps. The worker has searched, or waits.
    ///
    /// From here on it may be woken. It has to look for work once more after this.
    pub(crate) fn mark_asleep(&self, cell: &SleepCell, state: SleepState) {
        let (asleep, awake) = units_of(state);
        // Before the state: the thread that changes the state back corrects the counters.
        self.shift(awake, asleep);
        cell.swap(cell.word().with(state));
        // The worker looks at alarms and work after this. An alarm that is still up was not
        // answered by an owner that has not seen the worker asleep. (A model without barriers has
        // none here either: under loom owners fence, so any fence of the sleeper would do.)
        if !defect(Defect::NoBarrier) {
            fence_after_exchange();
        }
    }

    /// Writes that the worker is awake, woken or not. A worker that was idle searches again.
    pub(crate) fn mark_awake(&self, cell: &SleepCell) {
        self.set_awake(cell);
        // The worker forks and returns after this. Workers that saw it asleep rely on that instead
        // of a barrier: sleepers, and raiders.
        if !defect(Defect::WakesWithoutFence) {
            fence(Ordering::SeqCst);
        }
    }

    fn set_awake(&self, cell: &SleepCell) {
        let mut now = cell.word();
        loop {
            match now.state() {
                SleepState::Awake => return,
                // The worker must be counted as searching before it can sleep again.
                SleepState::Waking => {
                    thread::yield_now();
                    now = cell.word();
                    continue;
                }
                _ => {}
            }
            match cell.replace(now, now.with(SleepState::Awake)) {
                Ok(()) => break,
                Err(other) => now = other,
            }
        }
        let (asleep, awake) = units_of(now.state());
        self.shift(asleep, awake);
    }

    /// Wakes the worker, if it still sleeps for what `state` says. Returns whether this call woke
    /// it.
    ///
    /// An idle worker counts as searching from now on.
    pub(crate) fn wake(&self, cell: &SleepCell, state: SleepState) -> bool {
        let mut now = cell.word();
        loop {
            // An idle worker may go from Resting to Vacant and back: it still sleeps.
            let is_meant = now.state() == state || state.is_idle() && now.state().is_idle();
            if !is_meant {
                return false;
            }
            match cell.replace(now, now.with(SleepState::Waking)) {
                Ok(()) => break,
                Err(_) if defect(Defect::WakesOnlyOnce) => return false,
                Err(other) => now = other,
            }
        }
        let (asleep, awake) = units_of(now.state());
        let before = self.shift(asleep, awake);
        assert!(!cfg!(loom) || before.have(asleep), "a sleeping worker is not counted");
        let awake = now.with(SleepState::Awake);
        cell.swap(awake);
        cell.unpark(awake);
        true
    }

    /// Parks the seat's own thread, which is resting, and offers the seat to callers meanwhile.
    ///
    /// If it `promises`, it makes a barrier when the time is over. Returns whether it was woken or
    /// notified. After this the seat is the thread's own again.
    pub(crate) fn park_resting(&self, cell: &SleepCell, time: Option<Duration>, promises: bool) -> bool {
        let (resting, vacant) = (Word::owner(SleepState::Resting), Word::owner(SleepState::Vacant));
        if promises {
            cell.promise();
        }
        if cell.replace(resting, vacant).is_err() {
            // The thread was woken before it was parked, and gets the token of that wake-up.
            cell.end_promise();
            cell.park_owner(None);
            return true;
        }
        let mut notified = cell.park_owner(time);
        if promises {
            // Before the thread looks at the seat: a caller that returns the seat after that wakes
            // the thread.
            cell.end_promise();
        }
        notified |= self.take_back(cell);
        notified
    }

    /// Takes the seat back for its own thread. Waits while a caller has it. Returns whether the
    /// thread was woken, or found the seat lent.
    fn take_back(&self, cell: &SleepCell) -> bool {
        let mut was_lent = false;
        loop {
            let now = cell.word();
            match now.state() {
                // The token was for the caller, or too late. The caller looks when it returns the
                // seat, and wakes this thread if there is something to do.
                _ if now.has_guest() && !defect(Defect::OwnerTakesALentSeat) => {
                    was_lent = true;
                    cell.park_owner(None);
                }
                SleepState::Vacant => {
                    if cell.replace(now, Word::owner(SleepState::Resting)).is_ok() {
                        return was_lent;
                    }
                }
                SleepState::Waking => thread::yield_now(),
                _ => return true,
            }
        }
    }

    /// Gives the seat to the calling thread, if it is vacant. Returns whether it did.
    pub(crate) fn borrow(&self, cell: &SleepCell) -> bool {
        let vacant = Word::owner(SleepState::Vacant);
        let lent = cell.word() == vacant && cell.replace(vacant, Word::GUEST).is_ok()
            || defect(Defect::LendsRestingSeats) && cell.replace(Word::owner(SleepState::Resting), Word::GUEST).is_ok();
        if lent {
            let before = self.shift(SLEEPING + RESTING, 0);
            assert!(!cfg!(loom) || before.have(SLEEPING + RESTING), "a vacant seat is not counted");
        }
        lent
    }

    /// Returns the seat of the calling thread to its own thread, which keeps sleeping. The caller
    /// has to look for work after this.
    pub(crate) fn return_vacant(&self, cell: &SleepCell) -> Counts {
        if defect(Defect::ReturnsBeforeItCounts) {
            cell.swap(Word::owner(SleepState::Vacant));
            self.shift(0, SLEEPING + RESTING);
            return self.event();
        }
        let before = self.shift(0, SLEEPING + RESTING);
        cell.swap(Word::owner(SleepState::Vacant));
        if defect(Defect::ReturnTrustsOldCounts) {
            return Counts(before.0 + SLEEPING + RESTING);
        }
        // Read after the state is written: a seat that still counts as vacant now is taken later,
        // and its caller's first fork sees this seat asleep.
        fence_after_exchange();
        self.counts()
    }

    /// Returns the seat of the caller to its own thread, and wakes that thread. The thread searches
    /// then.
    pub(crate) fn hand_over(&self, cell: &SleepCell) {
        self.shift(0, SEARCHING);
        let awake = Word::owner(SleepState::Awake);
        cell.swap(awake);
        cell.unpark(awake);
    }
}
