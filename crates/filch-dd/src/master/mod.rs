//! One master that works too, and workers, each with a queue of its own.
//!
//! A search splits subproblems into more of them, and what a worker learns in one is of use in those near it. So work should move seldom, in batches, and to where it is near; and somebody has to know who
//! works where. That is the master. It works like everyone else while everyone is busy; when a worker's queue is nearly drained, it takes a share of another's, as a [`Policy`] says, and brings it there.
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
//! # The baton
//!
//! Whoever holds the baton is master: it has the thieves of all queues, the picture of all workers, and the policy. So there is one who steals at any time, and the type of a bulk queue's thief says so. But a master that
//! is in a long task cannot serve anybody. It therefore lays the baton down when it begins a task, and stays master only in name:
//!
//! - A worker whose queue is nearly drained says so, before it begins the next task. The master by name sees it at its next [`poll`](Worker::poll), or between two tasks, takes the baton and
//!   brings it something, while it still works. No other worker is disturbed.
//! - A worker that has nothing left takes the baton itself, is master from then on, and takes for itself and for all in want. It needs no answer from anybody: also from queues whose owners are in a task that never polls.
//! - If there is nothing to take anywhere, it sits down, and its thread goes back to the pool. Whoever has more than one task in its queue at a push, or one at a poll or between two tasks, takes the baton, brings it
//!   a share, and has the pool run it again.
//!
//! So a task that never polls delays nobody but in two ways: workers that are hungry, but have work, wait for the master by name if that is the one; and if somebody waits while a task pushes a single other, and then
//! takes long and does not poll, that other stays where it is, because its owner takes it next. (Otherwise a chain of tasks, of which each pushes the next, would go from thread to thread with every task.)
//!
//! Nobody who has work to do waits for the baton: who finds it taken leaves a note, and the holder serves once more. No thread waits for tasks either; `process` may use the pool in any way.
//!
//! # What it costs
//!
//! A push and a poll look at one shared word that is written when somebody comes into want; a task, in addition, writes its region to its worker's own cache line. Nothing that a task does takes a lock, unless
//! somebody is in want, or it publishes something.

mod baton;
mod crew;
mod deterministic;
mod idle;
mod learnt;
mod life;
mod mail;
mod member;
#[cfg(all(loom, test))]
mod models;
mod office;
mod picture;
mod policy;
mod queue;
mod region;
mod report;
mod signal;
mod worker;

use core::fmt;
use std::time::{Duration, Instant};

use filch::explore::Cancel;
use filch::Pool;

pub use filch_queue::bulk::Batch;
pub use picture::{Picture, Standing, State};
pub use policy::{Longest, Move, Nearest, Policy, RoundRobin};
pub use region::Region;
pub use report::{Counts, Ending, Report, Transfer, Transfers};
pub use worker::Worker;

use crate::sync::advice::AtomicU64;
use crew::{Clock, Crew, Fencing, Limits, Plan};

/// What is to be done with a task.
pub trait Work: Sync + Sized {
    /// What the queues carry.
    type Task: Send;

    /// What a task teaches about those near it; `()` if nothing.
    type Learnt: Send + Sync;

    /// Where in the search space a task lies. Asked once before a task is processed, and once for each batch that is moved; it should be quick.
    fn region(&self, task: &Self::Task) -> Region;

    /// Processes a task: once, on one of the workers.
    fn process(&self, task: Self::Task, worker: &mut Worker<'_, Self>);
}

/// A run to be: how many workers, which policy, when to stop.
#[must_use = "nothing is done until `run` is called"]
pub struct Master<'p> {
    pool: Option<&'p Pool>,
    threads: Option<usize>,
    policy: Box<dyn Policy>,
    deterministic: bool,
    limits: Limits,
    remember: usize,
    log: usize,
}

impl Master<'static> {
    /// On all threads of the current pool, by [`Nearest`], without limits.
    pub fn new() -> Self {
        Master {
            pool: None,
            threads: None,
            policy: Box::new(Nearest::new()),
            deterministic: false,
            limits: Limits::default(),
            remember: 64,
            log: 1024,
        }
    }
}

impl<'p> Master<'p> {
    /// With so many workers, at least one.
    ///
    /// One works on the calling thread. Several work in the pool that was [given](Master::pool), at most as many as that has threads; without one, in the pool of the calling thread or
    /// the global one if that runs and has threads enough, and otherwise in a pool of their own, for this run.
    pub fn threads(self, threads: usize) -> Self {
        Master { threads: Some(threads.max(1)), ..self }
    }

    /// On this pool. A worker for each of its threads, or fewer if [told](Master::threads).
    pub fn pool<'q>(self, pool: &'q Pool) -> Master<'q> {
        let Master { threads, policy, deterministic, limits, remember, log, .. } = self;
        Master { pool: Some(pool), threads, policy, deterministic, limits, remember, log }
    }

    /// With this policy. The default is [`Nearest`].
    pub fn policy(self, policy: impl Policy + 'static) -> Self {
        Master { policy: Box::new(policy), ..self }
    }

    /// All on the calling thread, which plays the workers, as many as [told](Master::threads) or else as many as the pool has threads: a task of each in turn, by index. Every run is the same, down to the
    /// report, if the tasks are, and nothing stops it from outside.
    pub fn deterministic(self) -> Self {
        Master { deterministic: true, ..self }
    }

    /// No worker begins another task once it has seen that this was cancelled. Each looks after at most 32 tasks or polls, and sooner if they take long.
    pub fn cancel(self, cancel: &Cancel) -> Self {
        Master { limits: Limits { cancel: Some(cancel.clone()), ..self.limits }, ..self }
    }

    /// No worker begins another task once it has seen that this moment has passed. Each looks as often as for [`cancel`](Master::cancel).
    pub fn deadline(self, deadline: Instant) -> Self {
        Master { limits: Limits { deadline: Some(deadline), ..self.limits }, ..self }
    }

    /// As [`deadline`](Master::deadline), so long from now.
    pub fn time_limit(self, limit: Duration) -> Self {
        // What is too far to be a moment is never.
        Master { limits: Limits { deadline: Instant::now().checked_add(limit), ..self.limits }, ..self }
    }

    /// How much of what is [published](Worker::publish) each worker keeps. The default is 64.
    pub fn remember(self, notes: usize) -> Self {
        Master { remember: notes, ..self }
    }

    /// How many transfers the report has, of the last ones. The default is 1,024.
    pub fn log(self, transfers: usize) -> Self {
        Master { log: transfers, ..self }
    }

    /// Processes the roots and all that they push, until nothing is left or it is stopped. The first worker begins with all roots, the youngest in front.
    ///
    /// # Panics
    ///
    /// If a task panics: no worker begins another, and when all have ended the panic goes on. Also if the policy asks for what cannot be, and if a pool is needed and cannot be started.
    pub fn run<W: Work>(self, roots: impl Into<Batch<W::Task>>, work: &W) -> Report<W::Task> {
        let place = self.place();
        let plan = Plan {
            workers: match &place {
                Place::Here { workers } => *workers,
                Place::Pool(pool) => pool.threads().min(self.threads.unwrap_or(usize::MAX)),
                Place::Own(pool) => pool.threads(),
                Place::Current => filch::threads().min(self.threads.unwrap_or(usize::MAX)),
            },
            policy: self.policy,
            limits: self.limits,
            notes: self.remember,
            log: self.log,
            clock: if self.deterministic { Clock::Steps(AtomicU64::new(0)) } else { Clock::Real(Instant::now()) },
            fencing: if matches!(place, Place::Here { .. }) { Fencing::Nobody } else { Fencing::for_threads() },
        };
        let (crew, first) = Crew::new(work, roots.into(), plan);
        let in_pool = |first| filch::scope(|scope| life::in_pool(&crew, scope, first));
        match &place {
            Place::Here { workers: 1 } if !self.deterministic => life::alone(&crew, first),
            Place::Here { .. } => deterministic::play(&crew, first),
            Place::Pool(pool) => pool.install(|| in_pool(first)),
            Place::Own(pool) => pool.install(|| in_pool(first)),
            Place::Current => in_pool(first),
        }
        crew.into_report()
    }

    /// Where it runs.
    fn place(&self) -> Place<'p> {
        let threads = |pool: Option<&Pool>| pool.map_or_else(filch::threads, Pool::threads);
        match (self.pool, self.threads) {
            (pool, asked) if self.deterministic => Place::Here { workers: asked.unwrap_or_else(|| threads(pool)) },
            (_, Some(1)) => Place::Here { workers: 1 },
            (Some(pool), _) => Place::Pool(pool),
            (None, None) => Place::Current,
            (None, Some(asked)) => {
                let running = filch::index().is_some() || Pool::try_global().is_some();
                if running && filch::threads() >= asked {
                    return Place::Current;
                }
                match Pool::builder().threads(asked).build() {
                    Ok(pool) => Place::Own(pool),
                    Err(error) => panic!("a pool of {asked} threads could not be started: {error}"),
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
    /// In that of the calling thread, or the global one.
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
