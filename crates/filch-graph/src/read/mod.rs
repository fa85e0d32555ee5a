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
//! | [`EdgeList`](Format::EdgeList) | `17 42`, with spaces, tabs or a comma between; further columns of numbers are skipped, but for the [weight](self#weights); comments with `#` or `%` | any whole numbers, from 0 | undirected | being none of the others |
//! | [`MatrixMarket`](Format::MatrixMarket) | `%%MatrixMarket matrix coordinate …`, the sizes, then `row column` and values, which are skipped or the [weights](self#weights) | from 1, as many as the matrix has rows | `general`: directed, row to column; `symmetric`, `skew-symmetric`, `hermitian`: undirected | its first line, or `.mtx` |
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
//! # Weights
//!
//! [`load_weighted()`] reads a weight for each arc: the third column of an edge list, the value of
//! a matrix, the length in `a u v length`, and the number after `e u v`. It is a number from 0 to
//! 3.4e38, in any notation. If all are whole numbers below 2³², they are kept exactly; otherwise
//! all are rounded to the nearest `f32`.
//!
//! A line without a weight is an error, and so is a weight that is negative, infinite or not a
//! number. No weight is made up. Only the entries of a `pattern` matrix, which has no values, stand
//! for 1. A matrix that is `complex`, or `skew-symmetric` with values, is refused. Of several arcs
//! between the same vertices [`Options::simple`] keeps the one with the smallest weight.
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
//! beside the graph itself, and 4 more for a weight. The numbers in a header take no memory before
//! they are known to be true.

#![forbid(unsafe_code)]

mod blocks;
mod column;
mod cursor;
mod dimacs;
mod edge_list;
mod error;
mod format;
mod input;
mod load;
mod matrix_market;
mod names;
mod options;

use std::io::Read;
use std::path::Path;

use error::At;
use load::{load_bytes, Target};

use crate::{Graph, Vertex, WeightedGraph};

pub use error::{Problem, ReadError};
pub use format::Format;
pub use names::Names;
pub use options::{Options, Progress};

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
    load_file(path.as_ref(), options)
}

/// Reads the graph in a file with the weights of its arcs.
///
/// Otherwise as [`load()`]. The [module](self#weights) says what the weights are.
///
/// ```
/// use filch_graph::read;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("roads.gr");
/// std::fs::write(&path, "p sp 3 2\na 1 2 70\na 2 3 50\n").unwrap();
/// let roads = read::load_weighted(&path, &read::Options::new())?.graph;
/// assert!(roads.neighbours(0).eq([(1, 70.0)]));
/// # Ok::<(), read::ReadError>(())
/// ```
pub fn load_weighted(path: impl AsRef<Path>, options: &Options<'_>) -> Result<Loaded<WeightedGraph>, ReadError> {
    load_file(path.as_ref(), options)
}

fn load_file<G: Target>(path: &Path, options: &Options<'_>) -> Result<Loaded<G>, ReadError> {
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

/// Reads a graph with the weights of its arcs from any reader.
///
/// Otherwise as [`load_from()`]. The [module](self#weights) says what the weights are.
///
/// ```
/// use filch_graph::read;
///
/// let text = "0 1 2.5\n1 2 4\n2 0\n";
/// let error = read::load_weighted_from("list", text.as_bytes(), &read::Options::new()).unwrap_err();
/// assert_eq!(error.to_string(), "list:3: expected two vertex ids and a weight from 0 to 3.4e38, found \"2 0\"");
/// ```
pub fn load_weighted_from(
    name: &str,
    bytes: impl Read,
    options: &Options<'_>,
) -> Result<Loaded<WeightedGraph>, ReadError> {
    load_bytes(bytes, None, Format::of_name(Path::new(name)), options).map_err(|at| ReadError::new(name, at))
}

/// A graph, and what is known about its file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loaded<G = Graph> {
    /// The graph, without the weights of arcs or [with](load_weighted()) them.
    pub graph: G,
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

#[cfg(test)]
mod tests;
