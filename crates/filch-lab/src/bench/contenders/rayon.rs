//! rayon, in a pool of its own.

use anyhow::{Context as _, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{Contender, Context, Fork, Runtime, STACK};

/// The contender `rayon`.
pub(crate) enum Rayon {}

impl Fork for Rayon {
    type Context<'a> = ();

    #[inline(always)]
    fn reborrow((): &mut ()) {}

    #[inline(always)]
    fn join<A, B, RA, RB>((): (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(()) -> RA + Send,
        B: FnOnce(()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        rayon::join(|| a(()), || b(()))
    }
}

impl Runtime for Rayon {
    type Fork = Rayon;
    type Pool = ThreadPool;

    fn enter<R, W>(pool: &ThreadPool, work: W) -> R
    where
        W: for<'a> FnOnce(Context<'a, Self>) -> R + Send,
        R: Send,
    {
        pool.install(|| work(()))
    }
}

impl Contender for Rayon {
    const NAME: &'static str = "rayon";

    fn pool(threads: usize) -> Result<ThreadPool> {
        ThreadPoolBuilder::new()
            .num_threads(threads)
            .stack_size(STACK)
            .build()
            .with_context(|| format!("a rayon pool of {threads} threads could not be started"))
    }
}
