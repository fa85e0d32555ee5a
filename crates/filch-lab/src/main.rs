//! The filch program.
//!
//! It compares the queues, the runtime and the solver of this workspace with their peers on this
//! machine. It also explores graphs, solves problems, and searches every state of the models.
//!
//! Without arguments it writes the quick report, so that `cargo run --release` shows something
//! useful at once.

mod bench;
mod chart;
mod claims;
#[cfg(test)]
mod command_line;
mod date;
mod figures;
mod generate;
mod graph;
mod input_file;
mod interrupt;
mod lab;
mod machine;
mod mpi;
mod problem;
mod queue;
mod report;
mod simulate;
mod solve;
mod stats;
mod verify;
mod watch;

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

/// Measure work stealing, explore graphs, solve problems, and check models.
///
/// Without a command, run `filch report`: measure a part of everything in less than three minutes,
/// and write a page.
#[derive(Debug, Parser)]
#[command(name = "filch", version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a benchmark suite, with all peers in the same run.
    #[command(after_help = "\
Ctrl-C ends a suite after the current sample and shows the results so far; the exit code is 130. A second Ctrl-C exits at once, without results. \
If a suite fails, the results before the failure are shown, too.")]
    Bench {
        #[command(subcommand)]
        suite: bench::Command,
    },
    /// Explore a graph: reachability, spanning trees, components, distances.
    Graph(graph::Arguments),
    /// Solve a problem to the proven optimum, for example knapsack or clique.
    ///
    /// A limit or Ctrl-C stops the search. The best solution so far is printed, with its gap to the
    /// proven bound. A second Ctrl-C stops the program at once. With --checkpoint, the rest of the
    /// search is saved for --resume.
    Solve(solve::Arguments),
    /// Generate a random instance of a problem.
    Generate(generate::Arguments),
    /// Simulate a run across machines: thousands of ranks and the real coordinator.
    Simulate(simulate::Arguments),
    /// Measure this machine: its store buffer, its reordering, the cost of fences.
    Lab {
        #[command(subcommand)]
        instrument: lab::Instrument,
    },
    /// Measure everything and write a page.
    Report(report::Arguments),
    /// Search every state of the models: which claims hold and which are refuted.
    Verify(verify::Arguments),
}

/// Parses a time limit, in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "this is not a number of seconds; an example is 2.5".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(limit),
        _ => Err("a time limit must be above 0 and below the largest duration".to_owned()),
    }
}

/// Parses the number of threads of a pool.
pub(crate) fn pool_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=bench::fork_join::MAX_THREADS) => Ok(threads),
        Ok(0) => Err("a pool needs a thread; give 1 or more".to_owned()),
        Ok(_) => Err(format!("a pool may have at most {} threads here", bench::fork_join::MAX_THREADS)),
        Err(_) => Err("this is not a number of threads; an example is 2".to_owned()),
    }
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Some(Command::Bench { suite }) => suite.run().map(|()| interrupt::code()),
        Some(Command::Graph(arguments)) => graph::run(&arguments).map(|()| ExitCode::SUCCESS),
        Some(Command::Solve(arguments)) => solve::run(&arguments),
        Some(Command::Generate(arguments)) => generate::run(&arguments).map(|()| ExitCode::SUCCESS),
        Some(Command::Simulate(arguments)) => simulate::run(&arguments).map(|()| ExitCode::SUCCESS),
        Some(Command::Lab { instrument }) => instrument.run().map(|()| ExitCode::SUCCESS),
        Some(Command::Report(arguments)) => report::run(&arguments),
        Some(Command::Verify(arguments)) => verify::run(&arguments).map(|()| ExitCode::SUCCESS),
        None => default_command(),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs the default command.
fn default_command() -> Result<ExitCode> {
    say("No command given: running `filch report`, which measures a part of everything and writes a page. `filch --help` lists all commands.");
    report::run(&report::Arguments::default())
}

/// Prints text on standard output.
fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // The reader, for example `head`, has closed the pipe.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot print to standard output"),
    }
}

/// Prints text on standard error. Unlike `eprintln`, it does not panic if that is closed.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_valid() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_command_is_allowed() {
        assert!(Cli::try_parse_from(["filch"]).unwrap().command.is_none());
    }

    #[test]
    fn an_unknown_suite_is_refused() {
        assert!(Cli::try_parse_from(["filch", "bench", "nothing"]).is_err());
        assert!(Cli::try_parse_from(["filch", "bench"]).is_err());
    }
}
