use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::offsets::{Index, Offsets};
use super::{BuildError, Graph, Vertex};

/// The expected graph, as plain lists.
fn lists(vertices: usize, pairs: &[(Vertex, Vertex)], undirected: bool) -> Vec<Vec<Vertex>> {
    let mut lists = vec![Vec::new(); vertices];
    for &(from, to) in pairs {
        lists[from as usize].push(to);
        if undirected && from != to {
            lists[to as usize].push(from);
        }
    }
    lists
}

fn lists_of(graph: &Graph) -> Vec<Vec<Vertex>> {
    graph.iter().map(|(_, neighbours)| neighbours.to_vec()).collect()
}

fn from_parts_shared(vertices: usize, parts: &[&[(Vertex, Vertex)]], undirected: bool, shares: usize) -> Graph {
    Graph::with_data_shared(vertices, parts, undirected, shares).unwrap().0
}

/// The same graph with offsets of 64 bits. They would otherwise need 16 GiB of arcs.
fn widened(graph: &Graph) -> Graph {
    let offsets = (0..=graph.vertices()).map(|index| graph.offsets.get(index) as u64).collect();
    Graph { offsets: Offsets::Wide(offsets), targets: graph.targets.clone() }
}

fn vertices_and_pairs() -> impl Strategy<Value = (usize, Vec<(Vertex, Vertex)>)> {
    (1..60usize).prop_flat_map(|vertices| {
        let vertex = 0..vertices as Vertex;
        (Just(vertices), prop::collection::vec((vertex.clone(), vertex), 0..200))
    })
}

/// Enough edges for all parallel code paths. There is a hub, and a long range of vertices without
/// arcs.
fn many_pairs() -> (usize, Vec<(Vertex, Vertex)>) {
    let vertices = 100_000;
    let mut random = 1u32;
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % 40_000
    };
    let pairs = (0..200_000).map(|index| if index % 3 == 0 { (7, next()) } else { (next(), next()) }).collect();
    (vertices, pairs)
}

proptest! {
    #[test]
    fn the_neighbours_are_those_of_the_edges_in_their_order((vertices, pairs) in vertices_and_pairs(), undirected: bool, shares in 1..9usize, cut in 0..200usize) {
        let (left, right) = pairs.split_at(cut.min(pairs.len()));
        let graph = from_parts_shared(vertices, &[left, right], undirected, shares);
        let expected = lists(vertices, &pairs, undirected);
        prop_assert_eq!(graph.vertices(), vertices);
        prop_assert_eq!(graph.arcs(), expected.iter().map(Vec::len).sum::<usize>());
        prop_assert_eq!(graph.largest_degree(), expected.iter().map(Vec::len).max().unwrap());
        prop_assert_eq!(graph.memory(), 4 * (vertices + 1) + 4 * graph.arcs());
        for (vertex, list) in expected.iter().enumerate() {
            prop_assert_eq!(graph.degree(vertex as Vertex), list.len());
            prop_assert_eq!(graph.neighbours(vertex as Vertex), &list[..]);
        }
        let by_lists = Graph::from_lists(vertices, |vertex| expected[vertex as usize].len(), |vertex, list| list.copy_from_slice(&expected[vertex as usize])).unwrap();
        prop_assert_eq!(by_lists, graph);
    }

    #[test]
    fn sorting_and_shuffling_only_reorder_and_repeats_are_removed((vertices, pairs) in vertices_and_pairs(), seed: u64, wide: bool) {
        let mut graph = Graph::directed(vertices, &pairs).unwrap();
        if wide {
            graph = widened(&graph);
        }
        let mut expected = lists(vertices, &pairs, false);
        let sets: Vec<Vec<Vertex>> = expected.iter().map(|list| list.iter().copied().collect::<BTreeSet<_>>().into_iter().collect()).collect();
        expected.iter_mut().for_each(|list| list.sort());
        graph.shuffle_neighbours(seed);
        let mut again = Graph::directed(vertices, &pairs).unwrap();
        again.shuffle_neighbours(seed);
        prop_assert_eq!(&graph, &again);
        graph.sort_neighbours();
        prop_assert_eq!(lists_of(&graph), expected);
        let graph = graph.without_repeats();
        prop_assert_eq!(lists_of(&graph), sets);
        prop_assert!(matches!(graph.offsets, Offsets::Narrow(_)));
    }

    #[test]
    fn a_cut_leaves_vertices_on_both_sides((vertices, pairs) in vertices_and_pairs(), start in 0..60usize) {
        let graph = Graph::directed(vertices, &pairs).unwrap();
        let range = start.min(vertices - 1)..vertices;
        prop_assume!(range.len() >= 2);
        let middle = graph.offsets.middle(&range);
        prop_assert!(range.start < middle && middle < range.end);
    }
}

#[test]
fn many_threads_build_the_same_graph_as_one_thread() {
    let (vertices, pairs) = many_pairs();
    for undirected in [false, true] {
        let one = from_parts_shared(vertices, &[&pairs[..]], undirected, 1);
        assert_eq!(lists_of(&one), lists(vertices, &pairs, undirected));
        for shares in [2, 3, 16] {
            assert_eq!(from_parts_shared(vertices, &[&pairs[..]], undirected, shares), one);
        }
        assert_eq!(Graph::from_parts(vertices, &[&pairs[..]], undirected).unwrap(), one);
    }
}

#[test]
fn sorting_a_large_graph_sorts_every_list() {
    let (vertices, pairs) = many_pairs();
    let mut graph = Graph::undirected(vertices, &pairs).unwrap();
    graph.sort_neighbours();
    let mut expected = lists(vertices, &pairs, true);
    expected.iter_mut().for_each(|list| list.sort());
    assert_eq!(lists_of(&graph), expected);
}

#[test]
fn a_shuffle_gives_every_order_about_equally_often() {
    let vertices = 6_000;
    let mut graph = Graph::from_lists(vertices, |_| 3, |_, list| list.copy_from_slice(&[0, 1, 2])).unwrap();
    graph.shuffle_neighbours(11);
    let mut orders = BTreeMap::new();
    for (_, list) in graph.iter() {
        *orders.entry(list.to_vec()).or_insert(0) += 1;
    }
    assert_eq!(orders.len(), 6);
    // A thousand each is expected, with a standard deviation of 29.
    assert!(orders.values().all(|&count| (850..1150).contains(&count)), "{orders:?}");
}

#[test]
fn wide_offsets_give_the_same_neighbours() {
    let graph = Graph::undirected(4, &[(0, 1), (1, 2), (3, 3)]).unwrap();
    let wide = widened(&graph);
    assert_eq!(wide, graph);
    assert_eq!(wide.neighbours(1), [0, 2]);
    assert_eq!(wide.degree(3), 1);
    assert_eq!(wide.memory(), graph.memory() + 4 * 5);
    assert_eq!(u64::of(1 << 40).get(), 1 << 40);
}

#[test]
fn an_empty_graph_has_no_vertices_and_no_arcs() {
    let graph = Graph::directed(0, &[]).unwrap();
    assert_eq!((graph.vertices(), graph.arcs(), graph.largest_degree()), (0, 0, 0));
    assert_eq!(graph.without_repeats().vertices(), 0);
}

#[test]
fn more_vertices_than_32_bits_can_number_are_refused() {
    let most = Graph::MAX_VERTICES;
    for refused in [most + 1, usize::MAX] {
        let error = Graph::directed(refused, &[]).unwrap_err();
        assert_eq!(error, BuildError::TooManyVertices { vertices: refused });
        assert_eq!(Graph::from_lists(refused, |_| 0, |_, _| ()).unwrap_err(), error);
        assert_eq!(
            error.to_string(),
            format!(
                "a graph cannot have {refused} vertices: they are numbered in 32 bits, which is enough for 4294967295"
            )
        );
    }
}

#[test]
fn an_arc_to_a_vertex_that_does_not_exist_is_refused() {
    let error = Graph::undirected(5, &[(0, 4), (5, 1), (9, 9)]).unwrap_err();
    assert_eq!(error, BuildError::NoSuchVertex { from: 5, to: 1, vertices: 5 });
    assert_eq!(error.to_string(), "there is an arc from 5 to 1, but the vertices are numbered 0 to 4");
    assert_eq!(Graph::directed(5, &[(Vertex::MAX, 0)]).unwrap_err().to_string().matches("4294967295").count(), 1);
    let error = Graph::directed(0, &[(0, 0)]).unwrap_err();
    assert_eq!(error.to_string(), "there is an arc from 0 to 0, but the graph has no vertices");
    let error = Graph::from_lists(3, |_| 1, |vertex, list| list[0] = vertex + 1).unwrap_err();
    assert_eq!(error, BuildError::NoSuchVertex { from: 2, to: 3, vertices: 3 });
}

#[test]
fn the_debug_output_of_a_large_graph_has_only_its_sizes() {
    let small = Graph::undirected(2, &[(0, 1)]).unwrap();
    assert_eq!(format!("{small:?}"), "Graph { vertices: 2, arcs: 2, neighbours: [[1], [0]] }");
    let large = Graph::directed(1000, &[(0, 1)]).unwrap();
    assert_eq!(format!("{large:?}"), "Graph { vertices: 1000, arcs: 1, .. }");
}

#[test]
#[should_panic]
fn the_neighbours_of_a_vertex_that_does_not_exist_panic() {
    Graph::directed(3, &[]).unwrap().neighbours(3);
}
