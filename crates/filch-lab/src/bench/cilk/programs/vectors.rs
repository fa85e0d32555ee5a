//! Vectors that check whether a matrix is the expected product.
//!
//! Multiplying by a vector is cheap, and a wrong entry changes the result for all but very few
//! vectors.

use anyhow::{ensure, Result};

use crate::bench::random::fraction;

/// A vector of numbers between -1 and 1, a different one for each seed.
pub(super) fn random_vector(seed: u64, len: usize) -> Vec<f64> {
    (0..len as u64).map(|index| 2.0 * fraction(seed << 32 | index) - 1.0).collect()
}

/// Checks that two vectors are the same except for rounding.
///
/// No two entries may differ by more than `tolerance` times the largest entry.
pub(super) fn ensure_same(found: &[f64], expected: &[f64], tolerance: f64) -> Result<()> {
    ensure!(found.len() == expected.len(), "there are {} numbers instead of {}", found.len(), expected.len());
    let largest = expected.iter().fold(0.0, |largest: f64, number| largest.max(number.abs()));
    for (row, (found, expected)) in found.iter().zip(expected).enumerate() {
        // NaN fails this comparison as well.
        ensure!((found - expected).abs() <= tolerance * largest, "row {row} is {found} instead of {expected}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_off_is_an_error() {
        let expected = random_vector(1, 10);
        assert!(ensure_same(&expected, &expected, 1e-12).is_ok());
        for wrong in [0.5, f64::NAN, f64::INFINITY] {
            let mut found = expected.clone();
            found[3] += wrong;
            assert!(ensure_same(&found, &expected, 1e-12).is_err());
        }
        assert!(ensure_same(&expected[1..], &expected, 1e-12).is_err());
        assert!(ensure_same(&[], &expected, 1e-12).is_err());
    }

    #[test]
    fn seeds_make_different_vectors() {
        assert_eq!(random_vector(1, 5), random_vector(1, 5));
        assert_ne!(random_vector(1, 5), random_vector(2, 5));
        assert!(random_vector(3, 1000).iter().all(|number| (-1.0..1.0).contains(number)));
    }
}
