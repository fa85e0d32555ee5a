//! Sets environment variables for the compiler version, the commit and the versions of the peers.
//!
//! The lab writes them beside its figures. The build needs neither git nor a repository: a value
//! that cannot be found is "unknown".

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The packages that filch is compared with.
const PEERS: [&str; 5] = ["rayon", "chili", "crossbeam-deque", "st3", "ddo"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    set_variable("FILCH_RUSTC", first_line(&rustc, &["--version"]));
    set_variable("FILCH_COMMIT", first_line("git", &["rev-parse", "--short=12", "HEAD"]));

    // A commit moves the branch, and a checkout moves HEAD. Packing the references moves both into
    // one file.
    for place in ["HEAD", "refs/heads", "packed-refs"] {
        if let Some(path) = first_line("git", &["rev-parse", "--git-path", place]) {
            rerun_if_changed(Path::new(&path));
        }
    }

    let lock = Path::new("../../Cargo.lock");
    rerun_if_changed(lock);
    let lock = fs::read_to_string(lock).unwrap_or_default();
    for peer in PEERS {
        let variable = peer.to_uppercase().replace('-', "_");
        set_variable(&format!("FILCH_VERSION_{variable}"), version(&lock, peer));
    }
}

/// Makes cargo rebuild if the file changes.
///
/// A missing file is left out: cargo would treat it as changed and rebuild each time.
fn rerun_if_changed(path: &Path) {
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

fn set_variable(variable: &str, value: Option<String>) {
    println!("cargo::rustc-env={variable}={}", value.as_deref().unwrap_or("unknown"));
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned)
}
