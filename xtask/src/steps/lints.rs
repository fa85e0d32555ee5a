//! Checks that run no code: formatting, lints, documentation.

use anyhow::Result;

use super::tests::{ALL_BUT_MPI, FENCED, LOOM, LOOM_TARGETS, SHUTTLE};
use super::{Context, Outcome};

/// Checks that the sources are formatted.
pub(super) fn fmt(context: &Context) -> Result<Outcome> {
    let packages = &context.packages;
    if packages.is_all() {
        context.cargo("fmt --all --check").run()?;
    } else if let Some(members) = packages.workspace_options() {
        context.cargo("fmt --check").words(&members).run()?;
    }
    if packages.contains_rayon_core() {
        context.cargo_in_rayon_core("fmt --check").run()?;
    }
    Ok(Outcome::Passed)
}

/// Makes warnings errors.
const DENY: &str = "-- -D warnings";

/// Lints the ordinary build, with all features but MPI.
pub(super) fn clippy(context: &Context) -> Result<Outcome> {
    let packages = &context.packages;
    if let Some(members) = packages.workspace_options() {
        let clippy = context.cargo("clippy --all-targets").words(&members);
        clippy.words(&packages.feature_options(&ALL_BUT_MPI)).words(DENY).run()?;
    }
    if packages.contains_rayon_core() {
        context.cargo_in_rayon_core("clippy --all-targets --all-features").words(DENY).run()?;
    }
    Ok(Outcome::Passed)
}

/// Lints every other configuration that some step builds.
///
/// Clippy sees code behind a `cfg` only when the `cfg` is set.
pub(super) fn clippy_cfgs(context: &Context) -> Result<Outcome> {
    if context.has_mpi() {
        context.cargo("clippy --workspace --all-targets --all-features").words(DENY).run()?;
    }
    context.cargo("clippy -p filch-queue --no-default-features --lib --tests").words(DENY).run()?;
    // These flags go to clippy alone, which passes them to filch's crates only. Their dependencies
    // are checked already.
    context
        .cargo("clippy -p filch-queue -p filch --features filch/engine --all-targets")
        .words(DENY)
        .words(FENCED)
        .run()?;
    for (line, flags, folder) in [(LOOM_TARGETS, LOOM, "loom"), ("--release -p filch --lib", SHUTTLE, "shuttle")] {
        context
            .cargo(&format!("clippy {line}"))
            .words(DENY)
            .env("RUSTFLAGS", flags)
            .env("CARGO_TARGET_DIR", context.target(folder))
            .run()?;
    }
    Ok(Outcome::Passed)
}

/// Checks that the documentation builds and its links are valid.
pub(super) fn doc(context: &Context) -> Result<Outcome> {
    let deny = "-D warnings";
    let features = if context.has_mpi() { "--all-features" } else { "" };
    context.cargo("doc --workspace --no-deps").words(features).env("RUSTDOCFLAGS", deny).run()?;
    context.cargo_in_rayon_core("doc --no-deps").env("RUSTDOCFLAGS", deny).run()?;
    Ok(Outcome::Passed)
}
