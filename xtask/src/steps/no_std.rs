//! Tests the queues without the standard library.
//!
//! A build for the host proves little. The host has a standard library, and a dependency could link
//! it unnoticed. So a program with its own panic handler links the queues: two panic handlers in
//! one program are an error.

use std::path::Path;

use anyhow::{ensure, Context as _, Result};

use super::{Context, Outcome};
use crate::artifact;
use crate::command_line::CommandLine;

/// Builds, links and tests the queues without the `std` feature.
pub(super) fn run(context: &Context) -> Result<Outcome> {
    let build = context.cargo("build -p filch-queue --lib --no-default-features");
    let library = artifact::build(build, "filch_queue", Some("rlib"))?;

    link(context, &library)?.run().context("filch-queue or one of its dependencies links the standard library")?;
    let control = link(context, &library)?.words("--cfg with_std").output()?;
    let errors = String::from_utf8_lossy(&control.stderr);
    ensure!(
        !control.status.success() && errors.contains("panic_impl"),
        "the control xtask/controls/no_std.rs links `std`, but the compiler did not report a second panic handler, so \
         this check cannot detect the standard library. Output of the compiler:\n\n{errors}"
    );

    context.cargo("test -p filch-queue --no-default-features --lib").run()?;
    Ok(Outcome::Passed)
}

fn link(context: &Context, library: &Path) -> Result<CommandLine> {
    let folder = library.parent().context("cargo reported a library without a folder")?;
    // If cargo copied a library out of `deps`, the libraries that it needs are still in `deps`.
    let deps = if folder.ends_with("deps") { folder.to_owned() } else { folder.join("deps") };
    Ok(CommandLine::new("rustc", &context.root)
        .words("--edition 2021 --crate-type lib --emit metadata --check-cfg cfg(with_std)")
        .arg("-o")
        .arg(context.target("no_std.rmeta"))
        .arg("-L")
        .arg(format!("dependency={}", deps.display()))
        .arg("--extern")
        .arg(format!("filch_queue={}", library.display()))
        .arg("xtask/controls/no_std.rs"))
}
