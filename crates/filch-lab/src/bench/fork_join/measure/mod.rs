//! How a sample is taken. Every one starts a pool of its own and ends it: no other pool is there to burn CPU beside it.

mod gap;
mod idle;
mod throughput;
mod tick;
mod wake;

use std::hint::black_box;

use anyhow::Result;

pub(crate) use gap::{after_gaps, AfterGaps};
pub(crate) use idle::{idle, Idle};
pub(crate) use throughput::{back_to_back, side_by_side};
pub(crate) use tick::tick;
pub(crate) use wake::wake;

use super::contenders::{Contender, Fork};
use super::work::{Fib, Work};

/// A little work of another kind, so that a pool's threads have started and its code is in the cache.
fn warm_up<F: Fork>(context: F::Context<'_>) -> Result<()> {
    let work = black_box(Fib(22));
    work.check(&work.run::<F>(context, ()))
}

/// A pool that has worked.
fn warm_pool<C: Contender>(threads: usize) -> Result<C::Pool> {
    let pool = C::pool(threads)?;
    C::enter(&pool, |context| warm_up::<C::Fork>(context))?;
    Ok(pool)
}
