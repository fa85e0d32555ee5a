//! Graphs whose arcs have weights.

#![forbid(unsafe_code)]

mod build;
mod weight;

use std::fmt;

pub(crate) use build::Weighed;
pub(crate) use weight::{real_word, Kind, Weight, MOST};

use crate::{Graph, Vertex};

/// A graph with a weight for each arc: a number from 0 to 3.4e38.
///
/// It takes four bytes more for each arc than the [`Graph`] in it. If all weights are whole numbers
/// below 2³², they are kept exactly. Otherwise all are rounded to the nearest `f32`. The same rule
/// holds for weights from a program, from a file and from a generator.
///
/// ```
/// use filch_graph::WeightedGraph;
///
/// let roads = WeightedGraph::undirected(3, &[(0, 1, 2.5), (1, 2, 4.0)])?;
/// assert!(roads.neighbours(1).eq([(0, 2.5), (2, 4.0)]));
/// assert_eq!(roads.graph().neighbours(1), [0, 2]);
/// # Ok::<(), filch_graph::BuildError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct WeightedGraph {
    graph: Graph,
    /// A weight for each arc, of this kind.
    words: Box<[u32]>,
    kind: Kind,
}

impl WeightedGraph {
    /// Returns the graph without its weights.
    #[inline]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the graph by value, and frees the weights.
    pub fn into_graph(self) -> Graph {
        self.graph
    }

    /// Returns the number of vertices.
    #[inline]
    pub fn vertices(&self) -> usize {
        self.graph.vertices()
    }

    /// Returns the number of arcs. An undirected edge counts as two.
    #[inline]
    pub fn arcs(&self) -> usize {
        self.graph.arcs()
    }

    /// Iterates over the arcs of this vertex: the vertex at the other end, and the weight.
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    #[inline]
    pub fn neighbours(&self, vertex: Vertex) -> impl Iterator<Item = (Vertex, f64)> + '_ {
        let (ends, words) = self.row(vertex);
        ends.iter().zip(words).map(|(&to, &word)| (to, self.kind.weight(word)))
    }

    /// Iterates over all arcs: from, to, and the weight.
    pub fn iter(&self) -> impl Iterator<Item = (Vertex, Vertex, f64)> + '_ {
        (0..self.vertices() as Vertex)
            .flat_map(|from| self.neighbours(from).map(move |(to, weight)| (from, to, weight)))
    }

    /// Returns whether all weights are whole numbers, which are kept exactly.
    pub fn has_whole_weights(&self) -> bool {
        self.kind == Kind::Whole
    }

    /// Returns the bytes of memory held.
    pub fn memory(&self) -> usize {
        self.graph.memory() + size_of_val(&*self.words)
    }

    /// Sorts the arcs of each vertex: by the other end, and then by the weight.
    pub fn sort_neighbours(&mut self) {
        self.graph.sort_neighbours_with(&mut self.words);
    }

    /// Returns the same graph with each arc once, and the arcs of each vertex sorted.
    ///
    /// Of several arcs from a vertex to the same other one, the smallest weight is kept: the only
    /// one that a shortest path can use.
    ///
    /// ```
    /// use filch_graph::WeightedGraph;
    ///
    /// let graph = WeightedGraph::directed(2, &[(0, 1, 7), (0, 1, 5), (0, 1, 6)])?.without_repeats();
    /// assert!(graph.neighbours(0).eq([(1, 5.0)]));
    /// # Ok::<(), filch_graph::BuildError>(())
    /// ```
    pub fn without_repeats(mut self) -> WeightedGraph {
        self.sort_neighbours();
        let (graph, words) = self.graph.remove_repeats(self.words.into_vec());
        WeightedGraph { graph, words: words.into_boxed_slice(), kind: self.kind }
    }

    /// Returns the ends and the words of a vertex's arcs.
    #[inline]
    pub(crate) fn row(&self, vertex: Vertex) -> (&[Vertex], &[u32]) {
        let arcs = self.graph.arcs_of(vertex);
        (self.graph.ends(arcs.clone()), &self.words[arcs])
    }

    /// Returns the words of all weights.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns how the weights are kept.
    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }
}

/// Prints the sizes, and the arcs too if the graph is small.
impl fmt::Debug for WeightedGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("WeightedGraph");
        debug.field("vertices", &self.vertices()).field("arcs", &self.arcs());
        if self.vertices() + self.arcs() > 200 {
            return debug.finish_non_exhaustive();
        }
        debug.field("weighted", &self.iter().collect::<Vec<_>>()).finish()
    }
}

#[cfg(test)]
mod tests;
