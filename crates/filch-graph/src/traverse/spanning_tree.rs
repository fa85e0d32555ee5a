//! Spanning trees and forests, grown by exploration.
//!
//! A task is a vertex. A task visits the neighbours of its vertex. It marks a neighbour that has no
//! mark, by an exchange that one worker wins. That worker stores the parent and then pushes the
//! neighbour. The marks are bytes beside the parents: most loads find a mark set, and more marks
//! fit in the cache.
//!
//! **It is a tree.** A vertex is marked once, so it gets one parent, and it is pushed after that.
//! So if `v` is the parent of `w`, `v` got its own parent before: the mark of `v` comes before the
//! push of `v`, that before the run of `v`, and that before the mark of `w`. A queue makes what
//! happened before a push visible after the pop. This order has no cycle, so the parents lead to
//! the root. And nothing is missed, for the same reason as in [a closure](super::closure()).
//!
//! **Repeats do no harm.** A vertex that is run again finds no neighbour without a mark. If a
//! vertex is run twice at the same time, the two runs share its neighbours.
//!
//! **A load and a store are not enough** here, although they are for a closure. Each vertex would
//! still have one parent, the last that was stored. Let `a` and `b` be neighbours. One worker marks
//! `a` and runs it. Another marks `b` and runs it, while the stores of both are still in their
//! store buffers. Then each finds the other vertex without a mark, and each becomes the parent of
//! the other. On x86 the store buffer allows that, however rarely, unless there is a fence between
//! the store and the run, as in the pop of Chase-Lev. The queues of interest here are those without
//! that fence. The paper agrees: its spanning tree synchronises by itself.
//!
//! **The forest** needs a root in each component, and takes two explorations for any number of
//! components. The first grows a tree from a vertex with the most neighbours; in most graphs that
//! covers all vertices, or nearly all. The remaining vertices are then united with their
//! neighbours, as for [components](super::components()), and the smallest vertex of each set is a
//! root of the second exploration.

use std::sync::atomic::{AtomicU32, AtomicU8, Ordering};

use filch::explore::{AtLeast, Explore};
use filch::queue::Kind;

use super::components::unite;
use super::tree::NONE;
use super::{check_roots, Effort, Tree};
use crate::{Graph, Vertex};

/// Returns a tree of all vertices that are reachable from this root.
///
/// Which tree it is depends on the timing of the workers. If it was stopped early, it is a tree of
/// some of them; see [`Effort::ending`].
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
    let builder = ForestBuilder::new(graph);
    let effort = builder.grow(vec![root], explore);
    builder.finish(vec![root], effort, usize::from(graph.degree(root) == 0))
}

/// Returns a forest with a tree for each component.
///
/// In a directed graph, every vertex is in one of the trees too, but a component may have several.
///
/// If it was stopped early, some vertices are in no tree, or components have no root; see
/// [`Effort::ending`].
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
    let builder = ForestBuilder::new(graph);
    let all_vertices = || 0..graph.vertices() as Vertex;
    let mut roots: Vec<Vertex> = all_vertices().max_by_key(|&vertex| graph.degree(vertex)).into_iter().collect();
    let mut effort = builder.grow(roots.clone(), explore.clone());
    let has_unreached =
        |effort: &Effort| effort.is_complete() && all_vertices().any(|vertex| builder.is_unreached(vertex));
    if has_unreached(&effort) {
        let (unions, more) = unite(graph, |vertex| builder.is_unreached(vertex), explore.clone());
        effort = effort.plus(more);
        if effort.is_complete() {
            let starts: Vec<Vertex> =
                all_vertices().filter(|&vertex| builder.is_unreached(vertex) && unions.is_smallest(vertex)).collect();
            drop(unions);
            roots.extend(&starts);
            effort = effort.plus(builder.grow(starts, explore));
        }
    }
    let isolated = roots.iter().filter(|&&root| graph.degree(root) == 0).count();
    let added = if has_unreached(&effort) { builder.grow_unreached(&mut roots) } else { 0 };
    builder.finish(roots, effort, isolated + added)
}

/// A forest under construction.
struct ForestBuilder<'g> {
    graph: &'g Graph,
    marks: Box<[AtomicU8]>,
    /// Written by the worker that set the mark, and read when the exploration has ended.
    parents: Box<[AtomicU32]>,
}

// Relaxed throughout: each mark is decided by itself, and the queue provides the order between a
// push and the run.
impl<'g> ForestBuilder<'g> {
    fn new(graph: &'g Graph) -> Self {
        let marks = (0..graph.vertices()).map(|_| AtomicU8::new(0)).collect();
        let parents = (0..graph.vertices()).map(|_| AtomicU32::new(NONE)).collect();
        ForestBuilder { graph, marks, parents }
    }

    /// Returns whether the vertex is in no tree yet.
    fn is_unreached(&self, vertex: Vertex) -> bool {
        self.marks[vertex as usize].load(Ordering::Relaxed) == 0
    }

    /// Grows a tree from each of the roots, which are not in any tree yet.
    fn grow<K: Kind<Vertex>>(&self, mut roots: Vec<Vertex>, explore: Explore<'_, AtLeast, K>) -> Effort {
        for &root in &roots {
            try_set_parent(&self.marks, &self.parents, root, root);
        }
        // Nothing grows from a vertex without neighbours.
        roots.retain(|&root| self.graph.degree(root) > 0);
        let explored = explore.run(roots, |vertex, worker| {
            // Here and not outside, so that they are read once per task and not again after every
            // push.
            let (marks, parents) = (&*self.marks, &*self.parents);
            for &next in self.graph.neighbours(vertex) {
                if try_set_parent(marks, parents, next, vertex) {
                    worker.push(next);
                }
            }
        });
        // The number of needed tasks is known when all trees are grown.
        Effort::of(&explored, || 0)
    }

    /// Adds the vertices that no root reaches. They exist only if some arcs go one way, and are
    /// rare enough for one thread. Returns their number.
    #[cold]
    fn grow_unreached(&self, roots: &mut Vec<Vertex>) -> usize {
        let try_set_parent = |vertex, parent| try_set_parent(&self.marks, &self.parents, vertex, parent);
        let mut added = 0;
        for root in 0..self.graph.vertices() as Vertex {
            if try_set_parent(root, root) {
                roots.push(root);
                let mut stack = vec![root];
                while let Some(vertex) = stack.pop() {
                    added += 1;
                    stack.extend(self.graph.neighbours(vertex).iter().filter(|&&next| try_set_parent(next, vertex)));
                }
            }
        }
        added
    }

    /// Returns the tree. `never_tasks` is the number of vertices that were never a task.
    fn finish(self, roots: Vec<Vertex>, effort: Effort, never_tasks: usize) -> Tree {
        let parents: Box<[Vertex]> = self.parents.into_vec().into_iter().map(AtomicU32::into_inner).collect();
        Tree::new(parents, roots, |reached| effort.add_needed(reached.saturating_sub(never_tasks as u64)))
    }
}

/// Sets the parent of the vertex, unless it is in a tree. Returns whether it did.
#[inline]
fn try_set_parent(marks: &[AtomicU8], parents: &[AtomicU32], vertex: Vertex, parent: Vertex) -> bool {
    let mark = &marks[vertex as usize];
    let is_new = mark.load(Ordering::Relaxed) == 0 && mark.swap(1, Ordering::Relaxed) == 0;
    if is_new {
        parents[vertex as usize].store(parent, Ordering::Relaxed);
    }
    is_new
}
