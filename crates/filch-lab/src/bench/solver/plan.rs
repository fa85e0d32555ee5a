//! How much is measured: a quick run and a full one.

use std::time::Duration;

use super::cases::Case;
use crate::bench::rounds::{Effort, Limit};

/// Cases and rounds of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    quick: bool,
    /// The most rounds, whatever the case.
    limit: Option<Limit>,
}

impl Plan {
    /// The plan of a run.
    pub(crate) fn new(quick: bool, limit: Option<Limit>) -> Plan {
        Plan { quick, limit }
    }

    /// Whether a case is measured by who did not ask for it by name.
    pub(crate) fn includes(&self, case: &Case) -> bool {
        !self.quick || case.is_quick()
    }

    /// How many rounds of a case.
    pub(crate) fn effort(&self) -> Effort {
        let effort = if self.quick {
            Effort { rounds: 7, at_least: 1, time: Duration::from_millis(3_500) }
        } else {
            Effort { rounds: 15, at_least: 5, time: Duration::from_secs(60) }
        };
        effort.within(self.limit)
    }

    /// How long a run may take.
    pub(crate) fn limit(&self) -> Duration {
        Duration::from_secs(if self.quick { 10 } else { 120 })
    }
}
