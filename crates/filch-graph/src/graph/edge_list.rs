//! Edges to build a graph from, with or without data such as weights.

use std::ops::Range;

use super::Vertex;

/// A list of edges, or a part of one.
pub(crate) trait EdgeList: Sync {
    /// The data of an edge; `()` if there is none.
    type Data: Copy + Default + Send + Sync;

    /// Returns the number of edges.
    fn len(&self) -> usize;

    /// Iterates over the edges with these indices.
    fn edges(&self, range: Range<usize>) -> impl Iterator<Item = (Vertex, Vertex, Self::Data)> + '_;
}

/// Edges without data.
impl<P: AsRef<[(Vertex, Vertex)]> + Sync> EdgeList for P {
    type Data = ();

    fn len(&self) -> usize {
        self.as_ref().len()
    }

    #[inline]
    fn edges(&self, range: Range<usize>) -> impl Iterator<Item = (Vertex, Vertex, ())> + '_ {
        self.as_ref()[range].iter().map(|&(from, to)| (from, to, ()))
    }
}
