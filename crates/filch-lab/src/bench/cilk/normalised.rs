//! Figures 10 and 1 of the paper.
//!
//! They show run times as multiples of one contender's, by program, and their geometric means.

use super::MILLIS_A_RUN;
use crate::figures::Series;
use crate::stats;

/// The contender that all others are compared with: the queue of Cilk, with its fence.
pub(crate) const BASELINE: &str = "the";

/// The programs that join most often.
///
/// They join every 2 to 90 nanoseconds of a serial run, so that the cost of a join shows. All
/// others have leaves of about a microsecond and more.
const FINE_GRAINED: [&str; 5] = ["fib", "integrate", "knapsack", "queens", "uts"];

/// Whether the case with this name is of a program that joins most often.
pub(crate) fn is_fine_grained(case: &str) -> bool {
    FINE_GRAINED.contains(&case.split('-').next().unwrap_or(case))
}

/// The ratio of two run times.
///
/// All numbers are taken from the ratios round by round, so that what slows a whole round cancels
/// out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    /// The median of the ratios.
    pub(crate) median: f64,
    /// The 10th percentile: the lower whisker.
    pub(crate) p10: f64,
    /// The 90th percentile: the upper whisker.
    pub(crate) p90: f64,
}

impl Ratio {
    /// The ratio of one series to another. `None` if no round has a sample of both.
    pub(crate) fn of(dividend: &Series, divisor: &Series) -> Option<Ratio> {
        let ratios = stats::paired_ratios(&dividend.samples, &divisor.samples);
        Some(Ratio { median: stats::median(&ratios)?, p10: stats::p10(&ratios)?, p90: stats::p90(&ratios)? })
    }

    /// The geometric mean of each of the numbers.
    pub(crate) fn mean(ratios: &[Ratio]) -> Option<Ratio> {
        if ratios.is_empty() {
            return None;
        }
        let mean = |number: fn(&Ratio) -> f64| {
            (ratios.iter().map(|ratio| number(ratio).ln()).sum::<f64>() / ratios.len() as f64).exp()
        };
        Some(Ratio { median: mean(|ratio| ratio.median), p10: mean(|ratio| ratio.p10), p90: mean(|ratio| ratio.p90) })
    }
}

/// Figure 10: run times as multiples of those of [`the`](BASELINE), for one thread count.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Normalised {
    /// The number of threads of all contenders.
    pub(crate) threads: usize,
    /// The names of the contenders, in the order of the ratios.
    pub(crate) names: Vec<&'static str>,
    /// A line for each program.
    pub(crate) programs: Vec<Program>,
    /// The geometric mean of all programs, for each name.
    ///
    /// It is `None` for a name that lacks a program, since means of different programs cannot be
    /// compared.
    pub(crate) all: Vec<Option<Ratio>>,
    /// The geometric mean of the [fine-grained](is_fine_grained) programs, for each name.
    pub(crate) fine_grained: Vec<Option<Ratio>>,
}

/// A program of figure 10.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Program {
    /// The name of the case.
    pub(crate) case: String,
    /// The ratio for each name; `None` for a name without figures here.
    pub(crate) ratios: Vec<Option<Ratio>>,
}

/// Figure 10 with `threads` threads, from the rows of the suite.
///
/// Programs without [`the`](BASELINE) are left out.
pub(crate) fn normalised(series: &[Series], threads: usize) -> Normalised {
    let times: Vec<&Series> =
        series.iter().filter(|series| series.unit == MILLIS_A_RUN && series.threads == threads).collect();
    let mut names: Vec<&'static str> = Vec::new();
    for series in times.iter().filter(|series| !series.samples.is_empty()) {
        if !names.contains(&series.name) {
            names.push(series.name);
        }
    }
    let baselines = times.iter().filter(|series| series.name == BASELINE && !series.samples.is_empty());
    let programs: Vec<Program> = baselines
        .map(|baseline| {
            let find = |name: &&'static str| {
                times.iter().find(|series| series.case == baseline.case && series.name == *name).copied()
            };
            let ratios = names.iter().map(|name| Ratio::of(find(name)?, baseline)).collect();
            Program { case: baseline.case.clone(), ratios }
        })
        .collect();
    let means = |wanted: &dyn Fn(&str) -> bool| -> Vec<Option<Ratio>> {
        let of_name = |index: usize| {
            let ratios = programs.iter().filter(|program| wanted(&program.case)).map(|program| program.ratios[index]);
            Ratio::mean(&ratios.collect::<Option<Vec<Ratio>>>()?)
        };
        (0..names.len()).map(of_name).collect()
    };
    let (all, fine_grained) = (means(&|_| true), means(&is_fine_grained));
    Normalised { threads, names, programs, all, fine_grained }
}

/// A bar of figure 1: the effect of removing the owner's fence.
///
/// It is the run time with one thread without the fence, as a multiple of that with it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FenceRemoval {
    /// The name of the case.
    pub(crate) case: String,
    /// The queue whose owner has a fence.
    pub(crate) fenced: &'static str,
    /// The same queue without the fence.
    pub(crate) free: &'static str,
    /// The time without the fence as a multiple of the time with it.
    pub(crate) ratio: Ratio,
}

/// The queues whose owners have a fence, each with a variant without it.
pub(crate) const WITHOUT_A_FENCE: [(&str, &str); 4] =
    [("the", "thep"), ("the", "ff_the"), ("chase_lev", "ff_cl"), ("chase_lev", "asymmetric")];

/// Figure 1, from the rows of the suite.
///
/// It goes program by program in the order of the rows, with the pairs of [`WITHOUT_A_FENCE`] for
/// each.
pub(crate) fn fence_removal(series: &[Series]) -> Vec<FenceRemoval> {
    let times: Vec<&Series> =
        series.iter().filter(|series| series.unit == MILLIS_A_RUN && series.threads == 1).collect();
    let mut cases: Vec<&str> = Vec::new();
    for series in &times {
        if !cases.contains(&&*series.case) {
            cases.push(&series.case);
        }
    }
    let bar = |case: &str, (fenced, free): (&'static str, &'static str)| {
        let find = |name: &str| times.iter().find(|series| series.case == case && series.name == name).copied();
        let ratio = Ratio::of(find(free)?, find(fenced)?)?;
        Some(FenceRemoval { case: case.to_owned(), fenced, free, ratio })
    };
    cases.into_iter().flat_map(|case| WITHOUT_A_FENCE.into_iter().filter_map(move |pair| bar(case, pair))).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::bench::cilk) fn series(
        case: &str,
        (name, threads): (&'static str, usize),
        samples: &[f64],
    ) -> Series {
        Series { case: case.to_owned(), name, threads, unit: MILLIS_A_RUN, samples: samples.to_vec(), note: None }
    }

    fn medians(ratios: &[Option<Ratio>]) -> Vec<Option<f64>> {
        ratios.iter().map(|ratio| ratio.map(|ratio| (ratio.median * 1e6).round() / 1e6)).collect()
    }

    #[test]
    fn a_slow_round_does_not_change_ratios() {
        let (the, thep) =
            (series("fib-42", ("the", 1), &[2.0, 20.0, 2.0]), series("fib-42", ("thep", 1), &[1.0, 10.0, 1.5]));
        let ratio = Ratio::of(&thep, &the).unwrap();
        assert_eq!((ratio.median, ratio.p10, ratio.p90), (0.5, 0.5, 0.75));
        assert_eq!(Ratio::of(&thep, &series("fib-42", ("the", 1), &[])), None);
    }

    #[test]
    fn means_are_geometric_and_need_every_program() {
        let all = [
            series("fib-42", ("the", 2), &[4.0]),
            series("fib-42", ("thep", 2), &[2.0]),
            series("fib-42", ("rayon", 2), &[8.0]),
            series("lu-1024", ("the", 2), &[10.0]),
            series("lu-1024", ("thep", 2), &[80.0]),
            series("queens-13", ("the", 2), &[1.0]),
            series("queens-13", ("thep", 2), &[2.0]),
            series("queens-13", ("rayon", 2), &[0.5]),
        ];
        let figure = normalised(&all, 2);
        assert_eq!(figure.names, ["the", "thep", "rayon"]);
        let cases: Vec<&str> = figure.programs.iter().map(|program| &*program.case).collect();
        assert_eq!(cases, ["fib-42", "lu-1024", "queens-13"]);
        assert_eq!(medians(&figure.programs[1].ratios), [Some(1.0), Some(8.0), None]);
        assert_eq!(medians(&figure.all), [Some(1.0), Some(2.0), None]);
        assert_eq!(medians(&figure.fine_grained), [Some(1.0), Some(1.0), Some(1.0)]);
    }

    #[test]
    fn threads_and_units_are_distinguished() {
        let mut steals = series("fib-42", ("thep", 1), &[7.0]);
        steals.unit = super::super::STEALS_A_RUN;
        let all = [
            steals,
            series("fib-42", ("the", 1), &[2.0]),
            series("fib-42", ("thep", 1), &[1.0]),
            series("fib-42", ("the", 2), &[1.0]),
        ];
        assert_eq!(medians(&normalised(&all, 1).programs[0].ratios), [Some(1.0), Some(0.5)]);
        assert_eq!(normalised(&all, 2).names, ["the"]);
        assert!(normalised(&all, 3).programs.is_empty());
        assert_eq!(normalised(&[], 1).all, []);
    }

    #[test]
    fn the_fence_is_removed_from_both_kinds_of_queue() {
        let all = [
            series("fib-42", ("the", 1), &[10.0]),
            series("fib-42", ("thep", 1), &[8.0]),
            series("fib-42", ("thep", 2), &[1.0]),
            series("fib-42", ("chase_lev", 1), &[5.0]),
            series("fib-42", ("ff_cl", 1), &[4.0]),
        ];
        let bars = fence_removal(&all);
        let pairs: Vec<_> = bars.iter().map(|bar| (bar.fenced, bar.free, bar.ratio.median)).collect();
        assert_eq!(pairs, [("the", "thep", 0.8), ("chase_lev", "ff_cl", 0.8)]);
    }

    #[test]
    fn a_case_is_fine_grained_by_its_program() {
        for case in ["fib-42", "fib-30", "uts-t1", "queens-13", "integrate-10000", "knapsack-32"] {
            assert!(is_fine_grained(case), "{case}");
        }
        for case in ["lu-1024", "fft-67m", "heat-4096x1024", "fibre", ""] {
            assert!(!is_fine_grained(case), "{case}");
        }
    }
}
