//! The context of every step, and its possible outcomes.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{bail, Result};

use super::mpi;
use crate::artifact;
use crate::command_line::CommandLine;
use crate::packages::Packages;

/// The outcome of a step that found no fault.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The step ran to its end.
    Passed,
    /// A tool is missing here. The sentence says which tool, and how to get it.
    Skipped(String),
}

/// The effort of the searching steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// The effort for a test after a change: fewer tasks in the stress tests.
    Quick,
    /// The effort for continuous integration.
    Usual,
    /// Ten times the tasks, many more cases, and this many preemptions in loom's models.
    Deep {
        /// The bound for every loom model.
        preemptions: u8,
    },
}

/// The data that every step needs.
#[derive(Debug)]
pub(crate) struct Context {
    /// The repository's folder. Every command runs here.
    pub(crate) root: PathBuf,
    target: PathBuf,
    ci: bool,
    mpi: OnceLock<bool>,
    lab: Mutex<Option<PathBuf>>,
    /// Whether to install MPI if it is missing and that needs no interaction. Only a request for
    /// the MPI step sets this.
    pub(crate) may_install_mpi: bool,
    /// The effort of the search.
    pub(crate) effort: Effort,
    /// The packages that the steps of `cargo xtask test` check.
    pub(crate) packages: Packages,
}

impl Context {
    /// Creates the context of this run from the environment.
    pub(crate) fn new(effort: Effort) -> Self {
        let root =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the repository").to_owned();
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
        let ci = env::var("CI").is_ok_and(|value| value == "true" || value == "1");
        Self {
            root,
            target,
            ci,
            mpi: OnceLock::new(),
            lab: Mutex::default(),
            may_install_mpi: false,
            effort,
            packages: Packages::default(),
        }
    }

    /// Returns a command line of `program` in the repository.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> CommandLine {
        CommandLine::new(program, &self.root)
    }

    /// Returns a command line of `cargo` with the words of `line`.
    pub(crate) fn cargo(&self, line: &str) -> CommandLine {
        self.command("cargo").words(line)
    }

    /// Returns whether everything that MPI needs is installed.
    ///
    /// The first caller checks or installs it, while other callers wait. So all steps of a run get
    /// the same answer and build the same code.
    pub(crate) fn has_mpi(&self) -> bool {
        *self.mpi.get_or_init(|| mpi::is_installed(self) || (self.may_install_mpi && mpi::install(self)))
    }

    /// Returns a command line of the users' program.
    pub(crate) fn filch(&self) -> Result<CommandLine> {
        self.program("filch")
    }

    /// Returns a command line of the lab's program.
    pub(crate) fn lab(&self) -> Result<CommandLine> {
        self.program("filch-lab")
    }

    /// Returns a command line of one of the two programs. The first caller builds both while the
    /// others wait.
    ///
    /// The programs have MPI if MPI is installed, so that one build is enough for every step. Their
    /// times are not checked, so they have the profile of the unit tests. The command does not run
    /// cargo again: a step that compiles at the same time would hold cargo's lock.
    fn program(&self, name: &str) -> Result<CommandLine> {
        let mut lab = self.lab.lock().unwrap_or_else(PoisonError::into_inner);
        let lab = match &mut *lab {
            Some(lab) => lab,
            None => {
                let features = if self.has_mpi() { "--features filch-cli/mpi,filch-lab/mpi" } else { "" };
                let build = self.cargo("build --profile test -p filch-cli -p filch-lab").words(features);
                lab.insert(artifact::build(build, "filch-lab", None)?)
            }
        };
        // Cargo puts both into one folder.
        Ok(self.command(lab.with_file_name(format!("{name}{}", env::consts::EXE_SUFFIX))))
    }

    /// Returns a command line of `cargo` for filch's rayon-core, which is not a workspace member.
    pub(crate) fn cargo_in_rayon_core(&self, line: &str) -> CommandLine {
        self.cargo(line)
            .words("--manifest-path crates/rayon-core/Cargo.toml")
            .env("CARGO_TARGET_DIR", self.target("rayon-core"))
    }

    /// A folder for a step's own build. It is relative to the repository unless the target
    /// directory is elsewhere.
    ///
    /// Builds with other flags have their own folders, so that no step discards the build of
    /// another step.
    pub(crate) fn target(&self, folder: &str) -> PathBuf {
        self.target.join(folder)
    }

    /// Skips a step because a tool is missing. In continuous integration this is a failure, because
    /// nothing may be skipped there.
    pub(crate) fn skip(&self, reason: &str) -> Result<Outcome> {
        if self.ci {
            bail!("{reason}. With CI=true no step may be skipped");
        }
        Ok(Outcome::Skipped(reason.to_owned()))
    }
}
