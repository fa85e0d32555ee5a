//! `--checkpoint`, `--every` and `--resume`: saves the rest of a search, and resumes from it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use filch_dd::checkpoint::{previous, Checkpoint, CheckpointError, CheckpointOptions, Identity};
use filch_dd::problems::Instance;
use filch_dd::{Outcome, Solver};
use serde::Serialize;

use super::Arguments;
use crate::problem::Loaded;
use crate::say;

/// The requested checkpoints.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) identity: Identity,
    /// Where checkpoints go, if requested, and how often.
    pub(super) file: Option<PathBuf>,
    pub(super) every: Duration,
    /// The checkpoint to resume from, and its file.
    pub(super) resumed: Option<(PathBuf, Checkpoint)>,
}

/// The summary of a run's checkpoints.
#[derive(Debug, Default, Serialize)]
pub(super) struct Checkpoints {
    /// The file that checkpoints were written to.
    pub(super) file: Option<String>,
    /// How many were written.
    pub(super) written: u64,
    /// What the search resumed from.
    pub(super) resumed: Option<Resumed>,
    /// Why the last checkpoint was not written.
    #[serde(skip)]
    pub(super) error: Option<CheckpointError>,
}

/// The checkpoint that a search resumed from.
#[derive(Debug, Serialize)]
pub(super) struct Resumed {
    pub(super) file: String,
    /// How long the search took before.
    pub(super) seconds: f64,
    /// How many nodes had been explored.
    pub(super) explored: u64,
    /// How many nodes were open.
    pub(super) open: u64,
}

impl Plan {
    /// Reads the checkpoint to resume from. Returns an error if another checkpoint would be lost.
    pub(super) fn read(arguments: &Arguments, problem: &Loaded) -> Result<Plan> {
        let Arguments { checkpoint, every, resume, .. } = arguments;
        if let Some(file) = checkpoint {
            ensure_replaceable(file, resume.as_deref())?;
        }
        let identity = Identity::new(arguments.problem.name(), problem.text());
        let resumed = match resume {
            Some(file) => Some((file.clone(), Checkpoint::read_for(file, &identity)?)),
            None => None,
        };
        Ok(Plan { identity, file: checkpoint.clone(), every: *every, resumed })
    }

    /// How long the search took before.
    pub(super) fn elapsed_before(&self) -> Duration {
        self.resumed.as_ref().map_or(Duration::ZERO, |(_, checkpoint)| checkpoint.elapsed)
    }

    /// Runs the search with this plan.
    pub(super) fn solve<P: Instance>(self, solver: Solver<'_, P>) -> Result<(Outcome, Checkpoints)> {
        let mut checkpoints = self.checkpoints();
        if checkpoints.is_empty() {
            return Ok((solver.solve()?, checkpoints));
        }
        let mut options = CheckpointOptions::new(self.identity).every(self.every).on_write_error(warn);
        if let Some(file) = self.file {
            options = options.file(file);
        }
        if let Some((_, checkpoint)) = self.resumed {
            options = options.resume(checkpoint)?;
        }
        let kept = solver.solve_with_checkpoints(options)?;
        (checkpoints.written, checkpoints.error) = (kept.written, kept.write_error);
        Ok((kept.outcome, checkpoints))
    }

    /// Makes a plan that resumes nothing, for ranks that do not read the checkpoint.
    #[cfg(feature = "mpi")]
    pub(super) fn without_resume(arguments: &Arguments, problem: &Loaded) -> Plan {
        let identity = Identity::new(arguments.problem.name(), problem.text());
        Plan { identity, file: None, every: arguments.every, resumed: None }
    }

    /// The summary so far.
    pub(super) fn checkpoints(&self) -> Checkpoints {
        let resumed = self.resumed.as_ref().map(|(file, checkpoint)| Resumed {
            file: file.display().to_string(),
            seconds: checkpoint.elapsed.as_secs_f64(),
            explored: checkpoint.totals.explored,
            open: checkpoint.open(),
        });
        let file = self.file.as_ref().map(|file| file.display().to_string());
        Checkpoints { file, resumed, ..Checkpoints::default() }
    }
}

/// Reports a checkpoint that could not be written, while the search continues.
pub(super) fn warn(error: &CheckpointError) {
    say(&format!("warning: {error}. The search continues and tries again later"));
}

impl Checkpoints {
    /// Whether there is nothing to report.
    pub(super) fn is_empty(&self) -> bool {
        self.file.is_none() && self.resumed.is_none()
    }

    /// Prints how to resume. Returns an error if the last checkpoint was not written.
    pub(super) fn conclude(self, arguments: &Arguments, proven: bool) -> Result<()> {
        if let Some(error) = self.error {
            return Err(error).context("the last checkpoint was not written");
        }
        if let Some(file) = arguments.checkpoint.as_ref().filter(|_| !proven && !arguments.quiet) {
            let mpirun = if arguments.mpi { "mpirun -n RANKS " } else { "" };
            let command = format!("{mpirun}{}", resume_command(std::env::args_os(), file));
            say(&format!("The rest of the search is in {}. To resume it:\n  {command}", file.display()));
        }
        Ok(())
    }
}

/// Returns an error if a search would replace checkpoints that it does not resume.
fn ensure_replaceable(file: &Path, resume: Option<&Path>) -> Result<()> {
    let same = |one: &Path, other: &Path| match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    };
    // A user that resumes from the previous checkpoint has seen that this one is unusable.
    if resume.is_some_and(|resume| same(resume, file) || same(resume, &previous(file))) {
        return Ok(());
    }
    for existing in [file.to_owned(), previous(file)] {
        if existing.exists() {
            let (file, existing) = (file.display(), existing.display());
            bail!(
                "{existing} already exists, and a search that does not resume from it would replace it. To resume from it, give \
                 --resume {existing} --checkpoint {file}; to start over, remove it or give another file"
            );
        }
    }
    Ok(())
}

/// Returns the given command line, changed to resume from `file`.
pub(super) fn resume_command(given: impl IntoIterator<Item = OsString>, file: &Path) -> String {
    let mut words = Vec::new();
    let mut given = given.into_iter();
    while let Some(word) = given.next() {
        match word.as_encoded_bytes() {
            b"--resume" => drop(given.next()),
            bytes if bytes.starts_with(b"--resume=") => {}
            _ => words.push(quoted(&word.to_string_lossy())),
        }
    }
    words.extend(["--resume".to_owned(), quoted(&file.to_string_lossy())]);
    words.join(" ")
}

/// Quotes a word for a shell, if necessary.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_to_resume_is_the_given_command_with_another_resume_option() {
        let command = |words: &str| resume_command(words.split(' ').map(OsString::from), Path::new("my file"));
        for (given, expected) in [
            ("misp a.clq --threads 2 --checkpoint=b", "misp a.clq --threads 2 --checkpoint=b"),
            ("--resume b golomb 9", "golomb 9"),
            ("--resume=b golomb 9 --quiet", "golomb 9 --quiet"),
        ] {
            assert_eq!(command(&format!("filch solve {given}")), format!("filch solve {expected} --resume 'my file'"));
        }
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, expected) in [("a-b_c/d.e=1,2", "a-b_c/d.e=1,2"), ("", "''"), ("it's", r"'it'\''s'"), ("$a", "'$a'")]
        {
            assert_eq!(quoted(word), expected);
        }
    }

    #[test]
    fn an_existing_checkpoint_is_replaced_only_by_a_search_that_resumes_from_it() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("a"), folder.path().join("b"));
        assert!(ensure_replaceable(&file, None).is_ok());
        for existing in [&file, &previous(&file)] {
            fs::write(existing, "a checkpoint").unwrap();
            let refusal = ensure_replaceable(&file, None).unwrap_err().to_string();
            assert!(refusal.starts_with(&existing.display().to_string()), "{refusal}");
            assert!(ensure_replaceable(&file, Some(&other)).is_err());
            assert!(ensure_replaceable(&file, Some(&file)).is_ok());
            assert!(ensure_replaceable(&file, Some(&previous(&file))).is_ok());
            fs::remove_file(existing).unwrap();
        }
    }
}
