//! Errors in a file: `FILE:LINE: expected this, found that`.

use std::error::Error;
use std::fmt;
use std::io;

use super::Format;
use crate::BuildError;

/// Error from reading a graph: which file, which line, what was expected.
///
/// ```
/// use filch_graph::read;
///
/// let error = read::load_from("friends.txt", &b"1 2\n2 three\n"[..], &read::Options::new()).unwrap_err();
/// assert_eq!(error.line(), Some(2));
/// assert_eq!(error.to_string(), "friends.txt:2: expected two vertex ids, found \"2 three\"");
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

    /// Returns the name of the file, or the caller's name for the input.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the line, counted from 1, if a line is the cause.
    pub fn line(&self) -> Option<u64> {
        self.line
    }

    /// Returns what is wrong.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

/// What is wrong with a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be opened.
    Open(io::Error),
    /// The file is a directory.
    Directory,
    /// The file cannot be read.
    Read(io::Error),
    /// The file is compressed with gzip, and damaged or truncated.
    Gzip(io::Error),
    /// A line does not have the expected form.
    Line {
        /// What was expected, or what is wrong with the line.
        reason: String,
        /// The line itself, shortened and escaped.
        text: String,
    },
    /// A line is too long.
    LongLine {
        /// The most bytes that a line may have; see
        /// [`Options::block_size`](super::Options::block_size).
        most: usize,
    },
    /// The file ends before its header does.
    NoHeader(Format),
    /// There are more or fewer entries than the header promises.
    Entries {
        /// The number in the header.
        promised: u64,
        /// The number in the file.
        found: u64,
    },
    /// Nearly all vertices would have no edge; see [the rule](super#vertices-without-edges).
    Isolated {
        /// The number of vertices that the graph would have.
        vertices: u64,
        /// The number of edges.
        entries: u64,
        /// Whether the number comes from a header, rather than from the largest id.
        header: bool,
    },
    /// There is no memory for the edges.
    NoMemory,
    /// The file was read, but no graph can be built from it.
    Build(BuildError),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Open(error) => write!(f, "cannot open the file: {error}"),
            Problem::Directory => write!(f, "expected a file, found a directory"),
            Problem::Read(error) => write!(f, "cannot read the file: {error}"),
            Problem::Gzip(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                write!(f, "expected more gzip data, found the end of the file")
            }
            Problem::Gzip(error) => write!(f, "the gzip data is damaged: {error}"),
            Problem::Line { reason, text } => write!(f, "{reason}, found \"{text}\""),
            Problem::LongLine { most } => write!(f, "expected a line of at most {most} bytes, found a longer one"),
            Problem::NoHeader(Format::MatrixMarket) => {
                write!(f, "expected the line with the numbers of rows, columns and entries, found the end of the file")
            }
            Problem::NoHeader(Format::Dimacs) => write!(f, "expected a `p` line, found the end of the file"),
            Problem::NoHeader(Format::EdgeList) => write!(f, "expected a header, found the end of the file"),
            Problem::Entries { promised, found } => {
                write!(f, "expected {}, as the header says, found {found}", count(*promised, "entry", "entries"))
            }
            Problem::Isolated { vertices, entries, header: true } => write!(
                f,
                "expected edges for most of the {vertices} vertices of the header, found only {}; \
                 the option allow-isolated permits this",
                count(*entries, "edge", "edges")
            ),
            Problem::Isolated { vertices, entries, header: false } => write!(
                f,
                "expected edges for most ids up to {}, found only {}; \
                 the option renumber numbers the ids that occur, the option allow-isolated permits vertices without edges",
                vertices.saturating_sub(1),
                count(*entries, "edge", "edges")
            ),
            Problem::NoMemory => write!(f, "there is no memory for the edges of the file"),
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

/// Returns the line escaped for any terminal, and shortened.
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

/// Escapes control characters. A name may hold anything but a zero byte, and an error must have no
/// line feeds or escape codes.
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
