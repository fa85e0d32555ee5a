//! Shortest paths by delta stepping, in one exploration.
//!
//! Distances are cut into buckets of equal width. The search processes the buckets in order. It
//! relaxes the arcs of each vertex in the current bucket: it lowers the distance of a neighbour if
//! the path through the vertex is shorter. A vertex whose distance is lowered goes into the bucket
//! of the new distance, which may be the current one. The search leaves a bucket when it is empty.
//!
//! A task is the number of a piece of the current bucket. It also processes what it finds in the
//! current bucket itself, up to a limit. The worker that finishes the last piece makes new pieces
//! of what is left, or of the next bucket, and pushes them. It processes what is too small to share
//! itself. Entries of later buckets stay with the worker that found them, in its [`wheel`].
//!
//! **The distances are exact.** An entry is a vertex and a distance. One is made each time that a
//! distance is lowered, by the worker that has lowered it, and each is processed. If its distance
//! is outdated then, a later entry has the shorter one. So in the end no arc can lower a distance.
//!
//! Each distance is the sum of the weights along some path, added from the root. Sums of `f64` are
//! monotone: when no arc can lower a distance, no path has a smaller sum. So the distances are the
//! smallest sums of all paths, which do not depend on the order of the workers. Dijkstra's algorithm
//! finds the same, bit for bit.
//!
//! **Repeats do no harm**, as in [`distances`](super::distances()): a task claims its piece by an
//! exchange.
//!
//! As published, delta stepping relaxes arcs that are longer than a bucket only when the bucket is
//! left, once for each vertex. Here all arcs of a vertex are relaxed together. That saves the
//! second visit, and few vertices of a bucket are visited again.
//!
//! Source: U. Meyer, P. Sanders, *Δ-stepping: a parallelizable shortest path algorithm*, 2003.

mod paths;
mod search;
#[cfg(test)]
mod tests;
mod wheel;
mod width;

use std::sync::atomic::{AtomicU64, Ordering};

use filch::explore::{AtLeast, Ending, Explore};
use filch::queue::Kind;

pub use paths::ShortestPaths;
use search::{Reading, Real, Search, Step, Whole, NONE};
pub use width::{BucketWidth, BucketWidthError};

use super::{check_roots, Effort};
use crate::weighted::Kind as WeightKind;
use crate::{Vertex, WeightedGraph};

/// Computes the shortest distance of each vertex from the nearest of these roots.
///
/// The length of a path is the sum of the weights of its arcs. The distances are the same for any
/// number of workers, any queue and any width. The visits and the effort may differ, and so may
/// [`width`](ShortestPaths::width).
///
/// If it was stopped early, the distances in the result are right, and others are missing; see
/// [`Effort::ending`].
///
/// ```
/// use filch::explore::Explore;
/// use filch_graph::{generate, shortest_paths, BucketWidth};
///
/// let roads = generate::uniform_weights(generate::torus(100, 100)?, 1..=9, 7)?;
/// let paths = shortest_paths(&roads, [0], BucketWidth::automatic(), Explore::at_least_once());
/// assert_eq!(paths.of(0), Some(0.0));
/// assert_eq!(paths.reached(), 10_000);
/// assert!(paths.farthest().is_some_and(|(_, distance)| distance >= 100.0));
/// # Ok::<(), generate::GenerateError>(())
/// ```
///
/// # Panics
///
/// If a root is not a vertex of the graph, if a queue is at its limit, or if the search needs 2³²
/// tasks or more.
pub fn shortest_paths<K: Kind<Vertex>>(
    graph: &WeightedGraph,
    roots: impl IntoIterator<Item = Vertex>,
    width: BucketWidth,
    explore: Explore<'_, AtLeast, K>,
) -> ShortestPaths {
    let roots = roots.into_iter().collect();
    match graph.kind() {
        WeightKind::Whole => search::<K, Whole>(graph, roots, width, explore),
        WeightKind::Real => search::<K, Real>(graph, roots, width, explore),
    }
}

fn search<K: Kind<Vertex>, W: Reading>(
    graph: &WeightedGraph,
    mut roots: Vec<Vertex>,
    width: BucketWidth,
    explore: Explore<'_, AtLeast, K>,
) -> ShortestPaths {
    check_roots(graph.graph(), &roots);
    let distances: Box<[AtomicU64]> = (0..graph.vertices()).map(|_| AtomicU64::new(NONE)).collect();
    // Relaxed: no worker has started.
    roots.retain(|&root| distances[root as usize].swap(0, Ordering::Relaxed) == NONE);
    let width = width.of(graph);
    let search = Search::<W>::new(graph, &distances, width, &roots, explore.max_workers());
    let explored = explore.run(search.tasks(), |task, worker| match search.run(task, worker.index()) {
        Step::Done => {}
        Step::Repeat => worker.count_redundant(),
        Step::NextPhase(tasks) => worker.push_all(tasks),
    });
    let visits = search.visits();
    if explored.ending() != Ending::Complete {
        let is_settled = search.settled();
        for distance in &distances {
            // Relaxed, both: the end of the exploration made all distances visible.
            if !is_settled(f64::from_bits(distance.load(Ordering::Relaxed))) {
                distance.store(NONE, Ordering::Relaxed);
            }
        }
    }
    drop(search);
    let repeats = explored.counts().iter().map(|counts| counts.redundant).sum::<u64>();
    let tasks = explored.counts().iter().map(|counts| counts.tasks).sum::<u64>();
    let distances = distances.into_vec().into_iter().map(|bits| f64::from_bits(bits.into_inner())).collect();
    ShortestPaths::new(distances, roots, width, visits, Effort::of(&explored, || tasks - repeats))
}
