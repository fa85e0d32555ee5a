//! Errors from generating a graph.

use std::fmt;

use super::Recipe;
use crate::{BuildError, Graph};

/// Error from generating a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GenerateError {
    /// A graph without vertices was asked for.
    NoVertices,
    /// More vertices than fit in 32 bits.
    TooManyVertices {
        /// The number asked for.
        asked: u128,
    },
    /// Each vertex was to have at least as many neighbours as there are vertices.
    TooManyNeighbours {
        /// The number of neighbours.
        neighbours: usize,
        /// The number of vertices.
        vertices: usize,
    },
    /// More unique edges than there are pairs of vertices.
    TooManyEdges {
        /// The number of edges asked for.
        asked: usize,
        /// The number of vertices.
        vertices: usize,
        /// The number of edges that this many vertices can have.
        most: u128,
    },
    /// A part was asked for of a graph that can only be made whole.
    NotInParts {
        /// The recipe.
        recipe: Recipe,
        /// Why it can only be made whole.
        why: &'static str,
    },
    /// No weight is in the range of the weights.
    EmptyRange {
        /// The smallest weight asked for.
        least: u32,
        /// The largest weight asked for.
        most: u32,
    },
    /// Weights are needed, and the recipe has none.
    NoWeights {
        /// The recipe.
        recipe: Recipe,
    },
    /// There is no memory for the edges.
    NoMemory {
        /// The number of edges to be kept at the same time.
        edges: u128,
    },
    /// The edges were generated, but the graph could not be built.
    Build(BuildError),
}

impl fmt::Display for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GenerateError::NoVertices => {
                f.write_str("a graph without vertices cannot be generated; ask for at least one")
            }
            GenerateError::TooManyVertices { asked } => {
                let most = Graph::MAX_VERTICES;
                write!(
                    f,
                    "{asked} vertices are too many: vertices are numbered in 32 bits, so there can be at most {most}"
                )
            }
            GenerateError::TooManyNeighbours { neighbours, vertices } => {
                write!(f, "a graph of {vertices} vertices cannot give each {neighbours} neighbours; k must be below the number of vertices")
            }
            GenerateError::TooManyEdges { asked, vertices, most } => {
                write!(
                    f,
                    "{vertices} vertices have {most} pairs, so there cannot be {asked} edges without loops and repeats"
                )
            }
            GenerateError::NotInParts { recipe, why } => {
                write!(f, "{recipe} cannot be built in parts, each by itself: {why}")
            }
            GenerateError::EmptyRange { least, most } => {
                write!(f, "no weight is from {least} to {most}; the first number must not be the larger one")
            }
            GenerateError::NoWeights { recipe } => {
                write!(f, "{recipe} has no weights; add a range of random ones, such as `,weights=1-100`")
            }
            GenerateError::NoMemory { edges } => {
                write!(f, "there is no memory for {edges} edges; ask for a smaller graph")
            }
            GenerateError::Build(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for GenerateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            GenerateError::Build(error) => Some(error),
            _ => None,
        }
    }
}

impl From<BuildError> for GenerateError {
    fn from(error: BuildError) -> Self {
        GenerateError::Build(error)
    }
}
