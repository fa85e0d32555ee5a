//! The `graphs` suite: closure and spanning tree of large graphs, on all queues and peers.
//!
//! Every sample starts a pool of its own, ends it, and is timed from inside. Threads are not
//! pinned: the runtime and the operating system place them, as they do for users. The memory for
//! each vertex is allocated before, and all contenders use the same memory.

mod cases;
mod claims;
mod contenders;
mod memory;
mod plan;
mod problems;
mod setup;
mod table;

use std::fmt::Write;

use anyhow::Result;

use super::{select_cases, Measured, Options};
use crate::watch;
use plan::Plan;

pub(crate) use cases::{Case, Family, Task};
pub(crate) use claims::{closure_ratio, graph_case, verdicts, FAMILIES, IDEMPOTENT};
pub(crate) use setup::{NANOS_A_VERTEX, REDUNDANT, STOLEN};

/// The suite's name.
pub(crate) const SUITE: &str = "graphs";

/// Runs the suite. The calling thread must not be pinned: pools inherit its affinity.
pub(crate) fn run(options: &Options) -> Result<Measured> {
    let plan = if options.quick { Plan::QUICK } else { Plan::FULL }.within(options.limit);
    let cases = cases_to_measure(&plan, &options.cases)?;

    let mut text = String::new();
    let speed = if options.quick { "quick" } else { "full" };
    writeln!(
        text,
        "Suite {SUITE}, {speed}: nanoseconds per vertex, median and best of the rounds. A speed-up is relative to chase_lev on one thread.\n\
         Redundant: tasks beyond one per vertex, with the most threads. Stolen: tasks that were taken from another worker."
    )?;
    let mut all = Vec::new();
    for &case in watch::each(&cases) {
        let series = case.measure(&plan, options.threads)?;
        let rounds = series.iter().map(|series| series.samples.len()).max().unwrap_or(0);
        writeln!(
            text,
            "\n{case}: {}. {rounds} {}.\n",
            case.description(),
            if rounds == 1 { "round" } else { "rounds" }
        )?;
        text.push_str(&match case {
            Case::Traversal { .. } => table::table(&series),
            Case::Memory => memory::table(&series),
        });
        watch::keep(SUITE, &series);
        all.extend(series);
    }
    Ok(Measured { series: all, text })
}

/// The cases whose names were given, or those of the plan.
fn cases_to_measure(plan: &Plan, names: &[String]) -> Result<Vec<Case>> {
    if names.is_empty() {
        return Ok(plan.cases());
    }
    let mut selected = select_cases(cases::all(), names)?;
    // A quick run leaves out large cases, unless the given names match nothing else.
    if selected.iter().any(|&case| plan.includes(case)) {
        selected.retain(|&case| plan.includes(case));
    }
    Ok(selected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_run_has_a_large_graph_only_if_it_is_named() {
        let names = |plan: &Plan, name: &str| -> Vec<String> {
            cases_to_measure(plan, &[name.to_owned()]).unwrap().iter().map(Case::to_string).collect()
        };
        assert_eq!(names(&Plan::QUICK, "closure/torus"), ["closure/torus-250k", "closure/torus-250k/unsorted"]);
        assert_eq!(names(&Plan::QUICK, "closure/torus-4m/"), ["closure/torus-4m/unsorted"]);
        assert_eq!(names(&Plan::FULL, "closure/torus").len(), 6);
        let refusal = cases_to_measure(&Plan::QUICK, &["bfs".to_owned()]).unwrap_err().to_string();
        assert!(refusal.contains("no case begins with `bfs`; there are closure/kgraph-250k"), "{refusal}");
    }
}
