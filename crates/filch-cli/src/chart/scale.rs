//! Converts figures to pixels, and chooses the labels of an axis.

use crate::format::grouped;

/// An axis: maps figures to pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    first: i32,
    last: i32,
    log: bool,
}

impl Scale {
    /// Makes a scale that maps `low` to `high` onto the pixels `first` to `last`.
    pub(super) fn new((low, high): (f64, f64), (first, last): (i32, i32), log: bool) -> Self {
        let (low, high) = if log { (low.max(1e-12), high.max(1e-12)) } else { (low, high) };
        let high = match (low < high, log) {
            (true, _) => high,
            (false, true) => low * 10.0,
            (false, false) => low + 1.0,
        };
        Self { low, high, first, last, log }
    }

    /// Returns the pixel of a figure, limited to the ends of the axis.
    pub(super) fn at(&self, figure: f64) -> i32 {
        let part = if self.log {
            (figure.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (figure - self.low) / (self.high - self.low)
        };
        let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 };
        self.first + (part * f64::from(self.last - self.first)).round() as i32
    }

    /// Returns about `about` round figures along the axis, with their labels.
    pub(super) fn ticks(&self, about: usize) -> Vec<(f64, String)> {
        let figures = if self.log { self.powers() } else { self.steps(about.max(1)) };
        figures.into_iter().map(|figure| (figure, label(figure))).collect()
    }

    fn steps(&self, about: usize) -> Vec<f64> {
        let step = round_step((self.high - self.low) / about as f64);
        let first = (self.low / step - 1e-9).ceil();
        let last = (self.high / step + 1e-9).floor();
        // Removes the error of the division: a step has at most two digits, as in 0.25.
        let digits = (1.0 - step.log10().floor()).max(0.0) as i32;
        let unit = 10_f64.powi(digits);
        (0..=(last - first).max(0.0) as usize).map(|n| ((first + n as f64) * step * unit).round() / unit).collect()
    }

    fn powers(&self) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        let within: &[f64] = match decades {
            decades if decades < 1.5 => &[1.0, 2.0, 3.0, 5.0, 7.0],
            decades if decades < 3.5 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let every = ((last - first) / 10 + 1) as usize;
        let powers = (first..=last).step_by(every);
        let figures = powers.flat_map(|power| within.iter().map(move |figure| figure * 10_f64.powi(power)));
        figures.filter(|figure| (self.low * 0.999..=self.high * 1.001).contains(figure)).collect()
    }
}

/// Returns 1, 2 or 5 times a power of ten, at least `step`.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0].iter().map(|times| times * power).find(|round| *round >= step * 0.999).unwrap_or(step)
}

/// Returns a round end of an axis for figures up to `highest`.
pub(super) fn round_up(highest: f64) -> f64 {
    if !highest.is_finite() || highest <= 0.0 {
        return 1.0;
    }
    let step = round_step(highest / 5.0);
    (highest / step - 1e-9).ceil() * step
}

/// Formats a figure of an axis.
fn label(figure: f64) -> String {
    let size = figure.abs();
    if size >= 1e9 {
        format!("{}G", plain(figure / 1e9))
    } else if size >= 1e6 {
        format!("{}M", plain(figure / 1e6))
    } else if size >= 1e4 && figure.fract() == 0.0 && figure > 0.0 {
        grouped(figure as usize)
    } else {
        plain(figure)
    }
}

/// Formats a figure without the digits of binary rounding errors.
fn plain(figure: f64) -> String {
    if figure != 0.0 && figure.abs() < 1e-4 {
        return format!("{figure:.0e}");
    }
    let text = format!("{figure:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() || text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale, about: usize) -> Vec<String> {
        scale.ticks(about).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn an_axis_has_round_figures_within_its_ends() {
        assert_eq!(labels(&Scale::new((0.0, 1.2), (0, 100), false), 6), ["0", "0.2", "0.4", "0.6", "0.8", "1", "1.2"]);
        assert_eq!(labels(&Scale::new((0.0, 50_000.0), (0, 100), false), 5)[1], "10,000");
        assert_eq!(labels(&Scale::new((1.0, 1000.0), (0, 100), true), 5)[..4], ["1", "2", "5", "10"]);
        assert_eq!(labels(&Scale::new((1.0, 1e9), (0, 100), true), 5).last().unwrap(), "1G");
    }

    #[test]
    fn figures_are_clamped_to_the_ends_of_the_axis() {
        let scale = Scale::new((0.0, 10.0), (100, 300), false);
        assert_eq!(
            [scale.at(0.0), scale.at(5.0), scale.at(10.0), scale.at(11.0), scale.at(-1.0)],
            [100, 200, 300, 300, 100]
        );
        assert_eq!(scale.at(f64::NAN), 100);
        let log = Scale::new((1.0, 100.0), (200, 0), true);
        assert_eq!([log.at(1.0), log.at(10.0), log.at(100.0), log.at(0.0)], [200, 100, 0, 200]);
    }

    #[test]
    fn an_axis_of_one_figure_is_valid() {
        for log in [false, true] {
            let scale = Scale::new((3.0, 3.0), (0, 10), log);
            assert_eq!(scale.at(3.0), 0);
            assert!(!scale.ticks(3).is_empty());
        }
        assert!(Scale::new((0.0, 0.0), (0, 10), true).ticks(3).len() < 20);
    }

    #[test]
    fn the_end_of_an_axis_is_round_and_at_least_the_highest() {
        for (highest, end) in [(0.97, 1.0), (1.03, 1.25), (9.0, 10.0), (0.0, 1.0), (f64::NAN, 1.0)] {
            assert!((round_up(highest) - end).abs() < 1e-9, "{highest}: {}", round_up(highest));
        }
    }
}
