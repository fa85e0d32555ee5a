//! `filch-lab report`: runs every suite and every instrument, then writes a page.
//!
//! [`collect`] measures, [`sections`] compares the results with the papers' claims, [`page`] writes
//! them.

mod collect;
mod folder;
pub(crate) mod page;
mod sections;
mod summary;

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use clap::Args;

use crate::bench::bound::store_bound;
use crate::bench::bulk::graph_nodes;
use crate::bench::Threads;
use crate::{interrupt, print, say};
use collect::plan::{self, Amount, Choices};
use folder::Folder;

/// The default folder of the page.
const FOLDER: &str = "target/filch-report";

/// What a user may choose.
#[derive(Args, Debug)]
#[command(after_help = "\
Ctrl-C ends the measurements and writes a page with the results so far; the exit code is 130. A second Ctrl-C exits at once, without a page. \
Otherwise the exit code is 0 if there are any results, even if a part failed: the page says which part, and why.")]
pub(crate) struct Arguments {
    /// Run every suite in full: hours instead of less than three minutes.
    #[arg(long)]
    full: bool,

    /// Run one round of the smallest cases, to test the page: its figures mean nothing.
    #[arg(long, conflicts_with = "full", hide_short_help = true)]
    rehearsal: bool,

    /// Write the page to this folder.
    #[arg(long, value_name = "FOLDER", default_value = FOLDER)]
    out: PathBuf,

    /// Use pools of these numbers of threads, and of 1 thread as well.
    ///
    /// A full report doubles from 1 up to the number of cores, and all others have 1 and 2 threads.
    /// With more than two numbers, the page has figures over threads.
    #[arg(long, value_name = "N,N,...", value_parser = Threads::parse)]
    threads: Option<Threads>,

    /// Set the bound that the fence-free queues rely on, instead of a measured one.
    ///
    /// See `filch-lab bench graphs --help`: you vouch for it. On CPUs of AMD no bound is known, so
    /// without this option these queues are left out there. They are left out as well if the litmus
    /// test of the report finds a load that overtook more stores.
    #[arg(long, value_name = "N", value_parser = store_bound)]
    bound: Option<usize>,

    /// Also explore graphs of N nodes in the suite bulk: 300m for the paper's largest.
    ///
    /// The paper has graphs of 2.5 and 300 million nodes. A full report has the smaller ones. The
    /// larger ones need 4.2 gigabytes.
    #[arg(long, value_name = "N", value_parser = graph_nodes, requires = "full")]
    nodes: Option<usize>,

    /// Measure only this suite or instrument; may be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

impl Default for Arguments {
    fn default() -> Self {
        Arguments {
            full: false,
            rehearsal: false,
            out: PathBuf::from(FOLDER),
            threads: None,
            bound: None,
            nodes: None,
            only: Vec::new(),
        }
    }
}

impl Arguments {
    fn amount(&self) -> Amount {
        match (self.rehearsal, self.full) {
            (true, _) => Amount::Rehearsal,
            (false, true) => Amount::Full,
            (false, false) => Amount::Quick,
        }
    }

    fn threads(&self) -> Threads {
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let sweep = || if self.full { Threads::up_to(cores()) } else { Threads::default() };
        self.threads.clone().unwrap_or_else(sweep)
    }
}

/// Measures, writes the page, and prints its path.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let amount = arguments.amount();
    let &Arguments { bound, nodes, .. } = arguments;
    let choices = Choices { amount, threads: arguments.threads(), bound, nodes };
    let (parts, left_out) = plan::select(&arguments.only, amount)?;
    choices.check()?;
    let folder = Folder::open(&arguments.out)?;
    say(&format!(
        "This takes about {}. Ctrl-C ends the run and writes a page with the results so far.",
        plan::estimate(&parts, amount, &choices.threads)
    ));

    let results = collect::collect(parts, choices, left_out)?;
    let page = sections::page(&results);
    folder.write_data(&results)?;
    page::write(&arguments.out, &page)?;
    print(&summary::text(&page, &folder.index()))?;
    Ok(if results.interrupted {
        ExitCode::from(interrupt::CODE)
    } else if results.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line;

    #[test]
    fn arguments_select_the_amount_and_the_parts() {
        let parse = |words: &[&str]| command_line::parse::<Arguments>(words);
        assert_eq!(parse(&[]).unwrap().amount(), Amount::Quick);
        assert_eq!(parse(&[]).unwrap().out, Arguments::default().out);
        let arguments = parse(&["--full", "--out", "here", "--only", "queues", "--only", "cilk"]).unwrap();
        assert_eq!((arguments.amount(), arguments.only), (Amount::Full, vec!["queues".to_owned(), "cilk".to_owned()]));
        let arguments = parse(&["--full", "--bound", "81", "--nodes", "300m"]).unwrap();
        assert_eq!((arguments.bound, arguments.nodes), (Some(81), Some(300_000_000)));
        assert!(parse(&["--nodes", "300m"]).unwrap_err().contains("--full"));
        assert!(parse(&["--bound", "1"]).unwrap_err().contains("give 2 or more"));
        assert_eq!(parse(&["--rehearsal"]).unwrap().amount(), Amount::Rehearsal);
        assert!(parse(&["--rehearsal", "--full"]).unwrap_err().contains("cannot be used with"));
    }
}
