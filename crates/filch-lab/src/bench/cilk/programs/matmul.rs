//! Matrix multiplication by divide and conquer: the longest of the three dimensions is halved.
//!
//! Halves of the product's rows or columns are joined. Halves of the inner dimension are added one
//! after the other.
//!
//! A matrix is stored in the order in which it is halved, so that a half of it is a half of a
//! slice, down to blocks that are multiplied directly.

use anyhow::{ensure, Result};

use crate::bench::contenders::Fork;
use crate::bench::random::{scramble, Random};
use crate::bench::work::Work;

/// The number of rows and columns of a block.
const BLOCK: usize = 16;

/// A block, stored row by row.
type Block = [[f64; BLOCK]; BLOCK];

/// Two square matrices of small whole numbers, whose product is therefore exact.
#[derive(Debug)]
pub(crate) struct Matmul {
    side: usize,
    /// The left matrix, halved by rows first.
    left: Vec<Block>,
    /// The right matrix, halved by columns first.
    ///
    /// Its rows are the inner dimension, which is halved last.
    right: Vec<Block>,
}

impl Matmul {
    /// Two matrices with `side` rows and columns.
    ///
    /// `side` must be a power of two, and at least a block.
    pub(crate) fn new(side: usize) -> Matmul {
        assert!(side.is_power_of_two() && side >= BLOCK, "a matrix of side {side} cannot be halved down to blocks");
        let mut random = Random::new(side as u64);
        let mut matrix = || {
            let mut block = || [[(); BLOCK]; BLOCK].map(|row| row.map(|()| random.below(64) as f64 - 32.0));
            (0..(side / BLOCK).pow(2)).map(|_| block()).collect()
        };
        Matmul { side, left: matrix(), right: matrix() }
    }

    /// A matrix times a vector, modulo 2^64.
    ///
    /// Returns `None` if the matrix contains a number that is not whole.
    fn times(&self, matrix: &[Block], first: First, vector: &[u64]) -> Option<Vec<u64>> {
        let mut product = vec![0u64; self.side];
        for (block_row, sums) in product.chunks_mut(BLOCK).enumerate() {
            for (block_column, factors) in vector.chunks(BLOCK).enumerate() {
                let block = &matrix[place(block_row, block_column, first)];
                for (sum, row) in sums.iter_mut().zip(block) {
                    for (number, factor) in row.iter().zip(factors) {
                        let whole = *number as i64;
                        if whole as f64 != *number {
                            return None;
                        }
                        *sum = sum.wrapping_add((whole as u64).wrapping_mul(*factor));
                    }
                }
            }
        }
        Some(product)
    }
}

/// The dimension that is halved first.
#[derive(Clone, Copy)]
enum First {
    Rows,
    Columns,
}

/// The index of a block: the bits of its row and its column alternate.
fn place(row: usize, column: usize, first: First) -> usize {
    let (high, low) = match first {
        First::Rows => (row, column),
        First::Columns => (column, row),
    };
    (0..usize::BITS / 2)
        .fold(0, |place, bit| place | (high >> bit & 1) << (2 * bit + 1) | (low >> bit & 1) << (2 * bit))
}

impl Work for Matmul {
    type Input = Vec<Block>;
    type Answer = Vec<Block>;

    fn input(&self) -> Vec<Block> {
        vec![[[0.0; BLOCK]; BLOCK]; self.left.len()]
    }

    fn run<F: Fork>(&self, context: F::Context<'_>, mut product: Vec<Block>) -> Vec<Block> {
        let blocks = self.side / BLOCK;
        multiply::<F>(
            context,
            &mut product,
            &self.left,
            &self.right,
            Size { rows: blocks, columns: blocks, inner: blocks },
        );
        product
    }

    /// Freivalds' check: the product times a vector equals left times (right times the vector).
    fn check(&self, answer: &Vec<Block>) -> Result<()> {
        ensure!(answer.len() == self.left.len(), "the product has {} blocks", answer.len());
        let vector: Vec<u64> = (0..self.side as u64).map(scramble).collect();
        let expected = self
            .times(&self.right, First::Columns, &vector)
            .and_then(|vector| self.times(&self.left, First::Rows, &vector));
        let found = self.times(answer, First::Rows, &vector);
        ensure!(found.is_some() && found == expected, "the product of two matrices of side {} is wrong", self.side);
        Ok(())
    }
}

/// The size of a multiplication in blocks: `rows` by `inner` times `inner` by `columns`.
#[derive(Clone, Copy)]
struct Size {
    rows: usize,
    columns: usize,
    inner: usize,
}

/// Adds the product of `left` and `right` to `product`.
fn multiply<F: Fork>(mut context: F::Context<'_>, product: &mut [Block], left: &[Block], right: &[Block], size: Size) {
    let Size { rows, columns, inner } = size;
    if let ([product], [left], [right]) = (&mut *product, left, right) {
        multiply_blocks(product, left, right);
    } else if rows >= columns && rows >= inner {
        let half = Size { rows: rows / 2, ..size };
        let (upper, lower) = product.split_at_mut(product.len() / 2);
        let (left_upper, left_lower) = left.split_at(left.len() / 2);
        F::join(
            context,
            move |context| multiply::<F>(context, upper, left_upper, right, half),
            move |context| multiply::<F>(context, lower, left_lower, right, half),
        );
    } else if columns >= inner {
        let half = Size { columns: columns / 2, ..size };
        let (first, last) = product.split_at_mut(product.len() / 2);
        let (right_first, right_last) = right.split_at(right.len() / 2);
        F::join(
            context,
            move |context| multiply::<F>(context, first, left, right_first, half),
            move |context| multiply::<F>(context, last, left, right_last, half),
        );
    } else {
        let half = Size { inner: inner / 2, ..size };
        let (left_first, left_last) = left.split_at(left.len() / 2);
        let (right_upper, right_lower) = right.split_at(right.len() / 2);
        multiply::<F>(F::reborrow(&mut context), product, left_first, right_upper, half);
        multiply::<F>(context, product, left_last, right_lower, half);
    }
}

/// Multiplies two blocks. One function for all contenders.
#[inline(never)]
fn multiply_blocks(product: &mut Block, left: &Block, right: &Block) {
    for (sums, factors) in product.iter_mut().zip(left) {
        let mut row = *sums;
        for (factor, right) in factors.iter().zip(right) {
            for (sum, number) in row.iter_mut().zip(right) {
                *sum += factor * number;
            }
        }
        *sums = row;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contenders::Serial;
    use crate::bench::work::{joins, tests::all_contenders_agree_on};

    #[test]
    fn all_contenders_multiply() {
        for side in [BLOCK, 2 * BLOCK, 4 * BLOCK] {
            all_contenders_agree_on(&Matmul::new(side));
        }
    }

    #[test]
    fn a_product_equals_that_of_the_definition() {
        let work = Matmul::new(2 * BLOCK);
        let answer = work.run::<Serial>((), work.input());
        let at = |matrix: &[Block], row: usize, column: usize, first| {
            matrix[place(row / BLOCK, column / BLOCK, first)][row % BLOCK][column % BLOCK]
        };
        for row in 0..work.side {
            for column in 0..work.side {
                let expected: f64 = (0..work.side)
                    .map(|inner| {
                        at(&work.left, row, inner, First::Rows) * at(&work.right, inner, column, First::Columns)
                    })
                    .sum();
                assert_eq!(at(&answer, row, column, First::Rows), expected, "row {row}, column {column}");
            }
        }
    }

    #[test]
    fn halves_of_the_inner_dimension_are_not_joined() {
        assert_eq!(joins(&Matmul::new(BLOCK)).unwrap(), 0);
        assert_eq!(joins(&Matmul::new(2 * BLOCK)).unwrap(), 3);
        assert_eq!(joins(&Matmul::new(4 * BLOCK)).unwrap(), 3 + 8 * 3);
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let work = Matmul::new(2 * BLOCK);
        let answer = work.run::<Serial>((), work.input());
        assert!(work.check(&answer).is_ok());
        assert!(work.check(&answer[1..].to_vec()).is_err());
        assert!(work.check(&work.input()).is_err());
        for wrong in [answer[3][5][7] + 1.0, answer[3][5][7] + 0.5, f64::NAN] {
            let mut answer = answer.clone();
            answer[3][5][7] = wrong;
            assert!(work.check(&answer).is_err());
        }
    }
}
