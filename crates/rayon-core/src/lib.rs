//! rayon-core's API on [filch].
//!
//! With this crate in place of rayon-core, all of rayon runs on filch's workers: `par_iter`,
//! `par_sort`, `join`, `scope`. This applies to the program and to all its dependencies. Add to the
//! program's `Cargo.toml`:
//!
//! ```toml
//! [patch.crates-io]
//! rayon-core = { path = "…/filch/crates/rayon-core" }
//! ```
//!
//! The names, signatures and error texts are those of rayon-core. Its documentation explains how to
//! use the functions. This crate's README lists the differences.
//!
//! # Environment
//!
//! - `RAYON_NUM_THREADS`, and the older `RAYON_RS_NUM_CPUS`: the number of threads of a pool whose
//!   builder does not set it.
//! - `FILCH_WAITING`: which jobs a thread may run while it waits. The values are `in-pool`,
//!   `strict` and `any`; see [`filch::Waiting`]. Default: `in-pool`.
//! - `FILCH_CALLERS`: where calls from outside the global pool run: `in-place` or `shipped`; see
//!   [`filch::Callers`]. Default: `shipped`.

mod broadcast;
mod builder;
mod configuration;
mod current;
mod error;
mod global;
mod join;
mod scope;
mod spawn;
mod thread_pool;

pub use broadcast::{broadcast, spawn_broadcast, BroadcastContext};
pub use builder::{ThreadBuilder, ThreadPoolBuilder};
#[allow(deprecated)]
pub use configuration::{initialize, Configuration};
pub use current::{
    current_num_threads, current_thread_has_pending_tasks, current_thread_index, max_num_threads, yield_local,
    yield_now, Yield,
};
pub use error::ThreadPoolBuildError;
pub use join::{join, join_context, FnContext};
pub use scope::{in_place_scope, in_place_scope_fifo, scope, scope_fifo, Scope, ScopeFifo};
pub use spawn::{spawn, spawn_fifo};
pub use thread_pool::ThreadPool;
