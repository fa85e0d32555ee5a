//! Fork-join for Rust.

mod backoff;
mod broadcast;
mod defect;
pub mod engine;
mod error;
mod global;
mod job;
mod join;
mod latch;
#[cfg(all(test, any(loom, shuttle)))]
mod models;
mod origin;
mod pool;
mod post;
mod scope;
mod search;
mod sleep;
mod spawn;
mod stack;
mod stats;
mod sync;
pub mod trace;
mod unwind;
mod wait;
mod worker;

pub use broadcast::{broadcast, Broadcast};
pub use error::BuildError;
pub use global::{index, threads, with_worker};
pub use join::{join, join_context, maybe_join, Context};
pub use pool::{Builder, Fences, Pool, Thread};
pub use scope::{scope, Scope};
pub use spawn::{spawn, yield_now, Yield};
pub use stats::{Stats, WorkerStats};
pub use wait::Waiting;
pub use worker::Worker;
