//! Builds and runs the test programs of a workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{ensure, Context as _, Result};

use super::libtest::{test_names, Tally};
use super::workspace::{Workspace, CORE_TESTS};
use super::{suites, waits};
use crate::artifact::{self, TestProgram};
use crate::command_line::CommandLine;
use crate::output::print_line;
use crate::steps::Context;
use crate::summary::format_duration;

/// The time limit of a test program. The longest takes half a minute, so a program that takes this
/// long hangs.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The location of a package's tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Inside the library.
    Unit,
    /// In the folder `tests`.
    Tests,
}

/// The test programs of a workspace.
#[derive(Debug)]
pub(super) struct Programs<'a> {
    context: &'a Context,
    programs: Vec<TestProgram>,
    logs: PathBuf,
}

impl<'a> Programs<'a> {
    /// Builds the programs. Their output goes to files in a folder called `logs`.
    pub(super) fn build(context: &'a Context, workspace: &Workspace<'_>, logs: &str) -> Result<Self> {
        let programs = artifact::build_tests(workspace.cargo("test --workspace --lib --tests --no-run"))?;
        let logs = context.root.join(context.target("rayon")).join("logs").join(logs);
        fs::create_dir_all(&logs).with_context(|| format!("cannot create the folder {}", logs.display()))?;
        Ok(Self { context, programs, logs })
    }

    /// Runs one kind of tests of the package in `folder`. Adds up their results.
    pub(super) fn run(&self, folder: &str, kind: Kind) -> Result<Tally> {
        let mut sum = Tally::default();
        for program in self.programs.iter().filter(|p| p.folder == folder && p.is_unit == (kind == Kind::Unit)) {
            let command = self.command(&program.path);
            // A filter that is not exact would exclude more than the named tests.
            let command = match (folder, kind) {
                (CORE_TESTS, Kind::Unit) => {
                    let exact = command.arg("--exact");
                    suites::EXCLUDED.iter().fold(exact, |command, (name, _)| command.arg("--skip").arg(name))
                }
                _ => command,
            };
            sum += self.run_program(command, &program.name)?;
        }
        Ok(sum)
    }

    /// Runs one test program, or cargo if only cargo can run the tests.
    pub(super) fn run_program(&self, command: CommandLine, name: &str) -> Result<Tally> {
        print_line!("$ {command}");
        let start = Instant::now();
        let output =
            command.capture_with_timeout(TIMEOUT, &self.log(name)).with_context(|| format!("the tests of {name}"))?;
        let tally = Tally::parse(&output)
            .with_context(|| format!("the output of the tests of {name} has no line `test result: …`"))?;
        print_line!("{} passed in {}", tally.passed, format_duration(start.elapsed()));
        Ok(tally)
    }

    /// The file for the output of `name`.
    pub(super) fn log(&self, name: &str) -> PathBuf {
        self.logs.join(name).with_extension("log")
    }

    /// Returns a test program of the package in `folder`.
    pub(super) fn find(&self, folder: &str, name: &str) -> Result<CommandLine> {
        let program = self.programs.iter().find(|program| program.folder == folder && program.name == name);
        Ok(self.command(&program.with_context(|| format!("cargo built no tests `{name}` in {folder}"))?.path))
    }

    fn command(&self, program: &Path) -> CommandLine {
        CommandLine::new(program, &self.context.root)
    }

    /// Checks that all excluded or selected tests exist. A filter with an unknown name has no
    /// effect.
    pub(super) fn check_names(&self) -> Result<()> {
        let list = self.find(CORE_TESTS, "rayon_core_tests")?.words("--list --format terse").output()?.stdout;
        let list = String::from_utf8_lossy(&list);
        let names = test_names(&list);
        for name in suites::EXCLUDED.iter().map(|(name, _)| name).chain(&waits::NAMES) {
            ensure!(
                names.contains(name),
                "rayon-core has no test `{name}`, which this step selects or excludes by name"
            );
        }
        Ok(())
    }
}
