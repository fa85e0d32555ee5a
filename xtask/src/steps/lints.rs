//! What can be judged without running anything: formatting, lints, documentation.

use anyhow::Result;

use super::tests::{ALL_BUT_MPI, FENCED, LOOM, SHUTTLE, UNDER_LOOM};
use super::{Context, Outcome};

/// The sources are formatted.
pub(super) fn fmt(context: &Context) -> Result<Outcome> {
    context.cargo("fmt --all --check").run()?;
    context.cargo_in_rayon_core("fmt --check").run()?;
    Ok(Outcome::Passed)
}

/// Lints every configuration that some step builds: code behind a `cfg` is seen only when the `cfg` is set.
pub(super) fn clippy(context: &Context) -> Result<Outcome> {
    let deny = "-- -D warnings";
    // Without MPI, which is what `cargo run --release` of a user builds.
    let all = "clippy --workspace --all-targets";
    context.cargo(all).words("--features").arg(ALL_BUT_MPI).words(deny).run()?;
    if context.has_mpi() {
        context.cargo(all).words("--all-features").words(deny).run()?;
    }
    context.cargo_in_rayon_core("clippy --all-targets --all-features").words(deny).run()?;
    context.cargo("clippy -p filch-queue --no-default-features --lib --tests").words(deny).run()?;
    // Said to clippy alone, which tells only our own crates: what they depend on is checked already.
    context.cargo("clippy -p filch-queue -p filch --all-targets").words(deny).words(FENCED).run()?;
    for (line, flags, folder) in [(UNDER_LOOM, LOOM, "loom"), ("--release -p filch --lib", SHUTTLE, "shuttle")] {
        context
            .cargo(&format!("clippy {line}"))
            .words(deny)
            .env("RUSTFLAGS", flags)
            .env("CARGO_TARGET_DIR", context.target(folder))
            .run()?;
    }
    Ok(Outcome::Passed)
}

/// The documentation builds, and its links lead somewhere.
pub(super) fn doc(context: &Context) -> Result<Outcome> {
    let deny = "-D warnings";
    let features = if context.has_mpi() { "--all-features" } else { "" };
    context.cargo("doc --workspace --no-deps").words(features).env("RUSTDOCFLAGS", deny).run()?;
    context.cargo_in_rayon_core("doc --no-deps").env("RUSTDOCFLAGS", deny).run()?;
    Ok(Outcome::Passed)
}
