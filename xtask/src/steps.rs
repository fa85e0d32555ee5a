//! The steps, the order they run in, and the runner that times them and stops at the first failure.

pub(crate) mod asm;
mod lints;
mod no_std;
mod rayon;
mod smoke;
mod tests;
mod tsan;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{bail, Result};
use clap::Subcommand;

use crate::call::{Call, CallFailed};
use crate::summary::{clock, closing_line, table, Report, Verdict};

/// One thing that continuous integration checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum Step {
    /// The sources are formatted
    Fmt,
    /// No warnings from the compiler or clippy, in every configuration that is built
    Clippy,
    /// The documentation builds without warnings
    Doc,
    /// Unit, property, stress and documentation tests of all crates
    Unit,
    /// The tests with owners that pay for their fences, as on systems without membarrier
    Fallback,
    /// The queues build, link and pass their tests without the standard library
    #[command(alias = "no_std")]
    NoStd,
    /// rayon's own tests on our rayon-core, and one source of tests on stock and ours
    Rayon,
    /// Every state of the models on the bounded-TSO machine, small ones only
    Models,
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
    /// The benchmarks run, and their JSON is complete
    BenchSmoke,
}

impl Step {
    /// Everything, cheapest first where the order is free.
    pub(crate) const ALL: &'static [Step] = &[
        Step::Fmt,
        Step::Clippy,
        Step::Doc,
        Step::Unit,
        Step::Fallback,
        Step::NoStd,
        Step::Rayon,
        Step::Models,
        Step::Loom,
        Step::Shuttle,
        Step::Weaken,
        Step::Tsan,
        Step::Asm,
        Step::BenchSmoke,
    ];

    /// The steps that search, and find more when they search for longer.
    pub(crate) const DEEP: &'static [Step] =
        &[Step::Unit, Step::Fallback, Step::Rayon, Step::Models, Step::Loom, Step::Shuttle, Step::Tsan];

    /// The name on the command line and in the summary.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Step::Fmt => "fmt",
            Step::Clippy => "clippy",
            Step::Doc => "doc",
            Step::Unit => "unit",
            Step::Fallback => "fallback",
            Step::NoStd => "no-std",
            Step::Rayon => "rayon",
            Step::Models => "models",
            Step::Loom => "loom",
            Step::Shuttle => "shuttle",
            Step::Weaken => "weaken",
            Step::Tsan => "tsan",
            Step::Asm => "asm",
            Step::BenchSmoke => "bench-smoke",
        }
    }

    fn run(self, context: &Context) -> Result<Outcome> {
        match self {
            Step::Fmt => lints::fmt(context),
            Step::Clippy => lints::clippy(context),
            Step::Doc => lints::doc(context),
            Step::Unit => tests::unit(context),
            Step::Fallback => tests::fallback(context),
            Step::NoStd => no_std::run(context),
            Step::Rayon => rayon::run(context),
            Step::Models => tests::models(context),
            Step::Loom => tests::loom(context),
            Step::Shuttle => tests::shuttle(context),
            Step::Weaken => tests::weaken(context),
            Step::Tsan => tsan::run(context),
            Step::Asm => asm::run(context),
            Step::BenchSmoke => smoke::run(context),
        }
    }
}

/// How a step ended that found nothing wrong.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It ran to its end.
    Passed,
    /// A tool is missing here; the sentence says which and how to get it.
    Skipped(String),
}

/// How long the searching steps search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// What fits into a run of continuous integration.
    Usual,
    /// Ten times the tasks, many more cases, and this many preemptions in loom's models.
    Deep {
        /// The bound handed to every loom model.
        preemptions: u8,
    },
}

/// What every step needs to know.
#[derive(Debug)]
pub(crate) struct Context {
    /// The repository; every command runs here.
    pub(crate) root: PathBuf,
    target: PathBuf,
    ci: bool,
    /// How long to search.
    pub(crate) effort: Effort,
}

impl Context {
    /// The context of this run, from the environment.
    pub(crate) fn new(effort: Effort) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository").to_owned();
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
        let ci = env::var("CI").is_ok_and(|value| value == "true" || value == "1");
        Self { root, target, ci, effort }
    }

    /// `cargo` with the words of `line`.
    pub(crate) fn cargo(&self, line: &str) -> Call {
        Call::new("cargo", &self.root).words(line)
    }

    /// The same about our rayon-core, which is no member of the workspace.
    pub(crate) fn cargo_in_rayon_core(&self, line: &str) -> Call {
        self.cargo(line)
            .words("--manifest-path crates/rayon-core/Cargo.toml")
            .env("CARGO_TARGET_DIR", self.target("rayon-core"))
    }

    /// A folder for one step's own build, relative to the repository unless the target directory is elsewhere.
    ///
    /// Builds with other flags go to folders of their own, so that no step throws away what another built.
    pub(crate) fn target(&self, folder: &str) -> PathBuf {
        self.target.join(folder)
    }

    /// Skips a step for want of a tool. Continuous integration leaves nothing out, so there it is a failure.
    pub(crate) fn leave_out(&self, sentence: &str) -> Result<Outcome> {
        if self.ci {
            bail!("{sentence}. With CI=true nothing may be left out");
        }
        Ok(Outcome::Skipped(sentence.to_owned()))
    }
}

/// Runs `steps` in order up to the first failure, and prints what they came to.
pub(crate) fn run(steps: &[Step], context: &Context) -> ExitCode {
    let mut reports = Vec::with_capacity(steps.len());
    let mut failed = false;
    for step in steps {
        reports.push(if failed {
            Report { step: step.name(), verdict: Verdict::NotReached, took: Duration::ZERO }
        } else {
            run_one(*step, context)
        });
        failed |= reports.last().is_some_and(|report| report.verdict == Verdict::Failed);
    }
    println!("\n{}{}", table(&reports), closing_line(&reports));
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn run_one(step: Step, context: &Context) -> Report {
    let name = step.name();
    println!("\n== {name}");
    let start = Instant::now();
    let outcome = step.run(context);
    let took = start.elapsed();
    let verdict = match outcome {
        Ok(Outcome::Passed) => {
            println!("== {name} passed in {}", clock(took));
            Verdict::Passed
        }
        Ok(Outcome::Skipped(why)) => {
            println!("== {name} skipped: {why}");
            Verdict::Skipped(why)
        }
        Err(error) => {
            let repeat = match error.downcast_ref::<CallFailed>() {
                Some(failed) => failed.command.clone(),
                None => format!("cargo xtask {name}"),
            };
            println!("== {name} failed after {}", clock(took));
            println!("The step `{name}` failed: {error:#}.");
            println!("To repeat it, run in {}:\n\n    {repeat}", context.root.display());
            Verdict::Failed
        }
    };
    Report { step: name, verdict, took }
}
