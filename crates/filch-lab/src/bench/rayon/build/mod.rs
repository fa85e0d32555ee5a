//! Builds everything twice: on the rayon-core of the registry and on filch's.
//!
//! Both are built from the same sources, by the same compiler, with the same profile and the same
//! versions of all other packages.

mod cargo;
mod folder;
mod programs;
mod published;

use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};

pub(crate) use cargo::Cargo;
pub(crate) use published::Package;

use super::variant::Core;

/// The same program on both cores.
#[derive(Clone, Debug)]
pub(crate) struct ProgramPair {
    pub(super) stock: PathBuf,
    pub(super) filch: PathBuf,
}

impl ProgramPair {
    /// The path of the program on `core`.
    pub(crate) fn on(&self, core: Core) -> &Path {
        match core {
            Core::Stock => &self.stock,
            Core::Filch => &self.filch,
        }
    }
}

/// The folders of the sources and of the builds.
#[derive(Debug)]
pub(crate) struct ProgramBuilder {
    sources: PathBuf,
    /// A folder below cargo's own target directory.
    folder: PathBuf,
}

impl ProgramBuilder {
    /// Finds the sources that this program was built from.
    pub(crate) fn open() -> Result<ProgramBuilder> {
        ProgramBuilder::open_at(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")))
    }

    fn open_at(root: &Path) -> Result<ProgramBuilder> {
        let sources = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        for needed in [ProgramBuilder::programs(&sources), ProgramBuilder::core(&sources).join("Cargo.toml")] {
            ensure!(
                needed.is_file(),
                "{} does not exist: this suite builds programs from filch's sources; run it from a checkout, with \
                 `cargo run --release -p filch-lab -- bench rayon`",
                needed.display()
            );
        }
        let folder = Cargo::in_folder(&sources).target_directory()?.join("rayon-suite");
        Ok(ProgramBuilder { sources, folder })
    }

    /// A folder for files of this suite other than programs.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn programs(sources: &Path) -> PathBuf {
        sources.join("crates/filch-lab/rayon-programs/src/main.rs")
    }

    fn core(sources: &Path) -> PathBuf {
        sources.join("crates/rayon-core")
    }

    /// The end of a manifest that makes it a workspace of its own, on `core`.
    fn manifest_end(&self, core: Core) -> Result<String> {
        let patch = match core {
            Core::Stock => String::new(),
            Core::Filch => {
                format!(
                    "\n[patch.crates-io]\nrayon-core = {{ path = {} }}\n",
                    toml(&ProgramBuilder::core(&self.sources))?
                )
            }
        };
        Ok(format!("\n[workspace]\n{patch}"))
    }

    /// Builds the program `name` in `folder`, and checks that it uses `core`.
    fn build(&self, folder: &Path, name: &str, core: Core) -> Result<PathBuf> {
        let cargo = Cargo::in_folder(folder);
        let program = cargo.build(name, &self.folder(core.name()).join("target"))?;
        let (found, expected) =
            (cargo.version_in_tree("rayon-core")?, core.in_cargo_tree(&ProgramBuilder::core(&self.sources)));
        ensure!(
            found == expected,
            "{name} must be built on `{expected}`, but in {} cargo chose `{found}`; remove that folder to rebuild it",
            folder.display()
        );
        Ok(program)
    }
}

/// A path as a TOML string.
fn toml(path: &Path) -> Result<String> {
    let text = path.to_str().with_context(|| {
        format!(
            "{} is not Unicode, as a path in a manifest must be; move the sources to another folder",
            path.display()
        )
    })?;
    // TOML reads what JSON escapes.
    Ok(serde_json::to_string(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_sources_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let refusal = ProgramBuilder::open_at(folder.path()).unwrap_err().to_string();
        assert!(refusal.contains("main.rs does not exist: this suite builds programs"), "{refusal}");
        assert!(ProgramBuilder::open_at(&folder.path().join("nowhere")).is_err());
    }

    #[test]
    fn only_filchs_core_is_patched() {
        let builder = ProgramBuilder { sources: PathBuf::from("/src"), folder: PathBuf::from("/target") };
        assert_eq!(builder.manifest_end(Core::Stock).unwrap(), "\n[workspace]\n");
        let filch = builder.manifest_end(Core::Filch).unwrap();
        assert!(filch.contains("[patch.crates-io]\nrayon-core = { path = \"/src/crates/rayon-core\" }"), "{filch}");
    }

    #[test]
    fn a_path_is_escaped_in_a_manifest() {
        assert_eq!(toml(Path::new("C:\\a \"b\"")).unwrap(), r#""C:\\a \"b\"""#);
    }
}
