//! What we want of our core, in numbers, beside what was measured. A report: nothing depends on it.

use std::fmt;

use super::cases::{CPU_MICROS_A_TICK, CPU_MILLIS_A_SECOND, EXTRA_CPU_MICROS_A_TICK};
use super::core::Core;
use crate::figures::{self, Series};
use crate::stats::{self, Interval};

/// By how much we may seem slower where that is within what a comparison can tell.
const TOLERANCE: f64 = 1.03;

/// What is wanted of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wanted {
    /// filch / rayon: its interval must not lie wholly above [`TOLERANCE`].
    NotSlower,
    /// rayon / filch: at least this.
    TimesFaster(f64),
    /// filch / rayon: at most this.
    AtMost(f64),
    /// filch alone, in its unit: less than this.
    LessThan(f64),
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::NotSlower => write!(f, "interval not above {TOLERANCE:.2}"),
            Wanted::TimesFaster(least) => write!(f, ">= {least:.2}"),
            Wanted::AtMost(most) => write!(f, "<= {most:.2}"),
            Wanted::LessThan(bound) => write!(f, "< {bound:.2}"),
        }
    }
}

impl Wanted {
    /// What is compared.
    fn text(self) -> &'static str {
        match self {
            Wanted::NotSlower | Wanted::AtMost(_) => "filch / rayon",
            Wanted::TimesFaster(_) => "rayon / filch",
            Wanted::LessThan(_) => "filch",
        }
    }

    /// The figure, and all rounds of it.
    fn figure(self, ours: &Series, stock: &Series) -> (f64, Vec<f64>) {
        let ratio = |a: &Series, b: &Series| (a.median() / b.median(), stats::paired_ratios(&a.samples, &b.samples));
        match self {
            Wanted::NotSlower | Wanted::AtMost(_) => ratio(ours, stock),
            Wanted::TimesFaster(_) => ratio(stock, ours),
            Wanted::LessThan(_) => (ours.median(), ours.samples.clone()),
        }
    }

    fn is_met(self, figure: f64, interval: &Interval) -> bool {
        match self {
            Wanted::NotSlower => interval.low <= TOLERANCE,
            Wanted::TimesFaster(least) => figure >= least,
            Wanted::AtMost(most) => figure <= most,
            Wanted::LessThan(bound) => figure < bound,
        }
    }
}

/// What is wanted of a case, in a unit.
fn wanted(case: &str, unit: &str) -> Vec<Wanted> {
    match (case, unit) {
        // Stock's is close to nothing as well, so a ratio would say nothing. 0.000 seconds: less than half a millisecond.
        (_, CPU_MILLIS_A_SECOND) => vec![Wanted::LessThan(0.5)],
        // The work is the same for both; what counts is what comes on top of it.
        (_, CPU_MICROS_A_TICK) => vec![],
        (_, EXTRA_CPU_MICROS_A_TICK) => vec![Wanted::AtMost(1.0 / 3.0)],
        ("join-tree-16m" | "join-fib", _) => vec![Wanted::NotSlower, Wanted::TimesFaster(3.0)],
        ("small-50" | "small-50-installed", _) => vec![Wanted::NotSlower, Wanted::TimesFaster(2.0)],
        ("join-outside-200us", _) => vec![Wanted::AtMost(1.1)],
        ("join-outside-2ms", _) => vec![Wanted::AtMost(1.03)],
        ("scope-of-4", _) => vec![Wanted::AtMost(3.0)],
        _ => vec![Wanted::NotSlower],
    }
}

/// Every goal whose figures are there, beside them.
pub(crate) fn summary(series: &[Series]) -> String {
    let header = ["goal", "threads", "unit", "figure", "95 % interval", "wanted", ""].map(str::to_owned);
    let lines: Vec<_> =
        series.iter().filter(|series| series.name == Core::Ours.name()).flat_map(|ours| lines(ours, series)).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "Goals: `a / b` says how many times as long a takes as b. A figure is a ratio of medians. The interval encloses the median of\n\
         the ratios round by round with a confidence of 95 %; of fewer than 6 rounds it is their whole range.\n\n{}",
        figures::grid(&header, &lines)
    )
}

fn lines(ours: &Series, all: &[Series]) -> Vec<Vec<String>> {
    let is_peer = |other: &&Series| {
        other.name == Core::Stock.name()
            && (&other.case, other.unit, other.threads) == (&ours.case, ours.unit, ours.threads)
    };
    let Some(stock) = all.iter().find(is_peer) else { return Vec::new() };
    let line = |wanted: Wanted| {
        let (figure, rounds) = wanted.figure(ours, stock);
        let interval = stats::interval(&rounds)?;
        Some(vec![
            format!("{}: {}", ours.case, wanted.text()),
            ours.threads.to_string(),
            ours.unit.to_owned(),
            format!("{figure:.2}"),
            format!("{:.2} to {:.2}", interval.low, interval.high),
            wanted.to_string(),
            if wanted.is_met(figure, &interval) { "met" } else { "not met" }.to_owned(),
        ])
    };
    wanted(&ours.case, ours.unit).into_iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(case: &str, core: Core, unit: &'static str, threads: usize, samples: &[f64]) -> Series {
        Series { case: case.to_owned(), name: core.name(), threads, unit, samples: samples.to_vec(), note: None }
    }

    /// The lines of our series in a case, from the figure on.
    fn verdicts(case: &str, unit: &'static str, ours: &[f64], stock: &[f64]) -> Vec<Vec<String>> {
        let all = [series(case, Core::Stock, unit, 2, stock), series(case, Core::Ours, unit, 2, ours)];
        lines(&all[1], &all).into_iter().map(|line| line[3..].to_vec()).collect()
    }

    #[test]
    fn slower_is_what_lies_wholly_above_the_tolerance() {
        let stock = [100.0; 6];
        let verdict = |ours: &[f64]| verdicts("sieve", "ms/run", ours, &stock)[0].clone();
        let close = verdict(&[102.0, 110.0, 110.0, 110.0, 110.0, 110.0]);
        assert_eq!(close, ["1.10", "1.02 to 1.10", "interval not above 1.03", "met"]);
        assert_eq!(verdict(&[104.0, 105.0, 105.0, 106.0, 107.0, 108.0])[3], "not met");
        assert_eq!(verdict(&[50.0; 6])[3], "met");
    }

    #[test]
    fn joins_are_to_be_three_times_as_fast_and_small_calls_twice() {
        let fib = verdicts("join-fib", "ns/join", &[10.0], &[29.0]);
        assert_eq!(fib[1], ["2.90", "2.90 to 2.90", ">= 3.00", "not met"]);
        assert_eq!(verdicts("join-tree-16m", "ns/join", &[10.0], &[30.0])[1][3], "met");
        assert_eq!(verdicts("small-50", "ns/call", &[10.0], &[21.0])[1][3], "met");
        assert_eq!(verdicts("small-50-installed", "ns/call", &[10.0], &[19.0])[1][3], "not met");
    }

    #[test]
    fn idle_is_judged_alone_and_ticks_by_what_they_take_beyond_the_work() {
        assert_eq!(verdicts("idle", CPU_MILLIS_A_SECOND, &[0.1], &[0.0])[0], ["0.10", "0.10 to 0.10", "< 0.50", "met"]);
        assert!(verdicts("tick", CPU_MICROS_A_TICK, &[60.0], &[100.0]).is_empty());
        assert_eq!(verdicts("tick", EXTRA_CPU_MICROS_A_TICK, &[10.0], &[40.0])[0][3], "met");
        assert_eq!(verdicts("tick", EXTRA_CPU_MICROS_A_TICK, &[20.0], &[40.0])[0][3], "not met");
    }

    #[test]
    fn whoever_has_no_peer_has_no_goal() {
        let ours = series("sieve", Core::Ours, "ms/run", 2, &[1.0]);
        let other_threads = series("sieve", Core::Stock, "ms/run", 1, &[1.0]);
        assert!(summary(&[ours, other_threads]).is_empty());
        assert!(summary(&[]).is_empty());
    }
}
