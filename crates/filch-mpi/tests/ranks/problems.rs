//! Any number of ranks, with messages of any delay, finds what one search finds.

use std::sync::Mutex;
use std::time::Duration;

use filch::explore::Cancel;
use filch_dd::port::{Event, Package, Port};
use filch_dd::problems::bits::Words;
use filch_dd::problems::clique::Clique;
use filch_dd::problems::golomb::Golomb;
use filch_dd::problems::independent_set::{self, IndependentSet};
use filch_dd::problems::knapsack::{self, Kind};
use filch_dd::problems::{tsptw, unsplittable_flow, Instance};
use filch_dd::{Cost, ExploredNode, Relaxation, SolveStatus, Solver, Width};
use filch_mpi::network::{Mpi, Network};
use filch_mpi::{solve, Options, RunCheckpoint, Solved};
use serde::de::DeserializeOwned;
use serde::Serialize;

use super::delayed::DelayedNetwork;
use super::Case;

pub(super) const CASES: &[Case] = &[
    ("knapsacks", knapsacks),
    ("independent_sets_and_cliques", sets),
    ("tours", tours),
    ("rulers", rulers),
    ("flows", flows),
    ("trivial_instances_and_ranks_without_work", trivial_instances),
    ("a_solution_found_on_all_ranks_at_the_same_time_is_reported_once", found_everywhere),
    ("the_statistics_of_each_rank_are_correct", statistics),
    ("a_run_stopped_by_any_rank_resumes_from_its_last_checkpoint", stopped_and_resumed),
    ("a_rank_with_another_instance_is_named", another_instance),
];

/// Returns what one search finds.
fn alone<P: Relaxation>(problem: &P, width: usize) -> (SolveStatus, Option<Cost>) {
    let outcome = Solver::new(problem).width(Width::Fixed(width)).solve().expect("a single search solves it");
    (outcome.status, outcome.best.map(|best| best.cost))
}

/// Returns the result of rank 0, and `None` on other ranks. All ranks meet again at the end.
fn run<P>(network: &mut Mpi, problem: &P, width: usize, delayed: (u64, u64), options: Options<'_>) -> Option<Solved>
where
    P: Relaxation,
    P::State: Serialize + DeserializeOwned,
{
    let (longest, seed) = delayed;
    let mut delayed = DelayedNetwork::new(network, longest, seed);
    let solved = solve(&mut delayed, problem, options, |solver| solver.width(Width::Fixed(width)));
    let solved = solved.unwrap_or_else(|failure| panic!("{failure}"));
    network.meet();
    assert_eq!(solved.is_some(), network.rank() == 0);
    solved
}

/// Runs with messages on time, and with some that are late.
fn check_against_one_search<P: Instance>(network: &mut Mpi, problem: &P, width: usize) {
    for seed in 0..3 {
        let threads = 1 + (network.rank() + seed as usize) % 2;
        let solved = run(network, problem, width, (seed * 10, seed), Options { threads, ..Options::new(7) });
        let Some(solved) = solved else { continue };
        let cost = solved.best.as_ref().map(|best| best.cost);
        assert_eq!((solved.status, cost), alone(problem, width), "seed {seed}");
        if let Some(best) = &solved.best {
            let answer = problem.answer(&best.decisions).unwrap();
            assert_eq!(problem.check(&answer), Ok(best.cost), "seed {seed}");
        }
        let given: u64 = solved.ranks.iter().map(|rank| rank.nodes_given).sum();
        let received: u64 = solved.ranks.iter().map(|rank| rank.nodes_received).sum();
        assert_eq!(given, received, "seed {seed}");
        assert_eq!(solved.ranks.len(), network.ranks());
    }
}

/// Hard enough that all ranks get some work.
fn graph() -> IndependentSet<Words<1>> {
    IndependentSet::new(independent_set::random(40, 200, 1, 3))
}

fn knapsacks(network: &mut Mpi) {
    for (seed, kind) in [Kind::Uncorrelated, Kind::Weakly, Kind::Strongly, Kind::SubsetSum].into_iter().enumerate() {
        check_against_one_search(network, &knapsack::random(18, 60, kind, seed as u64), 3);
    }
}

fn sets(network: &mut Mpi) {
    check_against_one_search(network, &graph(), 3);
    check_against_one_search(network, &Clique::<Words<1>>::new(independent_set::random(24, 500, 1, 5)), 2);
}

fn tours(network: &mut Mpi) {
    check_against_one_search(network, &tsptw::random(8, 50, 60, 1), 2);
}

fn rulers(network: &mut Mpi) {
    check_against_one_search(network, &Golomb::new(6).unwrap(), 3);
}

fn flows(network: &mut Mpi) {
    check_against_one_search(network, &unsplittable_flow::random(4, 3, 700, 3, 1), 3);
}

fn trivial_instances(network: &mut Mpi) {
    check_against_one_search(network, &Golomb::new(1).unwrap(), 10);
    check_against_one_search(network, &knapsack::paper(), 100);
    // No tour can meet these time windows.
    let tour = tsptw::read(b"3\n0 9 9\n9 0 9\n9 9 0\n0 100\n0 1\n0 1\n").expect("an instance without a valid tour");
    check_against_one_search(network, &tour, 3);
    // A run that was complete when it was left ends at once.
    let best = Solver::new(&knapsack::paper()).solve().unwrap().best;
    let options =
        Options { resume: Some(RunCheckpoint { best: best.clone(), ..RunCheckpoint::default() }), ..Options::new(7) };
    if let Some(solved) = run(network, &knapsack::paper(), 100, (5, 1), options) {
        assert_eq!((solved.status, solved.best, solved.totals.explored), (SolveStatus::Optimal, best, 0));
    }
}

/// Returns the root of a problem, as a package.
fn root(problem: &IndependentSet<Words<1>>) -> Vec<Package> {
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
fn found_everywhere(network: &mut Mpi) {
    let problem = graph();
    let packages: Vec<Package> = (0..network.ranks()).flat_map(|_| root(&problem)).collect();
    for seed in 0..3 {
        let reported: Mutex<Vec<Cost>> = Mutex::default();
        let options = Options {
            resume: (network.rank() == 0)
                .then(|| RunCheckpoint { packages: packages.clone(), ..RunCheckpoint::default() }),
            on_solution: Some(Box::new(|solution, _| reported.lock().unwrap().push(solution.cost))),
            ..Options::new(7)
        };
        let Some(solved) = run(network, &problem, 3, (seed * 10, seed), options) else { continue };
        let best = solved.best.map(|best| best.cost);
        assert_eq!((solved.status, best), alone(&problem, 3));
        let reported = reported.into_inner().unwrap();
        assert!(reported.is_sorted_by(|one, next| one < next) && reported.last().copied() == best, "{reported:?}");
    }
}

/// Every rank gets the root. So each has work, even if the others are faster.
fn statistics(network: &mut Mpi) {
    let host = format!("host {}", network.rank());
    let problem = graph();
    let packages = (0..network.ranks()).flat_map(|_| root(&problem)).collect();
    let resume = (network.rank() == 0).then(|| RunCheckpoint { packages, ..RunCheckpoint::default() });
    let Some(solved) = run(network, &problem, 2, (0, 1), Options { host, resume, ..Options::new(7) }) else { return };
    assert_eq!(solved.totals.explored, solved.ranks.iter().map(|rank| rank.totals.explored).sum::<u64>());
    for (number, rank) in solved.ranks.iter().enumerate() {
        assert!(rank.totals.explored > 0, "rank {number} did nothing");
        assert_eq!(rank.host, format!("host {number}"));
        assert!(rank.receipts > 0 && rank.bytes_received > 0, "rank {number} received nothing");
        assert!(rank.elapsed >= rank.idle);
    }
}

/// Each rank in turn stops the run after it has processed some nodes. Then the run is resumed.
fn stopped_and_resumed(network: &mut Mpi) {
    let (rank, ranks) = (network.rank(), network.ranks());
    // Harder than the others: all messages that lead to a stop are late, and the run must not be
    // over by then.
    let problem = IndependentSet::<Words<1>>::new(independent_set::random(64, 200, 1, 3));
    let mut left: Option<RunCheckpoint> = None;
    let mut stops = 0;
    loop {
        let cancel = Cancel::new();
        let written = Mutex::new(None);
        // Each rank stops the run in turn; the last run is not stopped.
        let stopper = stops % ranks;
        let stops_here = rank == stopper && stops < 4;
        let mut explored = 0;
        let enough = |_: &ExploredNode| {
            explored += 1;
            if stops_here && explored == 2 {
                cancel.cancel();
            }
        };
        let options = Options {
            resume: left.clone().filter(|_| rank == 0),
            checkpoint_every: Some(Duration::ZERO),
            cancel: Some(cancel.clone()),
            on_checkpoint: Some(Box::new(|left| *written.lock().unwrap() = Some(left))),
            ..Options::new(7)
        };
        let mut delayed = DelayedNetwork::new(network, 3, stops as u64);
        let solved = solve(&mut delayed, &problem, options, |solver| solver.width(Width::Fixed(3)).on_explored(enough));
        let solved = solved.unwrap_or_else(|failure| panic!("{failure}"));
        network.meet();
        stops += 1;
        if let Some(solved) = &solved {
            let last: RunCheckpoint = written.into_inner().unwrap().expect("a run writes a last checkpoint");
            assert!(last.last && last.best == solved.best);
            assert!(
                solved.status.is_proven() || solved.totals.explored >= 2,
                "the run was stopped before its first nodes"
            );
            assert_eq!(last.packages.is_empty(), solved.status.is_proven());
            left = Some(last);
        }
        // Counted on every rank, as ranks other than 0 do not know the result.
        if stops > 4 {
            if let Some(solved) = solved {
                assert_eq!((solved.status, solved.best.map(|best| best.cost)), alone(&problem, 3));
            }
            return;
        }
    }
}

fn another_instance(network: &mut Mpi) {
    let (rank, ranks) = (network.rank(), network.ranks());
    if ranks > 1 {
        let identity = if rank == ranks - 1 { 8 } else { 7 };
        let failure = solve(network, &graph(), Options::new(identity), |solver| solver).unwrap_err().to_string();
        assert!(failure.contains(&format!("rank {} is to solve something else", ranks - 1)), "{failure}");
    }
}
