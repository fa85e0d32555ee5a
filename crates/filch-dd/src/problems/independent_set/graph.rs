//! An undirected graph with weights, as in the file.

use super::super::bits::{ManyWords, Words};
use super::super::{invalid, Invalid, WithInstance};
use super::IndependentSet;
use crate::problems::clique::Clique;
use crate::Cost;

/// An undirected graph whose vertices have weights.
///
/// Its size is that of its edges. The models that are made of it have a bit for each pair of
/// vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    weights: Vec<Cost>,
    /// The smaller vertex first, sorted, each once.
    edges: Vec<(u32, u32)>,
}

/// The most vertices: the matrix of a model would take 128 MB.
pub(super) const MAX_VERTICES: usize = 1 << 15;

impl Graph {
    /// Returns a graph with as many vertices as there are weights.
    ///
    /// Edges may occur several times and in both directions.
    ///
    /// # Errors
    ///
    /// If an edge joins a vertex to itself or to one that does not exist, a weight is negative, the
    /// weights together are more than 2^61, or there are more than 32,768 vertices.
    pub fn new(weights: Vec<Cost>, edges: impl IntoIterator<Item = (u32, u32)>) -> Result<Graph, Invalid> {
        let vertices = weights.len();
        if vertices > MAX_VERTICES {
            return invalid(format!("there are {vertices} vertices, but at most {MAX_VERTICES} are allowed"));
        }
        if let Some(at) = weights.iter().position(|&weight| weight < 0) {
            return invalid(format!("vertex {} has the negative weight {}", at + 1, weights[at]));
        }
        if weights.iter().try_fold(0i64, |sum, &weight| sum.checked_add(weight)).is_none_or(|sum| sum > 1 << 61) {
            return invalid("the weights of the vertices come to more than 2^61 together, which could overflow");
        }
        let mut list = Vec::new();
        for (a, b) in edges {
            if a == b {
                return invalid(format!("an edge joins vertex {} to itself", u64::from(a) + 1));
            }
            if a.max(b) as usize >= vertices {
                return invalid(format!(
                    "an edge goes to vertex {}, but there are only {vertices}",
                    u64::from(a.max(b)) + 1
                ));
            }
            list.push((a.min(b), a.max(b)));
        }
        list.sort_unstable();
        list.dedup();
        Ok(Graph { weights, edges: list })
    }

    /// Returns the number of vertices.
    pub fn vertices(&self) -> usize {
        self.weights.len()
    }

    /// Returns the weights of the vertices.
    pub fn weights(&self) -> &[Cost] {
        &self.weights
    }

    /// Returns the edges, each once, the smaller vertex first, sorted.
    pub fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }

    /// Returns whether an edge joins the two vertices.
    pub fn has_edge(&self, a: usize, b: usize) -> bool {
        self.edges.binary_search(&(a.min(b) as u32, a.max(b) as u32)).is_ok()
    }

    /// Returns the graph as the text of a file.
    pub fn text(&self) -> String {
        let mut text = format!("p edge {} {}\n", self.vertices(), self.edges.len());
        for (vertex, weight) in self.weights.iter().enumerate().filter(|(_, &weight)| weight != 1) {
            text += &format!("n {} {weight}\n", vertex + 1);
        }
        self.edges.iter().for_each(|(a, b)| text += &format!("e {} {}\n", a + 1, b + 1));
        text
    }

    /// Calls `with` with the independent set problem of this graph.
    ///
    /// The states are as small as the graph allows.
    pub fn independent_set<W: WithInstance>(self, with: W) -> W::Output {
        match self.vertices().div_ceil(64) {
            0..=1 => with.with(&IndependentSet::<Words<1>>::new(self)),
            2 => with.with(&IndependentSet::<Words<2>>::new(self)),
            3 => with.with(&IndependentSet::<Words<3>>::new(self)),
            4 => with.with(&IndependentSet::<Words<4>>::new(self)),
            5..=8 => with.with(&IndependentSet::<Words<8>>::new(self)),
            9..=16 => with.with(&IndependentSet::<Words<16>>::new(self)),
            _ => with.with(&IndependentSet::<ManyWords>::new(self)),
        }
    }

    /// Calls `with` with the clique problem of this graph.
    ///
    /// The states are as small as the graph allows.
    pub fn clique<W: WithInstance>(self, with: W) -> W::Output {
        match self.vertices().div_ceil(64) {
            0..=1 => with.with(&Clique::<Words<1>>::new(self)),
            2 => with.with(&Clique::<Words<2>>::new(self)),
            3 => with.with(&Clique::<Words<3>>::new(self)),
            4 => with.with(&Clique::<Words<4>>::new(self)),
            5..=8 => with.with(&Clique::<Words<8>>::new(self)),
            9..=16 => with.with(&Clique::<Words<16>>::new(self)),
            _ => with.with(&Clique::<ManyWords>::new(self)),
        }
    }
}
