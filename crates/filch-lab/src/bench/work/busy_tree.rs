//! Work of a given length: a tree of joins with busy leaves.
//!
//! The leaves are so coarse that the joins cost next to nothing.

use anyhow::{ensure, Result};

use super::Work;
use crate::bench::busy::{self, Calibration};
use crate::bench::contenders::Fork;

/// A complete binary tree of joins whose leaves spin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BusyTree {
    leaves: u64,
    steps_a_leaf: u64,
    expected: u64,
}

impl BusyTree {
    /// A tree that takes `nanos` in all, divided among `leaves` leaves.
    ///
    /// With one leaf there is nothing to join.
    pub(crate) fn lasting(nanos: u64, leaves: u64) -> BusyTree {
        BusyTree::new(Calibration::of(leaf).steps(nanos), leaves)
    }

    fn new(steps: u64, leaves: u64) -> BusyTree {
        let steps_a_leaf = steps / leaves;
        let expected = (0..leaves).fold(0, |sum: u64, place| sum.wrapping_add(leaf(steps_a_leaf, place)));
        BusyTree { leaves, steps_a_leaf, expected }
    }

    fn part<F: Fork>(&self, context: F::Context<'_>, from: u64, to: u64) -> u64 {
        if to - from == 1 {
            return leaf(self.steps_a_leaf, from);
        }
        let middle = from.midpoint(to);
        let (left, right) = F::join(
            context,
            move |context| self.part::<F>(context, from, middle),
            move |context| self.part::<F>(context, middle, to),
        );
        left.wrapping_add(right)
    }
}

impl Work for BusyTree {
    type Input = ();
    type Answer = u64;

    fn input(&self) {}

    fn run<F: Fork>(&self, context: F::Context<'_>, (): ()) -> u64 {
        self.part::<F>(context, 0, self.leaves)
    }

    fn check(&self, answer: &u64) -> Result<()> {
        ensure!(*answer == self.expected, "spinning led to {answer} instead of {}", self.expected);
        Ok(())
    }
}

/// Spins. One function for all contenders and the calibration.
///
/// If the compiler unrolled it for some callers only, they would do different work.
#[inline(never)]
fn leaf(steps: u64, state: u64) -> u64 {
    busy::spin(steps, state)
}

#[cfg(test)]
mod tests {
    use super::super::{joins, tests::all_contenders_agree_on};
    use super::*;

    #[test]
    fn all_contenders_spin_alike() {
        all_contenders_agree_on(&BusyTree::new(6_400, 64));
        all_contenders_agree_on(&BusyTree::lasting(100, 1));
    }

    #[test]
    fn there_is_one_join_less_than_leaves() {
        assert_eq!(joins(&BusyTree::new(100, 64)).unwrap(), 63);
        assert_eq!(joins(&BusyTree::new(100, 1)).unwrap(), 0);
    }
}
