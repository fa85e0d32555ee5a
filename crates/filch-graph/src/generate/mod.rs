//! Generated graphs: those of the paper and a few others.
//!
//! All are undirected, without loops and repeated edges. The same arguments and seed make the same
//! graph, on every machine and with any number of threads. Random numbers, sorting and the
//! nearest-neighbour search run on the pool of the calling thread. [`uniform_weights`] gives random
//! weights to any of them.
//!
//! ```
//! use filch_graph::generate;
//!
//! let graph = generate::torus(10, 10)?;
//! assert_eq!(graph.vertices(), 100);
//! assert_eq!(graph.arcs(), 400);
//!
//! let error = generate::random(3, 4, 0).unwrap_err();
//! assert_eq!(error.to_string(), "3 vertices have 3 pairs, so there cannot be 4 edges without loops and repeats");
//! # Ok::<(), generate::GenerateError>(())
//! ```

mod connect;
mod edges;
mod error;
mod lattice;
mod part;
mod plane;
mod random;
mod recipe;
mod ring;
mod rmat;
pub(crate) mod stream;
mod weights;

pub use connect::connect;
pub use error::GenerateError;
pub use lattice::{grid, path, star, torus};
pub use plane::kgraph_plane;
pub use random::random;
pub use recipe::{Recipe, RecipeError, Shape};
pub use ring::kgraph_ring;
pub use rmat::rmat;
pub use weights::uniform_weights;
