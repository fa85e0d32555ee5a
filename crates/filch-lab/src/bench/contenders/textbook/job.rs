//! Jobs: closures in the frames of the waiting threads, and the references that queues hold.

use std::cell::UnsafeCell;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};

use super::pool::WorkerContext;

/// A reference to a job, as queues hold it.
///
/// It is not `Copy`: only the worker that holds it runs the job.
pub(super) struct Job {
    data: *const (),
    execute: unsafe fn(*const (), WorkerContext<'_>),
    /// The number of joins that the job is nested in.
    pub(super) depth: u32,
    /// The first worker after those of the job's part, in the static partition.
    pub(super) end: u16,
}

// SAFETY: jobs are made from closures that are `Send`.
unsafe impl Send for Job {}

impl Job {
    /// Whether this is the job at `data`.
    pub(super) fn is_at(&self, data: *const ()) -> bool {
        ptr::eq(self.data, data)
    }

    pub(super) fn run(self, context: WorkerContext<'_>) {
        // SAFETY: the thread that made the job waits for it, there is one `Job` of each, and a
        // queue behind a lock hands it out once.
        unsafe { (self.execute)(self.data, context) }
    }
}

/// The thread to wake when a job is done.
#[derive(Clone)]
pub(super) enum Waiter {
    /// A worker of the same pool.
    Worker(u16),
    /// A thread outside the pool.
    Outside(Thread),
}

/// A closure that another worker may run, and its result.
///
/// It is in the frame of the waiting thread.
pub(super) struct Forked<F, R> {
    closure: UnsafeCell<Option<F>>,
    result: UnsafeCell<Option<thread::Result<R>>>,
    done: AtomicBool,
    waiter: Waiter,
}

impl<F, R> Forked<F, R>
where
    F: for<'a> FnOnce(WorkerContext<'a>) -> R + Send,
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

    /// Makes the reference for a queue.
    ///
    /// # Safety
    ///
    /// Call it once. The frame must stay until the job was taken back or
    /// [is done](Forked::is_done).
    pub(super) unsafe fn job(&self, depth: u32, end: u16) -> Job {
        Job { data: self.data(), execute: Self::execute, depth, end }
    }

    /// Runs the job.
    ///
    /// # Safety
    ///
    /// `data` points to a `Forked` of this type in a frame that waits, and no other thread runs it.
    unsafe fn execute(data: *const (), context: WorkerContext<'_>) {
        // SAFETY: the caller guarantees it until the job is done.
        let this = unsafe { &*data.cast::<Self>() };
        // SAFETY: no other thread runs the job.
        let closure = unsafe { (*this.closure.get()).take() };
        let result = closure.map(|closure| panic::catch_unwind(AssertUnwindSafe(|| closure(context))));
        // SAFETY: the waiting thread does not read the result before the job is done.
        unsafe { *this.result.get() = result };
        let waiter = this.waiter.clone();
        // Release: publishes the result. This is the last access: from here on the frame may be
        // gone.
        this.done.store(true, Ordering::Release);
        context.pool.wake(&waiter);
    }

    /// Whether the job is done and its result can be read.
    pub(super) fn is_done(&self) -> bool {
        // Acquire: pairs with the store in `execute`.
        self.done.load(Ordering::Acquire)
    }

    /// The closure of a job that was taken back from its queue before it ran.
    pub(super) fn into_closure(self) -> Option<F> {
        self.closure.into_inner()
    }

    /// The result of the job, if it is done.
    pub(super) fn into_result(self) -> Option<thread::Result<R>> {
        self.result.into_inner()
    }
}
