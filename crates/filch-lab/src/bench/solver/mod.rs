//! The `solver` suite: filch's solver beside the published ddo.
//!
//! Both have literally the same model, width, cutset and threads. Every run has a process of its
//! own, so that the memory of each is counted separately. The runs of a case take turns.

mod cases;
mod child;
mod claims;
mod contenders;
mod ddo;
mod plan;
mod settings;

use std::cell::Cell;
use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{ensure, Result};
use filch_dd::Cost;

use super::rounds::{interleave, Runner};
use super::{select_cases, thread_counts, Measured};
use crate::figures::{self, Series};
use crate::watch;
use cases::Case;
use child::{Answer, ChildRun};
pub(crate) use contenders::run_one;
use plan::Plan;

pub(crate) use claims::verdicts;

/// The suite's name.
pub(crate) const SUITE: &str = "solver";

/// The name of filch's solver.
pub(crate) const FILCH: &str = "filch";
/// The name of the peer.
pub(crate) const DDO: &str = "ddo";
/// The name of two serial runs of filch's solver side by side.
pub(crate) const TWO_SERIAL: &str = "two-serial";

/// The unit of the time to prove an optimum.
pub(crate) const MILLISECONDS: &str = "ms";
/// The unit of the number of explored nodes.
pub(crate) const NODES: &str = "nodes";
/// The unit of explored nodes per second.
pub(crate) const NODES_A_SECOND: &str = "nodes/s";
/// The unit of diagram nodes per second.
const DIAGRAM_NODES_A_SECOND: &str = "diagram-nodes/s";
/// The unit of the process's peak memory use.
pub(crate) const PEAK_MEGABYTES: &str = "peak-MB";

/// Options of the suite.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The options that all suites have.
    pub(crate) common: super::Options,
    /// The folder of published instances.
    pub(crate) data: Option<PathBuf>,
}

/// The parameters of one run in a process of its own.
#[derive(Clone, Debug)]
pub(crate) struct OneRun {
    /// The name of the case.
    pub(crate) case: String,
    /// The contender that solves it.
    pub(crate) contender: String,
    pub(crate) threads: usize,
    /// The folder of published instances.
    pub(crate) data: Option<PathBuf>,
    /// The time limit in seconds.
    pub(crate) limit: f64,
}

/// Runs the suite.
pub(crate) fn run(options: &Options) -> Result<Measured> {
    let super::Options { quick, threads, cases: ref names, limit, .. } = options.common;
    let plan = Plan::new(quick, limit);
    let known = cases::all(options.data.as_deref())?;
    let cases = cases_to_measure(known, &plan, names)?;

    let mut text = String::new();
    let speed = if quick { "quick" } else { "full" };
    writeln!(
        text,
        "Suite {SUITE}, {speed}: a proof of the optimum. The suite fails if two runs prove different optima."
    )?;
    if options.data.is_none() {
        writeln!(text, "Published instances are left out: give their folder with --data (misp/*.clq, knapsack/*).")?;
    }
    let mut all = Vec::new();
    for case in watch::each(&cases) {
        let series = measure(case, &plan, threads, options)?;
        let rounds = series.iter().map(|series| series.samples.len()).max().unwrap_or(0);
        let rounds = if rounds == 1 { "1 round".to_owned() } else { format!("{rounds} rounds") };
        writeln!(text, "\n{case}: {}. {rounds}.", case.description())?;
        text.push_str(&figures::tables(&series, &[DDO]));
        watch::keep(SUITE, &series);
        all.extend(series);
    }
    Ok(Measured { series: all, text })
}

/// The cases whose names were given, or those of the plan.
fn cases_to_measure(known: Vec<Case>, plan: &Plan, names: &[String]) -> Result<Vec<Case>> {
    let mut selected = select_cases(known, names)?;
    if names.is_empty() {
        selected.retain(|case| plan.includes(case));
    }
    Ok(selected)
}

/// Measures all rounds of a case, with 1 thread and with `threads`.
fn measure(case: &Case, plan: &Plan, threads: usize, options: &Options) -> Result<Vec<Series>> {
    let optimum = Cell::new(None);
    let optimum = &optimum;
    let runner = |contender: &'static str, threads: usize| {
        let run =
            ChildRun { case: case.to_string(), contender, threads, data: options.data.clone(), limit: plan.limit() };
        let measure = move || {
            let answer = run.run()?;
            agree(optimum, &answer)?;
            Ok(figures(&answer))
        };
        Runner { name: contender, threads, measure: Box::new(measure) }
    };
    let mut runners = Vec::new();
    for threads in thread_counts(threads) {
        runners.push(runner(FILCH, threads));
        runners.push(runner(DDO, threads));
    }
    if threads == 2 {
        runners.push(runner(TWO_SERIAL, 2));
    }
    let units = [MILLISECONDS, NODES, NODES_A_SECOND, DIAGRAM_NODES_A_SECOND, PEAK_MEGABYTES];
    let mut series = interleave(&case.to_string(), &units, &runners, plan.effort())?;
    // Figures that a contender does not count are left out.
    series.retain(|series| series.samples.iter().all(|sample| sample.is_finite()));
    let limit = 1e3 * plan.limit().as_secs_f64();
    for series in series.iter_mut().filter(|series| series.unit == MILLISECONDS && series.median() >= limit) {
        series.note = Some("no proof within the limit".to_owned());
    }
    Ok(series)
}

/// Checks that a proven answer is the same as the proven answers before.
fn agree(optimum: &Cell<Option<Option<Cost>>>, answer: &Answer) -> Result<()> {
    if !answer.proven {
        return Ok(());
    }
    let known = optimum.get().unwrap_or(answer.cost);
    let text =
        |cost: Option<Cost>| cost.map_or_else(|| "that there is no solution".to_owned(), |cost| cost.to_string());
    ensure!(known == answer.cost, "the run proved {}, but {} was proven before", text(answer.cost), text(known));
    optimum.set(Some(answer.cost));
    Ok(())
}

/// A figure for each unit; NaN if it is unknown.
fn figures(answer: &Answer) -> Vec<f64> {
    let Answer { seconds, explored, diagram_nodes, peak_bytes, .. } = *answer;
    vec![
        1e3 * seconds,
        explored,
        explored / seconds,
        diagram_nodes.map_or(f64::NAN, |nodes| nodes / seconds),
        peak_bytes.map_or(f64::NAN, |bytes| bytes as f64 / 1e6),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(cost: Option<Cost>, proven: bool) -> Answer {
        Answer { seconds: 2.0, explored: 10.0, diagram_nodes: None, cost, proven, peak_bytes: Some(3_000_000) }
    }

    #[test]
    fn different_proven_optima_are_an_error() {
        let optimum = Cell::new(None);
        assert!(agree(&optimum, &answer(Some(3), false)).is_ok());
        assert!(agree(&optimum, &answer(Some(7), true)).is_ok());
        assert!(agree(&optimum, &answer(Some(7), true)).is_ok());
        let error = agree(&optimum, &answer(Some(8), true)).unwrap_err().to_string();
        assert!(error.contains("the run proved 8, but 7 was proven before"), "{error}");
        assert!(agree(&optimum, &answer(None, true)).is_err());
        assert!(agree(&optimum, &answer(Some(5), false)).is_ok());
    }

    #[test]
    fn rates_are_per_second_and_uncounted_figures_are_nan() {
        let figures = figures(&answer(Some(1), true));
        assert_eq!((figures[0], figures[1], figures[2], figures[4]), (2_000.0, 10.0, 5.0, 3.0));
        assert!(figures[3].is_nan());
    }
}
