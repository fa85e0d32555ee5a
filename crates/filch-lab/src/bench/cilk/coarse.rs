//! Programs whose joins are far apart, compiled once for all contenders.
//!
//! They join through a pointer, which costs a few nanoseconds where a part takes a microsecond.
//!
//! Such a join sees if the contender loses one of its jobs or runs it twice.
//!
//! A program that is generic over how it forks is compiled for each of a dozen contenders. Programs
//! that do little else than fork need that.

use std::mem;

use anyhow::Result;

use crate::bench::contenders::Fork;
use crate::bench::work::Work;

/// A program whose joins are far apart.
#[derive(Debug)]
pub(super) struct Coarse<W>(pub(super) W);

impl<W: Work> Work for Coarse<W> {
    type Input = W::Input;
    type Answer = W::Answer;

    fn input(&self) -> W::Input {
        self.0.input()
    }

    fn run<F: Fork>(&self, context: F::Context<'_>, input: W::Input) -> W::Answer {
        self.0.run::<DynFork>(&mut ContextJoiner::<F>(context), input)
    }

    fn check(&self, answer: &W::Answer) -> Result<()> {
        self.0.check(answer)
    }
}

/// One side of a join. It is called once.
type Side<'a> = &'a mut (dyn FnMut(&mut dyn Joiner) + Send);

/// An object that joins.
trait Joiner {
    /// Runs both sides, possibly in parallel.
    fn join(&mut self, a: Side<'_>, b: Side<'_>);
}

/// Joins with a contender's `Fork` and its context.
struct ContextJoiner<'a, F: Fork>(F::Context<'a>);

impl<F: Fork> Joiner for ContextJoiner<'_, F> {
    fn join(&mut self, a: Side<'_>, b: Side<'_>) {
        F::join(
            F::reborrow(&mut self.0),
            move |context| a(&mut ContextJoiner::<F>(context)),
            move |context| b(&mut ContextJoiner::<F>(context)),
        );
    }
}

/// A join through a pointer.
enum DynFork {}

impl Fork for DynFork {
    type Context<'a> = &'a mut dyn Joiner;

    fn reborrow<'a>(context: &'a mut &mut dyn Joiner) -> &'a mut dyn Joiner {
        *context
    }

    fn join<A, B, RA, RB>(context: &mut dyn Joiner, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut dyn Joiner) -> RA + Send,
        B: FnOnce(&mut dyn Joiner) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let (mut a, mut b) = (State::Before(a), State::Before(b));
        context.join(&mut |context| a.run(context), &mut |context| b.run(context));
        (a.result(), b.result())
    }
}

/// A side of a join and its result.
enum State<S, R> {
    Before(S),
    During,
    After(R),
}

impl<S: FnOnce(&mut dyn Joiner) -> R, R> State<S, R> {
    fn run(&mut self, context: &mut dyn Joiner) {
        match mem::replace(self, State::During) {
            State::Before(side) => *self = State::After(side(context)),
            State::During | State::After(_) => panic!("a job of a join ran twice"),
        }
    }

    fn result(self) -> R {
        match self {
            State::After(result) => result,
            // If a side panics, its join does not return.
            State::Before(_) | State::During => panic!("a job of a join was lost"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{catch_unwind, AssertUnwindSafe};

    use super::super::programs::{Heat, Jacobi, Strassen};
    use super::*;
    use crate::bench::contenders::faulty::{Doubling, Losing};
    use crate::bench::work::tests::all_contenders_agree_on;
    use crate::bench::work::{joins, Queens, Quicksort};

    #[test]
    fn a_join_through_a_pointer_changes_neither_results_nor_joins() {
        all_contenders_agree_on(&Coarse(Queens(6)));
        assert_eq!(joins(&Coarse(Queens(6))).unwrap(), joins(&Queens(6)).unwrap());
    }

    /// Returns the panic of a program on a faulty contender.
    fn panic_of<F: for<'a> Fork<Context<'a> = ()>, W: Work>(work: W) -> &'static str {
        let work = Coarse(work);
        let run = AssertUnwindSafe(|| work.run::<F>((), work.input()));
        let panic = catch_unwind(run).err().expect("the fault was not seen");
        panic.downcast_ref::<&'static str>().copied().unwrap_or_default()
    }

    #[test]
    fn a_job_that_is_lost_or_runs_twice_is_seen_even_if_the_result_is_right() {
        let twice = "a job of a join ran twice";
        assert_eq!(panic_of::<Doubling, _>(Heat::new(64)), twice);
        assert_eq!(panic_of::<Doubling, _>(Jacobi::new(32)), twice);
        assert_eq!(panic_of::<Doubling, _>(Strassen::new(128)), twice);
        assert_eq!(panic_of::<Doubling, _>(Quicksort::new(1_000)), twice);
        assert_eq!(panic_of::<Losing, _>(Quicksort::new(1_000)), "a job of a join was lost");
    }
}
