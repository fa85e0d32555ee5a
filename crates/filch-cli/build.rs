//! Sets environment variables for the compiler version and the commit.
//!
//! Summaries and figures contain them. The build needs neither git nor a repository: a value that
//! cannot be found is "unknown".

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    set_variable("FILCH_RUSTC", first_line(&rustc, &["--version"]));
    set_variable("FILCH_COMMIT", first_line("git", &["rev-parse", "--short=12", "HEAD"]));

    // A commit moves the branch, and a checkout moves HEAD. Packing the references moves both into
    // one file.
    for place in ["HEAD", "refs/heads", "packed-refs"] {
        if let Some(path) = first_line("git", &["rev-parse", "--git-path", place]) {
            // Cargo would treat a missing file as changed and rebuild each time.
            if Path::new(&path).exists() {
                println!("cargo::rerun-if-changed={path}");
            }
        }
    }
}

fn set_variable(variable: &str, value: Option<String>) {
    println!("cargo::rustc-env={variable}={}", value.as_deref().unwrap_or("unknown"));
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned)
}
