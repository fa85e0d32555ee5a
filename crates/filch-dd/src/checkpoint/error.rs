//! Errors of reading or writing a checkpoint.

use core::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::file::previous;
use super::format::{HEAD, VERSION};

/// Error from reading, writing or checking a checkpoint.
#[derive(Debug)]
pub struct CheckpointError {
    reason: Reason,
    /// The file, if it is known, and the previous checkpoint if that exists.
    file: Option<(PathBuf, Option<PathBuf>)>,
}

/// The cause of a [`CheckpointError`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Reason {
    /// There is no such file.
    Missing,
    /// It is a folder or a device.
    NotAFile,
    /// It exists, but cannot be read.
    Unreadable(io::Error),
    /// It is larger than the available memory.
    TooLarge {
        /// The size of the file.
        bytes: u64,
    },
    /// It is a file, but not a checkpoint.
    NotACheckpoint,
    /// Its end is missing.
    Truncated {
        /// The size of the file.
        bytes: u64,
        /// The size that it had when it was written.
        of: u64,
    },
    /// The contents are damaged. The text says how.
    Corrupted(&'static str),
    /// It has an older version of the format.
    Older {
        /// The version of the file.
        version: u32,
    },
    /// It has a newer version of the format.
    Newer {
        /// The version of the file.
        version: u32,
    },
    /// It belongs to another problem.
    AnotherProblem {
        /// The problem in the file.
        found: String,
        /// The problem that was expected.
        wanted: String,
    },
    /// It belongs to another instance of the problem.
    AnotherInstance {
        /// The problem.
        problem: String,
    },
    /// The folder to write it to does not exist.
    NoFolder,
    /// It could not be written.
    NotWritten(io::Error),
}

impl CheckpointError {
    pub(super) fn new(reason: Reason) -> Self {
        CheckpointError { reason, file: None }
    }

    /// Adds the path of the file.
    pub(super) fn of(mut self, path: &Path) -> Self {
        // If the path is a link, the previous checkpoint is beside the target of the link.
        let target = fs::canonicalize(path).ok();
        let before =
            [Some(path), target.as_deref()].into_iter().flatten().map(previous).find(|before| before.is_file());
        self.file = Some((path.to_owned(), before));
        self
    }

    /// Returns the cause.
    pub fn reason(&self) -> &Reason {
        &self.reason
    }
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some((path, _)) => f.write_str(&shown(&path.to_string_lossy()))?,
            None => f.write_str("the checkpoint")?,
        }
        f.write_str(": ")?;
        self.reason.fmt(f)?;
        match &self.file {
            Some((_, Some(before))) => {
                write!(f, ". The checkpoint before it is in {}", shown(&before.to_string_lossy()))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Reason {
    /// Writes the part of the message after the name of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Missing => f.write_str("there is no such file"),
            Reason::NotAFile => f.write_str("expected a regular file, found something else"),
            Reason::Unreadable(error) => write!(f, "cannot read the file: {error}"),
            Reason::TooLarge { bytes } => write!(f, "not enough memory for the {bytes} bytes of the file"),
            Reason::NotACheckpoint => f.write_str("expected a checkpoint of filch, found another kind of file"),
            Reason::Truncated { bytes: 0, .. } => f.write_str("expected a checkpoint of filch, found an empty file"),
            Reason::Truncated { bytes, of } => {
                // Without a whole head the full length is unknown.
                let at_least = if *bytes < HEAD as u64 { "at least " } else { "" };
                write!(f, "expected {at_least}{of} bytes, found {bytes}: the file is truncated")
            }
            Reason::Corrupted(how) => write!(f, "the file is corrupted: {how}"),
            Reason::Older { version } => write!(
                f,
                "expected version {VERSION} of the format, found version {version}: resume with the older program that wrote it"
            ),
            Reason::Newer { version } => write!(
                f,
                "expected version {VERSION} of the format, found version {version}: resume with the newer program that wrote it"
            ),
            Reason::AnotherProblem { found, wanted } => {
                write!(f, "expected a checkpoint of {}, found one of {}", shown(wanted), shown(found))
            }
            Reason::AnotherInstance { problem } => write!(f, "expected a checkpoint of this instance of {}, found one of another instance", shown(problem)),
            Reason::NoFolder => f.write_str("cannot write the file: there is no such folder"),
            Reason::NotWritten(error) => write!(f, "cannot write the file: {error}"),
        }
    }
}

impl std::error::Error for CheckpointError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.reason {
            Reason::Unreadable(error) | Reason::NotWritten(error) => Some(error),
            _ => None,
        }
    }
}

/// Makes a name safe to print: replaces control characters and cuts long names.
fn shown(name: &str) -> String {
    const LONGEST: usize = 200;
    let mut shown: String = name.chars().take(LONGEST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if name.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}
