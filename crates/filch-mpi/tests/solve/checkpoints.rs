//! Runs that are written to checkpoints, stopped, and resumed by other ranks.

use std::sync::Mutex;
use std::time::Duration;

use filch::explore::Cancel;
use filch_dd::problems::knapsack;
use filch_dd::{SolveStatus, Solver};
use filch_mpi::network::threads::Delays;
use filch_mpi::{Options, RunCheckpoint};

use crate::common::run;
use crate::optima::graph;

/// Checkpoints are taken all the time, and each is as good as the run itself.
#[test]
fn every_checkpoint_of_a_run_leads_to_the_same_optimum_on_any_number_of_ranks() {
    let problem = graph();
    let alone = Solver::new(&problem).solve().expect("a single search solves it").best.map(|best| best.cost);
    for seed in 0..4 {
        let ranks = 1 + seed as usize;
        let written = Mutex::new(Vec::new());
        let solved = run(&problem, ranks, Delays::up_to(seed, seed), 2, |_| Options {
            checkpoint_every: Some(Duration::ZERO),
            on_checkpoint: Some(Box::new(|left| written.lock().unwrap().push(left))),
            ..Options::new(7)
        });
        assert_eq!((solved.status, solved.best.map(|best| best.cost)), (SolveStatus::Optimal, alone));
        let written = written.into_inner().unwrap();
        assert_eq!(written.len() as u64, solved.checkpoints + 1);
        let (last, others) = written.split_last().expect("a run writes a last checkpoint");
        assert!(last.last && last.packages.is_empty() && last.best.as_ref().map(|best| best.cost) == alone);
        assert_eq!(last.totals, solved.totals);
        // The first, the last, and some between.
        for (index, left) in others.iter().enumerate().step_by((others.len() / 4).max(1)) {
            assert!(!left.last);
            let ranks = 1 + (index + ranks) % 4;
            let solved = run(&problem, ranks, Delays::up_to(seed, seed), 3, |rank| Options {
                resume: (rank == 0).then(|| left.clone()),
                ..Options::new(7)
            });
            assert_eq!((solved.status, solved.best.map(|best| best.cost)), (SolveStatus::Optimal, alone));
        }
    }
}

/// Any rank stops the run as soon as a checkpoint was written, again and again.
#[test]
fn a_run_that_is_stopped_again_and_again_finds_the_same_optimum() {
    let problem = graph();
    let alone = Solver::new(&problem).solve().expect("a single search solves it").best.map(|best| best.cost);
    for seed in 0..4 {
        let mut left: Option<RunCheckpoint> = None;
        let mut stops = 0;
        loop {
            let ranks = 1 + (seed + stops) % 4;
            let stopper = stops % ranks;
            let cancel = Cancel::new();
            let written = Mutex::new(None);
            let solved = run(&problem, ranks, Delays::up_to(3, seed as u64), 2, |rank| Options {
                resume: left.clone().filter(|_| rank == 0),
                checkpoint_every: Some(Duration::ZERO),
                cancel: (rank == stopper).then(|| cancel.clone()),
                on_checkpoint: Some(Box::new(|left| {
                    // The last run is not stopped.
                    if stops < 6 {
                        cancel.cancel();
                    }
                    *written.lock().unwrap() = Some(left);
                })),
                ..Options::new(7)
            });
            let last = written.into_inner().unwrap().expect("a run writes a last checkpoint");
            assert!(last.last);
            assert_eq!(last.best, solved.best);
            if solved.status.is_proven() {
                assert_eq!(solved.best.map(|best| best.cost), alone);
                break;
            }
            assert_eq!(solved.status, SolveStatus::Cancelled);
            assert!(solved.bound.is_none_or(|bound| alone <= Some(bound)) && !last.packages.is_empty());
            left = Some(last);
            stops += 1;
        }
    }
}

#[test]
fn a_resumed_run_that_was_complete_ends_at_once() {
    let problem = knapsack::paper();
    let best = Solver::new(&problem).solve().expect("a single search solves it").best;
    let left = RunCheckpoint { best: best.clone(), last: true, ..RunCheckpoint::default() };
    let solved = run(&problem, 2, Delays::NONE, 10, |_| Options { resume: Some(left.clone()), ..Options::new(7) });
    assert_eq!((solved.status, solved.best, solved.totals.explored), (SolveStatus::Optimal, best, 0));
}
