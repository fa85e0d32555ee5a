//! Finds the published packages, and the package that a build uses, from cargo's own messages.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context as _, Result};
use serde_json::Value;

use crate::command_line::CommandLine;

/// The packages whose tests run. The counts and names in this step belong to these versions.
const RAYON: (&str, &str) = ("rayon", "1.12.0");
const CORE: (&str, &str) = ("rayon-core", "1.13.0");

/// The sources of the published packages, including tests.
#[derive(Debug)]
pub(super) struct Published {
    pub(super) rayon: PathBuf,
    pub(super) core: PathBuf,
}

impl Published {
    /// Finds the packages that the repository's lock file names. The benchmarks use them for
    /// comparison.
    pub(super) fn find(cargo: CommandLine) -> Result<Self> {
        let metadata = metadata(cargo.arg("--locked"))?;
        Ok(Self { rayon: folder(&metadata, RAYON)?, core: folder(&metadata, CORE)? })
    }
}

/// Checks that the workspace of `cargo` has one rayon-core. Its manifest must be in the folder
/// `expected`.
pub(super) fn check_core(cargo: CommandLine, expected: &Path) -> Result<()> {
    let metadata = metadata(cargo)?;
    let expected =
        expected.canonicalize().with_context(|| format!("the folder {} does not exist", expected.display()))?;
    let found: Vec<&str> = named(&metadata, CORE.0).filter_map(|package| package["manifest_path"].as_str()).collect();
    ensure!(
        matches!(found[..], [one] if Path::new(one) == expected.join("Cargo.toml")),
        "cargo would build the tests with the rayon-core of {}, but must use that of {}: a patch applies only if it has \
         the name, a matching version and the features of the package it replaces",
        found.join(" and "),
        expected.display(),
    );
    Ok(())
}

fn metadata(cargo: CommandLine) -> Result<Value> {
    let json = cargo.words("--format-version 1").capture_stdout()?;
    serde_json::from_slice(&json).context("the output of `cargo metadata` is not JSON")
}

fn named<'a>(metadata: &'a Value, name: &'a str) -> impl Iterator<Item = &'a Value> {
    metadata["packages"].as_array().into_iter().flatten().filter(move |package| package["name"] == name)
}

fn folder(metadata: &Value, (name, version): (&str, &str)) -> Result<PathBuf> {
    let published = |package: &&Value| package["source"].as_str().is_some_and(|s| s.starts_with("registry+"));
    let packages: Vec<&Value> = named(metadata, name).filter(published).collect();
    let Some(package) = packages.iter().find(|package| package["version"] == version) else {
        let others: Vec<&str> = packages.iter().filter_map(|package| package["version"].as_str()).collect();
        let others = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
        bail!(
            "this step expects the tests of {name} {version}, but the lock file has {others}; use {version} in the lock \
             file, or update the counts and names in xtask/src/steps/rayon for the new tests"
        );
    };
    let manifest = package["manifest_path"].as_str().context("a package of `cargo metadata` has no manifest")?;
    Ok(Path::new(manifest).parent().context("a manifest has no folder")?.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lock(version: &str, source: Value) -> Value {
        json!({"packages": [
            {"name": "rayon-core", "version": "1.13.0", "source": "registry+x", "manifest_path": "/r/core/Cargo.toml"},
            {"name": "rayon", "version": version, "source": source, "manifest_path": "/r/rayon/Cargo.toml"},
        ]})
    }

    #[test]
    fn a_published_package_is_found_by_name_and_version() {
        let metadata = lock("1.12.0", json!("registry+x"));
        assert_eq!(folder(&metadata, RAYON).unwrap(), Path::new("/r/rayon"));
        assert_eq!(folder(&metadata, CORE).unwrap(), Path::new("/r/core"));
    }

    #[test]
    fn another_version_is_reported_and_a_local_package_does_not_count() {
        let error = folder(&lock("1.13.0", json!("registry+x")), RAYON).unwrap_err().to_string();
        assert!(error.contains("rayon 1.12.0, but the lock file has 1.13.0"), "{error}");
        let error = folder(&lock("1.12.0", Value::Null), RAYON).unwrap_err().to_string();
        assert!(error.contains("the lock file has none"), "{error}");
    }
}
