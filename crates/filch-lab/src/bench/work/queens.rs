//! The n queens problem: a search without a cutoff.
//!
//! It joins wherever a row has a choice.

use anyhow::{ensure, Result};

use super::Work;
use crate::bench::contenders::Fork;

/// The number of solutions for boards of 0, 1, 2, ... rows (OEIS A000170).
const SOLUTIONS: [u64; 17] =
    [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2_680, 14_200, 73_712, 365_596, 2_279_184, 14_772_512];

/// Counts the ways to place n queens on n rows so that none attacks another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queens(pub(crate) u32);

impl Work for Queens {
    type Input = ();
    type Answer = u64;

    fn input(&self) {}

    fn run<F: Fork>(&self, context: F::Context<'_>, (): ()) -> u64 {
        next_row::<F>(context, Board { all: (1 << self.0) - 1, columns: 0, rising: 0, falling: 0 })
    }

    fn check(&self, answer: &u64) -> Result<()> {
        let expected = SOLUTIONS[self.0 as usize];
        ensure!(*answer == expected, "{} queens have {expected} solutions, not {answer}", self.0);
        Ok(())
    }
}

/// The columns that the queens placed so far attack in the next row. A column is a bit.
#[derive(Clone, Copy)]
struct Board {
    all: u32,
    columns: u32,
    rising: u32,
    falling: u32,
}

impl Board {
    fn with(self, column: u32) -> Board {
        Board {
            all: self.all,
            columns: self.columns | column,
            rising: (self.rising | column) << 1,
            falling: (self.falling | column) >> 1,
        }
    }
}

fn next_row<F: Fork>(context: F::Context<'_>, board: Board) -> u64 {
    if board.columns == board.all {
        return 1;
    }
    let free = board.all & !(board.columns | board.rising | board.falling);
    choose::<F>(context, board, free)
}

/// The number of solutions with this row's queen in one of the columns `free`.
///
/// Joins the first free column and the others.
fn choose<F: Fork>(context: F::Context<'_>, board: Board, free: u32) -> u64 {
    if free == 0 {
        return 0;
    }
    let first = free & free.wrapping_neg();
    let others = free ^ first;
    if others == 0 {
        return next_row::<F>(context, board.with(first));
    }
    let (with_first, with_others) = F::join(
        context,
        move |context| next_row::<F>(context, board.with(first)),
        move |context| choose::<F>(context, board, others),
    );
    with_first + with_others
}

#[cfg(test)]
mod tests {
    use super::super::{joins, tests::all_contenders_agree_on};
    use super::*;

    #[test]
    fn all_contenders_find_all_solutions() {
        for n in [1, 2, 4, 8] {
            all_contenders_agree_on(&Queens(n));
        }
    }

    #[test]
    fn a_row_joins_once_less_than_it_has_choices() {
        assert_eq!(joins(&Queens(1)).unwrap(), 0);
        assert_eq!(joins(&Queens(2)).unwrap(), 1);
        // The first row has three choices. Only the outer two leave a choice, a single one, which
        // has no solution.
        assert_eq!(joins(&Queens(3)).unwrap(), 2);
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        assert!(Queens(13).check(&73_712).is_ok());
        assert!(Queens(13).check(&73_711).is_err());
    }
}
