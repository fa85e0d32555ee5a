//! The suites, and what they have in common: where figures go, which cases are wanted, rounds, inputs, which core a thread runs on, what
//! a task and what the process cost.

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

/// How many threads a pool has, unless told otherwise.
pub(crate) const THREADS: usize = 2;

/// What a user may choose of a suite that measures pools.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// A first look: fewer rounds, and only what is small.
    pub(crate) quick: bool,
    /// How many threads pools have, besides those of one thread.
    pub(crate) threads: usize,
    /// Where the figures go, besides being printed.
    pub(crate) json: Option<PathBuf>,
    /// How the names of the cases begin that are wanted; all, if there are none.
    pub(crate) cases: Vec<String>,
    /// The most that is left to the suite, if it is one of several.
    pub(crate) limit: Option<Limit>,
}

/// What a run found out.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The figures.
    pub(crate) series: Vec<Series>,
    /// The same for people.
    pub(crate) text: String,
}

/// Measures, writes the figures of the suite where they are wanted, and prints them.
fn publish(suite: &'static str, json: Option<&Path>, measure: impl FnOnce() -> Result<Measured>) -> Result<()> {
    publish_and(suite, json, measure, |_, _| Ok(()))
}

/// The same, and does something else with the figures. Ctrl-C ends it with what there is; and what was measured before something failed is written and printed all the same.
fn publish_and(
    suite: &'static str,
    json: Option<&Path>,
    measure: impl FnOnce() -> Result<Measured>,
    and: impl FnOnce(&[Series], &Machine) -> Result<()>,
) -> Result<()> {
    if let Some(path) = json {
        figures::check_writable(path)?;
    }
    let machine = Machine::here();
    interrupt::ends_measuring(
        "Ending with what there is, after this sample; once more ends it at once, with nothing.",
    )?;
    let (Measured { series, text }, failure) = or_kept(suite, measure())?;

    // Before anything is printed: whoever closes the pipe early still has the file. A file that was there before is worth more than one without figures.
    if !(series.is_empty() && watch::is_over()) {
        if let Some(path) = json {
            figures::write_json(path, &figures::rows(suite, &series, &machine))?;
        }
        and(&series, &machine)?;
    }
    let end = if watch::is_over() { "\nIt was ended before all was measured: this is what there is.\n" } else { "" };
    print(&format!("{machine}\n\n{text}{end}"))?;
    failure.map_or(Ok(()), Err)
}

/// What was measured; or, if that failed, the cases that were over before, and the failure unless it is due to the end.
fn or_kept(suite: &'static str, measured: Result<Measured>) -> Result<(Measured, Option<Error>)> {
    let kept = watch::kept(suite);
    match measured {
        Ok(measured) => Ok((measured, None)),
        Err(error) if kept.is_empty() && !watch::is_over() => Err(error),
        Err(error) => {
            let mut text = format!("Suite {suite}, as far as it came.\n");
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

/// Measures the `queues` suite on a thread of its own, since it pins it.
pub(crate) fn measure_queues(options: &queues::Options) -> Result<Measured> {
    thread::scope(|scope| match scope.spawn(|| queues::run(options)).join() {
        Ok(measured) => measured,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// Runs the `fork-join` suite, writes its figures and draws them where that is wanted, and prints them.
pub(crate) fn run_fork_join(options: &fork_join::Options) -> Result<()> {
    if let Some(path) = &options.plot {
        figures::check_writable(path)?;
    }
    let draw = |series: &[Series], machine: &Machine| match &options.plot {
        Some(path) => figures::write_plot(path, series, fork_join::NANOS_A_JOIN, machine),
        None => Ok(()),
    };
    publish_and(fork_join::SUITE, options.json.as_deref(), || fork_join::run(options), draw)
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
    publish(cilk::SUITE, options.common.json.as_deref(), || cilk::run_trusting(options))
}

/// Runs the `mpi` suite.
pub(crate) fn run_mpi(options: &mpi::Options) -> Result<()> {
    publish(mpi::SUITE, options.common.json.as_deref(), || mpi::run(options))
}

/// The cases whose names begin as one of the names that were asked for. One that no case begins with is an error.
fn chosen<C: Display>(mut cases: Vec<C>, names: &[String]) -> Result<Vec<C>> {
    if let Some(unknown) = names.iter().find(|name| !cases.iter().any(|case| case.to_string().starts_with(*name))) {
        let known: Vec<String> = cases.iter().map(C::to_string).collect();
        bail!("no case begins with `{unknown}`; there are {}", known.join(", "));
    }
    cases.retain(|case| names.is_empty() || names.iter().any(|name| case.to_string().starts_with(name)));
    Ok(cases)
}

/// 1, and as many as are wanted.
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
    fn what_was_measured_before_a_failure_is_shown_and_the_failure_is_one() {
        let refusal = or_kept("fails at once", Err(anyhow!("no memory"))).unwrap_err();
        assert_eq!(refusal.to_string(), "no memory");

        let other = Series { case: "burst-8".to_owned(), ..series("thep", &[3.0]) };
        watch::keep("fails later", &[series("the", &[7.0]), series("thep", &[8.0])]);
        watch::keep("fails later", &[other]);
        let (measured, failure) = or_kept("fails later", Err(anyhow!("no memory"))).unwrap();
        assert_eq!(failure.unwrap().to_string(), "no memory");
        assert_eq!(measured.series.len(), 3);
        let places = ["burst-64\n", "7.00", "8.00", "burst-8\n", "3.00"].map(|text| measured.text.find(text).unwrap());
        assert!(places.is_sorted(), "{}", measured.text);
    }
}
