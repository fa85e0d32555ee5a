//! How much is measured: a quick run and a full run.

use std::time::Duration;

use super::cases::Case;
use crate::bench::rounds::{Effort, Limit};

/// Cases and rounds of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    quick: bool,
    /// The limit on rounds, for all cases.
    limit: Option<Limit>,
}

impl Plan {
    /// The plan of a run.
    pub(crate) fn new(quick: bool, limit: Option<Limit>) -> Plan {
        Plan { quick, limit }
    }

    /// Whether a case is measured if it is not asked for by name.
    pub(crate) fn includes(&self, case: &Case) -> bool {
        !self.quick || case.is_quick()
    }

    /// The rounds of a case.
    pub(crate) fn effort(&self) -> Effort {
        let effort = if self.quick {
            Effort { rounds: 7, at_least: 1, time: Duration::from_millis(3_500) }
        } else {
            Effort { rounds: 15, at_least: 5, time: Duration::from_secs(60) }
        };
        effort.within(self.limit)
    }

    /// The time limit of a run.
    pub(crate) fn limit(&self) -> Duration {
        Duration::from_secs(if self.quick { 10 } else { 120 })
    }
}
