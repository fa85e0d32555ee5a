//! The project's development tasks.
//!
//! `cargo xtask test` runs the tests that matter after every change, of the workspace or of some
//! packages. `cargo xtask ci` runs everything else that continuous integration checks. Both run two
//! steps at a time. Each step is also a command of its own. `cargo xtask deep` runs the searching
//! steps for longer.
#![warn(clippy::print_stdout)]

mod artifact;
mod command_line;
mod generated_dir;
mod install;
mod output;
mod packages;
mod parallel;
mod progress;
mod steps;
mod summary;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::packages::Packages;
use crate::steps::{asm, Context, Effort, Step, DEFAULT_LANES};

/// The default number of preemptions that loom explores in a deep run.
const DEEP_PREEMPTIONS: u8 = 3;

/// Run the development tasks of filch: tests, checks, and the steps of continuous integration.
#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run format, lints, unit, property, stress and doc tests up to the first failure
    Test {
        /// Test only this package; repeat the option for several
        #[arg(short, long = "package", value_name = "NAME")]
        packages: Vec<String>,
        #[command(flatten)]
        parallel: Parallel,
    },
    /// Run what continuous integration runs after `test`, up to the first failure
    Ci {
        #[command(flatten)]
        parallel: Parallel,
    },
    /// Run the searching steps for longer: more tasks, more cases, more preemptions
    Deep {
        /// Let loom explore this many preemptions in every model
        #[arg(long, default_value_t = DEEP_PREEMPTIONS, value_parser = clap::value_parser!(u8).range(1..=8))]
        preemptions: u8,
    },
    /// Check all models on the bounded-TSO machine, including the large ones
    Verify,
    #[command(flatten)]
    Step(Step),
    /// Check that fence-free fast paths have no fence, and that the others have one
    Asm {
        /// Only print the disassembly of this fast path, for example `ff_cl_pop`
        #[arg(long, value_name = "NAME")]
        print: Option<String>,
    },
}

#[derive(Args)]
struct Parallel {
    /// Run up to this many steps at a time (with 1, output appears immediately)
    #[arg(long, default_value_t = DEFAULT_LANES, value_parser = clap::value_parser!(u8).range(1..=4))]
    lanes: u8,
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Test { packages, parallel } => test(&packages, parallel.lanes),
        Command::Ci { parallel } => steps::run(Step::CI, parallel.lanes, Context::new(Effort::Usual)),
        // One step at a time: a search for hours needs the whole machine, and its progress must be
        // visible.
        Command::Deep { preemptions } => steps::run(Step::DEEP, 1, Context::new(Effort::Deep { preemptions })),
        Command::Verify => steps::run(&[Step::Models], 1, Context::new(Effort::Deep { preemptions: DEEP_PREEMPTIONS })),
        Command::Asm { print: Some(name) } => match asm::print(&Context::new(Effort::Usual), &name) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => print_error(&error),
        },
        Command::Asm { print: None } => steps::run(&[Step::Asm], 1, Context::new(Effort::Usual)),
        Command::Step(step) => steps::run(&[step], 1, Context::new(Effort::Usual)),
    }
}

fn test(packages: &[String], max_parallel: u8) -> ExitCode {
    let mut context = Context::new(Effort::Quick);
    if !packages.is_empty() {
        match Packages::find(&context).and_then(|all| all.select(packages)) {
            Ok(packages) => context.packages = packages,
            Err(error) => return print_error(&error),
        }
    }
    steps::run(&Step::tests_of(&context.packages), max_parallel, context)
}

fn print_error(error: &anyhow::Error) -> ExitCode {
    eprintln!("{error:#}");
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_valid() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_step_is_a_command_under_its_own_name() {
        for step in Step::TEST.iter().chain(Step::CI) {
            let cli = Cli::try_parse_from(["xtask", step.name()]).unwrap_or_else(|error| panic!("{error}"));
            match cli.command {
                Command::Step(parsed) => assert_eq!(parsed, *step),
                Command::Asm { print: None } => assert_eq!(Step::Asm, *step),
                _ => panic!("`{}` is parsed as another command", step.name()),
            }
        }
    }
}
