//! From a list of edges, or from a graph, to a weighted graph.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

use super::weight::{real_word, Kind, Weight};
use super::WeightedGraph;
use crate::graph::{has_memory, EdgeList};
use crate::sync::{lock, unpoisoned};
use crate::{BuildError, Graph, Vertex};

impl WeightedGraph {
    /// Builds a graph with these arcs: from, to, and the weight.
    ///
    /// The neighbours of a vertex are in the order of its arcs. Needs no memory but the graph's
    /// own.
    ///
    /// # Errors
    ///
    /// As [`Graph::directed`]; and if a weight is negative, above 3.4e38, or not a number.
    ///
    /// ```
    /// use filch_graph::WeightedGraph;
    ///
    /// let graph = WeightedGraph::directed(3, &[(2, 1, 7), (2, 0, 0)])?;
    /// assert!(graph.neighbours(2).eq([(1, 7.0), (0, 0.0)]));
    ///
    /// let error = WeightedGraph::directed(3, &[(2, 1, -0.5)]).unwrap_err();
    /// assert_eq!(error.to_string(), "the weight of the arc from 2 to 1 is not a number from 0 to 3.4e38");
    /// # Ok::<(), filch_graph::BuildError>(())
    /// ```
    pub fn directed<W>(vertices: usize, arcs: &[(Vertex, Vertex, W)]) -> Result<WeightedGraph, BuildError>
    where
        W: Copy + Into<f64> + Sync,
    {
        WeightedGraph::from_triples(vertices, arcs, false)
    }

    /// Builds a graph with both arcs of each edge, of the same weight. A loop is one arc.
    ///
    /// # Errors
    ///
    /// As [`directed`](WeightedGraph::directed).
    ///
    /// ```
    /// use filch_graph::WeightedGraph;
    ///
    /// let graph = WeightedGraph::undirected(3, &[(2, 1, 0.5), (0, 2, 1.5)])?;
    /// assert!(graph.neighbours(2).eq([(1, 0.5), (0, 1.5)]));
    /// assert!(graph.neighbours(0).eq([(2, 1.5)]));
    /// # Ok::<(), filch_graph::BuildError>(())
    /// ```
    pub fn undirected<W>(vertices: usize, edges: &[(Vertex, Vertex, W)]) -> Result<WeightedGraph, BuildError>
    where
        W: Copy + Into<f64> + Sync,
    {
        WeightedGraph::from_triples(vertices, edges, true)
    }

    fn from_triples<W>(
        vertices: usize,
        edges: &[(Vertex, Vertex, W)],
        undirected: bool,
    ) -> Result<WeightedGraph, BuildError>
    where
        W: Copy + Into<f64> + Sync,
    {
        let mut kind = Kind::Whole;
        for &(from, to, weight) in edges {
            let weight = Weight::of(weight.into()).ok_or(BuildError::Weight { from, to })?;
            kind = kind.and(weight.kind());
        }
        let (graph, words) = Graph::with_data(vertices, &[Triples { edges, kind }], undirected)?;
        Ok(WeightedGraph { graph, words, kind })
    }

    /// Builds a graph from edges in several parts, whose weights are all of this kind.
    pub(crate) fn from_weighed(
        vertices: usize,
        parts: &[Weighed],
        kind: Kind,
        undirected: bool,
    ) -> Result<WeightedGraph, BuildError> {
        let (graph, words) = Graph::with_data(vertices, parts, undirected)?;
        Ok(WeightedGraph { graph, words, kind })
    }

    /// Gives a weight to each arc of a graph, in parallel.
    ///
    /// `weight` gets the two ends of an arc. It is called once or twice for each, on any thread and
    /// in any order, and returns the same weight for the same ends. For an undirected graph it returns the
    /// same for both directions.
    ///
    /// # Errors
    ///
    /// If there is no memory for the weights, or a weight is negative, above 3.4e38, or not a
    /// number.
    ///
    /// ```
    /// use filch_graph::{generate, WeightedGraph};
    ///
    /// let path = WeightedGraph::from_graph(generate::path(4)?, |from, to| from.max(to) * 10)?;
    /// assert!(path.neighbours(1).eq([(0, 10.0), (2, 20.0)]));
    /// # Ok::<(), generate::GenerateError>(())
    /// ```
    pub fn from_graph<W>(graph: Graph, weight: impl Fn(Vertex, Vertex) -> W + Sync) -> Result<WeightedGraph, BuildError>
    where
        W: Into<f64>,
    {
        if !has_memory(size_of::<u32>() as u128 * graph.arcs() as u128) {
            return Err(BuildError::NoMemory { vertices: graph.vertices(), arcs: graph.arcs() });
        }
        let mut words = vec![0; graph.arcs()].into_boxed_slice();
        let (real, refused) = (AtomicBool::new(false), Mutex::new(None));
        let weigh = |from, to| Weight::of(weight(from, to).into());
        graph.for_each_row(&mut words, |from, ends, words| {
            for (&to, word) in ends.iter().zip(words) {
                match weigh(from, to) {
                    Some(Weight::Whole(whole)) => *word = whole,
                    // Relaxed: the end of the parallel call orders it before the load.
                    Some(Weight::Real(_)) => real.store(true, Ordering::Relaxed),
                    None => {
                        let mut refused = lock(&refused);
                        *refused = refused.min(Some((from, to))).or(Some((from, to)));
                    }
                }
            }
        });
        if let Some((from, to)) = unpoisoned(refused.into_inner()) {
            return Err(BuildError::Weight { from, to });
        }
        if !real.into_inner() {
            return Ok(WeightedGraph { graph, words, kind: Kind::Whole });
        }
        let kind = Kind::Real;
        graph.for_each_row(&mut words, |from, ends, words| {
            for (&to, word) in ends.iter().zip(words) {
                *word = weigh(from, to).map_or(0, |weight| weight.word(kind));
            }
        });
        Ok(WeightedGraph { graph, words, kind })
    }
}

/// Edges whose weights were checked.
struct Triples<'a, W> {
    edges: &'a [(Vertex, Vertex, W)],
    kind: Kind,
}

impl<W: Copy + Into<f64> + Sync> EdgeList for Triples<'_, W> {
    type Data = u32;

    fn len(&self) -> usize {
        self.edges.len()
    }

    #[inline]
    fn edges(&self, range: Range<usize>) -> impl Iterator<Item = (Vertex, Vertex, u32)> + '_ {
        let word = |weight: W| Weight::of(weight.into()).map_or(0, |weight| weight.word(self.kind));
        self.edges[range].iter().map(move |&(from, to, weight)| (from, to, word(weight)))
    }
}

/// The edges of a part of a file, and the words of their weights.
pub(crate) struct Weighed {
    pub(crate) pairs: Vec<(Vertex, Vertex)>,
    pub(crate) words: Vec<u32>,
}

impl Weighed {
    /// Converts the words of whole numbers into those of real ones.
    pub(crate) fn make_real(&mut self) {
        self.words.iter_mut().for_each(|word| *word = real_word(*word));
    }
}

impl EdgeList for Weighed {
    type Data = u32;

    fn len(&self) -> usize {
        self.pairs.len()
    }

    #[inline]
    fn edges(&self, range: Range<usize>) -> impl Iterator<Item = (Vertex, Vertex, u32)> + '_ {
        let words = &self.words[range.clone()];
        self.pairs[range].iter().zip(words).map(|(&(from, to), &word)| (from, to, word))
    }
}
