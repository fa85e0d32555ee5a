//! What is computed on a graph: a traversal, the same for all contenders.
//!
//! A task is a vertex that was found. Visiting it marks and pushes its neighbours that are not
//! marked yet.
//!
//! The problems are those of `filch_graph::traverse`, with two differences: any runtime can provide
//! the push, and the memory is allocated before the clock starts.

use std::sync::atomic::{AtomicU32, AtomicU8, Ordering};

use anyhow::{bail, ensure, Result};
use filch_graph::{Graph, Vertex};

/// A computation on a graph, and its data for each vertex.
pub(crate) trait Problem: Sync {
    /// Allocates memory for all vertices.
    fn new(vertices: usize) -> Self;

    /// Clears all data and marks `root` as found.
    ///
    /// It writes all memory, so that no contender touches a page for the first time.
    fn start(&mut self, root: Vertex);

    /// Finds the neighbours of a vertex and pushes those that were not found before.
    ///
    /// Two threads may find the same vertex at the same time.
    fn visit(&self, graph: &Graph, vertex: Vertex, push: impl FnMut(Vertex));

    /// Like `visit`, for a thread that runs alone.
    fn visit_alone(&mut self, graph: &Graph, vertex: Vertex, push: impl FnMut(Vertex));

    /// Checks that the result is complete, given the number of reachable vertices.
    fn check(&self, graph: &Graph, reached: usize) -> Result<()>;
}

/// The set of reachable vertices, with a mark for each vertex.
///
/// Two threads that find the same vertex at the same moment both push it. That costs time but is
/// correct.
#[derive(Debug)]
pub(crate) struct Closure(Vec<AtomicU8>);

impl Problem for Closure {
    fn new(vertices: usize) -> Closure {
        Closure((0..vertices).map(|_| AtomicU8::new(0)).collect())
    }

    fn start(&mut self, root: Vertex) {
        self.0.iter_mut().for_each(|mark| *mark.get_mut() = 0);
        *self.0[root as usize].get_mut() = 1;
    }

    #[inline(always)]
    fn visit(&self, graph: &Graph, vertex: Vertex, mut push: impl FnMut(Vertex)) {
        // A local, so that it is read once per task and not again after every push.
        let marks = &*self.0;
        for &next in graph.neighbours(vertex) {
            let mark = &marks[next as usize];
            // Relaxed, both: a mark publishes no other memory.
            if mark.load(Ordering::Relaxed) == 0 {
                mark.store(1, Ordering::Relaxed);
                push(next);
            }
        }
    }

    #[inline(always)]
    fn visit_alone(&mut self, graph: &Graph, vertex: Vertex, mut push: impl FnMut(Vertex)) {
        let marks = &mut *self.0;
        for &next in graph.neighbours(vertex) {
            let mark = marks[next as usize].get_mut();
            if *mark == 0 {
                *mark = 1;
                push(next);
            }
        }
    }

    fn check(&self, _graph: &Graph, reached: usize) -> Result<()> {
        let marked = self.0.iter().filter(|mark| mark.load(Ordering::Relaxed) != 0).count();
        ensure!(marked == reached, "{marked} vertices were reached instead of {reached}");
        Ok(())
    }
}

/// A spanning tree.
///
/// A vertex is marked once, by an exchange. The thread that marks it also sets its parent and
/// pushes it. The root is its own parent.
#[derive(Debug)]
pub(crate) struct SpanningTree {
    marks: Vec<AtomicU8>,
    /// The parents of the marked vertices.
    parents: Vec<AtomicU32>,
}

impl Problem for SpanningTree {
    fn new(vertices: usize) -> SpanningTree {
        SpanningTree {
            marks: (0..vertices).map(|_| AtomicU8::new(0)).collect(),
            parents: (0..vertices).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    fn start(&mut self, root: Vertex) {
        self.marks.iter_mut().for_each(|mark| *mark.get_mut() = 0);
        // `Vertex::MAX` is no vertex, so that the check finds parents that were not written.
        self.parents.iter_mut().for_each(|parent| *parent.get_mut() = Vertex::MAX);
        *self.marks[root as usize].get_mut() = 1;
        *self.parents[root as usize].get_mut() = root;
    }

    #[inline(always)]
    fn visit(&self, graph: &Graph, vertex: Vertex, mut push: impl FnMut(Vertex)) {
        let (marks, parents) = (&*self.marks, &*self.parents);
        for &next in graph.neighbours(vertex) {
            let mark = &marks[next as usize];
            // Relaxed: each mark is decided by itself, and the loser learns nothing else from it.
            if mark.load(Ordering::Relaxed) == 0 && mark.swap(1, Ordering::Relaxed) == 0 {
                parents[next as usize].store(vertex, Ordering::Relaxed);
                push(next);
            }
        }
    }

    #[inline(always)]
    fn visit_alone(&mut self, graph: &Graph, vertex: Vertex, mut push: impl FnMut(Vertex)) {
        let (marks, parents) = (&mut *self.marks, &mut *self.parents);
        for &next in graph.neighbours(vertex) {
            let mark = marks[next as usize].get_mut();
            if *mark == 0 {
                *mark = 1;
                *parents[next as usize].get_mut() = vertex;
                push(next);
            }
        }
    }

    fn check(&self, graph: &Graph, reached: usize) -> Result<()> {
        let mut in_tree = 0;
        for (vertex, (mark, parent)) in (0..).zip(self.marks.iter().zip(&self.parents)) {
            if mark.load(Ordering::Relaxed) == 0 {
                continue;
            }
            in_tree += 1;
            let parent = parent.load(Ordering::Relaxed);
            let known = (parent as usize) < graph.vertices();
            if !known || (parent != vertex && !graph.neighbours(parent).contains(&vertex)) {
                bail!("vertex {vertex} has the parent {parent}, which is not its neighbour");
            }
        }
        ensure!(in_tree == reached, "{in_tree} vertices are in the tree instead of {reached}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use filch_graph::generate;

    use super::*;

    #[test]
    fn a_parent_that_is_no_neighbour_or_no_vertex_is_an_error() {
        let graph = generate::path(4).unwrap();
        let mut tree = SpanningTree::new(4);
        tree.start(0);
        (0..4).for_each(|vertex| tree.visit_alone(&graph, vertex, |_| ()));
        assert!(tree.check(&graph, 4).is_ok());
        for wrong in [0, Vertex::MAX] {
            *tree.parents[2].get_mut() = wrong;
            let error = tree.check(&graph, 4).unwrap_err().to_string();
            assert_eq!(error, format!("vertex 2 has the parent {wrong}, which is not its neighbour"));
        }
    }
}
