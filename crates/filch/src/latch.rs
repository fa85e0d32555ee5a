//! Completions: how whoever waits for a job outside the fork stack learns that it is done.

use std::sync::Arc;

use crate::lineage::{node_of, Lineage, Run};
use crate::pool::Shared;
use crate::seat::Seat;
use crate::sleep::Parker;
use crate::spin;
use crate::sync::{spin_loop, thread, thread_local, AtomicBool, Ordering};

/// A gate that a thread outside every pool waits at.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    parker: Parker,
}

impl Gate {
    pub(crate) fn new() -> Gate {
        Gate::default()
    }

    pub(crate) fn open(&self) {
        self.parker.unpark();
    }

    /// The calling thread's own gate, closed. It waits at one at a time.
    pub(crate) fn own() -> Arc<Gate> {
        thread_local! {
            static GATE: Arc<Gate> = Arc::new(Gate::new());
        }
        // A thread that is about to end has lost its own.
        GATE.try_with(Arc::clone).unwrap_or_else(|_| Arc::new(Gate::new()))
    }

    /// Waits until the gate is open, and closes it behind.
    pub(crate) fn pass(&self) {
        while !self.parker.park() {}
    }

    /// Waits awake, for so many [turns](crate::spin) at most. Returns whether the gate was open.
    pub(crate) fn try_pass_for(&self, turns: u32) -> bool {
        (0..spin::pauses_in(turns)).any(|_| {
            spin_loop();
            self.parker.try_take()
        })
    }

    /// Waits as [`pass`](Gate::pass) does, but awake at first: much is over in less time than it
    /// takes to put a thread to sleep and wake it.
    ///
    /// The thread yields its time slice between looks: the worker that it waits for may need this
    /// core. No worker relies on it.
    pub(crate) fn pass_soon(&self) {
        const LOOKS: u32 = 48;
        const TURNS: u32 = 2;
        let passed = (0..LOOKS).any(|_| {
            thread::yield_now();
            self.try_pass_for(TURNS)
        });
        if !passed {
            self.pass();
        }
    }
}

/// Who waits.
#[derive(Clone, Debug)]
pub(crate) enum Waiter {
    /// A worker, of whatever pool.
    Worker(Arc<Shared>, usize),
    /// Any other thread.
    Thread(Arc<Gate>),
}

/// Done or not, and whom to call. It may lie in the waiter's frame.
// The alignment: a sleep state holds the address and a few bits.
#[derive(Debug)]
#[repr(align(8))]
pub(crate) struct Completion {
    pub(crate) done: AtomicBool,
    waiter: Waiter,
}

impl Completion {
    pub(crate) fn new(waiter: Waiter) -> Completion {
        Completion { done: AtomicBool::new(false), waiter }
    }

    /// The lineage of what has to be done, if a worker waits for it in this run.
    pub(crate) fn lineage(&self, run: &Run) -> Lineage {
        Lineage::new(node_of(self), run)
    }

    /// It is done, and what was waited for as `node`. The completion may be gone when this returns.
    ///
    /// # Safety
    ///
    /// `this` is valid until it is done, and called once.
    pub(crate) unsafe fn set(this: *const Completion, node: usize) {
        // SAFETY: not done yet.
        let waiter = unsafe { (*this).waiter.clone() };
        // Release: the results. The last access: what wakes the waiter is the waiter's pool, or its gate, both held by a count.
        // SAFETY: as above.
        unsafe { (*this).done.store(true, Ordering::Release) };
        match waiter {
            Waiter::Worker(pool, worker) => {
                pool.seat(worker).sleep.call_waiter();
                Seat::drop_after_run(pool, node);
            }
            Waiter::Thread(gate) => gate.open(),
        }
    }
}
