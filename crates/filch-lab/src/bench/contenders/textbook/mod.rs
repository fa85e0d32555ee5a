//! Textbook schedulers other than work stealing, as far as fork and join allow them.
//!
//! | scheme | at a fork | at its join |
//! |---|---|---|
//! | central queue | the job goes into one queue for all, behind a lock | it is taken back out of the queue, or waited for if another worker has taken it |
//! | work sharing | the job is handed to a worker whose queue is empty; if there is none, it stays and is a plain call | the same |
//! | static partition | the workers of this part are halved, and the second half gets the job | it is waited for; a worker without work stays idle |
//!
//! None of them steals. In the first two, a waiting worker runs other jobs meanwhile: jobs from the
//! central queue, or jobs it was handed. A part of the static partition that has one worker runs as
//! if there were no joins.

mod job;
mod pool;

use std::panic::{self, AssertUnwindSafe};

use self::job::{Forked, Waiter};
use self::pool::{Pool, WorkerContext};
use super::{Context, Fork, Runtime};

/// How work is divided among the workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// One queue for all.
    Central,
    /// A worker that forks hands the job to a worker whose queue is empty.
    Sharing,
    /// Work is divided in advance.
    Static,
}

/// All schemes. The pool knows which of them it runs.
pub(crate) enum Textbook {}

impl Textbook {
    /// A pool of `threads` threads.
    pub(crate) fn pool(scheme: Scheme, threads: usize) -> anyhow::Result<Pool> {
        Pool::new(scheme, threads)
    }
}

impl Fork for Textbook {
    type Context<'a> = WorkerContext<'a>;

    #[inline(always)]
    fn reborrow<'a>(context: &'a mut WorkerContext<'_>) -> WorkerContext<'a> {
        *context
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(context: WorkerContext<'_>, a: A, b: B) -> (RA, RB)
    where
        A: for<'a> FnOnce(WorkerContext<'a>) -> RA + Send,
        B: for<'a> FnOnce(WorkerContext<'a>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        match context.divide() {
            Some(division) => join(context, division, a, b),
            None => {
                let deeper = context.deeper();
                (a(deeper), b(deeper))
            }
        }
    }
}

impl Runtime for Textbook {
    type Fork = Textbook;
    type Pool = Pool;

    fn enter<R, W>(pool: &Pool, work: W) -> R
    where
        W: for<'a> FnOnce(Context<'a, Self>) -> R + Send,
        R: Send,
    {
        pool.enter(work)
    }
}

/// The destination of the second closure of a join.
#[derive(Clone, Copy)]
struct Division {
    /// The queue that the job goes into.
    queue: usize,
    /// The first worker after those of the first closure, in the static partition.
    middle: u16,
}

impl WorkerContext<'_> {
    /// The context one join deeper.
    #[inline(always)]
    fn deeper(self) -> Self {
        WorkerContext { depth: self.depth + 1, ..self }
    }

    /// How a join here is divided, or `None` if it is a plain call.
    #[inline(always)]
    fn divide(self) -> Option<Division> {
        match self.pool.scheme {
            Scheme::Static if self.end - self.index == 1 => None,
            Scheme::Static => {
                let middle = self.index + (self.end - self.index) / 2;
                Some(Division { queue: usize::from(middle), middle })
            }
            Scheme::Sharing => self.pool.find_empty_queue(self.index).map(|queue| Division { queue, middle: self.end }),
            Scheme::Central => Some(Division { queue: 0, middle: self.end }),
        }
    }
}

/// A join whose second closure another worker may run.
#[inline(never)]
fn join<A, B, RA, RB>(context: WorkerContext<'_>, division: Division, a: A, b: B) -> (RA, RB)
where
    A: for<'a> FnOnce(WorkerContext<'a>) -> RA + Send,
    B: for<'a> FnOnce(WorkerContext<'a>) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let WorkerContext { pool, index, end, depth } = context;
    let forked = Forked::new(b, Waiter::Worker(index));
    // SAFETY: the job is taken back or waited for below, before this frame is left.
    pool.push(division.queue, unsafe { forked.job(depth + 1, end) });
    let first = panic::catch_unwind(AssertUnwindSafe(|| a(WorkerContext { end: division.middle, ..context.deeper() })));

    // The static partition never takes a job back.
    let taken_back = pool.scheme != Scheme::Static && pool.take_back(division.queue, forked.data());
    let second = if taken_back {
        None
    } else {
        pool.run_until(index, depth, &|| forked.is_done());
        Some(())
    };
    match (first, second) {
        (Err(panic), _) => panic::resume_unwind(panic),
        (Ok(first), None) => match forked.into_closure() {
            Some(b) => (first, b(context.deeper())),
            None => unreachable!("a job that was taken back has not run"),
        },
        (Ok(first), Some(())) => match forked.into_result() {
            Some(Ok(second)) => (first, second),
            Some(Err(panic)) => panic::resume_unwind(panic),
            None => unreachable!("a job that is done has a result"),
        },
    }
}

#[cfg(test)]
mod tests;
