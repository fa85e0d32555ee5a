//! Shortest paths against Dijkstra's algorithm, bit for bit: any weights, every queue, up to three
//! workers.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use filch::explore::{AtLeast, Cancel, Ending, Explore};
use filch::queue::{Asymmetric, Bulk, ChaseLev, DoubleEnded, Fifo, Kind, Lifo, Split, The};
use filch::queue::{Bound, Delta, UntrustedFfCl, UntrustedFfThe, UntrustedThep};
use filch::Pool;
use filch_graph::generate::Recipe;
use filch_graph::{distances, serial, shortest_paths, BucketWidth, ShortestPaths, Vertex, WeightedGraph};
use proptest::prelude::*;

static POOL: LazyLock<Pool> = LazyLock::new(|| Pool::builder().threads(3).build().unwrap());

fn explore(workers: usize) -> Explore<'static, AtLeast, Split> {
    Explore::at_least_once().pool(&POOL).workers(workers)
}

fn make(recipe: &str) -> WeightedGraph {
    recipe.parse::<Recipe>().unwrap().build_weighted().unwrap()
}

fn bits(paths: &ShortestPaths, graph: &WeightedGraph) -> Vec<Option<u64>> {
    (0..graph.vertices() as Vertex).map(|vertex| paths.of(vertex).map(f64::to_bits)).collect()
}

/// Checks the distances, the counts and the tree.
fn check(found: &ShortestPaths, graph: &WeightedGraph, expected: &ShortestPaths) {
    assert!(found.effort().is_complete());
    assert!(bits(found, graph) == bits(expected, graph), "a distance differs");
    assert_eq!((found.reached(), found.farthest()), (expected.reached(), expected.farthest()));
    assert!(found.visits() >= found.reached() as u64);
    check_tree(found, graph);
}

/// Checks that the tree has every reached vertex, and that each path in it is a shortest one.
fn check_tree(found: &ShortestPaths, graph: &WeightedGraph) {
    let tree = found.tree(graph);
    assert_eq!(tree.reached(), found.reached());
    assert_eq!(tree.effort().ending(), found.effort().ending());
    let mut is_shortest: Vec<bool> =
        (0..graph.vertices() as Vertex).map(|vertex| tree.parent(vertex).is_none()).collect();
    for (from, to, weight) in graph.iter().filter(|&(from, to, _)| tree.parent(to) == Some(from)) {
        let through = found.of(from).map(|distance| distance + weight);
        is_shortest[to as usize] |= through.is_some() && through == found.of(to);
    }
    assert!(is_shortest.iter().all(|&is_shortest| is_shortest));
    assert!((0..graph.vertices() as Vertex).all(|vertex| tree.contains(vertex) == found.of(vertex).is_some()));
    if found.effort().is_complete() {
        assert_eq!(tree.check(graph.graph()), Ok(()));
    }
}

/// The shortest distances by relaxing all arcs until nothing changes: another algorithm than both.
fn by_relaxing_all(graph: &WeightedGraph, roots: &[Vertex]) -> Vec<f64> {
    let mut distances = vec![f64::INFINITY; graph.vertices()];
    roots.iter().for_each(|&root| distances[root as usize] = 0.0);
    loop {
        let before = distances.clone();
        for (from, to, weight) in graph.iter() {
            distances[to as usize] = distances[to as usize].min(distances[from as usize] + weight);
        }
        if before == distances {
            return distances;
        }
    }
}

/// Weights with all that is special: zeros, equal ones, tiny and huge ones.
fn weights() -> BoxedStrategy<f64> {
    prop_oneof![
        Just(0.0),
        Just(1.0),
        (0..20u32).prop_map(f64::from),
        any::<u32>().prop_map(f64::from),
        (0f32..10.0).prop_map(f64::from),
        (0f32..1e-38).prop_map(f64::from),
        (1e30f32..f32::MAX).prop_map(f64::from),
    ]
    .boxed()
}

/// Any graph of up to forty vertices, with loops and repeated arcs, and its roots.
fn graphs() -> impl Strategy<Value = (WeightedGraph, Vec<Vertex>)> {
    let kinds = prop_oneof![
        Just(Just(0.0).boxed()),
        Just(Just(3.0).boxed()),
        Just((0..3u32).prop_map(f64::from).boxed()),
        Just((1..1000u32).prop_map(f64::from).boxed()),
        Just((0f32..1.0).prop_map(f64::from).boxed()),
        Just(weights()),
    ];
    (1usize..40, any::<bool>(), kinds).prop_flat_map(|(vertices, undirected, weight)| {
        let vertex = 0..vertices as Vertex;
        let edges = prop::collection::vec((vertex.clone(), vertex.clone(), weight), 0..120);
        let roots = prop::collection::vec(vertex, 0..4);
        (edges, roots).prop_map(move |(edges, roots)| {
            let build = if undirected { WeightedGraph::undirected } else { WeightedGraph::directed };
            (build(vertices, &edges).unwrap(), roots)
        })
    })
}

fn widths() -> impl Strategy<Value = BucketWidth> {
    let given = prop::sample::select(vec![5e-324, 1e-300, 1e-9, 0.3, 1.0, 7.0, 300.0, 1e9, 1e35, 1e308, f64::MAX]);
    prop::option::of(given)
        .prop_map(|width| width.map_or(BucketWidth::automatic(), |width| BucketWidth::new(width).unwrap()))
}

proptest! {
    #[test]
    fn distances_are_those_of_dijkstra((graph, roots) in graphs(), width in widths(), workers in 1..=3usize) {
        let expected = serial::shortest_paths(&graph, roots.clone());
        let relaxed = by_relaxing_all(&graph, &roots);
        let same = |vertex: Vertex| expected.of(vertex).unwrap_or(f64::INFINITY) == relaxed[vertex as usize];
        prop_assert!((0..graph.vertices() as Vertex).all(same));
        check_tree(&expected, &graph);
        check(&shortest_paths(&graph, roots.clone(), width, explore(workers)), &graph, &expected);
        check(&shortest_paths(&graph, roots.clone(), width, explore(workers).queue(Lifo)), &graph, &expected);
        check(&shortest_paths(&graph, roots, width, explore(workers).queue(Bulk)), &graph, &expected);
    }
}

fn on<K: Kind<Vertex> + Clone>(kind: K) {
    let recipes = [
        "torus:150x150,weights=1-100",
        "torus:120x120,weights=0-3",
        "kgraph-plane:20000,k=3,weights=1-1000000,seed=2",
        "random:20000,60000,weights=1-100,seed=5",
        "random:20000,12000,weights=7-7",
        "rmat:13,60000,weights=0-4294967295",
        "star:20000,weights=1-9",
        "path:20000,weights=0-1",
    ];
    for recipe in recipes {
        let graph = make(recipe);
        // The same in tenths, which are not exact.
        let tenths =
            WeightedGraph::from_graph(graph.graph().clone(), |from, to| f64::from((from ^ to) % 97) / 10.0).unwrap();
        for graph in [graph, tenths] {
            let roots = [0, graph.vertices() as Vertex - 1, 0];
            let expected = serial::shortest_paths(&graph, roots);
            for workers in [1, 2, 3] {
                let explore = explore(workers).queue(kind.clone());
                check(&shortest_paths(&graph, roots, BucketWidth::automatic(), explore), &graph, &expected);
            }
        }
    }
}

macro_rules! agrees_with_dijkstra {
    ($($test:ident: $queue:expr;)*) => { $(
        #[test]
        fn $test() {
            on($queue);
        }
    )* };
}

fn delta() -> Delta {
    Delta::new(Bound::GENEROUS, 15).unwrap()
}

agrees_with_dijkstra! {
    shortest_paths_on_split_are_those_of_dijkstra: Split;
    shortest_paths_on_chase_lev_are_those_of_dijkstra: ChaseLev;
    shortest_paths_on_the_are_those_of_dijkstra: The;
    shortest_paths_on_asymmetric_are_those_of_dijkstra: Asymmetric;
    shortest_paths_on_bulk_are_those_of_dijkstra: Bulk;
    shortest_paths_on_lifo_are_those_of_dijkstra: Lifo;
    shortest_paths_on_fifo_are_those_of_dijkstra: Fifo;
    shortest_paths_on_double_ended_are_those_of_dijkstra: DoubleEnded;
    shortest_paths_on_untrusted_ff_the_are_those_of_dijkstra: UntrustedFfThe(delta());
    shortest_paths_on_untrusted_ff_cl_are_those_of_dijkstra: UntrustedFfCl(delta());
    shortest_paths_on_untrusted_thep_are_those_of_dijkstra: UntrustedThep(delta());
}

#[test]
fn any_width_gives_the_distances_of_dijkstra_in_large_graphs() {
    for recipe in ["torus:100x100,weights=1-100", "random:10000,30000,weights=1-1000000"] {
        let graph = make(recipe);
        let expected = serial::shortest_paths(&graph, [0]);
        for width in [5e-324, 1e-300, 1e-3, 0.7, 30.0, 5e3, 1e7, 1e300, f64::MAX] {
            let found = shortest_paths(&graph, [0], BucketWidth::new(width).unwrap(), explore(3));
            check(&found, &graph, &expected);
            assert_eq!(found.width(), width);
        }
    }
}

#[test]
fn with_a_weight_of_one_the_distances_are_those_in_arcs() {
    let graph = make("random:5000,9000,weights=1-1");
    let (paths, arcs) =
        (shortest_paths(&graph, [3], BucketWidth::automatic(), explore(2)), distances(graph.graph(), [3], explore(2)));
    assert!((0..5000).all(|vertex| paths.of(vertex) == arcs.of(vertex).map(f64::from)));
}

#[test]
fn whole_weights_are_added_exactly() {
    // 3 times the largest weight, which an `f32` cannot tell from one less.
    let graph = WeightedGraph::directed(4, &[(0, 1, u32::MAX), (1, 2, u32::MAX), (2, 3, u32::MAX)]).unwrap();
    let paths = shortest_paths(&graph, [0], BucketWidth::automatic(), explore(2));
    assert_eq!(paths.of(3), Some(3.0 * 4_294_967_295.0));
    assert_eq!(paths.tree(&graph).path_to(3), Some(vec![0, 1, 2, 3]));
}

#[test]
fn no_roots_and_no_vertices_give_no_paths() {
    let empty = WeightedGraph::directed::<u32>(0, &[]).unwrap();
    let graph = make("path:5,weights=1-9");
    for (graph, roots) in [(&empty, &[][..]), (&graph, &[])] {
        let paths = shortest_paths(graph, roots.iter().copied(), BucketWidth::automatic(), explore(2));
        assert_eq!((paths.reached(), paths.farthest(), paths.visits()), (0, None, 0));
        assert_eq!(paths.tree(graph).reached(), 0);
    }
}

#[test]
#[should_panic(expected = "the root 7 is not a vertex of the graph, which has 5")]
fn a_root_that_is_no_vertex_panics() {
    let graph = make("path:5,weights=1-9");
    shortest_paths(&graph, [0, 7], BucketWidth::automatic(), explore(1));
}

#[test]
fn impossible_widths_are_refused() {
    for width in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = BucketWidth::new(width).unwrap_err().to_string();
        assert!(error.starts_with("the width of a bucket is a finite number above 0, not "), "{error}");
    }
}

#[test]
fn memory_is_eight_bytes_for_each_vertex() {
    let graph = make("torus:100x100,weights=1-9");
    assert_eq!(shortest_paths(&graph, [0], BucketWidth::automatic(), explore(2)).memory(), 80_000);
}

#[test]
fn a_search_that_is_cancelled_before_it_starts_has_the_roots_alone() {
    let graph = make("torus:300x300,weights=1-100");
    let cancel = Cancel::new();
    cancel.cancel();
    let found = shortest_paths(&graph, [5], BucketWidth::automatic(), explore(3).cancel(&cancel));
    assert_eq!(found.effort().ending(), Ending::Cancelled);
    assert_eq!((found.reached(), found.of(5)), (1, Some(0.0)));
    let past = Instant::now();
    std::thread::sleep(Duration::from_millis(1));
    let found = shortest_paths(&graph, [5], BucketWidth::automatic(), explore(3).deadline(past));
    assert_eq!(found.effort().ending(), Ending::TimedOut);
}

#[test]
fn a_search_that_is_stopped_reports_final_distances_alone() {
    let graph = make("torus:500x500,weights=1-100");
    let expected = serial::shortest_paths(&graph, [0]);
    let mut stopped = 0;
    for micros in [50, 500, 1000, 2000, 4000, 8000, 12000] {
        let limit = Duration::from_micros(micros);
        let found = shortest_paths(&graph, [0], BucketWidth::automatic(), explore(2).time_limit(limit));
        stopped += usize::from(!found.effort().is_complete());
        let is_right = |vertex: &Vertex| found.of(*vertex).is_none() || found.of(*vertex) == expected.of(*vertex);
        assert!((0..250_000).all(|vertex| is_right(&vertex)), "stopped after {micros} us");
        check_tree(&found, &graph);
        let tree = found.tree(&graph);
        let is_joined = |vertex: Vertex| found.of(vertex).is_none() || tree.path_to(vertex).is_some();
        assert!((0..250_000).all(is_joined), "stopped after {micros} us");
    }
    assert!(stopped > 0);
}

/// A million vertices, once.
#[test]
fn the_distances_in_large_graphs_are_those_of_dijkstra() {
    for recipe in ["torus:1000x1000,weights=1-100", "random:500000,1500000,weights=1-100"] {
        let graph = make(recipe);
        let expected = serial::shortest_paths(&graph, [0]);
        for workers in [1, 2] {
            let found = shortest_paths(&graph, [0], BucketWidth::automatic(), explore(workers));
            assert!(bits(&found, &graph) == bits(&expected, &graph), "{recipe}, {workers} workers");
        }
    }
}
