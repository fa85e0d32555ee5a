//! Pools of one's own.

use std::error::Error;
use std::fmt;
use std::mem::ManuallyDrop;

use crate::broadcast::BroadcastContext;
#[allow(deprecated)]
use crate::configuration::Configuration;
use crate::current::{self, Yield};
use crate::scope::{Scope, ScopeFifo};

/// A pool of threads; see [`ThreadPoolBuilder`](crate::ThreadPoolBuilder).
///
/// ```
/// # fn main() -> Result<(), rayon_core::ThreadPoolBuildError> {
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build()?;
/// assert_eq!(pool.install(|| rayon_core::current_num_threads()), 3);
/// # Ok(())
/// # }
/// ```
///
/// A pool that is dropped finishes what was spawned into it; the drop does not wait for that.
pub struct ThreadPool {
    pool: ManuallyDrop<filch::Pool>,
}

impl ThreadPool {
    /// Deprecated in favour of [`ThreadPoolBuilder::build`](crate::ThreadPoolBuilder::build).
    #[deprecated(note = "Use `ThreadPoolBuilder::build`")]
    #[allow(deprecated)]
    pub fn new(configuration: Configuration) -> Result<ThreadPool, Box<dyn Error>> {
        configuration.build()
    }

    pub(crate) fn of(pool: filch::Pool) -> ThreadPool {
        ThreadPool { pool: ManuallyDrop::new(pool) }
    }

    /// Runs a closure in the pool and waits for it. Inside, `join`, `scope` and parallel iterators use this pool.
    ///
    /// # Panics
    ///
    /// If the closure does.
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.pool.install(op)
    }

    /// Runs a closure once on each thread and returns the results in the order of the threads.
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        self.pool.broadcast(|part| op(BroadcastContext::new(part)))
    }

    /// How many threads it has.
    #[inline]
    pub fn current_num_threads(&self) -> usize {
        self.pool.threads()
    }

    /// The index of the calling thread in this pool; `None` if it is not one of its threads.
    #[inline]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.pool.index()
    }

    /// Whether the calling thread has work of its own that waits; `None` if it is not one of this pool's threads.
    #[inline]
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.pool.index().and_then(|_| current::current_thread_has_pending_tasks())
    }

    /// [`join`](crate::join()) in this pool.
    pub fn join<A, B, RA, RB>(&self, oper_a: A, oper_b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.pool.join(oper_a, oper_b)
    }

    /// [`scope`](crate::scope()) in this pool.
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.pool.scope(Scope::unwrapped(op))
    }

    /// [`scope_fifo`](crate::scope_fifo()) in this pool.
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        self.pool.scope_fifo(ScopeFifo::unwrapped(op))
    }

    /// [`in_place_scope`](crate::in_place_scope()), whose tasks run in this pool.
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        self.pool.in_place_scope(Scope::unwrapped(op))
    }

    /// [`in_place_scope_fifo`](crate::in_place_scope_fifo()), whose tasks run in this pool.
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        self.pool.in_place_scope_fifo(ScopeFifo::unwrapped(op))
    }

    /// [`spawn`](crate::spawn()) in this pool.
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.pool.spawn(op);
    }

    /// [`spawn_fifo`](crate::spawn_fifo()) in this pool.
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.pool.spawn_fifo(op);
    }

    /// [`spawn_broadcast`](crate::spawn_broadcast()) in this pool.
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        self.pool.spawn_broadcast(move |part| op(BroadcastContext::new(part)));
    }

    /// [`yield_now`](crate::yield_now()); `None` if the calling thread is not one of this pool's.
    pub fn yield_now(&self) -> Option<Yield> {
        self.pool.index().and_then(|_| current::yield_now())
    }

    /// [`yield_local`](crate::yield_local()); `None` if the calling thread is not one of this pool's.
    pub fn yield_local(&self) -> Option<Yield> {
        self.pool.index().and_then(|_| current::yield_local())
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        // SAFETY: not used after this.
        unsafe { ManuallyDrop::take(&mut self.pool) }.dismiss();
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool").field("num_threads", &self.current_num_threads()).finish_non_exhaustive()
    }
}
