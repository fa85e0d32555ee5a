//! How long a worker looks for work before it sleeps.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::sync::{spin_loop, thread};

/// What a worker has learnt about how long to look.
#[derive(Debug)]
pub(crate) struct Patience(AtomicU32);

impl Patience {
    pub(crate) fn new() -> Patience {
        Patience(AtomicU32::new(Backoff::MOST))
    }

    fn get(&self) -> u32 {
        // Relaxed: only the worker itself asks.
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, turns: u32) {
        self.0.store(turns, Ordering::Relaxed);
    }
}

/// Spin, then yield, then give up.
///
/// How long that takes, a worker learns from what came of it: if work came late, it waits longer the next time; if none came and it had to sleep,
/// less long. Who gets a little work now and then soon sleeps at once; who is fed without a pause never does.
#[derive(Debug)]
pub(crate) struct Backoff {
    turn: u32,
    patience: u32,
}

impl Backoff {
    /// Turns that a worker waits at least and at most; a third of a microsecond each.
    const LEAST: u32 = 6;
    const MOST: u32 = 48;
    /// The last turns give the core to others.
    const YIELDS: u32 = 2;
    /// Pauses of a turn.
    const PAUSES: u32 = 8;

    pub(crate) fn new(patience: &Patience) -> Backoff {
        Backoff { turn: 0, patience: patience.get() }
    }

    /// Waits a little. Returns false if it is time to sleep.
    pub(crate) fn snooze(&mut self) -> bool {
        self.turn += 1;
        if cfg!(loom) {
            // After a yield loom shows a thread no old values any more, and would hide what it is there to find.
            return false;
        }
        if cfg!(shuttle) {
            thread::yield_now();
            return self.turn < 2;
        }
        if self.turn + Self::YIELDS > self.patience {
            thread::yield_now();
        } else {
            for _ in 0..Self::PAUSES {
                spin_loop();
            }
        }
        self.turn < self.patience
    }

    /// Something came.
    pub(crate) fn reward(&self, patience: &Patience) {
        if self.turn > self.patience / 2 {
            patience.set((self.patience * 2).min(Self::MOST));
        }
    }

    /// Nothing came.
    pub(crate) fn disappoint(&self, patience: &Patience) {
        patience.set((self.patience / 2).max(Self::LEAST));
    }
}
