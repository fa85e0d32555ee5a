//! The `cilk` suite: the programs of table 1 of *Fence-Free Work Stealing on Bounded TSO Processors*, two unbalanced trees and the n queens, on every
//! exactly-once queue under one engine, on the textbook's other schedulers, on our runtime and on rayon.
//!
//! Every sample starts a pool of its own and ends it, is one run of the program, and is checked.

mod bound;
mod cases;
mod coarse;
mod entrants;
mod goals;
mod measure;
mod normalised;
mod plan;
mod programs;
mod text;

use std::fmt::Write;

use anyhow::{Context, Result};

use super::{chosen, Measured};
use crate::figures;
use crate::watch;
use plan::Plan;

pub(crate) use bound::{Vouched, LARGEST as LARGEST_BOUND};
pub(crate) use normalised::{fence_removal, is_fine_grained};

/// The suite's name.
pub(crate) const SUITE: &str = "cilk";

/// Time, by the number of runs.
pub(crate) const MILLIS_A_RUN: &str = "ms/run";
/// Jobs that other workers took, by the number of runs.
pub(crate) const STEALS_A_RUN: &str = "steals/run";
/// Attempts to take one that a queue refused because the thief could not be certain, by the number of runs.
pub(crate) const ABORTS_A_RUN: &str = "aborts/run";

/// The names of all cases of a quick run or of a full one, in their order.
pub(crate) fn names(quick: bool) -> Vec<String> {
    let plan = if quick { Plan::QUICK } else { Plan::FULL };
    plan.cases().iter().map(ToString::to_string).collect()
}

/// What a user may choose.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// What all suites of pools have.
    pub(crate) common: super::Options,
    /// What the fence-free queues take on trust. Without it, those that need it are left out.
    pub(crate) vouched: Option<Vouched>,
}

/// Runs the suite.
pub(crate) fn run_trusting(options: &Options) -> Result<Measured> {
    let Options { common, vouched } = options;
    let plan = if common.quick { Plan::QUICK } else { Plan::FULL }.within(common.limit);
    let cases = chosen(plan.cases(), &common.cases)?;

    let mut text = String::new();
    let speed = if common.quick { "quick" } else { "full" };
    writeln!(text, "Suite {SUITE}, {speed}: every sample is a run in a fresh pool, and every result is checked.")?;
    let mut all = Vec::new();
    for &case in watch::each(&cases) {
        let measured = case
            .measure(&plan, common.threads, vouched.as_ref())
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
    text.push_str(&goals::summary(&all));
    Ok(Measured { series: all, text })
}
