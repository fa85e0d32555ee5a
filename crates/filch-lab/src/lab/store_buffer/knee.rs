//! Finds the change point where a flat curve begins to rise, by a two-piece fit.
//!
//! The first piece is level. The second is a line that may begin with a step, because the first
//! stall costs more than each further one. Both are fitted by medians and judged by absolute
//! deviations, so that a few outliers do not move them.

use crate::bench::random::Random;

/// The fewest points of a piece. A knee closer to the end of a curve is not found.
const MIN_POINTS: usize = 6;

/// The smallest rise of a curve with a knee, as a part of its level.
const MIN_RISE: f64 = 0.03;

/// How much better two pieces must fit than a single line. More pieces always fit a little better.
const MIN_GAIN: f64 = 2.0;

/// The smallest rise, in multiples of the scatter of the points around the pieces.
const MIN_RISE_TO_NOISE: f64 = 6.0;

/// The largest deviation that counts, as a part of the curve's median. Anything further counts the
/// same.
const MAX_DEVIATION: f64 = 0.1;

/// The number of times the rounds are resampled.
const RESAMPLES: usize = 100;

/// Returns how many points are level, and the share of resampled rounds that agree.
///
/// Returns `None` if the rounds show no knee. Each round has a figure for each point.
pub(super) fn find_with_confidence(rounds: &[Vec<f64>]) -> Option<(usize, f64)> {
    let found = find(&curve(&rounds.iter().collect::<Vec<_>>()))?;
    let mut random = Random::new(1);
    let resampled = |_: &usize| {
        let drawn: Vec<_> = rounds.iter().map(|_| &rounds[random.below(rounds.len() as u64) as usize]).collect();
        find(&curve(&drawn)) == Some(found)
    };
    let agreeing = (0..RESAMPLES).filter(resampled).count();
    Some((found, agreeing as f64 / RESAMPLES as f64))
}

/// The medians of the rounds.
fn curve(rounds: &[&Vec<f64>]) -> Vec<f64> {
    let points = rounds.first().map_or(0, |round| round.len());
    let at = |point| median(&mut rounds.iter().map(|round| round[point]).collect::<Vec<_>>());
    (0..points).map(at).collect()
}

/// Returns how many points are level before the curve rises.
fn find(curve: &[f64]) -> Option<usize> {
    let last = curve.len().checked_sub(MIN_POINTS)?;
    let most = MAX_DEVIATION * median(&mut curve.to_vec());
    let (Pieces { split, level, line }, deviation) = (MIN_POINTS..=last)
        .map(|split| Pieces::fit(curve, split))
        .map(|pieces| (pieces, deviation(curve, most, |point| pieces.at(point))))
        .min_by(|one, other| one.1.total_cmp(&other.1))?;

    let one_line = Line::fit(curve, 0);
    let of_one_line = self::deviation(curve, most, |point| one_line.at(point));
    let rise = line.at(curve.len() - 1) - level;
    if rise < MIN_RISE * level || rise < MIN_RISE_TO_NOISE * deviation || of_one_line <= MIN_GAIN * deviation {
        return None;
    }
    // A line that rises from the last level point passes through it. That point belongs to both
    // pieces, and is level.
    let risen = (split..curve.len()).find(|&point| line.at(point) - level > line.slope / 2.0)?;
    (MIN_POINTS..=last).contains(&risen).then_some(risen)
}

/// The average distance of the points from a fit, each limited to `most`.
fn deviation(curve: &[f64], most: f64, fit: impl Fn(usize) -> f64) -> f64 {
    let distance = |(point, value): (usize, &f64)| (value - fit(point)).abs().min(most);
    curve.iter().enumerate().map(distance).sum::<f64>() / curve.len() as f64
}

/// The median; the upper one of an even number, NaN without values.
///
/// It runs some hundred thousand times, so it does not sort the values completely.
fn median(values: &mut [f64]) -> f64 {
    let half = values.len() / 2;
    if values.is_empty() {
        return f64::NAN;
    }
    *values.select_nth_unstable_by(half, f64::total_cmp).1
}

/// A level, followed by a line from `split` on.
#[derive(Clone, Copy, Debug)]
struct Pieces {
    split: usize,
    level: f64,
    line: Line,
}

impl Pieces {
    fn fit(curve: &[f64], split: usize) -> Pieces {
        Pieces { split, level: median(&mut curve[..split].to_vec()), line: Line::fit(curve, split) }
    }

    fn at(&self, point: usize) -> f64 {
        if point < self.split {
            self.level
        } else {
            self.line.at(point)
        }
    }
}

/// A line over the numbers of the points.
#[derive(Clone, Copy, Debug)]
struct Line {
    slope: f64,
    start: f64,
}

impl Line {
    /// Fits a line through the points from `first` on.
    ///
    /// Each point is paired with the point half of the piece further on, and the slope is the
    /// median slope of the pairs: Theil's method in its cheap form.
    fn fit(curve: &[f64], first: usize) -> Line {
        let half = (curve.len() - first) / 2;
        let mut slopes: Vec<f64> =
            (first..first + half).map(|point| (curve[point + half] - curve[point]) / half as f64).collect();
        let slope = median(&mut slopes);
        let mut starts: Vec<f64> = (first..curve.len()).map(|point| curve[point] - slope * point as f64).collect();
        Line { slope, start: median(&mut starts) }
    }

    fn at(&self, point: usize) -> f64 {
        self.start + self.slope * point as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `level` points at 130, then a step and a slope.
    fn knee(points: usize, level: usize, step: f64, slope: f64) -> Vec<f64> {
        let at = |point: usize| match point.checked_sub(level) {
            None => 130.0,
            Some(beyond) => 130.0 + step + slope * (beyond + 1) as f64,
        };
        (0..points).map(at).collect()
    }

    /// Adds up to `most` to each point.
    fn noisy(mut curve: Vec<f64>, most: f64, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        curve.iter_mut().for_each(|value| *value += most * random.below(1000) as f64 / 1000.0);
        curve
    }

    #[test]
    fn a_clean_knee_is_found_with_and_without_a_step() {
        for level in [10, 65, 140] {
            for (step, slope) in [(5.0, 0.3), (0.0, 1.0), (10.0, 0.0)] {
                assert_eq!(find(&knee(153, level, step, slope)), Some(level), "step {step}, slope {slope}");
            }
        }
    }

    #[test]
    fn noise_does_not_move_a_knee() {
        for seed in 0..20 {
            assert_eq!(find(&noisy(knee(153, 65, 5.0, 0.3), 2.0, seed)), Some(65), "seed {seed}");
        }
    }

    #[test]
    fn outliers_do_not_move_a_knee() {
        let mut curve = knee(153, 65, 5.0, 0.3);
        for point in [3, 29, 60, 70, 120] {
            curve[point] += 100.0;
        }
        assert_eq!(find(&curve), Some(65));
    }

    #[test]
    fn a_curve_without_a_knee_has_none() {
        let line = |slope: f64| (0..153).map(|point| 130.0 + slope * f64::from(point)).collect::<Vec<_>>();
        assert_eq!(find(&line(0.0)), None);
        assert_eq!(find(&line(0.5)), None);
        assert_eq!(find(&line(-0.5)), None);
        for seed in 0..20 {
            assert_eq!(find(&noisy(line(0.0), 20.0, seed)), None, "seed {seed}");
            assert_eq!(find(&noisy(line(0.5), 5.0, seed)), None, "seed {seed}");
        }
        assert_eq!(find(&knee(153, 65, -5.0, -0.3)), None);
        assert_eq!(find(&[]), None);
        assert_eq!(find(&[1.0; 5]), None);
    }

    #[test]
    fn a_knee_at_the_edge_is_not_reported() {
        for level in [0, 1, 4, 150, 152, 153] {
            assert_eq!(find(&knee(153, level, 5.0, 0.3)), None, "{level} points are level");
        }
        assert_eq!(find(&knee(153, MIN_POINTS, 5.0, 0.3)), Some(MIN_POINTS));
    }

    #[test]
    fn the_confidence_is_high_only_if_the_rounds_agree() {
        let rounds: Vec<_> = (0..24).map(|seed| noisy(knee(100, 65, 5.0, 0.3), 1.0, seed)).collect();
        let (found, confidence) = find_with_confidence(&rounds).unwrap();
        assert_eq!(found, 65);
        assert!(confidence > 0.95, "{confidence}");

        let divided: Vec<_> = (0..25).map(|round| knee(100, 30 + 35 * (round % 2), 5.0, 0.3)).collect();
        let (_, confidence) = find_with_confidence(&divided).unwrap();
        assert!(confidence < 0.8, "{confidence}");
        assert_eq!(find_with_confidence(&[]), None);
    }
}
