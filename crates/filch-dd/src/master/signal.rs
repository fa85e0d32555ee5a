//! The one word that everybody looks at: who is in want, and whether all is over.

use crate::sync::{AtomicU64, Ordering};

/// One more waits.
const WAITING: u64 = 1;
/// One more is hungry.
const HUNGRY: u64 = 1 << 24;
/// All is over.
const OVER: u64 = 1 << 63;

/// Read at every push and in every poll, written when somebody comes into want.
#[derive(Debug, Default)]
pub(super) struct Signal(AtomicU64);

/// What the word said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen(u64);

impl Signal {
    /// With so many who wait.
    pub(super) fn new(waiting: usize) -> Self {
        Signal(AtomicU64::new(waiting as u64 * WAITING))
    }

    #[inline]
    pub(super) fn look(&self) -> Seen {
        // Relaxed: it is a hint, and what it leads to is looked at under the lock of the baton. That a push is not overlooked by who begins to wait is the matter of
        // the barriers between.
        Seen(self.0.load(Ordering::Relaxed))
    }

    /// The caller has nothing left and is about to sit down.
    pub(super) fn begin_waiting(&self) {
        // Relaxed: the barrier after it is the caller's.
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

    /// All is over. Whether it was not before.
    pub(super) fn end(&self) -> bool {
        // Relaxed: what was done is seen by who waits for the workers' ends.
        self.0.fetch_or(OVER, Ordering::Relaxed) & OVER == 0
    }
}

impl Seen {
    /// Nothing is to be done.
    #[inline]
    pub(super) fn is_quiet(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(super) fn is_over(self) -> bool {
        self.0 & OVER != 0
    }

    /// Somebody waits with nothing to do.
    pub(super) fn anybody_waits(self) -> bool {
        self.0 & (HUNGRY - 1) != 0
    }

    /// Somebody's queue is nearly drained.
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
