//! The suites, and what they have in common: where figures go, which core a thread runs on, what a task costs.

mod busy;
mod pin;
pub(crate) mod queues;

use std::io::{self, ErrorKind, Write};

use anyhow::{Context, Result};

use crate::machine::Machine;
use crate::report;

/// Runs the `queues` suite, writes its figures where they are wanted, and prints them.
pub(crate) fn run_queues(options: &queues::Options) -> Result<()> {
    if let Some(path) = &options.json {
        report::check_writable(path)?;
    }
    let machine = Machine::here();
    let measured = queues::run(options)?;

    // Before anything is printed: whoever closes the pipe early still has the file.
    if let Some(path) = &options.json {
        report::write_json(path, &report::rows(queues::SUITE, &measured.series, &machine))?;
    }
    print(&format!("{machine}\n\n{}", measured.text))
}

fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Who reads through `head` has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("the report could not be printed"),
    }
}
