//! Breadth-first distances, level by level in one exploration.
//!
//! The vertices at one distance are a level. A task is a vertex. The exploration runs
//! [by level](filch::explore::Explore::run_by_level): it runs the vertices that a level finds after
//! all of that level. It runs a level that is too small to share on one worker. A path of a million
//! vertices is a million levels, and none of them is worth sharing.
//!
//! **Each distance is right.** No task of a level starts before all tasks of the level before have
//! ended. So a vertex without a distance, found from a vertex at distance `d`, is at `d + 1`. All
//! workers that find it write that number, so a load and a store are enough.
//!
//! **Repeats do no harm.** Two workers that find a vertex at the same time both push it. It is then
//! in the next level twice, and the second visit finds that its neighbours have distances.
//!
//! The alternative lowers distances as shorter paths are found, and needs no levels. But a worker
//! that takes the youngest task goes deep first, and on a torus nearly every distance is then
//! corrected many times.

use std::sync::atomic::{AtomicU32, Ordering};

use filch::explore::{AtLeast, Explore};

use super::{check_roots, Effort};
use crate::{Graph, Vertex};

/// No distance.
pub(crate) const NONE: u32 = u32::MAX;

/// The distance of each vertex from the nearest root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distances {
    distances: Box<[u32]>,
    effort: Effort,
}

impl Distances {
    pub(crate) fn new(distances: Box<[u32]>, effort: Effort) -> Distances {
        Distances { distances, effort }
    }

    /// Returns the length of the shortest path to this vertex, in arcs. `None` if there is no path.
    pub fn of(&self, vertex: Vertex) -> Option<u32> {
        self.distances.get(vertex as usize).copied().filter(|&distance| distance != NONE)
    }

    /// Returns the number of reachable vertices.
    pub fn reached(&self) -> usize {
        self.distances.iter().filter(|&&distance| distance != NONE).count()
    }

    /// Returns the first of the farthest vertices and its distance.
    ///
    /// `None` if there were no roots.
    pub fn farthest(&self) -> Option<(Vertex, u32)> {
        let reached =
            (0..self.distances.len() as Vertex).filter_map(|vertex| self.of(vertex).map(|distance| (vertex, distance)));
        reached.reduce(|far, next| if next.1 > far.1 { next } else { far })
    }

    /// Returns the effort of the traversal.
    pub fn effort(&self) -> &Effort {
        &self.effort
    }

    /// Returns the bytes held beside the graph: four per vertex.
    ///
    /// During the traversal, each worker has two vectors with four bytes for each vertex that it
    /// found for one level. They grow by doubling, and keep their memory until the traversal ends.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.distances)
    }
}

/// Computes the distance of each vertex from the nearest of these roots, in arcs.
///
/// If it was stopped early, the distances in the result are right, and others are missing; see
/// [`Effort::ending`].
///
/// ```
/// use filch::explore::Explore;
/// use filch_graph::{distances, generate};
///
/// let graph = generate::torus(100, 100)?;
/// let distances = distances(&graph, [0], Explore::at_least_once());
/// assert_eq!(distances.of(5), Some(5));
/// assert_eq!(distances.farthest(), Some((50 * 100 + 50, 100)));
/// # Ok::<(), generate::GenerateError>(())
/// ```
///
/// The exploration has no queues, so the kind of the queues that `explore` names has no effect.
///
/// # Panics
///
/// If a root is not a vertex of the graph.
pub fn distances<K>(
    graph: &Graph,
    roots: impl IntoIterator<Item = Vertex>,
    explore: Explore<'_, AtLeast, K>,
) -> Distances {
    let mut roots: Vec<Vertex> = roots.into_iter().collect();
    check_roots(graph, &roots);
    let distances: Box<[AtomicU32]> = (0..graph.vertices()).map(|_| AtomicU32::new(NONE)).collect();
    roots.retain(|&root| distances[root as usize].swap(0, Ordering::Relaxed) == NONE);
    let prefetch = |&vertex: &Vertex, ahead| graph.prefetch(vertex, ahead);
    let explored = explore.run_by_level_with_prefetch(roots, prefetch, |vertex, worker| {
        // Here and not outside, so that it is read once per task.
        let distances = &*distances;
        let distance = worker.level() as u32 + 1;
        for &next in graph.neighbours(vertex) {
            let entry = &distances[next as usize];
            // Relaxed: all workers that write it in this level write the same value, and the
            // exploration orders the levels.
            if entry.load(Ordering::Relaxed) == NONE {
                entry.store(distance, Ordering::Relaxed);
                worker.push(next);
            }
        }
    });
    let distances: Box<[u32]> = distances.into_vec().into_iter().map(AtomicU32::into_inner).collect();
    let reached = || distances.iter().filter(|&&distance| distance != NONE).count() as u64;
    let effort = Effort::of(&explored, reached);
    Distances::new(distances, effort)
}
