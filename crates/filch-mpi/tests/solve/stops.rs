//! Runs of a problem that would take years. They end because they are told to.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;
use std::time::Duration;

use filch::explore::Cancel;
use filch_dd::problems::bits::Words;
use filch_dd::problems::independent_set::{self, IndependentSet};
use filch_dd::SolveStatus;
use filch_mpi::network::threads::Delays;
use filch_mpi::{Options, Progress, RunCheckpoint};

use crate::common::run;

fn hard() -> IndependentSet<Words<8>> {
    IndependentSet::new(independent_set::random(500, 100, 9, 1))
}

#[test]
fn any_rank_can_stop_the_run_and_the_open_nodes_are_kept() {
    let problem = hard();
    for stopper in 0..3 {
        let cancel = Cancel::new();
        cancel.cancel();
        let written = Mutex::new(Vec::new());
        let solved = run(&problem, 3, Delays::up_to(3, 1), 2, |rank| Options {
            cancel: (rank == stopper).then(|| cancel.clone()),
            on_checkpoint: Some(Box::new(|left| written.lock().unwrap().push(left))),
            ..Options::new(7)
        });
        assert_eq!((solved.status, solved.checkpoints), (SolveStatus::Cancelled, 0));
        let written: Vec<RunCheckpoint> = written.into_inner().unwrap();
        assert!(matches!(&written[..], [left] if left.last && !left.packages.is_empty()));
    }
}

#[test]
fn a_run_ends_at_its_limits_of_time_and_of_nodes() {
    let problem = hard();
    for status in [SolveStatus::TimedOut, SolveStatus::NodeLimit] {
        let solved = run(&problem, 2, Delays::up_to(2, 1), 2, |_| Options {
            time_limit: (status == SolveStatus::TimedOut).then_some(Duration::from_millis(20)),
            node_limit: (status == SolveStatus::NodeLimit).then_some(3),
            ..Options::new(7)
        });
        assert_eq!(solved.status, status);
        assert!(status == SolveStatus::TimedOut || solved.totals.explored >= 3);
    }
}

/// The run is stopped once all ranks have work and some checkpoints were gathered. Other ranks
/// resume it.
#[test]
fn checkpoints_progress_and_solutions_of_a_long_run_are_consistent() {
    let problem = hard();
    let (cancel, checkpoints) = (Cancel::new(), AtomicU64::new(0));
    let (written, progress) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let solved = run(&problem, 3, Delays::up_to(2, 3), 2, |_| Options {
        cancel: Some(cancel.clone()),
        checkpoint_every: Some(Duration::ZERO),
        on_checkpoint: Some(Box::new(|left: RunCheckpoint| {
            let enough = left.packages.len() >= 3 && checkpoints.fetch_add(1, Ordering::Relaxed) >= 3;
            if enough && left.best.is_some() {
                cancel.cancel();
            }
            written.lock().unwrap().push(left);
        })),
        on_progress: Some((Duration::ZERO, Box::new(|now: &Progress| progress.lock().unwrap().push(now.clone())))),
        ..Options::new(7)
    });
    assert_eq!(solved.status, SolveStatus::Cancelled);
    assert!(solved.checkpoints >= 3 && solved.ranks[1..].iter().all(|rank| rank.receipts > 0));
    let best = solved.best.as_ref().map(|best| best.cost);
    assert!(solved.bound > best);
    let written: Vec<RunCheckpoint> = written.into_inner().unwrap();
    for pair in written.windows(2) {
        assert!(pair[0].totals.explored <= pair[1].totals.explored && pair[0].elapsed <= pair[1].elapsed);
        assert!(pair[0].best.as_ref().map(|best| best.cost) <= pair[1].best.as_ref().map(|best| best.cost));
    }
    for pair in progress.into_inner().unwrap().windows(2) {
        assert!(pair[0].best <= pair[1].best);
        assert!(pair[0].bound.is_none_or(|bound| Some(bound) >= best && Some(bound) >= solved.bound));
    }
    let left = written.last().expect("a run writes a last checkpoint");
    let again = run(&problem, 2, Delays::NONE, 2, |_| Options {
        resume: Some(left.clone()),
        time_limit: Some(Duration::from_millis(20)),
        ..Options::new(7)
    });
    assert!(again.best.map(|best| best.cost) >= best);
    assert!(again.bound.is_none_or(|bound| Some(bound) <= solved.bound));
}
