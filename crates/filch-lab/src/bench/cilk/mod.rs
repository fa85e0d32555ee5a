//! The `cilk` suite: the Cilk programs on all queues, the textbook schedulers, filch and rayon.
//!
//! The programs are those of table 1 of *Fence-Free Work Stealing on Bounded TSO Processors*, two
//! unbalanced trees and the n queens. They run on every exactly-once queue under one engine, on the
//! textbook's other schedulers, on filch's runtime and on rayon.
//!
//! Every sample starts a pool of its own and ends it. It is one run of the program, and is checked.

mod bound;
mod cases;
mod claims;
mod coarse;
mod entrants;
mod measure;
mod normalised;
mod programs;
mod text;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use super::rounds::Effort;
use super::{Options, Suite};
use crate::figures::{self, Series};
use cases::Case;
use measure::Plan;

pub(crate) use bound::TrustedBound;
pub(crate) use claims::{
    is_of_the_paper, ratio, ratios, verdicts, CENTRAL, FF_THE, PARTITION, RAYON, RUNTIME, SHARING, THEP, THEP_INFINITE,
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

/// The suite.
#[derive(Args, Debug)]
pub(crate) struct Cilk {
    /// Set the bound that the fence-free queues rely on (default 128).
    ///
    /// The bound is the number of entries in this CPU's store buffer, plus one. You vouch for it:
    /// if it is too small, jobs may run twice and memory may be corrupted. The default is above
    /// every known store buffer.
    #[arg(long, value_name = "N", value_parser = store_bound)]
    bound: Option<usize>,

    /// Read the bound from a file that `filch-lab lab litmus --calibrate` has written.
    ///
    /// The file must be from this model of CPU. It is evidence, not proof: you vouch that it
    /// describes this CPU. Under a hypervisor, a CPU of the same name may have another store
    /// buffer.
    #[arg(long, value_name = "FILE", conflicts_with = "bound")]
    calibration: Option<PathBuf>,

    /// A bound in place of these options. Without it, queues that need a bound are left out.
    #[arg(skip)]
    found: Option<Option<TrustedBound>>,

    /// The number of joins in a run of the last case.
    #[arg(skip)]
    joins: u64,
}

impl Cilk {
    /// The suite with a bound. Without one, queues that need it are left out.
    pub(crate) fn new(bound: Option<TrustedBound>) -> Cilk {
        Cilk { bound: None, calibration: None, found: Some(bound), joins: 0 }
    }

    /// The bound that the fence-free queues rely on.
    pub(super) fn trusted_bound(&self) -> Result<Option<TrustedBound>> {
        match (&self.found, self.bound, &self.calibration) {
            (Some(found), ..) => Ok(found.clone()),
            (None, Some(bound), _) => TrustedBound::given(bound).map(Some),
            (None, None, Some(path)) => TrustedBound::from_calibration(path).map(Some),
            (None, None, None) => Ok(Some(TrustedBound::default())),
        }
    }
}

impl Suite for Cilk {
    const NAME: &'static str = SUITE;
    const PEERS: &'static [&'static str] = &["serial", normalised::BASELINE, "rayon"];
    type Case = Case;

    fn cases(&self, options: &Options) -> Result<Vec<Case>> {
        Ok(cases::all(options.quick))
    }

    /// A full run has as many rounds for an interval around ratios close to 1 as fit in about an
    /// hour.
    fn effort(&self, _: &Case, options: &Options) -> Effort {
        options.choose(
            Effort { rounds: 9, at_least: 1, time: Duration::from_millis(2_000) },
            Effort { rounds: 15, at_least: 3, time: Duration::from_secs(150) },
        )
    }

    fn check(&self, _: &Options) -> Result<()> {
        self.trusted_bound().map(|_| ())
    }

    fn prepare(&mut self, _: &[Case], _: &Options) -> Result<()> {
        self.found = Some(self.trusted_bound()?);
        Ok(())
    }

    fn measure(&mut self, case: &Case, options: &Options, effort: Effort) -> Result<Vec<Series>> {
        let bound = self.found.as_ref().and_then(Option::as_ref);
        let (joins, series) = case.measure(&Plan::of(options, effort), &options.threads, bound)?;
        self.joins = joins;
        Ok(series)
    }

    fn introduction(&self, _: &Options) -> String {
        "every sample is a run in a fresh pool, and every result is checked.".to_owned()
    }

    fn description(&self, case: &Case) -> String {
        let joins = figures::grouped(usize::try_from(self.joins).unwrap_or(usize::MAX));
        format!("{}. {joins} joins a run", case.description)
    }

    fn tables(&self, _: &Case, series: &[Series]) -> String {
        let times: Vec<Series> = series.iter().filter(|series| series.unit == MILLIS_A_RUN).cloned().collect();
        figures::tables(&times, Self::PEERS)
    }

    fn conclusion(&self, _: &Options, series: &[Series]) -> String {
        [text::figure_10(series), text::figure_1(series), text::thefts(series)].concat()
    }
}

fn store_bound(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0 | 1) => {
            Err("too small: the bound is the number of entries in the store buffer, plus one; give 2 or more"
                .to_owned())
        }
        Ok(bound @ 2..=bound::LARGEST) => Ok(bound),
        Ok(_) => Err(format!("too large: every known store buffer is much smaller; give at most {}", bound::LARGEST)),
        Err(_) => Err("this is not a number of stores; an example is 73".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::suite::tests::options;

    #[test]
    fn optional_rounds_leave_time_for_the_others() {
        for (quick, most) in [(true, 35), (false, 3_600)] {
            let (suite, options) = (Cilk::new(None), options(quick, &[]));
            let cases = suite.cases(&options).unwrap();
            let plan = |case| Plan::of(&options, suite.effort(case, &options));
            let time: Duration = cases.iter().map(plan).map(|plan| plan.effort.time + plan.pair_time).sum();
            assert!(time < Duration::from_secs(most), "{time:?}");
        }
    }
}
