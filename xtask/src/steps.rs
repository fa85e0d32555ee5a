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
use crate::board::Board;
use crate::call::CallFailed;
use crate::console::say;
use crate::lanes;
use crate::packages::Packages;
use crate::summary::{clock, closing_line, table, Report, Verdict};

/// One thing that continuous integration checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum Step {
    /// The sources are formatted
    Fmt,
    /// No warnings from the compiler or clippy in the ordinary build
    Clippy,
    /// No warnings from the compiler or clippy in every other configuration that is built
    ClippyCfgs,
    /// The documentation builds without warnings
    Doc,
    /// Unit, property and stress tests of all crates
    Unit,
    /// The examples in the documentation
    Doctest,
    /// The tests of our rayon-core
    RayonCore,
    /// The stress tests with their full number of tasks, of which `cargo xtask test` has a part
    Stress,
    /// The tests with owners that pay for their fences, as on systems without membarrier
    Fallback,
    /// The queues build, link and pass their tests without the standard library
    #[command(alias = "no_std")]
    NoStd,
    /// rayon's own tests on our rayon-core, and one source of tests on stock and ours
    Rayon,
    /// Every state of the models on the bounded-TSO machine, small ones only
    Models,
    /// The tests across processes, with the MPI of this machine (installs it where that needs no questions)
    Mpi,
    /// Every interleaving of small runs of each queue, and of the runtime's protocols, by loom
    Loom,
    /// Whole pools, in random orders of their threads' steps, by shuttle
    Shuttle,
    /// Weakens every memory ordering in turn and reports the share that the loom models catch
    Weaken,
    /// The stress tests under ThreadSanitizer (needs the nightly toolchain)
    Tsan,
    /// Carries an option, so the command line spells it out.
    #[command(skip)]
    Asm,
    /// The libraries with the lowest versions of dependencies (needs the nightly toolchain)
    MinimalVersions,
    /// Packages the libraries for a registry, and builds the packages
    Package,
    /// The benchmarks run, and their JSON is complete
    BenchSmoke,
    /// The report in a real browser (installs Chromium where that needs no questions)
    Browser,
}

impl Step {
    /// The steps of `cargo xtask test`, in the order in which they begin.
    ///
    /// Cargo builds the unit tests first, and the lints run beside the tests.
    pub(crate) const TEST: &'static [Step] = &[Step::Fmt, Step::Unit, Step::Clippy, Step::Doctest, Step::RayonCore];

    /// The steps of `cargo xtask ci`, in the order in which they begin.
    ///
    /// Long steps and steps that others wait for come first. Short steps come last, so that no lane
    /// runs alone for long.
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
            Step::Unit => packages.in_workspace().is_some(),
            Step::Doctest => packages.libraries().is_some(),
            Step::RayonCore => packages.include_rayon_core(),
            _ => true,
        };
        Self::TEST.iter().copied().filter(has_work).collect()
    }

    /// The builds that a step uses for long.
    fn builds(self) -> &'static [Build] {
        match self {
            // The first of these steps builds the lab's program, and the others only run it.
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
    fn shares(&self, other: &Step) -> bool {
        // Some steps run the lab's program with MPI. Its file has the same path as the program that
        // the unit tests build without MPI.
        let run_the_program = [Step::Models, Step::Mpi, Step::BenchSmoke, Step::Browser];
        let displaces = |one: &Step, other: &Step| *one == Step::Unit && run_the_program.contains(other);
        self.builds().iter().any(|build| other.builds().contains(build))
            || displaces(self, other)
            || displaces(other, self)
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
pub(crate) const LANES: u8 = 2;

/// Runs `steps` in this many lanes up to the first failure, and prints their results.
///
/// In a single lane the output of the steps appears at once.
pub(crate) fn run(steps: &[Step], lanes: u8, mut context: Context) -> ExitCode {
    let start = Instant::now();
    context.installs_mpi = steps.contains(&Step::Mpi);
    let reports = if lanes == 1 {
        lanes::run(steps, 1, Step::shares, |step| flow(run_one(*step, &context)))
    } else {
        match Board::new(context.root.join(context.target("steps"))) {
            Ok(board) => side_by_side(steps, lanes, &context, &board),
            Err(error) => {
                say!("{error:#}.");
                return ExitCode::FAILURE;
            }
        }
    };
    let not_reached = |step: &Step| Report { step: step.name(), verdict: Verdict::NotReached, took: Duration::ZERO };
    let reports = reports.into_iter().zip(steps).map(|(report, step)| report.unwrap_or_else(|| not_reached(step)));
    close(&reports.collect::<Vec<_>>(), start.elapsed())
}

fn side_by_side(steps: &[Step], lanes: u8, context: &Context, board: &Board) -> Vec<Option<Report>> {
    let run = |step: &Step| {
        let report = board.run(step.name(), || {
            let report = run_one(*step, context);
            if matches!(report.verdict, Verdict::Failed(_)) {
                say!("Nothing begins any more, and what has begun goes on to its end.");
            }
            report
        });
        flow(report.unwrap_or_else(|error| {
            let why = format!("The step `{}` could not be followed: {error:#}.", step.name());
            Report { step: step.name(), verdict: Verdict::Failed(why), took: Duration::ZERO }
        }))
    };
    board.watch(|| lanes::run(steps, lanes.into(), Step::shares, run))
}

/// Stops after a failure: no other step begins.
fn flow(report: Report) -> ControlFlow<Report, Report> {
    match report.verdict {
        Verdict::Failed(_) => ControlFlow::Break(report),
        _ => ControlFlow::Continue(report),
    }
}

/// Prints the reason of each failure and how to repeat it, then all results. This is at the end of
/// the output, where it is easy to find.
fn close(reports: &[Report], total: Duration) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for report in reports {
        if let Verdict::Failed(why) = &report.verdict {
            say!("\n{why}");
            code = ExitCode::FAILURE;
        }
    }
    say!("\n{}{}", table(reports, total), closing_line(reports));
    code
}

fn run_one(step: Step, context: &Context) -> Report {
    let name = step.name();
    say!("\n== {name}");
    let start = Instant::now();
    let outcome = step.run(context);
    let took = start.elapsed();
    let verdict = match outcome {
        Ok(Outcome::Passed) => {
            say!("== {name} passed in {}", clock(took));
            Verdict::Passed
        }
        Ok(Outcome::Skipped(why)) => {
            say!("== {name} skipped: {why}");
            Verdict::Skipped(why)
        }
        Err(error) => {
            let repeat = match error.downcast_ref::<CallFailed>() {
                Some(failed) => failed.command.clone(),
                None => format!("cargo xtask {name}"),
            };
            say!("== {name} failed after {}: {error:#}", clock(took));
            let root = context.root.display();
            Verdict::Failed(format!(
                "The step `{name}` failed: {error:#}.\nTo repeat it, run in {root}:\n\n    {repeat}"
            ))
        }
    };
    Report { step: name, verdict, took }
}

#[cfg(test)]
mod tests_of_the_list {
    use super::*;

    #[test]
    fn every_step_belongs_to_one_of_the_two_commands() {
        let all: Vec<_> = Step::TEST.iter().chain(Step::CI).collect();
        for (place, step) in all.iter().enumerate() {
            assert!(!all[..place].contains(step), "{step:?} is listed twice");
        }
        // The command line defines `Asm` itself.
        let commands = Step::augment_subcommands(clap::Command::new("xtask"));
        let names: Vec<_> = commands.get_subcommands().map(|command| command.get_name()).chain(["asm"]).collect();
        for name in &names {
            assert!(all.iter().any(|step| step.name() == *name), "`{name}` belongs to neither");
        }
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn only_steps_with_work_are_run_for_some_packages() {
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
    fn steps_share_what_they_build_with_themselves_and_with_nobody_else() {
        assert!(!Step::Unit.shares(&Step::Clippy));
        assert!(Step::Stress.shares(&Step::ClippyCfgs));
        assert!(Step::ClippyCfgs.shares(&Step::Weaken));
        assert!(!Step::Clippy.shares(&Step::Weaken));
        assert!(Step::Loom.shares(&Step::Weaken));
        assert!(!Step::Models.shares(&Step::BenchSmoke));
        assert!(Step::Models.shares(&Step::Unit) && Step::Unit.shares(&Step::Models));
        assert!(!Step::Unit.shares(&Step::Loom));
        assert!(!Step::Fmt.shares(&Step::Fmt));
    }
}
