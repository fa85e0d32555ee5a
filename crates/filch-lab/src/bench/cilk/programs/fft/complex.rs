//! Complex numbers.

use std::ops::{Add, Mul, Sub};

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Complex {
    /// The real part.
    pub(super) re: f64,
    /// The imaginary part.
    pub(super) im: f64,
}

impl Complex {
    /// The number 0.
    pub(super) const ZERO: Complex = Complex { re: 0.0, im: 0.0 };

    /// The product with -i: a quarter turn to the right.
    #[inline(always)]
    pub(super) fn times_minus_i(self) -> Complex {
        Complex { re: self.im, im: -self.re }
    }
}

impl From<f64> for Complex {
    fn from(re: f64) -> Complex {
        Complex { re, im: 0.0 }
    }
}

impl Add for Complex {
    type Output = Complex;

    #[inline(always)]
    fn add(self, other: Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for Complex {
    type Output = Complex;

    #[inline(always)]
    fn sub(self, other: Complex) -> Complex {
        Complex { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Mul for Complex {
    type Output = Complex;

    #[inline(always)]
    fn mul(self, other: Complex) -> Complex {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}
