//! One place on a fork stack: which job stands there, and what has become of it.
//!
//! A slot is pool memory and outlives every job that stands in it. What became of a stolen job is kept here and not beside the closure,
//! which lives in the frame of the `join` that forked it: the store that completes a job is then the thief's last access to anything that can go away.
//!
//! | bits of `state` | meaning |
//! |---|---|
//! | 0 | the job is done |
//! | 1 | its owner sleeps until it is |
//! | 2 | a thief that took it has given it to the injector, unrun |
//! | 3 and up | one more than the index of the worker that runs it |
//!
//! All bits are clear whenever the slot is free or its job was never stolen, so that a fork has nothing to initialise.

use std::mem;
use std::ptr;

use crate::sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use crate::worker::Worker;

const DONE: usize = 1;
const SLEEPING: usize = 2;
const GIVEN_BACK: usize = 4;
const RUNNER: u32 = 3;

/// Runs a job, given a pointer to it, the worker that runs it, and whether that is another one than forked it.
pub(crate) type Execute = unsafe fn(*const (), &mut Worker, bool);

/// See the module.
#[repr(align(32))]
#[derive(Debug)]
pub(crate) struct Slot {
    data: AtomicPtr<()>,
    execute: AtomicPtr<()>,
    state: AtomicUsize,
    /// From which depth on the runner's stack holds what the job has forked; in the upper half, how many foreign things had begun on it.
    floor: AtomicU64,
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
            floor: AtomicU64::new(0),
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

    /// The thief says who it is, before it runs the job, how high its own stack is then, and how many foreign things have begun on it.
    pub(crate) fn run_by(&self, worker: usize, floor: u32, foreigners: u32) {
        // Relaxed: published by the exchange below.
        self.floor.store(u64::from(foreigners) << 32 | u64::from(floor), Ordering::Relaxed);
        // AcqRel: a sleeping owner's helper reads who runs the job, and then that worker's stack.
        self.state.fetch_or((worker + 1) << RUNNER, Ordering::AcqRel);
    }

    /// From which depth on the stack of the runner holds what the job has forked. Only after [`runner`](Slot::runner) has named it.
    pub(crate) fn floor(&self) -> u32 {
        // Relaxed: acquired with the runner.
        self.floor.load(Ordering::Relaxed) as u32
    }

    /// How many foreign things had begun on the runner before the job. Likewise.
    pub(crate) fn foreigners(&self) -> u32 {
        (self.floor.load(Ordering::Relaxed) >> 32) as u32
    }

    /// Who runs the job, as far as it has said so.
    pub(crate) fn runner(&self) -> Option<usize> {
        // Acquire: pairs with `run_by`.
        (self.state.load(Ordering::Acquire) >> RUNNER).checked_sub(1)
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

    /// The owner is about to sleep until the job is done or given back. Returns false if it is already.
    pub(crate) fn sleep_on(&self) -> bool {
        // AcqRel: as in `complete`, from the other side.
        let before = self.state.fetch_or(SLEEPING, Ordering::AcqRel);
        before & DONE == 0 && (before & GIVEN_BACK == 0 || before >> RUNNER != 0)
    }

    /// The job went to the injector unrun. Returns whether the owner must be woken to fetch it.
    pub(crate) fn give_back(&self) -> bool {
        // AcqRel: as in `complete`; the owner that sees the mark looks into the injector.
        self.state.fetch_or(GIVEN_BACK, Ordering::AcqRel) & SLEEPING != 0
    }

    /// Whether the job was given back and nobody has said since that it runs it.
    pub(crate) fn is_given_back(&self) -> bool {
        // Acquire: pairs with `give_back`.
        let state = self.state.load(Ordering::Acquire);
        state & GIVEN_BACK != 0 && state >> RUNNER == 0
    }

    /// The owner has the job, or its result: the slot is as good as new.
    pub(crate) fn clear(&self) {
        // Relaxed: nobody else looks at the slot until it is published again.
        self.state.store(0, Ordering::Relaxed);
    }
}
