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
        let errors = String::from_utf8_lossy(&metadata.stderr);
        let members = parse_metadata(&metadata.stdout)
            .with_context(|| format!("cannot list the packages of the workspace:\n{errors}"))?;
        let rayon_core = Package { name: RAYON_CORE.to_owned(), library: true };
        Ok(Self::new(members.into_iter().chain([rayon_core])))
    }

    fn new(packages: impl IntoIterator<Item = Package>) -> Self {
        let mut packages: Vec<_> = packages.into_iter().collect();
        packages.sort();
        packages.dedup();
        Self(packages)
    }

    /// Returns the packages called `names`, or an error that lists the existing names.
    pub(crate) fn select(&self, names: &[String]) -> Result<Self> {
        let known: Vec<_> = self.0.iter().map(|package| package.name.as_str()).collect();
        if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
            bail!("unknown package `{unknown}`: give one of {}", known.join(", "));
        }
        Ok(Self::new(self.0.iter().filter(|package| names.contains(&package.name)).cloned()))
    }

    /// Returns whether the list means all packages.
    pub(crate) fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether `name` is in the list.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.is_all() || self.0.iter().any(|package| package.name == name)
    }

    /// Returns whether filch's rayon-core is in the list.
    pub(crate) fn contains_rayon_core(&self) -> bool {
        self.contains(RAYON_CORE)
    }

    /// Returns cargo's options for the workspace members in the list, if there are any.
    pub(crate) fn workspace_options(&self) -> Option<String> {
        self.members(|_| true)
    }

    /// Returns cargo's options for the members that are libraries, if there are any.
    pub(crate) fn library_options(&self) -> Option<String> {
        self.members(|package| package.library)
    }

    fn members(&self, select: impl Fn(&Package) -> bool) -> Option<String> {
        if self.is_all() {
            return Some("--workspace".to_owned());
        }
        let members = self.0.iter().filter(|package| package.name != RAYON_CORE && select(package));
        let options: Vec<_> = members.map(|package| format!("-p {}", package.name)).collect();
        (!options.is_empty()).then(|| options.join(" "))
    }

    /// Returns cargo's option for those of `features` that belong to packages in the list. Each
    /// feature has the form `package/feature`.
    pub(crate) fn feature_options(&self, features: &[&str]) -> String {
        let package = |feature: &str| feature.split('/').next().unwrap_or_default().to_owned();
        let selected: Vec<_> = features.iter().copied().filter(|feature| self.contains(&package(feature))).collect();
        if selected.is_empty() {
            String::new()
        } else {
            format!("--features {}", selected.join(","))
        }
    }
}

/// Returns the packages that `cargo metadata` describes.
fn parse_metadata(metadata: &[u8]) -> Option<Vec<Package>> {
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
    fn the_packages_are_the_members_and_rayon_core() {
        let all = Packages::find(&Context::new(Effort::Quick)).unwrap();
        for name in ["filch-queue", "filch", "filch-lab", "xtask", "rayon-core"] {
            assert!(all.0.iter().any(|package| package.name == name), "{all:?}");
        }
        assert_eq!(all.select(&strings(&["filch", "filch"])).unwrap(), packages(&["filch"]));
    }

    #[test]
    fn the_error_for_an_unknown_name_lists_the_known_ones() {
        let error = packages(&["a", "b"]).select(&strings(&["b", "c"])).unwrap_err().to_string();
        assert_eq!(error, "unknown package `c`: give one of a, b");
    }

    #[test]
    fn cargo_gets_the_members_and_the_features_that_belong_to_them() {
        let features = ["filch/trace", "filch-graph/petgraph"];
        let all = Packages::default();
        assert_eq!(all.workspace_options().unwrap(), "--workspace");
        assert_eq!(all.feature_options(&features), "--features filch/trace,filch-graph/petgraph");
        assert!(all.contains_rayon_core());

        let two = packages(&["filch-graph", "filch-queue"]);
        assert_eq!(two.workspace_options().unwrap(), "-p filch-graph -p filch-queue");
        assert_eq!(two.feature_options(&features), "--features filch-graph/petgraph");
        assert!(!two.contains_rayon_core());

        let core = packages(&["rayon-core"]);
        assert_eq!(core.workspace_options(), None);
        assert_eq!(core.feature_options(&features), "");
        assert!(core.contains_rayon_core());
    }

    #[test]
    fn a_program_has_no_documentation_tests() {
        assert_eq!(packages(&["filch", "filch-lab"]).library_options().unwrap(), "-p filch");
        assert_eq!(packages(&["filch-lab"]).library_options(), None);
        assert_eq!(Packages::default().library_options().unwrap(), "--workspace");
    }

    #[test]
    fn libraries_and_programs_are_distinguished() {
        let json = br#"{"packages":[{"name":"filch","targets":[{"kind":["lib"]},{"kind":["test"]}]},
            {"name":"filch-lab","targets":[{"kind":["bin"]}]}]}"#;
        assert_eq!(parse_metadata(json).map(Packages::new), Some(packages(&["filch", "filch-lab"])));
        assert_eq!(parse_metadata(br#"{"packages":[{}]}"#), None);
        assert_eq!(parse_metadata(b""), None);
    }
}
