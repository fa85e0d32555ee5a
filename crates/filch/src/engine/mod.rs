//! The same fork and join on any exactly-once queue of [`filch_queue`], chosen by type.
//!
//! [`filch::Pool`](crate::Pool) has a queue of its own, which is part of its `join`. Here the queue
//! is a parameter, and so is the [idle protocol](Idle): how workers sleep and are woken. Everything
//! else is the same: jobs in the frames of their joins, random victims. So two pools of this module
//! can differ in the queue alone, and the comparison of the fence-free paper can be repeated in a
//! runtime that is not a simulation. Or they differ in the idle protocol alone.
//!
//! ```
//! use filch::engine::{Pool, Queue, Worker};
//! use filch::queue::ChaseLev;
//!
//! fn fib<Q: Queue>(worker: &Worker<Q>, n: u32) -> u64 {
//!     if n < 2 {
//!         return n.into();
//!     }
//!     let (a, b) = worker.join(|worker| fib(worker, n - 1), |worker| fib(worker, n - 2));
//!     a + b
//! }
//!
//! # fn main() -> Result<(), filch::BuildError> {
//! let fenced = Pool::<ChaseLev>::new(2)?;
//! let default: Pool = Pool::new(2)?;
//! assert_eq!(fenced.install(|worker| fib(worker, 15)), default.install(|worker| fib(worker, 15)));
//! # Ok(())
//! # }
//! ```
//!
//! # Which queue
//!
//! | kind | a join's fence | always stealable | safe |
//! |---|---|---|---|
//! | [`Asymmetric`], the default | none with `membarrier(2)`, otherwise one | yes, unless the kernel refuses a barrier later: then a steal aborts until the owner's next pop | on every CPU |
//! | [`ChaseLev`] | one | yes | on every CPU |
//! | [`The`] | one | yes | on every CPU |
//! | [`Bulk`] | none, but a locked instruction | yes | on every CPU |
//! | [`FfCl`], [`FfThe`] | none on x86-64 | **no**: a steal aborts while at most delta jobs are queued | given the CPU's bound |
//! | [`Thep`] | none on x86-64 | **no**: a thief waits for the owner's next pop while at most delta jobs are queued | given the CPU's bound |
//!
//! The default is the fastest queue that is safe on every CPU. The last three queues rest on a
//! bound that only the user can guarantee, so an `unsafe` function creates them. If the bound is
//! too small, a job may run twice, in a frame that is gone.
//!
//! *Always stealable* means that a forked job can be stolen whatever its owner does, so that two
//! closures of a join may wait for each other. A queue whose steal may abort or wait cannot promise
//! that. Closures that wait for each other can wait forever, and a program that never has more than
//! delta jobs queued on one worker runs on that worker alone. A worker whose steal aborts does not
//! sleep as long as there is a job that it cannot take. It yields its time slice and tries again. A
//! thief of [`Thep`] that waits does nothing else meanwhile, not even start what is
//! [installed](Pool::install).
//!
//! # Which idle protocol
//!
//! | protocol | a fork pays | a worker that goes to sleep pays |
//! |---|---|---|
//! | [`HeavyBarrier`], the default | no fence with `membarrier(2)`, otherwise one | a system call that interrupts all running workers |
//! | [`EventCounter`], the jobs event counter of Blitz and rayon | a fence | two locked instructions |
//!
//! Both promise that no worker sleeps while there is a job that only it could take. The second
//! column is in addition to the fence of the queue.
//!
//! ```
//! use filch::engine::{EventCounter, Pool};
//! use filch::queue::ChaseLev;
//!
//! # fn main() -> Result<(), filch::BuildError> {
//! let pool = Pool::<ChaseLev, EventCounter>::with_idle(2, ChaseLev, None)?;
//! assert_eq!(pool.install(|worker| worker.join(|_| 1, |_| 2)), (1, 2));
//! # Ok(())
//! # }
//! ```
//!
//! # What it lacks
//!
//! This module is for measuring and studying, and has only [`install`](Pool::install) and
//! [`join`](Worker::join). While it waits for a stolen job, a worker runs whatever it finds
//! ([`Waiting::Any`](crate::Waiting::Any) and nothing else), with all the consequences. A thread
//! that installs blocks, even if it is a worker of another pool. A pool does not survive `fork(2)`.

mod idle;
mod job;
#[cfg(all(test, loom))]
mod models;
mod pool;
mod worker;

use filch_queue::ExactlyOnce;

pub use idle::{EventCounter, HeavyBarrier, Idle};
pub use job::Job;
pub use pool::{Pool, Thefts};
pub use worker::Worker;

use crate::queue::Kind;
#[cfg(doc)]
use crate::queue::{Asymmetric, Bulk, ChaseLev, FfCl, FfThe, The, Thep};

/// A [kind of queue](Kind) that a [`Pool`] can have: it is exactly once, for jobs.
///
/// All such kinds implement it. Nothing here is unsafe: [`ExactlyOnce`], which is, guarantees that
/// no job runs twice. If the `pop` of a queue says that it is empty when it is not, or loses a job,
/// a join waits forever. An owner should pop the youngest job; a join that gets another job runs
/// that first.
///
/// A queue refuses a job by an error of [`try_push`](filch_queue::Owner::try_push), and the join
/// that forked the job panics. A queue that panics instead, in any method, aborts the process: the
/// job may be in the queue, and its join must not unwind then.
pub trait Queue<I: Idle = HeavyBarrier>:
    Kind<Job<Self, I>, Owner: ExactlyOnce, Thief: ExactlyOnce> + Sized + 'static
{
}

impl<I: Idle, Q: Kind<Job<Q, I>, Owner: ExactlyOnce, Thief: ExactlyOnce> + 'static> Queue<I> for Q {}
