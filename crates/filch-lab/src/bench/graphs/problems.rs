//! What is computed on a graph: a traversal, the same for all contenders.
//!
//! A task is a vertex that was found. Visiting it marks and pushes its neighbours that are not
//! marked yet.
//!
//! The problems are those of `filch_graph::traverse`, with two differences: any runtime can provide
//! the push, and the memory is allocated before the clock starts.

use std::sync::atomic::{AtomicU32, AtomicU8, Ordering};

use anyhow::{ensure, Context, Result};
use filch_graph::{Graph, Tree, Vertex};

use super::contenders::Input;

/// A computation on a graph, and its data for each vertex.
pub(crate) trait Problem: Sync {
    /// Whether a vertex is pushed once, however many threads find it at the same time.
    const PUSHES_ONCE: bool;

    /// Allocates memory for all vertices.
    fn new(vertices: usize) -> Self;

    /// Clears all data and marks the roots as found.
    ///
    /// It writes all memory, so that no contender touches a page for the first time.
    fn start(&mut self, roots: &[Vertex]);

    /// Finds the neighbours of a vertex and pushes those that were not found before.
    ///
    /// Two threads may find the same vertex at the same time.
    fn visit(&self, graph: &Graph, vertex: Vertex, push: impl FnMut(Vertex));

    /// Like `visit`, for a thread that runs alone.
    fn visit_alone(&mut self, graph: &Graph, vertex: Vertex, push: impl FnMut(Vertex));

    /// Checks the result.
    fn check(&self, input: &Input) -> Result<()>;
}

/// The set of reachable vertices, with a mark for each vertex.
///
/// Two threads that find the same vertex at the same moment both push it. That costs time but is
/// correct.
#[derive(Debug)]
pub(crate) struct Closure(Vec<AtomicU8>);

impl Problem for Closure {
    const PUSHES_ONCE: bool = false;

    fn new(vertices: usize) -> Closure {
        Closure((0..vertices).map(|_| AtomicU8::new(0)).collect())
    }

    fn start(&mut self, roots: &[Vertex]) {
        self.0.iter_mut().for_each(|mark| *mark.get_mut() = 0);
        for &root in roots {
            *self.0[root as usize].get_mut() = 1;
        }
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

    /// The roots are in it, and so is every neighbour of a vertex in it: no visit was lost.
    fn check(&self, input: &Input) -> Result<()> {
        let has = |vertex: Vertex| self.0[vertex as usize].load(Ordering::Relaxed) != 0;
        let reached = input.graph.iter().filter(|&(vertex, _)| has(vertex)).count();
        ensure!(reached == input.reached, "{reached} vertices were reached instead of {}", input.reached);
        ensure!(input.roots.iter().all(|&root| has(root)), "a root was not reached");
        for (vertex, neighbours) in input.graph.iter().filter(|&(vertex, _)| has(vertex)) {
            let missed = neighbours.iter().find(|&&next| !has(next));
            ensure!(missed.is_none(), "vertex {vertex} was reached, and one of its neighbours was not");
        }
        Ok(())
    }
}

/// A spanning forest, with a tree for each root.
///
/// A vertex is marked once, by an exchange. The thread that marks it also sets its parent and
/// pushes it. A root is its own parent.
#[derive(Debug)]
pub(crate) struct SpanningTree {
    marks: Vec<AtomicU8>,
    /// The parents of the marked vertices.
    parents: Vec<AtomicU32>,
}

impl Problem for SpanningTree {
    const PUSHES_ONCE: bool = true;

    fn new(vertices: usize) -> SpanningTree {
        SpanningTree {
            marks: (0..vertices).map(|_| AtomicU8::new(0)).collect(),
            parents: (0..vertices).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    fn start(&mut self, roots: &[Vertex]) {
        self.marks.iter_mut().for_each(|mark| *mark.get_mut() = 0);
        // `Vertex::MAX` is no vertex, so that the check finds parents that were not written.
        self.parents.iter_mut().for_each(|parent| *parent.get_mut() = Vertex::MAX);
        for &root in roots {
            *self.marks[root as usize].get_mut() = 1;
            *self.parents[root as usize].get_mut() = root;
        }
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

    fn check(&self, input: &Input) -> Result<()> {
        let parents = self.parents.iter().map(|parent| parent.load(Ordering::Relaxed)).collect();
        let forest = Tree::from_parents(parents, input.roots.clone());
        forest.check(&input.graph).context("this is no spanning forest")?;
        ensure!(
            forest.reached() == input.reached,
            "{} vertices are in the forest instead of {}",
            forest.reached(),
            input.reached
        );
        Ok(())
    }
}

#[cfg(test)]
impl SpanningTree {
    /// Makes two neighbours that are no roots each other's parents.
    pub(super) fn plant_cycle(&mut self, input: &Input) {
        let inner = |vertex: &Vertex| !input.roots.contains(vertex);
        let (a, b) = input
            .graph
            .iter()
            .filter(|(vertex, _)| inner(vertex))
            .find_map(|(vertex, neighbours)| Some((vertex, *neighbours.iter().find(|next| inner(next))?)))
            .unwrap();
        *self.parents[a as usize].get_mut() = b;
        *self.parents[b as usize].get_mut() = a;
    }
}

#[cfg(test)]
mod tests {
    use filch_graph::generate;

    use super::*;

    /// A path of four vertices, from its first.
    fn path() -> Input {
        Input { graph: generate::path(4).unwrap(), roots: vec![0], reached: 4 }
    }

    fn solved<P: Problem>(input: &Input) -> P {
        let mut problem = P::new(input.graph.vertices());
        problem.start(&input.roots);
        (0..4).for_each(|vertex| problem.visit_alone(&input.graph, vertex, |_| ()));
        problem.check(input).unwrap();
        problem
    }

    #[test]
    fn a_cycle_and_a_parent_that_is_no_neighbour_or_no_vertex_are_errors() {
        let input = path();
        let mut tree = solved::<SpanningTree>(&input);
        // Vertex 3 is the parent of 2, which is the parent of 3. Vertex 1 has itself.
        for (vertex, wrong) in [(2, 0), (2, Vertex::MAX), (2, 3), (1, 1)] {
            let right = std::mem::replace(tree.parents[vertex].get_mut(), wrong);
            assert!(tree.check(&input).is_err(), "vertex {vertex} with the parent {wrong}");
            *tree.parents[vertex].get_mut() = right;
        }
        tree.check(&input).unwrap();
    }

    #[test]
    fn a_closure_that_misses_a_vertex_or_has_another_in_its_place_is_an_error() {
        let mut closure = solved::<Closure>(&path());
        *closure.0[2].get_mut() = 0;
        let error = |input: &Input| closure.check(input).unwrap_err().to_string();
        assert_eq!(error(&path()), "3 vertices were reached instead of 4");
        let three = Input { reached: 3, ..path() };
        assert_eq!(error(&three), "vertex 1 was reached, and one of its neighbours was not");
        assert_eq!(error(&Input { roots: vec![2], ..three }), "a root was not reached");
    }
}
