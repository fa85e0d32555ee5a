//! Completions: signals that a job outside the fork stack is done.

use std::sync::Arc;

use crate::lineage::{node_of, Lineage, Run};
use crate::pool::Shared;
use crate::seat::Seat;
use crate::sleep::Parker;
use crate::spin;
use crate::sync::{spin_loop, thread, thread_local, AtomicBool, Ordering};

/// A gate at which a thread outside of every pool waits.
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

    /// Returns the calling thread's own gate, closed. A thread waits at one gate at a time.
    pub(crate) fn of_current_thread() -> Arc<Gate> {
        thread_local! {
            static GATE: Arc<Gate> = Arc::new(Gate::new());
        }
        // A thread that is about to end has lost its own gate.
        GATE.try_with(Arc::clone).unwrap_or_else(|_| Arc::new(Gate::new()))
    }

    /// Waits until the gate is open, and closes it again.
    pub(crate) fn pass(&self) {
        while !self.parker.park() {}
    }

    /// Waits without sleeping, for at most `turns` [turns](crate::spin). Returns whether the gate
    /// was open.
    pub(crate) fn try_pass_for(&self, turns: u32) -> bool {
        (0..spin::pauses_in(turns)).any(|_| {
            spin_loop();
            self.parker.try_take()
        })
    }

    /// Waits like [`pass`](Gate::pass), but without sleeping at first. Many calls are over in less
    /// time than it takes to put a thread to sleep and wake it.
    ///
    /// The thread yields its time slice between looks: the worker that it waits for may need this
    /// core. No worker relies on the waiting thread.
    pub(crate) fn spin_then_pass(&self) {
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

/// The thread that waits.
#[derive(Clone, Debug)]
pub(crate) enum Waiter {
    /// A worker, of any pool.
    Worker(Arc<Shared>, usize),
    /// Any other thread.
    Thread(Arc<Gate>),
}

/// A flag that a job is done, and the waiter to wake. It may be stored in the waiter's frame.
// Aligned, because a sleep state holds the address and a few bits.
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

    /// Returns the lineage of the awaited job. A worker waits for it in this run.
    pub(crate) fn lineage(&self, run: &Run) -> Lineage {
        Lineage::new(node_of(self), run)
    }

    /// Marks it as done, and wakes the waiter. `node` is the node that was waited for. The
    /// completion may be gone when this returns.
    ///
    /// # Safety
    ///
    /// `this` is valid until it is done, and this is called once.
    pub(crate) unsafe fn set(this: *const Completion, node: usize) {
        // SAFETY: not done yet.
        let waiter = unsafe { (*this).waiter.clone() };
        // Release: publishes the results. This is the last access to `this`: the waiter is woken
        // through its pool or its gate, and `waiter` holds a count of either.
        // SAFETY: as above.
        unsafe { (*this).done.store(true, Ordering::Release) };
        match waiter {
            Waiter::Worker(pool, worker) => {
                pool.seat(worker).sleep.notify_waiter();
                Seat::drop_after_run(pool, node);
            }
            Waiter::Thread(gate) => gate.open(),
        }
    }
}
