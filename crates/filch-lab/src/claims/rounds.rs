//! A figure with all its rounds, which tell how certain it is.

use crate::chart::Estimate;
use crate::figures::number;
use crate::stats::{self, Interval};

/// The fewest rounds for a meaningful interval.
///
/// The range of five rounds encloses the true median 15 times in 16, the range of three only 3
/// times in 4.
const ENOUGH: usize = 5;

/// The possible error of a figure of fewer rounds, as a factor.
///
/// On a shared machine, single figures scatter by a third.
const SCATTER: f64 = 4.0 / 3.0;

/// A figure: its rounds and its interval. At least one round is a finite number.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    /// The rounds. Some may not be finite, after a division by zero: they keep their places, so
    /// that rounds of two figures can be paired.
    samples: Vec<f64>,
    /// The interval of the finite rounds.
    interval: Interval,
    /// Whether every round would have the same figure, so that one is enough.
    is_exact: bool,
}

impl Rounds {
    /// Makes a figure; `None` if no sample is finite.
    ///
    /// If only some are not, the figure is that of the others, and is never certain.
    pub(crate) fn new(samples: Vec<f64>) -> Option<Rounds> {
        let interval = stats::interval(&finite(&samples).collect::<Vec<_>>())?;
        Some(Rounds { samples, interval, is_exact: false })
    }

    /// Divides one figure by another that was measured at another time.
    ///
    /// The medians are divided, and the interval is as wide as both make it. Returns `None` unless
    /// the divisor's whole interval is above zero.
    pub(crate) fn over(&self, under: &Rounds) -> Option<Rounds> {
        if under.interval.low <= 0.0 {
            return None;
        }
        let (above, below) = (self.interval, under.interval);
        let ends = [above.low / below.low, above.low / below.high, above.high / below.low, above.high / below.high];
        let interval = Interval {
            median: above.median / below.median,
            low: ends.into_iter().fold(f64::INFINITY, f64::min),
            high: ends.into_iter().fold(f64::NEG_INFINITY, f64::max),
            confidence: above.confidence * below.confidence,
        };
        let rounds = self.samples.len().min(under.samples.len());
        Some(Rounds {
            samples: self.samples.iter().take(rounds).map(|sample| sample / below.median).collect(),
            interval,
            is_exact: false,
        })
    }

    /// The same figure, of something that does not scatter.
    pub(crate) fn exact(self) -> Rounds {
        Rounds { is_exact: true, ..self }
    }

    /// The largest round as the figure, for what must hold in every round.
    pub(crate) fn in_the_worst_round(self) -> Rounds {
        let worst = self.worst();
        Rounds { interval: Interval { median: worst, low: worst, high: worst, ..self.interval }, ..self }
    }

    /// Whether there are too few rounds for a meaningful interval.
    pub(crate) fn has_few_rounds(&self) -> bool {
        !self.is_exact && finite(&self.samples).count() < ENOUGH
    }

    /// Whether some rounds are not finite.
    pub(crate) fn has_gaps(&self) -> bool {
        finite(&self.samples).count() < self.samples.len()
    }

    /// The figure of each round.
    #[cfg(test)]
    pub(crate) fn samples(&self) -> &[f64] {
        &self.samples
    }

    /// The median.
    pub(crate) fn value(&self) -> f64 {
        self.interval.median
    }

    /// The largest round.
    pub(crate) fn worst(&self) -> f64 {
        finite(&self.samples).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The median with error bars.
    pub(crate) fn estimate(&self) -> Estimate {
        Estimate { value: self.interval.median, low: self.interval.low, high: self.interval.high }
    }

    /// The range of the figure, for judging it. With too few rounds it is widened by the scatter.
    pub(crate) fn range(&self) -> (f64, f64) {
        let Interval { low, high, .. } = self.interval;
        if !self.has_few_rounds() {
            return (low, high);
        }
        // Division moves a positive lower end down; a negative one needs multiplication. The upper
        // end is the reverse.
        let lower = if low > 0.0 { low / SCATTER } else { low * SCATTER };
        let upper = if high > 0.0 { high * SCATTER } else { high / SCATTER };
        (lower, upper)
    }

    /// Converts each round, for example to another unit or the reciprocal. `None` if no result is
    /// finite.
    pub(crate) fn map(&self, change: impl Fn(f64) -> f64) -> Option<Rounds> {
        Rounds::new(self.samples.iter().map(|&sample| change(sample)).collect())
    }

    /// Formats the figure with its interval and its rounds.
    pub(crate) fn text(&self) -> String {
        let Interval { median, low, high, .. } = self.interval;
        let rounds = match (finite(&self.samples).count(), self.samples.len()) {
            (1, 1) => return format!("{} (1 round)", number(median)),
            (used, all) if used < all => format!("{used} of {all} rounds"),
            (_, all) => format!("{all} rounds"),
        };
        format!("{} ({} to {}, {rounds})", number(median), number(low), number(high))
    }
}

/// The finite samples.
fn finite(samples: &[f64]) -> impl Iterator<Item = f64> + '_ {
    samples.iter().copied().filter(|sample| sample.is_finite())
}

/// Returns the geometric mean of several ratios, round by round.
///
/// It has as many rounds as the ratio with the fewest. A round that is not above zero has no mean.
pub(crate) fn geometric_mean(ratios: &[Rounds]) -> Option<Rounds> {
    let rounds = ratios.iter().map(|ratio| ratio.samples.len()).min()?;
    let mean = |round: usize| {
        let logarithms: f64 = ratios.iter().map(|ratio| ratio.samples[round].ln()).sum();
        (logarithms / ratios.len() as f64).exp()
    };
    Rounds::new((0..rounds).map(mean).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(samples: &[f64]) -> Rounds {
        Rounds::new(samples.to_vec()).unwrap()
    }

    #[test]
    fn samples_that_are_not_finite_make_no_figure() {
        for samples in [vec![], vec![f64::NAN, f64::NAN], vec![f64::INFINITY]] {
            assert!(Rounds::new(samples).is_none());
        }
        assert!(rounds(&[0.0]).map(|zero| 1.0 / zero).is_none());
        assert!(geometric_mean(&[]).is_none());
        assert!(geometric_mean(&[rounds(&[-1.0])]).is_none());
    }

    #[test]
    fn a_figure_shows_its_interval_and_its_rounds() {
        assert_eq!(rounds(&[2.0]).text(), "2.00 (1 round)");
        assert_eq!(rounds(&[3.0, 1.0, 2.0]).text(), "2.00 (1.00 to 3.00, 3 rounds)");
    }

    #[test]
    fn a_round_that_is_not_finite_keeps_its_place() {
        let figure = rounds(&[1.0, f64::INFINITY, 3.0]);
        assert_eq!((figure.value(), figure.worst(), figure.has_gaps()), (2.0, 3.0, true));
        assert_eq!(figure.text(), "2.00 (1.00 to 3.00, 2 of 3 rounds)");
        let mean = geometric_mean(&[figure, rounds(&[4.0, 4.0, 3.0])]).unwrap();
        assert_eq!((mean.value(), mean.has_gaps()), (2.5, true));
    }

    #[test]
    fn figures_of_different_cases_are_divided_by_their_medians() {
        let ratio = rounds(&[2.0, 4.0, 6.0]).over(&rounds(&[4.0, 2.0, 1.0])).unwrap();
        assert_eq!((ratio.value(), ratio.range().0 < 0.5, ratio.range().1 > 6.0), (2.0, true, true));
        assert_eq!(ratio.text(), "2.00 (0.50 to 6.00, 3 rounds)");
        assert!(rounds(&[1.0]).over(&rounds(&[0.0, 1.0])).is_none());
    }

    #[test]
    fn too_few_rounds_may_be_off_by_a_third() {
        let (low, high) = rounds(&[3.0]).range();
        assert!((low - 2.25).abs() < 1e-9 && (high - 4.0).abs() < 1e-9);
        assert!(rounds(&[3.0, 3.0, 3.0, 3.0]).range().0 < 3.0);
        assert_eq!(rounds(&[3.0, 4.0, 5.0, 4.0, 4.0]).range(), (3.0, 5.0));
        let (low, high) = rounds(&[-3.0]).range();
        assert!(low < -3.0 && high > -3.0);
    }

    #[test]
    fn a_figure_that_does_not_scatter_is_certain_after_one_round() {
        assert_eq!(rounds(&[3.0]).exact().range(), (3.0, 3.0));
        assert_eq!(rounds(&[1.0, 3.0, 1.0, 1.0, 1.0, 1.0]).in_the_worst_round().range(), (3.0, 3.0));
    }

    #[test]
    fn a_geometric_mean_pairs_rounds() {
        let mean = geometric_mean(&[rounds(&[2.0, 1.0, 9.0]), rounds(&[8.0, 4.0])]).unwrap();
        assert_eq!(mean.samples().len(), 2);
        assert!((mean.samples()[0] - 4.0).abs() < 1e-9 && (mean.samples()[1] - 2.0).abs() < 1e-9);
    }
}
