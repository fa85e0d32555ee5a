//! The project's development tasks.
//!
//! `cargo xtask test` runs the tests that matter after every change, of the workspace or of some
//! packages. `cargo xtask ci` runs everything else that continuous integration checks. Both run two
//! steps at a time. Each step is also a command of its own. `cargo xtask deep` runs the searching
//! steps for longer.
#![warn(clippy::print_stdout)]

mod artifact;
mod board;
mod call;
mod console;
mod install;
mod lanes;
mod packages;
mod steps;
mod summary;
mod tree;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::packages::Packages;
use crate::steps::{asm, Context, Effort, Step, LANES};

/// The default number of preemptions that loom explores in a deep run.
const DEEP_PREEMPTIONS: u8 = 3;

/// The chores of filch: what continuous integration runs, as a whole and step by step.
#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Format, lints, unit, property, stress and documentation tests, up to the first failure
    Test {
        /// Test only this package; repeat the option for several
        #[arg(short, long = "package", value_name = "NAME")]
        packages: Vec<String>,
        #[command(flatten)]
        lanes: Lanes,
    },
    /// Everything that continuous integration runs after `test`, up to the first failure
    Ci {
        #[command(flatten)]
        lanes: Lanes,
    },
    /// The same tests for longer: more tasks, more cases, more preemptions
    Deep {
        /// How many preemptions loom explores in every model
        #[arg(long, default_value_t = DEEP_PREEMPTIONS, value_parser = clap::value_parser!(u8).range(1..=8))]
        preemptions: u8,
    },
    /// The models on the bounded-TSO machine, the large ones too
    Verify,
    #[command(flatten)]
    Step(Step),
    /// The fast paths that promise no fence contain none, and those that need one have it
    Asm {
        /// Print the disassembly of one fast path instead, for example `ff_cl_pop`
        #[arg(long, value_name = "NAME")]
        print: Option<String>,
    },
}

#[derive(Args)]
struct Lanes {
    /// Run so many steps at a time; with 1 their output appears at once, otherwise at their end
    #[arg(long, default_value_t = LANES, value_parser = clap::value_parser!(u8).range(1..=4))]
    lanes: u8,
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Test { packages, lanes } => test(&packages, lanes.lanes),
        Command::Ci { lanes } => steps::run(Step::CI, lanes.lanes, Context::new(Effort::Usual)),
        // One step at a time: a search for hours needs the whole machine, and its progress must be
        // visible.
        Command::Deep { preemptions } => steps::run(Step::DEEP, 1, Context::new(Effort::Deep { preemptions })),
        Command::Verify => steps::run(&[Step::Models], 1, Context::new(Effort::Deep { preemptions: DEEP_PREEMPTIONS })),
        Command::Asm { print: Some(name) } => match asm::print(&Context::new(Effort::Usual), &name) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failure(&error),
        },
        Command::Asm { print: None } => steps::run(&[Step::Asm], 1, Context::new(Effort::Usual)),
        Command::Step(step) => steps::run(&[step], 1, Context::new(Effort::Usual)),
    }
}

fn test(packages: &[String], lanes: u8) -> ExitCode {
    let mut context = Context::new(Effort::Quick);
    if !packages.is_empty() {
        match Packages::find(&context).and_then(|all| all.select(packages)) {
            Ok(packages) => context.packages = packages,
            Err(error) => return failure(&error),
        }
    }
    steps::run(&Step::tests_of(&context.packages), lanes, context)
}

fn failure(error: &anyhow::Error) -> ExitCode {
    eprintln!("{error:#}");
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
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
