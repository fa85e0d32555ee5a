//! The workloads. Each is a file, generic over the way it forks.

mod busy_tree;
mod fib;
mod queens;
mod quicksort;
mod skewed;
mod tree;
mod wide;

use anyhow::Result;

pub(crate) use busy_tree::BusyTree;
pub(crate) use fib::Fib;
pub(crate) use queens::Queens;
pub(crate) use quicksort::Quicksort;
pub(crate) use skewed::Skewed;
pub(crate) use tree::Tree;
pub(crate) use wide::Shape;

use super::contenders::{Counting, Fork};

/// A computation. It is built once and shared by all contenders.
pub(crate) trait Work: Sync {
    /// The input that a single run consumes.
    type Input: Send;
    /// The result of a run.
    type Answer: Send;

    /// Makes the input of a run. This is not timed.
    fn input(&self) -> Self::Input;

    /// Runs the work.
    fn run<F: Fork>(&self, context: F::Context<'_>, input: Self::Input) -> Self::Answer;

    /// Checks that the answer is the serial one.
    ///
    /// Where possible, the expected answer is found without running the work.
    fn check(&self, answer: &Self::Answer) -> Result<()>;
}

/// The number of joins in a run. The counted run is checked.
pub(crate) fn joins<W: Work>(work: &W) -> Result<u64> {
    let mut joins = 0;
    let answer = work.run::<Counting>(&mut joins, work.input());
    work.check(&answer)?;
    Ok(joins)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::contenders::faulty::{assert_rejects, Losing};
    use super::super::contenders::{
        Chili, Contender, Filch, FilchFenced, FilchMaybe, FilchNoRaid, FilchWorker, Rayon, Serial, SerialCall,
    };
    use super::*;

    /// A job that runs twice is none: its result is the same, and joins must not count anything while
    /// they are timed. The warm-up of each pool sees it.
    #[test]
    fn lost_jobs_are_an_error_in_every_program() {
        assert_rejects::<Losing, _>(&Fib(10));
        assert_rejects::<Losing, _>(&Tree::new(6));
        assert_rejects::<Losing, _>(&Queens(6));
        assert_rejects::<Losing, _>(&Quicksort::new(1_000));
        assert_rejects::<Losing, _>(&Skewed::new());
        assert_rejects::<Losing, _>(&BusyTree::lasting(100, 64));
    }

    /// Has every contender compute `work` once, in a pool of two threads.
    pub(crate) fn all_contenders_agree_on<W: Work>(work: &W) {
        fn check<C: Contender, W: Work>(work: &W) {
            let pool = C::pool(2).unwrap();
            let input = work.input();
            let answer = C::enter(&pool, |context| work.run::<C::Fork>(context, input));
            work.check(&answer).unwrap_or_else(|error| panic!("{}: {error}", C::NAME));
        }
        check::<Serial, W>(work);
        check::<SerialCall, W>(work);
        check::<FilchWorker, W>(work);
        check::<Filch, W>(work);
        check::<FilchMaybe, W>(work);
        check::<FilchFenced, W>(work);
        check::<FilchNoRaid, W>(work);
        check::<Rayon, W>(work);
        check::<Chili, W>(work);
    }
}
