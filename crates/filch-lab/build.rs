//! Tells the program which compiler, which commit and which peers it was built from, so that its figures can say so.
//!
//! Neither git nor a repository is needed: what cannot be found out is "unknown", and the build goes on.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Whom we are measured beside.
const PEERS: [&str; 5] = ["rayon", "chili", "crossbeam-deque", "st3", "ddo"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    tell("FILCH_RUSTC", first_line(&rustc, &["--version"]));
    tell("FILCH_COMMIT", first_line("git", &["rev-parse", "--short=12", "HEAD"]));

    // A commit moves the branch, a checkout moves HEAD, and packing the references moves both into one file.
    for place in ["HEAD", "refs/heads", "packed-refs"] {
        if let Some(path) = first_line("git", &["rev-parse", "--git-path", place]) {
            watch(Path::new(&path));
        }
    }

    let lock = Path::new("../../Cargo.lock");
    watch(lock);
    let lock = fs::read_to_string(lock).unwrap_or_default();
    for peer in PEERS {
        let variable = peer.to_uppercase().replace('-', "_");
        tell(&format!("FILCH_VERSION_{variable}"), version(&lock, peer));
    }
}

/// Cargo takes a missing file for a changed one and would build anew each time.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// The version of a package in a lock file: the line after its name.
fn version(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    lines.next()?.strip_prefix("version = \"")?.strip_suffix('"').map(str::to_owned)
}

fn tell(variable: &str, value: Option<String>) {
    println!("cargo::rustc-env={variable}={}", value.as_deref().unwrap_or("unknown"));
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned)
}
