//! Any number of ranks, with messages of any delay, finds what one search finds.

use std::sync::Mutex;
use std::time::Duration;

use filch_dd::port::{Event, Package, Port};
use filch_dd::problems::bits::Words;
use filch_dd::problems::clique::Clique;
use filch_dd::problems::golomb::Golomb;
use filch_dd::problems::independent_set::{self, IndependentSet};
use filch_dd::problems::knapsack::{self, Kind};
use filch_dd::problems::{tsptw, unsplittable_flow};
use filch_dd::{Cost, Relaxation, SolveStatus, Solver, Width};
use filch_mpi::network::threads::Delays;
use filch_mpi::{Options, RunCheckpoint};
use serde::de::DeserializeOwned;
use serde::Serialize;

use crate::common::run;

pub(crate) fn graph() -> IndependentSet<Words<1>> {
    IndependentSet::new(independent_set::random(30, 200, 1, 3))
}

/// Runs with one to four ranks.
fn check_any_number_of_ranks<P>(problem: &P, width: usize, name: &str)
where
    P: Relaxation,
    P::State: Serialize + DeserializeOwned,
{
    let alone = Solver::new(problem).width(Width::Fixed(width)).solve().expect("a single search solves it");
    for ranks in 1..=4 {
        for seed in 0..3 {
            let case = format!("{name}, {ranks} ranks, seed {seed}");
            let delays = Delays::up_to(seed * 4, seed);
            let solved = run(problem, ranks, delays, width, |rank| Options {
                threads: 1 + (rank + seed as usize) % 2,
                ..Options::new(7)
            });
            assert_eq!(solved.status, alone.status, "{case}");
            assert_eq!(solved.bound, alone.bound, "{case}");
            assert_eq!(solved.best.map(|best| best.cost), alone.best.as_ref().map(|best| best.cost), "{case}");
            assert_eq!(solved.ranks.len(), ranks, "{case}");
            let given: u64 = solved.ranks.iter().map(|rank| rank.nodes_given).sum();
            let received: u64 = solved.ranks.iter().map(|rank| rank.nodes_received).sum();
            assert_eq!(given, received, "{case}");
            assert_eq!(solved.ranks.iter().map(|rank| rank.totals.explored).sum::<u64>(), solved.totals.explored);
        }
    }
}

#[test]
fn any_number_of_ranks_solves_knapsacks() {
    for (seed, kind) in [Kind::Uncorrelated, Kind::Weakly, Kind::Strongly, Kind::SubsetSum].into_iter().enumerate() {
        check_any_number_of_ranks(&knapsack::random(20, 60, kind, seed as u64), 3, "knapsack");
    }
}

#[test]
fn any_number_of_ranks_solves_independent_sets_and_cliques() {
    check_any_number_of_ranks(&graph(), 3, "independent set");
    let graph = independent_set::random(24, 500, 1, 5);
    check_any_number_of_ranks(&Clique::<Words<1>>::new(graph), 2, "clique");
}

#[test]
fn any_number_of_ranks_solves_tours_rulers_and_flows() {
    check_any_number_of_ranks(&tsptw::random(8, 50, 60, 1), 2, "tour");
    check_any_number_of_ranks(&Golomb::new(6).unwrap(), 3, "ruler");
    check_any_number_of_ranks(&unsplittable_flow::random(4, 3, 700, 3, 1), 3, "flow");
}

#[test]
fn any_number_of_ranks_solves_trivial_instances() {
    check_any_number_of_ranks(&Golomb::new(1).unwrap(), 10, "one mark");
    check_any_number_of_ranks(&knapsack::paper(), 100, "the knapsack of the paper");
    // No tour can meet these time windows.
    let tour = tsptw::read(b"3\n0 9 9\n9 0 9\n9 9 0\n0 100\n0 1\n0 1\n").expect("an instance without a valid tour");
    check_any_number_of_ranks(&tour, 3, "an impossible tour");
}

/// Returns the root of a problem, as a package.
pub(crate) fn root<P>(problem: &P) -> Vec<Package>
where
    P: Relaxation,
    P::State: Serialize + DeserializeOwned,
{
    let port = Port::new();
    port.stop();
    Solver::new(problem).port(&port).solve().expect("the search is stopped before its first node");
    let left = port.events(Duration::ZERO).into_iter().find_map(|event| match event {
        Event::Ended { left, .. } => Some(left),
        _ => None,
    });
    left.expect("a stopped search reports its open nodes")
}

/// Every rank starts with the root. So all find the same solutions at about the same time.
#[test]
fn a_solution_found_on_several_ranks_at_the_same_time_is_reported_once() {
    let problem = graph();
    let alone = Solver::new(&problem).solve().expect("a single search solves it").best.map(|best| best.cost);
    for seed in 0..5 {
        let reported: Mutex<Vec<Cost>> = Mutex::new(Vec::new());
        let packages: Vec<Package> = (0..3).flat_map(|_| root(&problem)).collect();
        let solved = run(&problem, 3, Delays::up_to(seed, seed), 3, |rank| Options {
            resume: (rank == 0).then(|| RunCheckpoint { packages: packages.clone(), ..RunCheckpoint::default() }),
            on_solution: Some(Box::new(|solution, _| reported.lock().unwrap().push(solution.cost))),
            ..Options::new(7)
        });
        assert_eq!((solved.status, solved.best.map(|best| best.cost)), (SolveStatus::Optimal, alone));
        assert!(solved.ranks.iter().all(|rank| rank.receipts > 0 && rank.totals.explored > 0));
        let reported = reported.into_inner().unwrap();
        assert!(reported.windows(2).all(|pair| pair[0] < pair[1]), "{reported:?}");
        assert_eq!(reported.last().copied(), alone);
    }
}

/// Every rank gets the root. So each has work, even if the others are faster.
#[test]
fn all_ranks_work_and_their_statistics_say_so() {
    let problem = IndependentSet::<Words<1>>::new(independent_set::random(40, 200, 1, 3));
    let packages: Vec<Package> = (0..3).flat_map(|_| root(&problem)).collect();
    let solved = run(&problem, 3, Delays::NONE, 2, |rank| Options {
        host: format!("host {rank}"),
        resume: (rank == 0).then(|| RunCheckpoint { packages: packages.clone(), ..RunCheckpoint::default() }),
        ..Options::new(7)
    });
    assert!(solved.transfers > 0);
    for (number, rank) in solved.ranks.iter().enumerate() {
        assert!(rank.totals.explored > 0, "rank {number} did nothing");
        assert_eq!((rank.host.as_str(), rank.threads), (format!("host {number}").as_str(), 1));
        assert!(number == 0 || rank.receipts > 0 && rank.bytes_received > 0);
        assert!(rank.messages_sent > 0 && rank.messages_received > 0 && rank.elapsed >= rank.idle);
    }
}
