//! Reachability: the vertices that can be reached from roots, the paper's transitive closure.
//!
//! A task is a vertex. A task visits the neighbours of its vertex, and marks and pushes those that
//! have no mark. A vertex is marked when it is pushed, so that few are pushed twice. With
//! [`Mark::Store`], marking is one load and one store, neither of them ordered with any other
//! access.
//!
//! **Nothing is missed.** A worker that marks a vertex pushes it, and each pushed vertex is run at
//! least once before the exploration ends. So each marked vertex is run, and then each of its
//! neighbours has a mark: an earlier one, or one that the task sets. Only reachable vertices are
//! marked. So the marked vertices are exactly the reachable ones.
//!
//! **Repeats do no harm.** A vertex that is run again finds its neighbours marked and pushes
//! nothing. If a vertex is run twice at the same time, the two runs share its neighbours, and some
//! are pushed twice. A worker sees its own marks, so it pushes a vertex at most once. So the
//! worklists hold at most one task for each vertex and worker, and hardly more than one for each
//! vertex in practice.

use std::sync::atomic::{AtomicU8, Ordering};

use filch::explore::{AtLeast, Explore, Explored};
use filch::queue::Kind;

use super::{check_roots, Effort};
use crate::{Graph, Vertex};

/// How a vertex is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// By a load and then a store. Two workers may both find it unmarked and both push it.
    #[default]
    Store,
    /// By a load and then an exchange, which one worker wins.
    ///
    /// Each vertex is pushed once, at the price of a read-modify-write. On an exactly-once queue no
    /// task is then redundant.
    Exchange,
}

/// The set of reachable vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closure {
    marks: Box<[u8]>,
    reached: usize,
    effort: Effort,
}

impl Closure {
    /// Returns the number of reachable vertices, including the roots.
    pub fn reached(&self) -> usize {
        self.reached
    }

    /// Returns whether this vertex is reachable.
    pub fn contains(&self, vertex: Vertex) -> bool {
        self.marks.get(vertex as usize).is_some_and(|&mark| mark != 0)
    }

    /// Iterates over the reachable vertices, in order.
    pub fn iter(&self) -> impl Iterator<Item = Vertex> + '_ {
        (0..self.marks.len() as Vertex).filter(|&vertex| self.contains(vertex))
    }

    /// Returns the effort of the traversal.
    pub fn effort(&self) -> &Effort {
        &self.effort
    }

    /// Returns the bytes held beside the graph: one per vertex.
    ///
    /// The worklists come on top: eight bytes for each queued task. [`Effort::longest`] says how
    /// many tasks were seen; never more than one for each vertex and worker.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.marks)
    }
}

/// Finds the vertices reachable from these roots.
///
/// If it was stopped early, every vertex in the result is reachable, but some reachable vertices
/// may be missing; see [`Effort::ending`].
///
/// ```
/// use filch::explore::Explore;
/// use filch_graph::{closure, generate};
///
/// let graph = generate::torus(100, 100)?;
/// let closure = closure(&graph, [0], Explore::at_least_once());
/// assert_eq!(closure.reached(), 10_000);
/// # Ok::<(), generate::GenerateError>(())
/// ```
///
/// # Panics
///
/// If a root is not a vertex of the graph.
pub fn closure<K: Kind<Vertex>>(
    graph: &Graph,
    roots: impl IntoIterator<Item = Vertex>,
    explore: Explore<'_, AtLeast, K>,
) -> Closure {
    closure_marking(graph, roots, Mark::Store, explore)
}

/// [`closure()`] with this way of marking vertices.
///
/// # Panics
///
/// If a root is not a vertex of the graph.
pub fn closure_marking<K: Kind<Vertex>>(
    graph: &Graph,
    roots: impl IntoIterator<Item = Vertex>,
    mark: Mark,
    explore: Explore<'_, AtLeast, K>,
) -> Closure {
    let (starts, marks) = start(graph, roots);
    // Relaxed throughout: a mark says nothing about other memory. A worker that does not see a mark
    // yet repeats a visit. The end of the exploration makes all marks visible.
    let explored = match mark {
        Mark::Store => explore.run(starts, |vertex, worker| {
            // Here and not outside, so that it is read once per task and not again after every
            // push.
            let marks = &*marks;
            for &next in graph.neighbours(vertex) {
                let mark = &marks[next as usize];
                if mark.load(Ordering::Relaxed) == 0 {
                    mark.store(1, Ordering::Relaxed);
                    worker.push(next);
                }
            }
        }),
        Mark::Exchange => explore.run(starts, |vertex, worker| {
            let marks = &*marks;
            for &next in graph.neighbours(vertex) {
                let mark = &marks[next as usize];
                if mark.load(Ordering::Relaxed) == 0 && mark.swap(1, Ordering::Relaxed) == 0 {
                    worker.push(next);
                }
            }
        }),
    };
    finish(marks, &explored)
}

/// [`closure()`], level by level.
///
/// It finds the same vertices. All vertices at one distance from the roots are visited before those
/// at the next, without queues, so the kind of the queues has no effect. A worker fetches what it
/// needs for the next vertices while it visits one. That suits graphs whose neighbours are anywhere
/// in memory, as in a random graph: there it is two to three times as fast, if the graph does not
/// fit the cache. If neighbours are close in memory, as in a torus whose rows are sorted,
/// [`closure()`] is twice as fast.
///
/// ```
/// use filch::explore::Explore;
/// use filch_graph::{closure_by_level, generate};
///
/// let graph = generate::random(10_000, 100_000, 1)?;
/// assert_eq!(closure_by_level(&graph, [0], Explore::at_least_once()).reached(), 10_000);
/// # Ok::<(), generate::GenerateError>(())
/// ```
///
/// # Panics
///
/// If a root is not a vertex of the graph.
pub fn closure_by_level<K>(
    graph: &Graph,
    roots: impl IntoIterator<Item = Vertex>,
    explore: Explore<'_, AtLeast, K>,
) -> Closure {
    let (starts, marks) = start(graph, roots);
    let prefetch = |&vertex: &Vertex, ahead| graph.prefetch(vertex, ahead);
    let explored = explore.run_by_level_with_prefetch(starts, prefetch, |vertex, worker| {
        let marks = &*marks;
        for &next in graph.neighbours(vertex) {
            let mark = &marks[next as usize];
            // Relaxed: as in `closure_marking`.
            if mark.load(Ordering::Relaxed) == 0 {
                mark.store(1, Ordering::Relaxed);
                worker.push(next);
            }
        }
    });
    finish(marks, &explored)
}

/// Returns the closure that an exploration has marked.
fn finish<S>(marks: Box<[AtomicU8]>, explored: &Explored<S>) -> Closure {
    let marks: Box<[u8]> = marks.into_vec().into_iter().map(AtomicU8::into_inner).collect();
    Closure::new(marks, |reached| Effort::of(explored, || reached))
}

/// Returns the roots without repeats, and the marks, in which they are set.
fn start(graph: &Graph, roots: impl IntoIterator<Item = Vertex>) -> (Vec<Vertex>, Box<[AtomicU8]>) {
    let mut starts: Vec<Vertex> = roots.into_iter().collect();
    check_roots(graph, &starts);
    let marks: Box<[AtomicU8]> = (0..graph.vertices()).map(|_| AtomicU8::new(0)).collect();
    // Relaxed: no worker has them yet.
    starts.retain(|&root| marks[root as usize].swap(1, Ordering::Relaxed) == 0);
    (starts, marks)
}

impl Closure {
    pub(crate) fn new(marks: Box<[u8]>, effort: impl FnOnce(u64) -> Effort) -> Closure {
        let reached = marks.iter().map(|&mark| usize::from(mark)).sum();
        Closure { marks, reached, effort: effort(reached as u64) }
    }
}
