//! Jobs: closures that somebody else may run, behind a pointer and a function that knows what it points to.

use std::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr;

use crate::lineage::Lineage;
use crate::stack::Execute;
use crate::unwind::{self, Payload};
use crate::worker::Worker;

/// A job that does not stand on a fork stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    data: *const (),
    execute: Execute,
    /// What it descends from.
    pub(crate) lineage: Lineage,
}

// SAFETY: the constructors take closures that are `Send`.
unsafe impl Send for Job {}

impl Job {
    /// A job of a closure on the heap, which must not unwind.
    ///
    /// # Safety
    ///
    /// It is run exactly once, and before anything that `f` borrows is gone.
    pub(crate) unsafe fn boxed<F: FnOnce(&mut Worker) + Send>(f: F, lineage: Lineage) -> Job {
        unsafe fn execute<F: FnOnce(&mut Worker)>(data: *const (), worker: &mut Worker, _: bool) {
            // SAFETY: from `Box::into_raw`, and run once.
            let f = unsafe { Box::from_raw(data.cast_mut().cast::<F>()) };
            f(worker);
        }
        Job { data: Box::into_raw(Box::new(f)).cast_const().cast(), execute: execute::<F>, lineage }
    }

    /// A job from its parts.
    ///
    /// # Safety
    ///
    /// `execute` can be called with `data`, once, on any thread, until the job has been run.
    pub(crate) unsafe fn from_parts(data: *const (), execute: Execute, lineage: Lineage) -> Job {
        Job { data, execute, lineage }
    }

    /// Runs it.
    ///
    /// # Safety
    ///
    /// Once for each job.
    pub(crate) unsafe fn run(self, worker: &mut Worker) {
        // What comes out of a queue has been elsewhere; what was put there by its own worker knows better itself.
        // SAFETY: the constructors' contract.
        unsafe { (self.execute)(self.data, worker, true) }
    }
}

/// The second closure of a join, in the frame of that join: run there or, if it is stolen, elsewhere.
pub(crate) struct Forked<B, R> {
    closure: UnsafeCell<ManuallyDrop<B>>,
    result: UnsafeCell<MaybeUninit<Result<R, Payload>>>,
}

impl<B, R> Forked<B, R>
where
    B: FnOnce(&mut Worker, bool) -> R,
{
    #[inline(always)]
    pub(crate) fn new(closure: B) -> Self {
        Forked {
            closure: UnsafeCell::new(ManuallyDrop::new(closure)),
            // Not initialised: nobody reads it unless a thief has written it.
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Runs the closure where it was forked.
    ///
    /// # Safety
    ///
    /// Nobody else has run it or will.
    #[inline(always)]
    pub(crate) unsafe fn run_here(&self, worker: &mut Worker) -> R {
        // SAFETY: the caller's word; so the closure is taken once.
        let closure = unsafe { ManuallyDrop::take(&mut *self.closure.get()) };
        closure(worker, false)
    }

    /// Runs the closure elsewhere; for the slot or the injector.
    ///
    /// # Safety
    ///
    /// `data` points to a `Forked` of this type, in a frame that waits, and nobody else has run it or will.
    pub(crate) unsafe fn execute(data: *const (), worker: &mut Worker, migrated: bool) {
        // SAFETY: the caller's word.
        let this = unsafe { &*data.cast::<Self>() };
        // SAFETY: the same; so the closure is taken once.
        let closure = unsafe { ManuallyDrop::take(&mut *this.closure.get()) };
        let result = unwind::catch(|| closure(worker, migrated));
        // SAFETY: the frame waits for the job and reads the result only afterwards.
        unsafe { (*this.result.get()).write(result) };
    }

    /// What the closure came to elsewhere.
    ///
    /// # Safety
    ///
    /// [`execute`](Forked::execute) has returned, and the result is taken once.
    pub(crate) unsafe fn take_result(&self) -> Result<R, Payload> {
        // SAFETY: the caller's word.
        unsafe { (*self.result.get()).assume_init_read() }
    }

    /// As a pointer for the slot.
    #[inline(always)]
    pub(crate) fn data(&self) -> *const () {
        ptr::from_ref(self).cast()
    }
}
