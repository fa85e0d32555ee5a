//! Jobs: a closure in the frame of whoever waits for it, and what queues carry of it.

use std::cell::UnsafeCell;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};

use super::pool::Place;

/// What a queue carries. Not `Copy`: who has it runs it, and nobody else does.
pub(super) struct Job {
    data: *const (),
    execute: unsafe fn(*const (), Place<'_>),
    /// How many joins it is nested in.
    pub(super) depth: u32,
    /// The first worker behind those that its part has, where parts have workers.
    pub(super) end: u16,
}

// SAFETY: made from closures that are `Send`.
unsafe impl Send for Job {}

impl Job {
    /// Whether this is the job that lies at `data`.
    pub(super) fn is_at(&self, data: *const ()) -> bool {
        ptr::eq(self.data, data)
    }

    pub(super) fn run(self, place: Place<'_>) {
        // SAFETY: whoever made the job waits for it, there is one `Job` of each, and a queue behind a lock gives it out once.
        unsafe { (self.execute)(self.data, place) }
    }
}

/// Whom to call when a job is done.
#[derive(Clone)]
pub(super) enum Waiter {
    /// A worker of the same pool.
    Worker(u16),
    /// A thread from outside.
    Outside(Thread),
}

/// A closure that somebody else may run, and room for what it comes to, in the frame of whoever waits for it.
pub(super) struct Forked<F, R> {
    closure: UnsafeCell<Option<F>>,
    result: UnsafeCell<Option<thread::Result<R>>>,
    done: AtomicBool,
    waiter: Waiter,
}

impl<F, R> Forked<F, R>
where
    F: for<'a> FnOnce(Place<'a>) -> R + Send,
    R: Send,
{
    pub(super) fn new(closure: F, waiter: Waiter) -> Self {
        Forked {
            closure: UnsafeCell::new(Some(closure)),
            result: UnsafeCell::new(None),
            done: AtomicBool::new(false),
            waiter,
        }
    }

    pub(super) fn data(&self) -> *const () {
        ptr::from_ref(self).cast()
    }

    /// For a queue.
    ///
    /// # Safety
    ///
    /// Once; and the frame stays until the job was taken back or [is done](Forked::is_done).
    pub(super) unsafe fn job(&self, depth: u32, end: u16) -> Job {
        Job { data: self.data(), execute: Self::execute, depth, end }
    }

    /// # Safety
    ///
    /// `data` points to a `Forked` of this type in a frame that waits, and nobody else runs it.
    unsafe fn execute(data: *const (), place: Place<'_>) {
        // SAFETY: the caller's word, until it is done.
        let this = unsafe { &*data.cast::<Self>() };
        // SAFETY: nobody else runs it.
        let closure = unsafe { (*this.closure.get()).take() };
        let result = closure.map(|closure| panic::catch_unwind(AssertUnwindSafe(|| closure(place))));
        // SAFETY: who waits does not look at it before it is done.
        unsafe { *this.result.get() = result };
        let waiter = this.waiter.clone();
        // Release: the result. The last access: from here on the frame may be gone.
        this.done.store(true, Ordering::Release);
        place.pool.call(&waiter);
    }

    /// Whether the result is there.
    pub(super) fn is_done(&self) -> bool {
        // Acquire: pairs with the store in `execute`.
        self.done.load(Ordering::Acquire)
    }

    /// The closure, which was taken back from its queue before anybody ran it.
    pub(super) fn into_closure(self) -> Option<F> {
        self.closure.into_inner()
    }

    /// What it came to, when it is done.
    pub(super) fn into_result(self) -> Option<thread::Result<R>> {
        self.result.into_inner()
    }
}
