//! Fork-join for Rust: a join that costs about a call, jobs that can always be stolen, threads that sleep when there is nothing to do.
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
//! All of them use the pool of the calling thread, and elsewhere the global one, which is started at its first use. A [`Pool`] of your own comes from a [`Builder`].
//! The [`guide`] has a page on [choosing](guide::choosing), on [worklists](mod@guide::explore), on [waiting](guide::waiting), for those who come [from rayon](guide::from_rayon) or [from chili](guide::from_chili), and
//! on [how it works](guide::how_it_works).
//!
//! # What it promises
//!
//! - **Always stealable.** A forked job can be taken by an idle worker whatever its owner does: two
//!   closures that wait for each other complete, given two workers. So can tasks and spawned jobs.
//!   ([`maybe_join`] and `Builder::raid(false)` give that up.)
//! - **Strict waiting**, by default. A worker that waits runs only what its wait needs. A lock that is held across a join cannot meet itself, and the stack stays bounded. [`Waiting`] is the choice.
//! - **Nothing is lost.** Both closures of a join finish, and all tasks of a scope, whatever panics; then the panic goes on. A dropped pool finishes what was spawned.
//! - **No CPU when idle**, and no allocation to fork or to spawn a small closure.
//!
//! # Limits
//!
//! - No parallel iterators; but rayon's run on filch if the crate `rayon-core` of this repository is put in the place of the other one.
//! - Under the strict policy workers idle in some shapes of programs, and two shapes that work elsewhere wait for ever: a join that waits for a spawned job when no other worker is free, and two pools that install into each
//!   other at the same time. [`guide::waiting`] says what to do.
//! - No fence on Linux (with `membarrier(2)`) and Windows; elsewhere each fork and each return has one. Tested on Linux on x86-64 only.
//! - A pool does not survive `fork(2)`: the child is told so, and can build another.
//! - Address space: 32 MiB a worker, of which memory is used only as deep as joins nest.
//!
//! # Features
//!
//! - `trace`, off by default: records who ran what when; see [`trace`].
//!
//! With `RUSTFLAGS="--cfg filch_no_membarrier"` owners pay for their fences, as on systems without such a call. [`engine`] is the same fork and join on any exactly-once queue of [`filch_queue`], for comparison.

mod backoff;
mod broadcast;
mod defect;
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
mod random;
mod scope;
mod search;
mod seat;
mod sleep;
mod spawn;
mod spin;
mod split;
mod stack;
mod stats;
mod sync;
mod tasks;
pub mod trace;
mod unwind;
mod wait;
mod worker;

pub use broadcast::{broadcast, spawn_broadcast, Broadcast};
pub use error::BuildError;
pub use explore::{explore, explore_at_least_once};
pub use global::{index, threads, with_worker};
pub use join::{join, join_context, maybe_join, Context};
pub use pool::{Builder, Callers, Fences, Pool, Thread};
pub use scope::{in_place_scope, in_place_scope_fifo, scope, scope_fifo, Scope};
pub use spawn::{has_pending, spawn, spawn_fifo, yield_local, yield_now, Yield};
pub use stats::{Stats, WorkerStats};
pub use wait::Waiting;
pub use worker::Worker;
