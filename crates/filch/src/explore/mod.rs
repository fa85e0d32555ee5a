//! Worklists that grow while they are worked on: graph traversal, fixed points, state spaces.
//!
//! ```
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! // Everything that can be reached from 1 by doubling and by adding three, below a thousand.
//! let seen: Vec<AtomicBool> = (0..1000).map(|_| AtomicBool::new(false)).collect();
//! filch::explore([1usize], |n, worker| {
//!     if !seen[n].swap(true, Ordering::Relaxed) {
//!         worker.push_all([2 * n, n + 3].into_iter().filter(|next| *next < 1000));
//!     }
//! });
//! assert!(seen[4].load(Ordering::Relaxed) && !seen[3].load(Ordering::Relaxed));
//! ```
//!
//! Each worker has a queue of its own. A worker with an empty queue steals.
//! [`explore`](crate::explore()) runs each task once. If a task does no harm when it runs twice,
//! [`explore_at_least_once`] lets a program choose among more queues. [`Explore`] has the other
//! options: the queue, the number of workers, a state for each, and early stops. The
//! [guide](mod@crate::guide::explore) says which problems tolerate repeats.
//! [`Explore::run_by_level`] runs a worklist level by level, without queues.
//!
//! - The roots are collected before the first task runs.
//! - A worker that explores runs nothing else of its pool until it finds no task. A broadcast, or a
//!   job from outside, waits for that. A visit may use the pool in any way.
//! - No thread waits for tasks. A worker that has searched for ten microseconds goes back to its
//!   pool, and a push wakes one again. If it was woken in vain before, it searches for up to some
//!   hundred microseconds. One worker at a time is woken, and wakes the next.
//! - An exploration costs one to three microseconds, and wakes another worker with its second task.
//!   For a handful of small tasks a plain loop is faster.
//! - For the largest size of the worklist, see [`queue`](crate::queue).

mod cancel;
mod explored;
mod explorer;
mod idle_list;
mod levels;
mod prefetch;
mod results;
mod roots;
mod run_loop;
mod shared;
mod termination;

use std::fmt;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use filch_queue::{barrier, ExactlyOnce};

pub use cancel::Cancel;
pub use explored::{Counts, Ending, Explored};
pub(crate) use explorer::push_failed;
pub use explorer::{Explorer, Pusher};
pub use filch_queue::Owner;
#[cfg(all(loom, test))]
pub(crate) use idle_list::IdleList;
#[cfg(all(loom, test))]
pub(crate) use levels::{Gate, IdleWorkers, Opening};
pub use levels::{LevelExplorer, LevelPusher};
pub use prefetch::{prefetch, Ahead};
#[cfg(all(loom, test))]
pub(crate) use termination::Termination;

use crate::queue::{Kind, Split};
use crate::sync::{lock, Mutex};
use crate::Pool;
use results::Results;
use roots::Roots;
use run_loop::Local;
use shared::{Limits, Shared};

/// Runs `visit` once on each root and on each task that it pushes.
///
/// Returns when no task is left. See [the module](self). The tasks may borrow what outlives the
/// call. It runs on the pool of the calling thread, or the global one.
///
/// # Panics
///
/// If a task panics. No worker begins another task, and when all have left the panic resumes.
pub fn explore<T, F>(roots: impl IntoIterator<Item = T>, visit: F)
where
    T: Send,
    F: Fn(T, &mut Explorer<'_, <Split as Kind<T>>::Owner>) + Sync,
{
    // No task can have stopped it, so the result says nothing.
    let _ = Explore::exactly_once().run(roots, visit);
}

/// Like [`explore`](crate::explore()), but a task may run **more than once**.
///
/// It may also run at the same time on two workers. It never runs less than once.
///
/// **A visit must check whether its task was done before, and then push nothing.** A visit that
/// still pushes repeats everything that follows from its task.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// let seen: Vec<AtomicBool> = (0..1000).map(|_| AtomicBool::new(false)).collect();
/// filch::explore_at_least_once([1usize], |n, worker| {
///     // Two workers may both find it unseen: both go on, and nothing is wrong but the time.
///     if !seen[n].load(Ordering::Relaxed) {
///         seen[n].store(true, Ordering::Relaxed);
///         worker.push_all([2 * n, n + 3].into_iter().filter(|next| *next < 1000));
///     }
/// });
/// assert!(seen[4].load(Ordering::Relaxed) && !seen[3].load(Ordering::Relaxed));
/// ```
///
/// # Panics
///
/// As for [`explore`](crate::explore()).
pub fn explore_at_least_once<T, F>(roots: impl IntoIterator<Item = T>, visit: F)
where
    T: Copy + Send,
    F: Fn(T, &mut Explorer<'_, <Split as Kind<T>>::Owner>) + Sync,
{
    let _ = Explore::at_least_once().run(roots, visit);
}

/// The promise that each task runs once.
#[derive(Clone, Copy, Debug)]
pub struct Exactly;

/// The promise that each task runs once or more often.
#[derive(Clone, Copy, Debug)]
pub struct AtLeast;

/// The queues with which a promise can be kept. [`Exactly`] needs a queue that is [`ExactlyOnce`],
/// [`AtLeast`] takes any.
#[diagnostic::on_unimplemented(
    message = "the queue `{K}` may give a task twice, and `Explore::exactly_once` promises that it does not",
    note = "use `Explore::at_least_once`, or a queue that is `ExactlyOnce`"
)]
pub trait Promise<T, K>: sealed::Promise {}

impl<T, K: Kind<T>> Promise<T, K> for AtLeast {}

impl<T, K: Kind<T>> Promise<T, K> for Exactly
where
    K::Owner: ExactlyOnce,
    K::Thief: ExactlyOnce,
{
}

mod sealed {
    pub trait Promise {}
    impl Promise for super::Exactly {}
    impl Promise for super::AtLeast {}
}

/// Builder for an exploration.
///
/// Sets the promise, the queue, the number of workers, the limits and the state.
///
/// ```
/// use filch::explore::Explore;
///
/// let found = Explore::exactly_once().state(|_| 0u64).run(0..10u64, |n, worker| {
///     *worker.state() += n;
///     if n < 5 {
///         worker.push(n + 100);
///     }
/// });
/// assert_eq!(found.states().iter().sum::<u64>(), 45 + 510);
/// ```
///
/// A clone has the same settings, for work that takes several explorations. Clones share the cancel
/// token and the deadline.
#[derive(Clone)]
#[must_use = "nothing is explored until `run` is called"]
pub struct Explore<'p, P, K, M = fn(usize)> {
    promise: P,
    queue: K,
    pool: Option<&'p Pool>,
    workers: usize,
    limits: Limits,
    state: M,
}

impl Explore<'static, Exactly, Split> {
    /// Creates a builder for an exploration that runs each task once. The default queue is
    /// [`Split`].
    pub fn exactly_once() -> Self {
        Explore::new(Exactly, Split)
    }
}

impl Explore<'static, AtLeast, Split> {
    /// Creates a builder for an exploration that runs each task at least once. The default queue is
    /// [`Split`], which runs each task once. [`queue`](Explore::queue) takes queues that do not.
    pub fn at_least_once() -> Self {
        Explore::new(AtLeast, Split)
    }
}

impl<P, K> Explore<'static, P, K> {
    fn new(promise: P, queue: K) -> Self {
        let state: fn(usize) = |_| {};
        Explore { promise, queue, pool: None, workers: usize::MAX, limits: Limits::default(), state }
    }
}

impl<'p, P, K, M> Explore<'p, P, K, M> {
    /// Sets the kind of the queues.
    pub fn queue<L>(self, queue: L) -> Explore<'p, P, L, M> {
        let Explore { promise, pool, workers, limits, state, .. } = self;
        Explore { promise, queue, pool, workers, limits, state }
    }

    /// Replaces the kind of the queues by one made from it. For example, the new kind can watch the
    /// old one.
    pub fn map_queue<L>(self, change: impl FnOnce(K) -> L) -> Explore<'p, P, L, M> {
        let Explore { promise, queue, pool, workers, limits, state } = self;
        Explore { promise, queue: change(queue), pool, workers, limits, state }
    }

    /// Sets the pool. Default: the pool of the calling thread, or the global one.
    pub fn pool<'q>(self, pool: &'q Pool) -> Explore<'q, P, K, M> {
        let Explore { promise, queue, workers, limits, state, .. } = self;
        Explore { promise, queue, pool: Some(pool), workers, limits, state }
    }

    /// Sets the most workers, at least one. Default: as many as the pool has threads.
    pub fn workers(self, workers: usize) -> Self {
        Explore { workers: workers.max(1), ..self }
    }

    /// Returns the most workers of the exploration.
    ///
    /// That is the number of threads of the pool, unless [fewer](Explore::workers) were asked for.
    pub fn max_workers(&self) -> usize {
        self.workers.min(self.pool.map_or_else(crate::current_num_threads, Pool::current_num_threads))
    }

    /// Stops the exploration when `cancel` is cancelled.
    ///
    /// No worker begins another task once it has seen that. Each worker looks before its first
    /// task, and begins at most sixteen others until it looks again; fewer if they take long.
    ///
    /// Cancel from a task, or from a thread that is not of the pool: a worker that explores runs
    /// nothing else.
    pub fn cancel(self, cancel: &Cancel) -> Self {
        Explore { limits: Limits { cancel: Some(cancel.clone()), ..self.limits }, ..self }
    }

    /// Stops the exploration at `deadline`.
    ///
    /// No worker begins another task once it has seen that the deadline has passed. Each worker
    /// looks as often as for [`cancel`](Explore::cancel).
    pub fn deadline(self, deadline: Instant) -> Self {
        Explore { limits: Limits { deadline: Some(deadline), ..self.limits }, ..self }
    }

    /// Stops the exploration after `limit`, like [`deadline`](Explore::deadline).
    pub fn time_limit(self, limit: Duration) -> Self {
        // A deadline that overflows `Instant` means no deadline.
        Explore { limits: Limits { deadline: Instant::now().checked_add(limit), ..self.limits }, ..self }
    }

    /// Sets a function that creates a state for each worker.
    ///
    /// It is called before the worker's first task, with the worker's [`index`](Explorer::index).
    /// The states are returned at the end.
    pub fn state<N, S>(self, state: N) -> Explore<'p, P, K, N>
    where
        N: Fn(usize) -> S + Sync,
    {
        let Explore { promise, queue, pool, workers, limits, .. } = self;
        Explore { promise, queue, pool, workers, limits, state }
    }

    /// Runs `visit` on each root and on each task that it pushes.
    ///
    /// Each task runs once or at least once, until no task is left or the exploration is stopped.
    ///
    /// # Panics
    ///
    /// As for [`explore`](crate::explore()).
    pub fn run<T, S, F>(self, roots: impl IntoIterator<Item = T>, visit: F) -> Explored<S>
    where
        T: Send,
        S: Send,
        P: Promise<T, K>,
        K: Kind<T>,
        M: Fn(usize) -> S + Sync,
        F: Fn(T, &mut Explorer<'_, K::Owner, S>) + Sync,
    {
        let explorers = self.max_workers();
        let shared = Shared::<T, K, S, M, F> {
            kind: self.queue,
            thieves: (0..explorers).map(|_| OnceLock::new()).collect(),
            roots: Roots::new(roots.into_iter().collect(), explorers),
            termination: termination::Termination::new(),
            idle_list: idle_list::IdleList::new((1..explorers).map(Local::new).collect()),
            fenced: !barrier::register(),
            limits: self.limits,
            results: Results::new(explorers),
            state: self.state,
            visit,
        };
        let go = || crate::scope(|scope| run_loop::run(&shared, scope, Local::new(0), false));
        match self.pool {
            Some(pool) => pool.install(go),
            None => go(),
        }
        shared.into_explored()
    }

    /// Runs like [`run`](Explore::run), until a visit returns a result, which stops it.
    ///
    /// If several visits do at the same time, one of the results is returned.
    ///
    /// ```
    /// use filch::explore::{Ending, Explore};
    ///
    /// let (found, explored) = Explore::exactly_once().find([1u64], |n, worker| {
    ///     worker.push_all([2 * n, 3 * n]);
    ///     (n > 1000).then_some(n)
    /// });
    /// assert!(found.is_some_and(|n| n > 1000));
    /// assert_eq!(explored.ending(), Ending::Stopped);
    /// ```
    ///
    /// # Panics
    ///
    /// As for [`explore`](crate::explore()).
    pub fn find<T, S, R, F>(self, roots: impl IntoIterator<Item = T>, visit: F) -> (Option<R>, Explored<S>)
    where
        T: Send,
        S: Send,
        R: Send,
        P: Promise<T, K>,
        K: Kind<T>,
        M: Fn(usize) -> S + Sync,
        F: Fn(T, &mut Explorer<'_, K::Owner, S>) -> Option<R> + Sync,
    {
        let found = Mutex::new(None);
        let explored = self.run(roots, |task, explorer: &mut Explorer<'_, K::Owner, S>| {
            if let Some(result) = visit(task, explorer) {
                let first = lock(&found).replace(result);
                explorer.stop();
                drop(first);
            }
        });
        let found = lock(&found).take();
        (found, explored)
    }
}

impl<P, K: fmt::Debug, M> fmt::Debug for Explore<'_, P, K, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Explore").field("queue", &self.queue).field("workers", &self.workers).finish_non_exhaustive()
    }
}
