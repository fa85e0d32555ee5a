//! Nodes and arcs.
//!
//! Both are plain data and refer to each other by number. The arcs out of a node are next to each
//! other, since they are made all at once when it is closed. The arcs into a node are a linked
//! list, since many nodes make them. The variable of an arc is the one of the layer in which its
//! upper end was closed.

use super::Diagram;
use crate::problem::{Cost, Decision, Value, Variable};

/// No arc.
pub(super) const NONE: u32 = u32::MAX;

/// No way down from a node.
pub(super) const NO_PATH: Cost = Cost::MIN;

/// No threshold: any cost may be worth reaching the state again.
pub(super) const NO_THRESHOLD: Cost = Cost::MAX;

/// Every path to the node is a path of the problem.
pub(super) const EXACT: u8 = 1;
/// The node stands for several states.
pub(super) const MERGED: u8 = 2;
/// No longer in the layer: closed, merged into another, or pruned.
pub(super) const GONE: u8 = 4;
/// The node's rank is known.
pub(super) const RANKED: u8 = 8;
/// Closed with one arc, to its own copy in the next layer.
pub(super) const COPIED: u8 = 16;
/// In the cutset.
pub(super) const CUT: u8 = 32;

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The cost of the best path from above.
    pub(super) cost: Cost,
    /// The most that can be added, by the problem's rough bound.
    pub(super) rough: Cost,
    /// The most that can be added, by the diagram; known after the nodes below.
    pub(super) below: Cost,
    /// The cost up to which it is useless to reach this state again.
    pub(super) threshold: Cost,
    pub(super) rank: i64,
    /// The last arc of the best path.
    pub(super) best: u32,
    /// The arc into it that was made last.
    pub(super) inbound: u32,
    /// The end of its arcs.
    ///
    /// They start where the arcs of the node closed before it end.
    pub(super) arcs_end: u32,
    /// The layer in which it was closed.
    pub(super) layer: u32,
    /// The number of decisions before it, when it was made.
    pub(super) depth_made: u32,
    pub(super) hash: u32,
    pub(super) flags: u8,
}

impl Node {
    #[inline]
    pub(super) fn new(cost: Cost, rough: Cost, hash: u32, depth_made: usize, flags: u8) -> Self {
        Node {
            cost,
            rough,
            below: NO_PATH,
            threshold: NO_THRESHOLD,
            rank: 0,
            best: NONE,
            inbound: NONE,
            arcs_end: 0,
            layer: 0,
            depth_made: depth_made as u32,
            hash,
            flags,
        }
    }

    #[inline]
    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    pub(super) fn is_exact(&self) -> bool {
        self.has(EXACT)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub(super) cost: Cost,
    pub(super) value: Value,
    pub(super) from: u32,
    pub(super) to: u32,
    /// The next arc into the same node.
    pub(super) next: u32,
}

/// A layer in which something was decided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer {
    pub(super) variable: Variable,
    /// The number of decisions before it.
    pub(super) depth: u32,
    /// The position of its first node among the closed ones.
    pub(super) start: u32,
}

impl<S> Diagram<S> {
    /// Makes an arc, without adding it to its lower end.
    #[inline]
    pub(super) fn push_arc(&mut self, arc: Arc) -> u32 {
        let id = self.arcs.len() as u32;
        self.arcs.push(arc);
        id
    }

    /// Adds an arc to the node `to`, which has cost `cost` through it.
    #[inline]
    pub(super) fn attach_arc(&mut self, to: u32, arc: u32, cost: Cost) {
        let node = &mut self.nodes[to as usize];
        self.arcs[arc as usize].next = node.inbound;
        self.arcs[arc as usize].to = to;
        node.inbound = arc;
        if cost > node.cost || node.best == NONE {
            node.cost = cost;
            node.best = arc;
        }
    }

    /// Returns the decision of an arc.
    #[inline]
    pub(super) fn decision(&self, arc: &Arc) -> Decision {
        let layer = self.nodes[arc.from as usize].layer;
        Decision { variable: self.layers[layer as usize].variable, value: arc.value }
    }

    /// Visits the decisions of the best path that ends with `arc`, the last one first.
    pub(super) fn walk_up(&self, mut arc: u32, mut visit: impl FnMut(Decision)) {
        while arc != NONE {
            let last = &self.arcs[arc as usize];
            let from = &self.nodes[last.from as usize];
            if !from.has(COPIED) {
                visit(self.decision(last));
            }
            arc = from.best;
        }
    }

    /// Returns whether the best path to a node is a path of the problem.
    ///
    /// Other paths to the node need not be.
    pub(super) fn best_path_is_exact(&self, mut id: u32) -> bool {
        loop {
            let node = &self.nodes[id as usize];
            if node.is_exact() {
                return true;
            }
            if node.has(MERGED) {
                return false;
            }
            id = self.arcs[node.best as usize].from;
        }
    }
}
