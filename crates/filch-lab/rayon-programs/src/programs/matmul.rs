//! The product of two square matrices: a parallel iterator over the rows of the result.

use rayon::prelude::*;

use super::Program;
use crate::clock::{checksum, timed};
use crate::random::Random;

/// Multiplies two matrices with `size` rows and columns.
pub(crate) fn program(size: usize) -> Program {
    let mut random = Random::new(1);
    let mut matrix = || (0..size * size).map(|_| random.fraction()).collect::<Vec<f64>>();
    let (a, b) = (matrix(), matrix());
    let mut product = matrix();
    Box::new(move || {
        let rows = &mut product[..];
        let multiply = || {
            rows.par_chunks_mut(size)
                .enumerate()
                .for_each(|(row, result)| multiply_row(&a[row * size..][..size], &b, result));
            rows
        };
        timed(1, multiply, |product| checksum(product.iter().map(|element| element.to_bits())))
    })
}

/// Adds up the weighted rows of `b`, so that memory is read in order.
fn multiply_row(weights: &[f64], b: &[f64], result: &mut [f64]) {
    result.fill(0.0);
    for (weight, row) in weights.iter().zip(b.chunks_exact(result.len())) {
        for (sum, element) in result.iter_mut().zip(row) {
            *sum += weight * element;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_the_sum_of_weighted_rows() {
        let mut result = [9.0, 9.0];
        multiply_row(&[2.0, 3.0], &[1.0, 10.0, 100.0, 1000.0], &mut result);
        assert_eq!(result, [302.0, 3020.0]);
    }
}
