//! The program `filch`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use clap_mangen::Man;
use filch_cli::{command_line, generate, graph, print, solve};

/// Solve problems to the proven optimum and explore graphs, on all cores or on MPI.
#[derive(Debug, Parser)]
#[command(name = "filch", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Solve a problem to the proven optimum, for example knapsack or clique.
    ///
    /// A limit or Ctrl-C stops the search. The best solution so far is printed, with its gap to the
    /// proven bound. A second Ctrl-C stops the program at once. With --checkpoint, the rest of the
    /// search is saved for --resume.
    Solve(solve::Arguments),
    /// Explore a graph: reachability, spanning trees, components, distances.
    Graph(graph::Arguments),
    /// Generate a random instance of a problem.
    Generate(generate::Arguments),
    /// Print the completions for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all commands.
    Man {
        /// Write a page for each command to this folder.
        #[arg(value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    command_line::exit_code(run(&Cli::parse().command))
}

fn run(command: &Command) -> Result<ExitCode> {
    match command {
        Command::Solve(arguments) => return solve::run(arguments),
        Command::Graph(arguments) => graph::run(arguments)?,
        Command::Generate(arguments) => generate::run(arguments)?,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "filch", &mut script);
            print(&String::from_utf8(script)?)?;
        }
        Command::Man { folder: Some(folder) } => clap_mangen::generate_to(Cli::command(), folder)
            .with_context(|| format!("{}: cannot write the manual pages", folder.display()))?,
        Command::Man { folder: None } => {
            let mut page = Vec::new();
            Man::new(Cli::command()).render(&mut page)?;
            print(&String::from_utf8(page)?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_valid() {
        Cli::command().debug_assert();
    }
}
