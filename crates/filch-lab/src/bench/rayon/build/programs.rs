//! filch's own programs, in a package for each core.
//!
//! Each package is only a manifest: both point to the same source.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{folder, toml, ProgramBuilder, ProgramPair};
use crate::bench::rayon::variant::{Core, RAYON_VERSION};

const NAME: &str = "rayon-programs";

impl ProgramBuilder {
    /// Builds the programs on both cores.
    pub(crate) fn build_programs(&self) -> Result<ProgramPair> {
        Ok(ProgramPair { stock: self.programs_on(Core::Stock)?, filch: self.programs_on(Core::Filch)? })
    }

    fn programs_on(&self, core: Core) -> Result<PathBuf> {
        let package = self.folder(core.name()).join(NAME);
        let manifest = manifest(&ProgramBuilder::programs(&self.sources))? + &self.manifest_end(core)?;
        let is_new = folder::write(&package.join("Cargo.toml"), manifest.as_bytes())?;

        // Cargo removes unneeded packages from the lock file and adds filch's core, so the original
        // lock file is kept beside it.
        let seed = self.sources.join("Cargo.lock");
        let versions = fs::read(&seed).with_context(|| format!("{} could not be read", seed.display()))?;
        if folder::write(&package.join("Cargo.lock.seed"), &versions)? || is_new {
            folder::write(&package.join("Cargo.lock"), &versions)?;
        }
        self.build(&package, NAME, core)
    }
}

/// The manifest of the programs.
///
/// The profile spells out the defaults of a release build: no optimisation across packages, but
/// across the parts of one package (`"off"` would disable that too).
fn manifest(source: &Path) -> Result<String> {
    Ok(format!(
        r#"# Written by `filch-lab bench rayon`.

[package]
name = "{NAME}"
version = "0.0.0"
edition = "2021"
publish = false

[[bin]]
name = "{NAME}"
path = {}

[dependencies]
rayon = "={RAYON_VERSION}"

[target.'cfg(target_os = "linux")'.dependencies]
libc = {{ version = "0.2", default-features = false }}

[profile.release]
opt-level = 3
lto = false
codegen-units = 16
debug = "line-tables-only"
"#,
        toml(source)?
    ))
}
