//! Searches with checkpoints: stopped anywhere and resumed, they get the same result.

use std::cell::Cell;
use std::fs;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::Duration;

use filch::explore::Cancel;
use filch_dd::checkpoint::{Checkpoint, CheckpointOptions, CheckpointedOutcome, Identity};
use filch_dd::port::Package;
use filch_dd::problems::bits::Words;
use filch_dd::problems::independent_set::{self, IndependentSet};
use filch_dd::problems::{golomb, knapsack, tsptw, Instance};
use filch_dd::{Outcome, SolveError, SolveStatus, Solver, Width};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::counting::alone;
use crate::damage::{damage, damages};

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("search");
    (folder, path)
}

fn identity() -> Identity {
    Identity::new("a problem", "its instance")
}

/// Returns options that resume from the file, or start a new search.
fn options(path: &Path) -> CheckpointOptions<'static> {
    let options = CheckpointOptions::new(identity()).file(path);
    if path.exists() {
        options.resume(Checkpoint::read_for(path, &identity()).unwrap()).unwrap()
    } else {
        options
    }
}

fn cost(outcome: &Outcome) -> Option<i64> {
    assert!(outcome.status.is_proven(), "{:?}", outcome.status);
    outcome.best.as_ref().map(|best| best.cost)
}

/// Uses diagrams so narrow that small instances take many.
fn narrow<P: Instance>(problem: &P) -> Solver<'_, P> {
    Solver::new(problem).width(Width::Fixed(3))
}

/// Explores a few nodes at a time, each time from the file.
///
/// The number of threads differs each time.
fn in_pieces<P: Instance>(problem: &P, nodes: u64) -> (CheckpointedOutcome, u64) {
    let (_folder, path) = folder();
    for piece in 1.. {
        let before = path.exists().then(|| Checkpoint::read(&path).unwrap());
        let solver = narrow(problem).threads(1 + (piece % 3) as usize).node_limit(nodes);
        let checkpointed = solver.solve_with_checkpoints(options(&path)).unwrap();
        assert!(checkpointed.write_error.is_none() && checkpointed.written > 0);
        let (after, outcome) = (Checkpoint::read(&path).unwrap(), &checkpointed.outcome);
        assert_eq!(after.best, outcome.best);
        assert_eq!(after.totals.explored, outcome.statistics.explored);
        assert_eq!(after.elapsed, outcome.statistics.elapsed);
        assert_eq!(after.is_over(), outcome.status.is_proven());
        if let Some(before) = before {
            assert!(after.elapsed >= before.elapsed && outcome.statistics.elapsed >= before.elapsed);
            assert!(outcome.statistics.explored <= before.totals.explored + nodes);
        }
        if checkpointed.outcome.status.is_proven() {
            return (checkpointed, piece);
        }
        assert_eq!(checkpointed.outcome.status, SolveStatus::NodeLimit);
    }
    unreachable!("the loop over pieces is endless")
}

fn same_in_pieces<P: Instance>(problem: &P, pieces: u64) {
    let whole = narrow(problem).solve().unwrap();
    let (checkpointed, count) = in_pieces(problem, whole.statistics.explored / pieces + 1);
    assert_eq!(cost(&checkpointed.outcome), cost(&whole));
    assert!(count > 1, "{} nodes are too few for several pieces", whole.statistics.explored);
    let answer = checkpointed.outcome.best.map(|best| problem.answer(&best.decisions).unwrap());
    assert_eq!(answer.map(|answer| problem.check(&answer).unwrap()), cost(&whole));
}

fn graph() -> IndependentSet<Words<4>> {
    IndependentSet::new(independent_set::random(60, 200, 9, 3))
}

#[test]
fn a_search_in_pieces_finds_the_same_optimum() {
    let _alone = alone();
    same_in_pieces(&knapsack::random(40, 1000, knapsack::Kind::Strongly, 1), 4);
    same_in_pieces(&graph(), 6);
    same_in_pieces(&golomb::Golomb::new(7).unwrap(), 6);
    same_in_pieces(&tsptw::random(9, 100, 60, 2), 3);
}

/// Tries every checkpoint that can be caught while the search runs.
#[test]
fn every_intermediate_checkpoint_leads_to_the_same_optimum() {
    let _alone = alone();
    let problem = graph();
    let optimum = cost(&Solver::new(&problem).solve().unwrap());
    for threads in [1, 2, 3] {
        let (_folder, path) = folder();
        let mut caught = Vec::new();
        let whole = Solver::new(&problem)
            .threads(threads)
            .on_progress(Duration::from_millis(2), |_| {
                if path.exists() {
                    caught.push(Checkpoint::read(&path).unwrap());
                }
            })
            .solve_with_checkpoints(options(&path).every(Duration::ZERO))
            .unwrap();
        assert_eq!(cost(&whole.outcome), optimum);
        caught.dedup_by(|one, other| one.packages == other.packages);
        assert!(!caught.is_empty());
        for checkpoint in caught.into_iter().rev().take(6) {
            assert!(!checkpoint.is_over());
            let done = checkpoint.totals.explored;
            let options = CheckpointOptions::new(identity()).resume(checkpoint).unwrap();
            let resumed = Solver::new(&problem).threads(3 - threads % 3).solve_with_checkpoints(options).unwrap();
            assert_eq!(cost(&resumed.outcome), optimum);
            assert!(resumed.outcome.statistics.explored >= done && resumed.written == 0);
        }
    }
}

#[test]
fn a_search_that_resumes_a_finished_one_has_the_answer_at_once() {
    let _alone = alone();
    let (_folder, path) = folder();
    let problem = knapsack::paper();
    let first = Solver::new(&problem).solve_with_checkpoints(options(&path)).unwrap();
    let again = Solver::new(&problem).threads(2).solve_with_checkpoints(options(&path)).unwrap();
    assert_eq!(cost(&again.outcome), Some(15));
    assert_eq!(again.outcome.best, first.outcome.best);
    assert_eq!(again.outcome.statistics.explored, first.outcome.statistics.explored);
    assert!(Checkpoint::read(&path).unwrap().is_over());

    let (_folder, path) = folder();
    let too_late = tsptw::read(b"3\n0 10 10\n10 0 10\n10 10 0\n0 100\n0 5\n0 100\n").unwrap();
    for _ in 0..2 {
        let checkpointed = Solver::new(&too_late).solve_with_checkpoints(options(&path)).unwrap();
        assert_eq!((checkpointed.outcome.status, checkpointed.outcome.best), (SolveStatus::Infeasible, None));
    }
}

#[test]
fn a_search_that_is_stopped_before_it_begins_loses_no_node_and_proves_nothing() {
    let _alone = alone();
    let (_folder, path) = folder();
    let problem = graph();
    let optimum = cost(&Solver::new(&problem).solve().unwrap());
    let cancel = Cancel::new();
    let begun = Solver::new(&problem).node_limit(5).solve_with_checkpoints(options(&path)).unwrap();
    assert_eq!(begun.outcome.status, SolveStatus::NodeLimit);
    let before = Checkpoint::read(&path).unwrap();
    cancel.cancel();
    for threads in [1, 2] {
        let solver = Solver::new(&problem).threads(threads).cancel(&cancel);
        let stopped = solver.solve_with_checkpoints(options(&path)).unwrap();
        assert_eq!(stopped.outcome.status, SolveStatus::Cancelled);
        assert_eq!(Checkpoint::read(&path).unwrap().open(), before.open());
    }
    assert_eq!(cost(&Solver::new(&problem).solve_with_checkpoints(options(&path)).unwrap().outcome), optimum);
}

#[test]
fn a_failed_write_is_reported_once_and_does_not_end_the_search() {
    let _alone = alone();
    let (_folder, path) = folder();
    let problem = graph();
    let optimum = cost(&Solver::new(&problem).solve().unwrap());
    let mut reported = Vec::new();
    let options = CheckpointOptions::new(identity())
        .file(path.join("nowhere"))
        .every(Duration::ZERO)
        .on_write_error(|error| reported.push(error.to_string()));
    let checkpointed = Solver::new(&problem).solve_with_checkpoints(options).unwrap();
    assert_eq!((cost(&checkpointed.outcome), checkpointed.written), (optimum, 0));
    assert!(checkpointed.write_error.unwrap().to_string().contains("there is no such folder"));
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].contains("there is no such folder"), "{reported:?}");
}

#[test]
fn a_search_that_fails_leaves_the_file_as_it_was() {
    let _alone = alone();
    let (_folder, path) = folder();
    let problem = graph();
    Solver::new(&problem).node_limit(5).solve_with_checkpoints(options(&path)).unwrap();
    let before = Checkpoint::read(&path).unwrap();
    let failed = Solver::new(&problem).threads(0).solve_with_checkpoints(options(&path));
    assert_eq!(failed.map(drop), Err(SolveError::NoThreads));
    assert_eq!(Checkpoint::read(&path).unwrap(), before);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let solver = Solver::new(&problem).on_progress(Duration::ZERO, |_| panic!("on purpose"));
        solver.solve_with_checkpoints(options(&path))
    }));
    assert!(panicked.is_err());
    assert_eq!(Checkpoint::read(&path).unwrap().open(), before.open());
}

#[test]
fn of_two_known_solutions_the_better_is_used_and_both_are_checked() {
    let _alone = alone();
    let (_folder, path) = folder();
    let problem = graph();
    let optimum = Solver::new(&problem).solve().unwrap().best.unwrap();
    Solver::new(&problem).node_limit(1).solve_with_checkpoints(options(&path)).unwrap();
    let mut checkpoint = Checkpoint::read(&path).unwrap();
    let poor = checkpoint.best.clone().unwrap();
    assert!(poor.cost < optimum.cost, "the instance is too easy: its first solution is optimal");
    let resume = |checkpoint: &Checkpoint, known| {
        let options = CheckpointOptions::new(identity()).resume(checkpoint.clone()).unwrap();
        let solver = Solver::new(&problem).start_from(known).node_limit(1);
        solver.solve_with_checkpoints(options).map(|checkpointed| checkpointed.outcome.best.unwrap().cost)
    };
    assert_eq!(resume(&checkpoint, optimum.clone()), Ok(optimum.cost));
    checkpoint.best = Some(optimum.clone());
    let mut boast = poor.clone();
    boast.cost = optimum.cost + 1;
    assert_eq!(resume(&checkpoint, boast.clone()), Ok(optimum.cost));
    // Nodes were dropped because of this solution, so it must be valid.
    checkpoint.best = Some(boast);
    assert!(matches!(resume(&checkpoint, optimum), Err(SolveError::InvalidDelivery(_))));
}

/// A search checks what it takes in, even if the checksums are right.
#[test]
fn damaged_nodes_are_refused_or_searched_and_nothing_panics() {
    let _alone = alone();
    let (_folder, path) = folder();
    let problem = graph();
    Solver::new(&problem).node_limit(5).solve_with_checkpoints(options(&path)).unwrap();
    let whole = Checkpoint::read(&path).unwrap();
    let (refused, searched) = (Cell::new(0), Cell::new(0));
    let config = Config { cases: 1000, failure_persistence: None, ..Config::default() };
    let damages = (prop::collection::vec(damages(&["\x01", "\0\0", "\x7f"]), 0..3), 0..3u64, any::<i64>());
    let result = TestRunner::new(config).run(&damages, |(damages, more, bound)| {
        let mut checkpoint = whole.clone();
        for package in &mut checkpoint.packages {
            let mut bytes = package.bytes().to_vec();
            damages.iter().for_each(|one| damage(&mut bytes, one));
            *package = Package::new(package.nodes() + more, bound.max(package.bound()), bytes);
        }
        let options = CheckpointOptions::new(identity()).resume(checkpoint).unwrap();
        match Solver::new(&problem).node_limit(2).solve_with_checkpoints(options) {
            Ok(_) => searched.set(searched.get() + 1),
            Err(SolveError::InvalidDelivery(_) | SolveError::Overflow) => refused.set(refused.get() + 1),
            Err(other) => prop_assert!(false, "{}", other),
        }
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(refused.get() > searched.get() && searched.get() > 0, "{refused:?} were refused, {searched:?} were not");
}

/// The first checkpoint is written at once.
///
/// It must not contain only the half that was taken in.
#[test]
fn a_checkpoint_that_is_partly_refused_is_not_overwritten() {
    let _alone = alone();
    let problem = graph();
    for threads in [1, 2] {
        let (_folder, path) = folder();
        Solver::new(&problem).node_limit(5).solve_with_checkpoints(options(&path)).unwrap();
        let mut checkpoint = Checkpoint::read(&path).unwrap();
        checkpoint.packages.push(Package::new(1, 0, vec![1; 9]));
        checkpoint.write(&path).unwrap();
        let refused = Solver::new(&problem).threads(threads).solve_with_checkpoints(options(&path)).map(drop);
        assert!(matches!(refused, Err(SolveError::InvalidDelivery(_))), "{refused:?}");
        assert_eq!(Checkpoint::read(&path).unwrap(), checkpoint);
    }
}

#[test]
fn nodes_of_another_instance_are_refused_even_with_the_same_identity() {
    let _alone = alone();
    let (_folder, path) = folder();
    Solver::new(&graph()).node_limit(5).solve_with_checkpoints(options(&path)).unwrap();
    let before = fs::read(&path).unwrap();
    let another = IndependentSet::<Words<4>>::new(independent_set::random(50, 300, 9, 4));
    let refused = Solver::new(&another).threads(2).solve_with_checkpoints(options(&path)).map(drop);
    assert!(matches!(refused, Err(SolveError::InvalidDelivery(_))), "{refused:?}");
    assert_eq!(fs::read(&path).unwrap(), before);
}
