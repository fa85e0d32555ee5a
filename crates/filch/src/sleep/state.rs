//! The sleep state of a seat: its occupant, and what that may be woken for.

use std::time::Duration;

use super::Parker;
use crate::defect::{defect, Defect};
use crate::sync::{fence, AtomicBool, AtomicUsize, Ordering};

/// The state of a seat's occupant. If it sleeps, this says what it may be woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SleepState {
    /// The occupant does not sleep.
    Awake,
    /// Another worker is waking it, and has not corrected the counters yet.
    Waking,
    /// The occupant sleeps until there is any work, inside of something that it runs. Also the
    /// state of an idle worker in a pool that lends no seats.
    Idle,
    /// The seat's own thread runs nothing and prepares to sleep.
    Resting,
    /// The seat's own thread runs nothing and is parked. A caller may borrow the seat.
    Vacant,
    /// The occupant sleeps until its wait is over, or until there is work for it. Such work
    /// descends from what it waits for. Holds the [node](crate::lineage) that it waits for.
    WaitingFor(usize),
}

/// Set while a caller has the seat.
const GUEST: usize = 4;
/// Set if the rest of the word is a node.
const NODE: usize = 1;

impl SleepState {
    fn pack(self) -> usize {
        match self {
            SleepState::Awake => 0,
            SleepState::Waking => 8,
            SleepState::Idle => 16,
            SleepState::Resting => 24,
            SleepState::Vacant => 32,
            // Nodes are addresses of values that are aligned to 8 or more.
            SleepState::WaitingFor(node) => node | NODE,
        }
    }

    fn unpack(word: usize) -> SleepState {
        match (word & NODE != 0, word & !(NODE | GUEST)) {
            (true, node) => SleepState::WaitingFor(node),
            (false, 0) => SleepState::Awake,
            (false, 8) => SleepState::Waking,
            (false, 16) => SleepState::Idle,
            (false, 24) => SleepState::Resting,
            (false, _) => SleepState::Vacant,
        }
    }

    /// Returns whether the worker sleeps in a wait, under the strict policy.
    pub(crate) fn is_waiting(self) -> bool {
        matches!(self, SleepState::WaitingFor(_))
    }

    /// Returns whether the worker sleeps and takes any work.
    pub(crate) fn is_idle(self) -> bool {
        matches!(self, SleepState::Idle | SleepState::Resting | SleepState::Vacant)
    }

    /// Returns whether the worker sleeps, or is about to.
    pub(crate) fn is_asleep(self) -> bool {
        self.is_idle() || self.is_waiting()
    }

    /// Returns whether the seat's own thread runs nothing at all.
    pub(super) fn is_resting(self) -> bool {
        matches!(self, SleepState::Resting | SleepState::Vacant)
    }
}

/// A state, and whether a caller has the seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(usize);

impl Word {
    pub(super) fn state(self) -> SleepState {
        SleepState::unpack(self.0)
    }

    pub(super) fn has_guest(self) -> bool {
        self.0 & GUEST != 0
    }

    /// Returns the word of the same occupant in another state.
    pub(super) fn with(self, state: SleepState) -> Word {
        Word(state.pack() | self.0 & GUEST)
    }

    /// Returns the word of the seat's own thread in this state.
    pub(super) fn owner(state: SleepState) -> Word {
        Word(state.pack())
    }

    /// The word of a caller that is awake.
    pub(super) const GUEST: Word = Word(GUEST);
}

/// The sleep state of one seat, and the parkers of its occupants.
#[derive(Debug)]
pub(crate) struct SleepCell {
    word: AtomicUsize,
    /// Whether the seat's own thread dozes. It will make a barrier when the time is over.
    promised: AtomicBool,
    /// The index of the last waker, plus 1; or 0. A waker is a worker for whose fork a waiter was
    /// woken.
    waker: AtomicUsize,
    /// The parker of the seat's own thread.
    owner: Parker,
    /// The parker of a caller that has borrowed the seat.
    guest: Parker,
}

impl SleepCell {
    pub(crate) fn new() -> SleepCell {
        SleepCell {
            word: AtomicUsize::new(SleepState::Awake.pack()),
            promised: AtomicBool::new(false),
            waker: AtomicUsize::new(0),
            owner: Parker::default(),
            guest: Parker::default(),
        }
    }

    /// Returns the state of the occupant.
    pub(crate) fn state(&self) -> SleepState {
        self.word().state()
    }

    /// Returns whether the occupant sleeps, or is about to, and no worker is waking it.
    pub(crate) fn is_asleep(&self) -> bool {
        self.state().is_asleep()
    }

    /// Returns whether a caller has the seat. Only the occupant itself may ask.
    pub(crate) fn has_guest(&self) -> bool {
        // Relaxed: only the occupant itself, or the caller that takes the seat, changes this.
        Word(self.word.load(Ordering::Relaxed)).has_guest()
    }

    pub(super) fn word(&self) -> Word {
        // SeqCst: after the publisher's own write, in the single order that both sides agree on.
        Word(self.word.load(Ordering::SeqCst))
    }

    pub(super) fn swap(&self, word: Word) {
        self.word.swap(word.0, Ordering::SeqCst);
    }

    /// Changes the word, if it is `now`. Otherwise returns its value.
    pub(super) fn replace(&self, now: Word, next: Word) -> Result<(), Word> {
        self.word.compare_exchange(now.0, next.0, Ordering::SeqCst, Ordering::SeqCst).map(|_| ()).map_err(Word)
    }

    /// Wakes the occupant if it sleeps, whatever it sleeps for. The occupant finds out why.
    ///
    /// An occupant that is awake needs no token: it looks after it has written that it sleeps. What
    /// it is notified of is written before.
    pub(crate) fn notify(&self) {
        self.notify_if(SleepState::is_asleep);
    }

    /// Tells the occupant that something is done. Does the same as [`notify`](SleepCell::notify),
    /// except that a thread that runs nothing waits for nothing.
    pub(crate) fn notify_waiter(&self) {
        self.notify_if(|state| state.is_asleep() && !state.is_resting());
    }

    fn notify_if(&self, is_due: impl FnOnce(SleepState) -> bool) {
        // SeqCst: the occupant writes its state, has a fence, and looks.
        fence(Ordering::SeqCst);
        let word = self.word();
        if is_due(word.state()) {
            self.unpark(word);
        }
    }

    /// Gives the token to the occupant that `word` stands for.
    pub(super) fn unpark(&self, word: Word) {
        let is_for_guest = word.has_guest() && !defect(Defect::NotifiesTheOwner);
        let parker = if is_for_guest { &self.guest } else { &self.owner };
        parker.unpark();
    }

    /// Parks the occupant until there is a token, or for at most `time`. May end early. Returns
    /// whether there was a token.
    pub(crate) fn park(&self, time: Option<Duration>) -> bool {
        let parker = if self.has_guest() { &self.guest } else { &self.owner };
        match time {
            Some(time) => parker.park_for(time),
            None => parker.park(),
        }
    }

    /// Parks the seat's own thread, also while a caller has the seat.
    pub(super) fn park_owner(&self, time: Option<Duration>) -> bool {
        match time {
            Some(time) => self.owner.park_for(time),
            None => self.owner.park(),
        }
    }

    /// Makes the seat vacant, as its own thread does when it parks.
    #[cfg(all(test, loom))]
    pub(crate) fn vacate(&self) {
        self.swap(Word::owner(SleepState::Vacant));
    }

    /// Stores that a waiter is about to be woken for a fork of this worker.
    pub(super) fn set_waker(&self, worker: usize) {
        // Relaxed: a hint.
        self.waker.store(worker + 1, Ordering::Relaxed);
    }

    /// Takes the index of the worker for whose fork the occupant was woken, if any. This is a hint.
    pub(crate) fn take_waker(&self) -> Option<usize> {
        let waker = self.waker.load(Ordering::Relaxed).checked_sub(1)?;
        self.waker.store(0, Ordering::Relaxed);
        Some(waker)
    }

    pub(super) fn promise(&self) {
        // Relaxed: before the state says that the seat is vacant.
        self.promised.store(true, Ordering::Relaxed);
    }

    pub(super) fn end_promise(&self) {
        self.promised.swap(false, Ordering::SeqCst);
        // SeqCst: the owner looks at the state after this. A caller that returned the seat before
        // that has seen the promise, and the owner sees that the seat is back.
        fence(Ordering::SeqCst);
    }

    /// Returns whether the seat's own thread dozes. It will make a barrier when the time is over.
    pub(crate) fn is_promised(&self) -> bool {
        self.promised.load(Ordering::SeqCst)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_word_tells_its_state_and_its_guest() {
        let states = [
            SleepState::Awake,
            SleepState::Waking,
            SleepState::Idle,
            SleepState::Resting,
            SleepState::Vacant,
            SleepState::WaitingFor(0x7f00_0040),
            SleepState::WaitingFor(0x7f00_0048),
        ];
        for state in states {
            assert_eq!((Word::owner(state).state(), Word::owner(state).has_guest()), (state, false));
            let guest = Word::GUEST.with(state);
            assert_eq!((guest.state(), guest.has_guest()), (state, true));
        }
    }
}
