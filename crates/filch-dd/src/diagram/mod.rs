//! Decision diagrams of bounded width.
//!
//! A diagram starts at one open node of the search and decides one variable in each layer. Nodes of
//! a layer with the same state are one node. While no layer is wider than allowed, the diagram is
//! exact. At the first layer that is too wide, two diagrams follow. The restricted diagram keeps
//! the best nodes and drops the others: what it reaches are solutions. The relaxed diagram merges
//! the others into a node that stands for all of them: what it reaches is a bound. Both are the
//! same up to that layer, so this part is built once.
//!
//! If a variable makes no difference to a state, its node stays for the next layer as it is: a long
//! arc, without any arc stored. So a layer is a pool of nodes with arcs into it from several
//! layers.
//!
//! All parts live in vectors that are emptied and reused for the next diagram.
//!
//! - [`node`]: nodes and arcs
//! - [`table`]: the nodes of a layer by state
//! - [`layer`]: builds the next layer
//! - [`restrict`]: the restricted diagram
//! - [`merge`]: narrows a layer of the relaxed diagram
//! - [`bounds`]: the pass from the bottom up: bounds, thresholds and the cutset
//! - [`cutset`]: the open nodes that a diagram leaves

mod bounds;
mod cutset;
mod layer;
mod merge;
mod node;
mod restrict;
mod table;
#[cfg(test)]
mod tests;

use crate::cache::Cache;
use crate::dominance::DominanceCheck;
use crate::model::{Model, Overflow};
use crate::problem::{Cost, Decision, Relaxation};
use crate::solver::{Cutset, OpenNode};
use node::{Arc, Layer, Node};
use restrict::Restricted;
use table::Table;

/// The settings of a diagram.
pub(crate) struct Task<'a, P: Relaxation> {
    pub(crate) model: Model<'a, P>,
    pub(crate) root: &'a OpenNode<P::State>,
    pub(crate) width: usize,
    pub(crate) cutset: Cutset,
    pub(crate) cache: Option<&'a Cache<P::State>>,
    pub(crate) dominance: Option<&'a dyn DominanceCheck<P::State>>,
    /// Whether to look for solutions before the bound is known.
    ///
    /// Otherwise only if the bound leaves something open.
    pub(crate) eager: bool,
}

/// The caller that a diagram is built for.
pub(crate) trait Host {
    /// Returns the cost of the best solution known.
    fn floor(&self) -> Cost;

    /// Returns whether to stop. Called once for each layer.
    fn stop(&mut self) -> bool;

    /// Takes a solution: its cost and the decisions since the diagram's root, in order.
    fn found(&mut self, cost: Cost, decisions: &[Decision]) -> Result<(), Halt>;
}

/// Why a diagram was not finished.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The host stopped it.
    Stopped,
    /// A cost overflowed.
    Overflow,
    /// The problem contradicts itself.
    Contradiction(String),
}

impl From<Overflow> for Halt {
    fn from(_: Overflow) -> Self {
        Halt::Overflow
    }
}

/// How a diagram ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compiled {
    /// Nothing is left to explore below its root.
    Done,
    /// Its cutset is left to explore.
    Open,
}

/// The storage of diagrams, reused from one to the next.
pub(crate) struct Diagram<S> {
    nodes: Vec<Node>,
    /// The state of each node.
    states: Vec<S>,
    arcs: Vec<Arc>,
    /// The layers in which something was decided.
    layers: Vec<Layer>,
    /// Nodes in the order in which they were closed, that is, their arcs made.
    closed: Vec<u32>,
    /// The nodes of the current layer.
    pool: Vec<u32>,
    /// Scratch: the nodes of the next layer.
    next: Vec<u32>,
    /// Scratch: the nodes of the current layer to which the variable matters.
    branching: Vec<u32>,
    values: Vec<crate::problem::Value>,
    table: Table,
    ranked: Vec<merge::Ranked>,
    /// The number of decisions before the current layer.
    depth: usize,
    /// Where the last exact layer starts and ends in `closed`, once there is one.
    last_exact: Option<(usize, usize)>,
    /// Whether a layer below the root's is closed.
    ///
    /// Only then is there a cutset below the root.
    below_root: bool,
    /// The cutset.
    cut: Vec<u32>,
    trail_marks: Vec<u32>,
    path: Vec<Decision>,
    /// The nodes where the restricted diagram starts, and the number of decisions before them.
    starts: Vec<restrict::Start>,
    starts_depth: usize,
    restricted: Restricted<S>,
    restricted_done: bool,
    nodes_made: u64,
    cache_lookups: u64,
    cache_hits: u64,
}

impl<S: Clone + Eq + core::hash::Hash> Diagram<S> {
    pub(crate) fn new() -> Self {
        Diagram {
            nodes: Vec::new(),
            states: Vec::new(),
            arcs: Vec::new(),
            layers: Vec::new(),
            closed: Vec::new(),
            pool: Vec::new(),
            next: Vec::new(),
            branching: Vec::new(),
            values: Vec::new(),
            table: Table::new(),
            ranked: Vec::new(),
            depth: 0,
            last_exact: None,
            below_root: false,
            cut: Vec::new(),
            trail_marks: Vec::new(),
            path: Vec::new(),
            starts: Vec::new(),
            starts_depth: 0,
            restricted: Restricted::new(),
            restricted_done: false,
            nodes_made: 0,
            cache_lookups: 0,
            cache_hits: 0,
        }
    }

    /// Returns the number of nodes made in this and all earlier diagrams.
    pub(crate) fn nodes_made(&self) -> u64 {
        self.nodes_made
    }

    /// Returns the numbers of lookups in the cache and of nodes that it dropped.
    ///
    /// The counts are of all diagrams.
    pub(crate) fn cache_counts(&self) -> (u64, u64) {
        (self.cache_lookups, self.cache_hits)
    }

    /// Builds the diagrams of `task`.
    ///
    /// Solutions go to the host. The nodes left to explore are in the cutset.
    pub(crate) fn compile<P>(&mut self, task: &Task<'_, P>, host: &mut impl Host) -> Result<Compiled, Halt>
    where
        P: Relaxation<State = S>,
    {
        self.start(task)?;
        let built = self.build(task, host);
        self.nodes_made += (self.nodes.len() + self.restricted.len()) as u64;
        built
    }

    fn build<P>(&mut self, task: &Task<'_, P>, host: &mut impl Host) -> Result<Compiled, Halt>
    where
        P: Relaxation<State = S>,
    {
        while self.grow(task, host)? {
            if self.pool.len() > task.width && self.below_root {
                self.narrow(task, host)?;
            }
        }
        let mut best = self.best_of(|_| true);
        if let Some((cost, leaf)) = best {
            if cost > host.floor() {
                if self.best_path_is_exact(leaf) {
                    self.report(leaf, cost, host)?;
                } else if let Some((cost, leaf)) = self.best_of(Node::is_exact) {
                    if cost > host.floor() {
                        self.report(leaf, cost, host)?;
                    }
                }
            }
        }
        if best.is_some_and(|(cost, _)| cost <= host.floor()) {
            best = None;
        }
        let open = best.is_some() && self.is_relaxed();
        if open && !self.restricted_done {
            self.restrict(task, host)?;
        }
        if open || task.cache.is_some() {
            self.bound(task, host.floor())?;
        }
        Ok(if open && !self.cut.is_empty() { Compiled::Open } else { Compiled::Done })
    }

    fn start<P>(&mut self, task: &Task<'_, P>) -> Result<(), Halt>
    where
        P: Relaxation<State = S>,
    {
        self.nodes.clear();
        self.states.clear();
        self.arcs.clear();
        self.layers.clear();
        self.closed.clear();
        self.pool.clear();
        self.cut.clear();
        self.starts.clear();
        self.restricted.clear();
        self.table.reset(0);
        self.depth = task.root.depth as usize;
        self.last_exact = None;
        self.below_root = false;
        self.restricted_done = false;
        let rough = task.model.rough_bound(self.depth, &task.root.state)?;
        // No child has the root's state: its hash is not needed, unless the root stays for a layer.
        let hash = layer::half_hash(&task.root.state);
        self.nodes.push(Node::new(task.root.cost, rough, hash, self.depth, node::EXACT));
        self.states.push(task.root.state.clone());
        self.table.add(hash, 0);
        self.pool.push(0);
        Ok(())
    }

    /// Returns whether nodes were merged.
    fn is_relaxed(&self) -> bool {
        self.last_exact.is_some()
    }

    /// Returns the best node of the last layer for which `counts` returns `true`.
    fn best_of(&self, counts: impl Fn(&Node) -> bool) -> Option<(Cost, u32)> {
        let mut best: Option<(Cost, u32)> = None;
        for &id in &self.pool {
            let node = &self.nodes[id as usize];
            if counts(node) && best.is_none_or(|(cost, _)| node.cost > cost) {
                best = Some((node.cost, id));
            }
        }
        best
    }

    fn report(&mut self, leaf: u32, cost: Cost, host: &mut impl Host) -> Result<(), Halt> {
        let mut path = core::mem::take(&mut self.path);
        path.clear();
        self.walk_up(self.nodes[leaf as usize].best, |decision| path.push(decision));
        path.reverse();
        let reported = host.found(cost, &path);
        self.path = path;
        reported
    }
}
