//! Conversions to and from the graphs of the crate petgraph.
//!
//! A petgraph graph carries weights and can change. A graph of this crate has no weights, cannot
//! change, and takes a quarter of the memory per edge. So weights are dropped on the way here, and
//! are `()` on the way there.

use ::petgraph::csr::Csr;
use ::petgraph::graph::{DiGraph, Graph as PetGraph, IndexType, NodeIndex};
use ::petgraph::visit::EdgeRef;
use ::petgraph::EdgeType;

use crate::{BuildError, Graph, Vertex};

/// Makes an edge for each arc, so an undirected edge becomes two.
///
/// Fails if there are more arcs than petgraph's indices can number, which is 2³² − 1.
///
/// ```
/// use filch_graph::Graph;
/// use petgraph::graph::DiGraph;
///
/// let graph = Graph::directed(3, &[(0, 1), (1, 2)])?;
/// let theirs = DiGraph::<(), ()>::try_from(&graph)?;
/// assert!(petgraph::algo::toposort(&theirs, None).is_ok());
/// # Ok::<(), filch_graph::BuildError>(())
/// ```
impl TryFrom<&Graph> for DiGraph<(), ()> {
    type Error = BuildError;

    fn try_from(graph: &Graph) -> Result<Self, BuildError> {
        // The last index is petgraph's mark for "none".
        if graph.arcs() >= u32::MAX as usize {
            return Err(BuildError::TooManyArcs { arcs: graph.arcs() });
        }
        let mut other = DiGraph::with_capacity(graph.vertices(), graph.arcs());
        for _ in 0..graph.vertices() {
            other.add_node(());
        }
        for (from, neighbours) in graph.iter() {
            for &to in neighbours {
                other.add_edge(NodeIndex::new(from as usize), NodeIndex::new(to as usize), ());
            }
        }
        Ok(other)
    }
}

/// Copies the graph without its weights. The vertices keep the numbers of the node indices.
///
/// An undirected graph gives both arcs of each edge.
///
/// ```
/// use filch_graph::Graph;
/// use petgraph::graph::UnGraph;
///
/// let theirs = UnGraph::<&str, f64>::from_edges([(0, 1, 0.5), (1, 2, 1.5)]);
/// let graph = Graph::try_from(&theirs)?;
/// assert_eq!(graph.neighbours(1), [0, 2]);
/// # Ok::<(), filch_graph::BuildError>(())
/// ```
impl<N, E, Ty: EdgeType, Ix: IndexType> TryFrom<&PetGraph<N, E, Ty, Ix>> for Graph {
    type Error = BuildError;

    fn try_from(other: &PetGraph<N, E, Ty, Ix>) -> Result<Graph, BuildError> {
        check(other.node_count())?;
        let edges: Vec<_> = other
            .edge_references()
            .map(|edge| (edge.source().index() as Vertex, edge.target().index() as Vertex))
            .collect();
        let build = if other.is_directed() { Graph::directed } else { Graph::undirected };
        build(other.node_count(), &edges)
    }
}

/// Copies the graph without its weights, list by list.
///
/// ```
/// use filch_graph::Graph;
/// use petgraph::csr::Csr;
///
/// let theirs = Csr::<(), ()>::from_sorted_edges(&[(0, 1), (0, 2), (2, 0)]).unwrap();
/// let graph = Graph::try_from(&theirs)?;
/// assert_eq!(graph.neighbours(0), [1, 2]);
/// # Ok::<(), filch_graph::BuildError>(())
/// ```
impl<N, E, Ty: EdgeType, Ix: IndexType> TryFrom<&Csr<N, E, Ty, Ix>> for Graph {
    type Error = BuildError;

    fn try_from(other: &Csr<N, E, Ty, Ix>) -> Result<Graph, BuildError> {
        check(other.node_count())?;
        let list = |vertex: usize| other.neighbors_slice(Ix::new(vertex));
        let arcs = || {
            (0..other.node_count())
                .flat_map(|from| list(from).iter().map(move |&to| (from as Vertex, to.index() as Vertex)))
        };
        Graph::directed(other.node_count(), &arcs().collect::<Vec<_>>())
    }
}

/// Checks the number of vertices before indices are cut to 32 bits.
fn check(vertices: usize) -> Result<(), BuildError> {
    match vertices > Graph::MAX_VERTICES {
        true => Err(BuildError::TooManyVertices { vertices }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use ::petgraph::graph::UnGraph;
    use ::petgraph::Directed;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn conversion_there_and_back_gives_the_same_graph(vertices in 1..50usize, pairs in prop::collection::vec((0..50u32, 0..50u32), 0..100)) {
            let pairs: Vec<_> = pairs.into_iter().map(|(from, to)| (from % vertices as u32, to % vertices as u32)).collect();
            let graph = Graph::directed(vertices, &pairs).unwrap();
            let other = DiGraph::try_from(&graph).unwrap();
            prop_assert_eq!((other.node_count(), other.edge_count()), (vertices, pairs.len()));
            prop_assert_eq!(&Graph::try_from(&other).unwrap(), &graph);

            let simple = graph.without_repeats();
            let sorted: Vec<_> = simple.iter().flat_map(|(from, list)| list.iter().map(move |&to| (from, to))).collect();
            let rows = Csr::<(), (), Directed>::from_sorted_edges(&sorted).unwrap();
            let back = Graph::try_from(&rows).unwrap();
            // It does not know vertices after the last that has an edge.
            prop_assert!(back.iter().all(|(vertex, list)| list == simple.neighbours(vertex)));
            prop_assert_eq!(back.arcs(), simple.arcs());

            let mut undirected = UnGraph::<u8, &str, u16>::default();
            let nodes: Vec<_> = (0..vertices).map(|_| undirected.add_node(1)).collect();
            for &(from, to) in &pairs {
                undirected.add_edge(nodes[from as usize], nodes[to as usize], "weight");
            }
            prop_assert_eq!(Graph::try_from(&undirected).unwrap(), Graph::undirected(vertices, &pairs).unwrap());
        }
    }

    #[test]
    fn an_empty_graph_stays_empty() {
        let empty = Graph::directed(0, &[]).unwrap();
        let other = DiGraph::try_from(&empty).unwrap();
        assert_eq!(Graph::try_from(&other).unwrap(), empty);
        assert_eq!(Graph::try_from(&Csr::<(), ()>::new()).unwrap(), empty);
    }
}
