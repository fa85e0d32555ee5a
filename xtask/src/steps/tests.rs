//! The test suites: on real threads, with fenced owners, and under loom.

use anyhow::{Context as _, Result};

use super::{Context, Effort, Outcome};
use crate::artifact;
use crate::command_line::CommandLine;

/// Flags for fenced owners and thieves without membarrier. This is the build for kernels that lack
/// that system call.
pub(super) const FENCED: &str = "--cfg filch_fenced --cfg filch_no_membarrier";

/// Flags for loom's atomics.
pub(super) const LOOM: &str = "--cfg loom";

/// The targets that are built under loom.
pub(super) const LOOM_TARGETS: &str =
    "--release -p filch-queue -p filch -p filch-dd --features filch/engine --lib --test loom --test weaken";

/// Flags for shuttle's threads.
pub(super) const SHUTTLE: &str = "--cfg shuttle";

/// All features of the workspace that need no system library.
pub(super) const ALL_BUT_MPI: [&str; 3] = ["filch/trace", UNIT[0], UNIT[1]];

/// The features of the unit tests. They change nothing in the runtime, so the tests use the runtime
/// as users do.
const UNIT: [&str; 2] = ["filch/engine", "filch-graph/petgraph"];

/// Runs the unit, property and stress tests of the packages, and the tests in examples.
pub(super) fn unit(context: &Context) -> Result<Outcome> {
    let packages = &context.packages;
    if let Some(members) = packages.workspace_options() {
        let tests = context.cargo("test --tests").words(&members).words(&packages.feature_options(&UNIT));
        match context.effort {
            Effort::Quick => tests.env("FILCH_STRESS_TASKS", QUICK_TASKS).env("FILCH_STRESS_JOINS", QUICK_JOINS),
            Effort::Usual => tests,
            Effort::Deep { .. } => tests
                .env("FILCH_STRESS_TASKS", "100000000")
                .env("FILCH_STRESS_JOINS", "100000000")
                .env("FILCH_HANGS", "10000")
                .env("PROPTEST_CASES", "20000"),
        }
        .run()?;
        if packages.contains("filch") {
            // Includes all members, though only filch has such a test. So the dependencies are
            // built already.
            let trace = context.cargo("test --test trace").words(&members);
            trace.words(&packages.feature_options(&ALL_BUT_MPI)).run()?;
        }
    }
    Ok(Outcome::Passed)
}

/// Runs the examples in the documentation of the packages.
pub(super) fn doctest(context: &Context) -> Result<Outcome> {
    let packages = &context.packages;
    if let Some(libraries) = packages.library_options() {
        context.cargo("test --doc").words(&libraries).words(&packages.feature_options(&UNIT)).run()?;
    }
    Ok(Outcome::Passed)
}

/// Runs the tests of filch's rayon-core, including those in its documentation.
pub(super) fn rayon_core(context: &Context) -> Result<Outcome> {
    context.cargo_in_rayon_core("test").run()?;
    Ok(Outcome::Passed)
}

/// The number of tasks of each queue in `cargo xtask test`. The next constant is the number of
/// joins of each pool.
const QUICK_TASKS: &str = "200000";
const QUICK_JOINS: &str = "400000";

/// Runs the stress tests with their full number of tasks. `cargo xtask test` runs a part of them.
pub(super) fn stress(context: &Context) -> Result<Outcome> {
    // Uses the whole workspace with the features of `unit`, so that this step builds nothing.
    let tests = context.cargo("test --workspace --test stress --test bulk_stress");
    tests.words(&context.packages.feature_options(&UNIT)).run()?;
    Ok(Outcome::Passed)
}

/// Runs the tests of queues and runtime on paths that this machine would not choose.
pub(super) fn fallback(context: &Context) -> Result<Outcome> {
    // The algorithms are those of the unit step, so fewer tasks are enough. Only the place of the
    // fences differs.
    let (tasks, joins) = match context.effort {
        Effort::Quick | Effort::Usual => ("1000000", "400000"),
        Effort::Deep { .. } => ("10000000", "10000000"),
    };
    context
        // Not `--tests`, which also runs the tests of the examples.
        .cargo("test -p filch-queue -p filch --features filch/engine --lib --test *")
        .env("RUSTFLAGS", FENCED)
        .env("CARGO_TARGET_DIR", context.target("fallback"))
        .env("FILCH_STRESS_TASKS", tasks)
        .env("FILCH_STRESS_JOINS", joins)
        .run()?;
    Ok(Outcome::Passed)
}

/// Runs the models on the bounded-TSO machine, with the command for users.
pub(super) fn models(context: &Context) -> Result<Outcome> {
    let verify = context.lab()?.arg("verify");
    match context.effort {
        Effort::Quick | Effort::Usual => verify.arg("--quick").run()?,
        Effort::Deep { .. } => {
            verify.run()?;
            // The table of deltas takes too long for the unit tests, and is not a case of a model.
            context.cargo("test --release -p filch-model --lib -- --ignored").run()?;
            // The larger worlds of the coordinator's protocol.
            context.cargo("test --release -p filch-mpi --lib -- --ignored").run()?;
        }
    }
    Ok(Outcome::Passed)
}

/// Explores every interleaving of the loom models.
pub(super) fn loom(context: &Context) -> Result<Outcome> {
    let models = loom_test_program(context, "filch-queue", "loom")?;
    let runtime = loom_test_program(context, "filch", "filch")?.arg("models");
    let master = loom_test_program(context, "filch-dd", "filch_dd")?.arg("models");
    // A model keeps one core busy. A program that still runs its longest model leaves the other
    // core idle.
    CommandLine::run_parallel(&match context.effort {
        Effort::Quick | Effort::Usual => [models, runtime, master],
        Effort::Deep { preemptions } => [
            models.env("FILCH_LOOM_PREEMPTIONS", preemptions.to_string()),
            runtime.env("LOOM_MAX_PREEMPTIONS", preemptions.to_string()),
            master.env("LOOM_MAX_PREEMPTIONS", preemptions.to_string()),
        ],
    })?;
    Ok(Outcome::Passed)
}

/// Runs whole pools in random orders of their threads' steps.
pub(super) fn shuttle(context: &Context) -> Result<Outcome> {
    let orders = match context.effort {
        Effort::Quick | Effort::Usual => "500",
        Effort::Deep { .. } => "20000",
    };
    context
        .cargo("test -p filch --release --lib models")
        .env("RUSTFLAGS", SHUTTLE)
        .env("CARGO_TARGET_DIR", context.target("shuttle"))
        .env("FILCH_SHUTTLE_ORDERS", orders)
        .run()?;
    Ok(Outcome::Passed)
}

/// Weakens every ordering in turn. The models must notice.
pub(super) fn weaken(context: &Context) -> Result<Outcome> {
    // The result is the printed share of caught weakenings, so the output is not captured. Nearly
    // always, a broken crate is caught within a second or not at all. So its limit of five seconds
    // is enough beside another step, too.
    loom_test_program(context, "filch-queue", "weaken")?.arg("--nocapture").run()?;
    Ok(Outcome::Passed)
}

/// Builds everything that runs under loom, and returns one test program. It is the program of the
/// tests called `name` of the package in `folder`.
///
/// One command builds everything: the dependencies have other features for one package than for
/// two, and cargo would build them twice.
fn loom_test_program(context: &Context, folder: &str, name: &str) -> Result<CommandLine> {
    let build = context
        .cargo(&format!("test --no-run {LOOM_TARGETS}"))
        .env("RUSTFLAGS", LOOM)
        .env("CARGO_TARGET_DIR", context.target("loom"));
    let programs = artifact::build_tests(build)?;
    let program = programs.iter().find(|program| program.folder == folder && program.name == name);
    let program = program.with_context(|| format!("cargo built no tests `{name}` in {folder}"))?;
    Ok(CommandLine::new(&program.path, &context.root.join("crates").join(folder)))
}
