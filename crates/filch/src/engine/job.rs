//! Jobs: a closure in the frame of its waiter, and the reference in a queue.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr;
use std::sync::Arc;

use super::pool::Seat;
use super::worker::Worker;
use super::{HeavyBarrier, Idle, Queue};
use crate::latch::Gate;
use crate::sync::{AtomicU32, Ordering};
use crate::unwind::{self, Payload};

/// A reference to a job, which a queue of kind `Q` carries in a pool with idle protocol `I`. Not
/// `Copy`: the worker that has it runs it, and no other worker does.
///
/// The type has no bounds, because [`Queue`] is about queues of this type.
pub struct Job<Q, I = HeavyBarrier> {
    data: *const (),
    /// Its arguments are `data` and a `Worker<Q, I>`.
    execute: unsafe fn(*const (), *const ()),
    kind: PhantomData<fn(Q, I)>,
}

// SAFETY: made from closures that are `Send`.
unsafe impl<Q, I> Send for Job<Q, I> {}

impl<Q: Queue<I>, I: Idle> Job<Q, I> {
    /// Returns whether this is the job at `data`.
    #[inline(always)]
    pub(super) fn is_at(&self, data: *const ()) -> bool {
        ptr::eq(self.data, data)
    }

    pub(super) fn run(self, worker: &Worker<Q, I>) {
        // SAFETY: the thread that made the job waits for it. There is one `Job` of each, because
        // exactly-once queues give out each job once.
        unsafe { (self.execute)(self.data, ptr::from_ref(worker).cast()) }
    }
}

impl<Q, I> fmt::Debug for Job<Q, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

/// A closure, and room for its result if it runs elsewhere.
struct Closure<F, R> {
    closure: UnsafeCell<ManuallyDrop<F>>,
    /// Not initialised: it is read only if [`run`](Closure::run) has written it.
    result: UnsafeCell<MaybeUninit<Result<R, Payload>>>,
}

impl<F, R> Closure<F, R> {
    #[inline(always)]
    fn new(closure: F) -> Self {
        let result = UnsafeCell::new(MaybeUninit::uninit());
        Closure { closure: UnsafeCell::new(ManuallyDrop::new(closure)), result }
    }

    /// Takes the closure.
    ///
    /// # Safety
    ///
    /// Called once, by one thread.
    #[inline(always)]
    unsafe fn take(&self) -> F {
        // SAFETY: the caller guarantees it.
        unsafe { ManuallyDrop::take(&mut *self.closure.get()) }
    }

    /// Runs the closure and stores the result.
    ///
    /// # Safety
    ///
    /// As for [`take`](Closure::take).
    unsafe fn run<Q: Queue<I>, I: Idle>(&self, worker: &Worker<Q, I>)
    where
        F: FnOnce(&Worker<Q, I>) -> R,
    {
        // SAFETY: the caller guarantees it.
        let closure = unsafe { self.take() };
        let result = unwind::catch(|| closure(worker));
        // SAFETY: the reader of the result waits until it is announced.
        unsafe { (*self.result.get()).write(result) };
    }

    /// Takes the result.
    ///
    /// # Safety
    ///
    /// Called once, after [`run`](Closure::run).
    unsafe fn take_result(&self) -> Result<R, Payload> {
        // SAFETY: the caller guarantees it.
        unsafe { (*self.result.get()).assume_init_read() }
    }
}

/// The result, or the panic, is there.
const DONE: u32 = 1;
/// The job's owner sleeps until the job is done.
const SLEEPING: u32 = 2;

/// The second closure of a join, in the frame of that join.
pub(super) struct Forked<Q: Queue<I>, I: Idle, B, R> {
    closure: Closure<B, R>,
    /// [`DONE`] and [`SLEEPING`], for a job that was stolen.
    state: AtomicU32,
    owner: *const Seat<Q, I>,
}

impl<Q: Queue<I>, I: Idle, B, R> Forked<Q, I, B, R>
where
    B: FnOnce(&Worker<Q, I>) -> R,
{
    #[inline(always)]
    pub(super) fn new(closure: B, owner: &Seat<Q, I>) -> Self {
        Forked { closure: Closure::new(closure), state: AtomicU32::new(0), owner }
    }

    #[inline(always)]
    pub(super) fn data(&self) -> *const () {
        ptr::from_ref(self).cast()
    }

    /// Returns the job for the queue.
    ///
    /// # Safety
    ///
    /// Called once; and the frame stays until the job was taken back or [is done](Forked::is_done).
    #[inline(always)]
    pub(super) unsafe fn job(&self) -> Job<Q, I> {
        Job { data: self.data(), execute: Self::execute, kind: PhantomData }
    }

    /// Runs the job.
    ///
    /// # Safety
    ///
    /// `data` points to a `Forked` of this type in a frame that waits, and no other worker runs it.
    /// `worker` points to the `Worker<Q, I>` of this thread.
    unsafe fn execute(data: *const (), worker: *const ()) {
        // SAFETY: the caller guarantees it until the state says that the job is done.
        let this = unsafe { &*data.cast::<Self>() };
        // SAFETY: the caller guarantees it.
        let worker = unsafe { &*worker.cast::<Worker<Q, I>>() };
        // A kind of queue that lets thieves of one pool steal from another is not unsafe.
        assert!(worker.is_of_pool_with(this.owner), "a queue returned the job of another pool");
        // SAFETY: the caller guarantees it.
        unsafe { this.closure.run(worker) };
        // Read before the job is done: the frame may be gone then.
        let owner = this.owner;
        // Release for the result; acquire to see that the owner was asleep before this. This is the
        // last access: from here on the frame may be gone.
        if this.state.swap(DONE, Ordering::AcqRel) & SLEEPING != 0 {
            worker.notify(owner);
        }
    }

    /// Returns whether the result is there.
    pub(super) fn is_done(&self) -> bool {
        // Acquire: pairs with the swap in `execute`.
        self.state.load(Ordering::Acquire) & DONE != 0
    }

    /// Requests that the owner is woken when the job is done. Returns false if it is done already.
    pub(super) fn request_wake(&self) -> bool {
        // AcqRel: as in `execute`, from the other side.
        self.state.fetch_or(SLEEPING, Ordering::AcqRel) & DONE == 0
    }

    /// Takes the closure, to run it in place.
    ///
    /// # Safety
    ///
    /// The job was taken back from the queue.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> B {
        // SAFETY: the job was taken back, so no other worker has it.
        unsafe { self.closure.take() }
    }

    /// Takes the result.
    ///
    /// # Safety
    ///
    /// Called once, and only if the job is done.
    pub(super) unsafe fn take_result(&self) -> Result<R, Payload> {
        // SAFETY: the caller guarantees it.
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

    /// Returns the job for the injector.
    ///
    /// # Safety
    ///
    /// Called once; and the caller [waits](Installed::wait).
    pub(super) unsafe fn job<Q: Queue<I>, I: Idle>(&self) -> Job<Q, I>
    where
        F: FnOnce(&Worker<Q, I>) -> R,
    {
        unsafe fn execute<Q: Queue<I>, I: Idle, F: FnOnce(&Worker<Q, I>) -> R, R>(data: *const (), worker: *const ()) {
            // SAFETY: the caller of `job` waits until the gate opens.
            let this = unsafe { &*data.cast::<Installed<F, R>>() };
            // SAFETY: there is one job of it, and a worker of this type runs it.
            unsafe { this.closure.run(&*worker.cast::<Worker<Q, I>>()) };
            // A count of its own: the frame may be gone before the gate has finished opening.
            let gate = this.gate.clone();
            gate.open();
        }
        Job { data: ptr::from_ref(self).cast(), execute: execute::<Q, I, F, R>, kind: PhantomData }
    }

    /// Waits for the closure, and returns its result.
    ///
    /// # Safety
    ///
    /// Called once, and a [job](Installed::job) was made and given to a pool.
    pub(super) unsafe fn wait(&self) -> R {
        self.gate.pass();
        // SAFETY: the gate was opened after the closure had run; the result is taken once.
        match unsafe { self.closure.take_result() } {
            Ok(result) => result,
            Err(panic) => unwind::resume(panic),
        }
    }
}
