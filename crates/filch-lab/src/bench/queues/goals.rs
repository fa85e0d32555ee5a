//! Performance goals for filch's queues, beside the measured figures.
//!
//! This is a report: nothing depends on it.

use std::fmt;

use crate::figures::{self, Series};
use crate::stats;

/// The required ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Requirement {
    /// The other queue takes at least this many times as long as filch's.
    Faster(f64),
    /// filch's queue takes at most this many times as long as the other.
    Within(f64),
    /// No requirement: shows how many times as long the other queue takes.
    None,
}

impl Requirement {
    fn is_met(self, ratio: f64) -> Option<bool> {
        match self {
            Requirement::Faster(least) => Some(ratio >= least),
            Requirement::Within(most) => Some(ratio <= most),
            Requirement::None => None,
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Requirement::Faster(least) => write!(f, ">= {least:.2}"),
            Requirement::Within(most) => write!(f, "<= {most:.2}"),
            Requirement::None => Ok(()),
        }
    }
}

/// A goal for a filch queue compared with another, in a case.
#[derive(Clone, Copy, Debug)]
struct Goal {
    case: &'static str,
    filch: &'static str,
    other: &'static str,
    required: Requirement,
}

/// filch's queues, all of which should grow as fast as crossbeam's.
const FILCH_QUEUES: [&str; 12] = [
    "chase_lev",
    "the",
    "ff_the",
    "ff_the-untrusted",
    "ff_cl",
    "ff_cl-untrusted",
    "thep",
    "thep-untrusted",
    "asymmetric",
    "idempotent::lifo",
    "idempotent::fifo",
    "idempotent::double_ended",
];

fn goals() -> Vec<Goal> {
    let burst = |filch, other, required| Goal { case: "burst-64", filch, other, required };
    let mut goals = Vec::new();
    for filch in ["idempotent::lifo", "idempotent::fifo"] {
        goals.push(burst(filch, "crossbeam-lifo", Requirement::Faster(4.0)));
        goals.push(burst(filch, "crossbeam-fifo", Requirement::None));
        goals.push(burst(filch, "chase_lev", Requirement::Faster(3.0)));
    }
    for other in ["crossbeam-lifo", "chase_lev"] {
        goals.push(burst("idempotent::double_ended", other, Requirement::Faster(2.5)));
    }
    for filch in ["ff_cl", "ff_the", "thep", "asymmetric"] {
        goals.push(burst(filch, "idempotent::lifo", Requirement::Within(1.4)));
    }
    for case in ["burst-64", "push-grow", "pop-only", "steal"] {
        goals.push(Goal { case, filch: "chase_lev", other: "crossbeam-lifo", required: Requirement::Within(1.0) });
    }
    goals.push(burst("chase_lev", "floor-lock", Requirement::Within(1.15)));
    for filch in FILCH_QUEUES.into_iter().filter(|&filch| filch != "chase_lev") {
        goals.push(Goal { case: "push-grow", filch, other: "crossbeam-lifo", required: Requirement::Within(1.0) });
    }
    goals
}

/// All goals for which there are figures, as text.
pub(crate) fn summary(series: &[Series]) -> String {
    let header = ["goal", "filch", "other", "ratio", "95 % interval", "required", ""].map(str::to_owned);
    let lines: Vec<_> = goals().iter().filter_map(|goal| line(goal, series)).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "Goals: `a / b` is the time of a divided by the time of b, round by round.\n\
         The interval is a 95 % confidence interval of the median of the ratios; with fewer than 6 rounds it is the whole range.\n\n{}",
        figures::grid(&header, &lines)
    )
}

fn line(goal: &Goal, series: &[Series]) -> Option<Vec<String>> {
    let find = |name| series.iter().find(|series| series.case == goal.case && series.name == name);
    let (filch, other) = (find(goal.filch)?, find(goal.other)?);
    let (text, ratios) = match goal.required {
        Requirement::Within(_) => {
            (format!("{} / {}", goal.filch, goal.other), stats::paired_ratios(&filch.samples, &other.samples))
        }
        Requirement::Faster(_) | Requirement::None => {
            (format!("{} / {}", goal.other, goal.filch), stats::paired_ratios(&other.samples, &filch.samples))
        }
    };
    let interval = stats::interval(&ratios)?;
    let verdict = match goal.required.is_met(interval.median) {
        Some(true) => "met",
        Some(false) => "not met",
        None => "",
    };
    Some(vec![
        format!("{}: {text}", goal.case),
        figures::number(filch.median()),
        figures::number(other.median()),
        format!("{:.2}", interval.median),
        format!("{:.2} to {:.2}", interval.low, interval.high),
        goal.required.to_string(),
        verdict.to_owned(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::queues::contenders;
    use crate::figures::tests::series;

    #[test]
    fn goals_name_only_measured_contenders() {
        let names: Vec<&str> = contenders::all().iter().map(|entry| entry.name).collect();
        for goal in goals() {
            assert!(names.contains(&goal.filch), "{goal:?}");
            assert!(names.contains(&goal.other), "{goal:?}");
        }
    }

    #[test]
    fn a_goal_is_judged_by_the_median_of_paired_ratios() {
        let filch = series("idempotent::lifo", &[1.0, 10.0, 1.0]);
        let other = series("crossbeam-lifo", &[5.0, 41.0, 5.0]);
        let goal = |required| Goal { case: "burst-64", filch: "idempotent::lifo", other: "crossbeam-lifo", required };
        let verdict = |required| line(&goal(required), &[filch.clone(), other.clone()]).unwrap();

        assert_eq!(verdict(Requirement::Faster(4.0))[3..], ["5.00", "4.10 to 5.00", ">= 4.00", "met"]);
        assert_eq!(verdict(Requirement::Faster(5.5))[6], "not met");
        assert_eq!(verdict(Requirement::Within(0.2))[3..], ["0.20", "0.20 to 0.24", "<= 0.20", "met"]);
        assert_eq!(verdict(Requirement::None)[6], "");
    }

    #[test]
    fn without_figures_the_summary_is_empty() {
        assert!(summary(&[]).is_empty());
    }
}
