//! The outcome of a search, and its statistics.

use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::master::Transfer;
use crate::problem::{Cost, Decision};

/// A solution.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Solution {
    /// The cost or the value of the solution.
    pub cost: Cost,
    /// The value of every variable, in the order of the variables.
    pub decisions: Vec<Decision>,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SolveStatus {
    /// The best solution is proven optimal.
    Optimal,
    /// It is proven that there is no solution.
    Infeasible,
    /// The time limit was reached.
    TimedOut,
    /// The search was cancelled.
    Cancelled,
    /// The node limit was reached.
    NodeLimit,
}

impl SolveStatus {
    /// Returns whether the search proved its result.
    pub fn is_proven(self) -> bool {
        matches!(self, SolveStatus::Optimal | SolveStatus::Infeasible)
    }
}

/// A node that was explored or dropped; see [`Solver::on_explored`](crate::Solver::on_explored).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExploredNode {
    /// The time it took.
    pub took: Duration,
    /// The number of nodes that it left open.
    pub left_open: usize,
    /// The number of decisions before it.
    pub depth: usize,
}

/// Statistics of one worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerStatistics {
    /// Open nodes that it explored.
    pub explored: u64,
    /// Nodes of the diagrams that it built.
    pub diagram_nodes: u64,
}

/// Statistics of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Open nodes that were explored, each by building diagrams from it.
    pub explored: u64,
    /// ExploredNode nodes that left nothing open.
    pub closed: u64,
    /// Nodes of all diagrams.
    pub diagram_nodes: u64,
    /// Open nodes that were dropped unexplored.
    ///
    /// Either a better solution was found meanwhile, or their state was reached at a better cost.
    pub pruned: u64,
    /// The greatest number of open nodes at a time.
    pub most_open: u64,
    /// The size of an open node in bytes, without what its state refers to.
    pub bytes_of_an_open_node: usize,
    /// The number of transfers of work from one worker to another.
    pub transfers: u64,
    /// The last thousand or so transfers, in order.
    pub last_transfers: Vec<Transfer>,
    /// The duration of the search.
    pub elapsed: Duration,
    /// Statistics of each worker.
    pub workers: Vec<WorkerStatistics>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Why the search ended.
    pub status: SolveStatus,
    /// The best solution found.
    pub best: Option<Solution>,
    /// No solution is better than this. `None` if there is no solution, or no bound is known.
    pub bound: Option<Cost>,
    /// Statistics of the search.
    pub statistics: Statistics,
}

impl Outcome {
    /// Returns the gap between the best solution and the bound.
    ///
    /// It is their distance as a share of the greater of the two: 0 if the solution is proven
    /// optimal. `None` without a solution or a bound.
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
