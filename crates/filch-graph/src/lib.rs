//! Graphs with hundreds of millions of edges in memory, and parallel traversals.
//!
//! The traversals run on [`filch::explore`](mod@filch::explore).
//!
//! ```
//! use filch_graph::Graph;
//!
//! // A square with one diagonal, and an isolated vertex.
//! let graph = Graph::undirected(5, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])?;
//! assert_eq!(graph.vertices(), 5);
//! assert_eq!(graph.arcs(), 10);
//! assert_eq!(graph.neighbours(0), [1, 3, 2]);
//! assert_eq!(graph.degree(4), 0);
//! # Ok::<(), filch_graph::BuildError>(())
//! ```
//!
//! | module | what is in it |
//! |---|---|
//! | the root | [`Graph`]: the neighbours of all vertices in one array; [`WeightedGraph`]; and the traversals of [`traverse`] |
//! | [`read`] | graphs from files: edge lists, Matrix Market, DIMACS, plain or gzip |
//! | [`generate`] | generated graphs: torus, random, R-MAT and others |
//! | [`part`] | graphs of which several machines have a part each |
//! | [`traverse`] | reachability, spanning trees, components, distances, shortest paths |
//! | [`serial`] | the same traversals on one thread |
//!
//! # Features
//!
//! - `petgraph`, off by default: conversions to and from the graphs of the crate petgraph, by
//!   `TryFrom`. They are listed at [`Graph`].

pub mod generate;
mod graph;
pub mod part;
#[cfg(feature = "petgraph")]
mod petgraph;
pub mod read;
pub mod serial;
mod sync;
pub mod traverse;
mod weighted;

pub use graph::{BuildError, Graph, Vertex};
pub use traverse::{
    closure, closure_by_level, closure_marking, components, distances, shortest_paths, spanning_forest, spanning_tree,
    BucketWidth, BucketWidthError, Closure, Components, Distances, Effort, Mark, ShortestPaths, Tree, TreeFlaw,
};
pub use weighted::WeightedGraph;

/// The examples of the README, for doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
