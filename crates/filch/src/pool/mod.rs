//! Pools of workers.

mod builder;
mod callers;
mod injector;
mod shared;
mod thread_stack;

use std::fmt;
use std::mem;
use std::ptr;
use std::sync::Arc;

#[cfg(feature = "engine")]
pub(crate) use builder::MIN_STACK;
pub use builder::{Builder, Fences, Thread};
pub use callers::Callers;
#[cfg(all(test, loom))]
pub(crate) use shared::Plan;
pub(crate) use shared::Shared;

use crate::broadcast::{self, BroadcastContext};
use crate::error::BuildError;
use crate::global;
use crate::job::{Forked, Job};
use crate::latch::{Completion, Gate, Waiter};
use crate::lineage::Lineage;
use crate::scope::{Order, Scope};
use crate::seat::Seat;
use crate::sleep::{Guest, MAX_WORKERS};
use crate::spawn;
use crate::stats::Stats;
use crate::sync::{lock, thread, Mutex};
use crate::unwind;
use crate::wait::{self, Awaited};
use crate::worker::Worker;

/// A pool of workers.
///
/// ```
/// # fn main() -> Result<(), filch::BuildError> {
/// let pool = filch::Pool::builder().threads(3).build()?;
/// let (a, b) = pool.join(|| 1 + 1, || 2 + 2);
/// assert_eq!((a, b), (2, 4));
/// # Ok(())
/// # }
/// ```
///
/// A dropped pool finishes the jobs that were spawned into it, and its threads have ended when the
/// drop returns. But if one of its own workers drops it, the drop does not wait, because a worker
/// cannot wait for itself. That worker may run as a worker of another pool at the time.
pub struct Pool {
    shared: Arc<Shared>,
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
    /// A gate for each worker, opened when it has ended.
    ended: Vec<Arc<Gate>>,
}

impl Pool {
    /// Creates a pool with a worker for each CPU that this process may use.
    ///
    /// The environment variable `FILCH_NUM_THREADS` sets another number.
    pub fn new() -> Result<Pool, BuildError> {
        Builder::new().build()
    }

    /// Returns a builder, to configure a pool.
    pub fn builder() -> Builder<'static> {
        Builder::new()
    }

    /// Returns the global pool, and starts it if it does not run yet.
    ///
    /// # Panics
    ///
    /// If it cannot be started. [`Builder::build_global`] returns the error instead.
    pub fn global() -> &'static Pool {
        global::pool()
    }

    /// Returns the global pool, if it runs.
    pub fn try_global() -> Option<&'static Pool> {
        global::running()
    }

    /// The most workers that a pool can have.
    pub const MAX_THREADS: usize = MAX_WORKERS;

    /// Drops the pool without waiting. Its workers finish the spawned jobs and end on their own.
    pub fn detach(mut self) {
        self.ended.clear();
        lock(&self.threads).clear();
    }

    /// Returns the number of workers.
    pub fn current_num_threads(&self) -> usize {
        self.shared.seats.len()
    }

    /// Returns the index of the calling thread, if it is a worker of this pool.
    pub fn current_thread_index(&self) -> Option<usize> {
        self.shared.own_seat().map(|seat| seat.index)
    }

    /// Returns counts of what the workers have done so far.
    pub fn stats(&self) -> Stats {
        Stats::of(&self.shared)
    }

    /// Returns everything that was recorded so far, for a trace viewer. With the feature `trace`
    /// only.
    #[cfg(feature = "trace")]
    pub fn trace(&self) -> crate::trace::Trace {
        crate::trace::Trace::of(&self.shared)
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Runs a closure as a worker of the pool.
    ///
    /// Inside, [`join`](crate::join()) and [`scope`](crate::scope()) use this pool.
    ///
    /// A thread that is no worker runs the closure itself, in the place of a sleeping worker, or
    /// waits until a worker has run it: [`Callers`] sets which. On a worker of this pool the
    /// closure runs in place. A worker of another pool runs meanwhile only what descends from this
    /// call (see [`Waiting`](crate::Waiting)).
    ///
    /// # Panics
    ///
    /// If the closure panics.
    pub fn install<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        self.with_worker(|_| f())
    }

    /// Like [`install`](Pool::install), but passes the worker to the closure.
    pub fn with_worker<F, R>(&self, f: F) -> R
    where
        F: FnOnce(&mut Worker) -> R + Send,
        R: Send,
    {
        match Seat::current() {
            Some(seat) if ptr::eq(seat.pool(), &*self.shared) => {
                seat.fence_after_refusal();
                f(seat.worker())
            }
            Some(seat) => self.install_from(seat, f),
            None => self.install_from_outside(f),
        }
    }

    fn install_from_outside<F, R>(&self, f: F) -> R
    where
        F: FnOnce(&mut Worker) -> R + Send,
        R: Send,
    {
        self.shared.check_process();
        if let Some(guest) = self.borrow_seat() {
            return f(guest.seat().worker());
        }
        let gate = Gate::of_current_thread();
        let installed = Installed::new(|worker, _| f(worker), Waiter::Thread(gate.clone()));
        // SAFETY: this function waits for it.
        self.shared.inject_and_wait(unsafe { installed.job(Lineage::ROOT) }, &gate);
        installed.into_result()
    }

    /// Borrows a seat for the calling thread, which is no worker. Succeeds if the pool lends a seat
    /// and the thread may run closures of the pool.
    fn borrow_seat(&self) -> Option<Guest<'_>> {
        let shared = &*self.shared;
        // A closure should not run while its thread is panicking, nor with less stack than on a
        // worker.
        let may_run = shared.lends
            && !thread::panicking()
            && thread_stack::bytes_left().is_some_and(|left| left >= shared.callers_stack);
        may_run.then(|| shared.borrow_seat()).flatten()
    }

    fn install_from<F, R>(&self, seat: &Seat, f: F) -> R
    where
        F: FnOnce(&mut Worker) -> R + Send,
        R: Send,
    {
        self.shared.check_process();
        let installed = Installed::new(|worker, _| f(worker), Waiter::Worker(seat.pool().to_arc(), seat.index));
        let completion = &installed.completion;
        // SAFETY: this function waits for it.
        self.shared.inject(unsafe { installed.job(completion.lineage(seat.runs.top())) });
        wait::until(seat, &Awaited::Completion(completion, &self.shared));
        installed.into_result()
    }

    /// Runs [`join`](crate::join()) in this pool.
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.with_worker(|worker| worker.join(|_| a(), |_| b()))
    }

    /// Runs [`scope`](crate::scope()) in this pool.
    pub fn scope<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.with_worker(|worker| Scope::run(worker, Order::Youngest, f))
    }

    /// Runs [`scope_fifo`](crate::scope_fifo()) in this pool.
    pub fn scope_fifo<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.with_worker(|worker| Scope::run(worker, Order::Oldest, f))
    }

    /// Runs [`in_place_scope`](crate::in_place_scope()) with its tasks in this pool.
    pub fn in_place_scope<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        Scope::run_in_place(&self.shared, Order::Youngest, f)
    }

    /// Runs [`in_place_scope_fifo`](crate::in_place_scope_fifo()) with its tasks in this pool.
    pub fn in_place_scope_fifo<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        Scope::run_in_place(&self.shared, Order::Oldest, f)
    }

    /// Runs [`spawn`](crate::spawn()) in this pool.
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce() + Send + 'static,
    {
        spawn::spawn_in(&self.shared, f, false);
    }

    /// Runs [`spawn_fifo`](crate::spawn_fifo()) in this pool.
    pub fn spawn_fifo<F>(&self, f: F)
    where
        F: FnOnce() + Send + 'static,
    {
        spawn::spawn_in(&self.shared, f, true);
    }

    /// Runs [`spawn_broadcast`](crate::spawn_broadcast()) in this pool.
    pub fn spawn_broadcast<F>(&self, f: F)
    where
        F: Fn(BroadcastContext) + Send + Sync + 'static,
    {
        broadcast::spawn_broadcast_in(&self.shared, f);
    }

    /// Runs a closure once on each worker, and returns the results in their order.
    ///
    /// See [`broadcast`](crate::broadcast()).
    pub fn broadcast<F, R>(&self, f: F) -> Vec<R>
    where
        F: Fn(BroadcastContext) -> R + Sync,
        R: Send,
    {
        broadcast::broadcast_in(&self.shared, f)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("threads", &self.current_num_threads()).finish_non_exhaustive()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.shut_down();
        // A worker of the pool cannot wait for itself, also while it runs as a worker of another
        // pool. A child process has none of its parent's threads.
        let is_worker = Seat::all_current().any(|seat| ptr::eq(seat.pool(), &*self.shared));
        if is_worker || !self.shared.is_in_its_process() {
            return;
        }
        self.ended.iter().for_each(|gate| gate.pass());
        for thread in mem::take(&mut *lock(&self.threads)) {
            // The panic of a worker is handled where it happens.
            let _ = thread.join();
        }
    }
}

/// A closure that another thread runs while the caller waits.
struct Installed<F, R> {
    closure: Forked<F, R>,
    completion: Completion,
}

impl<F, R> Installed<F, R>
where
    F: FnOnce(&mut Worker, bool) -> R,
{
    fn new(closure: F, waiter: Waiter) -> Self {
        Installed { closure: Forked::new(closure), completion: Completion::new(waiter) }
    }

    /// Returns the job of the closure.
    ///
    /// # Safety
    ///
    /// The caller waits for the completion.
    unsafe fn job(&self, lineage: Lineage) -> Job {
        unsafe fn execute<F, R>(data: *const (), worker: &mut Worker, migrated: bool)
        where
            F: FnOnce(&mut Worker, bool) -> R,
        {
            let this = data.cast::<Installed<F, R>>();
            // SAFETY: the caller of `job` waits for it, and it is run once.
            unsafe { Forked::<F, R>::execute((*this).closure.data(), worker, migrated) };
            // SAFETY: not yet done.
            unsafe {
                let completion = &raw const (*this).completion;
                Completion::set(completion, completion.addr());
            }
        }
        // SAFETY: the caller guarantees it.
        unsafe { Job::from_parts(ptr::from_ref(self).cast(), execute::<F, R>, lineage) }
    }

    fn into_result(self) -> R {
        // SAFETY: the completion was waited for.
        match unsafe { self.closure.take_result() } {
            Ok(result) => result,
            Err(panic) => unwind::resume(panic),
        }
    }
}
