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
mod plan;
mod programs;
mod text;

use std::fmt::Write;

use anyhow::{Context, Result};

use super::{select_cases, Measured};
use crate::figures;
use crate::watch;
use plan::Plan;

pub(crate) use bound::{TrustedBound, LARGEST as LARGEST_BOUND};
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
    let plan = if quick { Plan::QUICK } else { Plan::FULL };
    plan.cases().iter().map(ToString::to_string).collect()
}

/// Options of the suite.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The options that all suites of pools have.
    pub(crate) common: super::Options,
    /// The bound that the fence-free queues rely on. Without it, those that need it are left out.
    pub(crate) bound: Option<TrustedBound>,
}

/// Runs the suite.
pub(crate) fn run(options: &Options) -> Result<Measured> {
    let Options { common, bound } = options;
    let plan = if common.quick { Plan::QUICK } else { Plan::FULL }.within(common.limit);
    let cases = select_cases(plan.cases(), &common.cases)?;

    let mut text = String::new();
    let speed = if common.quick { "quick" } else { "full" };
    writeln!(text, "Suite {SUITE}, {speed}: every sample is a run in a fresh pool, and every result is checked.")?;
    let mut all = Vec::new();
    for &case in watch::each(&cases) {
        let measured = case
            .measure(&plan, common.threads, bound.as_ref())
            .with_context(|| format!("{case} could not be measured"))?;
        watch::keep(SUITE, &measured.times);
        watch::keep(SUITE, &measured.thefts);
        writeln!(
            text,
            "\n{case}: {}. {} joins a run.",
            case.description(),
            figures::grouped(usize::try_from(measured.joins)?)
        )?;
        text.push_str(&figures::tables(&measured.times, &["serial", normalised::BASELINE, "rayon"]));
        all.extend(measured.times);
        all.extend(measured.thefts);
    }
    text.push_str(&text::figure_10(&all));
    text.push_str(&text::figure_1(&all));
    text.push_str(&text::thefts(&all));
    Ok(Measured { series: all, text })
}
