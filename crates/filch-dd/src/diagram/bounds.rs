//! The pass from the bottom up: bounds, thresholds and the cutset.
//!
//! For each node it computes how much can still be added, up to which cost it is useless to reach
//! its state again, and whether it is in the cutset. All three depend only on the nodes below. So
//! one pass over the closed nodes in reverse order is enough.
//!
//! The threshold of a node (Coppé, Gillard and Schaus, 2022) is the greatest cost with which it is
//! useless to reach its state again: everything below is then no better than a known solution or an
//! open node. It is the least, over all arcs down, of what the threshold of the lower end leaves
//! for the node.

use super::node::{COPIED, CUT, NO_PATH, NO_THRESHOLD};
use super::{Diagram, Halt, Task};
use crate::model::{add, UNKNOWN};
use crate::problem::{Cost, Relaxation};
use crate::solver::Cutset;

impl<S: Clone + Eq + core::hash::Hash> Diagram<S> {
    pub(super) fn bound<P>(&mut self, task: &Task<'_, P>, known: Cost) -> Result<(), Halt>
    where
        P: Relaxation<State = S>,
    {
        let frontier = task.cutset == Cutset::Frontier;
        // With the last exact layer: the nodes closed before `below` are in it or above it.
        let (layer_start, below) = self.last_exact.unwrap_or((self.closed.len(), self.closed.len()));
        // Without thresholds, nothing above the last exact layer is needed.
        let top = if task.cache.is_none() && !frontier { layer_start } else { 0 };
        for &id in &self.pool {
            let node = &mut self.nodes[id as usize];
            node.below = 0;
            if node.is_exact() && (frontier || self.last_exact.is_none()) && known != Cost::MIN {
                node.threshold = known;
            }
        }
        for at in (top..self.closed.len()).rev() {
            let id = self.closed[at];
            let first = if at == 0 { 0 } else { self.nodes[self.closed[at - 1] as usize].arcs_end };
            let mut node = self.nodes[id as usize];
            let mut relaxed_below = false;
            for arc in &self.arcs[first as usize..node.arcs_end as usize] {
                let to = &self.nodes[arc.to as usize];
                if to.below != NO_PATH {
                    node.below = node.below.max(add(to.below, arc.cost)?);
                    relaxed_below |= !to.is_exact();
                }
                if to.threshold != NO_THRESHOLD {
                    node.threshold = node.threshold.min(to.threshold.saturating_sub(arc.cost));
                }
            }
            let cut = if frontier { node.is_exact() && relaxed_below } else { at >= layer_start && at < below };
            if cut && node.below != NO_PATH {
                node.flags |= CUT;
                self.cut.push(id);
            }
            if let Some(cache) = task.cache {
                let above = if frontier { node.is_exact() } else { at < below };
                let reach = add(node.cost, if node.below == NO_PATH { 0 } else { node.below })?;
                if node.rough != UNKNOWN && add(node.cost, node.rough)? <= known {
                    node.threshold = known.saturating_sub(node.rough);
                } else if cut && node.below != NO_PATH {
                    node.threshold =
                        if reach <= known { node.threshold.min(known.saturating_sub(node.below)) } else { node.cost };
                }
                if above && at > 0 {
                    let depth = self.depth_of(&node);
                    let explored = !node.has(CUT);
                    let state = &self.states[id as usize];
                    // The copy of a node that stayed has the same state after as many decisions.
                    // The copy has raised the threshold for both. It may be in the cutset, where
                    // nothing is explored yet.
                    if !node.has(COPIED) || node.has(CUT) {
                        cache.raise(node.hash, depth, state, node.threshold, explored);
                    }
                    if node.depth_made as usize != depth {
                        cache.raise(node.hash, node.depth_made as usize, state, node.threshold, explored);
                    }
                }
            }
            self.nodes[id as usize] = node;
        }
        Ok(())
    }

    /// Returns the number of decisions before a closed node.
    pub(super) fn depth_of(&self, node: &super::node::Node) -> usize {
        self.layers[node.layer as usize].depth as usize + usize::from(node.has(COPIED))
    }
}
