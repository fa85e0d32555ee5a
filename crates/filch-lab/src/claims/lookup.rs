//! Lookup of measured figures, and ratios of two, with all their rounds.

use super::rounds::Rounds;
use crate::figures::Series;
use crate::stats;

/// An implementation and its number of threads.
pub(crate) type Contender<'a> = (&'a str, usize);

/// The figures of one suite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures<'a> {
    /// All figures, as they were measured.
    pub(crate) series: &'a [Series],
    /// Whether the suite ran with small inputs and few rounds.
    pub(crate) is_quick: bool,
    /// Whether an unknown set of the suite's cases may be missing.
    pub(crate) is_incomplete: bool,
}

impl<'a> Figures<'a> {
    fn find(self, case: &str, (name, threads): Contender<'_>, unit: &str) -> Option<&'a Series> {
        let found = self
            .series
            .iter()
            .find(|series| series.case == case && (series.name, series.threads, series.unit) == (name, threads, unit));
        #[cfg(test)]
        if found.is_none() {
            tests::MISSING.with_borrow_mut(|missed| missed.insert(format!("{case}, {name}, {threads}, {unit}")));
        }
        found
    }

    /// Returns a single figure.
    pub(crate) fn figure(self, case: &str, unit: &str, contender: Contender<'_>) -> Option<Rounds> {
        Rounds::new(self.find(case, contender, unit)?.samples.clone())
    }

    /// Returns the ratio of two figures, round by round. What slows a whole round cancels out.
    ///
    /// Returns `None` if the divisor is negative in any round, which the rest of a difference may
    /// be. The ratio would change its sign with the noise.
    pub(crate) fn ratio(self, case: &str, unit: &str, over: Contender<'_>, under: Contender<'_>) -> Option<Rounds> {
        let (over, under) = (self.find(case, over, unit)?, self.find(case, under, unit)?);
        if under.samples.iter().any(|sample| *sample < 0.0) {
            return None;
        }
        Rounds::new(stats::paired_ratios(&over.samples, &under.samples))
    }

    /// Returns the first figure minus the second, round by round.
    pub(crate) fn difference(self, case: &str, unit: &str, more: Contender<'_>, less: Contender<'_>) -> Option<Rounds> {
        let (more, less) = (self.find(case, more, unit)?, self.find(case, less, unit)?);
        Rounds::new(stats::differences(&more.samples, &less.samples))
    }

    /// Returns `times` the first figure minus the second, round by round.
    ///
    /// It is at most zero if the first is at most that part of the second. It is valid even if
    /// either may be negative.
    pub(crate) fn excess(
        self,
        case: &str,
        unit: &str,
        times: f64,
        first: Contender<'_>,
        second: Contender<'_>,
    ) -> Option<Rounds> {
        let (first, second) = (self.find(case, first, unit)?, self.find(case, second, unit)?);
        let multiple: Vec<f64> = first.samples.iter().map(|sample| times * sample).collect();
        Rounds::new(stats::differences(&multiple, &second.samples))
    }

    /// Returns the ratio of the same implementation in two cases.
    ///
    /// The cases are measured one after the other, so their rounds are independent.
    pub(crate) fn ratio_of_cases(
        self,
        over: &str,
        under: &str,
        unit: &str,
        contender: Contender<'_>,
    ) -> Option<Rounds> {
        self.figure(over, unit, contender)?.over(&self.figure(under, unit, contender)?)
    }

    /// Returns the note of a figure.
    pub(crate) fn note(self, case: &str, unit: &str, contender: Contender<'_>) -> Option<&'a str> {
        self.find(case, contender, unit)?.note.as_deref()
    }

    /// Returns the cases with a figure in this unit, in the order of measurement.
    pub(crate) fn cases(self, unit: &str) -> Vec<&'a str> {
        let mut cases: Vec<&str> = Vec::new();
        for series in self.series.iter().filter(|series| series.unit == unit && !series.samples.is_empty()) {
            if !cases.contains(&&*series.case) {
                cases.push(&series.case);
            }
        }
        cases
    }

    /// Returns the names with a figure in this case and unit. Each occurs once, in the order of the
    /// suite.
    pub(crate) fn names(self, case: &str, unit: &str) -> Vec<&'static str> {
        let mut names = Vec::new();
        for series in self.series.iter().filter(|series| series.case == case && series.unit == unit) {
            if !names.contains(&series.name) {
                names.push(series.name);
            }
        }
        names
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use super::*;

    thread_local! {
        /// All requested figures that do not exist. An unknown name would be left out of every
        /// figure silently.
        pub(crate) static MISSING: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
    }

    fn series(name: &'static str, threads: usize, samples: &[f64]) -> Series {
        let samples = samples.to_vec();
        Series { case: "fib-38".to_owned(), name, threads, unit: "ns/join", samples, note: None }
    }

    fn of(series: &[Series]) -> Figures<'_> {
        Figures { series, is_quick: true, is_incomplete: false }
    }

    #[test]
    fn a_ratio_pairs_rounds_and_distinguishes_threads() {
        let all =
            [series("rayon", 1, &[8.0, 40.0, 8.0]), series("filch", 1, &[2.0, 10.0, 2.0]), series("filch", 2, &[1.0])];
        let figures = of(&all);
        assert_eq!(figures.ratio("fib-38", "ns/join", ("rayon", 1), ("filch", 1)).unwrap().samples(), [4.0, 4.0, 4.0]);
        assert_eq!(figures.ratio("fib-38", "ns/join", ("filch", 1), ("filch", 2)).unwrap().samples(), [2.0]);
        assert!(figures.ratio("fib-38", "ns/join", ("rayon", 2), ("filch", 2)).is_none());
        assert!(figures.ratio("fib-38", "ms/sort", ("rayon", 1), ("filch", 1)).is_none());
    }

    #[test]
    fn figures_that_may_be_negative_are_compared_by_differences() {
        let all = [series("rayon", 1, &[6.0, -1.0, 9.0]), series("filch", 1, &[1.0, -1.0, 3.0])];
        let figures = of(&all);
        assert!(figures.ratio("fib-38", "ns/join", ("filch", 1), ("rayon", 1)).is_none());
        let excess = figures.excess("fib-38", "ns/join", 3.0, ("filch", 1), ("rayon", 1)).unwrap();
        assert_eq!(excess.samples(), [-3.0, -2.0, 0.0]);
    }

    #[test]
    fn cases_are_not_compared_round_by_round() {
        let mut all = [series("bulk", 1, &[1.0, 2.0, 3.0]), series("bulk", 1, &[1.0, 2.0, 3.0])];
        all[1].case = "fib-30".to_owned();
        let ratio = of(&all).ratio_of_cases("fib-38", "fib-30", "ns/join", ("bulk", 1)).unwrap();
        assert_eq!(ratio.text(), "1.00 (0.33 to 3.00, 3 rounds)");
    }

    #[test]
    fn a_division_by_zero_is_no_figure() {
        let all = [series("rayon", 1, &[8.0]), series("filch", 1, &[0.0]), series("chili", 1, &[])];
        let figures = of(&all);
        assert!(figures.ratio("fib-38", "ns/join", ("rayon", 1), ("filch", 1)).is_none());
        assert!(figures.ratio("fib-38", "ns/join", ("rayon", 1), ("chili", 1)).is_none());
        assert!(figures.figure("fib-38", "ns/join", ("chili", 1)).is_none());
    }
}
