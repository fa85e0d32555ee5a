//! filch's contenders.
//!
//! They are: the worker as an argument, rayon's signature, the opt-in join that may make no job,
//! and variants with one optimisation switched off.

use anyhow::{Context as _, Result};
use filch::{Builder, Fences, Pool, Waiting, Worker};

use super::{Contender, Context, Fork, Runtime, STACK};

/// `filch::join`, which finds the worker itself.
pub(crate) enum FilchJoin {}

impl Fork for FilchJoin {
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
        filch::join(|| a(()), || b(()))
    }
}

macro_rules! worker_join {
    ($(#[$doc:meta])* $fork:ident, $join:ident) => {
        $(#[$doc])*
        pub(crate) enum $fork {}

        impl Fork for $fork {
            type Context<'a> = &'a mut Worker;

            #[inline(always)]
            fn reborrow<'a>(context: &'a mut &mut Worker) -> &'a mut Worker {
                context
            }

            #[inline(always)]
            fn join<A, B, RA, RB>(worker: &mut Worker, a: A, b: B) -> (RA, RB)
            where
                A: FnOnce(&mut Worker) -> RA + Send,
                B: FnOnce(&mut Worker) -> RB + Send,
                RA: Send,
                RB: Send,
            {
                worker.$join(a, b)
            }
        }
    };
}

worker_join! {
    /// `Worker::join`.
    WorkerJoin, join
}

worker_join! {
    /// `Worker::maybe_join`, which makes no job if enough jobs are queued and no worker is hungry.
    WorkerMaybeJoin, maybe_join
}

macro_rules! installed {
    ($(#[$doc:meta])* $contender:ident, $name:literal, $builder:expr) => {
        $(#[$doc])*
        pub(crate) enum $contender {}

        impl Runtime for $contender {
            type Fork = FilchJoin;
            type Pool = Pool;

            fn enter<R, W>(pool: &Pool, work: W) -> R
            where
                W: for<'a> FnOnce(Context<'a, Self>) -> R + Send,
                R: Send,
            {
                pool.install(|| work(()))
            }
        }

        impl Contender for $contender {
            const NAME: &'static str = $name;

            fn pool(threads: usize) -> Result<Pool> {
                build($builder, threads)
            }
        }
    };
}

installed! {
    /// `filch`: rayon's signature, with strict waiting.
    Filch, "filch", Pool::builder().waiting(Waiting::Strict)
}

installed! {
    /// `filch-any`: like `filch`, but a waiting worker runs any job, as rayon's workers do.
    FilchAny, "filch-any", Pool::builder().waiting(Waiting::Any)
}

macro_rules! with_worker {
    ($(#[$doc:meta])* $contender:ident, $name:literal, $fork:ident, $builder:expr) => {
        $(#[$doc])*
        pub(crate) enum $contender {}

        impl Runtime for $contender {
            type Fork = $fork;
            type Pool = Pool;

            fn enter<R, W>(pool: &Pool, work: W) -> R
            where
                W: for<'a> FnOnce(Context<'a, Self>) -> R + Send,
                R: Send,
            {
                pool.with_worker(|worker| work(worker))
            }
        }

        impl Contender for $contender {
            const NAME: &'static str = $name;

            fn pool(threads: usize) -> Result<Pool> {
                build($builder, threads)
            }
        }
    };
}

with_worker! {
    /// `filch-worker`: the worker is an argument.
    FilchWorker, "filch-worker", WorkerJoin, Pool::builder()
}

with_worker! {
    /// `filch-maybe`: the worker is an argument, and a join may make no job.
    FilchMaybe, "filch-maybe", WorkerMaybeJoin, Pool::builder()
}

with_worker! {
    /// `filch-fenced`: the owner executes the fence.
    ///
    /// This is what happens where the operating system offers no heavy barrier.
    FilchFenced, "filch-fenced", WorkerJoin, Pool::builder().fences(Fences::Owner)
}

with_worker! {
    /// `filch-no-raid`: a thief waits until the owner shares.
    FilchNoRaid, "filch-no-raid", WorkerJoin, Pool::builder().raid(false)
}

fn build(builder: Builder, threads: usize) -> Result<Pool> {
    builder
        .threads(threads)
        .stack_size(STACK)
        .build()
        .with_context(|| format!("a filch pool of {threads} threads could not be started"))
}
