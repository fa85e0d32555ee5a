//! The word that all workers read: workers that want work, and the end of the run.

use crate::sync::{AtomicU64, Ordering};

/// Added for each worker that waits.
const WAITING: u64 = 1;
/// Added for each worker that runs low on tasks.
const RUNNING_LOW: u64 = 1 << 24;
/// Set when the run is over.
const OVER: u64 = 1 << 63;

/// The shared word.
///
/// It is read at every push and in every poll, and written when a worker begins to want work.
#[derive(Debug, Default)]
pub(super) struct Signal(AtomicU64);

/// The value that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SignalValue(u64);

impl Signal {
    /// Returns a signal with `waiting` workers that wait.
    pub(super) fn new(waiting: usize) -> Self {
        Signal(AtomicU64::new(waiting as u64 * WAITING))
    }

    #[inline]
    pub(super) fn load(&self) -> SignalValue {
        // Relaxed: it is a hint, and what it leads to is checked under the master lock. The
        // barriers between the two sides ensure that a worker that begins to wait does not miss a
        // push.
        SignalValue(self.0.load(Ordering::Relaxed))
    }

    /// Announces that the caller has nothing left and is about to park.
    pub(super) fn begin_waiting(&self) {
        // Relaxed: the caller makes the barrier that follows.
        self.0.fetch_add(WAITING, Ordering::Relaxed);
    }

    pub(super) fn end_waiting(&self) {
        let before = SignalValue(self.0.fetch_sub(WAITING, Ordering::Relaxed));
        debug_assert!(before.any_waiting(), "no worker waits");
    }

    pub(super) fn begin_running_low(&self) {
        self.0.fetch_add(RUNNING_LOW, Ordering::Relaxed);
    }

    pub(super) fn end_running_low(&self) {
        self.0.fetch_sub(RUNNING_LOW, Ordering::Relaxed);
    }

    /// Ends the run. Returns whether this call ended it.
    pub(super) fn end(&self) -> bool {
        // Relaxed: the thread that waits for the workers to end sees what was done.
        self.0.fetch_or(OVER, Ordering::Relaxed) & OVER == 0
    }
}

impl SignalValue {
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
    pub(super) fn any_waiting(self) -> bool {
        self.0 & (RUNNING_LOW - 1) != 0
    }

    /// Returns whether a worker runs low: its queue is nearly drained.
    pub(super) fn any_running_low(self) -> bool {
        self.0 & (OVER - RUNNING_LOW) != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_three_parts_of_the_word_do_not_mix() {
        let signal = Signal::new(0);
        assert!(signal.load().is_quiet());
        signal.begin_running_low();
        assert!(signal.load().any_running_low() && !signal.load().any_waiting() && !signal.load().is_over());
        signal.begin_waiting();
        signal.end_running_low();
        assert!(!signal.load().any_running_low() && signal.load().any_waiting() && !signal.load().is_over());
        assert!(signal.end() && !signal.end());
        signal.end_waiting();
        assert!(!signal.load().any_running_low() && !signal.load().any_waiting() && signal.load().is_over());
    }
}
