//! The steps and their runner, which times them and stops at the first failure.

pub(crate) mod asm;
mod browser;
mod context;
mod lints;
mod minimal_versions;
mod mpi;
mod nightly;
mod no_std;
mod package;
mod rayon;
mod smoke;
mod tests;
mod tsan;

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Subcommand;

pub(crate) use self::context::{Context, Effort, Outcome};
use crate::command_line::CommandFailed;
use crate::output::print_line;
use crate::packages::Packages;
use crate::parallel;
use crate::progress::Progress;
use crate::summary::{format_duration, table, totals, Report, Verdict};

/// One thing that continuous integration checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum Step {
    /// Check that the sources are formatted
    Fmt,
    /// Check the ordinary build for warnings of the compiler and clippy
    Clippy,
    /// Check every other configuration for warnings of the compiler and clippy
    ClippyCfgs,
    /// Check that the documentation builds without warnings
    Doc,
    /// Run the unit, property and stress tests of all crates
    Unit,
    /// Run the examples in the documentation
    Doctest,
    /// Run the tests of filch's rayon-core
    RayonCore,
    /// Run the stress tests with all tasks (`cargo xtask test` runs a part)
    Stress,
    /// Run the tests with fenced owners, as on systems without membarrier
    Fallback,
    /// Build, link and test the queues without the standard library
    #[command(alias = "no_std")]
    NoStd,
    /// Run rayon's tests on filch's rayon-core, and common tests on both
    Rayon,
    /// Check every state of the small models on the bounded-TSO machine
    Models,
    /// Run the tests across MPI processes (installs MPI if that needs no interaction)
    Mpi,
    /// Explore the interleavings of queues and runtime protocols with loom
    Loom,
    /// Run whole pools in random orders of their threads' steps with shuttle
    Shuttle,
    /// Weaken each memory ordering and print the share that the loom models catch
    Weaken,
    /// Run the stress tests under ThreadSanitizer (needs the nightly toolchain)
    Tsan,
    /// Carries an option, so the command line spells it out.
    #[command(skip)]
    Asm,
    /// Build the libraries with the lowest dependency versions (needs nightly)
    MinimalVersions,
    /// Package the libraries for a registry, and build the packages
    Package,
    /// Check that the benchmarks run and write complete JSON
    BenchSmoke,
    /// Check the report in Chromium (installs it if that needs no interaction)
    Browser,
}

impl Step {
    /// The steps of `cargo xtask test`, in the order in which they begin.
    ///
    /// Cargo builds the unit tests first, and the lints run beside the tests.
    pub(crate) const TEST: &'static [Step] = &[Step::Fmt, Step::Unit, Step::Clippy, Step::Doctest, Step::RayonCore];

    /// The steps of `cargo xtask ci`, in the order in which they begin.
    ///
    /// Long steps and steps that others wait for come first. Short steps come last, so that no
    /// step runs alone for long.
    pub(crate) const CI: &'static [Step] = &[
        Step::Rayon,
        Step::ClippyCfgs,
        Step::Tsan,
        Step::Mpi,
        Step::Loom,
        Step::Models,
        Step::BenchSmoke,
        Step::Browser,
        Step::Weaken,
        Step::Fallback,
        Step::Stress,
        Step::Shuttle,
        Step::Doc,
        Step::MinimalVersions,
        Step::Package,
        Step::NoStd,
        Step::Asm,
    ];

    /// The searching steps, which find more when they search for longer.
    pub(crate) const DEEP: &'static [Step] =
        &[Step::Unit, Step::Fallback, Step::Rayon, Step::Models, Step::Mpi, Step::Loom, Step::Shuttle, Step::Tsan];

    /// Returns the steps of `cargo xtask test` that apply to `packages`.
    pub(crate) fn tests_of(packages: &Packages) -> Vec<Step> {
        let has_work = |step: &Step| match step {
            Step::Unit => packages.workspace_options().is_some(),
            Step::Doctest => packages.library_options().is_some(),
            Step::RayonCore => packages.contains_rayon_core(),
            _ => true,
        };
        Self::TEST.iter().copied().filter(has_work).collect()
    }

    /// The builds that a step uses for long.
    fn builds(self) -> &'static [Build] {
        match self {
            // The first of these steps builds both programs, and the others only run them.
            Step::Fmt | Step::Models | Step::Mpi | Step::BenchSmoke | Step::Browser => &[],
            // These steps wait for the build of the unit tests, and then run beside the tests.
            Step::Clippy | Step::Doctest => &[],
            Step::Unit => &[Build::Debug],
            Step::RayonCore => &[Build::RayonCore],
            Step::Doc => &[Build::Debug, Build::RayonCore],
            Step::ClippyCfgs => &[Build::Debug, Build::Loom, Build::Shuttle],
            Step::Fallback => &[Build::Fallback],
            Step::Rayon => &[Build::Rayon],
            Step::NoStd | Step::Stress => &[Build::Debug],
            Step::Asm => &[Build::Release],
            Step::Loom | Step::Weaken => &[Build::Loom],
            Step::Shuttle => &[Build::Shuttle],
            Step::Tsan => &[Build::Tsan],
            Step::MinimalVersions => &[Build::MinimalVersions],
            Step::Package => &[Build::Packages],
        }
    }

    /// Returns whether two steps cannot run at the same time.
    fn conflicts_with(&self, other: &Step) -> bool {
        // Some steps run programs with MPI. Their files have the same paths as the programs that the
        // unit tests build without MPI.
        let uses_programs = [Step::Models, Step::Mpi, Step::BenchSmoke, Step::Browser];
        let replaces_programs = |one: &Step, other: &Step| *one == Step::Unit && uses_programs.contains(other);
        self.builds().iter().any(|build| other.builds().contains(build))
            || replaces_programs(self, other)
            || replaces_programs(other, self)
    }

    /// The name on the command line and in the summary.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Step::Fmt => "fmt",
            Step::Clippy => "clippy",
            Step::ClippyCfgs => "clippy-cfgs",
            Step::Doc => "doc",
            Step::Unit => "unit",
            Step::Doctest => "doctest",
            Step::RayonCore => "rayon-core",
            Step::Stress => "stress",
            Step::Fallback => "fallback",
            Step::NoStd => "no-std",
            Step::Rayon => "rayon",
            Step::Models => "models",
            Step::Mpi => "mpi",
            Step::Loom => "loom",
            Step::Shuttle => "shuttle",
            Step::Weaken => "weaken",
            Step::Tsan => "tsan",
            Step::Asm => "asm",
            Step::MinimalVersions => "minimal-versions",
            Step::Package => "package",
            Step::BenchSmoke => "bench-smoke",
            Step::Browser => "browser",
        }
    }

    fn run(self, context: &Context) -> Result<Outcome> {
        match self {
            Step::Fmt => lints::fmt(context),
            Step::Clippy => lints::clippy(context),
            Step::ClippyCfgs => lints::clippy_cfgs(context),
            Step::Doc => lints::doc(context),
            Step::Unit => tests::unit(context),
            Step::Doctest => tests::doctest(context),
            Step::RayonCore => tests::rayon_core(context),
            Step::Stress => tests::stress(context),
            Step::Fallback => tests::fallback(context),
            Step::NoStd => no_std::run(context),
            Step::Rayon => rayon::run(context),
            Step::Models => tests::models(context),
            Step::Mpi => mpi::run(context),
            Step::Loom => tests::loom(context),
            Step::Shuttle => tests::shuttle(context),
            Step::Weaken => tests::weaken(context),
            Step::Tsan => tsan::run(context),
            Step::Asm => asm::run(context),
            Step::MinimalVersions => minimal_versions::run(context),
            Step::Package => package::run(context),
            Step::BenchSmoke => smoke::run(context),
            Step::Browser => browser::run(context),
        }
    }
}

/// A folder that cargo builds in. Cargo lets one command at a time into it. Each profile has its
/// own folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Build {
    Debug,
    Release,
    RayonCore,
    Fallback,
    Rayon,
    Loom,
    Shuttle,
    Tsan,
    MinimalVersions,
    Packages,
}

/// The default number of parallel steps. Two steps use two cores almost fully, and leave enough
/// time for each test.
pub(crate) const DEFAULT_LANES: u8 = 2;

/// Runs `steps` up to the first failure, at most `max_parallel` at a time. Prints their results.
///
/// If `max_parallel` is 1, the output of the steps appears immediately.
pub(crate) fn run(steps: &[Step], max_parallel: u8, mut context: Context) -> ExitCode {
    let start = Instant::now();
    context.may_install_mpi = steps.contains(&Step::Mpi);
    let reports = if max_parallel == 1 {
        parallel::run(steps, 1, Step::conflicts_with, |step| stop_on_failure(run_step(*step, &context)))
    } else {
        match Progress::new(context.root.join(context.target("steps"))) {
            Ok(progress) => run_parallel(steps, max_parallel, &context, &progress),
            Err(error) => {
                print_line!("{error:#}.");
                return ExitCode::FAILURE;
            }
        }
    };
    let not_reached = |step: &Step| Report { step: step.name(), verdict: Verdict::NotReached, took: Duration::ZERO };
    let reports = reports.into_iter().zip(steps).map(|(report, step)| report.unwrap_or_else(|| not_reached(step)));
    print_results(&reports.collect::<Vec<_>>(), start.elapsed())
}

fn run_parallel(steps: &[Step], max_parallel: u8, context: &Context, progress: &Progress) -> Vec<Option<Report>> {
    let run = |step: &Step| {
        let report = progress.run_step(step.name(), || {
            let report = run_step(*step, context);
            if matches!(report.verdict, Verdict::Failed(_)) {
                print_line!("No other step begins. Running steps continue to their end.");
            }
            report
        });
        stop_on_failure(report.unwrap_or_else(|error| {
            let reason = format!("The output of step `{}` is lost: {error:#}.", step.name());
            Report { step: step.name(), verdict: Verdict::Failed(reason), took: Duration::ZERO }
        }))
    };
    progress.refresh_while(|| parallel::run(steps, max_parallel.into(), Step::conflicts_with, run))
}

/// Stops after a failure: no other step begins.
fn stop_on_failure(report: Report) -> ControlFlow<Report, Report> {
    match report.verdict {
        Verdict::Failed(_) => ControlFlow::Break(report),
        _ => ControlFlow::Continue(report),
    }
}

/// Prints the reason of each failure and how to repeat it, then all results. This is at the end of
/// the output, where it is easy to find.
fn print_results(reports: &[Report], total: Duration) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for report in reports {
        if let Verdict::Failed(reason) = &report.verdict {
            print_line!("\n{reason}");
            code = ExitCode::FAILURE;
        }
    }
    print_line!("\n{}{}", table(reports, total), totals(reports));
    code
}

fn run_step(step: Step, context: &Context) -> Report {
    let name = step.name();
    print_line!("\n== {name}");
    let start = Instant::now();
    let outcome = step.run(context);
    let took = start.elapsed();
    let verdict = match outcome {
        Ok(Outcome::Passed) => {
            print_line!("== {name} passed in {}", format_duration(took));
            Verdict::Passed
        }
        Ok(Outcome::Skipped(reason)) => {
            print_line!("== {name} skipped: {reason}");
            Verdict::Skipped(reason)
        }
        Err(error) => {
            let repeat = match error.downcast_ref::<CommandFailed>() {
                Some(failed) => failed.command.clone(),
                None => format!("cargo xtask {name}"),
            };
            print_line!("== {name} failed after {}: {error:#}", format_duration(took));
            let root = context.root.display();
            Verdict::Failed(format!(
                "The step `{name}` failed: {error:#}.\nTo repeat it, run in {root}:\n\n    {repeat}"
            ))
        }
    };
    Report { step: name, verdict, took }
}

#[cfg(test)]
mod step_list_tests {
    use super::*;

    #[test]
    fn every_step_belongs_to_either_test_or_ci() {
        let all: Vec<_> = Step::TEST.iter().chain(Step::CI).collect();
        for (index, step) in all.iter().enumerate() {
            assert!(!all[..index].contains(step), "{step:?} is listed twice");
        }
        // The command line defines `Asm` itself.
        let commands = Step::augment_subcommands(clap::Command::new("xtask"));
        let names: Vec<_> = commands.get_subcommands().map(|command| command.get_name()).chain(["asm"]).collect();
        for name in &names {
            assert!(all.iter().any(|step| step.name() == *name), "`{name}` is a step of neither `test` nor `ci`");
        }
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn a_selection_of_packages_runs_only_steps_with_work() {
        let all = Packages::find(&Context::new(Effort::Quick)).unwrap();
        let steps = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            Step::tests_of(&all.select(&names).unwrap())
        };
        assert_eq!(steps(&["filch-queue"]), [Step::Fmt, Step::Unit, Step::Clippy, Step::Doctest]);
        assert_eq!(steps(&["xtask"]), [Step::Fmt, Step::Unit, Step::Clippy]);
        assert_eq!(steps(&["rayon-core"]), [Step::Fmt, Step::Clippy, Step::RayonCore]);
        assert_eq!(Step::tests_of(&Packages::default()), Step::TEST);
    }

    #[test]
    fn steps_conflict_if_they_use_the_same_build() {
        assert!(!Step::Unit.conflicts_with(&Step::Clippy));
        assert!(Step::Stress.conflicts_with(&Step::ClippyCfgs));
        assert!(Step::ClippyCfgs.conflicts_with(&Step::Weaken));
        assert!(!Step::Clippy.conflicts_with(&Step::Weaken));
        assert!(Step::Loom.conflicts_with(&Step::Weaken));
        assert!(!Step::Models.conflicts_with(&Step::BenchSmoke));
        assert!(Step::Models.conflicts_with(&Step::Unit) && Step::Unit.conflicts_with(&Step::Models));
        assert!(!Step::Unit.conflicts_with(&Step::Loom));
        assert!(!Step::Fmt.conflicts_with(&Step::Fmt));
    }
}
