//! Planted faults: a contender that loses each forked job, or runs it twice.

use std::mem::{self, ManuallyDrop};
use std::ptr;

use anyhow::Result;

use super::{Contender, Fork, Runtime, Tasks};
use crate::bench::work::Work;

/// Runs each forked job `RUNS` times. The result of a job that never runs is zero.
pub(crate) enum Faulty<const RUNS: usize> {}

/// A contender that loses jobs.
pub(crate) type Losing = Faulty<0>;
/// A contender that runs jobs twice.
pub(crate) type Doubling = Faulty<2>;

/// Checks that the work's own check rejects the answer of a contender.
pub(crate) fn assert_rejects<C: Contender, W: Work>(work: &W) {
    let pool = C::pool(1).unwrap();
    let input = work.input();
    let answer = C::enter(&pool, |context| work.run::<C::Fork>(context, input));
    assert!(work.check(&answer).is_err(), "{} passes the check of {}", C::NAME, std::any::type_name::<W>());
}

fn run<const RUNS: usize, R>(job: impl FnOnce() -> R) -> R {
    let job = ManuallyDrop::new(job);
    let mut result = None;
    for _ in 0..RUNS {
        // SAFETY: jobs of the programs own nothing, and their references are still valid.
        result = Some(unsafe { ptr::read(&*job) }());
    }
    // SAFETY: results of the programs are numbers or nothing.
    result.unwrap_or_else(|| unsafe { mem::zeroed() })
}

impl<const RUNS: usize> Fork for Faulty<RUNS> {
    type Context<'a> = ();

    fn reborrow((): &mut ()) {}

    fn join<A, B, RA, RB>((): (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(()) -> RA + Send,
        B: FnOnce(()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        (a(()), run::<RUNS, _>(|| b(())))
    }
}

impl<const RUNS: usize> Tasks for Faulty<RUNS> {
    type Scope<'scope> = ();

    fn scope<'scope>(body: impl FnOnce(&Self::Scope<'scope>) + Send) {
        body(&());
    }

    fn spawn<'scope>(scope: &Self::Scope<'scope>, task: impl FnOnce(&Self::Scope<'scope>) + Send + 'scope) {
        run::<RUNS, _>(|| task(scope));
    }

    fn worklist(root: usize, visit: impl Fn(usize, &mut dyn FnMut(usize)) + Sync) {
        let mut tasks = vec![root; RUNS];
        while let Some(task) = tasks.pop() {
            visit(task, &mut |next| tasks.push(next));
        }
    }
}

impl<const RUNS: usize> Runtime for Faulty<RUNS> {
    type Fork = Faulty<RUNS>;
    type Pool = ();

    fn enter<R, W>((): &(), work: W) -> R
    where
        R: Send,
        W: FnOnce(()) -> R + Send,
    {
        work(())
    }
}

impl<const RUNS: usize> Contender for Faulty<RUNS> {
    const NAME: &'static str = ["a contender that loses jobs", "", "a contender that runs jobs twice"][RUNS];

    fn pool(_threads: usize) -> Result<()> {
        Ok(())
    }
}
