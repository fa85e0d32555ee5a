//! The word that all workers read: workers in want, and the end of the run.

use crate::sync::{AtomicU64, Ordering};

/// Added for each worker that waits.
const WAITING: u64 = 1;
/// Added for each worker that is hungry.
const HUNGRY: u64 = 1 << 24;
/// Set when the run is over.
const OVER: u64 = 1 << 63;

/// The shared word.
///
/// It is read at every push and in every poll, and written when a worker comes into want.
#[derive(Debug, Default)]
pub(super) struct Signal(AtomicU64);

/// The value that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen(u64);

impl Signal {
    /// Returns a signal with `waiting` workers that wait.
    pub(super) fn new(waiting: usize) -> Self {
        Signal(AtomicU64::new(waiting as u64 * WAITING))
    }

    #[inline]
    pub(super) fn look(&self) -> Seen {
        // Relaxed: it is a hint, and what it leads to is checked under the lock of the baton. The
        // barriers between the two sides ensure that a worker that begins to wait does not miss a
        // push.
        Seen(self.0.load(Ordering::Relaxed))
    }

    /// Announces that the caller has nothing left and is about to park.
    pub(super) fn begin_waiting(&self) {
        // Relaxed: the caller makes the barrier that follows.
        self.0.fetch_add(WAITING, Ordering::Relaxed);
    }

    pub(super) fn end_waiting(&self) {
        let before = Seen(self.0.fetch_sub(WAITING, Ordering::Relaxed));
        debug_assert!(before.anybody_waits(), "nobody waits");
    }

    pub(super) fn begin_hunger(&self) {
        self.0.fetch_add(HUNGRY, Ordering::Relaxed);
    }

    pub(super) fn end_hunger(&self) {
        self.0.fetch_sub(HUNGRY, Ordering::Relaxed);
    }

    /// Ends the run. Returns whether this call ended it.
    pub(super) fn end(&self) -> bool {
        // Relaxed: the thread that waits for the workers to end sees what was done.
        self.0.fetch_or(OVER, Ordering::Relaxed) & OVER == 0
    }
}

impl Seen {
    /// Returns whether there is nothing to react to.
    #[inline]
    pub(super) fn is_quiet(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(super) fn is_over(self) -> bool {
        self.0 & OVER != 0
    }

    /// Returns whether a worker waits with nothing to do.
    pub(super) fn anybody_waits(self) -> bool {
        self.0 & (HUNGRY - 1) != 0
    }

    /// Returns whether a worker is hungry: its queue is nearly drained.
    pub(super) fn anybody_hungry(self) -> bool {
        self.0 & (OVER - HUNGRY) != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_three_parts_of_the_word_do_not_mix() {
        let signal = Signal::new(0);
        assert!(signal.look().is_quiet());
        signal.begin_hunger();
        assert!(signal.look().anybody_hungry() && !signal.look().anybody_waits() && !signal.look().is_over());
        signal.begin_waiting();
        signal.end_hunger();
        assert!(!signal.look().anybody_hungry() && signal.look().anybody_waits() && !signal.look().is_over());
        assert!(signal.end() && !signal.end());
        signal.end_waiting();
        assert!(!signal.look().anybody_hungry() && !signal.look().anybody_waits() && signal.look().is_over());
    }
}
