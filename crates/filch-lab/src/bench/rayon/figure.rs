//! The figures of a round: a statistic of one of filch's programs, and its unit.

use anyhow::{Context, Result};

use super::child::Answer;
use crate::bench::cpu;

/// A statistic of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Statistic {
    /// Time of the round per operation.
    Mean,
    /// The median of calls that are timed one by one.
    Median,
    /// The time that 99 of 100 calls do not exceed.
    P99,
    /// CPU time of the process per operation.
    Cpu,
    /// CPU time of the process, in thousandths of the round's time.
    CpuShare,
    /// Allocations per operation.
    Allocations,
}

/// A figure of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) unit: &'static str,
    /// The length of the unit in nanoseconds, or 1 if the figure is no time.
    pub(crate) nanos: f64,
    statistic: Statistic,
}

impl Figure {
    const fn new(statistic: Statistic, unit: &'static str, nanos: f64) -> Figure {
        Figure { unit, nanos, statistic }
    }

    /// Whether the operating system reports what the figure needs.
    pub(crate) fn is_supported(&self) -> bool {
        cpu::IS_SUPPORTED || !matches!(self.statistic, Statistic::Cpu | Statistic::CpuShare)
    }

    /// The figure of a round, in its unit.
    pub(crate) fn of(&self, answer: &Answer) -> Result<f64> {
        let timed = |nanos: Option<f64>| nanos.context("the program did not time its calls one by one");
        let number = match self.statistic {
            Statistic::Mean => answer.nanos / answer.operations,
            Statistic::Median => timed(answer.median_nanos)?,
            Statistic::P99 => timed(answer.p99_nanos)?,
            Statistic::Cpu => answer.cpu_nanos / answer.operations,
            Statistic::CpuShare => 1e3 * answer.cpu_nanos / answer.nanos,
            Statistic::Allocations => {
                answer.allocations.context("the program did not count its allocations")? / answer.operations
            }
        };
        Ok(number / self.nanos)
    }
}

/// Time per run.
pub(crate) const MILLIS_A_RUN: Figure = Figure::new(Statistic::Mean, "ms/run", 1e6);
/// Time per generation.
pub(crate) const MICROS_A_GENERATION: Figure = Figure::new(Statistic::Mean, "us/generation", 1e3);
/// Time per join.
pub(crate) const NANOS_A_JOIN: Figure = Figure::new(Statistic::Mean, "ns/join", 1.0);
/// Time per scope.
pub(crate) const NANOS_A_SCOPE: Figure = Figure::new(Statistic::Mean, "ns/scope", 1.0);
/// Time per task of a scope.
pub(crate) const NANOS_A_TASK: Figure = Figure::new(Statistic::Mean, "ns/task", 1.0);
/// Time per task or job.
pub(crate) const NANOS_A_SPAWN: Figure = Figure::new(Statistic::Mean, "ns/spawn", 1.0);
/// Time per directory.
pub(crate) const NANOS_A_DIRECTORY: Figure = Figure::new(Statistic::Mean, "ns/directory", 1.0);
/// Time of a call into a pool.
pub(crate) const NANOS_A_CALL: Figure = Figure::new(Statistic::Mean, "ns/call", 1.0);
/// The median time of a call into a pool.
pub(crate) const MEDIAN_NANOS: Figure = Figure::new(Statistic::Median, "ns/call", 1.0);
/// Time of a call into a pool, for calls that take long.
pub(crate) const MICROS_A_CALL: Figure = Figure::new(Statistic::Mean, "us/call", 1e3);
/// The median time of a call into a pool, for calls that take long.
pub(crate) const MEDIAN_MICROS: Figure = Figure::new(Statistic::Median, "us/call", 1e3);
/// The time that 99 of 100 calls do not exceed.
pub(crate) const P99: Figure = Figure::new(Statistic::P99, "p99-us/call", 1e3);
/// CPU time of the process per call.
pub(crate) const CPU: Figure = Figure::new(Statistic::Cpu, "cpu-us/call", 1e3);
/// CPU time of the process per tick.
pub(crate) const CPU_MICROS_A_TICK: Figure = Figure::new(Statistic::Cpu, "cpu-us/tick", 1e3);
/// CPU time of the process while it is idle.
pub(crate) const IDLE_CPU: Figure = Figure::new(Statistic::CpuShare, CPU_MILLIS_A_SECOND, 1.0);
/// Allocations per task.
pub(crate) const ALLOCATIONS: Figure = Figure::new(Statistic::Allocations, ALLOCATIONS_A_TASK, 1.0);

/// The unit of allocations per task.
pub(crate) const ALLOCATIONS_A_TASK: &str = "allocations/task";
/// The unit of the process's CPU time while it is idle.
pub(crate) const CPU_MILLIS_A_SECOND: &str = "cpu-ms/s";
/// The unit of the process's CPU time per tick, without the work itself.
pub(crate) const EXTRA_CPU_MICROS_A_TICK: &str = "extra-cpu-us/tick";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_per_operation_or_a_statistic_of_single_calls() {
        let (median_nanos, p99_nanos, allocations) = (Some(2_000.0), Some(9_000.0), Some(15.0));
        let (nanos, cpu_nanos, operations) = (10_000.0, 20_000.0, 5.0);
        let answer = Answer { nanos, cpu_nanos, operations, checksum: 0, median_nanos, p99_nanos, allocations };
        for (figure, expected) in [
            (NANOS_A_CALL, 2_000.0),
            (MICROS_A_CALL, 2.0),
            (MEDIAN_NANOS, 2_000.0),
            (MEDIAN_MICROS, 2.0),
            (P99, 9.0),
            (CPU, 4.0),
            (IDLE_CPU, 2_000.0),
            (ALLOCATIONS, 3.0),
        ] {
            assert_eq!(figure.of(&answer).unwrap(), expected, "{figure:?}");
        }
    }

    #[test]
    fn a_program_that_does_not_time_its_calls_has_no_median() {
        let answer = Answer { operations: 1.0, ..Answer::default() };
        assert!(NANOS_A_CALL.of(&answer).is_ok());
        for figure in [MEDIAN_NANOS, P99] {
            assert!(figure.of(&answer).unwrap_err().to_string().contains("did not time its calls"));
        }
    }
}
