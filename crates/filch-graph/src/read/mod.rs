//! Graphs from files: edge lists, Matrix Market and DIMACS, plain or compressed with gzip.
//!
//! ```no_run
//! use filch_graph::read;
//!
//! let graph = read::file("roadNet-CA.txt.gz", &read::Options::new())?;
//! println!("{} vertices, {} arcs", graph.vertices(), graph.arcs());
//! # Ok::<(), read::ReadError>(())
//! ```
//!
//! # The formats
//!
//! | [`Format`] | lines | vertices | direction by default | detected by |
//! |---|---|---|---|---|
//! | [`EdgeList`](Format::EdgeList) | `17 42`, with spaces, tabs or a comma between; further columns of numbers are skipped; comments with `#` or `%` | any whole numbers, from 0 | undirected | being none of the others |
//! | [`MatrixMarket`](Format::MatrixMarket) | `%%MatrixMarket matrix coordinate …`, the sizes, then `row column` and values, which are skipped | from 1, as many as the matrix has rows | `general`: directed, row to column; `symmetric`, `skew-symmetric`, `hermitian`: undirected | its first line, or `.mtx` |
//! | [`Dimacs`](Format::Dimacs) | `p edge n m` or `p col n m`, then `e u v`, and `n v weight` for [weights](Loaded::weights); or `p sp n m`, then `a u v length`; comments with `c` | from 1 to n | `edge`, `col`: undirected; `sp`: directed | a first line with `c` or `p`, or `.col`, `.clq`, `.gr`, `.dimacs` |
//!
//! Lines end with a line feed, with or without a carriage return; the last one need not. Blank
//! lines are skipped. Gzip is detected by its first bytes, under any file name, and may have
//! several members. A matrix that is not square, or is an `array`, is refused. An entry of a matrix
//! is an edge even if its value is zero.
//!
//! Edges are kept as they are written. An edge that is written twice, or once in each direction in
//! an undirected graph, is there twice; [`Graph::without_repeats`] and [`Options::simple`] make it
//! one.
//!
//! # What goes wrong
//!
//! A [`ReadError`] is a sentence with the name of the file and, if a line is the cause, its number.
//! Nothing is loaded then. A header that promises more or fewer entries than there are is an error.
//!
//! # Vertices without edges
//!
//! A file of twenty bytes can name vertex 4,000,000,000, and a graph with so many vertices takes 16
//! GB. So a file is refused if it has more than four times as many vertices as edges and 65,536
//! more. Either ask for [renumbering](Options::renumber), or
//! [allow such files](Options::allow_isolated).
//!
//! # Memory and time
//!
//! The text is read in [blocks](Options::block_size), which are parsed in parallel. Only a few
//! blocks are in memory. Until the graph is built, each edge takes 8 bytes (16 with renumbering)
//! beside the graph itself. The numbers in a header take no memory before they are known to be
//! true.

#![forbid(unsafe_code)]

mod blocks;
mod cursor;
mod dimacs;
mod edge_list;
mod error;
mod input;
mod matrix_market;
mod names;

use std::cell::Cell;
use std::fmt;
use std::io::Read;
use std::marker::PhantomData;
use std::path::Path;
use std::str::FromStr;

use blocks::Edges;
use edge_list::EdgeList;
use error::At;
use input::{Input, Text};

use crate::sync::lock;
use crate::{Graph, Vertex};

pub use error::{Problem, ReadError};
pub use names::Names;

/// Reads the graph in a file.
///
/// The format is that of the options. Without one, it is detected from the first lines and the
/// name. See the [module](self) for what can be read.
///
/// ```
/// use filch_graph::read;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("square.txt");
/// std::fs::write(&path, "# a square\n0 1\n1 2\n2 3\n3 0\n").unwrap();
/// let square = read::file(&path, &read::Options::new())?;
/// assert_eq!(square.neighbours(0), [1, 3]);
/// # Ok::<(), read::ReadError>(())
/// ```
pub fn file(path: impl AsRef<Path>, options: &Options<'_>) -> Result<Graph, ReadError> {
    load(path, options).map(|loaded| loaded.graph)
}

/// Reads the graph in a file, and returns it with what else is known.
///
/// That is the format, the direction, and the ids of the vertices if they were renumbered.
/// Otherwise as [`file()`](file()).
///
/// ```
/// use filch_graph::read::{self, Format};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("triangle.col");
/// std::fs::write(&path, "c a triangle\np edge 3 3\ne 1 2\ne 2 3\ne 3 1\n").unwrap();
/// let loaded = read::load(&path, &read::Options::new())?;
/// assert_eq!(loaded.format, Format::Dimacs);
/// assert!(!loaded.directed);
/// assert_eq!(loaded.graph.arcs(), 6);
/// # Ok::<(), read::ReadError>(())
/// ```
pub fn load(path: impl AsRef<Path>, options: &Options<'_>) -> Result<Loaded, ReadError> {
    let path = path.as_ref();
    let name = path.to_string_lossy();
    input::open(path)
        .map_err(At::from)
        .and_then(|(file, total)| load_bytes(file, total, Format::of_name(path), options))
        .map_err(|at| ReadError::new(&name, at))
}

/// Reads a graph from any reader.
///
/// `name` is for the errors, and its extension can determine the format.
///
/// ```
/// use filch_graph::read;
///
/// let text = "\
/// %%MatrixMarket matrix coordinate real general
/// % from row to column
/// 3 3 2
/// 1 2 0.5
/// 3 1 1e-3
/// ";
/// let loaded = read::load_from("standard input", text.as_bytes(), &read::Options::new())?;
/// assert!(loaded.directed);
/// assert_eq!(loaded.graph.neighbours(2), [0]);
/// # Ok::<(), read::ReadError>(())
/// ```
pub fn load_from(name: &str, bytes: impl Read, options: &Options<'_>) -> Result<Loaded, ReadError> {
    load_bytes(bytes, None, Format::of_name(Path::new(name)), options).map_err(|at| ReadError::new(name, at))
}

/// A graph, and what is known about its file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The graph.
    pub graph: Graph,
    /// The ids of the vertices in the file, if they were renumbered.
    pub names: Option<Names>,
    /// The format that was given or detected.
    pub format: Format,
    /// Whether each entry is one arc, rather than both.
    pub directed: bool,
    /// The number of entries in the file: edges, or arcs if directed.
    pub entries: u64,
    /// The weights of vertices in a DIMACS file, by vertex.
    pub weights: Vec<(Vertex, u64)>,
}

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Two ids per line, as in the SNAP collection.
    ///
    /// ```
    /// use filch_graph::read::{load_from, Options};
    ///
    /// let text = "# FromNodeId\tToNodeId\n0\t3\n3, 1\n1 2 0.75\n";
    /// let graph = load_from("list", text.as_bytes(), &Options::new())?.graph;
    /// assert_eq!(graph.vertices(), 4);
    /// assert_eq!(graph.neighbours(1), [3, 2]);
    /// # Ok::<(), filch_graph::read::ReadError>(())
    /// ```
    EdgeList,
    /// The entries of a sparse matrix.
    ///
    /// ```
    /// use filch_graph::read::{load_from, Options};
    ///
    /// let text = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n";
    /// let graph = load_from("matrix", text.as_bytes(), &Options::new())?.graph;
    /// assert_eq!(graph.neighbours(0), [1, 2]);
    /// # Ok::<(), filch_graph::read::ReadError>(())
    /// ```
    MatrixMarket,
    /// As in the DIMACS challenges on colouring and cliques, and on shortest paths.
    ///
    /// ```
    /// use filch_graph::read::{load_from, Options};
    ///
    /// let text = "c two roads\np sp 3 2\na 1 2 70\na 2 3 50\n";
    /// let graph = load_from("roads", text.as_bytes(), &Options::new())?.graph;
    /// assert_eq!(graph.neighbours(1), [2]);
    /// assert_eq!(graph.degree(2), 0);
    /// # Ok::<(), filch_graph::read::ReadError>(())
    /// ```
    Dimacs,
}

impl Format {
    const ALL: [Format; 3] = [Format::EdgeList, Format::MatrixMarket, Format::Dimacs];

    fn name(self) -> &'static str {
        match self {
            Format::EdgeList => "edge-list",
            Format::MatrixMarket => "matrix-market",
            Format::Dimacs => "dimacs",
        }
    }

    /// Returns the format of a file name's extension, without that of gzip.
    fn of_name(path: &Path) -> Option<Format> {
        let extension =
            |path: &Path| path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        let last = match extension(path) {
            Some(last) if last == "gz" || last == "gzip" => extension(Path::new(path.file_stem()?)),
            last => last,
        };
        match &*last? {
            "mtx" | "mm" => Some(Format::MatrixMarket),
            "col" | "clq" | "gr" | "dimacs" => Some(Format::Dimacs),
            _ => None,
        }
    }

    /// Returns the format that the first lines show.
    fn of_lines<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<Format> {
        let line = lines.map(<[u8]>::trim_ascii).find(|line| !line.is_empty())?;
        let banner = matrix_market::BANNER;
        if line.len() >= banner.len() && line[..banner.len()].eq_ignore_ascii_case(banner) {
            return Some(Format::MatrixMarket);
        }
        match line {
            [b'c' | b'p'] | [b'c' | b'p', b' ' | b'\t', ..] => Some(Format::Dimacs),
            _ => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    /// Parses `edge-list`, `matrix-market` or `dimacs`.
    fn from_str(name: &str) -> Result<Format, String> {
        Format::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| format!("there is no format {name:?}: it is edge-list, matrix-market or dimacs"))
    }
}

/// The progress of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The bytes of the file read so far. Counts compressed bytes, if it is compressed.
    pub bytes: u64,
    /// The size of the file in bytes, if it is known.
    pub total: Option<u64>,
}

/// How to read a file.
///
/// ```
/// use filch_graph::read::{self, Options, Progress};
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// let seen = AtomicU64::new(0);
/// let progress = |progress: Progress| seen.store(progress.bytes, Ordering::Relaxed);
/// let options = Options::new().directed(true).progress(&progress);
/// let graph = read::load_from("list", &b"0 1\n"[..], &options)?.graph;
/// assert_eq!(graph.arcs(), 1);
/// assert_eq!(seen.into_inner(), 4);
/// # Ok::<(), read::ReadError>(())
/// ```
#[derive(Clone)]
pub struct Options<'a> {
    format: Option<Format>,
    directed: Option<bool>,
    renumber: bool,
    allow_isolated: bool,
    simple: bool,
    block_size: usize,
    progress: Option<&'a (dyn Fn(Progress) + Sync)>,
}

impl<'a> Options<'a> {
    /// Returns the defaults: format detected, direction from the format, ids kept.
    pub fn new() -> Self {
        Options {
            format: None,
            directed: None,
            renumber: false,
            allow_isolated: false,
            simple: false,
            block_size: 1 << 20,
            progress: None,
        }
    }

    /// Sets the format, instead of detecting it.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets whether each entry is one arc, or an edge with both arcs.
    ///
    /// By default, edge lists are undirected, and the other formats follow their header.
    pub fn directed(mut self, directed: bool) -> Self {
        self.directed = Some(directed);
        self
    }

    /// Sets whether to number the ids of an edge list densely, in their order.
    ///
    /// Then they can be any numbers below 2⁶⁴ − 1; [`Loaded::names`] keeps them. The other formats
    /// are numbered densely anyway.
    pub fn renumber(mut self, renumber: bool) -> Self {
        self.renumber = renumber;
        self
    }

    /// Sets whether to read files where
    /// [nearly all vertices have no edge](self#vertices-without-edges).
    ///
    /// Each such vertex takes four bytes.
    pub fn allow_isolated(mut self, allow: bool) -> Self {
        self.allow_isolated = allow;
        self
    }

    /// Sets whether to read a simple graph: without loops, and with each edge once.
    ///
    /// A loop is an error. An edge may be written twice, and a header may count it once or as often
    /// as it is written.
    pub fn simple(mut self, simple: bool) -> Self {
        self.simple = simple;
        self
    }

    /// Sets how many bytes are read at a time, which is also the longest line.
    ///
    /// The default is 1 MiB, the minimum 64 bytes.
    pub fn block_size(mut self, bytes: usize) -> Self {
        self.block_size = bytes.max(64);
        self
    }

    /// Sets a callback after each block, on the calling thread, for a progress bar.
    pub fn progress(mut self, progress: &'a (dyn Fn(Progress) + Sync)) -> Self {
        self.progress = Some(progress);
        self
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options::new()
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("format", &self.format)
            .field("directed", &self.directed)
            .field("renumber", &self.renumber)
            .field("allow_isolated", &self.allow_isolated)
            .field("simple", &self.simple)
            .field("block_size", &self.block_size)
            .finish_non_exhaustive()
    }
}

fn load_bytes(
    bytes: impl Read,
    total: Option<u64>,
    by_name: Option<Format>,
    options: &Options<'_>,
) -> Result<Loaded, At> {
    let taken = Cell::new(0);
    let mut text = Text::new(Input::new(bytes, total, &taken, options)?)?;
    let by_lines = || Format::of_lines(text.first_lines());
    let format = options.format.or_else(by_lines).or(by_name).unwrap_or(Format::EdgeList);
    match format {
        Format::EdgeList => load_edge_list(text, options),
        Format::MatrixMarket => {
            let header = matrix_market::header(&mut text)?;
            let edges = blocks::parse(text, &header)?;
            let matrix_market::Header { vertices, entries, symmetric, line, .. } = header;
            let promise = Promise { vertices, entries, directed: !symmetric, line };
            load_promised(format, promise, edges, options)
        }
        Format::Dimacs => {
            let header = dimacs::header(&mut text)?;
            let edges = blocks::parse(text, &header)?;
            let dimacs::Header { vertices, entries, kind, line, weights } = header;
            let promise = Promise { vertices, entries, directed: kind == dimacs::Kind::Arcs, line };
            let weights = lock(&weights).iter().map(|(&vertex, &weight)| (vertex, weight)).collect();
            Ok(Loaded { weights, ..load_promised(format, promise, edges, options)? })
        }
    }
}

fn load_edge_list(text: Text<'_>, options: &Options<'_>) -> Result<Loaded, At> {
    let format = Format::EdgeList;
    let directed = options.directed.unwrap_or(false);
    if options.renumber {
        let Edges { parts, entries, .. } = blocks::parse(text, &EdgeList::<u64>(PhantomData))?;
        let (names, parts) = names::renumber(parts).map_err(Problem::Build)?;
        let graph = build(names.ids().len() as u64, parts, directed, options)?;
        return Ok(Loaded { graph, names: Some(names), format, directed, entries, weights: Vec::new() });
    }
    let Edges { parts, entries, past } = blocks::parse(text, &EdgeList::<Vertex>(PhantomData))?;
    check_isolated(past, entries, false, options)?;
    let graph = build(past, parts, directed, options)?;
    Ok(Loaded { graph, names: None, format, directed, entries, weights: Vec::new() })
}

/// The numbers in a header.
struct Promise {
    vertices: u64,
    entries: u64,
    directed: bool,
    line: u64,
}

fn load_promised(format: Format, promise: Promise, edges: Edges<Vertex>, options: &Options<'_>) -> Result<Loaded, At> {
    let Edges { parts, entries, .. } = edges;
    let at_header = |problem| At { line: Some(promise.line), problem };
    check_isolated(promise.vertices, entries, true, options).map_err(at_header)?;
    let directed = options.directed.unwrap_or(promise.directed);
    let graph = build(promise.vertices, parts, directed, options)?;
    let distinct = graph.arcs() as u64 / if directed { 1 } else { 2 };
    if promise.entries != entries && !(options.simple && promise.entries == distinct) {
        return Err(at_header(Problem::Entries { promised: promise.entries, found: entries }));
    }
    Ok(Loaded { graph, names: None, format, directed, entries, weights: Vec::new() })
}

/// Refuses graphs with too many isolated vertices. So memory follows the bytes read, not the
/// numbers in them.
fn check_isolated(vertices: u64, entries: u64, header: bool, options: &Options<'_>) -> Result<(), Problem> {
    if vertices > 4 * entries + (1 << 16) && !options.allow_isolated {
        return Err(Problem::Isolated { vertices, entries, header });
    }
    Ok(())
}

fn build(
    vertices: u64,
    parts: Vec<Vec<(Vertex, Vertex)>>,
    directed: bool,
    options: &Options<'_>,
) -> Result<Graph, Problem> {
    let graph = Graph::from_parts(vertices as usize, &parts, !directed).map_err(Problem::Build)?;
    Ok(if options.simple { graph.without_repeats() } else { graph })
}

#[cfg(test)]
mod tests;
