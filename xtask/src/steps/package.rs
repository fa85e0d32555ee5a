//! Packages the libraries as for a registry, and builds each package.
//!
//! A package contains only the files of its own folder. So this step finds a library that includes
//! a file from elsewhere in the repository, or whose manifest lacks what a registry asks for.

use anyhow::{ensure, Context as _, Result};
use serde_json::Value;

use super::{Context, Outcome};
use crate::output::print_line;

/// The fields that every published package has.
const FIELDS: [&str; 6] = ["description", "license", "readme", "rust_version", "categories", "keywords"];

/// Packages all workspace members that may be published.
pub(super) fn run(context: &Context) -> Result<Outcome> {
    let metadata = context.cargo("metadata --no-deps --format-version 1").capture_stdout()?;
    let metadata = serde_json::from_slice(&metadata).context("cargo's metadata is not JSON")?;
    let packages = published(&metadata);
    ensure!(!packages.is_empty(), "cargo's metadata names no package to publish; its format may have changed");
    let problems: Vec<_> = packages.iter().flat_map(|package| missing(package)).collect();
    ensure!(problems.is_empty(), "manifests lack fields:\n- {}", problems.join("\n- "));
    let options: Vec<_> = packages.iter().map(|package| format!("-p {}", name(package))).collect();
    context
        .cargo("package --allow-dirty")
        .words(&options.join(" "))
        .env("CARGO_TARGET_DIR", context.target("packages"))
        .run()?;
    print_line!("{} packages", packages.len());
    Ok(Outcome::Passed)
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap_or_default()
}

/// Returns the packages without `publish = false`, for which cargo lists no registry at all.
fn published(metadata: &Value) -> Vec<&Value> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    packages.iter().filter(|package| package["publish"].as_array().map_or(true, |list| !list.is_empty())).collect()
}

/// Returns a message for each required field that the package lacks.
fn missing(package: &Value) -> Vec<String> {
    let is_empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    let fields = FIELDS.into_iter().filter(|field| is_empty(&package[*field]));
    fields.map(|field| format!("{}: no {}", name(package), field.replace('_', "-"))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn packages_without_a_registry_are_left_out() {
        let metadata = json!({"packages": [
            {"name": "filch", "publish": null},
            {"name": "xtask", "publish": []},
            {"name": "filch-dd", "publish": ["here"]},
        ]});
        let names: Vec<_> = published(&metadata).into_iter().map(name).collect();
        assert_eq!(names, ["filch", "filch-dd"]);
        assert!(published(&json!({})).is_empty());
    }

    #[test]
    fn missing_fields_are_named() {
        let mut package = json!({"name": "filch", "description": "Fork-join", "license": "MIT", "readme": "README.md",
            "rust_version": "1.85", "categories": ["concurrency"], "keywords": ["parallel"]});
        assert_eq!(missing(&package), [""; 0]);
        package["rust_version"] = Value::Null;
        package["categories"] = json!([]);
        assert_eq!(missing(&package), ["filch: no rust-version", "filch: no categories"]);
    }
}
