//! How long a worker searches for work before it sleeps.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::spin;
use crate::sync::{spin_loop, thread};

/// What a worker has learnt about how long to search.
#[derive(Debug)]
pub(crate) struct Patience(AtomicU32);

impl Patience {
    pub(crate) fn new() -> Patience {
        Patience(AtomicU32::new(Backoff::MAX_TURNS))
    }

    fn get(&self) -> u32 {
        // Relaxed: only the worker itself reads it.
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, turns: u32) {
        self.0.store(turns.min(Backoff::MAX_TURNS), Ordering::Relaxed);
    }

    /// Returns whether the worker has slept for long lately. Then it is likely to do so again.
    pub(crate) fn is_over(&self) -> bool {
        self.get() == Backoff::MIN_TURNS
    }
}

/// Spins, then yields, then gives up.
///
/// A worker learns from the outcome how long to search. If work came late, or a sleep was so short
/// that it was not worth it, the worker searches longer the next time. After a longer sleep it
/// searches for the least time. A worker that gets a little work now and then soon sleeps after a
/// moment. A worker that gets work all the time does not sleep.
#[derive(Debug)]
pub(crate) struct Backoff {
    turn: u32,
    patience: u32,
}

impl Backoff {
    /// The least and the most [turns](crate::spin) that a worker waits.
    const MIN_TURNS: u32 = 6;
    const MAX_TURNS: u32 = 128;
    /// The number of turns of pauses. In each later turn the worker yields its time slice, because
    /// the thread that has the next job may need this core.
    const PAUSES: u32 = 4;
    /// About the time to go to sleep and to be woken, and the longest search. A shorter sleep saves
    /// nothing.
    const SHORT_SLEEP: Duration = Duration::from_micros(80);

    pub(crate) fn new(patience: &Patience) -> Backoff {
        Backoff { turn: 0, patience: patience.get() }
    }

    /// Waits a little. Returns false if it is time to sleep.
    pub(crate) fn snooze(&mut self) -> bool {
        self.turn += 1;
        if cfg!(loom) {
            // After a yield, loom shows a thread no old values any more, and would hide the bugs
            // that it is there to find.
            return false;
        }
        if cfg!(shuttle) {
            thread::yield_now();
            return self.turn < 2;
        }
        if self.turn > Self::PAUSES {
            thread::yield_now();
        } else {
            (0..spin::pauses_in(1)).for_each(|_| spin_loop());
        }
        self.turn < self.patience
    }

    /// Learns that work was found.
    pub(crate) fn reward(&self, patience: &Patience) {
        if self.turn > self.patience / 2 {
            patience.set(self.patience * 2);
        }
    }

    /// Learns from the duration of `sleep`, if `sleep` returns that the worker slept. Then starts
    /// anew.
    pub(crate) fn learn(&mut self, patience: &Patience, sleep: impl FnOnce() -> bool) {
        let start = Instant::now();
        let slept = sleep();
        // A checker replays its executions, and has no time.
        if slept && !cfg!(any(loom, shuttle)) {
            patience.set(if start.elapsed() < Self::SHORT_SLEEP { self.patience * 2 } else { Self::MIN_TURNS });
        }
        *self = Backoff::new(patience);
    }
}
