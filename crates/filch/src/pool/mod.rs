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

pub(crate) use builder::LEAST_STACK;
pub use builder::{Builder, Fences, Thread};
pub use callers::Callers;
#[cfg(all(test, loom))]
pub(crate) use shared::Plan;
pub(crate) use shared::Shared;

use crate::broadcast::{self, Broadcast};
use crate::error::BuildError;
use crate::global;
use crate::job::{Forked, Job};
use crate::latch::{Completion, Gate, Waiter};
use crate::lineage::Lineage;
use crate::scope::{Order, Scope};
use crate::seat::Seat;
use crate::sleep::{Guest, MOST_WORKERS};
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
/// A pool that is dropped finishes what was spawned into it, and its threads have ended when the drop is over; unless one of its own
/// workers drops it, which cannot wait for itself. That worker may run as a worker of another pool
/// at the time.
pub struct Pool {
    shared: Arc<Shared>,
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
    /// One for each worker, opened when it has left.
    left: Vec<Arc<Gate>>,
}

impl Pool {
    /// A pool with a worker for each CPU that this process may use, or as `FILCH_NUM_THREADS` says.
    pub fn new() -> Result<Pool, BuildError> {
        Builder::new().build()
    }

    /// For a pool of another kind.
    pub fn builder() -> Builder<'static> {
        Builder::new()
    }

    /// The global pool, started now if it was not yet.
    ///
    /// # Panics
    ///
    /// If it cannot be started; [`Builder::build_global`] says why instead.
    pub fn global() -> &'static Pool {
        global::pool()
    }

    /// The global pool, if it runs.
    pub fn try_global() -> Option<&'static Pool> {
        global::running()
    }

    /// The most workers that a pool can have.
    pub const MOST_THREADS: usize = MOST_WORKERS;

    /// Lets go of the pool without waiting: its workers finish what was spawned and end on their own.
    pub fn dismiss(mut self) {
        self.left.clear();
        lock(&self.threads).clear();
    }

    /// How many workers it has.
    pub fn threads(&self) -> usize {
        self.shared.seats.len()
    }

    /// Which of its workers the calling thread is, if it is one.
    pub fn index(&self) -> Option<usize> {
        self.shared.own_seat().map(|seat| seat.index)
    }

    /// What the workers have done so far.
    pub fn stats(&self) -> Stats {
        Stats::of(&self.shared)
    }

    /// Everything that was recorded so far, for a trace viewer. With the feature `trace` only.
    #[cfg(feature = "trace")]
    pub fn trace(&self) -> crate::trace::Trace {
        crate::trace::Trace::of(&self.shared)
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Runs a closure as a worker of the pool. Inside, [`join`](crate::join()) and
    /// [`scope`](crate::scope()) use this pool.
    ///
    /// A thread that is no worker runs the closure itself, in the place of a worker that sleeps, or
    /// waits until a worker has run it: [`Callers`] says which. On a worker of this pool the closure runs in place. A worker of another pool runs meanwhile only what descends from this call (see
    /// [`Waiting`](crate::Waiting)).
    ///
    /// # Panics
    ///
    /// If the closure does.
    pub fn install<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        self.with_worker(|_| f())
    }

    /// As [`install`](Pool::install), and hands the worker to the closure.
    pub fn with_worker<F, R>(&self, f: F) -> R
    where
        F: FnOnce(&mut Worker) -> R + Send,
        R: Send,
    {
        match Seat::current() {
            Some(seat) if ptr::eq(seat.pool(), &*self.shared) => f(seat.worker()),
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
        let gate = Gate::own();
        let installed = Installed::new(|worker, _| f(worker), Waiter::Thread(gate.clone()));
        // SAFETY: waited for.
        self.shared.inject_and_wait(unsafe { installed.job(Lineage::ROOT) }, &gate);
        installed.into_result()
    }

    /// A seat for the calling thread, which is no worker, if the pool lends one and the thread may
    /// run closures of the pool.
    fn borrow_seat(&self) -> Option<Guest<'_>> {
        let shared = &*self.shared;
        // A closure should not find itself panicking, nor with less stack than on a worker.
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
        let installed = Installed::new(|worker, _| f(worker), Waiter::Worker(seat.pool().hold(), seat.index));
        let completion = &installed.completion;
        // SAFETY: waited for.
        self.shared.inject(unsafe { installed.job(completion.lineage(seat.runs.top())) });
        wait::until(seat, &Awaited::Completion(completion, &self.shared));
        installed.into_result()
    }

    /// [`join`](crate::join()) in this pool.
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.with_worker(|worker| worker.join(|_| a(), |_| b()))
    }

    /// [`scope`](crate::scope()) in this pool.
    pub fn scope<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.with_worker(|worker| Scope::run(worker, Order::Youngest, f))
    }

    /// [`scope_fifo`](crate::scope_fifo()) in this pool.
    pub fn scope_fifo<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.with_worker(|worker| Scope::run(worker, Order::Oldest, f))
    }

    /// [`in_place_scope`](crate::in_place_scope()), whose tasks run in this pool.
    pub fn in_place_scope<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        Scope::run_in_place(&self.shared, Order::Youngest, f)
    }

    /// [`in_place_scope_fifo`](crate::in_place_scope_fifo()), whose tasks run in this pool.
    pub fn in_place_scope_fifo<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        Scope::run_in_place(&self.shared, Order::Oldest, f)
    }

    /// [`spawn`](crate::spawn()) in this pool.
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce() + Send + 'static,
    {
        spawn::spawn_in(&self.shared, f, false);
    }

    /// [`spawn_fifo`](crate::spawn_fifo()) in this pool.
    pub fn spawn_fifo<F>(&self, f: F)
    where
        F: FnOnce() + Send + 'static,
    {
        spawn::spawn_in(&self.shared, f, true);
    }

    /// [`spawn_broadcast`](crate::spawn_broadcast()) in this pool.
    pub fn spawn_broadcast<F>(&self, f: F)
    where
        F: Fn(Broadcast) + Send + Sync + 'static,
    {
        broadcast::spawn_broadcast_in(&self.shared, f);
    }

    /// Runs a closure once on each worker and returns the results in the order of the workers. See [`broadcast`](crate::broadcast()).
    pub fn broadcast<F, R>(&self, f: F) -> Vec<R>
    where
        F: Fn(Broadcast) -> R + Sync,
        R: Send,
    {
        broadcast::broadcast_in(&self.shared, f)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("threads", &self.threads()).finish_non_exhaustive()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.leave();
        // A worker of the pool cannot wait for itself, also while it runs as a worker of another
        // pool. A child process has none of its parent's threads.
        let is_worker = Seat::all_current().any(|seat| ptr::eq(seat.pool(), &*self.shared));
        if is_worker || !self.shared.is_in_its_process() {
            return;
        }
        self.left.iter().for_each(|gate| gate.pass());
        for thread in mem::take(&mut *lock(&self.threads)) {
            // The panic of a worker is dealt with where it happens.
            let _ = thread.join();
        }
    }
}

/// A closure that another thread runs while this one waits.
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

    /// # Safety
    ///
    /// The caller waits for the completion.
    unsafe fn job(&self, lineage: Lineage) -> Job {
        unsafe fn execute<F, R>(data: *const (), worker: &mut Worker, migrated: bool)
        where
            F: FnOnce(&mut Worker, bool) -> R,
        {
            let this = data.cast::<Installed<F, R>>();
            // SAFETY: waited for, and run once.
            unsafe { Forked::<F, R>::execute((*this).closure.data(), worker, migrated) };
            // SAFETY: not yet done.
            unsafe {
                let completion = &raw const (*this).completion;
                Completion::set(completion, completion.addr());
            }
        }
        // SAFETY: the caller's word.
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
