//! Errors from building a graph.

use std::error::Error;
use std::fmt;

use super::{Graph, Vertex};
use crate::weighted::MOST;

/// Error from building a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// More than [`Graph::MAX_VERTICES`].
    TooManyVertices {
        /// The number of vertices asked for.
        vertices: usize,
    },
    /// More arcs than the target graph can number. Only graphs of other crates have such a limit.
    TooManyArcs {
        /// The number of arcs.
        arcs: usize,
    },
    /// There is no memory for the graph.
    NoMemory {
        /// The number of vertices.
        vertices: usize,
        /// The number of arcs.
        arcs: usize,
    },
    /// The weight of an arc or edge is negative, infinite, too large or not a number.
    Weight {
        /// The vertex where it starts.
        from: Vertex,
        /// The vertex where it ends.
        to: Vertex,
    },
    /// An arc or edge has an end that is not among the vertices.
    NoSuchVertex {
        /// The vertex where it starts.
        from: Vertex,
        /// The vertex where it ends.
        to: Vertex,
        /// The number of vertices.
        vertices: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            BuildError::TooManyVertices { vertices } => write!(
                f,
                "a graph cannot have {vertices} vertices: they are numbered in 32 bits, which is enough for {}",
                Graph::MAX_VERTICES
            ),
            BuildError::TooManyArcs { arcs } => {
                write!(f, "a graph of {arcs} arcs is too large: the target numbers its edges in 32 bits, so there can be at most 4294967295")
            }
            BuildError::NoMemory { vertices, arcs } => {
                write!(f, "there is no memory for a graph of {vertices} vertices and {arcs} arcs")
            }
            BuildError::Weight { from, to } => {
                write!(f, "the weight of the arc from {from} to {to} is not a number from 0 to {}", MOST)
            }
            BuildError::NoSuchVertex { from, to, vertices: 0 } => {
                write!(f, "there is an arc from {from} to {to}, but the graph has no vertices")
            }
            BuildError::NoSuchVertex { from, to, vertices } => {
                write!(f, "there is an arc from {from} to {to}, but the vertices are numbered 0 to {}", vertices - 1)
            }
        }
    }
}

impl Error for BuildError {}
