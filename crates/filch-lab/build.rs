//! Tells the program which compiler and which commit it was built from, so that its figures can say so.
//!
//! Neither git nor a repository is needed: what cannot be found out is "unknown", and the build goes on.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    tell("FILCH_RUSTC", first_line(&rustc, &["--version"]));
    tell("FILCH_COMMIT", first_line("git", &["rev-parse", "--short=12", "HEAD"]));

    // A commit moves the branch, a checkout moves HEAD, and packing the references moves both into one file.
    for place in ["HEAD", "refs/heads", "packed-refs"] {
        if let Some(path) = first_line("git", &["rev-parse", "--git-path", place]) {
            // Cargo takes a missing file for a changed one and would build anew each time.
            if Path::new(&path).exists() {
                println!("cargo::rerun-if-changed={path}");
            }
        }
    }
}

fn tell(variable: &str, value: Option<String>) {
    println!("cargo::rustc-env={variable}={}", value.as_deref().unwrap_or("unknown"));
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned)
}
