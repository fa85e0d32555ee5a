//! Performance goals for ranks and checkpoints, beside the measured figures.
//!
//! This is a report: nothing depends on it.

use super::{CHECKPOINTS, EVERY_SECONDS, FILCH, MILLISECONDS, ONE_RANK, TWO_RANKS, TWO_SERIAL};
use crate::figures::{self, Series};
use crate::stats;

/// The least speed-up of two ranks of one thread over one rank.
const SPEED_UP: f64 = 1.7;
/// The largest ratio of the times of two ranks and two threads of one process.
const BEHIND_THREADS: f64 = 1.1;
/// The largest cost of a checkpoint every half minute, as a share of the time.
const CHECKPOINTS_COST: f64 = 0.03;
/// The interval of those checkpoints, in seconds.
const CHECKPOINT_SECONDS: f64 = 30.0;

/// A ratio of times in a case and the requirement.
struct Goal {
    text: &'static str,
    over: (&'static str, usize),
    under: (&'static str, usize),
    required: Requirement,
}

#[derive(Clone, Copy)]
enum Requirement {
    AtLeast(f64),
    AtMost(f64),
    /// No requirement: the ratio is shown for information.
    None,
}

const GOALS: [Goal; 7] = [
    Goal {
        text: "time, 1 rank / 2 ranks, 1 thread each",
        over: (ONE_RANK, 1),
        under: (TWO_RANKS, 2),
        required: Requirement::AtLeast(SPEED_UP),
    },
    Goal {
        text: "time, 2 ranks of 1 thread / 1 rank of 2 threads",
        over: (TWO_RANKS, 2),
        under: (ONE_RANK, 2),
        required: Requirement::AtMost(BEHIND_THREADS),
    },
    Goal {
        text: "time, 2 ranks of 1 thread / 2 threads without MPI",
        over: (TWO_RANKS, 2),
        under: (FILCH, 2),
        required: Requirement::AtMost(BEHIND_THREADS),
    },
    Goal {
        text: "time, 1 thread / two serial runs side by side: the speed-up of two cores",
        over: (FILCH, 1),
        under: (TWO_SERIAL, 2),
        required: Requirement::None,
    },
    Goal {
        text: "time, two serial runs side by side / 2 ranks of 1 thread",
        over: (TWO_SERIAL, 2),
        under: (TWO_RANKS, 2),
        required: Requirement::None,
    },
    Goal {
        text: "time, 1 rank / without MPI, 1 thread",
        over: (ONE_RANK, 1),
        under: (FILCH, 1),
        required: Requirement::None,
    },
    Goal {
        text: "time, a checkpoint every second / none, 2 threads",
        over: (CHECKPOINTS, 2),
        under: (FILCH, 2),
        required: Requirement::None,
    },
];

/// All goals for which there are figures, as text.
pub(super) fn summary(series: &[Series]) -> String {
    let header = ["goal", "ratio", "95 % interval", "required", ""].map(str::to_owned);
    let mut cases: Vec<&str> = series.iter().map(|series| series.case.as_str()).collect();
    cases.dedup();
    let mut lines: Vec<Vec<String>> = Vec::new();
    for case in cases {
        lines.extend(GOALS.iter().filter_map(|goal| line(case, goal, series)));
        lines.extend(checkpoints(case, series));
    }
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "Goals: ratios of medians. The interval is a 95 % confidence interval of the median of the ratios round by round; with fewer than 6 rounds it is\n\
         their whole range.\n\n{}",
        figures::grid(&header, &lines)
    )
}

fn find<'s>(series: &'s [Series], case: &str, (name, threads): (&str, usize)) -> Option<&'s Series> {
    let is_it = |series: &&Series| series.case == case && (series.name, series.threads) == (name, threads);
    series.iter().find(|series| is_it(series) && series.unit == MILLISECONDS)
}

fn line(case: &str, goal: &Goal, series: &[Series]) -> Option<Vec<String>> {
    let (over, under) = (find(series, case, goal.over)?, find(series, case, goal.under)?);
    let ratio = over.median() / under.median();
    let interval = stats::interval(&stats::paired_ratios(&over.samples, &under.samples))?;
    let (required, met) = match goal.required {
        Requirement::AtLeast(least) => (format!(">= {least:.2}"), Some(ratio >= least)),
        Requirement::AtMost(most) => (format!("<= {most:.2}"), Some(ratio <= most)),
        Requirement::None => (String::new(), None),
    };
    Some(vec![
        format!("{case}: {}", goal.text),
        format!("{ratio:.3}"),
        format!("{:.3} to {:.3}", interval.low, interval.high),
        required,
        met.map_or("", verdict).to_owned(),
    ])
}

fn verdict(met: bool) -> &'static str {
    if met {
        "met"
    } else {
        "missed"
    }
}

/// Derives the cost of a checkpoint every half minute from that of one every second.
fn checkpoints(case: &str, series: &[Series]) -> Option<Vec<String>> {
    let (with, without) = (find(series, case, (CHECKPOINTS, 2))?, find(series, case, (FILCH, 2))?);
    let each: Vec<f64> = stats::paired_ratios(&with.samples, &without.samples)
        .into_iter()
        .map(|ratio| (ratio - 1.0) * EVERY_SECONDS / CHECKPOINT_SECONDS)
        .collect();
    let share = (with.median() / without.median() - 1.0) * EVERY_SECONDS / CHECKPOINT_SECONDS;
    let interval = stats::interval(&each)?;
    Some(vec![
        format!("{case}: cost of a checkpoint every {CHECKPOINT_SECONDS} seconds, from the line above"),
        format!("{:.2} %", 100.0 * share),
        format!("{:.2} to {:.2} %", 100.0 * interval.low, 100.0 * interval.high),
        format!("<= {:.0} %", 100.0 * CHECKPOINTS_COST),
        verdict(share <= CHECKPOINTS_COST).to_owned(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &'static str, threads: usize, samples: &[f64]) -> Series {
        Series { case: "a".to_owned(), name, threads, unit: MILLISECONDS, samples: samples.to_vec(), note: None }
    }

    #[test]
    fn a_ratio_is_met_or_missed() {
        let all = [
            series(FILCH, 1, &[180.0; 3]),
            series(FILCH, 2, &[100.0; 3]),
            series(CHECKPOINTS, 2, &[190.0; 3]),
            series(ONE_RANK, 1, &[181.0; 3]),
            series(ONE_RANK, 2, &[95.0; 3]),
            series(TWO_RANKS, 2, &[105.0; 3]),
        ];
        let text = summary(&all);
        let line = |part: &str| text.lines().find(|line| line.contains(part)).unwrap().trim_end().to_owned();
        assert!(line("1 rank / 2 ranks").ends_with("met") && line("1 rank / 2 ranks").contains("1.724"), "{text}");
        assert!(line("1 rank of 2 threads").ends_with("missed"), "{text}");
        assert!(line("2 threads without MPI").ends_with("met"), "{text}");
        // Nine tenths of a second for each second are 3 % of half a minute.
        assert!(line("from the line above").contains("3.00 %"), "{text}");
    }

    #[test]
    fn without_figures_the_summary_is_empty() {
        assert!(summary(&[]).is_empty());
    }
}
