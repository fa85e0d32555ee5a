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
    ours: &'static str,
    other: &'static str,
    wanted: Requirement,
}

/// filch's queues, all of which should grow as fast as crossbeam's.
const OURS: [&str; 12] = [
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
    let burst = |ours, other, wanted| Goal { case: "burst-64", ours, other, wanted };
    let mut goals = Vec::new();
    for ours in ["idempotent::lifo", "idempotent::fifo"] {
        goals.push(burst(ours, "crossbeam-lifo", Requirement::Faster(4.0)));
        goals.push(burst(ours, "crossbeam-fifo", Requirement::None));
        goals.push(burst(ours, "chase_lev", Requirement::Faster(3.0)));
    }
    for other in ["crossbeam-lifo", "chase_lev"] {
        goals.push(burst("idempotent::double_ended", other, Requirement::Faster(2.5)));
    }
    for ours in ["ff_cl", "ff_the", "thep", "asymmetric"] {
        goals.push(burst(ours, "idempotent::lifo", Requirement::Within(1.4)));
    }
    for case in ["burst-64", "push-grow", "pop-only", "steal"] {
        goals.push(Goal { case, ours: "chase_lev", other: "crossbeam-lifo", wanted: Requirement::Within(1.0) });
    }
    goals.push(burst("chase_lev", "floor-lock", Requirement::Within(1.15)));
    for ours in OURS.into_iter().filter(|&ours| ours != "chase_lev") {
        goals.push(Goal { case: "push-grow", ours, other: "crossbeam-lifo", wanted: Requirement::Within(1.0) });
    }
    goals
}

/// All goals for which there are figures, as text.
pub(crate) fn summary(series: &[Series]) -> String {
    let header = ["goal", "ours", "other", "ratio", "95 % interval", "wanted", ""].map(str::to_owned);
    let lines: Vec<_> = goals().iter().filter_map(|goal| line(goal, series)).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "Goals: ratios round by round. `other / ours` says how many times as fast ours is, `ours / other` how many times as long it takes.\n\
         The interval encloses the median of the ratios with a confidence of 95 %; of fewer than 6 rounds it is the whole range.\n\n{}",
        figures::grid(&header, &lines)
    )
}

fn line(goal: &Goal, series: &[Series]) -> Option<Vec<String>> {
    let find = |name| series.iter().find(|series| series.case == goal.case && series.name == name);
    let (ours, other) = (find(goal.ours)?, find(goal.other)?);
    let (text, ratios) = match goal.wanted {
        Requirement::Within(_) => {
            (format!("{} / {}", goal.ours, goal.other), stats::paired_ratios(&ours.samples, &other.samples))
        }
        Requirement::Faster(_) | Requirement::None => {
            (format!("{} / {}", goal.other, goal.ours), stats::paired_ratios(&other.samples, &ours.samples))
        }
    };
    let interval = stats::interval(&ratios)?;
    let verdict = match goal.wanted.is_met(interval.median) {
        Some(true) => "met",
        Some(false) => "not met",
        None => "",
    };
    Some(vec![
        format!("{}: {text}", goal.case),
        figures::number(ours.median()),
        figures::number(other.median()),
        format!("{:.2}", interval.median),
        format!("{:.2} to {:.2}", interval.low, interval.high),
        goal.wanted.to_string(),
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
            assert!(names.contains(&goal.ours), "{goal:?}");
            assert!(names.contains(&goal.other), "{goal:?}");
        }
    }

    #[test]
    fn a_goal_is_judged_by_the_median_of_paired_ratios() {
        let ours = series("idempotent::lifo", &[1.0, 10.0, 1.0]);
        let other = series("crossbeam-lifo", &[5.0, 41.0, 5.0]);
        let goal = |wanted| Goal { case: "burst-64", ours: "idempotent::lifo", other: "crossbeam-lifo", wanted };
        let verdict = |wanted| line(&goal(wanted), &[ours.clone(), other.clone()]).unwrap();

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
