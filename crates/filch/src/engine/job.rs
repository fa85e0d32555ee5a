//! Jobs: a closure in the frame of whoever waits for it, and the reference that a queue carries.

use std::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr;
use std::sync::Arc;

use super::pool::Seat;
use super::queue::Queue;
use super::worker::Worker;
use crate::latch::Gate;
use crate::sync::{AtomicU32, Ordering};
use crate::unwind::{self, Payload};

/// What a queue carries. Not `Copy`: who has it runs it, and nobody else does.
pub(super) struct Job<Q: Queue> {
    data: *const (),
    execute: unsafe fn(*const (), &Worker<Q>),
}

// SAFETY: made from closures that are `Send`.
unsafe impl<Q: Queue> Send for Job<Q> {}

impl<Q: Queue> Job<Q> {
    /// Whether this is the job that lies at `data`.
    #[inline(always)]
    pub(super) fn is_at(&self, data: *const ()) -> bool {
        ptr::eq(self.data, data)
    }

    pub(super) fn run(self, worker: &Worker<Q>) {
        // SAFETY: whoever made the job waits for it, and there is one `Job` of each, because queues that are exactly once give out each once.
        unsafe { (self.execute)(self.data, worker) }
    }
}

/// A closure, and room for what it comes to elsewhere.
struct Closure<F, R> {
    closure: UnsafeCell<ManuallyDrop<F>>,
    /// Not initialised: nobody reads it unless [`run`](Closure::run) has written it.
    result: UnsafeCell<MaybeUninit<Result<R, Payload>>>,
}

impl<F, R> Closure<F, R> {
    #[inline(always)]
    fn new(closure: F) -> Self {
        let result = UnsafeCell::new(MaybeUninit::uninit());
        Closure { closure: UnsafeCell::new(ManuallyDrop::new(closure)), result }
    }

    /// # Safety
    ///
    /// Once, by one thread.
    #[inline(always)]
    unsafe fn take(&self) -> F {
        // SAFETY: the caller's word.
        unsafe { ManuallyDrop::take(&mut *self.closure.get()) }
    }

    /// Runs it and keeps the result.
    ///
    /// # Safety
    ///
    /// As for [`take`](Closure::take).
    unsafe fn run<Q: Queue>(&self, worker: &Worker<Q>)
    where
        F: FnOnce(&Worker<Q>) -> R,
    {
        // SAFETY: the caller's word.
        let closure = unsafe { self.take() };
        let result = unwind::catch(|| closure(worker));
        // SAFETY: whoever reads it waits until it is said to be there.
        unsafe { (*self.result.get()).write(result) };
    }

    /// # Safety
    ///
    /// Once, after [`run`](Closure::run).
    unsafe fn take_result(&self) -> Result<R, Payload> {
        // SAFETY: the caller's word.
        unsafe { (*self.result.get()).assume_init_read() }
    }
}

/// The result, or the panic, is there.
const DONE: u32 = 1;
/// The job's owner sleeps until it is.
const SLEEPING: u32 = 2;

/// The second closure of a join, in the frame of that join.
pub(super) struct Forked<Q: Queue, B, R> {
    closure: Closure<B, R>,
    /// [`DONE`] and [`SLEEPING`], of a job that was stolen.
    state: AtomicU32,
    owner: *const Seat<Q>,
}

impl<Q: Queue, B, R> Forked<Q, B, R>
where
    B: FnOnce(&Worker<Q>) -> R,
{
    #[inline(always)]
    pub(super) fn new(closure: B, owner: &Seat<Q>) -> Self {
        Forked { closure: Closure::new(closure), state: AtomicU32::new(0), owner }
    }

    #[inline(always)]
    pub(super) fn data(&self) -> *const () {
        ptr::from_ref(self).cast()
    }

    /// For the queue.
    ///
    /// # Safety
    ///
    /// Once; and the frame stays until the job was taken back or [is done](Forked::is_done).
    #[inline(always)]
    pub(super) unsafe fn job(&self) -> Job<Q> {
        Job { data: self.data(), execute: Self::execute }
    }

    /// # Safety
    ///
    /// `data` points to a `Forked` of this type in a frame that waits, and nobody else runs it.
    unsafe fn execute(data: *const (), worker: &Worker<Q>) {
        // SAFETY: the caller's word, until the state says that it is done.
        let this = unsafe { &*data.cast::<Self>() };
        // SAFETY: the caller's word.
        unsafe { this.closure.run(worker) };
        // SAFETY: memory of the pool, which this worker is one of.
        let owner = unsafe { &*this.owner };
        // Release for the result; acquire to see that the owner was asleep before this. The last access: from here on the frame may be gone.
        if this.state.swap(DONE, Ordering::AcqRel) & SLEEPING != 0 {
            owner.sleep.call();
        }
    }

    /// Whether the result is there.
    pub(super) fn is_done(&self) -> bool {
        // Acquire: pairs with the swap in `execute`.
        self.state.load(Ordering::Acquire) & DONE != 0
    }

    /// The owner wants to be called when the job is done. Returns false if it is.
    pub(super) fn call_me(&self) -> bool {
        // AcqRel: as in `execute`, from the other side.
        self.state.fetch_or(SLEEPING, Ordering::AcqRel) & DONE == 0
    }

    /// The closure, to be run in place.
    ///
    /// # Safety
    ///
    /// The job was taken back from the queue.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> B {
        // SAFETY: so nobody else has it.
        unsafe { self.closure.take() }
    }

    /// # Safety
    ///
    /// Once, and only if the job is done.
    pub(super) unsafe fn take_result(&self) -> Result<R, Payload> {
        // SAFETY: the caller's word.
        unsafe { self.closure.take_result() }
    }
}

/// A closure that a thread from outside waits for.
pub(super) struct Installed<F, R> {
    closure: Closure<F, R>,
    gate: Arc<Gate>,
}

impl<F, R> Installed<F, R> {
    pub(super) fn new(closure: F) -> Self {
        Installed { closure: Closure::new(closure), gate: Arc::new(Gate::new()) }
    }

    /// For the injector.
    ///
    /// # Safety
    ///
    /// Once; and the caller [waits](Installed::wait).
    pub(super) unsafe fn job<Q: Queue>(&self) -> Job<Q>
    where
        F: FnOnce(&Worker<Q>) -> R,
    {
        unsafe fn execute<Q: Queue, F: FnOnce(&Worker<Q>) -> R, R>(data: *const (), worker: &Worker<Q>) {
            // SAFETY: the caller of `job` waits until the gate opens.
            let this = unsafe { &*data.cast::<Installed<F, R>>() };
            // SAFETY: there is one job of it.
            unsafe { this.closure.run(worker) };
            // A count of its own: the frame may be gone before the gate has finished opening.
            let gate = this.gate.clone();
            gate.open();
        }
        Job { data: ptr::from_ref(self).cast(), execute: execute::<Q, F, R> }
    }

    /// Waits for the closure.
    ///
    /// # Safety
    ///
    /// Once, and a [job](Installed::job) was made and given to a pool.
    pub(super) unsafe fn wait(&self) -> R {
        self.gate.pass();
        // SAFETY: the gate was opened after the closure had run; asked once.
        match unsafe { self.closure.take_result() } {
            Ok(result) => result,
            Err(panic) => unwind::resume(panic),
        }
    }
}
