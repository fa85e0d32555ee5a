//! Conversions to and from the graphs of the crate petgraph.
//!
//! A petgraph graph carries data of any type and can change. A graph of this crate cannot change,
//! and takes a quarter of the memory per edge, or a third with weights. [`Graph`] drops the
//! data of edges on the way here, and gives `()` on the way there. [`WeightedGraph`] takes numbers,
//! and gives them as `f64`.

use ::petgraph::csr::Csr;
use ::petgraph::graph::{DiGraph, EdgeReference, Graph as PetGraph, IndexType, NodeIndex};
use ::petgraph::visit::EdgeRef;
use ::petgraph::EdgeType;

use crate::{BuildError, Graph, Vertex, WeightedGraph};

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
        check_arcs(graph.arcs())?;
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

/// Makes an edge for each arc, so an undirected edge becomes two.
///
/// Fails if there are more arcs than petgraph's indices can number, which is 2³² − 1.
///
/// ```
/// use filch_graph::WeightedGraph;
/// use petgraph::graph::DiGraph;
///
/// let graph = WeightedGraph::directed(3, &[(0, 1, 2.5), (1, 2, 4.0)])?;
/// let theirs = DiGraph::<(), f64>::try_from(&graph)?;
/// assert_eq!(theirs.edge_weights().copied().collect::<Vec<f64>>(), [2.5, 4.0]);
/// # Ok::<(), filch_graph::BuildError>(())
/// ```
impl TryFrom<&WeightedGraph> for DiGraph<(), f64> {
    type Error = BuildError;

    fn try_from(graph: &WeightedGraph) -> Result<Self, BuildError> {
        check_arcs(graph.arcs())?;
        let mut other = DiGraph::with_capacity(graph.vertices(), graph.arcs());
        for _ in 0..graph.vertices() {
            other.add_node(());
        }
        for (from, to, weight) in graph.iter() {
            other.add_edge(NodeIndex::new(from as usize), NodeIndex::new(to as usize), weight);
        }
        Ok(other)
    }
}

/// Copies the graph with its weights. The vertices keep the numbers of the node indices.
///
/// An undirected graph gives both arcs of each edge. Fails if a weight is negative, above 3.4e38,
/// or not a number.
///
/// ```
/// use filch_graph::WeightedGraph;
/// use petgraph::graph::UnGraph;
///
/// let theirs = UnGraph::<&str, f64>::from_edges([(0, 1, 0.5), (1, 2, 1.5)]);
/// let graph = WeightedGraph::try_from(&theirs)?;
/// assert!(graph.neighbours(1).eq([(0, 0.5), (2, 1.5)]));
/// # Ok::<(), filch_graph::BuildError>(())
/// ```
impl<N, E: Copy + Into<f64>, Ty: EdgeType, Ix: IndexType> TryFrom<&PetGraph<N, E, Ty, Ix>> for WeightedGraph {
    type Error = BuildError;

    fn try_from(other: &PetGraph<N, E, Ty, Ix>) -> Result<WeightedGraph, BuildError> {
        check(other.node_count())?;
        let ends = |edge: &EdgeReference<'_, E, Ix>| (edge.source().index() as Vertex, edge.target().index() as Vertex);
        let edges: Vec<(Vertex, Vertex, f64)> = other
            .edge_references()
            .map(|edge| {
                let (from, to) = ends(&edge);
                (from, to, (*edge.weight()).into())
            })
            .collect();
        let build = if other.is_directed() { WeightedGraph::directed } else { WeightedGraph::undirected };
        build(other.node_count(), &edges)
    }
}

/// Copies the graph with its weights, list by list.
///
/// Fails if a weight is negative, above 3.4e38, or not a number.
///
/// ```
/// use filch_graph::WeightedGraph;
/// use petgraph::csr::Csr;
///
/// let theirs = Csr::<(), u32>::from_sorted_edges(&[(0, 1, 7), (0, 2, 9)]).unwrap();
/// let graph = WeightedGraph::try_from(&theirs)?;
/// assert!(graph.neighbours(0).eq([(1, 7.0), (2, 9.0)]));
/// # Ok::<(), filch_graph::BuildError>(())
/// ```
impl<N, E: Copy + Into<f64>, Ty: EdgeType, Ix: IndexType> TryFrom<&Csr<N, E, Ty, Ix>> for WeightedGraph {
    type Error = BuildError;

    fn try_from(other: &Csr<N, E, Ty, Ix>) -> Result<WeightedGraph, BuildError> {
        check(other.node_count())?;
        let mut arcs: Vec<(Vertex, Vertex, f64)> = Vec::new();
        for from in 0..other.node_count() {
            let (ends, weights) = (other.neighbors_slice(Ix::new(from)), other.edges_slice(Ix::new(from)));
            let row = ends.iter().zip(weights);
            arcs.extend(row.map(|(&to, &weight)| (from as Vertex, to.index() as Vertex, weight.into())));
        }
        WeightedGraph::directed(other.node_count(), &arcs)
    }
}

/// Checks that petgraph can number the arcs.
fn check_arcs(arcs: usize) -> Result<(), BuildError> {
    // The largest index, 2³² − 1, is petgraph's mark for "none". Indices start at 0, so this is also
    // the most arcs.
    match arcs > u32::MAX as usize {
        true => Err(BuildError::TooManyArcs { arcs }),
        false => Ok(()),
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

        #[test]
        fn conversion_there_and_back_keeps_the_weights(vertices in 1..50usize, edges in prop::collection::vec((0..50u32, 0..50u32, prop_oneof![(0..9u32).prop_map(|whole| whole as f32), 0f32..1e30]), 0..100)) {
            let edges: Vec<_> = edges.into_iter().map(|(from, to, weight)| (from % vertices as u32, to % vertices as u32, weight)).collect();
            let graph = WeightedGraph::directed(vertices, &edges).unwrap();
            prop_assert_eq!(&WeightedGraph::try_from(&DiGraph::try_from(&graph).unwrap()).unwrap(), &graph);

            let simple = graph.without_repeats();
            let sorted: Vec<_> = simple.iter().collect();
            let rows = Csr::<(), f64, Directed>::from_sorted_edges(&sorted).unwrap();
            prop_assert!(WeightedGraph::try_from(&rows).unwrap().iter().eq(simple.iter()));

            let undirected = UnGraph::<(), f32, u32>::from_edges(&edges);
            let expected = WeightedGraph::undirected(undirected.node_count(), &edges).unwrap();
            prop_assert_eq!(WeightedGraph::try_from(&undirected).unwrap(), expected);
        }
    }

    #[test]
    fn a_weight_that_is_none_is_refused() {
        let theirs = DiGraph::<(), i32>::from_edges([(0, 1, 3), (1, 0, -3)]);
        assert_eq!(WeightedGraph::try_from(&theirs), Err(BuildError::Weight { from: 1, to: 0 }));
    }

    #[test]
    fn an_empty_graph_stays_empty() {
        let empty = Graph::directed(0, &[]).unwrap();
        let other = DiGraph::try_from(&empty).unwrap();
        assert_eq!(Graph::try_from(&other).unwrap(), empty);
        assert_eq!(Graph::try_from(&Csr::<(), ()>::new()).unwrap(), empty);
    }
}
