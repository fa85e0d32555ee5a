//! The benchmark suites and what they share.
//!
//! The shared parts: where figures go, choice of cases, rounds, inputs, pinning, and the cost of a
//! task and of the process.

mod arguments;
pub(crate) mod bulk;
pub(crate) mod busy;
pub(crate) mod cilk;
mod contenders;
mod cpu;
pub(crate) mod fork_join;
pub(crate) mod graphs;
mod memory;
pub(crate) mod mpi;
pub(crate) mod pin;
pub(crate) mod queues;
pub(crate) mod random;
pub(crate) mod rayon;
mod rounds;
pub(crate) mod solver;
#[cfg(test)]
pub(crate) mod synthetic;
mod throughput;
mod work;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{bail, Error, Result};

use crate::claims::{self, Figures, Verdict};
use crate::figures::Series;
use crate::machine::Machine;
use crate::{figures, interrupt, print, watch};
pub(crate) use arguments::Suite;
pub(crate) use rounds::Limit;

/// The claims of each suite, with their verdicts.
pub(crate) const CLAIMS: [(&str, fn(Figures<'_>) -> Vec<Verdict>); 8] = [
    (queues::SUITE, queues::verdicts),
    (fork_join::SUITE, fork_join::verdicts),
    (cilk::SUITE, cilk::verdicts),
    (graphs::SUITE, graphs::verdicts),
    (bulk::SUITE, bulk::verdicts),
    (solver::SUITE, solver::verdicts),
    (rayon::SUITE, rayon::verdicts),
    (mpi::SUITE, mpi::verdicts),
];

/// The default number of threads in a pool.
pub(crate) const THREADS: usize = 2;

/// Options of a suite that measures pools.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Whether to measure with fewer rounds and only small inputs.
    pub(crate) quick: bool,
    /// The number of threads in a pool; pools of one thread are measured as well.
    pub(crate) threads: usize,
    /// The file that the figures are written to, besides being printed.
    pub(crate) json: Option<PathBuf>,
    /// Prefixes of the names of the wanted cases. All cases are wanted if there are none.
    pub(crate) cases: Vec<String>,
    /// The most that the suite may measure, if it is one of several.
    pub(crate) limit: Option<Limit>,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The figures.
    pub(crate) series: Vec<Series>,
    /// The same figures as text for people.
    pub(crate) text: String,
}

/// A run of a suite.
#[derive(Clone, Copy, Debug)]
struct Run<'a> {
    suite: &'static str,
    quick: bool,
    /// The file that the figures are written to.
    json: Option<&'a Path>,
    /// Prefixes of the names of the wanted cases.
    cases: &'a [String],
}

impl<'a> Run<'a> {
    fn new(suite: &'static str, options: &'a Options) -> Run<'a> {
        Run { suite, quick: options.quick, json: options.json.as_deref(), cases: &options.cases }
    }

    /// Measures the suite, writes its figures, and prints them with the verdicts on its claims.
    fn publish(self, measure: impl FnOnce() -> Result<Measured>) -> Result<()> {
        self.publish_with(measure, |_, _| Ok(()))
    }

    /// Like [`publish`](Run::publish), but also passes the figures to `use_figures`.
    ///
    /// Ctrl-C ends it with the figures so far. Figures from before a failure are also written and
    /// printed.
    fn publish_with(
        self,
        measure: impl FnOnce() -> Result<Measured>,
        use_figures: impl FnOnce(&[Series], &Machine) -> Result<()>,
    ) -> Result<()> {
        if let Some(path) = self.json {
            figures::check_writable(path)?;
        }
        let machine = Machine::here();
        interrupt::ends_measuring(
            "Stopping after this sample, with the figures so far. Press Ctrl-C again to stop at once, without them.",
        )?;
        let (Measured { series, text }, failure) = or_completed_cases(self.suite, measure())?;

        // Write before printing: a reader that closes the pipe early still gets the file. Keep an
        // existing file rather than replace it with one without figures.
        if !(series.is_empty() && watch::is_over()) {
            if let Some(path) = self.json {
                figures::write_json(path, &figures::rows(self.suite, &series, &machine))?;
            }
            use_figures(&series, &machine)?;
        }
        let is_incomplete = failure.is_some() || watch::is_over() || !self.cases.is_empty();
        let claims = claims_of(self.suite, Figures { series: &series, is_quick: self.quick, is_incomplete });
        let end = if watch::is_over() { "\nInterrupted: not all cases were measured.\n" } else { "" };
        print(&format!("{machine}\n\n{text}\n{claims}{end}"))?;
        failure.map_or(Ok(()), Err)
    }
}

/// The claims of a suite with their verdicts, as text.
pub(crate) fn claims_of(suite: &str, figures: Figures<'_>) -> String {
    let verdicts = CLAIMS.iter().filter(|(name, _)| *name == suite).flat_map(|(_, verdicts)| verdicts(figures));
    format!(
        "Claims: `a / b` is the time of a divided by the time of b.\n{}.\n\n{}",
        claims::BRACKETS,
        claims::listing(&verdicts.collect::<Vec<_>>())
    )
}

/// Returns the result, or the cases that were complete before a failure.
///
/// The failure is returned as well, unless the end of the measurement caused it.
fn or_completed_cases(suite: &'static str, measured: Result<Measured>) -> Result<(Measured, Option<Error>)> {
    let kept = watch::kept(suite);
    match measured {
        Ok(measured) => Ok((measured, None)),
        Err(error) if kept.is_empty() && !watch::is_over() => Err(error),
        Err(error) => {
            let mut text = format!("Suite {suite}, incomplete.\n");
            for of_case in kept.chunk_by(|one, other| one.case == other.case) {
                text.push_str(&format!("\n{}\n{}", of_case[0].case, figures::tables(of_case, &[])));
            }
            Ok((Measured { series: kept, text }, (!watch::is_over()).then_some(error)))
        }
    }
}

/// Runs the `queues` suite.
pub(crate) fn run_queues(options: &queues::Options) -> Result<()> {
    let queues::Options { quick, json, .. } = options;
    let run = Run { suite: queues::SUITE, quick: *quick, json: json.as_deref(), cases: &[] };
    run.publish(|| measure_queues(options))
}

/// Measures the `queues` suite on a new thread, because the suite pins its thread.
pub(crate) fn measure_queues(options: &queues::Options) -> Result<Measured> {
    thread::scope(|scope| match scope.spawn(|| queues::run(options)).join() {
        Ok(measured) => measured,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// Runs the `fork-join` suite: writes, draws and prints its figures as the options ask.
pub(crate) fn run_fork_join(options: &fork_join::Options) -> Result<()> {
    if let Some(path) = &options.plot {
        figures::check_writable(path)?;
    }
    let draw = |series: &[Series], machine: &Machine| match &options.plot {
        Some(path) => figures::write_plot(path, series, fork_join::NANOS_A_JOIN, machine),
        None => Ok(()),
    };
    let fork_join::Options { quick, json, cases, .. } = options;
    let run = Run { suite: fork_join::SUITE, quick: *quick, json: json.as_deref(), cases };
    run.publish_with(|| fork_join::run(options), draw)
}

/// Runs the `rayon` suite.
pub(crate) fn run_rayon(options: &Options) -> Result<()> {
    Run::new(rayon::SUITE, options).publish(|| rayon::run(options))
}

/// Runs the `graphs` suite.
pub(crate) fn run_graphs(options: &Options) -> Result<()> {
    Run::new(graphs::SUITE, options).publish(|| graphs::run(options))
}

/// Runs the `bulk` suite.
pub(crate) fn run_bulk(options: &bulk::Options) -> Result<()> {
    Run::new(bulk::SUITE, &options.common).publish(|| bulk::run(options))
}

/// Runs the `solver` suite.
pub(crate) fn run_solver(options: &solver::Options) -> Result<()> {
    Run::new(solver::SUITE, &options.common).publish(|| solver::run(options))
}

/// Runs the `cilk` suite.
pub(crate) fn run_cilk(options: &cilk::Options) -> Result<()> {
    Run::new(cilk::SUITE, &options.common).publish(|| cilk::run(options))
}

/// Runs the `mpi` suite.
pub(crate) fn run_mpi(options: &mpi::Options) -> Result<()> {
    Run::new(mpi::SUITE, &options.common).publish(|| mpi::run(options))
}

/// The cases whose names start with one of `names`.
///
/// Returns an error if no case starts with one of the names.
fn select_cases<C: Display>(mut cases: Vec<C>, names: &[String]) -> Result<Vec<C>> {
    if let Some(unknown) = names.iter().find(|name| !cases.iter().any(|case| case.to_string().starts_with(*name))) {
        let known: Vec<String> = cases.iter().map(C::to_string).collect();
        bail!("no case begins with `{unknown}`; there are {}", known.join(", "));
    }
    cases.retain(|case| names.is_empty() || names.iter().any(|name| case.to_string().starts_with(name)));
    Ok(cases)
}

/// The thread counts to measure: 1 and `threads`.
fn thread_counts(threads: usize) -> Vec<usize> {
    if threads == 1 {
        vec![1]
    } else {
        vec![1, threads]
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;
    use crate::figures::tests::series;

    #[test]
    fn cases_before_a_failure_are_shown_and_the_failure_is_returned() {
        let refusal = or_completed_cases("fails at once", Err(anyhow!("no memory"))).unwrap_err();
        assert_eq!(refusal.to_string(), "no memory");

        let other = Series { case: "burst-8".to_owned(), ..series("thep", &[3.0]) };
        watch::keep("fails later", &[series("the", &[7.0]), series("thep", &[8.0])]);
        watch::keep("fails later", &[other]);
        let (measured, failure) = or_completed_cases("fails later", Err(anyhow!("no memory"))).unwrap();
        assert_eq!(failure.unwrap().to_string(), "no memory");
        assert_eq!(measured.series.len(), 3);
        let places = ["burst-64\n", "7.00", "8.00", "burst-8\n", "3.00"].map(|text| measured.text.find(text).unwrap());
        assert!(places.is_sorted(), "{}", measured.text);
    }
}
