//! The packages that `cargo xtask test -p` accepts: the workspace's members and filch's rayon-core.

use anyhow::{bail, Context as _, Result};
use serde_json::Value;

use crate::steps::Context;

/// The package outside the workspace. Its `links` key is also that of the rayon that the lab
/// measures, so the two conflict.
const RAYON_CORE: &str = "rayon-core";

/// A package of the repository. Only libraries have documentation tests.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    library: bool,
}

/// A sorted list of packages. An empty list means all packages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packages(Vec<Package>);

impl Packages {
    /// Finds all packages of the repository.
    pub(crate) fn find(context: &Context) -> Result<Self> {
        let metadata = context.cargo("metadata --no-deps --format-version 1").output()?;
        let said = String::from_utf8_lossy(&metadata.stderr);
        let members = listed(&metadata.stdout).with_context(|| format!("cargo did not list the packages:\n{said}"))?;
        let rayon_core = Package { name: RAYON_CORE.to_owned(), library: true };
        Ok(Self::new(members.into_iter().chain([rayon_core])))
    }

    fn new(packages: impl IntoIterator<Item = Package>) -> Self {
        let mut packages: Vec<_> = packages.into_iter().collect();
        packages.sort();
        packages.dedup();
        Self(packages)
    }

    /// Returns the packages in `wanted`, or an error that lists the existing names.
    pub(crate) fn select(&self, wanted: &[String]) -> Result<Self> {
        let names: Vec<_> = self.0.iter().map(|package| package.name.as_str()).collect();
        if let Some(unknown) = wanted.iter().find(|name| !names.contains(&name.as_str())) {
            bail!("There is no package `{unknown}`. Give one of: {}.", names.join(", "));
        }
        Ok(Self::new(self.0.iter().filter(|package| wanted.contains(&package.name)).cloned()))
    }

    /// Returns whether the list means all packages.
    pub(crate) fn are_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether `name` is in the list.
    pub(crate) fn include(&self, name: &str) -> bool {
        self.are_all() || self.0.iter().any(|package| package.name == name)
    }

    /// Returns whether filch's rayon-core is in the list.
    pub(crate) fn include_rayon_core(&self) -> bool {
        self.include(RAYON_CORE)
    }

    /// Returns cargo's options for the workspace members in the list, if there are any.
    pub(crate) fn in_workspace(&self) -> Option<String> {
        self.members(|_| true)
    }

    /// Returns cargo's options for the members that are libraries, if there are any.
    pub(crate) fn libraries(&self) -> Option<String> {
        self.members(|package| package.library)
    }

    fn members(&self, select: impl Fn(&Package) -> bool) -> Option<String> {
        if self.are_all() {
            return Some("--workspace".to_owned());
        }
        let members = self.0.iter().filter(|package| package.name != RAYON_CORE && select(package));
        let options: Vec<_> = members.map(|package| format!("-p {}", package.name)).collect();
        (!options.is_empty()).then(|| options.join(" "))
    }

    /// Returns cargo's option for those of `features` that belong to packages in the list. Each
    /// feature has the form `package/feature`.
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

/// Returns the packages that `cargo metadata` describes.
fn listed(metadata: &[u8]) -> Option<Vec<Package>> {
    let metadata: Value = serde_json::from_slice(metadata).ok()?;
    let package = |package: &Value| {
        let name = package["name"].as_str()?.to_owned();
        let library = package["targets"].as_array()?.iter().any(|target| target["kind"][0] == "lib");
        Some(Package { name, library })
    };
    metadata["packages"].as_array()?.iter().map(package).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::Effort;

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Creates packages with these names. All are libraries, except the lab's program.
    fn packages(names: &[&str]) -> Packages {
        let package = |name: String| Package { library: name != "filch-lab", name };
        Packages::new(strings(names).into_iter().map(package))
    }

    #[test]
    fn the_repository_has_its_members_and_rayon_core() {
        let all = Packages::find(&Context::new(Effort::Quick)).unwrap();
        for name in ["filch-queue", "filch", "filch-lab", "xtask", "rayon-core"] {
            assert!(all.0.iter().any(|package| package.name == name), "{all:?}");
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
    fn a_program_has_no_documentation_tests() {
        assert_eq!(packages(&["filch", "filch-lab"]).libraries().unwrap(), "-p filch");
        assert_eq!(packages(&["filch-lab"]).libraries(), None);
        assert_eq!(Packages::default().libraries().unwrap(), "--workspace");
    }

    #[test]
    fn libraries_are_told_from_programs() {
        let said = br#"{"packages":[{"name":"filch","targets":[{"kind":["lib"]},{"kind":["test"]}]},
            {"name":"filch-lab","targets":[{"kind":["bin"]}]}]}"#;
        assert_eq!(listed(said).map(Packages::new), Some(packages(&["filch", "filch-lab"])));
        assert_eq!(listed(br#"{"packages":[{}]}"#), None);
        assert_eq!(listed(b""), None);
    }
}
