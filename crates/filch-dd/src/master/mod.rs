//! A scheduler: workers with a queue each, and a master that moves batches.
//!
//! A search splits subproblems into more of them, and what a worker learns in one is of use in
//! those near it. So work should move seldom, in batches, and to a worker nearby. This needs a
//! master: a worker that knows where each worker works. The master processes tasks like the others
//! while all are busy. When a worker's queue is nearly drained, the master takes a share of another
//! queue, as a [`Policy`] decides, and brings it there.
//!
//! ```
//! use filch_dd::master::{Batch, Master, Region, Work, Worker};
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! /// Counts the leaves of a binary tree.
//! struct Leaves(AtomicU64);
//!
//! impl Work for Leaves {
//!     type Task = Region;
//!     type Learnt = ();
//!
//!     fn region(&self, task: &Region) -> Region {
//!         *task
//!     }
//!
//!     fn process(&self, task: Region, worker: &mut Worker<'_, Self>) {
//!         if task.labels().len() == 10 {
//!             self.0.fetch_add(1, Ordering::Relaxed);
//!         } else {
//!             worker.push_batch([0, 1].map(|label| task.child(label)).into_iter().collect());
//!         }
//!     }
//! }
//!
//! let leaves = Leaves(AtomicU64::new(0));
//! let report = Master::new().threads(2).run(vec![Region::ROOT], &leaves);
//! assert_eq!(leaves.0.into_inner(), 1 << 10);
//! assert_eq!(report.total().tasks, (2 << 10) - 1);
//! ```
//!
//! # The master lock
//!
//! The worker that holds the master lock is the master. It has the thieves of all queues, the
//! overview of all workers, and the policy. So only one worker steals at any time, and the type of
//! a bulk queue's thief requires that. But a master inside a long task cannot serve other workers.
//! It therefore releases the master lock when it begins a task, and stays master only in name:
//!
//! - A worker whose queue is nearly drained runs low. It signals so before it begins its next
//!   task. The master in name sees the signal at its next [`poll`](Worker::poll), or between two
//!   tasks. It takes the master lock and brings that worker a batch while it still works. No
//!   other worker is disturbed.
//! - A worker that has nothing left takes the master lock itself and is master from then on. It
//!   takes tasks for itself and for all workers that want work. It needs no answer from the owners:
//!   it also takes from queues whose owners are in a task that never polls.
//! - If there is nothing to take anywhere, the worker parks: it waits without a thread, and its
//!   thread goes back to the pool. Another worker that has more than one task in its queue at a
//!   push, or one at a poll or between two tasks, takes the master lock. It brings the parked
//!   worker a share and has the pool run it again.
//!
//! So a task that never polls delays other workers in two cases only. First, workers that run low,
//! which still have work, wait for it if its worker is the master in name. Second, a worker may
//! wait while the task pushes a single other task, then takes long and does not poll. That other
//! task stays where it is, because its owner takes it next. (Otherwise a chain of tasks, of which
//! each pushes the next, would go from thread to thread with every task.)
//!
//! A worker that has work never waits for the master lock. If the master lock is taken, the worker
//! leaves a request, and the holder serves once more. No thread waits for tasks either; `process`
//! may use the pool in any way.
//!
//! # What it costs
//!
//! A push and a poll read one shared word, which is written when a worker begins to want work. A
//! task also writes its region to its worker's own cache line. A task takes no lock unless a worker
//! wants work or the task publishes something.

mod deterministic;
mod idle;
mod inbox;
mod master_lock;
mod master_state;
#[cfg(all(loom, test))]
mod models;
mod notes;
mod overview;
mod policy;
#[doc(hidden)]
pub mod queue;
mod region;
mod report;
mod run_loop;
mod shared;
mod signal;
mod worker;
mod worker_data;

use core::fmt;
use std::time::{Duration, Instant};

use filch::explore::Cancel;
use filch::Pool;

pub use filch_queue::bulk::Batch;
pub use overview::{Overview, State, WorkerStatus};
pub use policy::{Longest, Move, Nearest, Policy, RoundRobin};
pub use region::Region;
pub use report::{Counts, Ending, Report, Transfer, Transfers};
pub use worker::Worker;

use crate::sync::advice::AtomicU64;
use queue::{Bulk, Queue};
use shared::{Clock, Fencing, Limits, Plan, Shared};

/// A kind of task and the function that processes it.
///
/// Leave out `Q`, the kind of queue of the workers: other kinds exist only for comparison.
pub trait Work<Q: Queue = Bulk>: Sync + Sized {
    /// The tasks in the queues.
    type Task: Send;

    /// What a task teaches about the tasks near it; `()` if nothing.
    type Learnt: Send + Sync;

    /// Returns where in the search space a task lies.
    ///
    /// It is called once before a task is processed, and once for each batch that is moved. It
    /// should be quick.
    fn region(&self, task: &Self::Task) -> Region;

    /// Processes a task: once, on one of the workers.
    fn process(&self, task: Self::Task, worker: &mut Worker<'_, Self, Q>);
}

/// Builder for a run: the number of workers, the policy, the limits.
#[must_use = "does nothing until `run` is called"]
pub struct Master<'p> {
    pool: Option<&'p Pool>,
    threads: Option<usize>,
    policy: Box<dyn Policy>,
    deterministic: bool,
    limits: Limits,
    notes_per_worker: usize,
    log: usize,
}

impl Master<'static> {
    /// Returns a builder for all threads of the current pool, [`Nearest`], without limits.
    pub fn new() -> Self {
        Master {
            pool: None,
            threads: None,
            policy: Box::new(Nearest::new()),
            deterministic: false,
            limits: Limits::default(),
            notes_per_worker: 64,
            log: 1024,
        }
    }
}

impl<'p> Master<'p> {
    /// Sets the number of workers, at least one.
    ///
    /// A single worker runs on the calling thread. Several workers run in the pool that was
    /// [given](Master::pool), at most as many as that has threads. Without one, they run in the
    /// pool of the calling thread, or in the global pool if that is running and has enough threads.
    /// Otherwise they run in a pool of their own, for this run.
    pub fn threads(self, threads: usize) -> Self {
        Master { threads: Some(threads.max(1)), ..self }
    }

    /// Sets the pool.
    ///
    /// There is a worker for each of its threads, or fewer if [`threads`](Master::threads) says so.
    pub fn pool<'q>(self, pool: &'q Pool) -> Master<'q> {
        let Master { threads, policy, deterministic, limits, notes_per_worker, log, .. } = self;
        Master { pool: Some(pool), threads, policy, deterministic, limits, notes_per_worker, log }
    }

    /// Sets the policy. The default is [`Nearest`].
    pub fn policy(self, policy: impl Policy + 'static) -> Self {
        Master { policy: Box::new(policy), ..self }
    }

    /// Runs all workers on the calling thread, one task of each in turn, by index.
    ///
    /// There are as many workers as [`threads`](Master::threads) says, or else as many as the pool
    /// has threads. Every run is the same, down to the report, if the tasks are, and nothing stops
    /// it from outside.
    pub fn deterministic(self) -> Self {
        Master { deterministic: true, ..self }
    }

    /// Stops the run when `cancel` is cancelled.
    ///
    /// No worker begins another task once it has seen the cancellation. Each worker checks after at
    /// most 32 tasks or polls, and sooner if they take long.
    pub fn cancel(self, cancel: &Cancel) -> Self {
        Master { limits: Limits { cancel: Some(cancel.clone()), ..self.limits }, ..self }
    }

    /// Stops the run at `deadline`.
    ///
    /// No worker begins another task once it has seen that the deadline has passed. Each worker
    /// checks as often as for [`cancel`](Master::cancel).
    pub fn deadline(self, deadline: Instant) -> Self {
        Master { limits: Limits { deadline: Some(deadline), ..self.limits }, ..self }
    }

    /// Stops the run after `limit`, counted from now; see [`deadline`](Master::deadline).
    pub fn time_limit(self, limit: Duration) -> Self {
        // A deadline that overflows `Instant` means no deadline.
        Master { limits: Limits { deadline: Instant::now().checked_add(limit), ..self.limits }, ..self }
    }

    /// Sets how many [published](Worker::publish) notes each worker keeps. The default is 64.
    pub fn notes_per_worker(self, notes: usize) -> Self {
        Master { notes_per_worker: notes, ..self }
    }

    /// Sets how many transfers the report keeps, the latest ones. The default is 1,024.
    pub fn log(self, transfers: usize) -> Self {
        Master { log: transfers, ..self }
    }

    /// Processes the roots and all tasks that they push.
    ///
    /// The run ends when nothing is left or when it is stopped. The first worker begins with all
    /// roots, the youngest in front.
    ///
    /// # Panics
    ///
    /// If a task panics: no worker begins another task, and when all have ended, the panic resumes
    /// in the caller. Also if the policy returns an invalid choice, and if a pool is needed and
    /// cannot be started.
    pub fn run<W: Work>(self, roots: impl Into<Batch<W::Task>>, work: &W) -> Report<W::Task> {
        self.run_on::<Bulk, W>(roots, work)
    }

    /// Like [`run`](Master::run), on another kind of queue.
    #[doc(hidden)]
    pub fn run_on<Q: Queue, W: Work<Q>>(self, roots: impl Into<Batch<W::Task>>, work: &W) -> Report<W::Task> {
        let place = self.place();
        let plan = Plan {
            workers: match &place {
                Place::Here { workers } => *workers,
                Place::Pool(pool) => pool.current_num_threads().min(self.threads.unwrap_or(usize::MAX)),
                Place::Own(pool) => pool.current_num_threads(),
                Place::Current => filch::current_num_threads().min(self.threads.unwrap_or(usize::MAX)),
            },
            policy: self.policy,
            limits: self.limits,
            notes: self.notes_per_worker,
            log: self.log,
            clock: if self.deterministic { Clock::Steps(AtomicU64::new(0)) } else { Clock::Real(Instant::now()) },
            fencing: if matches!(place, Place::Here { .. }) { Fencing::SingleThread } else { Fencing::for_threads() },
        };
        let (shared, first) = Shared::new(work, roots.into(), plan);
        let in_pool = |first| filch::scope(|scope| run_loop::in_pool(&shared, scope, first));
        match &place {
            Place::Here { workers: 1 } if !self.deterministic => run_loop::on_this_thread(&shared, first),
            Place::Here { .. } => deterministic::run(&shared, first),
            Place::Pool(pool) => pool.install(|| in_pool(first)),
            Place::Own(pool) => pool.install(|| in_pool(first)),
            Place::Current => in_pool(first),
        }
        shared.into_report()
    }

    /// Returns where the run takes place.
    fn place(&self) -> Place<'p> {
        let threads = |pool: Option<&Pool>| pool.map_or_else(filch::current_num_threads, Pool::current_num_threads);
        match (self.pool, self.threads) {
            (pool, asked) if self.deterministic => Place::Here { workers: asked.unwrap_or_else(|| threads(pool)) },
            (_, Some(1)) => Place::Here { workers: 1 },
            (Some(pool), _) => Place::Pool(pool),
            (None, None) => Place::Current,
            (None, Some(asked)) => {
                let running = filch::current_thread_index().is_some() || Pool::try_global().is_some();
                if running && filch::current_num_threads() >= asked {
                    return Place::Current;
                }
                match Pool::builder().threads(asked).build() {
                    Ok(pool) => Place::Own(pool),
                    Err(error) => panic!("cannot start a pool of {asked} threads: {error}"),
                }
            }
        }
    }
}

/// Where a run takes place.
enum Place<'p> {
    /// On the calling thread.
    Here {
        workers: usize,
    },
    Pool(&'p Pool),
    /// In a pool for this run.
    Own(Pool),
    /// In the pool of the calling thread, or the global one.
    Current,
}

impl Default for Master<'static> {
    fn default() -> Self {
        Master::new()
    }
}

impl fmt::Debug for Master<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Master")
            .field("threads", &self.threads)
            .field("deterministic", &self.deterministic)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
