//! The workspaces in which the tests are built. The step copies all files of rayon from its
//! packages.

use std::path::{Path, PathBuf};

use anyhow::{ensure, Result};

use super::packages::Published;
use crate::command_line::CommandLine;
use crate::generated_dir::{read, GeneratedDir};
use crate::steps::Context;

/// The packages of rayon-core's tests and of the parity tests, which stock must pass, too.
pub(super) const CORE_TESTS: &str = "rayon-core-tests";
pub(super) const PARITY: &str = "parity";

/// Modules of rayon-core with a file of tests.
const TESTED_MODULES: [&str; 5] = ["broadcast", "join", "scope", "spawn", "thread_pool"];

/// A generated workspace.
#[derive(Debug)]
pub(super) struct Workspace<'a> {
    context: &'a Context,
    folder: PathBuf,
}

impl<'a> Workspace<'a> {
    /// A workspace with filch's rayon-core. It has rayon, the tests of rayon-core and the parity
    /// tests.
    pub(super) fn filch(context: &'a Context, published: &Published, core: &Path) -> Result<Self> {
        let workspace = Self { context, folder: context.target("rayon").join("filch") };
        let mut dir = workspace.generated_dir();
        let members = format!("\"rayon\", \"{CORE_TESTS}\", \"{PARITY}\"");
        let patch = format!("\n[patch.crates-io]\nrayon-core = {{ path = '{}' }}\n", core.display());
        dir.write("Cargo.toml", &root_manifest(&members, &patch))?;
        // Without a lock file, each run would build with the newest versions of that day. Cargo
        // updates it when the dependencies change.
        dir.copy(&context.root.join("xtask/rayon/Cargo.lock"), "Cargo.lock")?;
        dir.copy(&published.rayon, "rayon")?;
        workspace.copy_core_tests(&mut dir, &published.core)?;
        workspace.copy_parity(&mut dir)?;
        dir.remove_old_files()?;
        Ok(workspace)
    }

    /// A workspace with the parity tests and the published rayon-core.
    pub(super) fn stock(context: &'a Context, published: &Published) -> Result<Self> {
        let workspace = Self { context, folder: context.target("rayon").join("stock") };
        let mut dir = workspace.generated_dir();
        dir.write("Cargo.toml", &root_manifest(&format!("\"{PARITY}\""), ""))?;
        dir.copy(&published.rayon.join("Cargo.lock"), "Cargo.lock")?;
        workspace.copy_parity(&mut dir)?;
        dir.remove_old_files()?;
        Ok(workspace)
    }

    /// Returns a command line of `cargo` with the words of `line` for this workspace.
    pub(super) fn cargo(&self, line: &str) -> CommandLine {
        self.context
            .cargo(line)
            .arg("--manifest-path")
            .arg(self.folder.join("Cargo.toml"))
            .env("CARGO_TARGET_DIR", self.context.target("rayon").join("build"))
    }

    fn generated_dir(&self) -> GeneratedDir {
        GeneratedDir::new(self.context.root.join(&self.folder))
    }

    fn copy_core_tests(&self, dir: &mut GeneratedDir, core: &Path) -> Result<()> {
        let to = Path::new(CORE_TESTS);
        dir.write(to.join("Cargo.toml"), &core_tests_manifest())?;
        dir.copy(&self.context.root.join("xtask/rayon/unit_tests.rs"), to.join("src/lib.rs"))?;
        for path in ["tests", "src/compile_fail", "src/test.rs"] {
            dir.copy(&core.join(path), to.join(path))?;
        }
        for module in TESTED_MODULES {
            let path = format!("src/{module}/test.rs");
            let text = read(&core.join(&path))?;
            dir.write(to.join(path), &if module == "thread_pool" { without_private_field(&text)? } else { text })?;
        }
        Ok(())
    }

    fn copy_parity(&self, dir: &mut GeneratedDir) -> Result<()> {
        let (from, to) = (self.context.root.join("xtask/rayon"), Path::new(PARITY));
        dir.write(to.join("Cargo.toml"), &package(PARITY))?;
        dir.write(to.join("src/lib.rs"), "//! The tests are in `tests`.\n")?;
        dir.copy(&from.join("parity"), to.join("tests/parity"))?;
        dir.copy(&from.join("barriers.rs"), to.join("tests/barriers.rs"))
    }
}

/// Replaces a private field in the tests of a pool. They use it in two places; `unit_tests.rs` has
/// the replacement.
fn without_private_field(text: &str) -> Result<String> {
    const FIELD: &str = "thread_pool.registry";
    let places = text.matches(FIELD).count();
    ensure!(
        places == 2,
        "rayon-core's tests of a pool use `{FIELD}` in {places} places, not in 2; update `without_private_field`"
    );
    Ok(text.replace(FIELD, "crate::registry::of(&thread_pool)"))
}

/// The workspace's manifest, without optimisation. That makes the tests slower by a minute, and
/// their build faster by four.
fn root_manifest(members: &str, patch: &str) -> String {
    format!("[workspace]\nresolver = \"2\"\nmembers = [{members}]\n{patch}\n[profile.dev]\ndebug = false\nincremental = false\n")
}

fn package(name: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\npublish = false\n\n\
         [dependencies]\nrayon-core = \"1.13\"\n"
    )
}

/// The manifest of rayon-core's tests, with the development dependencies of rayon-core.
fn core_tests_manifest() -> String {
    package(CORE_TESTS)
        + "\n[dev-dependencies]\ncrossbeam-utils = \"0.8.0\"\nrand = \"0.9\"\nrand_xorshift = \"0.4\"\nscoped-tls = \"1.0\"\n\
           \n[target.\"cfg(unix)\".dev-dependencies]\nlibc = \"0.2\"\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_field_is_replaced_in_exactly_two_places() {
        let text = "let a = Arc::clone(&thread_pool.registry);\nlet b = Arc::clone(&thread_pool.registry);\n";
        let replaced = without_private_field(text).unwrap();
        assert!(replaced.starts_with("let a = Arc::clone(&crate::registry::of(&thread_pool));\n"), "{replaced}");
        assert!(!replaced.contains("thread_pool.registry"));
        let error = without_private_field(&text[..60]).unwrap_err().to_string();
        assert!(error.contains("in 1 places"), "{error}");
    }
}
