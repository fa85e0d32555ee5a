//! How much is measured: a quick run and a full run.

use std::time::Duration;

use super::cases::{Case, BURST};
use crate::bench::Options;

/// Counts of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The number of tasks in the cases that fill a queue.
    pub(crate) tasks: usize,
    /// Steals per sample.
    pub(crate) steals: usize,
    /// Steals per sample if each is a system call.
    pub(crate) expensive_steals: usize,
    /// Bursts per sample, with tasks that cost nothing.
    pub(crate) bursts: usize,
    /// Bursts per sample while a thief steals.
    pub(crate) bursts_under_theft: usize,
    /// The approximate time limit of a sample of the limit study.
    pub(crate) time_a_sample: Duration,
}

impl Plan {
    /// For published figures.
    const FULL: Plan = Plan {
        tasks: 10_000_000,
        steals: 1_000_000,
        expensive_steals: 20_000,
        bursts: 30_000,
        bursts_under_theft: 20_000,
        time_a_sample: Duration::from_millis(5),
    };

    /// For a first look.
    const QUICK: Plan = Plan {
        tasks: 1_000_000,
        steals: 100_000,
        expensive_steals: 1_000,
        bursts: 5_000,
        bursts_under_theft: 3_000,
        time_a_sample: Duration::from_millis(2),
    };

    /// The plan of a run.
    pub(crate) fn of(options: &Options) -> Plan {
        options.choose(Plan::QUICK, Plan::FULL)
    }

    /// The number of bursts in a sample, if each task costs `nanos`.
    pub(crate) fn bursts_of(&self, nanos: u64) -> usize {
        // No queue here takes less than about a nanosecond for a push and a pop.
        let burst = (nanos + 1).saturating_mul(BURST as u64);
        let affordable = self.time_a_sample.as_nanos() / u128::from(burst);
        usize::try_from(affordable).unwrap_or(usize::MAX).clamp(1, self.bursts)
    }

    /// All cases, in the order in which they are measured and printed.
    pub(crate) fn cases(threads: usize, task_costs: &[u64]) -> Vec<Case> {
        let mut cases =
            vec![Case::Burst, Case::BurstByReference, Case::PushThenPop, Case::PushGrow, Case::PopOnly, Case::Steal];
        if threads >= 2 {
            cases.push(Case::PushUnderTheft);
        }
        for &cost in task_costs {
            let case = Case::TaskCost(cost);
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
        cases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expensive_tasks_come_in_fewer_bursts() {
        let plan = Plan::FULL;
        assert_eq!(plan.bursts_of(0), plan.bursts);
        assert!(plan.bursts_of(1_000) < plan.bursts_of(100));
        assert_eq!(plan.bursts_of(u64::MAX - 1), 1);
    }

    #[test]
    fn a_cost_given_twice_is_measured_once() {
        let cases = Plan::cases(2, &[10, 0, 10]);
        assert!(cases.ends_with(&[Case::PushUnderTheft, Case::TaskCost(10), Case::TaskCost(0)]));
    }

    #[test]
    fn one_thread_leaves_out_the_case_with_a_thief() {
        assert!(Plan::cases(2, &[]).contains(&Case::PushUnderTheft));
        assert!(!Plan::cases(1, &[]).contains(&Case::PushUnderTheft));
    }
}
