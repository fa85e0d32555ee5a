//! Traversals on [`filch::explore`](mod@filch::explore).
//!
//! Each takes an [`Explore`](filch::explore::Explore) that sets the queue, the number of workers
//! and the limits. All of them tolerate tasks that run twice, and the module of each says why. So
//! they take the at-least-once exploration, on any queue. The method `memory` of each result
//! returns what the traversal allocates. The graph has four bytes per arc, four more per weight, and
//! four per vertex.
//!
//! | traversal | task | shared memory a vertex | read-modify-writes |
//! |---|---|---|---|
//! | [`closure()`] | a vertex | 1 byte | none; with [`Mark::Exchange`] one a vertex |
//! | [`closure_by_level()`] | a vertex, in its level | 1 byte | none |
//! | [`spanning_tree()`], [`spanning_forest()`] | a vertex | 5 bytes | one a vertex |
//! | [`components()`] | 512 vertices | 4 bytes | one a vertex |
//! | [`distances()`] | a vertex, in its level | 4 bytes | none |
//! | [`shortest_paths()`] | 128 entries of a bucket | 8 bytes | one for each distance that is lowered, six a task |

mod closure;
mod components;
mod distances;
mod effort;
mod shortest_paths;
mod spanning_tree;
mod tree;
mod unions;

pub use closure::{closure, closure_by_level, closure_marking, Closure, Mark};
pub use components::{components, Components};
pub use distances::{distances, Distances};
pub use effort::Effort;
pub use shortest_paths::{shortest_paths, BucketWidth, BucketWidthError, ShortestPaths};
pub use spanning_tree::{spanning_forest, spanning_tree};
pub use tree::{Tree, TreeFlaw};

pub(crate) use distances::NONE as NO_DISTANCE;
pub(crate) use tree::NONE as NO_PARENT;
pub(crate) use unions::Unions;

use crate::{Graph, Vertex};

fn check_roots(graph: &Graph, roots: &[Vertex]) {
    let vertices = graph.vertices();
    if let Some(root) = roots.iter().find(|&&root| root as usize >= vertices) {
        panic!("the root {root} is not a vertex of the graph, which has {vertices}");
    }
}
