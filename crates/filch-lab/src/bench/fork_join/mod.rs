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

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;

use super::{select_cases, Limit, Measured};
use crate::figures;
use crate::watch;
use plan::Plan;

pub(crate) use cases::{
    EXTRA_CPU_MICROS_A_TICK, MILLIS_A_RUN, MILLIS_A_SORT, NANOS_A_JOIN, NANOS_A_WAKE, POOL_CPU_MILLIS_A_SECOND, WIDTHS,
};
pub(crate) use claims::{fib, join_cost, verdicts, wake_cost};

/// The suite's name.
pub(crate) const SUITE: &str = "fork-join";

/// Options of the suite.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Whether to measure fewer rounds.
    pub(crate) quick: bool,
    /// The number of threads in a pool; pools of one thread are measured as well.
    ///
    /// Wide cases have other numbers.
    pub(crate) threads: usize,
    /// The file that the figures are written to, besides being printed.
    pub(crate) json: Option<PathBuf>,
    /// Prefixes of the names of the wanted cases. All cases are wanted if there are none.
    pub(crate) cases: Vec<String>,
    /// The most that the suite may measure, if it is one of several.
    pub(crate) limit: Option<Limit>,
    /// The file that a plot of the figures is written to.
    pub(crate) plot: Option<PathBuf>,
}

/// Runs the suite. The calling thread must not be pinned: pools inherit its affinity.
pub(crate) fn run(options: &Options) -> Result<Measured> {
    let plan = if options.quick { Plan::QUICK } else { Plan::FULL }.within(options.limit);
    let cases = select_cases(plan.cases(), &options.cases)?;

    let mut text = String::new();
    let speed = if options.quick { "quick" } else { "full" };
    writeln!(text, "Suite {SUITE}, {speed}: every sample in a fresh pool, except in the cases `wide-…`.")?;
    let mut all = Vec::new();
    for &case in watch::each(&cases) {
        let series = case.measure(&plan, options.threads)?;
        let rounds = series.iter().map(|series| series.samples.len()).max().unwrap_or(0);
        writeln!(text, "\n{case}: {}. {rounds} {}.", case.description(), if rounds == 1 { "round" } else { "rounds" })?;
        text.push_str(&figures::tables(&series, &["serial", "serial-call", "chili", "filch-any", "rayon"]));
        watch::keep(SUITE, &series);
        all.extend(series);
    }
    if !super::cpu::IS_SUPPORTED {
        writeln!(text, "\nCases that need the CPU time of the process were left out: it is measured only on Linux.")?;
    }
    Ok(Measured { series: all, text })
}

#[cfg(test)]
mod tests {
    use super::cases::Case;
    use super::*;

    #[test]
    fn cases_are_selected_by_the_beginning_of_their_names() {
        let names = |begins: &[&str]| {
            let begins: Vec<String> = begins.iter().map(|&name| name.to_owned()).collect();
            select_cases(Plan::FULL.cases(), &begins).map(|cases| cases.iter().map(Case::to_string).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap().len(), Plan::FULL.cases().len());
        assert_eq!(names(&["fib", "wake"]).unwrap(), ["fib-38", "wake"]);
        assert!(names(&["fob"]).unwrap_err().to_string().contains("no case begins with `fob`; there are fib-38"));
    }
}
