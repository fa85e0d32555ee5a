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
mod throughput;
mod work;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{bail, Error, Result};

use crate::figures::Series;
use crate::machine::Machine;
use crate::{figures, interrupt, print, watch};
pub(crate) use arguments::Suite;
pub(crate) use rounds::Limit;

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

/// Measures a suite, writes its figures to `json` if given, and prints them.
fn publish(suite: &'static str, json: Option<&Path>, measure: impl FnOnce() -> Result<Measured>) -> Result<()> {
    publish_with(suite, json, measure, |_, _| Ok(()))
}

/// Like [`publish`], but also passes the figures to `use_figures`.
///
/// Ctrl-C ends it with the figures so far. Figures from before a failure are also written and
/// printed.
fn publish_with(
    suite: &'static str,
    json: Option<&Path>,
    measure: impl FnOnce() -> Result<Measured>,
    use_figures: impl FnOnce(&[Series], &Machine) -> Result<()>,
) -> Result<()> {
    if let Some(path) = json {
        figures::check_writable(path)?;
    }
    let machine = Machine::here();
    interrupt::ends_measuring(
        "Stopping after this sample, with the figures so far. Press Ctrl-C again to stop at once, without them.",
    )?;
    let (Measured { series, text }, failure) = or_completed_cases(suite, measure())?;

    // Write before printing: a reader that closes the pipe early still gets the file. Keep an
    // existing file rather than replace it with one without figures.
    if !(series.is_empty() && watch::is_over()) {
        if let Some(path) = json {
            figures::write_json(path, &figures::rows(suite, &series, &machine))?;
        }
        use_figures(&series, &machine)?;
    }
    let end = if watch::is_over() { "\nInterrupted: not all cases were measured.\n" } else { "" };
    print(&format!("{machine}\n\n{text}{end}"))?;
    failure.map_or(Ok(()), Err)
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
    publish(queues::SUITE, options.json.as_deref(), || measure_queues(options))
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
    publish_with(fork_join::SUITE, options.json.as_deref(), || fork_join::run(options), draw)
}

/// Runs the `rayon` suite.
pub(crate) fn run_rayon(options: &Options) -> Result<()> {
    publish(rayon::SUITE, options.json.as_deref(), || rayon::run(options))
}

/// Runs the `graphs` suite.
pub(crate) fn run_graphs(options: &Options) -> Result<()> {
    publish(graphs::SUITE, options.json.as_deref(), || graphs::run(options))
}

/// Runs the `bulk` suite.
pub(crate) fn run_bulk(options: &bulk::Options) -> Result<()> {
    publish(bulk::SUITE, options.common.json.as_deref(), || bulk::run(options))
}

/// Runs the `solver` suite.
pub(crate) fn run_solver(options: &solver::Options) -> Result<()> {
    publish(solver::SUITE, options.common.json.as_deref(), || solver::run(options))
}

/// Runs the `cilk` suite.
pub(crate) fn run_cilk(options: &cilk::Options) -> Result<()> {
    publish(cilk::SUITE, options.common.json.as_deref(), || cilk::run(options))
}

/// Runs the `mpi` suite.
pub(crate) fn run_mpi(options: &mpi::Options) -> Result<()> {
    publish(mpi::SUITE, options.common.json.as_deref(), || mpi::run(options))
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
