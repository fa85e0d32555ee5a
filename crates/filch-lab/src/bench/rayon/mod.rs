//! The `rayon` suite: programs that use rayon, on rayon's own core and on filch's.
//!
//! The two cores cannot be in one process, so each has its own, and they take turns round by round.
//! Programs that call from outside the pool have a third process, on filch's core, whose callers
//! take part in the work. Threads are not pinned: the core and the operating system place them, as
//! they do for users. `--case scopes` selects the part about tasks of scopes.

mod build;
mod cases;
mod child;
mod claims;
mod core;
mod measure;
mod outside;
mod plan;
mod published;
mod scopes;
mod variant;

use std::fmt::Write;

use anyhow::Result;

use self::core::{CORE_VERSION, RAYON_VERSION};
use super::{select_cases, Measured, Options};
use crate::figures;
use crate::watch;
use build::{ProgramBuilder, ProgramPair};
use cases::{Case, Kind};
use plan::Plan;
use variant::Variant;

pub(crate) use self::cases::{CPU_MILLIS_A_SECOND, EXTRA_CPU_MICROS_A_TICK};
pub(crate) use self::claims::{measured, programs, ratio, timed, verdicts, CaseAndUnit, FILCH, IN_PLACE, RAYON};
pub(crate) use self::outside::PREFIX as OUTSIDE;

/// The suite's name.
pub(crate) const SUITE: &str = "rayon";

/// Runs the suite. The calling thread must not be pinned: processes inherit its affinity.
pub(crate) fn run(options: &Options) -> Result<Measured> {
    let plan = if options.quick { Plan::QUICK } else { Plan::FULL }.within(options.limit);
    let mut cases = select_cases(cases::all(), &scopes::expanded(&options.cases))?;
    // They take minutes to build. A user can still ask for them by name.
    let are_left_out = options.quick && options.cases.is_empty();
    cases.retain(|case| !are_left_out || !case.is_published());

    let builder = ProgramBuilder::open()?;
    let builds = build_all(&builder, &cases)?;
    let mut text = String::new();
    let speed = if options.quick { "quick" } else { "full" };
    writeln!(
        text,
        "Suite {SUITE}, {speed}: the same programs with rayon {RAYON_VERSION} on rayon-core {CORE_VERSION} (rayon) and on filch's\n\
         rayon-core (filch), each in a process of its own, in turns. filch-in-place is the program of filch, started with\n\
         FILCH_CALLERS=in-place: a caller outside the pool takes part in the work."
    )?;
    let mut all = Vec::new();
    for (&case, programs) in watch::each(&cases).zip(&builds) {
        let measured = measure::measure(case, programs, plan, options.threads, &builder.folder("workloads"));
        let series = watch::or_over(measured)?;
        let rounds = series.iter().map(|series| series.samples.len()).max().unwrap_or(0);
        writeln!(text, "\n{case}: {}. {rounds} {}.", case.description, if rounds == 1 { "round" } else { "rounds" })?;
        text.push_str(&figures::tables(&series, &[Variant::Stock.name()]));
        watch::keep(SUITE, &series);
        all.extend(series);
    }
    if are_left_out {
        writeln!(text, "\nPublished programs are left out of a quick run; `--case program` measures them.")?;
    }
    if !super::cpu::IS_SUPPORTED {
        writeln!(text, "\nFigures that need the CPU time of a process were left out: it is measured only on Linux.")?;
    }
    Ok(Measured { series: all, text })
}

/// Builds the programs of all cases before anything is measured.
///
/// A compiler running at the same time would spoil the figures, and a failed build is reported at
/// once.
fn build_all(builder: &ProgramBuilder, cases: &[Case]) -> Result<Vec<ProgramPair>> {
    let mut programs: Option<ProgramPair> = None;
    let mut build = |case: &Case| match (case.kind, &programs) {
        (Kind::Published(published), _) => {
            watch::remark(&format!(
                "Building {} on both cores. The first time, this takes some minutes.",
                published.package().name
            ));
            builder.build_published(published.package())
        }
        (_, Some(built)) => Ok(built.clone()),
        (_, None) => {
            watch::remark("Building the programs on both cores.");
            Ok(programs.insert(builder.build_programs()?).clone())
        }
    };
    cases.iter().map(&mut build).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_case_is_refused_with_a_list_before_anything_is_built() {
        let options =
            Options { quick: true, threads: 1, json: None, cases: vec!["par-iter-product".to_owned()], limit: None };
        let refusal = run(&options).unwrap_err().to_string();
        assert!(refusal.contains("no case begins with `par-iter-product`; there are par-iter-sum-10m, "), "{refusal}");
        assert!(refusal.contains("program/oxipng"), "{refusal}");
    }
}
