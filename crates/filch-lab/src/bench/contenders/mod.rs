//! Every runtime, ours and the peers', in one shape that compiles to direct calls.
//!
//! A contender is two things: a [`Fork`], the way in which its code says "these two, perhaps side by side", and the pool in
//! which that code runs. Ours come in several combinations of the two. Programs are compiled once for each `Fork`.

mod chili;
mod engine;
mod filch;
mod rayon;
mod serial;
mod tasks;
mod textbook;

use anyhow::Result;

pub(crate) use self::chili::Chili;
pub(crate) use self::engine::Engine;
pub(crate) use self::filch::{Filch, FilchAny, FilchFenced, FilchMaybe, FilchNoRaid, FilchWorker};
pub(crate) use self::rayon::Rayon;
pub(crate) use self::serial::{Counting, Serial, SerialCall};
pub(crate) use self::tasks::Tasks;
pub(crate) use self::textbook::{Scheme, Textbook};

/// The stack of a pool's thread, where a pool can be told, in bytes that are reserved and not used. A tree of 1,572 layers has four times as
/// many joins on the stack, and rayon, which runs whatever there is while it waits, overflows the 2 MiB that a thread has otherwise.
pub(crate) const STACK: usize = 64 << 20;

/// How two closures are joined. All of it is static, so that a join is inlined into the workload that calls it.
pub(crate) trait Fork {
    /// What is passed along from join to join: the worker, where code has to pass it, or nothing at all. It is passed by
    /// value, so that nothing takes no register.
    type Context<'a>;

    /// Lends a context for a call, so that there is one left for the next.
    fn lend<'a>(context: &'a mut Self::Context<'_>) -> Self::Context<'a>;

    /// Runs both closures, perhaps side by side.
    fn join<A, B, RA, RB>(context: Self::Context<'_>, a: A, b: B) -> (RA, RB)
    where
        A: for<'a> FnOnce(Self::Context<'a>) -> RA + Send,
        B: for<'a> FnOnce(Self::Context<'a>) -> RB + Send,
        RA: Send,
        RB: Send;
}

/// Threads, and how to get in: where a [`Fork`] runs.
pub(crate) trait Runtime {
    /// How its code joins.
    type Fork: Fork;
    /// Its threads. They end when it is dropped.
    type Pool;

    /// Runs `work` inside the pool, called from outside.
    fn enter<R, W>(pool: &Self::Pool, work: W) -> R
    where
        W: for<'a> FnOnce(Context<'a, Self>) -> R + Send,
        R: Send;
}

/// A runtime that takes part, and needs to be told nothing but how many threads it has.
pub(crate) trait Contender: Runtime {
    /// The name that plots know it by.
    const NAME: &'static str;

    /// Starts a pool of so many threads. Who has no pool ignores the number.
    fn pool(threads: usize) -> Result<Self::Pool>;
}

/// What a runtime's code passes along.
pub(crate) type Context<'a, C> = <<C as Runtime>::Fork as Fork>::Context<'a>;
