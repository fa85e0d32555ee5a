//! Fibonacci numbers by their definition: nothing but joins.

use anyhow::{ensure, Result};

use super::Work;
use crate::bench::contenders::Fork;

/// The n-th Fibonacci number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fib(pub(crate) u32);

impl Work for Fib {
    type Input = ();
    type Answer = u64;

    fn input(&self) {}

    fn run<F: Fork>(&self, context: F::Context<'_>, (): ()) -> u64 {
        fib::<F>(context, self.0)
    }

    fn check(&self, answer: &u64) -> Result<()> {
        let (expected, _) = (0..self.0).fold((0, 1), |(this, next), _| (next, this + next));
        ensure!(*answer == expected, "fib({}) is {expected}, not {answer}", self.0);
        Ok(())
    }
}

fn fib<F: Fork>(context: F::Context<'_>, n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = F::join(context, move |context| fib::<F>(context, n - 1), move |context| fib::<F>(context, n - 2));
    a + b
}

#[cfg(test)]
mod tests {
    use super::super::{joins, tests::all_contenders_agree_on};
    use super::*;

    #[test]
    fn all_contenders_find_the_same_numbers() {
        for n in [0, 1, 2, 10, 20] {
            all_contenders_agree_on(&Fib(n));
        }
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        assert!(Fib(38).check(&39_088_169).is_ok());
        assert!(Fib(38).check(&39_088_168).is_err());
    }

    #[test]
    fn every_number_above_one_is_a_join() {
        assert_eq!(joins(&Fib(1)).unwrap(), 0);
        assert_eq!(joins(&Fib(2)).unwrap(), 1);
        assert_eq!(joins(&Fib(10)).unwrap(), 88);
    }
}
