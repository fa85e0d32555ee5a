//! Thread pools other than the global pool.

use std::error::Error;
use std::fmt;
use std::mem::ManuallyDrop;

use crate::broadcast::BroadcastContext;
#[allow(deprecated)]
use crate::configuration::Configuration;
use crate::current::{self, Yield};
use crate::scope::{Scope, ScopeFifo};

/// A pool of threads. See [`ThreadPoolBuilder`](crate::ThreadPoolBuilder).
///
/// ```
/// # fn main() -> Result<(), rayon_core::ThreadPoolBuildError> {
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build()?;
/// assert_eq!(pool.install(|| rayon_core::current_num_threads()), 3);
/// # Ok(())
/// # }
/// ```
///
/// A dropped pool finishes all spawned jobs. The drop does not wait for them.
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

    pub(crate) fn from_filch(pool: filch::Pool) -> ThreadPool {
        ThreadPool { pool: ManuallyDrop::new(pool) }
    }

    /// Runs a closure in the pool and waits for it. Inside, `join`, `scope` and parallel iterators
    /// use this pool.
    ///
    /// # Panics
    ///
    /// If the closure panics.
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.pool.install(op)
    }

    /// Runs a closure once on each thread. Returns the results in the order of the threads.
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        self.pool.broadcast(|part| op(BroadcastContext::new(part)))
    }

    /// The number of threads of the pool.
    #[inline]
    pub fn current_num_threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// The index of the calling thread in this pool, or `None` for other threads.
    #[inline]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.pool.current_thread_index()
    }

    /// Returns whether the calling thread has pending work of its own. Returns `None` if it is not
    /// a thread of this pool.
    #[inline]
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.pool.current_thread_index().and_then(|_| current::current_thread_has_pending_tasks())
    }

    /// Runs [`join`](crate::join()) in this pool.
    pub fn join<A, B, RA, RB>(&self, oper_a: A, oper_b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.pool.join(oper_a, oper_b)
    }

    /// Runs [`scope`](crate::scope()) in this pool.
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.pool.scope(Scope::adapt_op(op))
    }

    /// Runs [`scope_fifo`](crate::scope_fifo()) in this pool.
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        self.pool.scope_fifo(ScopeFifo::adapt_op(op))
    }

    /// Like [`in_place_scope`](crate::in_place_scope()), but the tasks run in this pool.
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        self.pool.in_place_scope(Scope::adapt_op(op))
    }

    /// Like [`in_place_scope_fifo`](crate::in_place_scope_fifo()), but the tasks run in this pool.
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        self.pool.in_place_scope_fifo(ScopeFifo::adapt_op(op))
    }

    /// Runs [`spawn`](crate::spawn()) in this pool.
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.pool.spawn(op);
    }

    /// Runs [`spawn_fifo`](crate::spawn_fifo()) in this pool.
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.pool.spawn_fifo(op);
    }

    /// Runs [`spawn_broadcast`](crate::spawn_broadcast()) in this pool.
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        self.pool.spawn_broadcast(move |part| op(BroadcastContext::new(part)));
    }

    /// Like [`yield_now`](crate::yield_now()). Returns `None` if the calling thread is not a thread
    /// of this pool.
    pub fn yield_now(&self) -> Option<Yield> {
        self.pool.current_thread_index().and_then(|_| current::yield_now())
    }

    /// Like [`yield_local`](crate::yield_local()). Returns `None` if the calling thread is not a
    /// thread of this pool.
    pub fn yield_local(&self) -> Option<Yield> {
        self.pool.current_thread_index().and_then(|_| current::yield_local())
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        // SAFETY: the pool is not used after this.
        unsafe { ManuallyDrop::take(&mut self.pool) }.detach();
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool").field("num_threads", &self.current_num_threads()).finish_non_exhaustive()
    }
}
