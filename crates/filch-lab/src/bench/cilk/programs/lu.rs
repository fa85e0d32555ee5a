//! LU decomposition without pivoting.
//!
//! It replaces the matrix with a unit lower and an upper triangular matrix whose product is the
//! matrix.

use anyhow::{Context as _, Result};

use super::blocks::{self, leaf, leaf_mut, quadrants, quadrants_mut, Leaf};
use super::vectors::{ensure_same, random_vector};
use crate::bench::contenders::Fork;
use crate::bench::random::fraction;
use crate::bench::work::Work;

/// The side of a block that is decomposed directly.
const SIDE: usize = 16;

/// A matrix to decompose. Its diagonal dominates, so that no pivot is small.
#[derive(Debug)]
pub(crate) struct Lu {
    side: usize,
    matrix: Vec<f64>,
}

impl Lu {
    /// A matrix with `side` rows: 16, doubled any number of times.
    pub(crate) fn new(side: usize) -> Lu {
        let entry = |row: usize, column: usize| {
            let number = 2.0 * fraction((row * side + column) as u64) - 1.0;
            if row == column {
                number + side as f64
            } else {
                number
            }
        };
        Lu { side, matrix: blocks::matrix::<SIDE>(side, &entry) }
    }
}

impl Work for Lu {
    type Input = Vec<f64>;
    type Answer = Vec<f64>;

    fn input(&self) -> Vec<f64> {
        self.matrix.clone()
    }

    fn run<F: Fork>(&self, context: F::Context<'_>, mut matrix: Vec<f64>) -> Vec<f64> {
        decompose::<F>(context, &mut matrix);
        matrix
    }

    fn check(&self, answer: &Vec<f64>) -> Result<()> {
        let vector = random_vector(1, self.side);
        let product = blocks::times::<SIDE>(answer, &vector, upper);
        let product = blocks::times::<SIDE>(answer, &product, unit_lower);
        ensure_same(&product, &blocks::times::<SIDE>(&self.matrix, &vector, blocks::all), 1e-12)
            .context("the product of the two triangles is not the matrix")
    }
}

/// Selects the upper triangle of the answer.
fn upper(row: usize, column: usize, number: f64) -> f64 {
    if row <= column {
        number
    } else {
        0.0
    }
}

/// Selects the lower triangle of the answer, whose diagonal is not stored.
fn unit_lower(row: usize, column: usize, number: f64) -> f64 {
    match row.cmp(&column) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => number,
    }
}

/// Replaces the matrix with both triangles.
fn decompose<F: Fork>(mut context: F::Context<'_>, matrix: &mut [f64]) {
    if matrix.len() == SIDE * SIDE {
        return decompose_leaf(leaf_mut(matrix));
    }
    let [upper_left, upper_right, lower_left, lower_right] = quadrants_mut(matrix);
    decompose::<F>(F::reborrow(&mut context), upper_left);
    let triangles = &*upper_left;
    F::join(
        F::reborrow(&mut context),
        |context| solve_lower::<F>(context, upper_right, triangles),
        |context| solve_upper::<F>(context, lower_left, triangles),
    );
    subtract_product::<F>(F::reborrow(&mut context), lower_right, lower_left, upper_right);
    decompose::<F>(context, lower_right);
}

/// Replaces the matrix with the X of `lower * X = matrix`.
///
/// The left half of the columns does not depend on the right half.
fn solve_lower<F: Fork>(context: F::Context<'_>, matrix: &mut [f64], lower: &[f64]) {
    fn column<F: Fork>(mut context: F::Context<'_>, above: &mut [f64], below: &mut [f64], lower: &[f64]) {
        let [upper_left, _, lower_left, lower_right] = quadrants(lower);
        solve_lower::<F>(F::reborrow(&mut context), above, upper_left);
        subtract_product::<F>(F::reborrow(&mut context), below, lower_left, above);
        solve_lower::<F>(context, below, lower_right);
    }

    if matrix.len() == SIDE * SIDE {
        return solve_lower_leaf(leaf_mut(matrix), leaf(lower));
    }
    let [upper_left, upper_right, lower_left, lower_right] = quadrants_mut(matrix);
    F::join(
        context,
        |context| column::<F>(context, upper_left, lower_left, lower),
        |context| column::<F>(context, upper_right, lower_right, lower),
    );
}

/// Replaces the matrix with the X of `X * upper = matrix`.
///
/// The upper half of the rows does not depend on the lower half.
fn solve_upper<F: Fork>(context: F::Context<'_>, matrix: &mut [f64], upper: &[f64]) {
    fn row<F: Fork>(mut context: F::Context<'_>, left: &mut [f64], right: &mut [f64], upper: &[f64]) {
        let [upper_left, upper_right, _, lower_right] = quadrants(upper);
        solve_upper::<F>(F::reborrow(&mut context), left, upper_left);
        subtract_product::<F>(F::reborrow(&mut context), right, left, upper_right);
        solve_upper::<F>(context, right, lower_right);
    }

    if matrix.len() == SIDE * SIDE {
        return blocks::solve_upper::<SIDE>(leaf_mut(matrix), leaf(upper));
    }
    let [upper_left, upper_right, lower_left, lower_right] = quadrants_mut(matrix);
    F::join(
        context,
        |context| row::<F>(context, upper_left, upper_right, upper),
        |context| row::<F>(context, lower_left, lower_right, upper),
    );
}

/// Computes `target -= left * right`.
///
/// Each quadrant of the product is the sum of two products.
fn subtract_product<F: Fork>(context: F::Context<'_>, target: &mut [f64], left: &[f64], right: &[f64]) {
    fn quadrant<F: Fork>(mut context: F::Context<'_>, target: &mut [f64], left: [&[f64]; 2], right: [&[f64]; 2]) {
        subtract_product::<F>(F::reborrow(&mut context), target, left[0], right[0]);
        subtract_product::<F>(context, target, left[1], right[1]);
    }

    if target.len() == SIDE * SIDE {
        return blocks::subtract_product::<SIDE>(leaf_mut(target), leaf(left), leaf(right));
    }
    let [upper_left, upper_right, lower_left, lower_right] = quadrants_mut(target);
    let [a, b, c, d] = quadrants(left);
    let [e, f, g, h] = quadrants(right);
    F::join(
        context,
        |context| {
            F::join(
                context,
                |context| quadrant::<F>(context, upper_left, [a, b], [e, g]),
                |context| quadrant::<F>(context, upper_right, [a, b], [f, h]),
            )
        },
        |context| {
            F::join(
                context,
                |context| quadrant::<F>(context, lower_left, [c, d], [e, g]),
                |context| quadrant::<F>(context, lower_right, [c, d], [f, h]),
            )
        },
    );
}

#[inline(never)]
fn decompose_leaf(block: &mut Leaf<SIDE>) {
    for pivot in 0..SIDE {
        let (done, rest) = block.split_at_mut(pivot + 1);
        let above = &done[pivot];
        for row in rest {
            let factor = row[pivot] / above[pivot];
            row[pivot] = factor;
            for (number, above) in row[pivot + 1..].iter_mut().zip(&above[pivot + 1..]) {
                *number -= factor * above;
            }
        }
    }
}

#[inline(never)]
fn solve_lower_leaf(block: &mut Leaf<SIDE>, lower: &Leaf<SIDE>) {
    for (row, factors) in lower.iter().enumerate() {
        let (solved, rest) = block.split_at_mut(row);
        for (factor, solved) in factors.iter().zip(solved) {
            for (number, solved) in rest[0].iter_mut().zip(solved) {
                *number -= factor * *solved;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contenders::Serial;
    use crate::bench::work::{joins, tests::all_contenders_agree_on};

    #[test]
    fn all_contenders_decompose() {
        for side in [16, 32, 64] {
            all_contenders_agree_on(&Lu::new(side));
        }
    }

    #[test]
    fn a_single_block_is_not_divided() {
        assert_eq!(joins(&Lu::new(16)).unwrap(), 0);
        // The two solves are joined. The matrix that the product is subtracted from is a single
        // block.
        assert_eq!(joins(&Lu::new(32)).unwrap(), 1);
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let work = Lu::new(32);
        assert!(work.check(&work.matrix).is_err());
        let answer = work.run::<Serial>((), work.input());
        assert!(work.check(&answer).is_ok());
        for wrong in [0, 17, 300, 1023] {
            let mut answer = answer.clone();
            answer[wrong] += 1e-6;
            assert!(work.check(&answer).is_err(), "{wrong}");
        }
    }
}
