//! Fork-join for Rust. A join costs about a function call.
//!
//! Any idle worker can steal any forked job, and threads sleep if there is nothing to do.
//!
//! ```
//! fn sum(numbers: &[u64]) -> u64 {
//!     if numbers.len() <= 64 {
//!         return numbers.iter().sum();
//!     }
//!     let (left, right) = numbers.split_at(numbers.len() / 2);
//!     let (a, b) = filch::join(|| sum(left), || sum(right));
//!     a + b
//! }
//! let numbers: Vec<u64> = (0..100_000).collect();
//! assert_eq!(sum(&numbers), 4_999_950_000);
//! ```
//!
//! # Which function
//!
//! | function | for | costs |
//! |---|---|---|
//! | [`join`](crate::join()), [`join!`](crate::join!) | closures that may run at once, and whose results you need | about a call |
//! | [`Worker::join`] | the same, in code that passes the worker along | a little less |
//! | [`maybe_join`] | the same, where no closure ever waits for another: may make no job at all | less still, in large trees of tiny closures |
//! | [`scope`](crate::scope()) | any number of tasks that borrow, all over when the scope is | about a fork a task; more for closures of more than five words |
//! | [`spawn`](crate::spawn()) | jobs whose end no caller waits for | about as much |
//! | [`broadcast`](crate::broadcast()) | once on each worker | a wake-up of each |
//! | [`explore`](crate::explore()), [`explore_at_least_once`] | worklists that grow while they are worked on | a push and a pop of a queue |
//!
//! On a worker, all of them use the worker's pool. On any other thread they use the global pool,
//! which starts at its first use. Use a [`Builder`] to build a [`Pool`] of your own.
//!
//! The [`guide`] has pages on [choosing](guide::choosing), [worklists](mod@guide::explore),
//! [waiting](guide::waiting) and [how it works](guide::how_it_works). Two more are for users [of
//! rayon](guide::from_rayon) and [of chili](guide::from_chili).
//!
//! # What it promises
//!
//! - **Always stealable.** An idle worker can take a forked job whatever its owner does. Two
//!   closures that wait for each other complete, given two workers. The same holds for tasks and
//!   spawned jobs. ([`maybe_join`] and `Builder::raid(false)` give that up.)
//! - **Strict waiting**, by default. A worker that waits runs only what its wait needs. So a lock
//!   that is held across a join cannot meet itself, and the stack stays bounded. [`Waiting`] sets
//!   the policy.
//! - **Nothing is lost.** Both closures of a join finish, and all tasks of a scope, whatever
//!   panics. Then the panic resumes. A dropped pool finishes the spawned jobs.
//! - **No CPU when idle**, and no allocation to fork or to spawn a small closure.
//!
//! # Limits
//!
//! - No parallel iterators. Rayon's run on filch if the crate `rayon-core` of this repository
//!   replaces the original.
//! - Under the strict policy, workers idle in some programs. Two patterns that work elsewhere wait
//!   forever: a join that waits for a spawned job if no other worker is free, and two pools that
//!   install into each other at the same time. See [`guide::waiting`] for remedies.
//! - No fence on Linux (with `membarrier(2)`) and Windows. On other systems each fork and each
//!   return has a fence. Tested on Linux on x86-64 only.
//! - A pool does not survive `fork(2)`. The child process gets an error, and can build another
//!   pool.
//! - Address space: 32 MiB for each worker. Memory is used only as deep as joins nest.
//!
//! # Features
//!
//! - `trace`, off by default: records which worker ran what, and when; see [`trace`].
//! - `engine`, off by default: the module `engine`, which is the same fork and join on any
//!   exactly-once queue of [`filch_queue`], for comparison.
//!
//! With `RUSTFLAGS="--cfg filch_no_membarrier"` owners pay for their fences, as on systems without
//! such a call.

mod backoff;
mod broadcast;
mod defect;
#[cfg(feature = "engine")]
pub mod engine;
mod error;
pub mod explore;
mod global;
pub mod guide;
mod job;
mod join;
mod latch;
mod lineage;
#[cfg(all(test, any(loom, shuttle)))]
mod models;
mod pool;
mod process;
pub mod queue;
mod random;
mod ring;
mod scope;
mod search;
mod seat;
mod sleep;
mod spawn;
mod spin;
mod split;
mod split_queue;
mod stack;
mod stats;
mod sync;
mod tasks;
pub mod trace;
mod unwind;
mod wait;
mod worker;

pub use broadcast::{broadcast, spawn_broadcast, BroadcastContext};
pub use error::BuildError;
pub use explore::{explore, explore_at_least_once};
pub use global::{current_num_threads, current_thread_index, with_worker};
pub use join::{join, join_context, maybe_join, Context};
pub use pool::{Builder, Callers, Fences, Pool, Thread};
pub use scope::{in_place_scope, in_place_scope_fifo, scope, scope_fifo, Scope};
pub use spawn::{has_pending, spawn, spawn_fifo, yield_local, yield_now, Yield};
pub use stats::{Stats, WorkerStats};
pub use wait::Waiting;
pub use worker::Worker;

/// The examples of the README, for doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
