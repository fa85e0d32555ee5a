//! The suites, and what they have in common: where figures go, which cases are wanted, rounds, inputs, which core a thread runs on, what
//! a task and what the process cost.

mod busy;
mod cpu;
pub(crate) mod fork_join;
pub(crate) mod graphs;
mod pin;
pub(crate) mod queues;
mod random;
pub(crate) mod rayon;
mod rounds;

use std::fmt::Display;
use std::thread;

use anyhow::{bail, Result};

use crate::machine::Machine;
use crate::{print, report};

/// Runs the `queues` suite, writes its figures where they are wanted, and prints them.
pub(crate) fn run_queues(options: &queues::Options) -> Result<()> {
    if let Some(path) = &options.json {
        report::check_writable(path)?;
    }
    let machine = Machine::here();
    // On a thread of its own, since it pins it.
    let measured = thread::scope(|scope| match scope.spawn(|| queues::run(options)).join() {
        Ok(measured) => measured,
        Err(panic) => std::panic::resume_unwind(panic),
    })?;

    // Before anything is printed: whoever closes the pipe early still has the file.
    if let Some(path) = &options.json {
        report::write_json(path, &report::rows(queues::SUITE, &measured.series, &machine))?;
    }
    print(&format!("{machine}\n\n{}", measured.text))
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

/// Runs the `rayon` suite, writes its figures where they are wanted, and prints them.
pub(crate) fn run_rayon(options: &rayon::Options) -> Result<()> {
    if let Some(path) = &options.json {
        report::check_writable(path)?;
    }
    let machine = Machine::here();
    let measured = rayon::run(options)?;

    if let Some(path) = &options.json {
        report::write_json(path, &report::rows(rayon::SUITE, &measured.series, &machine))?;
    }
    print(&format!("{machine}\n\n{}", measured.text))
}

/// Runs the `graphs` suite, writes its figures where they are wanted, and prints them.
pub(crate) fn run_graphs(options: &graphs::Options) -> Result<()> {
    if let Some(path) = &options.json {
        report::check_writable(path)?;
    }
    let machine = Machine::here();
    let measured = graphs::run(options)?;

    if let Some(path) = &options.json {
        report::write_json(path, &report::rows(graphs::SUITE, &measured.series, &machine))?;
    }
    print(&format!("{machine}\n\n{}", measured.text))
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
