//! Joins the components of a graph by as few edges as possible.
//!
//! Each component but the first is joined, at its smallest vertex, to a vertex with a smaller
//! number. That vertex is in a component whose smallest vertex is smaller still. So the components
//! form a tree, for any choice of the smaller vertex: no lookup is needed, and no edge is wasted.

use super::edges::{purpose, reserve, Edges};
use super::stream::{self, Stream};
use super::GenerateError;
use crate::traverse::Unions;
use crate::{Graph, Vertex};

/// Adds the fewest edges that make the graph connected.
///
/// Each edge joins the smallest vertex of a component to a random vertex with a smaller number. A
/// connected graph is returned unchanged. In a directed graph, arcs count in both directions, and
/// an added edge is two arcs.
///
/// # Errors
///
/// If there is no memory for a list of the arcs.
pub fn connect(graph: Graph, seed: u64) -> Result<Graph, GenerateError> {
    let vertices = graph.vertices();
    let unions = Unions::new(vertices);
    let mut vertices_in_order: Vec<Vertex> = (0..vertices as Vertex).collect();
    stream::split(&mut vertices_in_order, 0, 1 << 12, &|_, piece: &mut [Vertex]| {
        for &vertex in &*piece {
            for &next in graph.neighbours(vertex) {
                unions.unite(vertex, next);
            }
        }
    });
    drop(vertices_in_order);
    let added = missing_edges(&unions, RandomSmaller::new(seed));
    if added.is_empty() {
        return Ok(graph);
    }
    let mut arcs = reserve(graph.arcs() as u128 + 2 * added.len() as u128)?;
    for (vertex, neighbours) in graph.iter() {
        arcs.extend(neighbours.iter().map(|&next| (vertex, next)));
    }
    arcs.extend(added.iter().flat_map(|&(a, b)| [(a, b), (b, a)]));
    drop(graph);
    Ok(Graph::directed(vertices, &arcs)?)
}

/// Adds such edges to a list, before the graph is built.
pub(super) fn connect_edges(edges: &mut Edges, choose: impl ChooseSmaller) {
    let unions = Unions::new(edges.vertices);
    stream::split(&mut edges.list, 0, 1 << 14, &|_, edges| {
        for &mut (a, b) in edges {
            unions.unite(a, b);
        }
    });
    edges.list.extend(missing_edges(&unions, choose));
}

fn missing_edges(unions: &Unions, mut choose: impl ChooseSmaller) -> Vec<(Vertex, Vertex)> {
    let smallest = (1..unions.len() as Vertex).filter(|&vertex| unions.is_smallest(vertex));
    smallest.map(|vertex| (choose.below(vertex), vertex)).collect()
}

/// Chooses the smaller vertex that a vertex is joined to.
pub(super) trait ChooseSmaller {
    fn below(&mut self, vertex: Vertex) -> Vertex;
}

/// Chooses the vertex before.
pub(super) struct PreviousVertex;

impl ChooseSmaller for PreviousVertex {
    fn below(&mut self, vertex: Vertex) -> Vertex {
        vertex - 1
    }
}

/// Chooses any smaller vertex at random.
pub(super) struct RandomSmaller(Stream);

impl RandomSmaller {
    pub(super) fn new(seed: u64) -> RandomSmaller {
        RandomSmaller(Stream::new(seed, purpose::CONNECT, 0))
    }
}

impl ChooseSmaller for RandomSmaller {
    fn below(&mut self, vertex: Vertex) -> Vertex {
        self.0.below(u64::from(vertex)) as Vertex
    }
}
