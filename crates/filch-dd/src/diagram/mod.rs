//! Decision diagrams of bounded width.
//!
//! A diagram starts at one open node of the search and decides variable after variable, layer after layer. Nodes of a layer with the same state are one node.
//! While no layer is wider than allowed, the diagram is exact. The first time one is, two diagrams follow: the restricted one keeps the best nodes and drops the others,
//! and what it reaches are solutions; the relaxed one merges the others into a node that stands for all of them, and what it reaches is a bound. They are the same up to
//! there, so that part is built once.
//!
//! Where a variable makes no difference to a state, its node stays for the next layer as it is: a long arc, without any arc stored. So what is called a layer is a pool
//! of nodes with arcs into it from several layers.
//!
//! All parts live in vectors that are emptied and used again for the next diagram.
//!
//! - [`node`]: nodes and arcs, and what is known of them
//! - [`table`]: the nodes of a layer by state
//! - [`layer`]: from one layer to the next
//! - [`restrict`]: the restricted diagram
//! - [`merge`]: what makes a layer narrow enough in the relaxed diagram
//! - [`bounds`]: from the bottom up: bounds, thresholds and who is in the cutset
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
use crate::dominance::Dominated;
use crate::model::{Model, Overflow};
use crate::problem::{Cost, Decision, Relaxation};
use crate::solver::{Cutset, Open};
use node::{Arc, Layer, Node};
use restrict::Restricted;
use table::Table;

/// What a diagram is built for.
pub(crate) struct Task<'a, P: Relaxation> {
    pub(crate) model: Model<'a, P>,
    pub(crate) root: &'a Open<P::State>,
    pub(crate) width: usize,
    pub(crate) cutset: Cutset,
    pub(crate) cache: Option<&'a Cache<P::State>>,
    pub(crate) dominance: Option<&'a dyn Dominated<P::State>>,
    /// Whether solutions are looked for before the bound is known, or only if the bound leaves something open.
    pub(crate) eager: bool,
}

/// Who has a diagram built.
pub(crate) trait Host {
    /// The cost of the best solution known.
    fn floor(&self) -> Cost;

    /// Whether to stop. Asked once a layer.
    fn stop(&mut self) -> bool;

    /// A solution: its cost and what was decided since the diagram's root, in order.
    fn found(&mut self, cost: Cost, decisions: &[Decision]) -> Result<(), Halt>;
}

/// Why a diagram was not finished.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The host wanted it.
    Stopped,
    /// A cost left its range.
    Overflow,
    /// The problem says one thing here and another there.
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
    /// Nothing is left to look at below its root.
    Done,
    /// Its cutset is.
    Open,
}

/// All that diagrams are built in, one after the other.
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
    /// Scratch: those of the next one.
    next: Vec<u32>,
    /// Scratch: those of the current layer to which the variable matters.
    moving: Vec<u32>,
    values: Vec<crate::problem::Value>,
    table: Table,
    ranked: Vec<merge::Ranked>,
    /// After how many decisions the current layer is.
    depth: usize,
    /// Where the last exact layer starts and ends in `closed`, once there is one.
    last_exact: Option<(usize, usize)>,
    /// Whether the root's children are final, so that a cutset below them exists.
    below_root: bool,
    /// The cutset.
    cut: Vec<u32>,
    trail_marks: Vec<u32>,
    path: Vec<Decision>,
    /// Where the restricted diagram starts: the nodes, and after how many decisions.
    starts: Vec<restrict::Start>,
    starts_depth: usize,
    restricted: Restricted<S>,
    restricted_done: bool,
    made: u64,
    looked: u64,
    seen: u64,
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
            moving: Vec::new(),
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
            made: 0,
            looked: 0,
            seen: 0,
        }
    }

    /// How many nodes were made in this and all earlier diagrams.
    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    /// How many nodes were looked up in the cache in all diagrams, and how many were dropped for what it knew.
    pub(crate) fn lookups(&self) -> (u64, u64) {
        (self.looked, self.seen)
    }

    /// Builds the diagrams of `task`. Solutions go to the host; what is left to look at is in the cutset.
    pub(crate) fn compile<P>(&mut self, task: &Task<'_, P>, host: &mut impl Host) -> Result<Compiled, Halt>
    where
        P: Relaxation<State = S>,
    {
        self.start(task)?;
        let built = self.build(task, host);
        self.made += (self.nodes.len() + self.restricted.len()) as u64;
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
                if self.leads_through_no_merged_node(leaf) {
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
        // Nothing has the root's state as its child's: its hash is not asked for, unless the root stays for a layer.
        let hash = layer::half_hash(&task.root.state);
        self.nodes.push(Node::new(task.root.cost, rough, hash, self.depth, node::EXACT));
        self.states.push(task.root.state.clone());
        self.table.add(hash, 0);
        self.pool.push(0);
        Ok(())
    }

    /// Whether nodes were merged.
    fn is_relaxed(&self) -> bool {
        self.last_exact.is_some()
    }

    /// The best node of the last layer that `counts`.
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
