//! Tests the queues without the standard library.
//!
//! A build for the host proves little. The host has a standard library, and a dependency could link
//! it unnoticed. So a program with its own panic handler links the queues: two panic handlers in
//! one program are an error.

use std::path::Path;

use anyhow::{ensure, Context as _, Result};

use super::{Context, Outcome};
use crate::artifact;
use crate::call::Call;

/// Builds, links and tests the queues without the `std` feature.
pub(super) fn run(context: &Context) -> Result<Outcome> {
    let build = context.cargo("build -p filch-queue --lib --no-default-features");
    let library = artifact::build(build, "filch_queue", Some("rlib"))?;

    link(context, &library)?.run().context("filch-queue, or a crate below it, links the standard library")?;
    let refused = link(context, &library)?.words("--cfg with_std").output()?;
    let said = String::from_utf8_lossy(&refused.stderr);
    ensure!(
        !refused.status.success() && said.contains("panic_impl"),
        "the compiler said\n\n{said}\nabout xtask/controls/no_std.rs, which links `std` on purpose, and did not refuse \
         its second panic handler, so this check cannot see a standard library"
    );

    context.cargo("test -p filch-queue --no-default-features --lib").run()?;
    Ok(Outcome::Passed)
}

fn link(context: &Context, library: &Path) -> Result<Call> {
    let beside = library.parent().context("cargo named a library outside of any folder")?;
    // If cargo copied a library out of `deps`, the libraries that it needs are still in `deps`.
    let deps = if beside.ends_with("deps") { beside.to_owned() } else { beside.join("deps") };
    Ok(Call::new("rustc", &context.root)
        .words("--edition 2021 --crate-type lib --emit metadata --check-cfg cfg(with_std)")
        .arg("-o")
        .arg(context.target("no_std.rmeta"))
        .arg("-L")
        .arg(format!("dependency={}", deps.display()))
        .arg("--extern")
        .arg(format!("filch_queue={}", library.display()))
        .arg("xtask/controls/no_std.rs"))
}
