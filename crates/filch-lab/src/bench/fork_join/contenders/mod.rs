//! Every runtime, ours and the peers', in one shape that compiles to direct calls.
//!
//! A contender is two things: a [`Fork`], the way in which its code says "these two, perhaps side by side", and the pool in
//! which that code runs. Ours come in several combinations of the two.

mod chili;
mod filch;
mod rayon;
mod serial;

use anyhow::Result;

pub(crate) use self::chili::Chili;
pub(crate) use self::filch::{Filch, FilchFenced, FilchMaybe, FilchNoRaid, FilchWorker};
pub(crate) use self::rayon::Rayon;
pub(crate) use self::serial::{Counting, Serial, SerialCall};

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

/// A runtime that takes part.
pub(crate) trait Contender {
    /// The name that plots know it by.
    const NAME: &'static str;

    /// How its code joins.
    type Fork: Fork;
    /// Its threads. They end when it is dropped.
    type Pool;

    /// Starts a pool of so many threads. Who has no pool ignores the number.
    fn pool(threads: usize) -> Result<Self::Pool>;

    /// Runs `work` inside the pool, called from outside.
    fn enter<R, W>(pool: &Self::Pool, work: W) -> R
    where
        W: for<'a> FnOnce(Context<'a, Self>) -> R + Send,
        R: Send;
}

/// What a contender's code passes along.
pub(crate) type Context<'a, C> = <<C as Contender>::Fork as Fork>::Context<'a>;
