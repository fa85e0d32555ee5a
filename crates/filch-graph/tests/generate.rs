//! Generated graphs: their promises about edges, equal graphs for equal seeds, and error messages.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use filch::Pool;
use filch_graph::generate::{self, GenerateError, Recipe, Shape};
use filch_graph::{Graph, Vertex};
use proptest::prelude::*;

/// Returns the edges of an undirected graph. Fails on a loop, a repeat or an arc without its
/// opposite.
fn edges(graph: &Graph) -> HashSet<(Vertex, Vertex)> {
    let arcs: HashSet<(Vertex, Vertex)> =
        graph.iter().flat_map(|(vertex, neighbours)| neighbours.iter().map(move |&next| (vertex, next))).collect();
    assert_eq!(arcs.len(), graph.arcs(), "an arc is repeated");
    assert!(arcs.iter().all(|&(a, b)| a != b && arcs.contains(&(b, a))), "a loop, or an arc in one direction");
    arcs.into_iter().filter(|(a, b)| a < b).collect()
}

/// Returns the number of components, by a plain search.
fn components(graph: &Graph) -> usize {
    let mut seen = vec![false; graph.vertices()];
    let mut count = 0;
    for start in 0..graph.vertices() {
        if !seen[start] {
            count += 1;
            let mut stack = vec![start as Vertex];
            seen[start] = true;
            while let Some(vertex) = stack.pop() {
                for &next in graph.neighbours(vertex) {
                    if !std::mem::replace(&mut seen[next as usize], true) {
                        stack.push(next);
                    }
                }
            }
        }
    }
    count
}

fn make(recipe: &str) -> Graph {
    recipe.parse::<Recipe>().unwrap().build().unwrap()
}

#[test]
fn the_ring_gives_each_vertex_exactly_its_k_nearest() {
    for (vertices, neighbours) in
        [(1, 0), (2, 1), (5, 2), (5, 4), (8, 3), (12, 5), (6, 5), (100, 3), (1000, 4), (40_000, 3)]
    {
        let graph = generate::kgraph_ring(vertices, neighbours).unwrap();
        edges(&graph);
        for (vertex, others) in graph.iter() {
            assert_eq!(others.len(), neighbours);
            for &other in others {
                let apart = (vertex as usize).abs_diff(other as usize);
                assert!(apart.min(vertices - apart) <= neighbours.div_ceil(2));
            }
        }
    }
}

#[test]
fn if_an_odd_k_does_not_divide_the_ring_a_few_vertices_at_its_end_have_one_neighbour_less() {
    for (vertices, neighbours) in [(7, 3), (9, 3), (1001, 3), (1001, 5), (50_003, 7)] {
        let graph = generate::kgraph_ring(vertices, neighbours).unwrap();
        edges(&graph);
        let fewer = graph
            .iter()
            .filter(|(_, others)| others.len() != neighbours)
            .map(|(vertex, others)| (vertex, others.len()));
        let fewer: Vec<(Vertex, usize)> = fewer.collect();
        assert!(fewer.len() <= neighbours && fewer.iter().all(|&(_, degree)| degree == neighbours - 1), "{fewer:?}");
        assert!(fewer.iter().all(|&(vertex, _)| vertex as usize + neighbours + 1 >= vertices));
    }
}

/// Checks that a graph with more than one neighbour each is connected and as regular as possible.
fn check_regular(graph: &Graph, neighbours: usize) {
    edges(graph);
    let degrees: Vec<usize> = graph.iter().map(|(_, others)| others.len()).collect();
    let fewer: Vec<usize> = degrees.into_iter().filter(|&degree| degree != neighbours).collect();
    let is_odd = graph.vertices() * neighbours % 2 == 1;
    assert_eq!(fewer, if is_odd { vec![neighbours - 1] } else { vec![] });
    assert_eq!(components(graph), 1);
}

#[test]
fn in_the_plane_each_vertex_has_exactly_k_neighbours_and_one_has_k_minus_1_if_all_is_odd() {
    for (vertices, neighbours) in
        [(3, 2), (4, 3), (5, 3), (10, 9), (5000, 2), (5001, 2), (5001, 3), (5001, 5), (300, 40), (50_000, 3)]
    {
        check_regular(&generate::kgraph_plane(vertices, neighbours, 9).unwrap(), neighbours);
    }
}

#[test]
fn with_no_or_one_neighbour_the_plane_is_connected_by_more_edges() {
    for (vertices, neighbours) in [(1, 0), (2, 1), (10, 0), (5000, 1), (5001, 1)] {
        let graph = generate::kgraph_plane(vertices, neighbours, 9).unwrap();
        edges(&graph);
        assert_eq!(graph.arcs(), 2 * (vertices - 1));
        assert_eq!(components(&graph), 1);
    }
}

#[test]
fn the_plane_has_a_small_diameter_and_the_ring_a_large_one() {
    let levels = |graph: Graph| {
        let distances = filch_graph::serial::distances(&graph, [0]);
        distances.farthest().unwrap().1 as usize
    };
    let (plane, ring) = (make("kgraph-plane:40000,k=3"), make("ring:40000,k=3"));
    // The plane is 200 points wide.
    let (plane, ring) = (levels(plane), levels(ring));
    assert!(plane < 5 * 200 && ring > 40_000 / 4, "{plane} {ring}");
}

#[test]
fn in_the_plane_most_neighbours_have_near_numbers() {
    let graph = generate::kgraph_plane(100_000, 3, 1).unwrap();
    // A row of cells holds about 450 points.
    let near = graph
        .iter()
        .flat_map(|(vertex, others)| others.iter().map(move |&other| vertex.abs_diff(other)))
        .filter(|&apart| apart < 1000);
    assert!(near.count() > graph.arcs() * 9 / 10);
}

#[test]
fn every_vertex_of_a_torus_has_four_neighbours() {
    let graph = generate::torus(130, 200).unwrap();
    assert_eq!(edges(&graph).len(), 2 * 130 * 200);
    assert!(graph.iter().all(|(_, others)| others.len() == 4));
    let mut corner = graph.neighbours(0).to_vec();
    corner.sort_unstable();
    assert_eq!(corner, [1, 129, 130, 199 * 130]);
}

#[test]
fn a_torus_of_one_or_two_rows_has_no_loops_and_no_repeats() {
    for (width, height, count) in [(1, 1, 0), (2, 1, 1), (1, 3, 3), (2, 2, 4), (2, 3, 9), (3, 2, 9), (3, 3, 18)] {
        assert_eq!(edges(&generate::torus(width, height).unwrap()).len(), count, "{width} x {height}");
    }
}

#[test]
fn a_grid_does_not_wrap_around_as_a_torus_does() {
    let graph = generate::grid(3, 2).unwrap();
    assert_eq!(edges(&graph), HashSet::from([(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]));
    assert_eq!(edges(&generate::grid(170, 210).unwrap()).len(), 169 * 210 + 170 * 209);
}

#[test]
fn a_star_has_one_centre_and_a_path_has_two_ends() {
    let star = generate::star(20_000).unwrap();
    assert_eq!(star.degree(0), 19_999);
    assert!((1..20_000).all(|leaf| star.neighbours(leaf) == [0]));
    let path = generate::path(20_000).unwrap();
    assert_eq!(edges(&path), (0..19_999).map(|vertex| (vertex, vertex + 1)).collect());
}

#[test]
fn a_random_graph_has_the_requested_number_of_different_edges() {
    for (vertices, count) in
        [(1, 0), (2, 1), (100, 0), (100, 4950), (100, 4949), (100, 2476), (100, 2475), (100, 300), (30_000, 100_000)]
    {
        assert_eq!(edges(&generate::random(vertices, count, 5).unwrap()).len(), count);
    }
}

#[test]
fn in_rmat_low_numbers_have_many_neighbours_and_high_numbers_few() {
    let graph = generate::rmat(14, 100_000, 3).unwrap();
    let unique = edges(&graph).len();
    assert!((70_000..100_000).contains(&unique), "{unique}");
    let arcs = |range: std::ops::Range<Vertex>| range.map(|vertex| graph.degree(vertex)).sum::<usize>();
    // Three quarters of the ends fall into the lower half, and three quarters of those into its
    // lower half.
    let share = arcs(0..1 << 13) as f64 / graph.arcs() as f64;
    assert!((0.7..0.8).contains(&share), "{share}");
    assert!(graph.degree(0) > 100 * graph.arcs() / graph.vertices() / 2);
}

#[test]
fn connecting_adds_one_edge_for_each_component_but_the_first() {
    for recipe in ["random:2000,800", "path:50", "random:100,0", "ring:1000,k=1", "star:1"] {
        let before = make(recipe);
        let apart = components(&before);
        for after in [generate::connect(before.clone(), 4).unwrap(), make(&format!("{recipe},connected"))] {
            assert_eq!(components(&after), 1);
            assert_eq!(after.arcs(), before.arcs() + 2 * (apart - 1));
            assert!(edges(&after).is_superset(&edges(&before)));
        }
    }
}

#[test]
fn connecting_a_connected_graph_changes_nothing() {
    let graph = generate::torus(20, 20).unwrap();
    assert_eq!(generate::connect(graph.clone(), 1).unwrap(), graph);
}

#[test]
fn shuffling_only_renumbers_the_vertices() {
    let (plain, shuffled) = (make("star:1000"), make("star:1000,shuffled,seed=3"));
    assert_eq!(edges(&shuffled).len(), 999);
    let middle = (0..1000).find(|&vertex| shuffled.degree(vertex) == 999).unwrap();
    assert!(middle != 0 && plain.degree(0) == 999);
}

#[test]
fn the_same_seed_makes_the_same_graph_on_any_number_of_threads() {
    let recipes = [
        "kgraph-plane:30000,k=3",
        "random:50000,120000",
        "rmat:15,80000",
        "torus:300x200",
        "ring:50000,k=3",
        "random:30000,9000,connected,shuffled",
    ];
    for recipe in recipes {
        let graphs: Vec<Graph> = [1, 2, 5]
            .into_iter()
            .map(|threads| {
                Pool::builder().threads(threads).build().unwrap().install(|| make(&format!("{recipe},seed=11")))
            })
            .collect();
        assert!(graphs[0] == graphs[1] && graphs[0] == graphs[2], "{recipe}");
    }
}

#[test]
fn another_seed_makes_another_graph() {
    for recipe in
        ["kgraph-plane:1000,k=3", "random:1000,2000", "rmat:10,2000", "random:1000,100,connected", "path:100,shuffled"]
    {
        assert_ne!(make(&format!("{recipe},seed=1")), make(&format!("{recipe},seed=2")), "{recipe}");
    }
}

#[test]
fn a_seed_gives_the_same_graph_in_all_versions() {
    // A change of these values changes every graph that users have the seed of.
    let sum = |recipe: &str| {
        let arcs = make(recipe)
            .iter()
            .flat_map(|(vertex, others)| others.iter().map(move |&next| (vertex, next)))
            .collect::<Vec<_>>();
        arcs.iter().fold(0u64, |sum, &(a, b)| {
            sum.wrapping_mul(0x100_0000_01B3).wrapping_add(u64::from(a) << 32 | u64::from(b))
        })
    };
    let sums =
        ["kgraph-plane:500,k=3,seed=1", "random:500,700,seed=1,connected", "rmat:9,700,seed=1,shuffled"].map(sum);
    assert_eq!(sums, [9_170_163_778_261_028_454, 10_021_452_737_312_149_717, 18_089_678_936_461_867_201]);
}

#[test]
fn impossible_graphs_are_refused_with_a_reason() {
    let refused = |graph: Result<Graph, GenerateError>| graph.unwrap_err().to_string();
    for none in
        [generate::torus(0, 5), generate::grid(5, 0), generate::star(0), generate::path(0), generate::random(0, 0, 1)]
    {
        assert_eq!(none.unwrap_err(), GenerateError::NoVertices);
    }
    assert_eq!(generate::kgraph_ring(0, 0).unwrap_err(), GenerateError::NoVertices);
    assert_eq!(generate::kgraph_plane(0, 0, 0).unwrap_err(), GenerateError::NoVertices);
    assert_eq!(
        refused(generate::torus(1 << 16, 1 << 16)),
        "4294967296 vertices are too many: vertices are numbered in 32 bits, so there can be at most 4294967295"
    );
    assert!(refused(generate::torus(usize::MAX, usize::MAX)).contains("too many"));
    assert!(refused(generate::path(usize::MAX)).contains("too many"));
    for scale in [32, 64, 128, u32::MAX] {
        assert!(refused(generate::rmat(scale, 1, 0)).contains("too many"));
    }
    for ring in [generate::kgraph_ring(3, 3), generate::kgraph_plane(3, 7, 0), generate::kgraph_ring(3, usize::MAX)] {
        assert!(refused(ring).contains("k must be below the number of vertices"));
    }
    assert!(refused(generate::random(1, 1, 0)).contains("1 vertices have 0 pairs"));
    assert!(refused(generate::random(1000, usize::MAX, 0)).contains("499500 pairs"));
    assert!(refused(generate::rmat(10, usize::MAX, 0)).contains("no memory"));
    assert!(refused(generate::kgraph_ring(4_000_000_000, 3_999_999_999)).contains("no memory"));
    assert!(refused(generate::kgraph_plane(4_000_000_000, 3_999_999_999, 0)).contains("no memory"));
}

#[test]
fn weights_are_uniform_and_the_same_in_both_directions_and_on_any_number_of_threads() {
    let recipe: Recipe = "random:5000,20000,seed=3,weights=10-19".parse().unwrap();
    let build =
        |threads| Pool::builder().threads(threads).build().unwrap().install(|| recipe.build_weighted().unwrap());
    let graph = build(1);
    assert!(graph == build(3));
    assert_eq!(graph.graph(), &recipe.build().unwrap());
    let weights: HashMap<_, _> = graph.iter().map(|(from, to, weight)| ((from, to), weight)).collect();
    assert!(weights.iter().all(|(&(from, to), weight)| weights[&(to, from)] == *weight));
    let mut counts = [0; 10];
    weights.values().for_each(|&weight| counts[weight as usize - 10] += 1);
    // 4000 each are expected. Those of both directions are equal, so the standard deviation is 85.
    assert!(counts.iter().all(|count| (3600..4400).contains(count)), "{counts:?}");
    let other = Recipe { seed: 4, ..recipe }.build_weighted().unwrap();
    assert!(graph != other);
    let error = generate::uniform_weights(generate::path(2).unwrap(), RangeInclusive::new(2, 1), 0).unwrap_err();
    assert_eq!(error.to_string(), "no weight is from 2 to 1; the first number must not be the larger one");
    let error = "path:2".parse::<Recipe>().unwrap().build_weighted().unwrap_err();
    assert_eq!(error.to_string(), "path:2 has no weights; add a range of random ones, such as `,weights=1-100`");
}

/// The same seed gives the same weights forever.
#[test]
fn the_first_weights_of_a_seed_stay_the_same() {
    let graph = generate::uniform_weights(generate::path(5).unwrap(), 0..=999, 1).unwrap();
    let weights: Vec<f64> = graph.iter().filter(|(from, to, _)| from < to).map(|(_, _, weight)| weight).collect();
    assert_eq!(weights, [884.0, 100.0, 543.0, 371.0]);
}

#[test]
fn invalid_recipes_are_refused_with_a_reason() {
    let why = |text: &str| text.parse::<Recipe>().unwrap_err().to_string();
    assert_eq!(
        why("tours:3x3"),
        "`tours:3x3` is not a valid graph recipe: unknown graph `tours`; use kgraph-plane, ring, torus, grid, random, rmat, star or path"
    );
    for text in [
        "",
        ":",
        "torus",
        "torus:",
        "torus:3",
        "torus:x",
        "torus:3x",
        "torus:3x-3",
        "kgraph:5",
        "kgraph:5,3",
        "ring:5",
        "random:5",
        "rmat:3,",
        "star:,",
        "path:5,",
    ] {
        assert!(why(text).starts_with(&format!("`{text}` is not a valid graph recipe: ")), "{text}");
    }
    assert!(why("star:many").contains("`many` is not a number; a star is written `star:N`"));
    assert!(why("star:99999999999999999999").contains("too large"));
    assert!(why("rmat:9999999999,5").contains("too large"));
    assert!(why("star:5,weights=7").contains("weights are written `weights=A-B`"));
    assert!(why("star:5,weights=1-99999999999").contains("`99999999999` is too large"));
    assert!(why("star:5,weights=9-3").contains("no weight is from 9 to 3"));
    assert!(why("star:5,connected=1").contains("`connected=1` is not an option"));
    assert!(why("star:5,conected").contains("`conected` is not an option"));
    assert!(why("star:5,seed=x").contains("a seed is written `seed=S`"));
}

#[test]
fn an_earlier_name_of_the_ring_is_still_parsed() {
    let recipe: Recipe = "kgraph:1000,k=3,connected".parse().unwrap();
    assert_eq!(recipe.to_string(), "ring:1000,k=3,connected");
}

#[test]
fn a_recipe_may_have_spaces_and_underscores() {
    let recipe: Recipe = "ring:1_000, k=3, seed=1_0".parse().unwrap();
    assert_eq!(recipe, Recipe { seed: 10, ..Shape::KgraphRing { vertices: 1000, neighbours: 3 }.into() });
}

fn shapes() -> impl Strategy<Value = Shape> {
    let two = (any::<usize>(), any::<usize>());
    prop_oneof![
        two.prop_map(|(vertices, neighbours)| Shape::KgraphRing { vertices, neighbours }),
        two.prop_map(|(vertices, neighbours)| Shape::KgraphPlane { vertices, neighbours }),
        two.prop_map(|(width, height)| Shape::Torus { width, height }),
        two.prop_map(|(width, height)| Shape::Grid { width, height }),
        two.prop_map(|(vertices, edges)| Shape::Random { vertices, edges }),
        (any::<u32>(), any::<usize>()).prop_map(|(scale, edges)| Shape::Rmat { scale, edges }),
        any::<usize>().prop_map(|vertices| Shape::Star { vertices }),
        any::<usize>().prop_map(|vertices| Shape::Path { vertices }),
    ]
}

proptest! {
    #[test]
    fn a_recipe_survives_formatting_and_parsing(shape in shapes(), seed: u64, connected: bool, shuffled: bool, weights: Option<(u32, u32)>) {
        let weights = weights.map(|(a, b)| (a.min(b), a.max(b)));
        let recipe = Recipe { shape, seed, connected, shuffled, weights };
        prop_assert_eq!(recipe.to_string().parse::<Recipe>().unwrap(), recipe);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "(kgraph|kgraph-plane|ring|torus|random|rmat|star|path|[a-z]*)[:,x=0-9a-z_ -]{0,30}|\\PC*") {
        if let Ok(recipe) = text.parse::<Recipe>() {
            prop_assert_eq!(recipe.to_string().parse::<Recipe>().unwrap(), recipe);
        }
    }

    #[test]
    fn small_graphs_of_any_size_have_the_documented_properties(vertices in 1usize..60, k in 0usize..60, seed: u64, percent in 0usize..=100) {
        match generate::kgraph_ring(vertices, k) {
            Ok(graph) => {
                edges(&graph);
                prop_assert!(graph.iter().all(|(_, others)| others.len() == k || (k % 2 == 1 && others.len() + 1 == k)));
            }
            Err(error) => prop_assert_eq!(error, GenerateError::TooManyNeighbours { neighbours: k, vertices }),
        }
        if let Ok(graph) = generate::kgraph_plane(vertices, k, seed) {
            if k > 1 {
                check_regular(&graph, k);
            }
            prop_assert_eq!(components(&graph), 1);
        }
        let count = vertices * (vertices - 1) / 2 * percent / 100;
        prop_assert_eq!(edges(&generate::random(vertices, count, seed).unwrap()).len(), count);
        edges(&generate::torus(vertices % 7 + 1, k % 7 + 1).unwrap());
        edges(&generate::rmat(vertices as u32 % 8, 3 * k, seed).unwrap());
    }
}
