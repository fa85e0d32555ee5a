//! How much is measured: a quick run and a full one.

use std::time::Duration;

use super::cases::Kind;
use crate::bench::rounds::Effort;

/// How often a case is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    quick: bool,
}

impl Plan {
    /// For figures to publish: enough rounds for an interval around ratios close to 1.
    pub(crate) const FULL: Plan = Plan { quick: false };

    /// For a first look: the same programs, in fewer rounds.
    pub(crate) const QUICK: Plan = Plan { quick: true };

    /// What a program is told about its amount of work.
    pub(crate) fn amount(self) -> &'static str {
        if self.quick {
            "quick"
        } else {
            "full"
        }
    }

    /// How often both processes are started anew. Where a process happens to lie in memory can make it faster or slower for
    /// its whole life, and one pair of processes would show that as a difference between the cores.
    pub(crate) fn generations(self, kind: Kind) -> usize {
        match kind {
            // Each of its runs is a process of its own.
            Kind::Published(_) => 1,
            _ if self.quick => 1,
            _ => 5,
        }
    }

    /// How many rounds each generation has. An even number of them, where time counts: then both are first equally often.
    pub(crate) fn effort(self, kind: Kind) -> Effort {
        let exactly = |rounds| Effort { rounds, at_least: rounds, time: Duration::ZERO };
        match kind {
            // Single rounds of a second or so.
            Kind::Idle | Kind::Tick if self.quick => exactly(1),
            Kind::Published(_) if self.quick => exactly(2),
            Kind::Time(_) if self.quick => Effort { rounds: 4, at_least: 1, time: Duration::from_millis(400) },
            // No bar is close.
            Kind::Idle => exactly(1),
            Kind::Tick => exactly(3),
            Kind::Time(_) => exactly(4),
            Kind::Published(_) => exactly(16),
        }
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
            assert!(rounds >= 15 || case.kind == Kind::Idle, "{case}");
        }
    }
}
