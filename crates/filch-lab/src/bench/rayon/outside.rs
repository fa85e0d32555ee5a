//! The cases of calls from outside the pool, and the figures of a call.

use anyhow::{Context, Result};

use super::cases::{Unit, CPU_MICROS_A_CALL, MICROS_A_CALL, NANOS_A_CALL, P99_MICROS_A_CALL};
use super::child::Answer;
use crate::bench::cpu;

/// The prefix of the names of these cases.
pub(crate) const PREFIX: &str = "outside/";

/// The statistic of the calls of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Statistic {
    /// Time of the round per call.
    Mean,
    /// The median of calls that are timed one by one.
    Median,
    /// The time that 99 of 100 calls do not exceed.
    P99,
    /// CPU time of the process per call.
    Cpu,
}

/// A figure of a round of calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) unit: Unit,
    statistic: Statistic,
}

impl Figure {
    const fn new(statistic: Statistic, unit: Unit) -> Figure {
        Figure { unit, statistic }
    }

    /// Whether the operating system reports what the figure needs.
    pub(crate) fn is_supported(&self) -> bool {
        cpu::IS_SUPPORTED || self.statistic != Statistic::Cpu
    }

    /// The figure of a round, in its unit.
    pub(crate) fn of(&self, answer: &Answer) -> Result<f64> {
        let calls = || answer.calls.context("the program did not time its calls one by one");
        let nanos = match self.statistic {
            Statistic::Mean => answer.nanos / answer.operations,
            Statistic::Median => calls()?.median_nanos,
            Statistic::P99 => calls()?.p99_nanos,
            Statistic::Cpu => answer.cpu_nanos / answer.operations,
        };
        Ok(nanos / self.unit.nanos)
    }
}

const MEAN_NANOS: Figure = Figure::new(Statistic::Mean, NANOS_A_CALL);
const MEAN_MICROS: Figure = Figure::new(Statistic::Mean, MICROS_A_CALL);
const MEDIAN_NANOS: Figure = Figure::new(Statistic::Median, NANOS_A_CALL);
const MEDIAN_MICROS: Figure = Figure::new(Statistic::Median, MICROS_A_CALL);
const P99: Figure = Figure::new(Statistic::P99, P99_MICROS_A_CALL);
const CPU: Figure = Figure::new(Statistic::Cpu, CPU_MICROS_A_CALL);

/// A case: its name, the figures of its calls, and its description.
type Described = (&'static str, &'static [Figure], &'static str);

/// All cases, in the order in which they are measured and printed.
pub(super) const CASES: [Described; 17] = [
    (
        "outside/small-50",
        &[MEAN_NANOS, CPU],
        "a parallel iterator over 50 elements, called from outside the pool, call after call",
    ),
    ("outside/small-50-after-100us", &[MEDIAN_NANOS], "the same call after a pause of 100 us"),
    (
        "outside/small-50-after-1ms",
        &[MEDIAN_NANOS, CPU],
        "the same call after a pause of 1 ms; the CPU time includes that of the pause",
    ),
    ("outside/small-50-after-5ms", &[MEDIAN_NANOS], "the same call after a pause of 5 ms"),
    (
        "outside/join-empty",
        &[MEAN_NANOS],
        "a join of two closures that do nothing, called from outside, call after call",
    ),
    ("outside/join-empty-after-100us", &[MEDIAN_NANOS], "the same call after a pause of 100 us"),
    ("outside/join-empty-after-1ms", &[MEDIAN_NANOS], "the same call after a pause of 1 ms"),
    ("outside/join-empty-after-5ms", &[MEDIAN_NANOS], "the same call after a pause of 5 ms"),
    (
        "outside/join-20us",
        &[MEDIAN_MICROS, P99],
        "a join of two closures of about 20 us each, called from outside, call after call",
    ),
    ("outside/join-200us", &[MEDIAN_MICROS, P99], "the same with closures of about 200 us"),
    ("outside/join-2ms", &[MEDIAN_MICROS, P99], "the same with closures of about 2 ms"),
    ("outside/join-200us-after-1ms", &[MEDIAN_MICROS], "closures of about 200 us, after a pause of 1 ms"),
    ("outside/join-2ms-after-1ms", &[MEDIAN_MICROS], "closures of about 2 ms, after a pause of 1 ms"),
    (
        "outside/callers-4-small-50",
        &[MEAN_NANOS],
        "four threads outside the pool that add up 50 elements at the same time; the time is divided by the calls of all four",
    ),
    ("outside/callers-4-join-200us", &[MEAN_MICROS], "the same with joins of two closures of about 200 us"),
    (
        "outside/pool-with-handlers",
        &[MEAN_NANOS],
        "a parallel iterator over 50 elements, installed in a pool with start and exit handlers and stacks of 4 MiB",
    ),
    ("outside/sum-200k", &[MEAN_MICROS], "the sum of 200,000 numbers, called from outside, call after call"),
];

#[cfg(test)]
mod tests {
    use super::super::child::Calls;
    use super::*;

    #[test]
    fn every_case_is_selected_by_the_same_prefix_and_has_units_of_its_own() {
        for (name, figures, _) in CASES {
            assert!(name.starts_with(PREFIX), "{name}");
            assert!(!figures.is_empty(), "{name}");
            for (place, figure) in figures.iter().enumerate() {
                assert!(figures[..place].iter().all(|earlier| earlier.unit.name != figure.unit.name), "{name}");
            }
        }
    }

    #[test]
    fn a_figure_is_per_call_or_a_statistic_of_single_calls() {
        let calls = Some(Calls { median_nanos: 2_000.0, p99_nanos: 9_000.0 });
        let answer =
            Answer { nanos: 10_000.0, cpu_nanos: 20_000.0, operations: 5.0, checksum: 0, calls, allocations: None };
        let figures = [MEAN_NANOS, MEAN_MICROS, MEDIAN_NANOS, MEDIAN_MICROS, P99, CPU];
        assert_eq!(figures.map(|figure| figure.of(&answer).unwrap()), [2_000.0, 2.0, 2_000.0, 2.0, 9.0, 4.0]);
    }

    #[test]
    fn a_program_that_does_not_time_its_calls_has_no_median() {
        let answer =
            Answer { nanos: 1.0, cpu_nanos: 1.0, operations: 1.0, checksum: 0, calls: None, allocations: None };
        assert!(MEAN_NANOS.of(&answer).is_ok());
        for figure in [MEDIAN_NANOS, P99] {
            assert!(figure.of(&answer).unwrap_err().to_string().contains("did not time its calls"));
        }
    }
}
