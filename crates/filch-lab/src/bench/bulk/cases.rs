//! The cases: the operation, its size, and the contenders.

use std::fmt;
use std::thread;

use anyhow::Result;

use super::contenders::{Bulk, ChaseLev, Crossbeam, MutexDeque, Queue, StealShare};
use super::dag::{self, NodeCost};
use super::operations::{self, Fill};
use super::plan::Plan;
use super::theft::{Theft, TASKS};
use crate::bench::pin::Cores;
use crate::bench::rounds::{interleave, Runner};
use crate::figures::Series;

/// The unit of time per push, of a batch or of one task.
pub(crate) const NANOS_A_PUSH: &str = "ns/push";
/// The unit of time per pop of one task.
pub(crate) const NANOS_A_POP: &str = "ns/pop";
/// The unit of time per theft of a whole share.
pub(crate) const NANOS_A_STEAL: &str = "ns/steal";
/// The unit of stolen tasks per theft.
pub(crate) const TASKS_A_STEAL: &str = "tasks/steal";

/// The sizes of batches, as in the paper.
pub(crate) const BATCHES: [usize; 4] = [1, 128, 512, 1024];
/// The shares that are stolen, in hundredths, as in the paper.
pub(crate) const SHARES: [usize; 6] = [10, 20, 30, 40, 50, 60];
/// The sizes of the graphs and their names.
pub(crate) const GRAPHS: [(usize, &str); 3] = [(250_000, "250k"), (2_500_000, "2.5m"), (50_000_000, "50m")];

/// A case to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// A batch of this many tasks is pushed.
    Push(usize),
    /// One task is pushed.
    PushSingle,
    /// One task is popped.
    Pop(Fill),
    /// A share is stolen.
    Steal {
        /// The share in hundredths.
        percent: usize,
        /// How the tasks were pushed.
        fill: Fill,
        /// Whether the owner pops and pushes meanwhile.
        busy: bool,
    },
    /// A graph is explored.
    Dag {
        /// The cost of its nodes.
        cost: NodeCost,
        /// The number of nodes.
        nodes: usize,
        /// The name of the size.
        size: &'static str,
    },
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Case::Push(size) => write!(f, "push/{size}"),
            Case::PushSingle => f.write_str("push/single"),
            Case::Pop(fill) => write!(f, "pop{}", fill.suffix()),
            Case::Steal { percent, fill, busy } => {
                write!(f, "steal/{percent}%{}{}", fill.suffix(), if busy { "/busy" } else { "" })
            }
            Case::Dag { cost: NodeCost::Uniform, size, .. } => write!(f, "dag/uniform-{size}"),
            Case::Dag { cost: NodeCost::Skewed, size, .. } => write!(f, "dag/skewed-{size}"),
        }
    }
}

/// All cases, in the order in which they are measured and printed.
pub(crate) fn all() -> Vec<Case> {
    let mut cases: Vec<Case> = BATCHES.into_iter().map(Case::Push).collect();
    cases.push(Case::PushSingle);
    cases.extend(Fill::ALL.map(Case::Pop));
    for busy in [false, true] {
        for fill in Fill::ALL {
            cases.extend(SHARES.map(|percent| Case::Steal { percent, fill, busy }));
        }
    }
    for (nodes, size) in GRAPHS {
        cases.extend([NodeCost::Uniform, NodeCost::Skewed].map(|cost| Case::Dag { cost, nodes, size }));
    }
    cases
}

impl Case {
    /// A description of the case.
    pub(crate) fn description(self) -> String {
        match self {
            Case::Push(1) => "a push of a batch of 1 task, built in advance".to_owned(),
            Case::Push(size) => format!("a push of a batch of {size} tasks, built in advance"),
            Case::PushSingle => "a push of one task, ten thousand in a row".to_owned(),
            Case::Pop(fill) => format!("a pop, ten thousand in a row, of tasks pushed {}", fill.description()),
            Case::Steal { percent, fill, busy } => {
                let owner = if busy { "while the owner pops and pushes" } else { "while the owner waits" };
                format!("a theft of {percent} % of ten thousand tasks pushed {}, {owner}", fill.description())
            }
            Case::Dag { cost, size, .. } => {
                format!("an exploration of {size} nodes by workers that steal half; {}", dag::description(cost))
            }
        }
    }

    /// The smallest number of threads that the case needs.
    pub(crate) fn least_threads(self) -> usize {
        match self {
            Case::Steal { .. } => 2,
            _ => 1,
        }
    }

    /// Measures the case; graphs with 1 thread and with `threads`.
    pub(crate) fn measure(self, plan: &Plan, threads: usize) -> Result<Vec<Series>> {
        let name = self.to_string();
        match self {
            Case::Dag { cost, nodes, .. } => dag::measure(&name, nodes, cost, threads, plan.graph_effort(nodes)),
            Case::Push(size) => on_pinned_thread(Cores::pin_owner, |_| {
                let repeats = (plan.tasks / (32 * size)).clamp(8, 2_000);
                let runners = [
                    owner_runner::<Bulk>(move || operations::push_batch::<Bulk>(size, repeats)),
                    owner_runner::<Crossbeam>(move || operations::push_batch::<Crossbeam>(size, repeats)),
                    owner_runner::<MutexDeque>(move || operations::push_batch::<MutexDeque>(size, repeats)),
                    owner_runner::<ChaseLev>(move || operations::push_batch::<ChaseLev>(size, repeats)),
                ];
                interleave(&name, &[NANOS_A_PUSH], &runners, plan.effort)
            }),
            Case::PushSingle => on_pinned_thread(Cores::pin_owner, |_| {
                let repeats = (plan.tasks / TASKS).max(2);
                let runners = [
                    owner_runner::<Bulk>(move || operations::push_single::<Bulk>(TASKS, repeats)),
                    owner_runner::<Crossbeam>(move || operations::push_single::<Crossbeam>(TASKS, repeats)),
                    owner_runner::<MutexDeque>(move || operations::push_single::<MutexDeque>(TASKS, repeats)),
                    owner_runner::<ChaseLev>(move || operations::push_single::<ChaseLev>(TASKS, repeats)),
                ];
                interleave(&name, &[NANOS_A_PUSH], &runners, plan.effort)
            }),
            Case::Pop(fill) => on_pinned_thread(Cores::pin_owner, |_| {
                let repeats = (plan.tasks / TASKS).max(2);
                let runners = [
                    owner_runner::<Bulk>(move || operations::pop::<Bulk>(fill, TASKS, repeats)),
                    owner_runner::<Crossbeam>(move || operations::pop::<Crossbeam>(fill, TASKS, repeats)),
                    owner_runner::<MutexDeque>(move || operations::pop::<MutexDeque>(fill, TASKS, repeats)),
                    owner_runner::<ChaseLev>(move || operations::pop::<ChaseLev>(fill, TASKS, repeats)),
                ];
                interleave(&name, &[NANOS_A_POP], &runners, plan.effort)
            }),
            Case::Steal { percent, fill, busy } => on_pinned_thread(Cores::pin_thief, |cores| {
                let (theft, thefts) = (Theft { percent, fill, busy }, plan.thefts);
                let runners = [
                    thief_runner::<Bulk>(theft, thefts, cores),
                    thief_runner::<Crossbeam>(theft, thefts, cores),
                    thief_runner::<MutexDeque>(theft, thefts, cores),
                ];
                interleave(&name, &[NANOS_A_STEAL, TASKS_A_STEAL], &runners, plan.effort)
            }),
        }
    }
}

fn owner_runner<'a, Q: Queue>(measure: impl Fn() -> Result<f64> + 'a) -> Runner<'a> {
    Runner { name: Q::NAME, threads: 1, measure: Box::new(move || Ok(vec![measure()?])) }
}

fn thief_runner<'a, Q: StealShare>(theft: Theft, thefts: usize, cores: Cores) -> Runner<'a> {
    let measure = move || {
        let sample = theft.sample::<Q>(thefts, cores)?;
        Ok(vec![sample.nanos, sample.tasks])
    };
    Runner { name: Q::NAME, threads: 2, measure: Box::new(measure) }
}

/// Measures on a thread of its own, because the thread is pinned.
fn on_pinned_thread(
    pin: impl Fn(&Cores) -> bool + Sync,
    measure: impl FnOnce(Cores) -> Result<Vec<Series>> + Send,
) -> Result<Vec<Series>> {
    // Choose before any thread is pinned: a pinned thread sees one core.
    let cores = Cores::choose();
    let run = || {
        pin(&cores);
        measure(cores)
    };
    match thread::scope(|scope| scope.spawn(run).join()) {
        Ok(series) => series,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn cases_have_the_names_that_plots_know() {
        let names: BTreeSet<String> = all().iter().map(Case::to_string).collect();
        for name in [
            "push/1",
            "push/1024",
            "push/single",
            "pop",
            "pop/singles",
            "steal/10%",
            "steal/60%/singles",
            "steal/20%/batches-of-4/busy",
            "dag/uniform-2.5m",
            "dag/skewed-2.5m",
            "dag/skewed-50m",
        ] {
            assert!(names.contains(name), "{name} is not in {names:?}");
        }
        assert_eq!(names.len(), all().len());
    }
}
