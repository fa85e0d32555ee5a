//! One place on a fork stack: which job stands there, and what has become of it.
//!
//! A slot is pool memory and outlives every job that stands in it. What became of a stolen job is kept here and not beside the closure,
//! which lives in the frame of the `join` that forked it: the store that completes a job is then the thief's last access to anything that can go away.
//!
//! | bits of `state` | meaning |
//! |---|---|
//! | 0 | the job is done |
//! | 1 | its owner sleeps until it is |
//! | 2 and up | one more than the index of the worker that runs it |
//!
//! All bits are clear whenever the slot is free or its job was never stolen, so that a fork has nothing to initialise.

use std::mem;
use std::ptr;

use crate::sync::{AtomicPtr, AtomicUsize, Ordering};
use crate::worker::Worker;

const DONE: usize = 1;
const SLEEPING: usize = 2;
const RUNNER: u32 = 2;

/// Runs a job, given a pointer to it, the worker that runs it, and whether that is another one than forked it.
pub(crate) type Execute = unsafe fn(*const (), &mut Worker, bool);

/// See the module.
#[repr(align(32))]
#[derive(Debug)]
pub(crate) struct Slot {
    data: AtomicPtr<()>,
    execute: AtomicPtr<()>,
    state: AtomicUsize,
}

/// How far apart two slots are.
pub(crate) const STRIDE: usize = mem::size_of::<Slot>();

impl Slot {
    /// A free slot. On real memory a slot of zero bytes is one too.
    #[cfg_attr(not(any(loom, shuttle, test)), allow(dead_code))]
    pub(crate) fn new() -> Slot {
        Slot {
            data: AtomicPtr::new(ptr::null_mut()),
            execute: AtomicPtr::new(ptr::null_mut()),
            state: AtomicUsize::new(0),
        }
    }

    /// Puts a job here. Only the owner does, and only into a free slot.
    #[inline(always)]
    pub(super) fn fill(&self, data: *const (), execute: Execute) {
        // Relaxed: whoever publishes the slot does so by a release store that comes later.
        self.data.store(data.cast_mut(), Ordering::Relaxed);
        self.execute.store(execute as *mut (), Ordering::Relaxed);
    }

    /// The job. Only for who has stolen it, or the owner.
    pub(crate) fn job(&self) -> (*const (), Execute) {
        // Relaxed: the steal has acquired what the owner had written.
        let data = self.data.load(Ordering::Relaxed);
        let execute = self.execute.load(Ordering::Relaxed);
        // SAFETY: `fill` stored a function of this type, and nobody steals a slot that was never filled.
        (data, unsafe { mem::transmute::<*mut (), Execute>(execute) })
    }

    /// What the job was made from, for models that do not run it.
    #[cfg(all(test, loom))]
    pub(crate) fn job_data(&self) -> *const () {
        self.data.load(Ordering::Relaxed)
    }

    /// The thief says who it is, before it runs the job.
    pub(crate) fn run_by(&self, worker: usize) {
        // Relaxed: a hint.
        self.state.fetch_or((worker + 1) << RUNNER, Ordering::Relaxed);
    }

    /// Who runs the job, as far as it has said so: a hint.
    pub(crate) fn runner(&self) -> Option<usize> {
        (self.state.load(Ordering::Relaxed) >> RUNNER).checked_sub(1)
    }

    /// The thief has written the result, or the panic. Returns whether the owner must be woken.
    ///
    /// From here on the job may be gone at any moment; the slot is not.
    pub(crate) fn complete(&self) -> bool {
        // Release for the result; acquire to see that the owner was asleep before this.
        self.state.swap(DONE, Ordering::AcqRel) & SLEEPING != 0
    }

    /// Whether the result is there.
    pub(crate) fn is_done(&self) -> bool {
        // Acquire: pairs with `complete`.
        self.state.load(Ordering::Acquire) & DONE != 0
    }

    /// The owner is about to sleep until the job is done. Returns false if it is already.
    pub(crate) fn sleep_on(&self) -> bool {
        // AcqRel: as in `complete`, from the other side.
        self.state.fetch_or(SLEEPING, Ordering::AcqRel) & DONE == 0
    }

    /// The owner has the job, or its result: the slot is as good as new.
    pub(crate) fn clear(&self) {
        // Relaxed: nobody else looks at the slot until it is published again.
        self.state.store(0, Ordering::Relaxed);
    }
}
