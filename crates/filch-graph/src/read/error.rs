//! What can be wrong with a file, in sentences.

use std::error::Error;
use std::fmt;
use std::io;

use super::Format;
use crate::BuildError;

/// Why a graph could not be read: which file, which line, what was expected.
///
/// ```
/// use filch_graph::read;
///
/// let error = read::load_from("friends.txt", &b"1 2\n2 three\n"[..], &read::Options::new()).unwrap_err();
/// assert_eq!(error.line(), Some(2));
/// assert_eq!(error.to_string(), "friends.txt, line 2: expected two vertex ids, found \"2 three\"");
/// ```
#[derive(Debug)]
pub struct ReadError {
    name: String,
    line: Option<u64>,
    problem: Problem,
}

impl ReadError {
    pub(super) fn new(name: &str, at: At) -> ReadError {
        ReadError { name: printable(name), line: at.line, problem: at.problem }
    }

    /// The name of the file, or what the caller called the input.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The line, counted from 1, where one is to blame.
    pub fn line(&self) -> Option<u64> {
        self.line
    }

    /// What is wrong.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

/// What is wrong with a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// It cannot be opened.
    Open(io::Error),
    /// It is a directory.
    Directory,
    /// It cannot be read.
    Read(io::Error),
    /// It is compressed with gzip, and damaged or cut short.
    Gzip(io::Error),
    /// A line is not what it should be.
    Line {
        /// What was expected, or what is wrong with it.
        reason: String,
        /// The line itself, shortened and escaped.
        text: String,
    },
    /// A line is longer than any line should be.
    LongLine {
        /// The most bytes that a line may have; see [`Options::block_size`](super::Options::block_size).
        most: usize,
    },
    /// It ends before its header does.
    NoHeader(Format),
    /// There are more or fewer entries than the header promises.
    Entries {
        /// As the header says.
        promised: u64,
        /// As there are.
        found: u64,
    },
    /// Nearly all vertices would have no edge; see [the rule](super#vertices-without-edges).
    Isolated {
        /// How many vertices there would be.
        vertices: u64,
        /// How many edges there are.
        entries: u64,
        /// Whether a header says so, rather than the largest id.
        header: bool,
    },
    /// It is read, but no graph can be made of it.
    Build(BuildError),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Open(error) => write!(f, "the file cannot be opened: {error}"),
            Problem::Directory => write!(f, "this is a directory, not a file"),
            Problem::Read(error) => write!(f, "the file cannot be read: {error}"),
            Problem::Gzip(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                write!(f, "the gzip data ends too early: the file is cut short")
            }
            Problem::Gzip(error) => write!(f, "the gzip data is damaged: {error}"),
            Problem::Line { reason, text } => write!(f, "{reason}, found \"{text}\""),
            Problem::LongLine { most } => write!(f, "the line is longer than {most} bytes, which no line should be"),
            Problem::NoHeader(Format::MatrixMarket) => {
                write!(f, "the file ends before the line with the numbers of rows, columns and entries")
            }
            Problem::NoHeader(Format::Dimacs) => write!(f, "the file has no `p` line, which would say how many vertices there are"),
            Problem::NoHeader(Format::EdgeList) => write!(f, "the file has no header"),
            Problem::Entries { promised, found } => {
                write!(f, "the header promises {}, but the file has {found}", count(*promised, "entry", "entries"))
            }
            Problem::Isolated { vertices, entries, header: true } => write!(
                f,
                "the header promises {vertices} vertices, but the file has only {}: nearly all vertices would have none; \
                 if that is meant, use the option allow-isolated",
                count(*entries, "edge", "edges")
            ),
            Problem::Isolated { vertices, entries, header: false } => write!(
                f,
                "the ids go up to {}, but the file has only {}: nearly all vertices would have none; \
                 use the option renumber to number those that occur, or allow-isolated if that is meant",
                vertices.saturating_sub(1),
                count(*entries, "edge", "edges")
            ),
            Problem::Build(error) => error.fmt(f),
        }
    }
}

fn count(number: u64, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.problem {
            Problem::Open(error) | Problem::Read(error) | Problem::Gzip(error) => Some(error),
            Problem::Build(error) => Some(error),
            _ => None,
        }
    }
}

/// A problem and its line, before the name of the file is added.
#[derive(Debug)]
pub(super) struct At {
    pub(super) line: Option<u64>,
    pub(super) problem: Problem,
}

impl From<Problem> for At {
    fn from(problem: Problem) -> At {
        At { line: None, problem }
    }
}

impl At {
    #[cold]
    pub(super) fn line(line: u64, reason: impl Into<String>, text: &[u8]) -> At {
        At { line: Some(line), problem: Problem::Line { reason: reason.into(), text: quoted(text) } }
    }
}

/// The line in a form that can be shown in any terminal, and not longer than a person wants to read.
fn quoted(line: &[u8]) -> String {
    const MOST: usize = 60;
    let line = line.trim_ascii_end();
    let shown = &line[..line.len().min(MOST)];
    let mut text: String = String::from_utf8_lossy(shown).chars().flat_map(char::escape_debug).collect();
    if shown.len() < line.len() {
        text.push('…');
    }
    text
}

/// A name may hold anything but a zero byte: no line feeds or escape codes in an error.
fn printable(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_control() {
            text.extend(character.escape_debug());
        } else {
            text.push(character);
        }
    }
    text
}
