//! How a sample is taken. Every one starts a pool of its own and ends it: no other pool is there to burn CPU beside it.

mod gap;
mod idle;
mod tick;
mod wake;

pub(crate) use gap::{after_gaps, AfterGaps};
pub(crate) use idle::{idle, Idle};
pub(crate) use tick::tick;
pub(crate) use wake::wake;

use crate::bench::throughput::warm_pool;
pub(crate) use crate::bench::throughput::{back_to_back, side_by_side};
