//! The memory of a graph and of building it. Four bytes per vertex and four per arc, nothing else.

mod counting;

use counting::{alone, most_held};
use filch_graph::{Graph, Vertex, WeightedGraph};

const VERTICES: usize = 300_000;
/// Memory for jobs, the pool's threads, and the test runner's own allocations.
const SLACK: usize = 64 << 10;

fn pairs() -> Vec<(Vertex, Vertex)> {
    let mut random = 1u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((random >> 33) % VERTICES as u64) as Vertex
    };
    (0..500_000).map(|_| (next(), next())).collect()
}

#[test]
fn building_takes_only_the_memory_of_the_graph() {
    let _alone = alone();
    let pairs = pairs();
    for build in [Graph::directed, Graph::undirected] {
        let (graph, held) = most_held(|| build(VERTICES, &pairs).unwrap());
        assert_eq!(graph.memory(), 4 * (VERTICES + 1) + 4 * graph.arcs());
        assert!(held.abs_diff(graph.memory()) < SLACK, "{held} bytes for {}", graph.memory());
    }
    let (graph, held) = most_held(|| Graph::from_lists(VERTICES, |vertex| vertex as usize % 7, |_, _| ()).unwrap());
    assert!(held < graph.memory() + SLACK, "{held} bytes for {}", graph.memory());
}

#[test]
fn a_weight_takes_four_bytes_for_each_arc() {
    let _alone = alone();
    let edges: Vec<_> = pairs().into_iter().map(|(from, to)| (from, to, from ^ to)).collect();
    let (graph, held) = most_held(|| WeightedGraph::undirected(VERTICES, &edges).unwrap());
    assert_eq!(graph.memory(), graph.graph().memory() + 4 * graph.arcs());
    assert!(held < graph.memory() + SLACK, "{held} bytes for {}", graph.memory());
    let plain = graph.into_graph();
    let (graph, held) = most_held(|| WeightedGraph::from_graph(plain, |from, to| from ^ to).unwrap());
    assert!(held < 4 * graph.arcs() + SLACK, "{held} bytes for {}", graph.memory());
}

#[test]
fn sorting_and_shuffling_take_no_memory_and_removing_repeats_gives_some_back() {
    let _alone = alone();
    let mut pairs = pairs();
    pairs.extend_from_within(..400_000);
    let mut graph = Graph::undirected(VERTICES, &pairs).unwrap();
    let ((), held) = most_held(|| {
        graph.sort_neighbours();
        graph.shuffle_neighbours(1);
    });
    assert!(held < SLACK, "{held}");
    let before = graph.memory();
    let graph = graph.without_repeats();
    assert!(graph.memory() + 4 * 2 * 390_000 < before);
}

#[test]
fn the_test_notices_additional_memory() {
    let _alone = alone();
    let (copy, held) = most_held(|| std::hint::black_box(pairs()).clone());
    assert!(held + SLACK > 2 * size_of_val(&copy[..]), "{held}");
}
