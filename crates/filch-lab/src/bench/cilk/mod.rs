//! The `cilk` suite: the Cilk programs on all queues, the textbook schedulers, filch and rayon.
//!
//! The programs are those of table 1 of *Fence-Free Work Stealing on Bounded TSO Processors*, two
//! unbalanced trees and the n queens. They run on every exactly-once queue under one engine, on the
//! textbook's other schedulers, on filch's runtime and on rayon.
//!
//! Every sample starts a pool of its own and ends it. It is one run of the program, and is checked.

mod cases;
mod claims;
mod coarse;
mod delta;
mod entrants;
mod measure;
mod normalised;
mod programs;
mod text;

use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use super::bound::{BoundOptions, Vouched};
use super::rounds::Effort;
use super::{Options, Suite};
use crate::figures::{self, Series};
use cases::Case;
use measure::Plan;

pub(crate) use claims::{
    is_of_the_paper, ratio, ratios, verdicts, why_thep_is_left_out, CENTRAL, FF_THE, PARTITION, RAYON, RUNTIME,
    SHARING, THEP, THEP_INFINITE,
};
pub(crate) use normalised::{fence_removal, is_fine_grained, BASELINE as THE};

/// The suite's name.
pub(crate) const SUITE: &str = "cilk";

/// The unit of time per run.
pub(crate) const MILLIS_A_RUN: &str = "ms/run";
/// The unit of jobs that other workers took per run.
pub(crate) const STEALS_A_RUN: &str = "steals/run";
/// The unit of refused steal attempts per run.
///
/// A queue refuses an attempt if the thief cannot be certain that it may take the job.
pub(crate) const ABORTS_A_RUN: &str = "aborts/run";

/// The names of all cases of a quick or a full run, in order.
pub(crate) fn case_names(quick: bool) -> Vec<String> {
    cases::all(quick).iter().map(ToString::to_string).collect()
}

/// How the inputs of a full run differ from table 1, and why, as text.
pub(crate) fn differences() -> String {
    let all = cases::all(false);
    let of = |case: &Case| case.difference().map(|difference| format!("{case}: {difference}."));
    let differences: Vec<String> = all.iter().filter_map(of).collect();
    format!("Inputs of figure 10 that table 1 leaves open. {}", differences.join(" "))
}

/// The suite.
#[derive(Args, Debug)]
pub(crate) struct Cilk {
    #[command(flatten)]
    bound: BoundOptions,

    /// The bound of this run, once it is prepared.
    #[arg(skip)]
    vouched: Option<Vouched>,

    /// The number of joins in a run of the last case.
    #[arg(skip)]
    joins: u64,
}

impl Cilk {
    /// The suite with this bound. Without one, queues that need it are left out.
    pub(crate) fn new(vouched: Vouched) -> Cilk {
        Cilk { bound: BoundOptions::found(vouched), vouched: None, joins: 0 }
    }
}

impl Suite for Cilk {
    const NAME: &'static str = SUITE;
    const PEERS: &'static [&'static str] = &["serial", normalised::BASELINE, "rayon"];
    type Case = Case;

    fn cases(&self, options: &Options) -> Result<Vec<Case>> {
        Ok(cases::all(options.quick))
    }

    /// A full run has at least the rounds of the paper: ten, and fifty of the knapsack, whose time
    /// depends on luck. That takes two to five hours on two cores, most of it in quicksort, strassen
    /// and fft.
    fn effort(&self, case: &Case, options: &Options) -> Effort {
        let of_paper = if case.to_string().starts_with("knapsack") { 50 } else { 10 };
        options.choose(
            Effort { rounds: 9, at_least: 1, time: Duration::from_millis(2_000) },
            Effort { rounds: of_paper.max(15), at_least: of_paper, time: Duration::from_secs(150) },
        )
    }

    fn check(&self, _: &Options) -> Result<()> {
        self.bound.vouched().map(|_| ())
    }

    fn prepare(&mut self, _: &[Case], _: &Options) -> Result<()> {
        self.vouched = Some(self.bound.vouched()?);
        Ok(())
    }

    fn measure(&mut self, case: &Case, options: &Options, effort: Effort) -> Result<Vec<Series>> {
        let vouched = self.vouched.as_ref().context("the suite was not prepared")?;
        let (joins, series) = case.measure(&Plan::of(options, effort), &options.threads, vouched)?;
        self.joins = joins;
        Ok(series)
    }

    fn introduction(&self, _: &Options) -> String {
        "every sample is a run in a fresh pool, and every result is checked.".to_owned()
    }

    fn description(&self, case: &Case) -> String {
        let joins = figures::grouped(usize::try_from(self.joins).unwrap_or(usize::MAX));
        let difference = case.difference().map_or_else(String::new, |difference| format!("; {difference}"));
        format!("{}{difference}. {joins} joins a run", case.description)
    }

    fn tables(&self, _: &Case, series: &[Series]) -> String {
        let times: Vec<Series> = series.iter().filter(|series| series.unit == MILLIS_A_RUN).cloned().collect();
        figures::tables(&times, Self::PEERS)
    }

    fn conclusion(&self, _: &Options, series: &[Series]) -> String {
        [text::figure_10(series), text::figure_1(series), text::thefts(series)].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::bound::NoBound;
    use crate::bench::suite::tests::options;

    /// The rounds that are always made come on top: in a full run they take most of the time.
    #[test]
    fn optional_rounds_leave_time_for_the_others() {
        for (quick, most) in [(true, 35), (false, 3_600)] {
            let (suite, options) = (Cilk::new(Err(NoBound::refuted())), options(quick, &[]));
            let cases = suite.cases(&options).unwrap();
            let plan = |case| Plan::of(&options, suite.effort(case, &options));
            let time: Duration = cases.iter().map(plan).map(|plan| plan.effort.time + plan.pair_time).sum();
            assert!(time < Duration::from_secs(most), "{time:?}");
        }
    }

    #[test]
    fn a_full_run_has_at_least_the_rounds_of_the_paper() {
        let (suite, full) = (Cilk::new(Err(NoBound::refuted())), options(false, &[]));
        for case in suite.cases(&full).unwrap() {
            let at_least = if case.to_string() == "knapsack-32" { 50 } else { 10 };
            let Effort { rounds, at_least: made, .. } = suite.effort(&case, &full);
            assert!(made == at_least && rounds >= made, "{case}");
        }
    }
}
