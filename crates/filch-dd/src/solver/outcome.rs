//! What a search found, and at what cost.

use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::master::Transfer;
use crate::problem::{Cost, Decision};

/// A solution.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Solution {
    /// What it costs or is worth.
    pub cost: Cost,
    /// What every variable is, in their order.
    pub decisions: Vec<Decision>,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The best solution is proven to be one.
    Optimal,
    /// It is proven that there is no solution.
    Infeasible,
    /// The time was over.
    TimedOut,
    /// Somebody cancelled it.
    Cancelled,
    /// It had looked at as many nodes as it was allowed to.
    NodeLimit,
}

impl Ending {
    /// Whether nothing is left to be found.
    pub fn is_proven(self) -> bool {
        matches!(self, Ending::Optimal | Ending::Infeasible)
    }
}

/// An open node that was looked at, or dropped; see [`Solver::on_explored`](crate::Solver::on_explored).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explored {
    /// How long that took.
    pub took: Duration,
    /// How many nodes it left open.
    pub left_open: usize,
    /// After how many decisions it was.
    pub depth: usize,
}

/// What one worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerStatistics {
    /// Open nodes it looked at.
    pub explored: u64,
    /// Nodes of the diagrams it built.
    pub diagram_nodes: u64,
}

/// What a search did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Open nodes looked at, each by building diagrams from it.
    pub explored: u64,
    /// Of these, those of which nothing was left open.
    pub closed: u64,
    /// Nodes of all diagrams.
    pub diagram_nodes: u64,
    /// Open nodes dropped unseen, as a better solution was found meanwhile or their state was reached at a better cost.
    pub pruned: u64,
    /// The greatest number of open nodes at a time.
    pub most_open: u64,
    /// What an open node takes, without what its state refers to.
    pub bytes_of_an_open_node: usize,
    /// How often work was handed from one worker to another.
    pub transfers: u64,
    /// The last thousand or so of these, in order.
    pub last_transfers: Vec<Transfer>,
    /// How long it took.
    pub elapsed: Duration,
    /// What each worker did.
    pub workers: Vec<WorkerStatistics>,
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Why it ended.
    pub ending: Ending,
    /// The best solution found.
    pub best: Option<Solution>,
    /// No solution is better than this. `None` if there is none, or nothing is known.
    pub bound: Option<Cost>,
    /// What was done for it.
    pub statistics: Statistics,
}

impl Outcome {
    /// How far the best solution may be from the best there is, as a share of the greater of it and the bound: 0 if it is proven to be the best. `None` without a solution or a
    /// bound.
    pub fn gap(&self) -> Option<f64> {
        gap(self.best.as_ref().map(|best| best.cost), self.bound)
    }
}

pub(crate) fn gap(best: Option<Cost>, bound: Option<Cost>) -> Option<f64> {
    let (best, bound) = (best?, bound?);
    if best == bound {
        return Some(0.0);
    }
    let greater = best.unsigned_abs().max(bound.unsigned_abs());
    Some(best.abs_diff(bound) as f64 / greater as f64)
}
