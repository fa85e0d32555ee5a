//! The project's chores.
//!
//! `cargo xtask test` is everything that continuous integration runs, two steps at a time. Each of its steps is also a command of its
//! own, and `cargo xtask deep` repeats the searching ones at greater length.
#![warn(clippy::print_stdout)]

mod artifact;
mod board;
mod call;
mod console;
mod install;
mod lanes;
mod steps;
mod summary;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::steps::{asm, Context, Effort, Step, LANES};

/// How many preemptions loom explores in a deep run, unless told otherwise.
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
    /// Everything that continuous integration runs, up to the first failure
    Test {
        /// How many steps run at the same time; what one says is shown when it has ended, or at once if there is one at a time
        #[arg(long, default_value_t = LANES, value_parser = clap::value_parser!(u8).range(1..=4))]
        lanes: u8,
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

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Test { lanes } => steps::run(Step::ALL, lanes, Context::new(Effort::Usual)),
        // One at a time: what searches for hours is to be seen at it, and wants the whole machine.
        Command::Deep { preemptions } => steps::run(Step::DEEP, 1, Context::new(Effort::Deep { preemptions })),
        Command::Verify => steps::run(&[Step::Models], 1, Context::new(Effort::Deep { preemptions: DEEP_PREEMPTIONS })),
        Command::Asm { print: Some(name) } => match asm::print(&Context::new(Effort::Usual), &name) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error:#}");
                ExitCode::FAILURE
            }
        },
        Command::Asm { print: None } => steps::run(&[Step::Asm], 1, Context::new(Effort::Usual)),
        Command::Step(step) => steps::run(&[step], 1, Context::new(Effort::Usual)),
    }
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
        for step in Step::ALL {
            let cli = Cli::try_parse_from(["xtask", step.name()]).unwrap_or_else(|error| panic!("{error}"));
            match cli.command {
                Command::Step(parsed) => assert_eq!(parsed, *step),
                Command::Asm { print: None } => assert_eq!(Step::Asm, *step),
                _ => panic!("`{}` is parsed as another command", step.name()),
            }
        }
    }
}
