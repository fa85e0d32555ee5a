//! How much is measured: a quick run and a full run.

use std::time::Duration;

use super::cases::Case;
use super::programs::{Cholesky, Fft, Heat, Integrate, Jacobi, Knapsack, Lu, Matmul, Strassen};
use crate::bench::Limit;

/// Counts and sizes of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Whether this is a quick run.
    pub(super) quick: bool,
    /// The number of rounds wanted.
    pub(super) rounds: usize,
    /// The number of rounds that are made however long they take.
    pub(super) at_least: usize,
    /// The number of rounds of slow entrants.
    pub(super) slow_rounds: usize,
    /// The time limit of a case, apart from the rounds that are always made.
    pub(super) time: Duration,
    /// The time limit of further rounds of the closest pair after that.
    pub(super) pair_time: Duration,
}

impl Plan {
    /// For published figures.
    ///
    /// It has as many rounds for an interval around ratios close to 1 as fit in about an hour.
    pub(super) const FULL: Plan = Plan {
        quick: false,
        rounds: 15,
        at_least: 3,
        slow_rounds: 3,
        time: Duration::from_secs(150),
        pair_time: Duration::from_secs(60),
    };

    /// For a first look: smaller inputs, and at least one round of each case.
    pub(super) const QUICK: Plan = Plan {
        quick: true,
        rounds: 9,
        at_least: 1,
        slow_rounds: 2,
        time: Duration::from_millis(2_000),
        pair_time: Duration::from_millis(300),
    };

    /// The same plan, with no more rounds than the limit allows.
    pub(super) fn within(self, limit: Option<Limit>) -> Plan {
        let Some(Limit { rounds, time }) = limit else { return self };
        Plan {
            rounds: self.rounds.min(rounds),
            at_least: self.at_least.min(rounds),
            slow_rounds: self.slow_rounds.min(rounds),
            time: self.time.min(time),
            pair_time: self.pair_time.min(time),
            ..self
        }
    }

    /// All cases, in the order in which they are measured and printed.
    ///
    /// The programs of table 1 come first, in its order.
    pub(super) fn cases(&self) -> Vec<Case> {
        let of = |quick: Case, full: Case| if self.quick { quick } else { full };
        vec![
            of(Case::Fib(30), Case::Fib(42)),
            of(Case::Jacobi(Jacobi::QUICK), Case::Jacobi(Jacobi::FULL)),
            of(Case::Quicksort(100_000), Case::Quicksort(100_000_000)),
            of(Case::Matmul(Matmul::QUICK), Case::Matmul(Matmul::FULL)),
            of(Case::Integrate(Integrate::QUICK), Case::Integrate(Integrate::FULL)),
            of(Case::Knapsack(Knapsack::QUICK), Case::Knapsack(Knapsack::FULL)),
            of(Case::Cholesky(Cholesky::QUICK), Case::Cholesky(Cholesky::FULL)),
            of(Case::Heat(Heat::QUICK), Case::Heat(Heat::FULL)),
            of(Case::Lu(Lu::QUICK), Case::Lu(Lu::FULL)),
            of(Case::Strassen(Strassen::QUICK), Case::Strassen(Strassen::FULL)),
            of(Case::Fft(Fft::QUICK), Case::Fft(Fft::FULL)),
            of(Case::SmallUtsT1, Case::UtsT1),
            of(Case::SmallUtsT3, Case::UtsT3),
            of(Case::Queens(11), Case::Queens(13)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_rounds_of_a_quick_run_leave_time_for_the_others() {
        let cases = u32::try_from(Plan::QUICK.cases().len()).unwrap();
        let time = (Plan::QUICK.time + Plan::QUICK.pair_time) * cases;
        assert!(time < Duration::from_secs(35), "{time:?}");
    }

    #[test]
    fn a_full_run_takes_about_an_hour() {
        let cases = u32::try_from(Plan::FULL.cases().len()).unwrap();
        let time = (Plan::FULL.time + Plan::FULL.pair_time) * cases;
        assert!(time < Duration::from_secs(3_600), "{time:?}");
    }
}
