use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{Kind, WeightedGraph};
use crate::{generate, BuildError, Graph, Vertex};

/// The expected arcs of each vertex, as plain lists.
fn lists(vertices: usize, edges: &[(Vertex, Vertex, f64)], undirected: bool) -> Vec<Vec<(Vertex, f64)>> {
    let mut lists = vec![Vec::new(); vertices];
    for &(from, to, weight) in edges {
        lists[from as usize].push((to, weight));
        if undirected && from != to {
            lists[to as usize].push((from, weight));
        }
    }
    lists
}

fn lists_of(graph: &WeightedGraph) -> Vec<Vec<(Vertex, f64)>> {
    (0..graph.vertices() as Vertex).map(|vertex| graph.neighbours(vertex).collect()).collect()
}

/// Weights that an `f32` has: whole numbers, or any.
fn weights() -> impl Strategy<Value = f64> {
    prop_oneof![(0..5u32).prop_map(f64::from), (0f32..1e30).prop_map(f64::from), (0f32..1e-30).prop_map(f64::from)]
}

fn vertices_and_edges(
    weight: impl Strategy<Value = f64> + Clone,
) -> impl Strategy<Value = (usize, Vec<(Vertex, Vertex, f64)>)> {
    (1..40usize).prop_flat_map(move |vertices| {
        let vertex = 0..vertices as Vertex;
        (Just(vertices), prop::collection::vec((vertex.clone(), vertex, weight.clone()), 0..150))
    })
}

proptest! {
    #[test]
    fn the_arcs_are_those_of_the_edges_in_their_order((vertices, edges) in vertices_and_edges(weights().boxed()), undirected: bool) {
        let build = if undirected { WeightedGraph::undirected } else { WeightedGraph::directed };
        let graph = build(vertices, &edges).unwrap();
        prop_assert_eq!(lists_of(&graph), lists(vertices, &edges, undirected));
        let pairs: Vec<_> = edges.iter().map(|&(from, to, _)| (from, to)).collect();
        let build = if undirected { Graph::undirected } else { Graph::directed };
        prop_assert_eq!(graph.graph(), &build(vertices, &pairs).unwrap());
        prop_assert_eq!(graph.memory(), graph.graph().memory() + 4 * graph.arcs());
        prop_assert_eq!(graph.has_whole_weights(), edges.iter().all(|edge| edge.2.fract() == 0.0 && edge.2 < 4294967296.0));
        prop_assert_eq!(graph.iter().count(), graph.arcs());
    }

    #[test]
    fn of_repeated_arcs_the_smallest_weight_is_kept((vertices, edges) in vertices_and_edges(weights().boxed())) {
        let mut expected: Vec<BTreeMap<Vertex, f64>> = vec![BTreeMap::new(); vertices];
        for &(from, to, weight) in &edges {
            let least = expected[from as usize].entry(to).or_insert(weight);
            *least = least.min(weight);
        }
        let graph = WeightedGraph::directed(vertices, &edges).unwrap().without_repeats();
        let expected: Vec<Vec<_>> = expected.into_iter().map(|list| list.into_iter().collect()).collect();
        prop_assert_eq!(lists_of(&graph), expected);
    }

    #[test]
    fn weights_by_a_function_are_those_of_a_list((vertices, edges) in vertices_and_edges(Just(0.0)), fraction: bool) {
        let weight = |from: Vertex, to: Vertex| f64::from(from) * 100.0 + f64::from(to) + if fraction { 0.25 } else { 0.0 };
        let listed: Vec<_> = edges.iter().map(|&(from, to, _)| (from, to, weight(from, to))).collect();
        let listed = WeightedGraph::directed(vertices, &listed).unwrap();
        let made = WeightedGraph::from_graph(listed.graph().clone(), weight).unwrap();
        prop_assert_eq!(&made, &listed);
        prop_assert_eq!(made.into_graph(), listed.into_graph());
    }
}

#[test]
fn many_threads_build_the_same_graph_as_one_thread() {
    let mut random = 1u32;
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        random >> 8
    };
    let edges: Vec<_> = (0..200_000).map(|_| (next() % 50_000, next() % 50_000, f64::from(next()) / 4.0)).collect();
    let (first, second) = (WeightedGraph::undirected(50_000, &edges).unwrap(), lists(50_000, &edges, true));
    // A third of the weights has more than the 24 bits of an `f32`, and is rounded.
    let rounded: Vec<Vec<_>> = second
        .into_iter()
        .map(|list| list.into_iter().map(|(to, weight)| (to, f64::from(weight as f32))).collect())
        .collect();
    assert_eq!(lists_of(&first), rounded);
    let mut sorted = first.clone();
    sorted.sort_neighbours();
    let mut expected = rounded;
    expected.iter_mut().for_each(|list| list.sort_by(|a, b| a.partial_cmp(b).unwrap()));
    assert_eq!(lists_of(&sorted), expected);
}

#[test]
fn whole_weights_are_exact_and_others_are_rounded_to_32_bits() {
    let large = u32::MAX;
    let graph = WeightedGraph::directed(2, &[(0, 1, large), (1, 0, 16_777_217)]).unwrap();
    assert_eq!(graph.kind(), Kind::Whole);
    assert_eq!(lists_of(&graph), [[(1, f64::from(large))], [(0, 16_777_217.0)]]);
    let graph = WeightedGraph::directed(2, &[(0, 1, 0.1), (1, 0, 16_777_217.0)]).unwrap();
    assert_eq!(lists_of(&graph), [[(1, f64::from(0.1f32))], [(0, 16_777_216.0)]]);
}

#[test]
fn a_weight_that_is_none_is_refused() {
    for weight in [-1.0, f64::NAN, f64::INFINITY, 1e39] {
        let expected = BuildError::Weight { from: 1, to: 0 };
        assert_eq!(WeightedGraph::undirected(2, &[(0, 1, 1.0), (1, 0, weight)]).unwrap_err(), expected);
        let weigh = |from: Vertex, _: Vertex| if from == 1 { weight } else { 1.0 };
        assert_eq!(WeightedGraph::from_graph(generate::path(2).unwrap(), weigh).unwrap_err(), expected);
    }
    let error = WeightedGraph::directed(2, &[(0, 2, 1)]).unwrap_err();
    assert_eq!(error, BuildError::NoSuchVertex { from: 0, to: 2, vertices: 2 });
}

#[test]
fn the_debug_output_of_a_large_graph_has_only_its_sizes() {
    let small = WeightedGraph::directed(2, &[(0, 1, 0.5)]).unwrap();
    assert_eq!(format!("{small:?}"), "WeightedGraph { vertices: 2, arcs: 1, weighted: [(0, 1, 0.5)] }");
    let large = WeightedGraph::directed(1000, &[(0, 1, 1)]).unwrap();
    assert_eq!(format!("{large:?}"), "WeightedGraph { vertices: 1000, arcs: 1, .. }");
}
