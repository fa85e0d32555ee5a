//! The test suites: on real threads, with fenced owners, and under loom.

use anyhow::Result;

use super::{Context, Effort, Outcome};
use crate::call::Call;

/// Owners pay for their fences and thieves never call membarrier: what is built where the kernel has no such call.
pub(super) const FENCED: &str = "--cfg filch_fenced --cfg filch_no_membarrier";

/// The atomics are loom's.
pub(super) const LOOM: &str = "--cfg loom";

/// The threads are shuttle's.
pub(super) const SHUTTLE: &str = "--cfg shuttle";

/// Unit, property, stress and documentation tests of all crates.
pub(super) fn unit(context: &Context) -> Result<Outcome> {
    let tests = context.cargo("test --workspace");
    match context.effort {
        Effort::Usual => tests,
        Effort::Deep { .. } => tests
            .env("FILCH_STRESS_TASKS", "100000000")
            .env("FILCH_STRESS_JOINS", "100000000")
            .env("PROPTEST_CASES", "20000"),
    }
    .run()?;
    context.cargo("test -p filch --features trace --test trace").run()?;
    context.cargo_in_rayon_core("test").run()?;
    Ok(Outcome::Passed)
}

/// The tests of queues and runtime on the paths that this machine would not choose by itself.
pub(super) fn fallback(context: &Context) -> Result<Outcome> {
    // The algorithms are those of the unit step, so fewer tasks do: what differs is where the fences are.
    let tasks = match context.effort {
        Effort::Usual => "1000000",
        Effort::Deep { .. } => "10000000",
    };
    context
        .cargo("test -p filch-queue -p filch --lib --tests")
        .env("RUSTFLAGS", FENCED)
        .env("CARGO_TARGET_DIR", context.target("fallback"))
        .env("FILCH_STRESS_TASKS", tasks)
        .run()?;
    Ok(Outcome::Passed)
}

/// The models on the bounded-TSO machine, by the command that users have.
pub(super) fn models(context: &Context) -> Result<Outcome> {
    match context.effort {
        Effort::Usual => context.cargo("run --release -p filch-lab -- verify --quick").run()?,
        Effort::Deep { .. } => {
            context.cargo("run --release -p filch-lab -- verify").run()?;
            // What is too long for the unit tests and no case of a model: the table of deltas.
            context.cargo("test --release -p filch-model --lib -- --ignored").run()?;
        }
    }
    Ok(Outcome::Passed)
}

/// Every interleaving of the loom models.
pub(super) fn loom(context: &Context) -> Result<Outcome> {
    let models = under_loom(context, "test -p filch-queue --release --test loom");
    let runtime = under_loom(context, "test -p filch --release --lib models");
    for models in match context.effort {
        Effort::Usual => [models, runtime],
        Effort::Deep { preemptions } => [
            models.env("FILCH_LOOM_PREEMPTIONS", preemptions.to_string()),
            runtime.env("LOOM_MAX_PREEMPTIONS", preemptions.to_string()),
        ],
    } {
        models.run()?;
    }
    Ok(Outcome::Passed)
}

/// Whole pools in random orders of their threads' steps.
pub(super) fn shuttle(context: &Context) -> Result<Outcome> {
    let orders = match context.effort {
        Effort::Usual => "500",
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

/// Weakens every ordering in turn; the models must notice.
pub(super) fn weaken(context: &Context) -> Result<Outcome> {
    // The share that was caught is the result, and it is printed, so the output is not captured.
    under_loom(context, "test -p filch-queue --release --test weaken -- --nocapture").run()?;
    Ok(Outcome::Passed)
}

fn under_loom(context: &Context, line: &str) -> Call {
    context.cargo(line).env("RUSTFLAGS", LOOM).env("CARGO_TARGET_DIR", context.target("loom"))
}
