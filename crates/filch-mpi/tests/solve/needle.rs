//! One leaf of a tree is worth something, and no bound tells where it is.
//!
//! So a lost node or a lost solution changes the result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;
use std::time::Duration;

use filch::explore::Cancel;
use filch_dd::{Cost, Decision, Problem, Relaxation, SolveStatus, Value, Variable};
use filch_mpi::network::threads::Delays;
use filch_mpi::protocol::Policy;
use filch_mpi::{Options, RunCheckpoint};

use crate::common::run;

/// Deep enough that all ranks get work, and have some left when asked.
const DEPTH: usize = 10;

const SEEDS: u64 = 60;

/// The tree of all sequences of binary decisions of this depth. A state is the path to it, after a
/// leading one; 0 is any.
pub(crate) struct Needle {
    depth: usize,
    place: u64,
    /// The leaves that were visited.
    visited: Vec<AtomicBool>,
}

impl Needle {
    /// Puts the needle at a place that depends on the seed.
    pub(crate) fn new(depth: usize, seed: u64) -> Needle {
        let place = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - depth);
        Needle { depth, place: 1 << depth | place, visited: (0..1 << depth).map(|_| AtomicBool::new(false)).collect() }
    }

    /// A tree without a needle: all leaves must be visited.
    fn without_needle(depth: usize) -> Needle {
        Needle { place: u64::MAX, ..Needle::new(depth, 0) }
    }
}

impl Problem for Needle {
    type State = u64;

    fn variables(&self) -> usize {
        self.depth
    }

    fn initial_state(&self) -> u64 {
        1
    }

    fn cost_limit(&self) -> Option<Cost> {
        Some(self.depth as Cost + 1)
    }

    fn domain(&self, _: Variable, _: &u64, mut decide: impl FnMut(Value)) {
        decide(0);
        decide(1);
    }

    fn transition(&self, state: &u64, decision: Decision) -> u64 {
        if *state == 0 {
            0
        } else {
            state << 1 | u64::from(decision.value == 1)
        }
    }

    fn cost(&self, _: &u64, next: &u64, _: Decision) -> Cost {
        if let Some(leaf) = next.checked_sub(1 << self.depth) {
            // Relaxed: read when all threads have been joined.
            self.visited[leaf as usize].store(true, Ordering::Relaxed);
        }
        Cost::from(*next == self.place)
    }
}

impl Relaxation for Needle {
    fn merge<'a>(&self, _: impl Iterator<Item = &'a u64>) -> u64 {
        0
    }

    /// The needle may be below any state that stands for several. So no node is dropped for a leaf
    /// that is worth nothing.
    fn relaxed_cost(&self, _: &u64, _: &u64, _: &u64, _: Decision, cost: Cost) -> Cost {
        cost + 1
    }
}

/// As many transfers as possible.
fn most_transfers() -> Policy {
    Policy { hungry: 8, factor: 1, ..Policy::default() }
}

/// Checks that the checkpoint leads to the needle, on this number of ranks.
fn check_leads_to_needle(needle: &Needle, left: &RunCheckpoint, ranks: usize, seed: u64) {
    let solved = run(needle, ranks, Delays::up_to(seed % 3, seed), 2, |rank| Options {
        resume: (rank == 0).then(|| left.clone()),
        ..Options::new(7)
    });
    let (status, best) = (solved.status, solved.best.map(|best| best.cost));
    assert_eq!(
        (status, best),
        (SolveStatus::Optimal, Some(1)),
        "seed {seed}, on {ranks} ranks: a node or a solution was lost"
    );
}

#[test]
fn every_checkpoint_of_a_run_leads_to_the_needle() {
    let mut before_needle = 0;
    for seed in 0..SEEDS {
        let needle = Needle::new(DEPTH, seed);
        let ranks = 1 + seed as usize % 4;
        let written = Mutex::new(Vec::new());
        let solved = run(&needle, ranks, Delays::up_to(seed % 5, seed), 2, |_| Options {
            policy: most_transfers(),
            checkpoint_every: Some(Duration::ZERO),
            on_checkpoint: Some(Box::new(|left| written.lock().unwrap().push(left))),
            ..Options::new(7)
        });
        assert_eq!((solved.status, solved.best.map(|best| best.cost)), (SolveStatus::Optimal, Some(1)), "seed {seed}");
        // Checkpoints after the needle was found contain it, even if they lost nodes.
        let before = |left: &RunCheckpoint| left.best.as_ref().is_none_or(|best| best.cost == 0);
        let written: Vec<RunCheckpoint> = written.into_inner().unwrap();
        for (index, left) in written.into_iter().filter(before).enumerate() {
            before_needle += usize::from(left.totals.explored > 0);
            check_leads_to_needle(&needle, &left, 1 + (index + ranks) % 4, seed);
        }
    }
    assert!(before_needle > 0, "all checkpoints are from before the first node or contain the needle");
}

/// Nothing is dropped, as nothing is found. So each leaf is visited before the stop or after it.
#[test]
fn a_run_that_is_stopped_in_the_middle_leaves_all_unvisited_leaves() {
    let mut stopped = 0;
    for seed in 0..SEEDS {
        let tree = Needle::without_needle(DEPTH);
        let ranks = 1 + seed as usize % 4;
        let stopper = seed as usize / 4 % ranks;
        let (cancel, written) = (Cancel::new(), Mutex::new(None));
        let solved = run(&tree, ranks, Delays::up_to(seed % 5, seed), 2, |rank| Options {
            policy: most_transfers(),
            cancel: (rank == stopper).then(|| cancel.clone()),
            checkpoint_every: Some(Duration::ZERO),
            on_checkpoint: Some(Box::new(|left: RunCheckpoint| {
                if left.totals.explored > seed % 50 {
                    cancel.cancel();
                }
                *written.lock().unwrap() = Some(left);
            })),
            ..Options::new(7)
        });
        let left: RunCheckpoint = written.into_inner().unwrap().expect("a run writes a last checkpoint");
        stopped += usize::from(solved.status == SolveStatus::Cancelled && left.totals.explored > 0);
        let ranks = 1 + (ranks + 1) % 4;
        let solved = run(&tree, ranks, Delays::up_to(seed % 3, seed), 2, |rank| Options {
            resume: (rank == 0).then(|| left.clone()),
            ..Options::new(7)
        });
        assert_eq!((solved.status, solved.best.map(|best| best.cost)), (SolveStatus::Optimal, Some(0)), "seed {seed}");
        let unvisited = tree.visited.iter().filter(|visited| !visited.load(Ordering::Relaxed)).count();
        assert_eq!(unvisited, 0, "seed {seed}, on {ranks} ranks: a node or a solution was lost");
    }
    assert!(stopped > 0, "no run was stopped before its end");
}
