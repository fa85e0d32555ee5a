//! Open nodes: what is left to look at.

use std::sync::Arc;

use super::trail::Trail;
use crate::problem::Cost;

/// A subproblem: a state, what it cost to get there, and what can be reached from it at most.
#[derive(Debug)]
pub(crate) struct Open<S> {
    pub(crate) state: S,
    pub(crate) cost: Cost,
    pub(crate) bound: Cost,
    /// After how many decisions.
    pub(crate) depth: u32,
    /// The last step of its trail.
    pub(crate) step: u32,
    pub(crate) trail: Arc<Trail>,
}
