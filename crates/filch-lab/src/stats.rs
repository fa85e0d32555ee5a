//! The few statistics that a report needs.
//!
//! All of them rank samples, and none assumes a distribution: timings follow none.

/// The median of the samples. For an even number it is the mean of the two in the middle.
///
/// `None` without samples.
pub(crate) fn median(samples: &[f64]) -> Option<f64> {
    let sorted = sorted(samples);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The smallest sample.
pub(crate) fn min(samples: &[f64]) -> Option<f64> {
    sorted(samples).first().copied()
}

/// The smallest sample that is no less than nine tenths of them.
pub(crate) fn p90(samples: &[f64]) -> Option<f64> {
    at_tenths(samples, 9)
}

/// The smallest sample that is no less than a tenth of them.
pub(crate) fn p10(samples: &[f64]) -> Option<f64> {
    at_tenths(samples, 1)
}

/// The smallest sample that is no less than this many tenths of them.
fn at_tenths(samples: &[f64], tenths: usize) -> Option<f64> {
    let sorted = sorted(samples);
    let rank = (sorted.len() * tenths).div_ceil(10);
    sorted.get(rank.checked_sub(1)?).copied()
}

/// A median and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    /// The median of the samples.
    pub(crate) median: f64,
    /// The lower end.
    pub(crate) low: f64,
    /// The upper end.
    pub(crate) high: f64,
    /// How likely an interval made this way encloses the true median.
    pub(crate) confidence: f64,
}

/// Returns the median with its interval of at least 95 % confidence.
///
/// The interval is the narrowest pair of ranked samples, taken evenly from both ends, that encloses
/// the true median with this confidence. Fewer than six samples cannot give that: then it is their
/// whole range, with the confidence it has.
///
/// Each sample is above or below the true median with equal chance, so the k-th smallest is above
/// it with the chance of fewer than k heads in n tosses.
pub(crate) fn interval(samples: &[f64]) -> Option<Interval> {
    let sorted = sorted(samples);
    let n = sorted.len();
    let median = median(samples)?;

    let mut outcomes = 0.5f64.powi(i32::try_from(n).ok()?);
    let mut tail = outcomes;
    let mut cut = 0;
    let mut confidence = 1.0 - 2.0 * tail;
    // `tail` is the chance of at most `cut` heads.
    while cut + 1 < n.div_ceil(2) {
        outcomes *= (n - cut) as f64 / (cut + 1) as f64;
        tail += outcomes;
        if 2.0 * tail > 0.05 {
            break;
        }
        cut += 1;
        confidence = 1.0 - 2.0 * tail;
    }
    Some(Interval { median, low: sorted[cut], high: sorted[n - 1 - cut], confidence: confidence.max(0.0) })
}

/// Returns the ratio of two series round by round. What slows a whole round cancels out.
pub(crate) fn paired_ratios(dividends: &[f64], divisors: &[f64]) -> Vec<f64> {
    dividends.iter().zip(divisors).map(|(dividend, divisor)| dividend / divisor).collect()
}

/// Returns the difference of two series round by round.
pub(crate) fn differences(minuends: &[f64], subtrahends: &[f64]) -> Vec<f64> {
    minuends.iter().zip(subtrahends).map(|(minuend, subtrahend)| minuend - subtrahend).collect()
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up_to(n: u32) -> Vec<f64> {
        (1..=n).rev().map(f64::from).collect()
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn nine_tenths_are_at_most_the_p90() {
        assert_eq!(p90(&up_to(10)), Some(9.0));
        assert_eq!(p90(&up_to(15)), Some(14.0));
        assert_eq!(p90(&up_to(5)), Some(5.0));
        assert_eq!(p90(&up_to(1)), Some(1.0));
        assert_eq!(p90(&[]), None);
    }

    #[test]
    fn a_tenth_is_at_most_the_p10() {
        assert_eq!(p10(&up_to(10)), Some(1.0));
        assert_eq!(p10(&up_to(15)), Some(2.0));
        assert_eq!(p10(&up_to(1)), Some(1.0));
        assert_eq!(p10(&[]), None);
    }

    #[test]
    fn the_minimum_does_not_depend_on_the_order() {
        assert_eq!(min(&[2.0, 0.5, 1.0]), Some(0.5));
        assert_eq!(min(&[]), None);
    }

    #[test]
    fn the_interval_is_that_of_the_sign_test() {
        // Textbook ranks of the 95 % interval: (4, 12) of 15, (1, 6) of 6, (6, 15) of 20.
        for (n, low, high) in [(15, 4.0, 12.0), (6, 1.0, 6.0), (20, 6.0, 15.0)] {
            let interval = interval(&up_to(n)).unwrap();
            assert_eq!((interval.low, interval.high), (low, high), "of {n} samples");
            assert!((0.95..1.0).contains(&interval.confidence));
        }
    }

    #[test]
    fn the_interval_of_few_samples_is_their_range() {
        let five = interval(&up_to(5)).unwrap();
        assert_eq!((five.low, five.median, five.high), (1.0, 3.0, 5.0));
        assert_eq!(five.confidence, 0.9375);

        let one = interval(&[2.0]).unwrap();
        assert_eq!((one.low, one.high, one.confidence), (2.0, 2.0, 0.0));
        assert_eq!(interval(&[]), None);
    }

    #[test]
    fn a_slow_round_cancels_out_of_a_paired_ratio() {
        let ours = [1.0, 10.0, 1.0];
        let theirs = [2.0, 20.0, 2.0];
        assert_eq!(paired_ratios(&theirs, &ours), [2.0, 2.0, 2.0]);
    }
}
