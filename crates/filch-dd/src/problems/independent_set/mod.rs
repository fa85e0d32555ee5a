//! The maximum (weighted) independent set problem.
//!
//! Wanted is the heaviest set of vertices of a graph in which no two are joined by an edge.
//!
//! # The format
//!
//! DIMACS, as for colouring and cliques, plain or compressed with gzip: comments (`c …`), a line
//! `p edge n m` (or `p col n m`), then `e u v` for each edge, and `n v w` for a vertex with a weight
//! other than 1. Vertices are numbered from 1, weights are not negative. An edge may be written
//! twice, in either direction; the header may count it once or as often as it is written. The
//! published instances of the clique problem are read in the same way: [`clique`](super::clique)
//! solves them as they are meant, and this module solves their complement.
//!
//! ```
//! use filch_dd::problems::independent_set;
//!
//! let square = independent_set::read(b"c a square\np edge 4 4\ne 1 2\ne 2 3\ne 3 4\ne 4 1\n")?;
//! assert_eq!((square.vertices(), square.edges().len()), (4, 4));
//! # Ok::<(), filch_dd::problems::ReadError>(())
//! ```
//!
//! # One model, sets of several sizes
//!
//! States are sets of vertices, and small sets are fastest. So the model is an
//! [`IndependentSet`]`<S>` for any kind of set `S`; [`Graph::independent_set`] chooses the smallest
//! that is large enough.

mod generate;
mod graph;
mod model;
mod rarest;
mod read;

pub use generate::random;
pub use graph::Graph;
pub use model::{Answer, IndependentSet};
pub use rarest::Rarest;
pub use read::read;
