//! How much is measured: a quick run and a full run.

use std::time::Duration;

use super::cases::{Case, WIDTHS};
use crate::bench::cpu;
use crate::bench::rounds::{Effort, Limit};
use crate::bench::work::Shape;

/// The shortest time limit that is enough for a few long rounds.
///
/// With less time, more rounds that are shorter give better figures.
const FEW_LONG_ROUNDS: Duration = Duration::from_secs(30);

/// Counts and sizes of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Whether this is a quick run.
    quick: bool,
    /// The limit on rounds, for all cases.
    limit: Option<Limit>,
    /// The approximate number of joins in a sample. A tree is summed repeatedly to reach it.
    pub(crate) joins_a_sample: u64,
    /// Runs per sample, each after a gap.
    pub(crate) gaps: usize,
    /// The time for which an idle pool is watched.
    pub(crate) watch: Duration,
    /// Ticks per sample.
    pub(crate) ticks: u32,
    /// Wake-ups per sample.
    pub(crate) wakes: usize,
    /// The time for which a pool is idle before it is woken.
    pub(crate) pause: Duration,
    /// The numbers of workers for programs whose leaves sleep.
    pub(crate) widths: &'static [usize],
    /// The number of leaves per worker in such a program.
    pub(crate) leaves_a_worker: usize,
}

impl Plan {
    /// For published figures: enough rounds for an interval around ratios close to 1.
    pub(crate) const FULL: Plan = Plan {
        quick: false,
        limit: None,
        joins_a_sample: 2_000_000,
        gaps: 60,
        watch: Duration::from_secs(1),
        ticks: 100,
        wakes: 40,
        pause: Duration::from_millis(5),
        widths: &WIDTHS,
        leaves_a_worker: 24,
    };

    /// For a first look: the same cases, in fewer rounds. Wide cases have fewer workers.
    pub(crate) const QUICK: Plan = Plan {
        quick: true,
        limit: None,
        joins_a_sample: 500_000,
        gaps: 30,
        watch: Duration::from_secs(1),
        ticks: 60,
        wakes: 20,
        pause: Duration::from_millis(3),
        widths: &[WIDTHS[0]],
        leaves_a_worker: 4,
    };

    /// The same plan, with no more rounds than the limit allows.
    pub(crate) fn within(self, limit: Option<Limit>) -> Plan {
        Plan { limit, ..self }
    }

    /// All cases, in the order in which they are measured and printed.
    ///
    /// Cases that need figures unknown to the operating system are left out.
    pub(crate) fn cases(&self) -> Vec<Case> {
        let mut cases = vec![
            // A round of fib-38 takes 8 seconds for all contenders. That is too long for enough
            // rounds in one suite of several.
            Case::Fib(if self.limit.is_some_and(|limit| limit.time < FEW_LONG_ROUNDS) { 34 } else { 38 }),
            Case::Tree { layers: 10 },
            Case::Tree { layers: 15 },
            Case::TreeAfterGaps { layers: 15 },
            Case::Tree { layers: 24 },
            Case::Queens(13),
            // Ten million numbers would take half of a quick run.
            Case::Quicksort { millions: if self.quick { 1 } else { 10 } },
            Case::Skewed,
            Case::Idle,
            Case::Tick,
            Case::TickSerial,
            Case::Wake,
        ];
        cases.extend(Shape::ALL.map(Case::Wide));
        cases.retain(|case| cpu::IS_SUPPORTED || !case.needs_cpu_time());
        cases
    }

    /// The rounds of a case.
    pub(crate) fn effort(&self, case: Case) -> Effort {
        self.unlimited(case).within(self.limit)
    }

    fn unlimited(&self, case: Case) -> Effort {
        let seconds = Duration::from_secs;
        if self.quick {
            let time = match case {
                Case::Fib(_) => seconds(13),
                Case::Tree { layers: 16.. } => seconds(5),
                // A single round, which takes a second for each contender.
                Case::Idle => seconds(0),
                Case::TreeAfterGaps { .. } => seconds(2),
                Case::Queens(_) => Duration::from_millis(3_500),
                Case::Wide(_) => Duration::from_millis(120),
                _ => Duration::from_millis(1_500),
            };
            return Effort { rounds: 7, at_least: 1, time };
        }
        match case {
            // No claim is close, and a round is long.
            Case::Quicksort { .. } => Effort { rounds: 5, at_least: 3, time: seconds(30) },
            Case::Idle => Effort { rounds: 5, at_least: 5, time: seconds(0) },
            _ => Effort { rounds: 15, at_least: 15, time: seconds(0) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_run_has_fifteen_rounds_where_a_ratio_may_be_close_to_one() {
        for case in Plan::FULL.cases() {
            let far = matches!(case, Case::Quicksort { .. } | Case::Idle);
            assert!(far || Plan::FULL.effort(case).at_least >= 15, "{case}");
        }
    }

    #[test]
    fn optional_rounds_of_a_quick_run_leave_time_for_the_others() {
        let time: Duration = Plan::QUICK.cases().into_iter().map(|case| Plan::QUICK.effort(case).time).sum();
        assert!(time < Duration::from_secs(35), "{time:?}");
    }

    #[test]
    fn a_short_time_limit_gives_a_smaller_fib_and_more_rounds() {
        let limit = Limit { rounds: 7, time: Duration::from_secs(5) };
        let plan = Plan::QUICK.within(Some(limit));
        assert_eq!(plan.cases()[0], Case::Fib(34));
        assert_eq!(plan.effort(Case::Fib(34)).rounds, 7);
        assert_eq!(plan.effort(Case::Fib(34)).time, limit.time);
        let few = Plan::FULL.within(Some(Limit { rounds: 2, time: Duration::MAX }));
        assert_eq!((few.cases(), few.effort(Case::Fib(38)).at_least), (Plan::FULL.cases(), 2));
    }

    #[test]
    fn only_the_sort_has_another_name_in_a_quick_run() {
        let (quick, full) = (Plan::QUICK.cases(), Plan::FULL.cases());
        assert_eq!(quick.len(), full.len());
        for (quick, full) in quick.iter().zip(&full) {
            assert!(quick == full || quick.to_string() == "quicksort-1m", "{quick}, {full}");
        }
    }

    #[test]
    fn a_quick_run_has_the_fewest_of_the_workers_that_a_full_run_has() {
        assert_eq!(Plan::FULL.widths, WIDTHS);
        assert_eq!(Plan::QUICK.widths, [WIDTHS[0]]);
    }
}
