//! The share of a queue that a steal takes.

use core::fmt;

/// Error from an invalid share: not a number, negative, or above 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FractionError {
    fraction: f64,
}

impl FractionError {
    /// Returns the invalid share.
    pub fn fraction(&self) -> f64 {
        self.fraction
    }
}

impl fmt::Display for FractionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a share of {} of the tasks cannot be stolen; give a number from 0 to 1", self.fraction)
    }
}

impl core::error::Error for FractionError {}

/// A number from 0 to 1.
#[derive(Clone, Copy)]
pub(super) struct Fraction(f64);

impl Fraction {
    pub(super) fn new(fraction: f64) -> Result<Self, FractionError> {
        // A comparison with NaN is false.
        if (0.0..=1.0).contains(&fraction) {
            Ok(Fraction(fraction))
        } else {
            Err(FractionError { fraction })
        }
    }

    pub(super) fn is_zero(self) -> bool {
        self.0 == 0.0
    }

    /// Returns this share of `length`, rounded up.
    ///
    /// It is at least 1, given that the fraction is not 0.
    #[inline]
    pub(super) fn of(self, length: u32) -> u32 {
        let exact = self.0 * f64::from(length);
        let whole = exact as u32;
        (whole + u32::from(f64::from(whole) < exact)).max(1)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_up_and_never_more_than_all() {
        let of = |fraction: f64, length| Fraction::new(fraction).unwrap().of(length);
        assert_eq!([of(0.5, 1), of(0.5, 2), of(0.5, 3), of(0.5, 10)], [1, 1, 2, 5]);
        assert_eq!([of(1.0, 1), of(1.0, 7), of(1.0, (1 << 31) - 1)], [1, 7, (1 << 31) - 1]);
        assert_eq!([of(f64::MIN_POSITIVE, 1), of(f64::MIN_POSITIVE, 1 << 30)], [1, 1]);
        assert_eq!([of(0.999_999_999_999, (1 << 31) - 1), of(0.25, 9)], [(1 << 31) - 1, 3]);
    }

    #[test]
    fn an_invalid_share_is_an_error_that_names_the_valid_range() {
        for wrong in [f64::NAN, -0.1, 1.1, f64::INFINITY, f64::NEG_INFINITY, -f64::MIN_POSITIVE] {
            let error = Fraction::new(wrong).err().unwrap();
            assert_eq!(error.fraction().to_bits(), wrong.to_bits());
            assert!(std::format!("{error}").contains("from 0 to 1"));
        }
        assert!(Fraction::new(-0.0).unwrap().is_zero());
    }
}
