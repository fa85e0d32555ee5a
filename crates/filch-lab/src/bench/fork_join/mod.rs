//! The `fork-join` suite: the cost of a join and of a pool with little work.
//!
//! It also measures how well two workers share, and whether many workers stay busy.
//!
//! Every sample starts a pool of its own and ends it, except in the cases `wide-…`, whose pools
//! stay for all rounds. Threads are not pinned: the runtime and the operating system place them, as
//! they do for users.

mod cases;
mod claims;
mod measure;
mod plan;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use super::rounds::Effort;
use super::work::Shape;
use super::{cpu, Options, Suite};
use crate::figures::{self, Series};
use crate::machine::Machine;
use cases::Case;
use plan::Plan;

pub(crate) use cases::{
    ENGINE_BARRIER, ENGINE_EVENTS, EXTRA_CPU_MICROS_A_TICK, JOINS_OF_ENGINES, MILLIS_A_RUN, MILLIS_A_SORT,
    NANOS_A_JOIN, NANOS_A_TASK, NANOS_A_WAKE, POOL_CPU_MILLIS_A_SECOND, WIDTHS,
};
pub(crate) use claims::{fib, join_cost, verdicts, wake_cost};

/// The suite's name.
pub(crate) const SUITE: &str = "fork-join";

/// The layers of the largest tree.
const LARGE: u32 = 24;

/// The number of tasks in the case of a scope.
const SCOPE: usize = 10_000;

/// The shortest time limit that is enough for a few long rounds.
///
/// With less time, more rounds that are shorter give better figures.
const FEW_LONG_ROUNDS: Duration = Duration::from_secs(30);

/// The suite.
#[derive(Args, Debug, Default)]
pub(crate) struct ForkJoin {
    /// Also draw the cost of a join to this file as SVG.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
}

impl Suite for ForkJoin {
    const NAME: &'static str = SUITE;
    const PEERS: &'static [&'static str] = &["serial", "serial-call", "chili", "filch-any", "rayon"];
    type Case = Case;

    /// Cases that need figures unknown to the operating system are left out.
    fn cases(&self, options: &Options) -> Result<Vec<Case>> {
        // In one suite of several, a round of the largest programs takes too long for an interval.
        let is_short = options.limit.is_some_and(|limit| limit.time < FEW_LONG_ROUNDS);
        let mut cases = vec![
            Case::Fib(if is_short { 30 } else { 38 }),
            Case::Tree { layers: 10 },
            Case::Tree { layers: 15 },
            Case::TreeAfterGaps { layers: 15 },
            if is_short { Case::LargeTree { layers: LARGE } } else { Case::Tree { layers: LARGE } },
            Case::Queens(if is_short { 11 } else { 13 }),
            // Ten million numbers would take half of a quick run.
            Case::Quicksort { millions: options.choose(1, 10) },
            Case::Skewed,
            Case::Scope { tasks: SCOPE },
            Case::Idle,
            Case::Tick,
            Case::TickSerial,
            Case::Wake,
        ];
        cases.extend(Shape::ALL.map(Case::Wide));
        cases.retain(|case| cpu::IS_SUPPORTED || !case.needs_cpu_time());
        Ok(cases)
    }

    fn effort(&self, case: &Case, options: &Options) -> Effort {
        let millis = match case {
            // No claim is close, and a round is long.
            Case::Quicksort { .. } if !options.quick => {
                return Effort { rounds: 5, at_least: 3, time: Duration::from_secs(30) }
            }
            Case::Idle if !options.quick => return Effort::exactly(5),
            _ if !options.quick => return Effort::exactly(15),
            Case::Fib(_) => 5_500,
            Case::Tree { layers: 16.. } => 3_500,
            // Beside the time to allocate the tree.
            Case::LargeTree { .. } => 3_000,
            // A round has a watch for each contender.
            Case::Idle => 5_000,
            Case::TreeAfterGaps { .. } | Case::Wake | Case::Tick | Case::TickSerial => 2_000,
            Case::Queens(_) => 3_500,
            Case::Scope { .. } => 1_000,
            Case::Wide(_) => 400,
            _ => 1_500,
        };
        Effort { rounds: 9, at_least: 1, time: Duration::from_millis(millis) }
    }

    fn check(&self, _: &Options) -> Result<()> {
        self.plot.as_deref().map_or(Ok(()), figures::check_writable)
    }

    fn measure(&mut self, case: &Case, options: &Options, effort: Effort) -> Result<Vec<Series>> {
        case.measure(options.choose(&Plan::QUICK, &Plan::FULL), &options.threads, effort)
    }

    fn introduction(&self, _: &Options) -> String {
        "every sample in a fresh pool, except in the cases `wide-…`.".to_owned()
    }

    fn description(&self, case: &Case) -> String {
        case.description().to_owned()
    }

    fn conclusion(&self, _: &Options, _: &[Series]) -> String {
        if cpu::IS_SUPPORTED {
            return String::new();
        }
        "\nCases that need the CPU time of the process were left out: it is measured only on Linux.\n".to_owned()
    }

    fn write(&self, series: &[Series], machine: &Machine) -> Result<()> {
        match &self.plot {
            Some(path) => figures::write_plot(path, series, NANOS_A_JOIN, machine),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::suite::tests::{options, selected};
    use crate::bench::Limit;

    fn cases(quick: bool) -> Vec<Case> {
        ForkJoin::default().cases(&options(quick, &[])).unwrap()
    }

    #[test]
    fn cases_have_the_names_that_plots_know() {
        let names = selected(&ForkJoin::default(), false, &[]).unwrap();
        for name in [
            "fib-38",
            "tree-1023",
            "tree-32767",
            "tree-16m",
            "queens-13",
            "quicksort-10m",
            "skewed",
            "scope-10k",
            "wake",
        ]
        .into_iter()
        .chain(Shape::ALL.map(Shape::name))
        {
            assert!(names.contains(&name.to_owned()), "{name} is not in {names:?}");
        }
        if cpu::IS_SUPPORTED {
            for name in ["tree-32767-gap", "idle", "tick", "tick-serial"] {
                assert!(names.contains(&name.to_owned()), "{name} is not in {names:?}");
            }
        }
    }

    #[test]
    fn cases_are_selected_by_the_beginning_of_their_names() {
        let names = |names: &[&str]| selected(&ForkJoin::default(), false, names);
        assert_eq!(names(&["fib", "wake"]).unwrap(), ["fib-38", "wake"]);
        assert!(names(&["fob"]).unwrap_err().contains("no case begins with `fob`; there are fib-38"));
    }

    #[test]
    fn a_full_run_has_fifteen_rounds_where_a_ratio_may_be_close_to_one() {
        for case in cases(false) {
            let far = matches!(case, Case::Quicksort { .. } | Case::Idle);
            assert!(far || ForkJoin::default().effort(&case, &options(false, &[])).at_least >= 15, "{case}");
        }
    }

    #[test]
    fn optional_rounds_of_a_quick_run_leave_time_for_the_others() {
        let time = |case: &Case| ForkJoin::default().effort(case, &options(true, &[])).time;
        let time: Duration = cases(true).iter().map(time).sum();
        assert!(time < Duration::from_secs(35), "{time:?}");
    }

    #[test]
    fn a_short_time_limit_has_smaller_programs_and_fewer_contenders() {
        let limited = |rounds, time| Options { limit: Some(Limit { rounds, time }), ..options(false, &[]) };
        let short = limited(7, Duration::from_secs(5));
        let cases_of_short = ForkJoin::default().cases(&short).unwrap();
        assert!(cases_of_short.contains(&Case::Fib(30)) && cases_of_short.contains(&Case::Queens(11)));
        assert!(!cases_of_short.contains(&Case::Tree { layers: LARGE }));
        assert!(cases_of_short.contains(&Case::LargeTree { layers: LARGE }));
        assert_eq!(Case::LargeTree { layers: LARGE }.to_string(), "tree-16m");
        assert_eq!(ForkJoin::default().cases(&limited(2, Duration::MAX)).unwrap(), cases(false));
    }

    #[test]
    fn only_the_sort_has_another_name_in_a_quick_run() {
        let (quick, full) = (cases(true), cases(false));
        assert_eq!(quick.len(), full.len());
        for (quick, full) in quick.iter().zip(&full) {
            assert!(quick == full || quick.to_string() == "quicksort-1m", "{quick}, {full}");
        }
    }
}
