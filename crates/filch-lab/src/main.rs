//! The laboratory of filch.
//!
//! It compares the queues, the runtime and the solver of this workspace with their peers on this
//! machine. It also measures the machine itself, and searches every state of the models.
//!
//! Without arguments it writes the quick report, so that `cargo run --release` shows something
//! useful at once.

mod bench;
mod claims;
mod date;
mod figures;
mod interrupt;
mod lab;
mod report;
mod simulate;
mod stats;
mod sync;
mod verify;
mod watch;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use filch_cli::{chart, command_line, input_file, machine, print, problem, queue, say};

/// Measure work stealing beside its peers, measure this machine, and check models.
///
/// Without a command, run `filch-lab report`: measure a part of everything in less than three minutes,
/// and write a page.
#[derive(Debug, Parser)]
#[command(name = "filch-lab", version)]
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
    /// Run `filch solve`. The suite `mpi` starts it as a process of its own.
    #[cfg(feature = "mpi")]
    #[command(hide = true)]
    Solve(filch_cli::solve::Arguments),
}

fn main() -> ExitCode {
    command_line::exit_code(match Cli::parse().command {
        Some(Command::Bench { suite }) => suite.run().map(|()| interrupt::code()),
        Some(Command::Simulate(arguments)) => simulate::run(&arguments).map(|()| ExitCode::SUCCESS),
        Some(Command::Lab { instrument }) => instrument.run().map(|()| ExitCode::SUCCESS),
        Some(Command::Report(arguments)) => report::run(&arguments),
        Some(Command::Verify(arguments)) => verify::run(&arguments).map(|()| ExitCode::SUCCESS),
        #[cfg(feature = "mpi")]
        Some(Command::Solve(arguments)) => filch_cli::solve::run(&arguments),
        None => default_command(),
    })
}

/// Runs the default command.
fn default_command() -> Result<ExitCode> {
    say("No command given: running `filch-lab report`, which measures a part of everything and writes a page. `filch-lab --help` lists all commands.");
    report::run(&report::Arguments::default())
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
        assert!(Cli::try_parse_from(["filch-lab"]).unwrap().command.is_none());
    }

    #[test]
    fn an_unknown_suite_is_refused() {
        assert!(Cli::try_parse_from(["filch-lab", "bench", "nothing"]).is_err());
        assert!(Cli::try_parse_from(["filch-lab", "bench"]).is_err());
    }
}
