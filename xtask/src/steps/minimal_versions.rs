//! Builds the libraries with the lowest version of each dependency that their manifests allow.
//!
//! A program's own lock file selects its versions, also if filch's rayon-core is its patch. So the
//! lower bounds in the manifests must be true. Cargo selects the lower bounds of a workspace's
//! members, and development dependencies would raise them. So this step copies the libraries to the
//! target folder without development dependencies, into a workspace with its own lock file:
//! `xtask/minimal-versions/Cargo.lock`. With that file the result does not depend on later
//! releases.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context as _, Result};
use serde_json::Value;

use super::tests::ALL_BUT_MPI;
use super::{nightly, Context, Outcome};
use crate::command_line::CommandLine;
use crate::generated_dir::{read, GeneratedDir};
use crate::output::print_line;

/// The packages that other programs depend on, by their folders in `crates`.
const LIBRARIES: [&str; 7] =
    ["filch-queue", "filch", "rayon-core", "filch-graph", "filch-dd", "filch-mpi", "filch-model"];

/// Folders of a package that the library does not need.
const SKIPPED_FOLDERS: [&str; 4] = ["benches", "examples", "target", "tests"];

/// Tables of a manifest that belong to tests and examples.
const DEV_TABLES: [&str; 4] = ["[dev-dependencies", "[[bench]]", "[[example]]", "[[test]]"];

/// The lock file with the lowest versions.
const LOCK: &str = "xtask/minimal-versions/Cargo.lock";

/// Builds the libraries with the lowest versions, and checks that these are the lowest.
pub(super) fn run(context: &Context) -> Result<Outcome> {
    if nightly::host(&context.root).is_none() {
        return context.skip(
            "the build with the lowest versions needs the nightly toolchain: run `rustup toolchain install nightly`",
        );
    }
    let folder = context.target("minimal-versions");
    copy_libraries(context, GeneratedDir::new(context.root.join(&folder).join("workspace")))?;
    let features = format!("--features {}", ALL_BUT_MPI.join(","));
    cargo(context, &folder, "check --workspace --lib").words(&features).run()?;

    let metadata = cargo(context, &folder, "metadata --all-features --format-version 1").capture_stdout()?;
    let bounds = bounds(&serde_json::from_slice(&metadata).context("the output of `cargo metadata` is not JSON")?);
    ensure!(!bounds.is_empty(), "the output of `cargo metadata` has no dependencies; its format may have changed");
    let problems: Vec<_> = bounds.iter().filter_map(Bound::problem).collect();
    ensure!(
        problems.is_empty(),
        "the build did not use the lower bounds of these dependencies:\n- {}\nRaise bounds that are too low in \
         Cargo.toml. To create {LOCK} again, remove it, run this step and copy {} there",
        problems.join("\n- "),
        folder.join("workspace/Cargo.lock").display()
    );
    print_line!("{} dependencies at their lower bounds", bounds.len());
    Ok(Outcome::Passed)
}

fn cargo(context: &Context, folder: &Path, line: &str) -> CommandLine {
    context
        .cargo("+nightly -Z direct-minimal-versions")
        .words(line)
        .arg("--manifest-path")
        .arg(folder.join("workspace/Cargo.toml"))
        .env("CARGO_TARGET_DIR", folder.join("build"))
}

/// Copies the sources of the libraries, without files that only tests need.
fn copy_libraries(context: &Context, mut dir: GeneratedDir) -> Result<()> {
    dir.write("Cargo.toml", &root_manifest(&read(&context.root.join("Cargo.toml"))?))?;
    let lock = context.root.join(LOCK);
    if lock.is_file() {
        dir.copy(&lock, "Cargo.lock")?;
    }
    for library in LIBRARIES {
        let (from, to) = (context.root.join("crates").join(library), PathBuf::from("crates").join(library));
        for entry in from.read_dir().with_context(|| format!("cannot read {}", from.display()))? {
            let name = entry?.file_name();
            if name == "Cargo.toml" {
                let manifest = without_tables(&read(&from.join(&name))?, &DEV_TABLES);
                dir.write(to.join(&name), &manifest)?;
            } else if name != "Cargo.lock" && !SKIPPED_FOLDERS.iter().any(|folder| name == *folder) {
                dir.copy(&from.join(&name), to.join(&name))?;
            }
        }
    }
    dir.remove_old_files()
}

/// The workspace's manifest with the libraries as members and without profiles.
fn root_manifest(text: &str) -> String {
    let members = format!("members = {:?}", LIBRARIES.map(|library| format!("crates/{library}")));
    let lines = without_tables(text, &["[profile"]);
    let lines = lines.lines().filter_map(|line| match line.split(" = ").next() {
        Some("members") => Some(members.as_str()),
        Some("default-members" | "exclude") => None,
        _ => Some(line),
    });
    lines.fold(String::new(), |text, line| text + line + "\n")
}

/// A manifest without the tables whose headers begin with one of `headers`.
fn without_tables(manifest: &str, headers: &[&str]) -> String {
    let mut kept = String::new();
    let mut keep = true;
    for line in manifest.lines() {
        if line.starts_with('[') {
            keep = !headers.iter().any(|header| line.starts_with(header));
        }
        if keep {
            kept += line;
            kept += "\n";
        }
    }
    kept
}

/// A dependency of a member, with the version that was built.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bound {
    name: String,
    requirement: String,
    /// All built versions with that name. Some may be dependencies of dependencies.
    built: Vec<String>,
}

impl Bound {
    /// Returns an error message if the lowest allowed version was not built.
    fn problem(&self) -> Option<String> {
        let Self { name, requirement, built } = self;
        let lowest = lowest(requirement);
        (!built.contains(&lowest))
            .then(|| format!("{name}: `{requirement}` allows {lowest}, but {} was built", built.join(", ")))
    }
}

/// The lowest version that a requirement such as `^0.9.5` allows.
fn lowest(requirement: &str) -> String {
    let version = requirement.trim_start_matches(['^', '=', '~', '>']).trim();
    let parts = version.split('.').count();
    format!("{version}{}", ".0".repeat(3_usize.saturating_sub(parts)))
}

/// The dependencies of all members that come from a registry.
fn bounds(metadata: &Value) -> BTreeSet<Bound> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = list(&metadata["packages"]);
    let built = |name: &Value| {
        let same_name = packages.iter().filter(|package| package["name"] == *name);
        same_name.map(|package| text(&package["version"])).collect::<Vec<_>>()
    };
    let members = list(&metadata["workspace_members"]);
    let members = packages.iter().filter(|package| members.contains(&package["id"]));
    let dependencies = members.flat_map(|member| list(&member["dependencies"]));
    let published = dependencies.filter(|dependency| dependency["source"].is_string());
    published
        .map(|dependency| Bound {
            name: text(&dependency["name"]),
            requirement: text(&dependency["req"]),
            built: built(&dependency["name"]),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems(requirement: &str, built: &[&str]) -> Vec<String> {
        let packages = built.iter().map(|version| json!({"name": "memmap2", "id": version, "version": version}));
        let member = json!({"name": "filch", "id": "filch", "version": "0.1.0", "dependencies": [
            {"name": "memmap2", "req": requirement, "source": "registry"},
            {"name": "filch-queue", "req": "^0.1.0", "source": null},
        ]});
        let packages: Vec<_> = packages.chain([member]).collect();
        let bounds = bounds(&json!({"packages": packages, "workspace_members": ["filch"]}));
        assert_eq!(bounds.len(), 1);
        bounds.iter().filter_map(Bound::problem).collect()
    }

    #[test]
    fn a_version_above_the_lower_bound_is_a_problem() {
        assert_eq!(problems("^0.9.8", &["0.9.8"]), [""; 0]);
        assert_eq!(problems("^0.9", &["0.8.1", "0.9.0"]), [""; 0]);
        assert_eq!(problems("^0.9.5", &["0.9.8"]), ["memmap2: `^0.9.5` allows 0.9.5, but 0.9.8 was built"]);
        assert_eq!(problems("^1", &["1.0.2"]), ["memmap2: `^1` allows 1.0.0, but 1.0.2 was built"]);
        assert_eq!(problems("^1", &[]).len(), 1);
    }

    #[test]
    fn the_copy_has_the_libraries_and_no_development_dependencies() {
        let root = "[workspace]\nmembers = [\"xtask\"]\ndefault-members = [\"xtask\"]\nexclude = [\"a\"]\n\
                    [workspace.dependencies]\nlibc = \"0.2\"\n[profile.test]\ndebug = false\n[profile.test.package]\na.b = 1\n";
        let copied = root_manifest(root);
        assert!(copied.starts_with("[workspace]\nmembers = [\"crates/filch-queue\", \"crates/filch\""), "{copied}");
        assert!(copied.ends_with("]\n[workspace.dependencies]\nlibc = \"0.2\"\n"), "{copied}");

        let package = "[dependencies]\na = \"1\"\n[dev-dependencies]\nb = \"1\"\n[[example]]\nname = \"c\"\n[lints]\nworkspace = true\n";
        assert_eq!(without_tables(package, &DEV_TABLES), "[dependencies]\na = \"1\"\n[lints]\nworkspace = true\n");
    }
}
