//! The `bulk` suite: the cost of push, pop and steal of batches of tasks.
//!
//! It also measures workers that explore a graph with batches. It has figures 6 to 10 of the paper
//! that describes the queue.

mod cases;
mod claims;
mod contenders;
mod dag;
mod operations;
mod published;
mod theft;
mod thieves;

use std::time::Duration;

use anyhow::{bail, ensure, Result};
use clap::Args;

use super::rounds::Effort;
use super::{memory, Options, Suite, Threads};
use crate::figures::{grouped, Series};
use crate::watch;

pub(crate) use super::{SERIAL, SERIAL_PAIR};
pub(crate) use cases::{
    emptyings, Case, ATTEMPTS_A_STEAL, BATCHES, NANOS_A_POP, NANOS_A_PUSH, NANOS_A_STEAL, NANOS_A_TASK, REFUSED, SHARES,
};
pub(crate) use claims::{dag_case, verdicts};
pub(crate) use contenders::{BULK, CHASE_LEV, CROSSBEAM, MUTEX};
use dag::{Needs, MOST_NODES};
pub(crate) use dag::{NodeCost, NANOS_A_NODE};
pub(crate) use operations::Fill;
pub(crate) use published::{PUBLISHED, PUBLISHED_EARLY};
pub(crate) use thieves::BULK_TRY_LOCK;

/// The suite's name.
pub(crate) const SUITE: &str = "bulk";

/// The largest graph, unless the largest graphs are asked for.
const USUAL_NODES: usize = 2_500_000;
/// A graph with fewer nodes than this is for a quick run.
const FEW_NODES: usize = 1_000_000;

/// The suite.
#[derive(Args, Debug, Default)]
pub(crate) struct Bulk {
    /// Also explore graphs of 50 million nodes: takes long, and about a gigabyte.
    #[arg(long = "full", conflicts_with = "quick")]
    pub(crate) largest: bool,

    /// Explore only graphs, of N nodes: 300m for the paper's largest, which needs 4.2 gigabytes.
    #[arg(long, value_name = "N", value_parser = graph_nodes, conflicts_with = "largest")]
    pub(crate) nodes: Option<usize>,
}

/// Parses the number of nodes of a graph.
pub(crate) fn graph_nodes(text: &str) -> Result<usize, String> {
    match cases::parse_nodes(text) {
        Some(nodes @ 1_000..=MOST_NODES) => Ok(nodes),
        Some(_) => Err(format!("graphs have 1000 to {MOST_NODES} nodes")),
        None => Err("this is not a number of nodes; examples are 250k, 300m and 1000000".to_owned()),
    }
}

/// Announces what a large graph needs. Returns an error if the memory is not there.
fn ensure_enough_memory(nodes: usize, rounds: usize, threads: &Threads, available: Option<u64>) -> Result<()> {
    let Needs { bytes, time } = dag::needs(nodes, threads, rounds);
    let gigabytes = |bytes: u64| format!("{:.1} gigabytes", bytes as f64 / 1e9);
    let needed = format!("a graph of {} nodes needs about {}", grouped(nodes), gigabytes(bytes));
    // A sixteenth more, for the queues and what else the process has.
    if let Some(available) = available.filter(|&available| available < bytes + bytes / 16) {
        let most = available / 17 * 16 / (bytes / nodes as u64);
        bail!("{needed}, but {} are available; give at most --nodes {most}", gigabytes(available));
    }
    if nodes > USUAL_NODES {
        let minutes = time.as_secs().div_ceil(60);
        watch::remark(&format!("{needed}, and each of its cases roughly {minutes} minutes or more."));
    }
    Ok(())
}

impl Suite for Bulk {
    const NAME: &'static str = SUITE;
    const PEERS: &'static [&'static str] = &[CROSSBEAM, MUTEX, CHASE_LEV, SERIAL];
    type Case = Case;

    fn cases(&self, _: &Options) -> Result<Vec<Case>> {
        Ok(self.nodes.map_or_else(cases::all, |nodes| cases::graphs(nodes).to_vec()))
    }

    /// A quick run has some of the shares, and leaves out batches of four under a busy owner.
    fn includes(&self, case: &Case, options: &Options) -> bool {
        match *case {
            Case::Dag { .. } if self.nodes.is_some() => true,
            Case::Dag { nodes, .. } if nodes < FEW_NODES => options.quick,
            Case::Dag { nodes, .. } => nodes <= USUAL_NODES || self.largest,
            case if case.has_thieves() && options.threads.most() < 2 => false,
            Case::Steal { percent, fill, busy } if options.quick => cases::is_quick_steal(percent, fill, busy),
            _ => true,
        }
    }

    fn effort(&self, case: &Case, options: &Options) -> Effort {
        let (rounds, at_least, millis) = match *case {
            Case::Dag { nodes, .. } => match (options.quick, nodes > USUAL_NODES) {
                (true, _) if nodes < FEW_NODES => (7, 3, 2_000),
                (true, _) => (3, 1, 6_000),
                (false, false) => (15, 5, 120_000),
                (false, true) => (5, 3, 300_000),
            },
            Case::Thieves(_) => options.choose((9, 6, 300), (21, 15, 5_000)),
            // Fifteen rounds are enough for an interval around ratios close to 1; six are the fewest
            // that give an interval.
            _ => options.choose((13, 5, 450), (15, 15, 0)),
        };
        Effort { rounds, at_least, time: Duration::from_millis(millis) }
    }

    fn prepare(&mut self, cases: &[Case], options: &Options) -> Result<()> {
        let is_possible = |case: &Case| options.threads.most() >= 2 || !case.has_thieves();
        ensure!(cases.iter().all(is_possible), "the selected cases need an owner and a thief; give --threads 2");
        let graphs = cases.iter().filter_map(|case| match *case {
            Case::Dag { nodes, .. } => Some((nodes, self.effort(case, options).within(options.limit).at_least)),
            _ => None,
        });
        let Some((nodes, rounds)) = graphs.max() else { return Ok(()) };
        ensure_enough_memory(nodes, rounds.max(1), &options.threads, memory::available())
    }

    fn measure(&mut self, case: &Case, options: &Options, effort: Effort) -> Result<Vec<Series>> {
        case.measure(options, effort)
    }

    fn introduction(&self, _: &Options) -> String {
        "a sample is the median of many repeats: 32 pushes of batches, ten thousand pushes of single tasks or pops, or one theft.\n\
         With several thieves, a sample is many queues, which they empty one after the other.\n\
         The time to read the clock is included. Every task is checked after every theft and every sample of several thieves, and every node of a graph.\n\
         bulk-published is the queue of the paper's listings. It returns tasks twice if its owner pops during a theft, so it\n\
         is not measured with a busy owner or on graphs. Its pop also frees the node, and its push of one task allocates it."
            .to_owned()
    }

    fn description(&self, case: &Case) -> String {
        case.description()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::suite::tests::{options, selected};
    use crate::bench::suite::{measure, select};
    use crate::bench::Threads;

    const USUAL: Bulk = Bulk { largest: false, nodes: None };
    const LARGEST: Bulk = Bulk { largest: true, nodes: None };

    #[test]
    fn long_cases_are_measured_if_they_are_named() {
        let names = |quick, name: &str| selected(&USUAL, quick, &[name]).unwrap();
        assert_eq!(names(true, "dag/uniform"), ["dag/uniform-250k", "dag/uniform-2.5m"]);
        assert_eq!(names(false, "dag/uniform"), ["dag/uniform-2.5m"]);
        assert_eq!(names(true, "dag/uniform-50m"), ["dag/uniform-50m"]);
        assert_eq!(names(true, "steal/20%/singles/busy"), ["steal/20%/singles/busy"]);
        assert_eq!(selected(&LARGEST, false, &["dag/uniform"]).unwrap().len(), 2);
    }

    #[test]
    fn one_thread_has_no_thief() {
        let one = |names| Options { threads: Threads::from_iter([1]), ..options(false, names) };
        assert!(select(&USUAL, &one(&[])).unwrap().iter().all(|case| !case.has_thieves()));
        for name in [&["steal"], &["thieves"]] {
            let refusal = measure(&mut Bulk::default(), &one(name)).unwrap_err().to_string();
            assert!(refusal.contains("an owner and a thief"), "{refusal}");
        }
        let refusal = selected(&USUAL, false, &["theft"]).unwrap_err();
        assert!(refusal.contains("no case begins with `theft`; there are push/1, push/128,"), "{refusal}");
    }

    #[test]
    fn the_largest_graphs_are_measured_only_on_request() {
        assert_eq!(selected(&LARGEST, false, &[]).unwrap().len(), cases::all().len() - 2);
        assert_eq!(selected(&USUAL, false, &[]).unwrap().len(), cases::all().len() - 4);
    }

    #[test]
    fn a_chosen_number_of_nodes_selects_graphs_only() {
        let chosen = Bulk { largest: false, nodes: Some(300_000_000) };
        for quick in [false, true] {
            assert_eq!(selected(&chosen, quick, &[]).unwrap(), ["dag/uniform-300m", "dag/skewed-300m"]);
        }
        assert_eq!(graph_nodes("300m"), Ok(300_000_000));
        for (text, reason) in [("999", "1000 to"), ("2001m", "1000 to"), ("many", "examples are"), ("nan", "1000 to")] {
            assert!(graph_nodes(text).unwrap_err().contains(reason), "{text}");
        }
    }

    #[test]
    fn a_graph_that_does_not_fit_is_refused_before_it_is_made() {
        let two = Threads::default();
        let refusal = ensure_enough_memory(300_000_000, 1, &two, Some(3_000_000_000)).unwrap_err().to_string();
        assert_eq!(
            refusal,
            "a graph of 300,000,000 nodes needs about 4.2 gigabytes, but 3.0 gigabytes are available; \
             give at most --nodes 201680672"
        );
        assert!(ensure_enough_memory(201_680_672, 1, &two, Some(3_000_000_000)).is_ok());
        assert!(ensure_enough_memory(300_000_000, 1, &two, None).is_ok());
    }

    #[test]
    fn a_quick_run_has_every_operation_and_the_ends_of_every_row() {
        let names = selected(&USUAL, true, &[]).unwrap();
        for name in ["push/1024", "pop", "steal/10%", "steal/60%", "steal/60%/singles/busy", "dag/skewed-2.5m"] {
            assert!(names.contains(&name.to_owned()), "{name} is not in {names:?}");
        }
        assert!(!names.contains(&"steal/20%".to_owned()));
    }
}
