//! Searches find what enumeration finds, with all settings.

mod tiny;

use filch_dd::master::queue::{Bulk, ChaseLev, Locked, Queue};
use filch_dd::problems::bits::Words;
use filch_dd::problems::independent_set;
use filch_dd::{Cutset, Relaxation, Sense, SolveStatus, Solver, Width};
use tiny::{brute_force, IndependentSet, Jobs, Knapsack, TwoSacks};

/// Every cutset, several widths, thresholds or not, dominance or not, one thread and two.
fn holds_in_every_way<P: Relaxation>(problem: &P, name: &str, dominance: Option<fn(Solver<'_, P>) -> Solver<'_, P>>) {
    let expected = brute_force(problem);
    for cutset in [Cutset::LastExactLayer, Cutset::Frontier] {
        for width in [1, 2, 3, 5, 8] {
            for choice in 0..8 {
                let (cache, dominated, threads) = (choice & 1 != 0, choice & 2 != 0, 1 + (choice >> 2));
                // Threads are expensive, and differ little from one thread.
                if threads == 2 && width % 2 == 1 || dominated && dominance.is_none() {
                    continue;
                }
                let what = format!(
                    "{name}, {cutset:?}, width {width}, cache {cache}, dominance {dominated}, {threads} threads"
                );
                let mut reported = Vec::new();
                let mut solver = Solver::new(problem)
                    .width(Width::Fixed(width))
                    .cutset(cutset)
                    .cache(cache)
                    .threads(threads)
                    .node_limit(100_000)
                    .on_incumbent(|incumbent| reported.push(incumbent.cost));
                if let (true, Some(dominance)) = (dominated, dominance) {
                    solver = dominance(solver);
                }
                let outcome = solver.solve().unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_eq!(outcome.best.as_ref().map(|best| best.cost), expected, "{what}");
                assert_eq!(outcome.bound, expected, "{what}");
                let status = if expected.is_some() { SolveStatus::Optimal } else { SolveStatus::Infeasible };
                assert_eq!(outcome.status, status, "{what}");
                assert_eq!(reported.last().copied(), expected, "{what}");
                let better = |pair: &[i64]| match problem.sense() {
                    Sense::Maximise => pair[0] < pair[1],
                    Sense::Minimise => pair[0] > pair[1],
                };
                assert!(reported.windows(2).all(better), "{what}: {reported:?}");
                if let Some(best) = outcome.best {
                    assert_eq!(best.decisions.len(), problem.variables(), "{what}");
                }
            }
        }
    }
}

#[test]
fn knapsacks_are_packed_best() {
    for seed in 0..60 {
        let problem = Knapsack::random(seed, seed % 2 == 1, seed % 3 > 0);
        holds_in_every_way(&problem, &format!("knapsack {seed}"), Some(|solver| solver.dominance()));
    }
}

/// States can be reached in many ways, and stay for several layers. So the cache is used often.
#[test]
fn knapsacks_with_two_weights_are_packed_best() {
    // Regression: a node that stays, and whose copy is in the cutset, was wrongly marked as
    // explored.
    let known = TwoSacks { capacity: (12, 6), items: vec![(4, 3, 4), (0, 5, 2), (0, 1, 3), (5, 3, 4)], rough: false };
    assert_eq!(brute_force(&known), Some(8));
    holds_in_every_way(&known, "two sacks", Some(|solver| solver.dominance()));
    for seed in 0..150 {
        let problem = TwoSacks::random(seed, seed % 2 == 1);
        holds_in_every_way(&problem, &format!("two sacks {seed}"), Some(|solver| solver.dominance()));
    }
}

#[test]
fn independent_sets_are_the_heaviest() {
    for seed in 0..60 {
        let problem = IndependentSet::random(seed, seed % 2 == 1, seed % 3 > 0);
        holds_in_every_way(&problem, &format!("independent set {seed}"), None);
    }
}

#[test]
fn jobs_have_the_least_lateness_and_impossible_ones_are_infeasible() {
    let mut impossible = 0;
    for seed in 0..60 {
        let problem = Jobs::random(seed, seed % 2 == 1, seed % 3 > 0);
        impossible += u32::from(brute_force(&problem).is_none());
        holds_in_every_way(&problem, &format!("jobs {seed}"), Some(|solver| solver.dominance()));
    }
    assert!(impossible >= 3, "only {impossible} instances were impossible");
}

/// Two threads on this kind of queue prove `expected`.
fn holds_on<Q: Queue>(problem: &impl Relaxation, expected: Option<i64>) {
    let outcome = Solver::new(problem).width(Width::Fixed(4)).threads(2).solve_on::<Q>().expect("a valid problem");
    assert_eq!((outcome.status, outcome.best.map(|best| best.cost)), (SolveStatus::Optimal, expected));
    assert_eq!(outcome.statistics.workers.len(), 2);
}

#[test]
fn every_kind_of_queue_proves_the_same_optimum() {
    for seed in 1..6 {
        let problem = independent_set::IndependentSet::<Words<1>>::new(independent_set::random(60, 200, 9, seed));
        let alone = Solver::new(&problem).solve().expect("a valid problem");
        let expected = alone.best.map(|best| best.cost);
        holds_on::<Bulk>(&problem, expected);
        holds_on::<ChaseLev>(&problem, expected);
        holds_on::<Locked>(&problem, expected);
    }
}
