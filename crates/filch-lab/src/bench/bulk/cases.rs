//! The cases: the operation, its size, and the contenders.

use std::fmt;

use anyhow::Result;

use super::contenders::{Bulk, ChaseLev, Crossbeam, MutexDeque, Queue, StealShare};
use super::dag::{self, NodeCost};
use super::operations::{self, Fill};
use super::published::Published;
use super::theft::{Theft, TASKS};
use super::thieves::{BulkTryLock, Emptying, ManyThieves, FEW, ONE_IN};
use crate::bench::pin::{on_pinned_thread, Cores};
use crate::bench::rounds::{interleave, Effort, Runner};
use crate::bench::Options;
use crate::figures::Series;

/// The unit of time per push, of a batch or of one task.
pub(crate) const NANOS_A_PUSH: &str = "ns/push";
/// The unit of time per pop of one task.
pub(crate) const NANOS_A_POP: &str = "ns/pop";
/// The unit of time per theft of a whole share.
pub(crate) const NANOS_A_STEAL: &str = "ns/steal";
/// The unit of stolen tasks per theft.
pub(crate) const TASKS_A_STEAL: &str = "tasks/steal";
/// The unit of time per task of queues that several thieves empty.
pub(crate) const NANOS_A_TASK: &str = "ns/task";
/// The unit of attempts for each steal that succeeds.
pub(crate) const ATTEMPTS_A_STEAL: &str = "attempts/steal";
/// The unit of attempts without tasks that no other thief explains.
pub(crate) const REFUSED: &str = "refused";

/// The sizes of batches, as in the paper.
pub(crate) const BATCHES: [usize; 4] = [1, 128, 512, 1024];
/// The shares that are stolen, in hundredths, as in the paper.
pub(crate) const SHARES: [usize; 6] = [10, 20, 30, 40, 50, 60];
/// The numbers of thieves that steal from one queue at the same time.
const THIEVES: [usize; 2] = [2, 4];
/// How queues for several thieves are filled: one piece of memory, or many.
const FILLS_FOR_THIEVES: [Fill; 2] = [Fill::Batch, Fill::BatchesOfHundred];
/// The sizes of the graphs.
const GRAPHS: [usize; 3] = [250_000, 2_500_000, 50_000_000];

/// The name of a size, such as `250k` or `2.5m`.
fn size_name(nodes: usize) -> String {
    match nodes {
        nodes if nodes >= 1_000_000 && nodes % 100_000 == 0 => format!("{}m", nodes as f64 / 1e6),
        nodes if nodes % 1_000 == 0 => format!("{}k", nodes / 1_000),
        nodes => nodes.to_string(),
    }
}

/// The number of nodes with this name.
pub(crate) fn parse_nodes(name: &str) -> Option<usize> {
    let (number, unit) = match (name.strip_suffix('m'), name.strip_suffix('k')) {
        (Some(millions), _) => (millions, 1e6),
        (None, Some(thousands)) => (thousands, 1e3),
        (None, None) => (name, 1.0),
    };
    Some((number.parse::<f64>().ok()? * unit).round() as usize)
}

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
    /// Several thieves empty a queue at the same time.
    Thieves(Emptying),
    /// A graph is explored.
    Dag {
        /// The cost of its nodes.
        cost: NodeCost,
        /// The number of nodes.
        nodes: usize,
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
            Case::Thieves(Emptying { thieves, fill, busy }) => {
                write!(f, "thieves/{thieves}{}{}", fill.suffix(), if busy { "/busy" } else { "" })
            }
            Case::Dag { cost: NodeCost::Uniform, nodes } => write!(f, "dag/uniform-{}", size_name(nodes)),
            Case::Dag { cost: NodeCost::Skewed, nodes } => write!(f, "dag/skewed-{}", size_name(nodes)),
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
    cases.extend(emptyings().map(Case::Thieves));
    cases.extend(GRAPHS.into_iter().flat_map(graphs));
    cases
}

/// Whether a quick run measures the steal of a share.
pub(crate) fn is_quick_steal(percent: usize, fill: Fill, busy: bool) -> bool {
    matches!(percent, 10 | 30 | 60) && !(busy && fill == Fill::BatchesOfFour)
}

/// The cases with several thieves, those with an idle owner first.
pub(crate) fn emptyings() -> impl Iterator<Item = Emptying> {
    let of = |busy| THIEVES.into_iter().map(move |thieves| (thieves, busy));
    let both = [false, true].into_iter().flat_map(of);
    both.flat_map(|(thieves, busy)| FILLS_FOR_THIEVES.map(|fill| Emptying { thieves, fill, busy }))
}

/// The cases of one size of graph.
pub(crate) fn graphs(nodes: usize) -> [Case; 2] {
    [NodeCost::Uniform, NodeCost::Skewed].map(|cost| Case::Dag { cost, nodes })
}

impl Case {
    /// Whether the case has an owner and thieves, so that it needs two threads.
    pub(crate) fn has_thieves(self) -> bool {
        matches!(self, Case::Steal { .. } | Case::Thieves(_))
    }

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
            Case::Thieves(Emptying { thieves, fill, busy }) => {
                let owner = if busy { "while the owner pops and pushes" } else { "while the owner is idle" };
                format!(
                    "ten thousand tasks pushed {}, of which {thieves} thieves steal one in {ONE_IN} at a time until \
                     fewer than {FEW} are left, {owner}",
                    fill.description()
                )
            }
            Case::Dag { cost, nodes } => {
                let size = size_name(nodes);
                format!("an exploration of {size} nodes by workers that steal half; {}", dag::description(cost))
            }
        }
    }

    /// Measures the case; graphs with 1 thread and with more.
    pub(crate) fn measure(self, options: &Options, effort: Effort) -> Result<Vec<Series>> {
        let name = self.to_string();
        // The approximate number of tasks in a sample of pushes or pops.
        let tasks = options.choose(200_000, 1_000_000);
        let repeats = (tasks / TASKS).max(2);
        // Runners of all queues, each measured by the function of `operations` with this name.
        macro_rules! measure_owner {
            ($unit:expr, $operation:ident, $($argument:expr),+) => {
                on_pinned_thread(Cores::pin_owner, |_| {
                    let runners = [
                        owner_runner::<Bulk>(move || operations::$operation::<Bulk>($($argument),+)),
                        owner_runner::<Crossbeam>(move || operations::$operation::<Crossbeam>($($argument),+)),
                        owner_runner::<MutexDeque>(move || operations::$operation::<MutexDeque>($($argument),+)),
                        owner_runner::<ChaseLev>(move || operations::$operation::<ChaseLev>($($argument),+)),
                        owner_runner::<Published<false>>(move || {
                            operations::$operation::<Published<false>>($($argument),+)
                        }),
                    ];
                    interleave(&name, &[$unit], &runners, effort)
                })
            };
        }
        match self {
            Case::Push(size) => {
                let repeats = (tasks / (32 * size)).clamp(8, 2_000);
                measure_owner!(NANOS_A_PUSH, push_batch, size, repeats)
            }
            Case::PushSingle => measure_owner!(NANOS_A_PUSH, push_single, TASKS, repeats),
            Case::Pop(fill) => measure_owner!(NANOS_A_POP, pop, fill, TASKS, repeats),
            Case::Steal { percent, fill, busy } => on_pinned_thread(Cores::pin_thief, |cores| {
                let (theft, thefts) = (Theft { percent, fill, busy }, options.choose(20, 200));
                let mut runners = vec![
                    thief_runner::<Bulk>(theft, thefts, cores),
                    thief_runner::<Crossbeam>(theft, thefts, cores),
                    thief_runner::<MutexDeque>(theft, thefts, cores),
                ];
                // It returns tasks twice if its owner pops during a steal. Its list is the same after
                // every fill.
                if !busy && fill == Fill::Batch {
                    runners.push(thief_runner::<Published<false>>(theft, thefts, cores));
                    runners.push(thief_runner::<Published<true>>(theft, thefts, cores));
                }
                interleave(&name, &[NANOS_A_STEAL, TASKS_A_STEAL], &runners, effort)
            }),
            Case::Thieves(emptying) => {
                let queues = options.choose(100, 300);
                let runners = [
                    thieves_runner::<Bulk>(emptying, queues),
                    thieves_runner::<BulkTryLock>(emptying, queues),
                    thieves_runner::<Crossbeam>(emptying, queues),
                    thieves_runner::<MutexDeque>(emptying, queues),
                ];
                interleave(&name, &[NANOS_A_TASK, ATTEMPTS_A_STEAL, REFUSED], &runners, effort)
            }
            Case::Dag { cost, nodes, .. } => dag::measure(&name, nodes, cost, &options.threads, effort),
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

fn thieves_runner<'a, Q: ManyThieves>(emptying: Emptying, queues: usize) -> Runner<'a> {
    let measure = move || {
        let sample = emptying.sample::<Q>(queues)?;
        Ok(vec![sample.nanos, sample.attempts, sample.refused])
    };
    Runner { name: Q::NAME, threads: emptying.threads(), measure: Box::new(measure) }
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
            "thieves/4",
            "thieves/2/batches-of-100",
            "thieves/4/batches-of-100/busy",
            "dag/uniform-2.5m",
            "dag/skewed-2.5m",
            "dag/skewed-50m",
        ] {
            assert!(names.contains(name), "{name} is not in {names:?}");
        }
        assert_eq!(names.len(), all().len());
    }

    #[test]
    fn sizes_of_graphs_have_names_and_the_names_have_sizes() {
        let names = [250_000, 2_500_000, 300_000_000, 1_000_000, 1_234_567, 2_300_000, 1_500].map(size_name);
        assert_eq!(names, ["250k", "2.5m", "300m", "1m", "1234567", "2.3m", "1500"]);
        for nodes in [250_000, 2_300_000, 300_000_000, 1_234_567] {
            assert_eq!(parse_nodes(&size_name(nodes)), Some(nodes));
        }
        assert_eq!(parse_nodes("many"), None);
    }
}
