//! Performance goals for the queues and the runtime, beside the measured figures.
//!
//! This is a report: nothing depends on it.

use std::collections::BTreeSet;

use super::normalised::{is_fine_grained, normalised, Normalised, Ratio, BASELINE};
use super::MILLIS_A_RUN;
use crate::figures::{self, Series};

/// All entrants that run on the engine with a queue of filch's.
pub(crate) const ENGINES: [&str; 9] =
    ["the", "chase_lev", "asymmetric", "ff_cl", "ff_the", "thep", "ff_the-4", "thep-4", "thep-inf"];

/// The largest ratio of THEP's time to THE's.
const MAX_THEP_OVER_THE: f64 = 1.02;
/// The largest geometric mean of that ratio over the fine-grained programs, with one thread.
const MAX_THEP_OVER_THE_IF_FINE_GRAINED: f64 = 0.95;

/// A goal and its measured figure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    /// A description of the figure.
    ///
    /// `a / b` is the time of a divided by the time of b. The number after a name is its threads.
    pub(crate) description: String,
    /// The figure.
    pub(crate) figure: Ratio,
    /// The largest figure that meets the goal.
    pub(crate) most: f64,
}

/// The fewest rounds that have an interval of 95 %.
const ENOUGH_ROUNDS: usize = 6;

impl Verdict {
    /// Whether the median meets the goal.
    pub(crate) fn is_met(&self) -> bool {
        self.figure.median <= self.most
    }

    /// Whether the whole interval gives the same verdict, with enough rounds for an interval.
    pub(crate) fn is_certain(&self) -> bool {
        self.figure.rounds >= ENOUGH_ROUNDS && (self.figure.low <= self.most) == (self.figure.high <= self.most)
    }

    /// The verdict in words.
    pub(crate) fn in_words(&self) -> &'static str {
        match (self.is_met(), self.is_certain()) {
            (true, true) => "met",
            (true, false) => "met, within the noise",
            (false, true) => "not met",
            (false, false) => "not met, within the noise",
        }
    }
}

/// All goals for which there are figures.
pub(crate) fn verdicts(series: &[Series]) -> Vec<Verdict> {
    let threads: BTreeSet<usize> =
        series.iter().filter(|series| series.name == BASELINE).map(|series| series.threads).collect();
    let mut verdicts = Vec::new();
    for &threads in &threads {
        let figure = normalised(series, threads);
        verdicts.extend(thep_over_the(&figure));
        if threads == 1 {
            verdicts.extend(thep_over_the_if_fine_grained(&figure));
        }
    }
    for threads in threads {
        verdicts.extend(filch_over_others(series, threads));
    }
    verdicts
}

/// The ratio of THEP to THE, program by program.
fn thep_over_the(figure: &Normalised) -> Vec<Verdict> {
    let Some(thep) = figure.names.iter().position(|&name| name == "thep") else { return Vec::new() };
    let verdict = |case: &str, ratio: Option<Ratio>| {
        let description = format!("{case}: thep {0} / the {0}", figure.threads);
        Some(Verdict { description, figure: ratio?, most: MAX_THEP_OVER_THE })
    };
    figure.programs.iter().filter_map(|program| verdict(&program.case, program.ratios[thep])).collect()
}

/// The ratio of THEP to THE in programs that do little but join.
fn thep_over_the_if_fine_grained(figure: &Normalised) -> Option<Verdict> {
    let description = format!("geometric mean of the fine-grained programs: thep {0} / the {0}", figure.threads);
    Some(Verdict { description, figure: figure.mean("thep", true)?, most: MAX_THEP_OVER_THE_IF_FINE_GRAINED })
}

/// The ratios of the runtime to the fastest engine and to rayon.
fn filch_over_others(series: &[Series], threads: usize) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for filch in ["filch-worker", "filch"] {
        let others = ENGINES.iter().filter_map(|&other| Some((other, mean_ratio(series, filch, other, threads)?)));
        // The engine to which filch compares worst.
        let fastest = others
            .max_by(|a, b| a.1.median.total_cmp(&b.1.median))
            .map(|(other, ratio)| (other, ", the fastest of the engines", ratio));
        let rayon = mean_ratio(series, filch, "rayon", threads).map(|ratio| ("rayon", "", ratio));
        for (other, which, figure) in fastest.into_iter().chain(rayon) {
            let description = format!("geometric mean: {filch} {threads} / {other} {threads}{which}");
            verdicts.push(Verdict { description, figure, most: 1.0 });
        }
    }
    verdicts
}

/// The geometric mean over all programs of the ratio of two contenders' times.
///
/// Returns `None` if one of the two lacks a program that the baseline has.
fn mean_ratio(series: &[Series], over: &str, under: &str, threads: usize) -> Option<Ratio> {
    let of = |name: &str, case: Option<&str>| -> Vec<&Series> {
        let is_it = |series: &&Series| {
            (series.unit, series.name, series.threads) == (MILLIS_A_RUN, name, threads)
                && case.is_none_or(|case| series.case == case)
        };
        series.iter().filter(is_it).collect()
    };
    let ratio = |baseline: &&Series| {
        Ratio::of(of(over, Some(&baseline.case)).first()?, of(under, Some(&baseline.case)).first()?)
    };
    Ratio::mean(&of(BASELINE, None).iter().map(ratio).collect::<Option<Vec<Ratio>>>()?)
}

/// All goals for which there are figures, as a table.
pub(super) fn summary(series: &[Series]) -> String {
    let verdicts = verdicts(series);
    if verdicts.is_empty() {
        return String::new();
    }
    let header = ["goal", "figure", "95 % interval", "required", ""].map(str::to_owned);
    let line = |verdict: &Verdict| {
        let Ratio { median, low, high, .. } = verdict.figure;
        vec![
            verdict.description.clone(),
            format!("{median:.3}"),
            format!("{low:.3} to {high:.3}"),
            format!("<= {:.2}", verdict.most),
            verdict.in_words().to_owned(),
        ]
    };
    let lines: Vec<Vec<String>> = verdicts.iter().map(line).collect();
    format!(
        "Goals: `a / b` is the time of a divided by the time of b. The number after a name is its threads. A figure is the median of the ratios round by\n\
         round, with its 95 % confidence interval; with fewer than 6 rounds that is their whole range. The interval of a geometric mean is wider than\n\
         necessary. Fine-grained programs: {}.\n\n{}",
        fine_grained(series),
        figures::grid(&header, &lines)
    )
}

/// The names of the fine-grained cases, as text.
fn fine_grained(series: &[Series]) -> String {
    let mut cases: Vec<&str> = Vec::new();
    for series in series {
        if is_fine_grained(&series.case) && !cases.contains(&&*series.case) {
            cases.push(&series.case);
        }
    }
    match cases.split_last() {
        None => "none".to_owned(),
        Some((only, [])) => (*only).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::normalised::tests::series;
    use super::*;

    fn verdict<'a>(verdicts: &'a [Verdict], description: &str) -> &'a Verdict {
        verdicts
            .iter()
            .find(|verdict| verdict.description == description)
            .unwrap_or_else(|| panic!("no {description} in {verdicts:?}"))
    }

    #[test]
    fn thep_may_be_a_little_slower_but_must_be_faster_on_fine_grained_programs() {
        let all = [
            series("fib-42", ("the", 1), &[100.0; 6]),
            series("fib-42", ("thep", 1), &[96.0, 94.0, 96.0, 94.0, 96.0, 94.0]),
            series("lu-1024", ("the", 1), &[100.0; 6]),
            series("lu-1024", ("thep", 1), &[103.0, 104.0, 103.0, 104.0, 103.0, 104.0]),
            series("fib-42", ("the", 2), &[50.0]),
            series("fib-42", ("thep", 2), &[51.0]),
        ];
        let verdicts = verdicts(&all);
        assert_eq!(verdict(&verdicts, "fib-42: thep 1 / the 1").in_words(), "met");
        assert_eq!(verdict(&verdicts, "lu-1024: thep 1 / the 1").in_words(), "not met");
        // A single round has no interval.
        assert_eq!(verdict(&verdicts, "fib-42: thep 2 / the 2").in_words(), "met, within the noise");
        let fine = verdict(&verdicts, "geometric mean of the fine-grained programs: thep 1 / the 1");
        assert_eq!((fine.figure.median, fine.in_words()), (0.95, "met, within the noise"));
        assert_eq!(verdicts.len(), 4);
    }

    #[test]
    fn filch_is_compared_with_the_fastest_engine_and_with_rayon() {
        let of = |case, the, asymmetric, rayon, filch: &[f64]| {
            [
                series(case, ("the", 2), the),
                series(case, ("asymmetric", 2), asymmetric),
                series(case, ("rayon", 2), rayon),
                series(case, ("filch", 2), filch),
            ]
        };
        let mut all = of("fib-42", &[20.0], &[10.0], &[40.0], &[5.0]).to_vec();
        all.extend(of("lu-1024", &[10.0], &[10.0], &[10.0], &[10.0]));
        let verdicts = verdicts(&all);
        let engine = verdict(&verdicts, "geometric mean: filch 2 / asymmetric 2, the fastest of the engines");
        assert!((engine.figure.median - 0.5f64.sqrt()).abs() < 1e-9 && engine.is_met());
        assert!(verdict(&verdicts, "geometric mean: filch 2 / rayon 2").is_met());
        assert!(!verdicts.iter().any(|verdict| verdict.description.contains("filch-worker")));
        // A contender that lacks a program has no mean.
        all.retain(|series| (&*series.case, series.name) != ("lu-1024", "rayon"));
        assert!(!super::verdicts(&all).iter().any(|verdict| verdict.description.contains("rayon")));
    }

    #[test]
    fn without_figures_the_summary_is_empty() {
        assert!(summary(&[]).is_empty());
    }

    #[test]
    fn the_summary_names_the_fine_grained_cases() {
        let of = |case| [series(case, ("the", 1), &[1.0]), series(case, ("thep", 1), &[1.0])];
        let text = summary(&[of("fib-42"), of("lu-1024"), of("queens-13")].concat());
        assert!(text.contains("Fine-grained programs: fib-42 and queens-13."), "{text}");
        assert!(text.contains("fib-42: thep 1 / the 1"), "{text}");
    }
}
