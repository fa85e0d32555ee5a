//! The packages that `cargo xtask test -p` accepts: the workspace's members and our rayon-core.

use anyhow::{bail, Context as _, Result};
use serde_json::Value;

use crate::steps::Context;

/// The package that is no member of the workspace: it has the same `links` key as the rayon that the lab measures.
const RAYON_CORE: &str = "rayon-core";

/// Names of packages, sorted. An empty list stands for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packages(Vec<String>);

impl Packages {
    /// Finds all packages of the repository.
    pub(crate) fn find(context: &Context) -> Result<Self> {
        let metadata = context.cargo("metadata --no-deps --format-version 1").output()?;
        let said = String::from_utf8_lossy(&metadata.stderr);
        let names = names(&metadata.stdout).with_context(|| format!("cargo did not list the packages:\n{said}"))?;
        Ok(Self::new(names.into_iter().chain([RAYON_CORE.to_owned()])))
    }

    fn new(names: impl IntoIterator<Item = String>) -> Self {
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort();
        names.dedup();
        Self(names)
    }

    /// Returns the packages in `wanted`, or an error that lists the names there are.
    pub(crate) fn select(&self, wanted: &[String]) -> Result<Self> {
        if let Some(unknown) = wanted.iter().find(|name| !self.0.contains(name)) {
            bail!("There is no package `{unknown}`. Give one of: {}.", self.0.join(", "));
        }
        Ok(Self::new(wanted.iter().cloned()))
    }

    /// Whether all packages are meant.
    pub(crate) fn are_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `name` is among them.
    pub(crate) fn include(&self, name: &str) -> bool {
        self.are_all() || self.0.iter().any(|package| package == name)
    }

    /// Whether our rayon-core is among them.
    pub(crate) fn include_rayon_core(&self) -> bool {
        self.include(RAYON_CORE)
    }

    /// Cargo's options that select the workspace's members among them, or nothing if there are none.
    pub(crate) fn in_workspace(&self) -> Option<String> {
        if self.are_all() {
            return Some("--workspace".to_owned());
        }
        let members = self.0.iter().filter(|name| *name != RAYON_CORE);
        let options: Vec<_> = members.map(|name| format!("-p {name}")).collect();
        (!options.is_empty()).then(|| options.join(" "))
    }

    /// Cargo's option for those of `features`, each `package/feature`, whose packages are among them.
    pub(crate) fn features(&self, features: &[&str]) -> String {
        let package = |feature: &str| feature.split('/').next().unwrap_or_default().to_owned();
        let ours: Vec<_> = features.iter().copied().filter(|feature| self.include(&package(feature))).collect();
        if ours.is_empty() {
            String::new()
        } else {
            format!("--features {}", ours.join(","))
        }
    }
}

/// The names of the packages that `cargo metadata` describes.
fn names(metadata: &[u8]) -> Option<Vec<String>> {
    let metadata: Value = serde_json::from_slice(metadata).ok()?;
    metadata["packages"].as_array()?.iter().map(|package| Some(package["name"].as_str()?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::Effort;

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn packages(names: &[&str]) -> Packages {
        Packages::new(strings(names))
    }

    #[test]
    fn the_repository_has_its_members_and_rayon_core() {
        let all = Packages::find(&Context::new(Effort::Quick)).unwrap();
        for name in ["filch-queue", "filch", "filch-lab", "xtask", "rayon-core"] {
            assert!(all.0.contains(&name.to_owned()), "{all:?}");
        }
        assert_eq!(all.select(&strings(&["filch", "filch"])).unwrap(), packages(&["filch"]));
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_right_ones() {
        let error = packages(&["a", "b"]).select(&strings(&["b", "c"])).unwrap_err().to_string();
        assert_eq!(error, "There is no package `c`. Give one of: a, b.");
    }

    #[test]
    fn cargo_gets_the_members_and_the_features_that_belong_to_them() {
        let features = ["filch/trace", "filch-graph/petgraph"];
        let all = Packages::default();
        assert_eq!(all.in_workspace().unwrap(), "--workspace");
        assert_eq!(all.features(&features), "--features filch/trace,filch-graph/petgraph");
        assert!(all.include_rayon_core());

        let two = packages(&["filch-graph", "filch-queue"]);
        assert_eq!(two.in_workspace().unwrap(), "-p filch-graph -p filch-queue");
        assert_eq!(two.features(&features), "--features filch-graph/petgraph");
        assert!(!two.include_rayon_core());

        let core = packages(&["rayon-core"]);
        assert_eq!(core.in_workspace(), None);
        assert_eq!(core.features(&features), "");
        assert!(core.include_rayon_core());
    }

    #[test]
    fn what_cargo_does_not_say_is_not_a_list() {
        assert_eq!(names(br#"{"packages":[{"name":"a"},{"name":"b"}]}"#), Some(strings(&["a", "b"])));
        assert_eq!(names(br#"{"packages":[{}]}"#), None);
        assert_eq!(names(b""), None);
    }
}
