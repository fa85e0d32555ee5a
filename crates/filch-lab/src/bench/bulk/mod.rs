//! The `bulk` suite: the cost of push, pop and steal of batches of tasks.
//!
//! It also measures workers that explore a graph with batches. It has figures 6 to 10 of the paper
//! that describes the queue.

mod cases;
mod claims;
mod contenders;
mod dag;
mod operations;
mod plan;
mod theft;

use std::fmt::Write;

use anyhow::{ensure, Result};

use super::{select_cases, Measured};
use crate::figures;
use crate::watch;
use plan::Plan;

pub(crate) use cases::{Case, BATCHES, GRAPHS, NANOS_A_POP, NANOS_A_PUSH, NANOS_A_STEAL, SHARES};
pub(crate) use claims::{dag_case, verdicts};
pub(crate) use contenders::{BULK, CHASE_LEV, CROSSBEAM, MUTEX};
pub(crate) use dag::{NodeCost, NANOS_A_NODE, SERIAL, SERIAL_PAIR};
pub(crate) use operations::Fill;

/// The suite's name.
pub(crate) const SUITE: &str = "bulk";

/// Options of the suite.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The options that all suites have.
    pub(crate) common: super::Options,
    /// Whether to explore the graphs of 50 million nodes too.
    pub(crate) largest: bool,
}

/// Runs the suite. The calling thread must not be pinned: workers inherit its affinity.
pub(crate) fn run(options: &Options) -> Result<Measured> {
    let super::Options { quick, threads, ref cases, limit, .. } = options.common;
    let plan = Plan::new(quick, options.largest).within(limit);
    let cases = cases_to_measure(&plan, cases, threads)?;

    let mut text = String::new();
    let speed = if quick { "quick" } else { "full" };
    writeln!(
        text,
        "Suite {SUITE}, {speed}. A sample is the median of many repeats: 32 pushes of batches, ten thousand pushes of single tasks or pops, or one theft.\n\
         The time to read the clock is included. Every task is checked after every theft, and every node of a graph."
    )?;
    let mut all = Vec::new();
    for &case in watch::each(&cases) {
        let series = case.measure(&plan, threads)?;
        let rounds = series.iter().map(|series| series.samples.len()).max().unwrap_or(0);
        let rounds = if rounds == 1 { "1 round".to_owned() } else { format!("{rounds} rounds") };
        writeln!(text, "\n{case}: {}. {rounds}.", case.description())?;
        text.push_str(&figures::tables(&series, &[CROSSBEAM, MUTEX, CHASE_LEV, SERIAL]));
        watch::keep(SUITE, &series);
        all.extend(series);
    }
    Ok(Measured { series: all, text })
}

/// The cases whose names were given, or those of the plan.
fn cases_to_measure(plan: &Plan, names: &[String], threads: usize) -> Result<Vec<Case>> {
    let mut selected = select_cases(cases::all(), names)?;
    // A plan leaves out long cases, unless the given names match nothing else.
    if names.is_empty() || selected.iter().any(|&case| plan.includes(case)) {
        selected.retain(|&case| plan.includes(case));
    }
    selected.retain(|&case| case.least_threads() <= threads);
    ensure!(!selected.is_empty(), "the selected cases need an owner and a thief; give --threads 2");
    Ok(selected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_cases_are_measured_if_they_are_named() {
        let names = |plan: &Plan, name: &str| -> Vec<String> {
            cases_to_measure(plan, &[name.to_owned()], 2).unwrap().iter().map(Case::to_string).collect()
        };
        let quick = Plan::new(true, false);
        assert_eq!(names(&quick, "dag/uniform"), ["dag/uniform-250k", "dag/uniform-2.5m"]);
        assert_eq!(names(&Plan::new(false, false), "dag/uniform"), ["dag/uniform-2.5m"]);
        assert_eq!(names(&quick, "dag/uniform-50m"), ["dag/uniform-50m"]);
        assert_eq!(names(&quick, "steal/20%/singles/busy"), ["steal/20%/singles/busy"]);
        assert_eq!(names(&Plan::new(false, true), "dag/uniform").len(), 2);
    }

    #[test]
    fn one_thread_has_no_thief() {
        let plan = Plan::new(false, false);
        assert!(cases_to_measure(&plan, &[], 1).unwrap().iter().all(|case| !matches!(case, Case::Steal { .. })));
        let refusal = cases_to_measure(&plan, &["steal".to_owned()], 1).unwrap_err().to_string();
        assert!(refusal.contains("an owner and a thief"), "{refusal}");
        let refusal = cases_to_measure(&plan, &["theft".to_owned()], 2).unwrap_err().to_string();
        assert!(refusal.contains("no case begins with `theft`; there are push/1, push/128,"), "{refusal}");
    }
}
