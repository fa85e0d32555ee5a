//! How much is measured: quick, full, and with the largest graphs.

use std::time::Duration;

use super::cases::Case;
use super::operations::Fill;
use crate::bench::rounds::{Effort, Limit};

/// The largest graph, unless the largest graphs are asked for.
const USUAL_NODES: usize = 2_500_000;
/// A graph with fewer nodes than this is for a quick run.
const FEW_NODES: usize = 1_000_000;

/// Cases and rounds of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    quick: bool,
    /// Whether the largest graphs are measured.
    largest: bool,
    /// The limit on rounds, for all cases.
    limit: Option<Limit>,
    /// The rounds of short cases.
    pub(crate) effort: Effort,
    /// The approximate number of tasks in a sample of pushes or pops.
    pub(crate) tasks: usize,
    /// The number of thefts in a sample.
    pub(crate) thefts: usize,
}

impl Plan {
    /// The plan of a run.
    pub(crate) fn new(quick: bool, largest: bool) -> Plan {
        // Fifteen rounds are enough for an interval around ratios close to 1; six are the fewest
        // that give an interval.
        let (rounds, at_least, time) = if quick { (7, 3, 600) } else { (15, 15, 0) };
        Plan {
            quick,
            largest,
            limit: None,
            effort: Effort { rounds, at_least, time: Duration::from_millis(time) },
            tasks: if quick { 200_000 } else { 1_000_000 },
            thefts: if quick { 20 } else { 200 },
        }
    }

    /// The same plan, with no more rounds than the limit allows.
    pub(crate) fn within(self, limit: Option<Limit>) -> Plan {
        Plan { limit, effort: self.effort.within(limit), ..self }
    }

    /// Whether a case is measured if it is not asked for by name.
    ///
    /// A quick run has some of the shares, and leaves out batches of four under a busy owner.
    pub(crate) fn includes(&self, case: Case) -> bool {
        match case {
            Case::Dag { nodes, .. } if nodes < FEW_NODES => self.quick,
            Case::Dag { nodes, .. } => nodes <= USUAL_NODES || self.largest,
            Case::Steal { percent, fill, busy } if self.quick => {
                matches!(percent, 10 | 30 | 60) && !(busy && fill == Fill::BatchesOfFour)
            }
            _ => true,
        }
    }

    /// The rounds of a graph with this many nodes.
    pub(crate) fn graph_effort(&self, nodes: usize) -> Effort {
        let (rounds, at_least, seconds) = match (self.quick, nodes > USUAL_NODES) {
            (true, _) if nodes < FEW_NODES => (7, 3, 2),
            (true, _) => (3, 1, 6),
            (false, false) => (15, 5, 120),
            (false, true) => (5, 3, 300),
        };
        Effort { rounds, at_least, time: Duration::from_secs(seconds) }.within(self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases;
    use super::*;

    fn count(plan: Plan) -> usize {
        cases::all().into_iter().filter(|&case| plan.includes(case)).count()
    }

    #[test]
    fn the_largest_graphs_are_measured_only_on_request() {
        assert_eq!(count(Plan::new(false, true)), cases::all().len() - 2);
        assert_eq!(count(Plan::new(false, false)), cases::all().len() - 4);
    }

    #[test]
    fn a_quick_run_has_every_operation_and_the_ends_of_every_row() {
        let plan = Plan::new(true, false);
        let names: Vec<String> =
            cases::all().into_iter().filter(|&case| plan.includes(case)).map(|case| case.to_string()).collect();
        for name in ["push/1024", "pop", "steal/10%", "steal/60%", "steal/60%/singles/busy", "dag/skewed-2.5m"] {
            assert!(names.contains(&name.to_owned()), "{name} is not in {names:?}");
        }
        assert!(!names.contains(&"steal/20%".to_owned()));
    }
}
