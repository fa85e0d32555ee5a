//! Open nodes: the nodes that are left to explore.

use std::sync::Arc;

use super::trail::Trail;
use crate::problem::Cost;

/// A subproblem: a state, its cost so far, and a bound on its solutions.
#[derive(Debug)]
pub(crate) struct OpenNode<S> {
    pub(crate) state: S,
    pub(crate) cost: Cost,
    pub(crate) bound: Cost,
    /// The number of decisions before it.
    pub(crate) depth: u32,
    /// The last step of its trail.
    pub(crate) step: u32,
    pub(crate) trail: Arc<Trail>,
}

/// Sorts open nodes for a queue that is last in, first out: the best bound comes last, and among
/// equals the greatest cost. It is compiled once for each state, not for each problem.
pub(crate) fn best_last<S>(nodes: &mut [OpenNode<S>]) {
    nodes.sort_by_key(|open| (open.bound, open.cost));
}
