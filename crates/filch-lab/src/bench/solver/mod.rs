//! The `solver` suite: filch's solver beside the published ddo.
//!
//! Both have literally the same model, width, cutset and threads. Every run has a process of its
//! own, so that the memory of each is counted separately. The runs of a case take turns.

mod cases;
mod child;
mod claims;
mod contenders;
mod ddo;
mod settings;

use std::cell::Cell;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{ensure, Result};
use clap::Args;
use filch_dd::Cost;

use super::rounds::{interleave, Effort, Runner};
use super::{Options, Suite};
use crate::command_line::pool_threads;
use crate::figures::Series;
use cases::Case;
use child::{Answer, ChildRun};
pub(crate) use contenders::run_one;

pub(crate) use super::SERIAL_PAIR;
pub(crate) use claims::verdicts;

/// The suite's name.
pub(crate) const SUITE: &str = "solver";

/// The name of filch's solver.
pub(crate) const FILCH: &str = "filch";
/// The name of filch's solver with `chase_lev` in place of the bulk queue.
pub(crate) const FILCH_CHASE_LEV: &str = "filch-chase_lev";
/// The name of filch's solver with deques behind locks in place of the bulk queue.
pub(crate) const FILCH_MUTEX: &str = "filch-mutex";
/// The name of the peer.
pub(crate) const DDO: &str = "ddo";

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

/// The suite.
#[derive(Args, Debug, Default)]
pub(crate) struct Solver {
    /// Also measure published instances of this folder: misp/*.clq and knapsack/*.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
}

/// The parameters of one run in a process of its own.
#[derive(Args, Clone, Debug)]
pub(crate) struct OneRun {
    /// Name of the case.
    pub(crate) case: String,

    /// Solve it with this contender.
    #[arg(long)]
    pub(crate) contender: String,

    /// Use N threads.
    #[arg(long, value_parser = pool_threads)]
    pub(crate) threads: usize,

    /// Stop after this many seconds.
    #[arg(long)]
    pub(crate) limit: f64,

    /// Read published instances from this folder.
    #[arg(long)]
    pub(crate) data: Option<PathBuf>,
}

impl Suite for Solver {
    const NAME: &'static str = SUITE;
    const PEERS: &'static [&'static str] = &[DDO];
    type Case = Case;

    fn cases(&self, _: &Options) -> Result<Vec<Case>> {
        cases::all(self.data.as_deref())
    }

    fn includes(&self, case: &Case, options: &Options) -> bool {
        !options.quick || case.is_quick() || !options.cases.is_empty()
    }

    fn effort(&self, _: &Case, options: &Options) -> Effort {
        options.choose(
            Effort { rounds: 7, at_least: 1, time: Duration::from_millis(3_500) },
            Effort { rounds: 15, at_least: 5, time: Duration::from_secs(60) },
        )
    }

    fn measure(&mut self, case: &Case, options: &Options, effort: Effort) -> Result<Vec<Series>> {
        // The time limit of a run.
        let limit = Duration::from_secs(options.choose(10, 120));
        let optimum = Cell::new(None);
        let optimum = &optimum;
        let runner = |contender: &'static str, threads: usize| {
            let run = ChildRun { case: case.to_string(), contender, threads, data: self.data.clone(), limit };
            let measure = move || {
                let answer = run.run()?;
                check(optimum, &answer, if contender == SERIAL_PAIR { limit / 2 } else { limit })?;
                Ok(figures(&answer))
            };
            Runner { name: contender, threads, measure: Box::new(measure) }
        };
        let mut runners = Vec::new();
        for &threads in options.threads.counts() {
            runners.push(runner(FILCH, threads));
            runners.push(runner(DDO, threads));
        }
        if options.threads.have_two() {
            runners.push(runner(SERIAL_PAIR, 2));
        }
        // One worker has a stack and no queue. A quick run of all cases compares queues in some.
        let compares_queues = case.compares_queues() || !options.quick || !options.cases.is_empty();
        for &threads in options.threads.several().iter().filter(|&&threads| threads > 1 && compares_queues) {
            runners.extend([FILCH_CHASE_LEV, FILCH_MUTEX].map(|contender| runner(contender, threads)));
        }
        let units = [MILLISECONDS, NODES, NODES_A_SECOND, DIAGRAM_NODES_A_SECOND, PEAK_MEGABYTES];
        let mut series = interleave(&case.to_string(), &units, &runners, effort)?;
        // Figures that a contender does not count are left out.
        series.retain(|series| series.samples.iter().all(|sample| sample.is_finite()));
        let limit = 1e3 * limit.as_secs_f64();
        for series in series.iter_mut().filter(|series| series.unit == MILLISECONDS && series.median() >= limit) {
            series.note = Some("no proof within the limit".to_owned());
        }
        Ok(series)
    }

    fn introduction(&self, _: &Options) -> String {
        let left_out = match self.data {
            Some(_) => "",
            None => "\nPublished instances are left out: give their folder with --data (misp/*.clq, knapsack/*).",
        };
        format!(
            "a proof of the optimum. The suite fails if two runs prove different optima, if a solution does not have its\n\
             cost, or if a run stops before its limit without a proof.\n\
             {FILCH_CHASE_LEV} and {FILCH_MUTEX} have other queues in place of the bulk queue.{left_out}"
        )
    }

    fn description(&self, case: &Case) -> String {
        case.description()
    }
}

/// Checks that a proven answer is the same as the proven answers before, and that a run without a
/// proof lasted until its limit.
fn check(optimum: &Cell<Option<Option<Cost>>>, answer: &Answer, limit: Duration) -> Result<()> {
    if !answer.proven {
        let (seconds, limit) = (answer.seconds, limit.as_secs_f64());
        ensure!(seconds >= limit, "the run stopped after {seconds} of {limit} seconds without a proof");
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
    fn different_proven_optima_and_early_stops_are_errors() {
        let optimum = Cell::new(None);
        let check = |cost, proven, limit| check(&optimum, &answer(cost, proven), Duration::from_secs(limit));
        assert!(check(Some(3), false, 2).is_ok());
        assert!(check(Some(7), true, 10).is_ok());
        assert!(check(Some(7), true, 10).is_ok());
        let error = check(Some(8), true, 10).unwrap_err().to_string();
        assert!(error.contains("the run proved 8, but 7 was proven before"), "{error}");
        assert!(check(None, true, 10).is_err());
        assert!(check(Some(5), false, 2).is_ok());
        let error = check(Some(5), false, 3).unwrap_err().to_string();
        assert!(error.contains("stopped after 2 of 3 seconds without a proof"), "{error}");
    }

    #[test]
    fn rates_are_per_second_and_uncounted_figures_are_nan() {
        let figures = figures(&answer(Some(1), true));
        assert_eq!((figures[0], figures[1], figures[2], figures[4]), (2_000.0, 10.0, 5.0, 3.0));
        assert!(figures[3].is_nan());
    }
}
