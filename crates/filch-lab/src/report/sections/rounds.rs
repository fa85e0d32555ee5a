//! A figure with all its rounds, so that whatever is said of it can say how sure it is.

use crate::chart::Estimate;
use crate::figures::number;
use crate::stats::{self, Interval};

/// From so many rounds on, the interval is worth something: of five, their range encloses the true median 15 times in 16, and of three only 3 times in 4.
const ENOUGH: usize = 5;

/// What a figure of fewer rounds may be off by, as a factor: on a machine that is shared, single figures scatter by a third.
const SCATTER: f64 = 4.0 / 3.0;

/// A figure: its rounds and where it lies. Always at least one round that is a number.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// Some may be no numbers, where something was divided by nothing: they keep their places, so that others can be put beside them.
    samples: Vec<f64>,
    /// Of those that are.
    interval: Interval,
}

impl Rounds {
    /// Nothing if no sample is a number. Where only some are not, the figure is that of the others, and nobody can be certain of it.
    pub(super) fn new(samples: Vec<f64>) -> Option<Rounds> {
        let interval = stats::interval(&finite(&samples).collect::<Vec<_>>())?;
        Some(Rounds { samples, interval })
    }

    /// One figure divided by another that was measured at another time: the medians are divided, and the interval is as wide as both make it. Nothing unless the
    /// divisor is above nothing wherever it may lie.
    pub(super) fn over(&self, under: &Rounds) -> Option<Rounds> {
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
        })
    }

    /// Whether there are too few rounds for the interval to be worth something.
    pub(super) fn is_scant(&self) -> bool {
        finite(&self.samples).count() < ENOUGH
    }

    /// Whether some rounds are no numbers.
    pub(super) fn has_gaps(&self) -> bool {
        finite(&self.samples).count() < self.samples.len()
    }

    /// The figure of each round.
    #[cfg(test)]
    pub(super) fn samples(&self) -> &[f64] {
        &self.samples
    }

    /// The median.
    pub(super) fn value(&self) -> f64 {
        self.interval.median
    }

    /// The largest round.
    pub(super) fn worst(&self) -> f64 {
        finite(&self.samples).fold(f64::NEG_INFINITY, f64::max)
    }

    /// With error bars.
    pub(super) fn estimate(&self) -> Estimate {
        Estimate { value: self.interval.median, low: self.interval.low, high: self.interval.high }
    }

    /// Where the figure may lie, for whoever judges it: of too few rounds, anywhere within what figures scatter by.
    pub(super) fn range(&self) -> (f64, f64) {
        let Interval { low, high, .. } = self.interval;
        if !self.is_scant() {
            return (low, high);
        }
        // A factor widens downwards what is above nothing, and upwards what is below.
        let lower = if low > 0.0 { low / SCATTER } else { low * SCATTER };
        let upper = if high > 0.0 { high * SCATTER } else { high / SCATTER };
        (lower, upper)
    }

    /// The same in other units, or the other way up. Nothing if that is no number.
    pub(super) fn map(&self, change: impl Fn(f64) -> f64) -> Option<Rounds> {
        Rounds::new(self.samples.iter().map(|&sample| change(sample)).collect())
    }

    /// The figure with its interval and its rounds, for people.
    pub(super) fn text(&self) -> String {
        let Interval { median, low, high, .. } = self.interval;
        let rounds = match (finite(&self.samples).count(), self.samples.len()) {
            (1, 1) => return format!("{} (1 round)", number(median)),
            (used, all) if used < all => format!("{used} of {all} rounds"),
            (_, all) => format!("{all} rounds"),
        };
        format!("{} ({} to {}, {rounds})", number(median), number(low), number(high))
    }
}

/// Those that are numbers.
fn finite(samples: &[f64]) -> impl Iterator<Item = f64> + '_ {
    samples.iter().copied().filter(|sample| sample.is_finite())
}

/// The geometric mean of several ratios, round by round. They have as many rounds as the one with the fewest; what is not above nothing has none.
pub(super) fn geometric_mean(ratios: &[Rounds]) -> Option<Rounds> {
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
    fn what_is_no_number_is_no_figure() {
        for samples in [vec![], vec![f64::NAN, f64::NAN], vec![f64::INFINITY]] {
            assert!(Rounds::new(samples).is_none());
        }
        assert!(rounds(&[0.0]).map(|zero| 1.0 / zero).is_none());
        assert!(geometric_mean(&[]).is_none());
        assert!(geometric_mean(&[rounds(&[-1.0])]).is_none());
    }

    #[test]
    fn a_figure_says_how_sure_it_is() {
        assert_eq!(rounds(&[2.0]).text(), "2.00 (1 round)");
        assert_eq!(rounds(&[3.0, 1.0, 2.0]).text(), "2.00 (1.00 to 3.00, 3 rounds)");
    }

    #[test]
    fn a_round_that_is_no_number_leaves_the_others_and_their_places() {
        let figure = rounds(&[1.0, f64::INFINITY, 3.0]);
        assert_eq!((figure.value(), figure.worst(), figure.has_gaps()), (2.0, 3.0, true));
        assert_eq!(figure.text(), "2.00 (1.00 to 3.00, 2 of 3 rounds)");
        let mean = geometric_mean(&[figure, rounds(&[4.0, 4.0, 3.0])]).unwrap();
        assert_eq!((mean.value(), mean.has_gaps()), (2.5, true));
    }

    #[test]
    fn figures_of_different_times_are_divided_by_their_medians() {
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
    fn a_geometric_mean_is_made_of_the_same_rounds() {
        let mean = geometric_mean(&[rounds(&[2.0, 1.0, 9.0]), rounds(&[8.0, 4.0])]).unwrap();
        assert_eq!(mean.samples().len(), 2);
        assert!((mean.samples()[0] - 4.0).abs() < 1e-9 && (mean.samples()[1] - 2.0).abs() < 1e-9);
    }
}
