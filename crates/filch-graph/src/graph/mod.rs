//! The graph in compressed rows: one array of neighbours, and one of offsets.
//!
//! It takes four bytes per arc and four per vertex; eight per vertex from 2³² arcs on.

#![forbid(unsafe_code)]

mod build;
mod edge_list;
mod error;
mod lists;
mod offsets;

use std::fmt;
use std::ops::Range;

use filch::explore::{prefetch, Ahead};

pub(crate) use build::has_memory;
pub(crate) use edge_list::EdgeList;
pub use error::BuildError;
use offsets::Offsets;

/// A vertex: its number, from 0 to one less than [`Graph::vertices`].
///
/// `Vertex::MAX` is never a vertex, so it is free to mean "none".
pub type Vertex = u32;

/// A graph: for each vertex, the vertices that it has arcs to.
///
/// An undirected edge is held as two arcs, one at each end; a loop (an edge from a vertex to
/// itself) as one. Repeated arcs are kept until [`without_repeats`](Graph::without_repeats).
///
/// ```
/// use filch_graph::Graph;
///
/// let graph = Graph::directed(3, &[(0, 1), (0, 2), (2, 0)])?;
/// assert_eq!(graph.neighbours(0), [1, 2]);
/// assert_eq!(graph.degree(1), 0);
/// # Ok::<(), filch_graph::BuildError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Graph {
    /// One entry more than vertices. The neighbours of `v` are
    /// `targets[offsets[v]..offsets[v + 1]]`.
    offsets: Offsets,
    targets: Box<[Vertex]>,
}

impl Graph {
    /// The maximum number of vertices: 2³² − 1.
    ///
    /// This leaves one 32-bit number that is no vertex.
    pub const MAX_VERTICES: usize = Vertex::MAX as usize;

    /// Returns the number of vertices.
    #[inline]
    pub fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the number of arcs. An undirected edge counts as two.
    #[inline]
    pub fn arcs(&self) -> usize {
        self.targets.len()
    }

    /// Returns the number of arcs that leave this vertex.
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    #[inline]
    pub fn degree(&self, vertex: Vertex) -> usize {
        self.offsets.range(vertex).len()
    }

    /// Returns the vertices that this one has arcs to.
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    #[inline]
    pub fn neighbours(&self, vertex: Vertex) -> &[Vertex] {
        &self.targets[self.offsets.range(vertex)]
    }

    /// Returns the indices of the arcs that leave this vertex.
    #[inline]
    pub(crate) fn arcs_of(&self, vertex: Vertex) -> Range<usize> {
        self.offsets.range(vertex)
    }

    /// Returns the ends of the arcs with these indices.
    #[inline]
    pub(crate) fn ends(&self, arcs: Range<usize>) -> &[Vertex] {
        &self.targets[arcs]
    }

    /// Asks the CPU to fetch what [`neighbours`](Graph::neighbours) reads: far ahead where they are,
    /// and nearer the first of them. See
    /// [`run_by_level_with_prefetch`](filch::explore::Explore::run_by_level_with_prefetch).
    ///
    /// # Panics
    ///
    /// May panic if there is no such vertex: [`Ahead::Near`] reads where the neighbours are,
    /// [`Ahead::Far`] reads nothing.
    #[inline]
    pub fn prefetch(&self, vertex: Vertex, ahead: Ahead) {
        match ahead {
            Ahead::Far => self.offsets.prefetch(vertex),
            Ahead::Near => prefetch(self.neighbours(vertex).as_ptr()),
        }
    }

    /// Returns the largest degree of all vertices; 0 if there are no vertices.
    pub fn largest_degree(&self) -> usize {
        self.iter().map(|(_, neighbours)| neighbours.len()).max().unwrap_or(0)
    }

    /// Iterates over every vertex with its neighbours, in the order of the vertices.
    pub fn iter(&self) -> impl Iterator<Item = (Vertex, &[Vertex])> + '_ {
        (0..self.vertices() as Vertex).map(|vertex| (vertex, self.neighbours(vertex)))
    }

    /// Returns the bytes of memory held.
    pub fn memory(&self) -> usize {
        self.offsets.memory() + size_of_val(&*self.targets)
    }
}

/// Prints the sizes, and the neighbours too if the graph is small.
impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Graph");
        debug.field("vertices", &self.vertices()).field("arcs", &self.arcs());
        if self.vertices() + self.arcs() > 200 {
            return debug.finish_non_exhaustive();
        }
        let lists: Vec<_> = self.iter().map(|(_, neighbours)| neighbours).collect();
        debug.field("neighbours", &lists).finish()
    }
}

#[cfg(test)]
mod tests;
