//! A slot of a fork stack: the job that stands there, and its state.
//!
//! A slot is pool memory and outlives every job that stands in it. The state of a stolen job is
//! kept here and not beside the closure, which lives in the frame of the `join` that forked it. So
//! the store that completes a job is the thief's last access to anything that can go away.
//!
//! | bits of `state` | meaning |
//! |---|---|
//! | 0 | the job is done |
//! | 1 | its owner sleeps until it is |
//! | 2 and up | one more than the index of the worker that runs it |
//!
//! All bits are clear whenever the slot is free or its job was never stolen, so that a fork has
//! nothing to initialise.

use std::mem;
use std::ptr;

use crate::sync::{AtomicPtr, AtomicUsize, Ordering};
use crate::worker::Worker;

const DONE: usize = 1;
const SLEEPING: usize = 2;
const RUNNER: u32 = 2;

/// Runs a job. The arguments are a pointer to the job, the worker that runs it, and whether another
/// worker has forked it.
pub(crate) type Execute = unsafe fn(*const (), &mut Worker, bool);

/// A slot of a fork stack; see the module.
#[repr(align(32))]
#[derive(Debug)]
pub(crate) struct Slot {
    data: AtomicPtr<()>,
    execute: AtomicPtr<()>,
    state: AtomicUsize,
}

/// The distance between two slots, in bytes.
pub(crate) const STRIDE: usize = mem::size_of::<Slot>();

impl Slot {
    /// Creates a free slot. On real memory a slot of zero bytes is free too.
    #[cfg_attr(not(any(loom, shuttle, test)), allow(dead_code))]
    pub(crate) fn new() -> Slot {
        Slot {
            data: AtomicPtr::new(ptr::null_mut()),
            execute: AtomicPtr::new(ptr::null_mut()),
            state: AtomicUsize::new(0),
        }
    }

    /// Puts a job here. Only the owner calls this, and only for a free slot.
    #[inline(always)]
    pub(super) fn fill(&self, data: *const (), execute: Execute) {
        // Relaxed: the thread that publishes the slot does so by a release store that comes later.
        self.data.store(data.cast_mut(), Ordering::Relaxed);
        self.execute.store(execute as *mut (), Ordering::Relaxed);
    }

    /// Returns the job. Only for the worker that has stolen it, or the owner.
    pub(crate) fn job(&self) -> (*const (), Execute) {
        // Relaxed: the steal has acquired what the owner had written.
        let data = self.data.load(Ordering::Relaxed);
        let execute = self.execute.load(Ordering::Relaxed);
        // SAFETY: `fill` stored a function of this type, and a slot that was never filled is not
        // stolen.
        (data, unsafe { mem::transmute::<*mut (), Execute>(execute) })
    }

    /// Returns the data of the job, for models that do not run it.
    #[cfg(all(test, loom))]
    pub(crate) fn job_data(&self) -> *const () {
        self.data.load(Ordering::Relaxed)
    }

    /// Stores the index of the thief, before it runs the job.
    pub(crate) fn run_by(&self, worker: usize) {
        // Relaxed: a hint.
        self.state.fetch_or((worker + 1) << RUNNER, Ordering::Relaxed);
    }

    /// Returns the index of the worker that runs the job, if it is stored. This is a hint.
    pub(crate) fn runner(&self) -> Option<usize> {
        (self.state.load(Ordering::Relaxed) >> RUNNER).checked_sub(1)
    }

    /// Completes the job: the thief has written the result, or the panic. Returns whether the owner
    /// must be woken.
    ///
    /// From here on the job may be gone at any moment; the slot is not.
    pub(crate) fn complete(&self) -> bool {
        // Release for the result; acquire to see that the owner was asleep before this.
        self.state.swap(DONE, Ordering::AcqRel) & SLEEPING != 0
    }

    /// Returns whether the result is there.
    pub(crate) fn is_done(&self) -> bool {
        // Acquire: pairs with `complete`.
        self.state.load(Ordering::Acquire) & DONE != 0
    }

    /// Requests that the owner is woken when the job is done. Returns false if it is done already.
    pub(crate) fn request_wake(&self) -> bool {
        // AcqRel: as in `complete`, from the other side.
        self.state.fetch_or(SLEEPING, Ordering::AcqRel) & DONE == 0
    }

    /// Frees the slot, when the owner has the job, or its result.
    pub(crate) fn clear(&self) {
        // Relaxed: no other thread looks at the slot until it is published again.
        self.state.store(0, Ordering::Relaxed);
    }
}
