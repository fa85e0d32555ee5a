//! Spanning trees and forests, grown by exploration.
//!
//! A task is a vertex. To run it is to go over its neighbours; who has no mark is marked, by an exchange that one worker wins, and that worker writes down the parent and then pushes.
//! The marks are bytes beside the parents, because most looks find one set, and more of them fit in the cache.
//!
//! **It is a tree.** A vertex is marked once, so it gets one parent, and it is pushed after that. So if `v` is the parent of `w`, then `v` had its own parent before: the
//! mark of `v` came before the push of `v`, that before the run of `v`, that before the mark of `w`; a queue hands on what was done before a push. What comes before
//! cannot go round in a circle, so the parents lead to the root. And nothing is missed, for the same reason as in [a closure](super::closure()).
//!
//! **Repeats do no harm**: a vertex that is run again finds no neighbour without a mark, and one that is run twice at the same time shares them out.
//!
//! **A look and a store would not do**, as they do for a closure, although each vertex would still have one parent, the last that was stored. Let one worker mark `a` and run it, and
//! another mark `b` and run it, where `a` and `b` are neighbours, while the stores of both are still on their way. Then each finds the other vertex without a mark, and each is made the
//! parent of the other. On x86 the store buffer allows that, however rarely, unless there is a fence between the store and the run, as in the pop of Chase-Lev; the queues that
//! are worth having here are those without. The paper says as much: its spanning tree synchronises by itself.
//!
//! **The forest** needs a root in each component, and two explorations however many components there are. The first grows a tree from a vertex with the most neighbours; in most graphs that is
//! all, or nearly. The vertices that are left are then united with their neighbours, as for [components](super::components()), and the smallest of each set is a root of the second exploration.

use std::sync::atomic::{AtomicU32, AtomicU8, Ordering};

use filch::explore::queue::Kind;
use filch::explore::{AtLeast, Explore};

use super::components::unite;
use super::tree::NONE;
use super::{check_roots, Effort, Tree};
use crate::{Graph, Vertex};

/// A tree of all vertices that can be reached from this root.
///
/// Which tree it is depends on who came first. If it was stopped early, it is a tree of part of them; see [`Effort::ending`].
///
/// ```
/// use filch::explore::Explore;
/// use filch_graph::{generate, spanning_tree};
///
/// let graph = generate::torus(100, 100)?;
/// let tree = spanning_tree(&graph, 0, Explore::at_least_once());
/// assert_eq!(tree.edges().count(), 9_999);
/// assert_eq!(tree.check(&graph), Ok(()));
/// # Ok::<(), generate::GenerateError>(())
/// ```
///
/// # Panics
///
/// If the root is not a vertex of the graph.
pub fn spanning_tree<K: Kind<Vertex>>(graph: &Graph, root: Vertex, explore: Explore<'_, AtLeast, K>) -> Tree {
    check_roots(graph, &[root]);
    let growth = Growth::new(graph);
    let effort = growth.grow(vec![root], explore);
    growth.finish(vec![root], effort, usize::from(graph.degree(root) == 0))
}

/// A tree for each component.
///
/// In a directed graph, every vertex is in one of the trees too, but a component may have several.
///
/// If it was stopped early, some vertices are in no tree, or components have no root; see [`Effort::ending`].
///
/// ```
/// use filch::explore::Explore;
/// use filch_graph::{generate, spanning_forest};
///
/// let graph = generate::random(1000, 400, 1)?;
/// let forest = spanning_forest(&graph, Explore::at_least_once());
/// assert_eq!(forest.reached(), 1000);
/// assert_eq!(forest.edges().count(), 1000 - forest.roots().len());
/// # Ok::<(), generate::GenerateError>(())
/// ```
pub fn spanning_forest<K: Kind<Vertex> + Clone>(graph: &Graph, explore: Explore<'_, AtLeast, K>) -> Tree {
    let growth = Growth::new(graph);
    let every = || 0..graph.vertices() as Vertex;
    let mut roots: Vec<Vertex> = every().max_by_key(|&vertex| graph.degree(vertex)).into_iter().collect();
    let mut effort = growth.grow(roots.clone(), explore.clone());
    let some_left = |effort: &Effort| effort.is_complete() && every().any(|vertex| growth.is_left(vertex));
    if some_left(&effort) {
        let (unions, more) = unite(graph, |vertex| growth.is_left(vertex), explore.clone());
        effort = effort.then(more);
        if effort.is_complete() {
            let starts: Vec<Vertex> =
                every().filter(|&vertex| growth.is_left(vertex) && unions.is_smallest(vertex)).collect();
            drop(unions);
            roots.extend(&starts);
            effort = effort.then(growth.grow(starts, explore));
        }
    }
    let alone = roots.iter().filter(|&&root| graph.degree(root) == 0).count();
    let added = if some_left(&effort) { growth.grow_one_way(&mut roots) } else { 0 };
    growth.finish(roots, effort, alone + added)
}

/// Trees that grow.
struct Growth<'g> {
    graph: &'g Graph,
    marks: Box<[AtomicU8]>,
    /// Written by whoever set the mark, and read when all is done.
    parents: Box<[AtomicU32]>,
}

// Relaxed throughout: each mark is decided by itself, and what must come before what is seen to by the queue.
impl<'g> Growth<'g> {
    fn new(graph: &'g Graph) -> Self {
        let marks = (0..graph.vertices()).map(|_| AtomicU8::new(0)).collect();
        let parents = (0..graph.vertices()).map(|_| AtomicU32::new(NONE)).collect();
        Growth { graph, marks, parents }
    }

    /// Whether the vertex is in no tree yet.
    fn is_left(&self, vertex: Vertex) -> bool {
        self.marks[vertex as usize].load(Ordering::Relaxed) == 0
    }

    /// Grows a tree from each of the roots, which are not in any yet.
    fn grow<K: Kind<Vertex>>(&self, mut roots: Vec<Vertex>, explore: Explore<'_, AtLeast, K>) -> Effort {
        for &root in &roots {
            adopt(&self.marks, &self.parents, root, root);
        }
        // Nothing grows from a vertex without neighbours.
        roots.retain(|&root| self.graph.degree(root) > 0);
        let explored = explore.run(roots, |vertex, worker| {
            // Here and not before, so that they are read once a task and not again after every push.
            let (marks, parents) = (&*self.marks, &*self.parents);
            for &next in self.graph.neighbours(vertex) {
                if adopt(marks, parents, next, vertex) {
                    worker.push(next);
                }
            }
        });
        // How many tasks would have done is known when all trees are grown.
        Effort::of(&explored, || 0)
    }

    /// Adds what no root has a way to, which is only there if arcs go one way: rare enough for one thread. Returns how many vertices that are.
    #[cold]
    fn grow_one_way(&self, roots: &mut Vec<Vertex>) -> usize {
        let adopt = |vertex, parent| adopt(&self.marks, &self.parents, vertex, parent);
        let mut added = 0;
        for root in 0..self.graph.vertices() as Vertex {
            if adopt(root, root) {
                roots.push(root);
                let mut stack = vec![root];
                while let Some(vertex) = stack.pop() {
                    added += 1;
                    stack.extend(self.graph.neighbours(vertex).iter().filter(|&&next| adopt(next, vertex)));
                }
            }
        }
        added
    }

    /// The tree, of which so many vertices were never a task.
    fn finish(self, roots: Vec<Vertex>, effort: Effort, without: usize) -> Tree {
        let parents: Box<[Vertex]> = self.parents.into_vec().into_iter().map(AtomicU32::into_inner).collect();
        Tree::new(parents, roots, |reached| effort.needing(reached.saturating_sub(without as u64)))
    }
}

/// Gives the vertex this parent, unless it is in a tree.
#[inline]
fn adopt(marks: &[AtomicU8], parents: &[AtomicU32], vertex: Vertex, parent: Vertex) -> bool {
    let mark = &marks[vertex as usize];
    let adopted = mark.load(Ordering::Relaxed) == 0 && mark.swap(1, Ordering::Relaxed) == 0;
    if adopted {
        parents[vertex as usize].store(parent, Ordering::Relaxed);
    }
    adopted
}
