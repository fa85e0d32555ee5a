//! The area under a curve by adaptive halving of intervals.
//!
//! An interval is halved as long as that changes the area, and every halving is a join.

use std::sync::OnceLock;

use anyhow::{ensure, Result};

use crate::bench::contenders::{Fork, Serial};
use crate::bench::work::Work;

/// The area under (x² + 1) x from 0 to a given point.
#[derive(Clone, Debug)]
pub(crate) struct Integrate {
    to: u32,
    tolerance: f64,
    /// The result of a serial run, computed on first use.
    serial: OnceLock<f64>,
}

impl Integrate {
    /// The area from 0 to `to`, halved down to the change at which Cilk's program stops.
    pub(crate) fn new(to: u32) -> Integrate {
        Integrate::within(to, 1e-9)
    }

    fn within(to: u32, tolerance: f64) -> Integrate {
        Integrate { to, tolerance, serial: OnceLock::new() }
    }

    fn area<F: Fork>(&self, context: F::Context<'_>, whole: &Interval) -> f64 {
        let half = whole.length / 2.0;
        let middle = whole.left + half;
        let middle_height = height(middle);
        let halved = ((whole.left_height + whole.right_height) / 2.0 + middle_height) * half;
        if (halved - whole.area).abs() < self.tolerance {
            return halved;
        }
        let left_area = (whole.left_height + middle_height) / 2.0 * half;
        let left = &Interval { length: half, right_height: middle_height, area: left_area, ..*whole };
        let right = &Interval {
            left: middle,
            length: half,
            left_height: middle_height,
            right_height: whole.right_height,
            area: halved - left_area,
        };
        let (left, right) = F::join(
            context,
            move |context| self.area::<F>(context, left),
            move |context| self.area::<F>(context, right),
        );
        left + right
    }
}

/// A part of the curve.
///
/// Closures capture a reference to it and not all of its numbers. A join that moves numbers that
/// were only just stored, two at a time, waits for the store buffer, and whether it moves them
/// depends on the compiler.
#[derive(Clone, Copy)]
struct Interval {
    left: f64,
    length: f64,
    left_height: f64,
    right_height: f64,
    /// The area under the part if the curve were straight.
    area: f64,
}

fn height(x: f64) -> f64 {
    (x * x + 1.0) * x
}

impl Work for Integrate {
    type Input = ();
    type Answer = f64;

    fn input(&self) {}

    fn run<F: Fork>(&self, context: F::Context<'_>, (): ()) -> f64 {
        let (length, right_height) = (f64::from(self.to), height(f64::from(self.to)));
        let area = right_height / 2.0 * length;
        self.area::<F>(context, &Interval { left: 0.0, length, left_height: 0.0, right_height, area })
    }

    fn check(&self, answer: &f64) -> Result<()> {
        let to = f64::from(self.to);
        let expected = to.powi(4) / 4.0 + to.powi(2) / 2.0;
        // Halving an interval of length h around x changes its area by h³ 6x / 16, three times the
        // error that the halves then still have. So the shortest interval is at least half as long
        // as one that would just not be halved.
        let shortest = (self.tolerance * 16.0 / (6.0 * to)).cbrt() / 2.0;
        let wrong_by = to / shortest * self.tolerance / 3.0;
        // A sum of n numbers in a tree rounds log n times.
        let rounding = 64.0 * f64::EPSILON * expected;
        ensure!(
            (answer - expected).abs() <= wrong_by + rounding,
            "the area up to {} is {expected}, not {answer}",
            self.to
        );
        // Rounding hides an error at the left, where the curve is low. But all contenders add the
        // same numbers in the same order, and so get the same result in every bit.
        let serial = *self.serial.get_or_init(|| self.run::<Serial>((), ()));
        ensure!(*answer == serial, "the area up to {} adds up to {serial}, not {answer}", self.to);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::work::{joins, tests::all_contenders_agree_on};

    #[test]
    fn all_contenders_find_the_same_area() {
        all_contenders_agree_on(&Integrate::within(10, 1e-3));
        all_contenders_agree_on(&Integrate::within(100, 1e-1));
    }

    #[test]
    fn a_smaller_tolerance_divides_the_curve_more_finely() {
        assert_eq!(joins(&Integrate::within(1, 1.0)).unwrap(), 0);
        let [coarse, fine] = [1e-2, 1e-5].map(|tolerance| joins(&Integrate::within(10, tolerance)).unwrap());
        // A thousandth of the tolerance is a tenth of the length.
        assert!((8..=12).contains(&(fine / coarse)), "{coarse} joins became {fine}");
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let work = Integrate::within(1_000, 1e-1);
        let area = work.run::<Serial>((), ());
        assert!(work.check(&area).is_ok());
        assert!(work.check(&(area + 1e4)).is_err());
        assert!(work.check(&(area - 1e4)).is_err());
        assert!(work.check(&f64::NAN).is_err());
    }

    #[test]
    fn the_smallest_difference_is_an_error() {
        let work = Integrate::within(1_000, 1e-1);
        let area = work.run::<Serial>((), ());
        // The smallest difference that the number can represent, and less than the error that
        // halving leaves.
        assert!(work.check(&area.next_down()).is_err());
    }
}
