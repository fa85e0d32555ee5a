//! Narrows a layer of the relaxed diagram: merges the nodes that look worst.

use super::node::{Arc, Node, COPIED, EXACT, GONE, MERGED, NONE, RANKED};
use super::restrict::Start;
use super::{Diagram, Halt, Host, Task};
use crate::model::{add, bound_of};
use crate::problem::{Cost, Relaxation};

/// A node with its sort key: its cost, then its rank, then its number.
///
/// Among equals the node that was made first wins, so that the choice is the same in every run.
pub(super) type Ranked = (Cost, i64, core::cmp::Reverse<u32>);

/// Moves the best `count` to the front.
pub(super) fn best_first(ranked: &mut [Ranked], count: usize) {
    if count > 0 && count < ranked.len() {
        ranked.select_nth_unstable_by(count - 1, |one, other| other.cmp(one));
    }
}

impl<S: Clone + Eq + core::hash::Hash> Diagram<S> {
    /// Narrows the layer to the task's width.
    ///
    /// The first time, the restricted diagram branches off here.
    #[cold]
    pub(super) fn narrow<P>(&mut self, task: &Task<'_, P>, host: &mut impl Host) -> Result<(), Halt>
    where
        P: Relaxation<State = S>,
    {
        if self.last_exact.is_none() {
            if !self.restricted_done && self.starts.is_empty() {
                self.rank(task);
                best_first(&mut self.ranked, task.width);
                for &(cost, _, core::cmp::Reverse(id)) in &self.ranked[..task.width] {
                    self.starts.push(Start { id, cost, best: self.nodes[id as usize].best });
                }
                self.starts_depth = self.depth;
                if task.eager {
                    let before = host.floor();
                    self.restrict(task, host)?;
                    if host.floor() > before {
                        self.prune(host.floor())?;
                    }
                    if self.pool.len() <= task.width {
                        return Ok(());
                    }
                }
            }
            let start = self.layers.last().map_or(0, |layer| layer.start as usize);
            self.close_stayed(task);
            self.last_exact = Some((start, self.closed.len()));
        }
        self.rank(task);
        best_first(&mut self.ranked, task.width - 1);
        self.merge(task)
    }

    fn rank<P>(&mut self, task: &Task<'_, P>)
    where
        P: Relaxation<State = S>,
    {
        self.ranked.clear();
        for &id in &self.pool {
            let node = &mut self.nodes[id as usize];
            if !node.has(RANKED) {
                node.rank = task.model.problem.rank(&self.states[id as usize]);
                node.flags |= RANKED;
            }
            self.ranked.push((node.cost, node.rank, core::cmp::Reverse(id)));
        }
    }

    /// Drops the nodes of the layer from which nothing better than `floor` can be reached.
    fn prune(&mut self, floor: Cost) -> Result<(), Halt> {
        let mut kept = 0;
        for at in 0..self.pool.len() {
            let id = self.pool[at];
            let node = &mut self.nodes[id as usize];
            if bound_of(node.cost, node.rough)? <= floor {
                node.flags |= GONE;
                node.threshold = floor.saturating_sub(node.rough);
            } else {
                self.pool[kept] = id;
                kept += 1;
            }
        }
        self.pool.truncate(kept);
        Ok(())
    }

    /// Closes the nodes that stayed in this layer, with arcs to their copies.
    ///
    /// Each node gets one arc, to a copy of itself.
    ///
    /// The copy may be merged, or get arcs from merged nodes. The node itself remains exact. Both
    /// cutsets need that. The node is in the last exact layer. And if it were not exact, the
    /// frontier would be above it, perhaps at the diagram's own root.
    fn close_stayed<P>(&mut self, task: &Task<'_, P>)
    where
        P: Relaxation<State = S>,
    {
        let layer = self.layers.len() as u32 - 1;
        let value = task.model.default_decision(self.layers[layer as usize].variable).value;
        for at in 0..self.pool.len() {
            let id = self.pool[at];
            let node = self.nodes[id as usize];
            if node.depth_made as usize == self.depth {
                continue;
            }
            let copy = self.nodes.len() as u32;
            let arc = self.push_arc(Arc { cost: 0, value, from: id, to: copy, next: NONE });
            self.nodes.push(Node { best: arc, inbound: arc, depth_made: self.depth as u32, ..node });
            self.states.push(self.states[id as usize].clone());
            let node = &mut self.nodes[id as usize];
            node.flags |= GONE | COPIED;
            node.layer = layer;
            node.arcs_end = self.arcs.len() as u32;
            self.closed.push(id);
            self.pool[at] = copy;
        }
        // The table must contain the copies.
        self.table.reset(self.pool.len() * 2);
        for &id in &self.pool {
            self.table.add(self.nodes[id as usize].hash, id);
        }
    }

    /// Merges all but the first `width - 1` ranked nodes.
    fn merge<P>(&mut self, task: &Task<'_, P>) -> Result<(), Halt>
    where
        P: Relaxation<State = S>,
    {
        let ranked = core::mem::take(&mut self.ranked);
        let (kept, merged) = ranked.split_at(task.width - 1);
        let states = &self.states;
        let state = task.model.problem.merge(merged.iter().map(|&(_, _, core::cmp::Reverse(id))| &states[id as usize]));
        self.pool.clear();
        self.pool.extend(kept.iter().map(|&(_, _, core::cmp::Reverse(id))| id));
        for &(_, _, core::cmp::Reverse(id)) in merged {
            self.nodes[id as usize].flags |= GONE;
        }
        let hash = super::layer::half_hash(&state);
        let (nodes, states) = (&self.nodes, &self.states);
        let into = match self.table.find(hash, |id| !nodes[id as usize].has(GONE) && states[id as usize] == state) {
            Ok(id) => {
                // A kept node has the state that the others were merged into.
                let node = &mut self.nodes[id as usize];
                node.flags = node.flags & !EXACT | MERGED;
                id
            }
            Err(_) => {
                let id = self.nodes.len() as u32;
                let rough = task.model.rough_bound(self.depth, &state)?;
                self.nodes.push(Node::new(Cost::MIN, rough, hash, self.depth, MERGED));
                self.states.push(state.clone());
                self.pool.push(id);
                if self.table.is_full() {
                    self.table.reset(self.pool.len() * 2);
                    for &id in &self.pool {
                        self.table.add(self.nodes[id as usize].hash, id);
                    }
                } else {
                    self.table.add(hash, id);
                }
                id
            }
        };
        for &(_, _, core::cmp::Reverse(id)) in merged {
            let mut arc = self.nodes[id as usize].inbound;
            while arc != NONE {
                let led = self.arcs[arc as usize];
                let from = &self.nodes[led.from as usize];
                let so_far = from.cost;
                let cost = task.model.relaxed_cost(
                    &self.states[led.from as usize],
                    &self.states[id as usize],
                    &state,
                    self.decision(&led),
                    led.cost,
                )?;
                self.arcs[arc as usize].cost = cost;
                self.attach_arc(into, arc, add(so_far, cost)?);
                arc = led.next;
            }
        }
        self.ranked = ranked;
        Ok(())
    }
}
