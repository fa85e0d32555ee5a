//! Performance goals for filch's queues in a traversal, beside the measured figures.
//!
//! This is a report: nothing depends on it. A goal covers several cases. Its line shows the case
//! that is furthest from meeting it.

use std::fmt;

use super::cases::{self, Case, Family, Task};
use super::memory;
use super::setup::{NANOS_A_VERTEX, REDUNDANT, SERIAL_PAIR};
use crate::figures::{self, Series};
use crate::queue::Queue;
use crate::stats;

/// The required figure.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Requirement {
    AtLeast(f64),
    AtMost(f64),
}

impl Requirement {
    fn is_met(self, figure: f64) -> bool {
        self.margin(figure) >= 0.0
    }

    /// The margin by which a figure exceeds the requirement.
    fn margin(self, figure: f64) -> f64 {
        match self {
            Requirement::AtLeast(least) => figure - least,
            Requirement::AtMost(most) => most - figure,
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Requirement::AtLeast(least) => write!(f, ">= {least:.2}"),
            Requirement::AtMost(most) => write!(f, "<= {most:.2}"),
        }
    }
}

/// The filch queue that the goals are for.
const FILCH_QUEUE: &str = Queue::Lifo.name();

/// The figure that a goal is about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    /// How many times as long the other takes as filch's queue.
    Faster(&'static str),
    /// How many times as long filch's queue takes as the other.
    Within(&'static str),
    /// A figure of filch's queue in another unit.
    Own(&'static str),
}

/// Cases, a figure, and the requirement.
#[derive(Clone, Debug)]
struct Goal {
    /// The name of the group of cases.
    name: String,
    cases: Vec<String>,
    threads: usize,
    figure: Figure,
    required: Requirement,
}

fn goals() -> Vec<Goal> {
    let mut goals = Vec::new();
    for task in [Task::Closure, Task::SpanningTree] {
        for (family, name) in [(Family::KGraph, "kgraph"), (Family::Torus, "torus"), (Family::Random, "random")] {
            let of_family = |case: &Case| match case {
                Case::Traversal { task: own, shape, .. } => *own == task && shape.family == family,
                Case::Memory => false,
            };
            let cases: Vec<String> = cases::all().iter().filter(|case| of_family(case)).map(Case::to_string).collect();
            let mut goal = |threads, figure, required| {
                goals.push(Goal { name: format!("{task}/{name}"), cases: cases.clone(), threads, figure, required });
            };
            for threads in [1, 2] {
                match family {
                    Family::Random => {
                        goal(threads, Figure::Within("chase_lev"), Requirement::AtMost(1.03));
                        goal(threads, Figure::Within("crossbeam-lifo"), Requirement::AtMost(1.0));
                    }
                    Family::KGraph | Family::Torus => {
                        let least = if family == Family::KGraph { 1.12 } else { 1.2 };
                        goal(threads, Figure::Faster("chase_lev"), Requirement::AtLeast(least));
                        goal(threads, Figure::Faster("crossbeam-lifo"), Requirement::AtLeast(1.25));
                        goal(threads, Figure::Faster("rayon-spawn"), Requirement::AtLeast(2.0));
                    }
                }
            }
            if family != Family::Torus {
                // Two serial runs side by side are the most that the machine can do.
                goal(2, Figure::Faster(SERIAL_PAIR), Requirement::AtLeast(0.85));
            }
            goal(2, Figure::Own(REDUNDANT), Requirement::AtMost(6.0));
        }
    }
    for (unit, most) in [(memory::BYTES_AN_EDGE, 8.0), (memory::BYTES_A_VERTEX, 8.0)] {
        let cases = vec![memory::CASE.to_owned()];
        let (figure, required) = (Figure::Own(unit), Requirement::AtMost(most));
        goals.push(Goal { name: memory::CASE.to_owned(), cases, threads: 1, figure, required });
    }
    goals
}

/// All goals for which there are figures, as text.
pub(crate) fn summary(series: &[Series]) -> String {
    let header = ["goal", "threads", "worst", "95 % interval", "required", "met in", "worst case"].map(str::to_owned);
    let lines: Vec<_> = goals().iter().filter_map(|goal| line(goal, series)).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "Goals: `a / b` is the median time of a divided by that of b. A goal covers several cases; the figure is that of the worst case.\n\
         The interval is a 95 % confidence interval of the median of its ratios round by round; with fewer than 6 rounds it is their\n\
         whole range.\n\n{}",
        figures::grid(&header, &lines)
    )
}

/// The figure of a goal in a case, and all its rounds.
fn figure(goal: &Goal, case: &str, series: &[Series]) -> Option<(f64, Vec<f64>)> {
    let find = |name: &str, unit: &str| {
        series.iter().find(|series| {
            series.case == case && (series.name, series.unit, series.threads) == (name, unit, goal.threads)
        })
    };
    let ratio = |a: &str, b: &str| {
        let (a, b) = (find(a, NANOS_A_VERTEX)?, find(b, NANOS_A_VERTEX)?);
        Some((a.median() / b.median(), stats::paired_ratios(&a.samples, &b.samples)))
    };
    match goal.figure {
        Figure::Faster(other) => ratio(other, FILCH_QUEUE),
        Figure::Within(other) => ratio(FILCH_QUEUE, other),
        Figure::Own(unit) => find(FILCH_QUEUE, unit).map(|series| (series.median(), series.samples.clone())),
    }
}

fn line(goal: &Goal, series: &[Series]) -> Option<Vec<String>> {
    let figures: Vec<_> = goal.cases.iter().filter_map(|case| Some((case, figure(goal, case, series)?))).collect();
    let margin = |figure: f64| goal.required.margin(figure);
    let (case, (worst, rounds)) = figures.iter().min_by(|(_, a), (_, b)| margin(a.0).total_cmp(&margin(b.0)))?;
    let met = figures.iter().filter(|(_, (figure, _))| goal.required.is_met(*figure)).count();
    let interval = stats::interval(rounds)?;
    let text = match goal.figure {
        Figure::Faster(other) => format!("{other} / {FILCH_QUEUE}"),
        Figure::Within(other) => format!("{FILCH_QUEUE} / {other}"),
        Figure::Own(unit) => format!("{FILCH_QUEUE}, {unit}"),
    };
    Some(vec![
        format!("{}: {text}", goal.name),
        goal.threads.to_string(),
        format!("{worst:.2}"),
        format!("{:.2} to {:.2}", interval.low, interval.high),
        goal.required.to_string(),
        format!("{met} of {}", figures.len()),
        (*case).clone(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(case: &str, name: &'static str, threads: usize, unit: &'static str, samples: &[f64]) -> Series {
        Series { case: case.to_owned(), name, threads, unit, samples: samples.to_vec(), note: None }
    }

    fn verdict(of: &str, threads: usize, required: Figure, series: &[Series]) -> Option<Vec<String>> {
        let goals = goals();
        let goal = goals.iter().find(|goal| goal.name == of && goal.threads == threads && goal.figure == required);
        line(goal.expect("there is such a goal"), series).map(|line| line[2..].to_vec())
    }

    #[test]
    fn a_goal_shows_the_worst_of_its_cases() {
        let time = |case, name, samples: &[f64]| series(case, name, 1, NANOS_A_VERTEX, samples);
        let all = [
            time("closure/torus-1m", "chase_lev", &[26.0, 28.0, 30.0]),
            time("closure/torus-1m", FILCH_QUEUE, &[20.0, 20.0, 20.0]),
            time("closure/torus-4m/unsorted", "chase_lev", &[22.0, 22.0, 22.0]),
            time("closure/torus-4m/unsorted", FILCH_QUEUE, &[20.0, 20.0, 20.0]),
            time("closure/kgraph-1m", "chase_lev", &[1.0]),
            time("closure/kgraph-1m", FILCH_QUEUE, &[20.0]),
        ];
        assert_eq!(
            verdict("closure/torus", 1, Figure::Faster("chase_lev"), &all).unwrap(),
            ["1.10", "1.10 to 1.10", ">= 1.20", "1 of 2", "closure/torus-4m/unsorted"]
        );
        assert!(verdict("closure/torus", 2, Figure::Faster("chase_lev"), &all).is_none());
    }

    #[test]
    fn random_graphs_must_not_be_slower() {
        let time = |name, nanos| series("closure/random-1m-3m", name, 2, NANOS_A_VERTEX, &[nanos]);
        let all = [time("chase_lev", 100.0), time(FILCH_QUEUE, 104.0), time(SERIAL_PAIR, 90.0)];
        let line = verdict("closure/random", 2, Figure::Within("chase_lev"), &all).unwrap();
        assert_eq!(line[..4], ["1.04", "1.04 to 1.04", "<= 1.03", "0 of 1"]);
        let line = verdict("closure/random", 2, Figure::Faster(SERIAL_PAIR), &all).unwrap();
        assert_eq!(line[..4], ["0.87", "0.87 to 0.87", ">= 0.85", "1 of 1"]);
    }

    #[test]
    fn redundant_tasks_and_memory_are_judged_alone() {
        let all = [
            series("closure/torus-1m", FILCH_QUEUE, 2, REDUNDANT, &[0.5, 7.0, 0.5]),
            series(memory::CASE, FILCH_QUEUE, 1, memory::BYTES_AN_EDGE, &[8.0]),
        ];
        assert_eq!(verdict("closure/torus", 2, Figure::Own(REDUNDANT), &all).unwrap()[3], "1 of 1");
        assert_eq!(verdict(memory::CASE, 1, Figure::Own(memory::BYTES_AN_EDGE), &all).unwrap()[3], "1 of 1");
    }

    #[test]
    fn without_figures_the_summary_is_empty() {
        assert!(summary(&[]).is_empty());
    }
}
