//! What is computed on a graph: one traversal, the same for everybody. A task is a vertex that was found; to visit it is to mark and push its neighbours that are not marked yet.
//!
//! They are those of `filch_graph::traverse`, with two differences: any runtime can be told to push, and the memory is there before the clock starts.

use std::sync::atomic::{AtomicU32, AtomicU8, Ordering};

use anyhow::{bail, ensure, Result};
use filch_graph::{Graph, Vertex};

/// A computation on a graph, and what it keeps for each vertex.
pub(crate) trait Problem: Sync {
    /// With room for all vertices.
    fn new(vertices: usize) -> Self;

    /// Forgets everything, and finds `root`. All memory is written, so that no page of it is touched for the first time by who is measured.
    fn start(&mut self, root: Vertex);

    /// Finds the neighbours of a vertex, and hands those on that were not found before. Two threads may find the same one at the same time.
    fn visit(&self, graph: &Graph, vertex: Vertex, push: impl FnMut(Vertex));

    /// The same for a thread that is alone.
    fn visit_alone(&mut self, graph: &Graph, vertex: Vertex, push: impl FnMut(Vertex));

    /// Whether it is complete, given how many vertices there were to reach.
    fn check(&self, graph: &Graph, reached: usize) -> Result<()>;
}

/// Which vertices can be reached: a mark a vertex. Two threads that find the same vertex at the same moment both push it, and nothing is wrong but the time.
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
        // Here, so that it is read once a task and not again after every push.
        let marks = &*self.0;
        for &next in graph.neighbours(vertex) {
            let mark = &marks[next as usize];
            // Relaxed, both: a mark says nothing about other memory.
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
        ensure!(marked == reached, "{marked} vertices were reached and not {reached}");
        Ok(())
    }
}

/// A spanning tree: each vertex is marked once, by an exchange, and gets its parent from who marked it, which then pushes it. The root is its own parent.
#[derive(Debug)]
pub(crate) struct SpanningTree {
    marks: Vec<AtomicU8>,
    /// Of the vertices that are marked.
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
        // No vertex, so that what was not written is found out.
        self.parents.iter_mut().for_each(|parent| *parent.get_mut() = Vertex::MAX);
        *self.marks[root as usize].get_mut() = 1;
        *self.parents[root as usize].get_mut() = root;
    }

    #[inline(always)]
    fn visit(&self, graph: &Graph, vertex: Vertex, mut push: impl FnMut(Vertex)) {
        let (marks, parents) = (&*self.marks, &*self.parents);
        for &next in graph.neighbours(vertex) {
            let mark = &marks[next as usize];
            // Relaxed: each mark is decided by itself, and who loses learns nothing but that.
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
                bail!("vertex {vertex} has the parent {parent}, which is no neighbour of it");
            }
        }
        ensure!(in_tree == reached, "{in_tree} vertices are in the tree and not {reached}");
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
            assert_eq!(error, format!("vertex 2 has the parent {wrong}, which is no neighbour of it"));
        }
    }
}
