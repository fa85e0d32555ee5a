//! The nightly toolchain, which some steps need and a machine may lack.

use std::path::Path;

use crate::command_line::CommandLine;

/// The target triple of nightly, or `None` if there is no nightly toolchain.
pub(super) fn host(root: &Path) -> Option<String> {
    let output = CommandLine::new("rustc", root).words("+nightly -vV").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    if output.status.success() {
        host_in(&version)
    } else {
        None
    }
}

fn host_in(version: &str) -> Option<String> {
    // A compiler that rustup did not install ignores `+nightly` and still answers.
    let is_nightly = version.lines().any(|line| line.starts_with("release: ") && line.contains("nightly"));
    if !is_nightly {
        return None;
    }
    version.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_read_from_a_nightly_compilers_version_only() {
        let nightly = "rustc 1.97.0-nightly (e50aa6fba 2026-05-19)\nbinary: rustc\n\
                       host: x86_64-unknown-linux-gnu\nrelease: 1.97.0-nightly\n";
        assert_eq!(host_in(nightly).as_deref(), Some("x86_64-unknown-linux-gnu"));
        assert_eq!(host_in(&nightly.replace("-nightly", "")), None);
        assert_eq!(host_in("error: toolchain 'nightly' is not installed"), None);
    }
}
