//! How much is measured: a quick run and a full run.

use std::time::Duration;

use super::cases::Kind;
use crate::bench::rounds::{Effort, Limit};

/// The number of times that processes are restarted in a full run.
const GENERATIONS: usize = 5;

/// How often a case is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    quick: bool,
    /// The limit on rounds, for all cases.
    limit: Option<Limit>,
}

impl Plan {
    /// For published figures: enough rounds for an interval around ratios close to 1.
    pub(crate) const FULL: Plan = Plan { quick: false, limit: None };

    /// For a first look: the same programs, in fewer rounds.
    pub(crate) const QUICK: Plan = Plan { quick: true, limit: None };

    /// The same plan, with no more rounds than the limit allows. All generations share them.
    pub(crate) fn within(self, limit: Option<Limit>) -> Plan {
        Plan { limit, ..self }
    }

    /// The amount of work, as passed to a program.
    pub(crate) fn amount(self) -> &'static str {
        if self.quick {
            "quick"
        } else {
            "full"
        }
    }

    /// The number of generations: how often all processes are started anew.
    ///
    /// The place of a process in memory can make it faster or slower for its whole life. A single
    /// process of each kind would show that as a difference between the cores.
    pub(crate) fn generations(self, kind: Kind) -> usize {
        match kind {
            // Each of its runs is a process of its own.
            Kind::Published(_) => 1,
            _ if self.quick => 1,
            _ => self.limit.map_or(GENERATIONS, |limit| GENERATIONS.min(limit.rounds)),
        }
    }

    /// The rounds of each generation.
    ///
    /// For times, the number is even: of two processes, each is first equally often, and of three,
    /// each is first in six or seven of twenty rounds.
    pub(crate) fn effort(self, kind: Kind) -> Effort {
        let exactly = |rounds| Effort { rounds, at_least: rounds, time: Duration::ZERO };
        let effort = match kind {
            // Single rounds of about a second.
            Kind::Idle | Kind::Tick | Kind::Allocations if self.quick => exactly(1),
            Kind::Published(_) if self.quick => exactly(2),
            Kind::Calls(_) if self.quick => Effort { rounds: 4, at_least: 1, time: Duration::from_millis(250) },
            Kind::Time(_) if self.quick => Effort { rounds: 4, at_least: 1, time: Duration::from_millis(400) },
            // No claim is close, or every round has the same figure.
            Kind::Idle | Kind::Allocations => exactly(1),
            Kind::Tick => exactly(3),
            Kind::Time(_) | Kind::Calls(_) => exactly(4),
            Kind::Published(_) => exactly(16),
        };
        let share = |limit: Limit| Limit { rounds: limit.rounds / self.generations(kind), ..limit };
        effort.within(self.limit.map(share))
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases;
    use super::*;

    #[test]
    fn a_full_run_has_fifteen_rounds_where_a_ratio_may_be_close_to_one() {
        for case in cases::all() {
            let rounds = Plan::FULL.generations(case.kind) * Plan::FULL.effort(case.kind).at_least;
            assert!(rounds >= 15 || matches!(case.kind, Kind::Idle | Kind::Allocations), "{case}");
        }
    }

    #[test]
    fn generations_share_the_rounds_of_a_limit() {
        for most in [1, 3, 10, 1_000] {
            let plan = Plan::FULL.within(Some(Limit { rounds: most, time: Duration::MAX }));
            for case in cases::all() {
                let rounds = plan.generations(case.kind) * plan.effort(case.kind).rounds;
                assert!((1..=most).contains(&rounds), "{case}: {rounds} of {most}");
            }
        }
    }
}
