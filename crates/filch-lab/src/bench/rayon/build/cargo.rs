//! Calls cargo for a package in a folder.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{ensure, Context, Result};
use serde_json::Value;

/// Calls cargo in a folder.
#[derive(Debug)]
pub(crate) struct Cargo<'a> {
    folder: &'a Path,
}

impl<'a> Cargo<'a> {
    pub(crate) fn in_folder(folder: &'a Path) -> Cargo<'a> {
        Cargo { folder }
    }

    /// The target directory as the user has configured it.
    pub(crate) fn target_directory(&self) -> Result<PathBuf> {
        let metadata = self.metadata(&["--no-deps"])?;
        let directory =
            metadata["target_directory"].as_str().context("`cargo metadata` reports no target directory")?;
        Ok(PathBuf::from(directory))
    }

    /// The folder of a dependency's sources. Cargo fetches them first.
    pub(crate) fn sources_of(&self, name: &str) -> Result<PathBuf> {
        let metadata = self.metadata(&[])?;
        let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let manifest = packages.iter().find(|package| package["name"] == name).map(|package| &package["manifest_path"]);
        let manifest = manifest.and_then(Value::as_str).with_context(|| format!("cargo did not fetch {name}"))?;
        Path::new(manifest).parent().map(Path::to_owned).with_context(|| format!("{manifest} has no parent folder"))
    }

    fn metadata(&self, options: &[&str]) -> Result<Value> {
        let text = self.call(&[&["metadata", "--quiet", "--format-version", "1"], options].concat())?;
        serde_json::from_str(&text).context("cannot parse the output of `cargo metadata`")
    }

    /// Adds missing packages to the lock file.
    pub(crate) fn lock(&self) -> Result<()> {
        self.call(&["update", "--quiet", "--workspace"]).map(drop)
    }

    /// Sets a locked dependency to exactly this version.
    pub(crate) fn update(&self, name: &str, version: &str) -> Result<()> {
        self.call(&["update", "--quiet", "--package", name, "--precise", version]).map(drop)
    }

    /// The only package of that name, as `cargo tree` prints it.
    ///
    /// The text has its version and, if it is not from the registry, its folder.
    pub(crate) fn version_in_tree(&self, name: &str) -> Result<String> {
        let text = self.call(&["tree", "--quiet", "--invert", name, "--depth", "0", "--prefix", "none"])?;
        Ok(text.trim().to_owned())
    }

    /// Builds a program in release mode. Returns its path.
    pub(crate) fn build(&self, name: &str, target: &Path) -> Result<PathBuf> {
        let target = target.as_os_str().to_owned();
        let arguments = ["build", "--release", "--bin", name, "--message-format", "json", "--target-dir"];
        let output = self
            .command(arguments.map(OsString::from).into_iter().chain([target]))
            .stderr(Stdio::inherit())
            .output()
            .context("cargo could not be started")?;
        let messages = Messages::read(&output.stdout, name);
        // Compiler errors are among the messages; cargo's own errors went to the user.
        let why = if messages.errors.is_empty() { "" } else { ":\n" };
        ensure!(
            output.status.success(),
            "cargo could not build {name} in {}{why}{}",
            self.folder.display(),
            messages.errors.trim()
        );
        messages.program.with_context(|| format!("cargo built {name} but reports no executable"))
    }

    fn call(&self, arguments: &[&str]) -> Result<String> {
        let mut command = self.command(arguments.iter().map(OsString::from));
        let output = command.output().context("cargo could not be started")?;
        ensure!(
            output.status.success(),
            "`cargo {}` failed in {}:\n{}",
            arguments.join(" "),
            self.folder.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
        String::from_utf8(output.stdout).context("the output of cargo is not Unicode")
    }

    fn command(&self, arguments: impl IntoIterator<Item = OsString>) -> Command {
        // Under `cargo run`, `CARGO` is the cargo that was called, with the same toolchain.
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
        command.args(arguments).current_dir(self.folder).stdin(Stdio::null());
        command
    }
}

/// The messages of a build, one line of JSON each.
#[derive(Debug)]
struct Messages {
    program: Option<PathBuf>,
    errors: String,
}

impl Messages {
    fn read(lines: &[u8], name: &str) -> Messages {
        let mut messages = Messages { program: None, errors: String::new() };
        for line in lines.split(|&byte| byte == b'\n') {
            let Ok(message) = serde_json::from_slice::<Value>(line) else { continue };
            if message["target"]["name"] == name && message["executable"].is_string() {
                messages.program = message["executable"].as_str().map(PathBuf::from);
            }
            if message["message"]["level"] == "error" {
                messages.errors.push_str(message["message"]["rendered"].as_str().unwrap_or_default());
            }
        }
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_says_where_the_program_is_and_what_was_wrong() {
        let lines = br#"{"reason":"compiler-artifact","target":{"name":"tokei"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"other"},"executable":"/t/other"}
{"reason":"compiler-artifact","target":{"name":"tokei"},"executable":"/t/tokei"}
{"reason":"compiler-message","message":{"level":"warning","rendered":"warning: w"}}
{"reason":"compiler-message","message":{"level":"error","rendered":"error: e"}}
not json"#;
        let messages = Messages::read(lines, "tokei");
        assert_eq!(messages.program, Some(PathBuf::from("/t/tokei")));
        assert_eq!(messages.errors, "error: e");
    }

    #[test]
    fn cargo_says_why_it_failed() {
        let folder = tempfile::tempdir().unwrap();
        let refusal = Cargo::in_folder(folder.path()).target_directory().unwrap_err().to_string();
        assert!(refusal.contains("`cargo metadata --quiet"), "{refusal}");
        assert!(refusal.contains("could not find `Cargo.toml`"), "{refusal}");
    }
}
