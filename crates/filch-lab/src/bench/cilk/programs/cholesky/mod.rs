//! Sparse Cholesky factorisation.
//!
//! A symmetric positive definite matrix is the product of a lower triangle and its transpose. The
//! matrix is a tree of quadrants, most of which are empty. Some fill up during the factorisation.

mod tree;

use std::collections::HashSet;

use anyhow::{Context as _, Result};

use self::tree::{Tree, SIDE};
use super::vectors::{ensure_same, random_vector};
use crate::bench::contenders::Fork;
use crate::bench::random::Random;
use crate::bench::work::Work;

/// A matrix to factorise. Its diagonal dominates, which makes it positive definite.
#[derive(Debug)]
pub(crate) struct Cholesky {
    rows: usize,
    /// The nonzero entries below the diagonal: row, column, number.
    below: Vec<(usize, usize, f64)>,
    diagonal: Vec<f64>,
    /// The lower triangle, with the diagonal.
    tree: Tree,
}

impl Cholesky {
    /// The average number of nonzero entries in a row.
    ///
    /// Ten make the 40,000 of table 1, if the diagonal and both sides of it are counted.
    const NONZEROS: usize = 10;
    /// The largest distance from the diagonal is the number of rows divided by this.
    ///
    /// Solvers order the rows of a sparse matrix so that this distance is small, because entries
    /// further away stay empty. If it is not small, nearly everything fills up, and the tree is
    /// that of a dense matrix.
    const REACH: usize = 8;

    /// A random matrix with `rows` rows, at least 40, the same in each run.
    pub(crate) fn new(rows: usize) -> Cholesky {
        Cholesky::shaped(rows, Cholesky::NONZEROS * rows, rows / Cholesky::REACH)
    }

    fn shaped(rows: usize, nonzeros: usize, reach: usize) -> Cholesky {
        let wanted = nonzeros.saturating_sub(rows) / 2;
        assert!(
            (1..rows).contains(&reach) && wanted <= reach * (rows - reach),
            "{rows} rows cannot hold {nonzeros} numbers within {reach} of the diagonal"
        );
        let mut random = Random::new(1);
        let mut taken = HashSet::new();
        let mut below = Vec::new();
        let mut diagonal = vec![1.0; rows];
        while below.len() < wanted {
            let row = random.below(rows as u64) as usize;
            let distance = 1 + random.below(reach as u64) as usize;
            if distance <= row && taken.insert((row, row - distance)) {
                let number = random.below(1 << 31) as f64 / (1u64 << 30) as f64 - 1.0;
                below.push((row, row - distance, number));
                diagonal[row] += number.abs();
                diagonal[row - distance] += number.abs();
            }
        }

        let whole = rows.next_multiple_of(SIDE);
        let mut tree = Tree::Empty;
        let side = whole.next_power_of_two();
        for row in 0..whole {
            // The last block is filled up with rows of the identity.
            tree.set(side, row, row, diagonal.get(row).copied().unwrap_or(1.0));
        }
        for &(row, column, number) in &below {
            tree.set(side, row, column, number);
        }
        Cholesky { rows, below, diagonal, tree }
    }

    /// The product of the whole matrix and a vector.
    fn times(&self, vector: &[f64]) -> Vec<f64> {
        let mut product: Vec<f64> = self.diagonal.iter().zip(vector).map(|(number, factor)| number * factor).collect();
        for &(row, column, number) in &self.below {
            product[row] += number * vector[column];
            product[column] += number * vector[row];
        }
        product
    }
}

impl Work for Cholesky {
    type Input = Tree;
    type Answer = Tree;

    fn input(&self) -> Tree {
        self.tree.clone()
    }

    fn run<F: Fork>(&self, context: F::Context<'_>, mut matrix: Tree) -> Tree {
        tree::factorise::<F>(context, &mut matrix);
        matrix
    }

    fn check(&self, answer: &Tree) -> Result<()> {
        let mut vector = random_vector(1, self.rows);
        let expected = self.times(&vector);
        let side = self.rows.next_multiple_of(SIDE).next_power_of_two();
        vector.resize(side, 0.0);
        let (mut half, mut product) = (vec![0.0; side], vec![0.0; side]);
        answer.times_mirrored(&vector, &mut half);
        answer.times(&half, &mut product);
        ensure_same(&product[..self.rows], &expected, 1e-12)
            .context("the product of the triangle and its mirror image is not the matrix")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contenders::Serial;
    use crate::bench::work::{joins, tests::all_contenders_agree_on};

    fn small() -> Cholesky {
        Cholesky::shaped(150, 600, 100)
    }

    #[test]
    fn all_contenders_factorise() {
        all_contenders_agree_on(&small());
        all_contenders_agree_on(&Cholesky::shaped(64, 64, 1));
        all_contenders_agree_on(&Cholesky::shaped(5, 7, 2));
    }

    #[test]
    fn a_matrix_has_the_given_number_of_nonzeros() {
        let full = Cholesky::new(400);
        assert_eq!((full.diagonal.len(), full.below.len()), (400, 1800));
        let work = small();
        assert_eq!(work.diagonal.len() + 2 * work.below.len(), 600);
        assert!(work.below.iter().all(|&(row, column, number)| column < row && row - column <= 100 && number != 0.0));
    }

    #[test]
    fn empty_parts_are_not_divided() {
        // A single block.
        assert_eq!(joins(&Cholesky::shaped(16, 30, 10)).unwrap(), 0);
        // Blocks on the diagonal only.
        assert_eq!(joins(&Cholesky::shaped(256, 256, 1)).unwrap(), 0);
        assert!(joins(&small()).unwrap() > 10);
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let work = small();
        assert!(work.check(&work.tree).is_err());
        assert!(work.check(&Tree::Empty).is_err());
        let answer = work.run::<Serial>((), work.input());
        assert!(work.check(&answer).is_ok());
        for (row, column) in [(0, 0), (149, 149), (140, 0), (40, 39)] {
            let mut answer = answer.clone();
            answer.set(256, row, column, 0.123);
            assert!(work.check(&answer).is_err(), "{row}, {column}");
        }
    }
}
