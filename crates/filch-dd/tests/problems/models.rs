//! Each model by itself: all its paths to the end, and the laws.

use std::fmt::Debug;

use filch_dd::check;
use filch_dd::problems::bits::{ManyWords, Words};
use filch_dd::problems::clique::Clique;
use filch_dd::problems::golomb::Golomb;
use filch_dd::problems::independent_set::{self, IndependentSet};
use filch_dd::problems::knapsack::{self, Item, Kind, Knapsack};
use filch_dd::problems::tsptw::{self, Tsptw, Window};
use filch_dd::problems::unsplittable_flow::{self, Network};
use filch_dd::problems::{Instance, WithInstance};
use filch_dd::{Cost, Decision, Dominance, Sense};

use super::brute;

/// Returns the best cost of all paths from the initial state to the end.
///
/// Each path must be an answer, and cost what the answer costs.
pub(crate) fn best_by_enumeration<P: Instance>(problem: &P) -> Option<Cost> {
    fn go<P: Instance>(problem: &P, state: &P::State, cost: Cost, taken: &mut Vec<Decision>, best: &mut Option<Cost>) {
        let Some(variable) = problem.next_variable(taken.len(), std::iter::once(state)) else {
            let answer = problem.answer(taken).unwrap();
            assert_eq!(problem.check(&answer), Ok(cost), "{answer}");
            *best = Some(match (*best, problem.sense()) {
                (None, _) => cost,
                (Some(best), Sense::Maximise) => best.max(cost),
                (Some(best), Sense::Minimise) => best.min(cost),
            });
            return;
        };
        let mut values = Vec::new();
        problem.domain(variable, state, |value| values.push(value));
        for value in values {
            let decision = Decision { variable, value };
            let next = problem.transition(state, decision);
            let cost = cost + problem.cost(state, &next, decision);
            taken.push(decision);
            go(problem, &next, cost, taken, best);
            taken.pop();
        }
    }
    let mut best = None;
    go(problem, &problem.initial_state(), problem.initial_cost(), &mut Vec::new(), &mut best);
    best
}

/// Checks that the model finds what enumeration finds, and keeps the laws.
fn holds<P: Instance>(problem: &P, expected: Option<Cost>, seed: u64)
where
    P::State: Debug,
{
    assert_eq!(best_by_enumeration(problem), expected, "seed {seed}");
    for walk in 0..4 {
        check::laws(problem, seed * 4 + walk).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
    }
}

fn dominance_holds<P: Instance + Dominance>(problem: &P, seed: u64)
where
    P::State: Debug,
{
    for walk in 0..4 {
        check::laws_of_dominance(problem, seed * 4 + walk).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
    }
}

pub(crate) fn small_sack(seed: u64) -> Knapsack {
    let kind = [Kind::Uncorrelated, Kind::Weakly, Kind::Strongly, Kind::SubsetSum][seed as usize % 4];
    let sack = knapsack::random(seed as usize % 11, 1 + seed as i64 % 30, kind, seed);
    // Some instances have items that weigh nothing, are worth nothing, or do not fit at all.
    let mut items = sack.items().to_vec();
    if seed % 3 == 0 {
        items.iter_mut().take(2).for_each(|item| item.weight = 0);
        items.extend([Item { profit: 0, weight: 1 }, Item { profit: 1000, weight: 10_000 }]);
    }
    Knapsack::new(sack.capacity(), items).unwrap()
}

#[test]
fn the_best_selection_for_a_sack_is_found() {
    for seed in 0..200 {
        let sack = small_sack(seed);
        holds(&sack, Some(brute::knapsack(&sack)), seed);
        dominance_holds(&sack, seed);
    }
    assert_eq!(best_by_enumeration(&knapsack::paper()), Some(15));
}

#[test]
fn the_bound_of_a_sack_does_not_overflow_with_large_numbers() {
    let large = Knapsack::new(i64::MAX, vec![Item { profit: 1 << 60, weight: 1 << 60 }; 2]).unwrap();
    holds(&large, Some(1 << 61), 0);
    let cut = Knapsack::new((1 << 60) - 1, vec![Item { profit: 1 << 60, weight: 1 << 60 }; 2]).unwrap();
    holds(&cut, Some(0), 0);
    assert_eq!(filch_dd::Relaxation::rough_bound(&cut, 0, &((1 << 60) - 1)), Some((1 << 60) - 1));
    assert!(Knapsack::new(5, vec![Item { profit: 1 << 61, weight: 1 }; 2]).is_err());
    assert!(Knapsack::new(5, vec![Item { profit: 1, weight: i64::MAX }; 2]).is_err());
    assert!(Knapsack::new(-1, Vec::new()).is_err());
}

pub(crate) fn small_graph(seed: u64) -> independent_set::Graph {
    independent_set::random(seed as usize % 11, 100 * (seed as u32 % 10), [1, 1, 20][seed as usize % 3], seed)
}

#[test]
fn the_heaviest_independent_set_is_found_with_sets_of_each_kind() {
    for seed in 0..200 {
        let graph = small_graph(seed);
        let expected = Some(brute::independent_set(&graph));
        holds(&IndependentSet::<Words<1>>::new(graph.clone()), expected, seed);
        holds(&IndependentSet::<Words<3>>::new(graph.clone()).with_clique_cover(), expected, seed);
        holds(&IndependentSet::<ManyWords>::new(graph), expected, seed);
    }
}

#[test]
fn the_heaviest_clique_is_found() {
    for seed in 0..200 {
        let graph = small_graph(seed);
        let expected = Some(brute::clique(&graph));
        holds(&Clique::<Words<1>>::new(graph.clone()), expected, seed);
        holds(&Clique::<Words<4>>::new(graph).with_clique_cover(), expected, seed);
    }
}

#[test]
fn the_size_of_the_states_fits_the_graph() {
    struct Size;
    impl WithInstance for Size {
        type Output = usize;
        fn with<P: Instance>(self, problem: &P) -> usize {
            assert_eq!(problem.cost_limit(), Some(problem.variables() as i64));
            std::mem::size_of::<P::State>()
        }
    }
    for (vertices, bytes) in [(0, 8), (64, 8), (65, 16), (171, 24), (200, 32), (300, 64), (1000, 128), (1100, 16)] {
        let graph = independent_set::random(vertices, 0, 1, 0);
        assert_eq!(graph.clone().independent_set(Size), bytes);
        assert_eq!(graph.clique(Size), bytes);
    }
}

pub(crate) fn small_tour(seed: u64) -> Tsptw {
    let places = 1 + seed as usize % 6;
    let tour = tsptw::random(places, 20, 5 * (seed as i64 % 9), seed);
    // Some instances have distances that break every rule, some open late, some have no tour.
    let mut distances: Vec<i64> = (0..places * places).map(|at| tour.distance(at / places, at % places)).collect();
    let mut windows: Vec<Window> = (0..places).map(|place| tour.window(place)).collect();
    if seed % 3 == 0 {
        distances.iter_mut().enumerate().for_each(|(at, distance)| *distance = (*distance * (at as i64 + 3)) % 23);
    }
    if seed % 4 == 0 {
        windows[0].opens = windows[0].closes / 5;
    }
    if seed % 5 != 0 {
        windows.iter_mut().for_each(|window| window.closes += seed as i64 % 40);
    }
    Tsptw::new(distances, windows, 0).unwrap()
}

#[test]
fn the_shortest_tour_is_found_or_there_is_none() {
    let mut feasible = 0;
    for seed in 0..300 {
        let tour = small_tour(seed);
        let expected = brute::tsptw(&tour);
        feasible += u32::from(expected.is_some());
        holds(&tour, expected, seed);
        dominance_holds(&tour, seed);
    }
    // Both kinds occur.
    assert!((150..290).contains(&feasible), "{feasible}");
}

#[test]
fn the_shortest_ruler_is_found() {
    for (marks, length) in [0, 1, 3, 6, 11, 17].into_iter().enumerate() {
        let ruler = Golomb::new(marks + 1).unwrap();
        assert_eq!(brute::golomb(marks + 1), length);
        for seed in 0..5 {
            holds(&ruler, Some(length), seed);
        }
    }
    for seed in 0..100 {
        check::laws(&Golomb::new(7 + seed as usize % 10).unwrap(), seed).unwrap_or_else(|broken| panic!("{broken}"));
    }
    assert!(Golomb::new(0).is_err() && Golomb::new(17).is_err());
}

pub(crate) fn small_network(seed: u64) -> Network {
    // No more flows than can be enumerated: some arcs of the ordinary nodes are removed.
    let network = unsplittable_flow::random(3, 2 + seed as usize % 2, [0, 500, 1000][seed as usize % 3], 3, seed);
    let mut arcs = network.arcs().to_vec();
    let mut tries = arcs.iter().map(|arc| u64::from(arc.capacity) + 1).product::<u64>();
    let mut nodes = network.nodes().to_vec();
    while tries > 20_000 {
        let arc = arcs.swap_remove(seed as usize % arcs.len());
        tries /= u64::from(arc.capacity) + 1;
    }
    for (at, node) in nodes.iter_mut().enumerate() {
        let (into, out) = (arcs.iter().any(|arc| arc.to == at), arcs.iter().any(|arc| arc.from == at));
        node.chosen &= into && out;
    }
    Network::new(nodes, arcs).unwrap()
}

#[test]
fn the_most_valuable_flow_is_found() {
    for seed in 0..200 {
        let network = small_network(seed);
        holds(&network, Some(brute::unsplittable_flow(&network)), seed);
        dominance_holds(&network, seed);
    }
}

#[test]
fn a_chosen_node_changes_the_optimum() {
    // Two arcs meet and two leave: if the flow is merged and split again, more arrives.
    let text =
        |chosen: &str| format!("p flow 5 4\ns 1 5\ns 2 1\n{chosen}t 4 1\nt 5 1\na 1 3 5\na 2 3 1\na 3 4 3\na 3 5 3\n");
    let best = |chosen: &str| best_by_enumeration(&unsplittable_flow::read(text(chosen).as_bytes()).unwrap());
    assert_eq!((best(""), best("u 3\n")), (Some(6), Some(4)));
}

#[test]
fn invalid_answers_are_refused_with_a_reason() {
    let sack = knapsack::paper();
    for (items, reason) in [
        (vec![0, 0], "item 1 is taken twice"),
        (vec![0, 1, 2], "the items weigh 9, but the sack carries 7"),
        (vec![4], "item 5 is taken, but there are only 4"),
    ] {
        assert_eq!(sack.check(&knapsack::Answer(items)).unwrap_err().to_string(), reason);
    }
    let decide = |variable, value| Decision { variable: filch_dd::Variable(variable), value };
    for (decisions, reason) in [
        (vec![decide(0, 1), decide(0, 0)], "x0 is decided twice"),
        (vec![decide(4, 1)], "x4 is decided, but there are only 4 variables"),
        (vec![decide(1, 2)], "x1 is neither 0 nor 1"),
    ] {
        assert_eq!(sack.answer(&decisions).unwrap_err().to_string(), reason);
    }
    let path = IndependentSet::<Words<1>>::new(independent_set::read(b"p edge 3 2\ne 1 2\ne 2 3\n").unwrap());
    for (vertices, reason) in [
        (vec![0, 1], "vertices 1 and 2 are both taken, but an edge joins them"),
        (vec![2, 2], "vertex 3 is taken twice"),
        (vec![3], "vertex 4 is taken, but there are only 3"),
    ] {
        assert_eq!(path.check(&independent_set::Answer(vertices)).unwrap_err().to_string(), reason);
    }
}
