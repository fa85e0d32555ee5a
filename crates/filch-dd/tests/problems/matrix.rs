//! Every problem through the solver, with every combination of settings.

use std::sync::LazyLock;

use filch_dd::problems::bits::Words;
use filch_dd::problems::clique::Clique;
use filch_dd::problems::golomb::Golomb;
use filch_dd::problems::independent_set::{self, IndependentSet};
use filch_dd::problems::knapsack::{self, Kind};
use filch_dd::problems::{tsptw, unsplittable_flow, Instance};
use filch_dd::{Cost, Cutset, Dominance, SolveStatus, Solver, Width};

use super::brute;
use super::models::{small_graph, small_network, small_sack, small_tour};

/// Adds the dominance of a problem to a search.
///
/// Problems without dominance add nothing, and are not searched twice.
type Also<'a, P> = Option<fn(Solver<'a, P>) -> Solver<'a, P>>;

fn dominance<'a, P: Instance + Dominance>() -> Also<'a, P> {
    Some(|solver| solver.dominance())
}

/// A pool of two threads for all tests; they may share it.
fn pool() -> &'static filch::Pool {
    static POOL: LazyLock<filch::Pool> = LazyLock::new(|| filch::Pool::builder().threads(2).build().unwrap());
    &POOL
}

/// Searches with all cutsets and widths, with and without thresholds and dominance.
///
/// Three of eleven searches use two threads, and most of these run on an existing pool, because
/// threads are expensive to start.
fn found_in_every_way<'a, P: Instance>(problem: &'a P, expected: Option<Cost>, also: Also<'a, P>, name: &str) {
    let widths = [1, 2, 3, 10].map(Width::Fixed).into_iter().chain([Width::default()]);
    for (at, width) in widths.enumerate() {
        for cutset in [Cutset::LastExactLayer, Cutset::Frontier] {
            for cache in [false, true] {
                for dominated in [false, true] {
                    if dominated && also.is_none() {
                        continue;
                    }
                    let way = at * 8
                        + usize::from(cutset == Cutset::Frontier) * 4
                        + usize::from(cache) * 2
                        + usize::from(dominated);
                    let turn = (way + name.bytes().map(usize::from).sum::<usize>()) % 11;
                    let threads = if turn < 3 { 2 } else { 1 };
                    let what =
                        format!("{name}: {width:?} {cutset:?} cache {cache} dominance {dominated} threads {threads}");
                    let mut solver = Solver::new(problem).width(width).cutset(cutset).cache(cache).threads(threads);
                    if let (true, Some(also)) = (dominated, also) {
                        solver = also(solver);
                    }
                    if turn < 2 {
                        solver = solver.pool(pool());
                    }
                    let outcome = solver.solve().unwrap_or_else(|error| panic!("{what}: {error}"));
                    let cost = outcome.best.as_ref().map(|best| best.cost);
                    assert_eq!((cost, outcome.bound), (expected, expected), "{what}");
                    let status = if expected.is_some() { SolveStatus::Optimal } else { SolveStatus::Infeasible };
                    assert_eq!(outcome.status, status, "{what}");
                    if let Some(best) = outcome.best {
                        let answer = problem.answer(&best.decisions).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
                        assert_eq!(problem.check(&answer), Ok(best.cost), "{what}: {answer}");
                    }
                }
            }
        }
    }
}

#[test]
fn sacks_are_packed_best() {
    for seed in 0..80 {
        let sack = small_sack(seed);
        found_in_every_way(&sack, Some(brute::knapsack(&sack)), dominance(), &format!("sack {seed}"));
    }
}

#[test]
fn the_sack_of_the_paper_is_packed_best() {
    found_in_every_way(&knapsack::paper(), Some(15), dominance(), "paper");
    let best = Solver::new(&knapsack::paper()).solve().unwrap().best.unwrap();
    assert_eq!(knapsack::paper().answer(&best.decisions).unwrap().to_string(), "1 3");
}

/// Returns the best profit by dynamic programming over all capacities.
///
/// It is for more items than can be tried.
fn by_table(sack: &knapsack::Knapsack) -> Cost {
    let mut best = vec![0; sack.capacity() as usize + 1];
    for item in sack.items() {
        for capacity in (item.weight as usize..best.len()).rev() {
            best[capacity] = best[capacity].max(best[capacity - item.weight as usize] + item.profit);
        }
    }
    best[best.len() - 1]
}

#[test]
fn larger_sacks_are_packed_best() {
    for seed in 0..4 {
        let kind = [Kind::Uncorrelated, Kind::Weakly, Kind::Strongly, Kind::SubsetSum][seed as usize];
        let sack = knapsack::random(25, 60, kind, seed);
        found_in_every_way(&sack, Some(by_table(&sack)), dominance(), &format!("large sack {seed}"));
    }
}

#[test]
fn the_heaviest_independent_sets_and_cliques_are_found() {
    for seed in 0..60 {
        let graph = small_graph(seed);
        let (set, clique) = (Some(brute::independent_set(&graph)), Some(brute::clique(&graph)));
        let name = format!("graph {seed}");
        found_in_every_way(&IndependentSet::<Words<1>>::new(graph.clone()), set, None, &name);
        found_in_every_way(&IndependentSet::<Words<1>>::new(graph.clone()).with_clique_cover(), set, None, &name);
        found_in_every_way(&Clique::<Words<2>>::new(graph), clique, None, &name);
    }
}

#[test]
fn the_heaviest_of_larger_independent_sets_are_found() {
    for seed in 0..6 {
        let graph = independent_set::random(18, 150 * (1 + seed as u32), [1, 9][seed as usize % 2], seed);
        let expected = Some(brute::independent_set(&graph));
        found_in_every_way(&IndependentSet::<Words<1>>::new(graph), expected, None, &format!("large graph {seed}"));
    }
}

#[test]
fn the_shortest_tours_are_found() {
    for seed in 0..80 {
        let tour = small_tour(seed);
        found_in_every_way(&tour, brute::tsptw(&tour), dominance(), &format!("tour {seed}"));
    }
    for seed in 0..4 {
        let tour = tsptw::random(8, 50, 60, seed);
        found_in_every_way(&tour, brute::tsptw(&tour), dominance(), &format!("large tour {seed}"));
    }
}

#[test]
fn the_shortest_rulers_are_found() {
    for (marks, length) in [0, 1, 3, 6, 11, 17].into_iter().enumerate() {
        found_in_every_way(&Golomb::new(marks + 1).unwrap(), Some(length), None, &format!("{} marks", marks + 1));
    }
}

#[test]
fn the_most_valuable_flows_are_found() {
    for seed in 0..80 {
        let network = small_network(seed);
        let expected = Some(brute::unsplittable_flow(&network));
        found_in_every_way(&network, expected, dominance(), &format!("network {seed}"));
    }
}

/// Too large for enumeration: all settings must agree.
#[test]
fn all_settings_agree_on_larger_flows() {
    for seed in 0..4 {
        let network = unsplittable_flow::random(4, 3, 700, 3, seed);
        let first = Solver::new(&network).solve().unwrap().best.unwrap().cost;
        found_in_every_way(&network, Some(first), dominance(), &format!("large network {seed}"));
    }
}
