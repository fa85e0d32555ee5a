//! All runtimes, filch's and the peers', behind one trait that compiles to direct calls.
//!
//! A contender has two parts: a [`Fork`], which is how its code joins two closures, and the pool in
//! which that code runs. filch has several combinations of the two. Programs are compiled once for
//! each `Fork`.

mod chili;
mod engine;
#[cfg(test)]
pub(crate) mod faulty;
mod filch;
mod rayon;
mod serial;
mod tasks;
mod textbook;

use anyhow::Result;

pub(crate) use self::chili::Chili;
pub(crate) use self::engine::{Engine, EngineBarrier, EngineEvents};
pub(crate) use self::filch::{Filch, FilchAny, FilchFenced, FilchMaybe, FilchNoRaid, FilchWorker};
pub(crate) use self::rayon::Rayon;
pub(crate) use self::serial::{Counting, Serial, SerialCall};
pub(crate) use self::tasks::Tasks;
pub(crate) use self::textbook::{Scheme, Textbook};

/// The stack size of a pool's thread in bytes, where a pool can be configured.
///
/// The bytes are reserved, not used. A tree of 1,572 layers has four times as many joins on the
/// stack. rayon runs any job while it waits and overflows the default 2 MiB.
pub(crate) const STACK: usize = 64 << 20;

/// A way to join two closures.
///
/// All of it is static, so that a join is inlined into the workload that calls it.
pub(crate) trait Fork: 'static {
    /// The worker, passed from join to join, or nothing if code need not pass it.
    ///
    /// It is passed by value, so that nothing takes no register.
    type Context<'a>;

    /// Reborrows the context for a call, so that it stays available for the next call.
    fn reborrow<'a>(context: &'a mut Self::Context<'_>) -> Self::Context<'a>;

    /// Runs both closures, possibly in parallel.
    fn join<A, B, RA, RB>(context: Self::Context<'_>, a: A, b: B) -> (RA, RB)
    where
        A: for<'a> FnOnce(Self::Context<'a>) -> RA + Send,
        B: for<'a> FnOnce(Self::Context<'a>) -> RB + Send,
        RA: Send,
        RB: Send;
}

/// Threads that a [`Fork`] runs on, and the way to enter them.
pub(crate) trait Runtime {
    /// The way its code joins.
    type Fork: Fork;
    /// Its threads. They end when the pool is dropped.
    type Pool;

    /// Runs `work` inside the pool. The caller is outside.
    fn enter<R, W>(pool: &Self::Pool, work: W) -> R
    where
        W: for<'a> FnOnce(Context<'a, Self>) -> R + Send,
        R: Send;
}

/// A runtime whose pool needs only a number of threads.
pub(crate) trait Contender: Runtime {
    /// Its name in plots.
    const NAME: &'static str;

    /// Starts a pool of `threads` threads. A contender without a pool ignores the number.
    fn pool(threads: usize) -> Result<Self::Pool>;
}

/// The context that a runtime's code passes along.
pub(crate) type Context<'a, C> = <<C as Runtime>::Fork as Fork>::Context<'a>;
