//! Reachability: which vertices can be reached from some, the transitive closure of the paper.
//!
//! A task is a vertex. To run it is to go over its neighbours, and to mark and push those that have no mark. This is when a vertex is marked: when it is pushed, so that few are
//! pushed twice; and how, with [`Mark::Store`]: one look and one store, neither of them ordered with anything.
//!
//! **Nothing is missed.** Whoever marks a vertex pushes it, and what was pushed is run at least once before the exploration ends. So each marked vertex is run, and then each of its
//! neighbours has a mark: one that it saw, or its own. Only reachable vertices are marked. That is all that is asked for.
//!
//! **Repeats do no harm.** A vertex that is run again finds its neighbours marked and pushes nothing; one that is run twice at the same time shares its neighbours out, some of them twice.
//! A worker sees its own marks, so it pushes a vertex at most once: the worklists hold at most one task for each vertex and worker, and hardly more than one for
//! each vertex in practice.

use std::sync::atomic::{AtomicU8, Ordering};

use filch::explore::queue::Kind;
use filch::explore::{AtLeast, Explore};

use super::{check_roots, Effort};
use crate::{Graph, Vertex};

/// How a vertex is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// By a look and then a store. Two workers may both find it unmarked and both push it.
    #[default]
    Store,
    /// By a look and then an exchange, which one worker wins: each vertex is pushed once, at the price of a read-modify-write. On an exactly-once queue no task is then redundant.
    Exchange,
}

/// Which vertices can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closure {
    marks: Box<[u8]>,
    reached: usize,
    effort: Effort,
}

impl Closure {
    /// How many vertices can be reached, the roots among them.
    pub fn reached(&self) -> usize {
        self.reached
    }

    /// Whether this one can be reached.
    pub fn contains(&self, vertex: Vertex) -> bool {
        self.marks.get(vertex as usize).is_some_and(|&mark| mark != 0)
    }

    /// The vertices that can be reached, in order.
    pub fn iter(&self) -> impl Iterator<Item = Vertex> + '_ {
        (0..self.marks.len() as Vertex).filter(|&vertex| self.contains(vertex))
    }

    /// What it took.
    pub fn effort(&self) -> &Effort {
        &self.effort
    }

    /// The bytes it held beside the graph: one a vertex. The worklists come on top: eight for each task that is queued, of which [`Effort::longest`] says
    /// how many were seen; never more than one for each vertex and worker.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.marks)
    }
}

/// Which vertices can be reached from these roots.
///
/// If it was stopped early, what it contains can be reached, and more may be; see [`Effort::ending`].
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

/// [`closure()`], with vertices marked in this way.
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
    let mut starts: Vec<Vertex> = roots.into_iter().collect();
    check_roots(graph, &starts);
    let marks: Box<[AtomicU8]> = (0..graph.vertices()).map(|_| AtomicU8::new(0)).collect();
    starts.retain(|&root| marks[root as usize].swap(1, Ordering::Relaxed) == 0);
    // Relaxed throughout: a mark says nothing about other memory. Who has not seen one yet repeats a visit; the end of the exploration makes all of them visible.
    let explored = match mark {
        Mark::Store => explore.run(starts, |vertex, worker| {
            // Here and not before, so that it is read once a task and not again after every push.
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
    let marks: Box<[u8]> = marks.into_vec().into_iter().map(AtomicU8::into_inner).collect();
    Closure::new(marks, |reached| Effort::of(&explored, || reached))
}

impl Closure {
    pub(crate) fn new(marks: Box<[u8]>, effort: impl FnOnce(u64) -> Effort) -> Closure {
        let reached = marks.iter().map(|&mark| usize::from(mark)).sum();
        Closure { marks, reached, effort: effort(reached as u64) }
    }
}
