//! The `graphs` suite: closure and spanning tree of large graphs, on all queues and peers; and
//! shortest paths.
//!
//! Every sample starts a pool of its own, ends it, and is timed from inside. Threads are not
//! pinned: the runtime and the operating system place them, as they do for users. The memory for
//! each vertex is allocated before, and all contenders use the same memory.

mod cases;
mod claims;
mod contenders;
mod memory;
mod pointers;
mod problems;
mod setup;
mod shortest_paths;
mod table;

use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use super::bound::{BoundOptions, Vouched};
use super::rounds::Effort;
use super::{Options, Suite};
use crate::figures::Series;

pub(crate) use cases::{Case, Family, Form, Task};
pub(crate) use claims::{closure_ratio, graph_case, verdicts, why_ff_cl_is_left_out, FAMILIES, IDEMPOTENT};
pub(crate) use contenders::FF_CL;
pub(crate) use setup::{NANOS_A_VERTEX, REDUNDANT, STOLEN};

/// The suite's name.
pub(crate) const SUITE: &str = "graphs";

/// The largest graph of a quick run.
const QUICK_VERTICES: usize = 250_000;

/// The suite.
#[derive(Args, Debug, Default)]
pub(crate) struct Graphs {
    #[command(flatten)]
    bound: BoundOptions,

    /// The bound of this run, once it is prepared.
    #[arg(skip)]
    vouched: Option<Vouched>,
}

impl Graphs {
    /// The suite with this bound. Without one, queues that need it are left out.
    pub(crate) fn new(vouched: Vouched) -> Graphs {
        Graphs { bound: BoundOptions::found(vouched), vouched: None }
    }
}

impl Suite for Graphs {
    const NAME: &'static str = SUITE;
    const PEERS: &'static [&'static str] = &[];
    type Case = Case;

    fn cases(&self, _: &Options) -> Result<Vec<Case>> {
        Ok(cases::all())
    }

    /// In a quick report, neighbours are sorted: then there is time for more rounds.
    fn includes(&self, case: &Case, options: &Options) -> bool {
        let (shape, form) = match case {
            Case::Traversal { shape, form, .. } => (shape, form),
            Case::ShortestPaths { shape } => (shape, &Form::Sorted),
            Case::Memory => return !options.quick,
        };
        // A report limits the time of a case, `--rounds` does not.
        let is_short = options.limit.is_some_and(|limit| limit.time < Duration::MAX);
        !options.quick || (shape.vertices <= QUICK_VERTICES && !(is_short && *form == Form::Unsorted))
    }

    /// A full run has at least as many rounds as the papers: ten of the closures of figure 11, five
    /// of the others. If rounds are short, there are enough for an interval around ratios close to 1.
    fn effort(&self, case: &Case, options: &Options) -> Effort {
        let is_of_figure_11 = matches!(case, Case::Traversal { task: Task::Closure, form: Form::Sorted, .. });
        let at_least = if is_of_figure_11 { 10 } else { 5 };
        options.choose(
            Effort { rounds: 5, at_least: 1, time: Duration::from_millis(1_800) },
            Effort { rounds: 15, at_least, time: Duration::from_secs(20) },
        )
    }

    fn check(&self, _: &Options) -> Result<()> {
        self.bound.vouched().map(|_| ())
    }

    fn prepare(&mut self, _: &[Case], _: &Options) -> Result<()> {
        self.vouched = Some(self.bound.vouched()?);
        Ok(())
    }

    fn measure(&mut self, case: &Case, options: &Options, effort: Effort) -> Result<Vec<Series>> {
        let vouched = self.vouched.as_ref().context("the suite was not prepared")?;
        case.measure(&options.threads, effort, vouched)
    }

    fn introduction(&self, _: &Options) -> String {
        let left_out = match &self.vouched {
            Some(Err(why)) => format!("\n{} are left out: {why}.", contenders::NEED_BOUND.join(", ")),
            _ => String::new(),
        };
        format!(
            "nanoseconds per vertex, median and best of the rounds. A speed-up is relative to chase_lev on one thread, and that of\n\
             shortest paths to Dijkstra's algorithm, which is `serial` there.\n\
             Redundant: tasks, or visits of shortest paths, beyond one per vertex, with the most threads. Stolen: tasks that were\n\
             taken from another worker.\n\
             The owners of ff_the, ff_cl and thep rely on a bound and have no fence. Those of ff_the-untrusted, ff_cl-untrusted\n\
             and thep-untrusted rely on none: the first push after a pop is a full barrier.{left_out}"
        )
    }

    fn description(&self, case: &Case) -> String {
        case.description()
    }

    fn tables(&self, case: &Case, series: &[Series]) -> String {
        let table = match case {
            Case::Traversal { .. } | Case::ShortestPaths { .. } => table::table(series),
            Case::Memory => memory::table(series),
        };
        format!("\n{table}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::suite::tests::{options, selected};

    #[test]
    fn a_quick_run_has_a_large_graph_only_if_it_is_named() {
        let names = |quick, name: &str| selected(&Graphs::default(), quick, &[name]);
        assert_eq!(
            names(true, "closure/torus").unwrap(),
            ["closure/torus-250k", "closure/torus-250k/unsorted", "closure/torus-250k/pointers"]
        );
        assert_eq!(names(true, "closure/torus-4m/u").unwrap(), ["closure/torus-4m/unsorted"]);
        assert_eq!(names(false, "closure/torus").unwrap().len(), 9);
        let refusal = names(true, "bfs").unwrap_err();
        assert!(refusal.contains("no case begins with `bfs`; there are closure/kgraph-250k"), "{refusal}");
    }

    #[test]
    fn a_full_run_has_at_least_the_rounds_of_the_papers() {
        let rounds = |name: &str| {
            let case = cases::all().into_iter().find(|case| case.to_string() == name).unwrap();
            Graphs::default().effort(&case, &options(false, &[])).at_least
        };
        assert_eq!([rounds("closure/torus-4m"), rounds("closure/random-2m-6m")], [10; 2]);
        assert_eq!([rounds("closure/torus-4m/unsorted"), rounds("spanning-tree/torus-4m")], [5; 2]);
    }

    #[test]
    fn a_quick_run_has_each_traversal_of_each_family_and_a_full_run_has_everything() {
        let names = selected(&Graphs::default(), true, &[]).unwrap();
        assert_eq!(names.len(), 20);
        for name in [
            "shortest-paths/torus-250k",
            "closure/kgraph-250k",
            "spanning-tree/torus-250k/unsorted",
            "closure/random-250k-750k",
        ] {
            assert!(names.contains(&name.to_owned()), "{names:?}");
        }
        assert!(Graphs::default().effort(&Case::Memory, &options(true, &[])).time * 20 <= Duration::from_secs(36));
        assert_eq!(selected(&Graphs::default(), false, &[]).unwrap().len(), cases::all().len());
    }
}
