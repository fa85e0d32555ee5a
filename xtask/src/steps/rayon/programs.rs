//! The programs that cargo makes of the tests of a workspace, and their runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{ensure, Context as _, Result};

use super::libtest::{names, Tally};
use super::workspace::{Workspace, CORE_TESTS};
use super::{suites, waits};
use crate::artifact::{self, TestProgram};
use crate::call::Call;
use crate::console::say;
use crate::steps::Context;
use crate::summary::clock;

/// The longest takes half a minute; who takes this long hangs.
const LIMIT: Duration = Duration::from_secs(600);

/// Where a package has its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Inside the library.
    Unit,
    /// In the folder `tests`.
    Tests,
}

/// The programs of one workspace, built.
#[derive(Debug)]
pub(super) struct Programs<'a> {
    context: &'a Context,
    programs: Vec<TestProgram>,
    logs: PathBuf,
}

impl<'a> Programs<'a> {
    /// Builds them. What they say goes to files in a folder called `logs`.
    pub(super) fn build(context: &'a Context, workspace: &Workspace<'_>, logs: &str) -> Result<Self> {
        let programs = artifact::tests(workspace.cargo("test --workspace --lib --tests --no-run"))?;
        let logs = context.root.join(context.target("rayon")).join("logs").join(logs);
        fs::create_dir_all(&logs).with_context(|| format!("the folder {} could not be made", logs.display()))?;
        Ok(Self { context, programs, logs })
    }

    /// Runs the tests of one kind of the package in `folder`, and adds up what they came to.
    pub(super) fn run(&self, folder: &str, kind: Kind) -> Result<Tally> {
        let mut sum = Tally::default();
        for program in self.programs.iter().filter(|p| p.folder == folder && p.unit == (kind == Kind::Unit)) {
            let call = self.call(&program.path);
            // A filter that is not exact would leave out more than is named.
            let call = match (folder, kind) {
                (CORE_TESTS, Kind::Unit) => {
                    suites::LEFT_OUT.iter().fold(call.arg("--exact"), |call, (name, _)| call.arg("--skip").arg(name))
                }
                _ => call,
            };
            sum += self.run_one(call, &program.name)?;
        }
        Ok(sum)
    }

    /// Runs one program of tests, or cargo where only cargo can run them.
    pub(super) fn run_one(&self, call: Call, name: &str) -> Result<Tally> {
        say!("$ {call}");
        let start = Instant::now();
        let said = call.read_within(LIMIT, &self.log(name)).with_context(|| format!("the tests of {name}"))?;
        let tally = Tally::read(&said).with_context(|| format!("the tests of {name} did not say how they ended"))?;
        say!("{} passed in {}", tally.passed, clock(start.elapsed()));
        Ok(tally)
    }

    /// The file for what `name` says.
    pub(super) fn log(&self, name: &str) -> PathBuf {
        self.logs.join(name).with_extension("log")
    }

    /// A program of the package in `folder`.
    pub(super) fn find(&self, folder: &str, name: &str) -> Result<Call> {
        let program = self.programs.iter().find(|program| program.folder == folder && program.name == name);
        Ok(self.call(&program.with_context(|| format!("cargo built no tests `{name}` in {folder}"))?.path))
    }

    fn call(&self, program: &Path) -> Call {
        Call::new(program, &self.context.root)
    }

    /// Fails if a test that is left out or picked by name does not exist: a name that means nothing filters nothing.
    pub(super) fn check_names(&self) -> Result<()> {
        let list = self.find(CORE_TESTS, "rayon_core_tests")?.words("--list --format terse").output()?.stdout;
        let list = String::from_utf8_lossy(&list);
        let names = names(&list);
        for name in suites::LEFT_OUT.iter().map(|(name, _)| name).chain(&waits::NAMES) {
            ensure!(names.contains(name), "rayon-core has no test `{name}`, though this step asks for it by name");
        }
        Ok(())
    }
}
