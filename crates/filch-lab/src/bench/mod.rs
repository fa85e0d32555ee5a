//! The suites, and what they have in common: where figures go, which cases are wanted, rounds, inputs, which core a thread runs on, what
//! a task and what the process cost.

pub(crate) mod bulk;
mod busy;
mod cpu;
pub(crate) mod fork_join;
pub(crate) mod graphs;
mod memory;
pub(crate) mod mpi;
mod pin;
pub(crate) mod queues;
mod random;
pub(crate) mod rayon;
mod rounds;
pub(crate) mod solver;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{bail, Result};

use crate::machine::Machine;
use crate::report::Series;
use crate::{print, report};

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
}

impl Options {
    /// A quick run of everything that is in one.
    pub(crate) fn quick() -> Options {
        Options { quick: true, threads: THREADS, json: None, cases: Vec::new() }
    }
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
fn publish(suite: &str, json: Option<&Path>, measure: impl FnOnce() -> Result<Measured>) -> Result<()> {
    if let Some(path) = json {
        report::check_writable(path)?;
    }
    let machine = Machine::here();
    let measured = measure()?;

    // Before anything is printed: whoever closes the pipe early still has the file.
    if let Some(path) = json {
        report::write_json(path, &report::rows(suite, &measured.series, &machine))?;
    }
    print(&format!("{machine}\n\n{}", measured.text))
}

/// Runs the `queues` suite.
pub(crate) fn run_queues(options: &queues::Options) -> Result<()> {
    publish(queues::SUITE, options.json.as_deref(), || {
        // On a thread of its own, since it pins it.
        thread::scope(|scope| match scope.spawn(|| queues::run(options)).join() {
            Ok(measured) => measured,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

/// Runs the `fork-join` suite, writes its figures and draws them where that is wanted, and prints them.
pub(crate) fn run_fork_join(options: &fork_join::Options) -> Result<()> {
    for path in options.json.iter().chain(&options.plot) {
        report::check_writable(path)?;
    }
    let machine = Machine::here();
    let measured = fork_join::run(options)?;

    if let Some(path) = &options.json {
        report::write_json(path, &report::rows(fork_join::SUITE, &measured.series, &machine))?;
    }
    if let Some(path) = &options.plot {
        report::write_plot(path, &measured.series, fork_join::NANOS_A_JOIN, &machine)?;
    }
    print(&format!("{machine}\n\n{}", measured.text))
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
