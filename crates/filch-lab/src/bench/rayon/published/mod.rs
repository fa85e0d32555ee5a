//! Published programs that use rayon.
//!
//! Each has a workload that is generated and is the same in each run.

mod pictures;
mod process;
mod sources;

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use tempfile::TempDir;

use super::build::{Package, ProgramPair};
use super::figure::MILLIS_A_RUN;
use super::variant::Variant;
use crate::bench::rounds::{interleave, Effort, Runner};
use crate::figures::Series;

/// A program written by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Published {
    /// Counts lines of code: a parallel bridge over files, and a join in each.
    Tokei,
    /// Makes pictures smaller: spawned jobs, and yields until they are done.
    Oxipng,
}

impl Published {
    pub(crate) const ALL: [Published; 2] = [Published::Tokei, Published::Oxipng];

    /// The package in an exact version, so that figures can be compared over time.
    pub(crate) fn package(self) -> Package {
        match self {
            Published::Tokei => Package { name: "tokei", version: "14.0.0" },
            Published::Oxipng => Package { name: "oxipng", version: "10.2.1" },
        }
    }

    /// The case's name in plots.
    pub(crate) fn case(self) -> &'static str {
        match self {
            Published::Tokei => "program/tokei",
            Published::Oxipng => "program/oxipng",
        }
    }

    /// A description of the case.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Published::Tokei => {
                "tokei 14.0.0 counts the lines of 4,000 files in seven languages, start and end included"
            }
            Published::Oxipng => "oxipng 10.2.1 optimises six pictures, start and end included",
        }
    }

    /// Generates its input in a new folder in `place`.
    pub(crate) fn workload(self, place: &Path) -> Result<Workload> {
        let context = || format!("the input of {} could not be written to {}", self.package().name, place.display());
        fs::create_dir_all(place).with_context(context)?;
        let folder = tempfile::tempdir_in(place).with_context(context)?;
        let input = folder.path().join("input");
        match self {
            Published::Tokei => sources::write(&input, 4_000).with_context(context)?,
            Published::Oxipng => pictures::write(&input, 280).with_context(context)?,
        }
        Ok(Workload { published: self, folder, expected: OnceCell::new() })
    }
}

/// The input of a program. It is removed when dropped.
#[derive(Debug)]
pub(crate) struct Workload {
    published: Published,
    folder: TempDir,
    /// The output of the first run.
    ///
    /// Every run must have the same output, for any core and number of threads.
    expected: OnceCell<Vec<u8>>,
}

impl Workload {
    /// Runs the programs in turns, in a new process each time.
    pub(crate) fn measure(&self, programs: &ProgramPair, threads: usize, effort: Effort) -> Result<Vec<Series>> {
        let case = self.published.case();
        let runner = |&variant: &Variant| Runner {
            name: variant.name(),
            threads,
            measure: Box::new(move || self.checked(variant.command(programs.on(variant.core()), threads))),
        };
        let runners: Vec<Runner<'_>> = Variant::CORES.iter().map(runner).collect();
        // Not counted: in the first run, the files are not in memory.
        for Runner { name, measure, .. } in &runners {
            measure().with_context(|| format!("{name} with {threads} threads failed in {case}"))?;
        }
        interleave(case, &[MILLIS_A_RUN.unit], &runners, effort)
    }

    fn checked(&self, program: Command) -> Result<Vec<f64>> {
        let (elapsed, output) = self.run(program)?;
        let millis = elapsed.as_nanos() as f64 / MILLIS_A_RUN.nanos;
        ensure!(
            *self.expected.get_or_init(|| output.clone()) == output,
            "the output differs from that of the first run"
        );
        Ok(vec![millis])
    }

    /// Runs the program. Returns its time and all its output.
    fn run(&self, mut command: Command) -> Result<(Duration, Vec<u8>)> {
        command.current_dir(self.folder.path());
        match self.published {
            // By file, sorted by name. A `.gitignore` may exclude the folder.
            Published::Tokei => process::timed(command.args(["--files", "--no-ignore", "input"])),
            Published::Oxipng => {
                let results = self.folder.path().join("output");
                if results.exists() {
                    fs::remove_dir_all(&results).context("the pictures of the last run could not be removed")?;
                }
                let inputs = files(&self.folder.path().join("input"))?;
                let count = inputs.len();
                let (elapsed, mut output) = process::timed(command.args(["--quiet", "--dir", "output"]).args(inputs))?;
                let results = files(&results)?;
                ensure!(results.len() == count, "{} of {count} pictures were written", results.len());
                for picture in results {
                    output.extend(fs::read(picture).context("cannot read a written picture")?);
                }
                Ok((elapsed, output))
            }
        }
    }
}

/// The files of a folder, in the order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut files: Vec<PathBuf> = entries.with_context(|| format!("{} could not be listed", folder.display()))?;
    files.sort();
    Ok(files)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_different_output_fails_the_case() {
        let folder = tempfile::tempdir().unwrap();
        let workload = Workload { published: Published::Tokei, folder, expected: OnceCell::new() };
        let prints = |text: &str| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", &format!("echo {text}")]);
            workload.checked(command)
        };
        prints("10 lines").unwrap();
        prints("10 lines").unwrap();
        let error = prints("9 lines").unwrap_err().to_string();
        assert!(error.contains("the output differs"), "{error}");
    }
}
