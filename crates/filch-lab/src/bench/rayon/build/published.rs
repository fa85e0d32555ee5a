//! Programs that others have published, with their own profile.
//!
//! All their dependencies have the same versions on both cores.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{folder, Cargo, ProgramBuilder, ProgramPair};
use crate::bench::rayon::variant::{Core, CORE_VERSION, RAYON_VERSION};

/// A package of the registry with a program of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
}

impl ProgramBuilder {
    /// Fetches a package and builds its program.
    pub(crate) fn build_published(&self, package: Package) -> Result<ProgramPair> {
        let context = || {
            let Package { name, version } = package;
            format!("cannot build {name} {version}; to leave it out, select other cases with `--case`")
        };
        self.published_pair(package).with_context(context)
    }

    fn published_pair(&self, package: Package) -> Result<ProgramPair> {
        // The last file that unpacking writes. It records where filch's core was at that time.
        let mark = self.package_on(Core::Filch, package).join("unpacked");
        let end = self.manifest_end(Core::Filch)?;
        if !fs::read(&mark).is_ok_and(|old| old == end.as_bytes()) {
            self.unpack(package)?;
            folder::write(&mark, end.as_bytes())?;
        }
        let build = |core| self.build(&self.package_on(core, package), package.name, core);
        Ok(ProgramPair { stock: build(Core::Stock)?, filch: build(Core::Filch)? })
    }

    fn package_on(&self, core: Core, Package { name, version }: Package) -> PathBuf {
        self.folder(core.name()).join(format!("{name}-{version}"))
    }

    /// Copies the sources for each core, with the same versions of everything else.
    fn unpack(&self, package: Package) -> Result<()> {
        let sources = self.fetch(package)?;
        for core in Core::BOTH {
            let copy = self.package_on(core, package);
            folder::copy(&sources, &copy)?;
            let manifest = read(&sources.join("Cargo.toml"))? + &self.manifest_end(core)?;
            folder::write(&copy.join("Cargo.toml"), manifest.as_bytes())?;
        }

        // Like `cargo install`, this ignores the published lock file. That file may have an older
        // rayon-core, to which the patch would not apply, or older versions of what filch's core
        // needs. filch's comes first for the same reason.
        let (filch, stock) = (self.package_on(Core::Filch, package), self.package_on(Core::Stock, package));
        folder::remove(&filch.join("Cargo.lock"))?;
        let cargo = Cargo::in_folder(&filch);
        cargo.lock()?;
        cargo.update("rayon", RAYON_VERSION)?;
        fs::copy(filch.join("Cargo.lock"), stock.join("Cargo.lock")).context("the lock file could not be copied")?;
        let cargo = Cargo::in_folder(&stock);
        cargo.lock()?;
        cargo.update("rayon-core", CORE_VERSION)
    }

    /// Makes cargo fetch the package as a dependency of an empty package. Returns its folder.
    fn fetch(&self, Package { name, version }: Package) -> Result<PathBuf> {
        let scratch = self.folder("registry").join(name);
        let manifest = format!(
            "[package]\nname = \"fetch-{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[lib]\npath = \"nothing.rs\"\n\n\
             [dependencies]\n{name} = {{ version = \"={version}\", default-features = false }}\n\n[workspace]\n"
        );
        folder::write(&scratch.join("nothing.rs"), b"")?;
        folder::write(&scratch.join("Cargo.toml"), manifest.as_bytes())?;
        Cargo::in_folder(&scratch).sources_of(name)
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("{} could not be read", path.display()))
}
