//! The `bulk` suite: the cost of push, pop and steal of batches of tasks.
//!
//! It also measures workers that explore a graph with batches. It has figures 6 to 10 of the paper
//! that describes the queue.

mod cases;
mod claims;
mod contenders;
mod dag;
mod operations;
mod theft;

use std::time::Duration;

use anyhow::{ensure, Result};
use clap::Args;

use super::rounds::Effort;
use super::{Options, Suite};
use crate::figures::Series;

pub(crate) use super::{SERIAL, SERIAL_PAIR};
pub(crate) use cases::{Case, BATCHES, GRAPHS, NANOS_A_POP, NANOS_A_PUSH, NANOS_A_STEAL, SHARES};
pub(crate) use claims::{dag_case, verdicts};
pub(crate) use contenders::{BULK, CHASE_LEV, CROSSBEAM, MUTEX};
pub(crate) use dag::{NodeCost, NANOS_A_NODE};
pub(crate) use operations::Fill;

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
}

impl Suite for Bulk {
    const NAME: &'static str = SUITE;
    const PEERS: &'static [&'static str] = &[CROSSBEAM, MUTEX, CHASE_LEV, SERIAL];
    type Case = Case;

    fn cases(&self, _: &Options) -> Result<Vec<Case>> {
        Ok(cases::all())
    }

    /// A quick run has some of the shares, and leaves out batches of four under a busy owner.
    fn includes(&self, case: &Case, options: &Options) -> bool {
        match *case {
            Case::Dag { nodes, .. } if nodes < FEW_NODES => options.quick,
            Case::Dag { nodes, .. } => nodes <= USUAL_NODES || self.largest,
            Case::Steal { .. } if options.threads.most() < 2 => false,
            Case::Steal { percent, fill, busy } if options.quick => {
                matches!(percent, 10 | 30 | 60) && !(busy && fill == Fill::BatchesOfFour)
            }
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
            // Fifteen rounds are enough for an interval around ratios close to 1; six are the fewest
            // that give an interval.
            _ => options.choose((7, 3, 600), (15, 15, 0)),
        };
        Effort { rounds, at_least, time: Duration::from_millis(millis) }
    }

    fn prepare(&mut self, cases: &[Case], options: &Options) -> Result<()> {
        let is_possible = |case: &Case| options.threads.most() >= 2 || !matches!(case, Case::Steal { .. });
        ensure!(cases.iter().all(is_possible), "the selected cases need an owner and a thief; give --threads 2");
        Ok(())
    }

    fn measure(&mut self, case: &Case, options: &Options, effort: Effort) -> Result<Vec<Series>> {
        case.measure(options, effort)
    }

    fn introduction(&self, _: &Options) -> String {
        "a sample is the median of many repeats: 32 pushes of batches, ten thousand pushes of single tasks or pops, or one theft.\n\
         The time to read the clock is included. Every task is checked after every theft, and every node of a graph."
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

    const USUAL: Bulk = Bulk { largest: false };
    const LARGEST: Bulk = Bulk { largest: true };

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
        assert!(select(&USUAL, &one(&[])).unwrap().iter().all(|case| !matches!(case, Case::Steal { .. })));
        let refusal = measure(&mut Bulk::default(), &one(&["steal"])).unwrap_err().to_string();
        assert!(refusal.contains("an owner and a thief"), "{refusal}");
        let refusal = selected(&USUAL, false, &["theft"]).unwrap_err();
        assert!(refusal.contains("no case begins with `theft`; there are push/1, push/128,"), "{refusal}");
    }

    #[test]
    fn the_largest_graphs_are_measured_only_on_request() {
        assert_eq!(selected(&LARGEST, false, &[]).unwrap().len(), cases::all().len() - 2);
        assert_eq!(selected(&USUAL, false, &[]).unwrap().len(), cases::all().len() - 4);
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
