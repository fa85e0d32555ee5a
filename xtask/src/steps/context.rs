//! What every step needs to know, and what it can come to.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{bail, Result};

use super::mpi;
use crate::artifact;
use crate::call::Call;
use crate::packages::Packages;

/// How a step ended that found nothing wrong.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It ran to its end.
    Passed,
    /// A tool is missing here; the sentence says which and how to get it.
    Skipped(String),
}

/// How long the searching steps search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// What fits into a test after a change: fewer tasks in the stress tests.
    Quick,
    /// What fits into a run of continuous integration.
    Usual,
    /// Ten times the tasks, many more cases, and this many preemptions in loom's models.
    Deep {
        /// The bound handed to every loom model.
        preemptions: u8,
    },
}

/// What every step needs to know.
#[derive(Debug)]
pub(crate) struct Context {
    /// The repository; every command runs here.
    pub(crate) root: PathBuf,
    target: PathBuf,
    ci: bool,
    mpi: OnceLock<bool>,
    lab: Mutex<Option<PathBuf>>,
    /// Whether MPI is installed where it is missing and that needs no questions. Only who asks for its step wants that.
    pub(crate) installs_mpi: bool,
    /// How long to search.
    pub(crate) effort: Effort,
    /// The packages that the steps of `cargo xtask test` check.
    pub(crate) packages: Packages,
}

impl Context {
    /// The context of this run, from the environment.
    pub(crate) fn new(effort: Effort) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository").to_owned();
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
        let ci = env::var("CI").is_ok_and(|value| value == "true" || value == "1");
        Self {
            root,
            target,
            ci,
            mpi: OnceLock::new(),
            lab: Mutex::default(),
            installs_mpi: false,
            effort,
            packages: Packages::default(),
        }
    }

    /// `program`, in the repository.
    pub(crate) fn call(&self, program: impl AsRef<OsStr>) -> Call {
        Call::new(program, &self.root)
    }

    /// `cargo` with the words of `line`.
    pub(crate) fn cargo(&self, line: &str) -> Call {
        self.call("cargo").words(line)
    }

    /// Whether all that MPI needs is here.
    ///
    /// Who asks first sees to it, and others wait: all steps of a run have the same answer, and so they build the same.
    pub(crate) fn has_mpi(&self) -> bool {
        *self.mpi.get_or_init(|| mpi::is_here(self) || (self.installs_mpi && mpi::install(self)))
    }

    /// Returns a call of the lab's program, which the first caller builds while the others wait.
    ///
    /// It has MPI if that is here, so that one build does for every step. Its times are not judged,
    /// so the profile is that of the unit tests. Cargo is not asked again: a step that compiles
    /// meanwhile would hold its lock.
    pub(crate) fn lab(&self) -> Result<Call> {
        let mut lab = self.lab.lock().unwrap_or_else(PoisonError::into_inner);
        let program = match &*lab {
            Some(program) => program.clone(),
            None => {
                let features = if self.has_mpi() { "--features mpi" } else { "" };
                let build = self.cargo("build --profile test -p filch-lab").words(features);
                lab.insert(artifact::build(build, "filch", None)?).clone()
            }
        };
        Ok(self.call(program))
    }

    /// The same about our rayon-core, which is no member of the workspace.
    pub(crate) fn cargo_in_rayon_core(&self, line: &str) -> Call {
        self.cargo(line)
            .words("--manifest-path crates/rayon-core/Cargo.toml")
            .env("CARGO_TARGET_DIR", self.target("rayon-core"))
    }

    /// A folder for one step's own build, relative to the repository unless the target directory is elsewhere.
    ///
    /// Builds with other flags go to folders of their own, so that no step throws away what another built.
    pub(crate) fn target(&self, folder: &str) -> PathBuf {
        self.target.join(folder)
    }

    /// Skips a step for want of a tool. Continuous integration leaves nothing out, so there it is a failure.
    pub(crate) fn leave_out(&self, sentence: &str) -> Result<Outcome> {
        if self.ci {
            bail!("{sentence}. With CI=true nothing may be left out");
        }
        Ok(Outcome::Skipped(sentence.to_owned()))
    }
}
