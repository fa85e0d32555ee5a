//! How a sample is taken.
//!
//! Every sample but those of `wide` starts a pool of its own and ends it, so that no other pool
//! uses CPU time beside it.

mod gap;
mod idle;
mod scope;
mod tick;
mod wake;
mod wide;

pub(crate) use gap::{after_gaps, AfterGaps};
pub(crate) use idle::{idle, Idle};
pub(crate) use scope::scope;
pub(crate) use tick::tick;
pub(crate) use wake::wake;
pub(crate) use wide::Wide;

use crate::bench::throughput::warm_pool;
pub(crate) use crate::bench::throughput::{back_to_back, side_by_side};
