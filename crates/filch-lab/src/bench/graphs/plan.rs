//! How much is measured: a quick run and a full run.

use std::time::Duration;

use super::cases::{self, Case};
use crate::bench::rounds::{Effort, Limit};

/// The largest graph of a quick run.
const QUICK_VERTICES: usize = 250_000;

/// Cases and rounds of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    quick: bool,
    /// The limit on rounds, for all cases.
    limit: Option<Limit>,
}

impl Plan {
    /// For published figures.
    pub(crate) const FULL: Plan = Plan { quick: false, limit: None };

    /// For a first look: the smallest graphs, in fewer rounds.
    pub(crate) const QUICK: Plan = Plan { quick: true, limit: None };

    /// The same plan, with no more rounds than the limit allows.
    pub(crate) fn within(self, limit: Option<Limit>) -> Plan {
        Plan { limit, ..self }
    }

    /// Whether a case is measured if it is not asked for by name.
    pub(crate) fn includes(&self, case: Case) -> bool {
        let small = matches!(case, Case::Traversal { shape, .. } if shape.vertices <= QUICK_VERTICES);
        !self.quick || small
    }

    /// The cases that are measured if none is asked for by name.
    pub(crate) fn cases(&self) -> Vec<Case> {
        cases::all().into_iter().filter(|&case| self.includes(case)).collect()
    }

    /// The rounds of a case.
    ///
    /// There are at least as many as in the paper. If rounds are short, there are enough for an
    /// interval around ratios close to 1.
    pub(crate) fn effort(&self) -> Effort {
        let effort = if self.quick {
            Effort { rounds: 5, at_least: 1, time: Duration::from_millis(2_500) }
        } else {
            Effort { rounds: 15, at_least: 5, time: Duration::from_secs(20) }
        };
        effort.within(self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_run_has_both_traversals_of_each_family() {
        let names: Vec<String> = Plan::QUICK.cases().iter().map(Case::to_string).collect();
        assert_eq!(names.len(), 12);
        for name in ["closure/kgraph-250k", "spanning-tree/torus-250k/unsorted", "closure/random-250k-750k"] {
            assert!(names.contains(&name.to_owned()), "{names:?}");
        }
        assert!(Plan::QUICK.effort().time * 12 <= Duration::from_secs(30));
    }

    #[test]
    fn a_full_run_has_everything() {
        assert_eq!(Plan::FULL.cases(), cases::all());
    }
}
