//! Builds the next layer of a diagram.

use super::node::{Arc, Layer, Node, EXACT, GONE, NONE};
use super::{Diagram, Halt, Host, Task};
use crate::model::{add, bound_of, hash_of, Overflow};
use crate::problem::{Cost, Decision, Relaxation, Value, Variable};

/// Returns the half of the hash that is kept.
#[inline]
pub(super) fn half_hash<S: core::hash::Hash>(state: &S) -> u32 {
    (hash_of(state) >> 32) as u32
}

impl<S: Clone + Eq + core::hash::Hash> Diagram<S> {
    /// Decides one more variable. Returns `false` if the current layer is the last.
    pub(super) fn grow<P>(&mut self, task: &Task<'_, P>, host: &mut impl Host) -> Result<bool, Halt>
    where
        P: Relaxation<State = S>,
    {
        let problem = task.model.problem;
        if self.pool.is_empty() || self.depth >= problem.variables() {
            return Ok(false);
        }
        let states = &self.states;
        let Some(variable) = problem.next_variable(self.depth, self.pool.iter().map(|&id| &states[id as usize])) else {
            return Ok(false);
        };
        if host.stop() {
            return Err(Halt::Stopped);
        }
        self.split_layer(task, variable);
        let stayed = self.next.len();
        if !self.branching.is_empty() {
            if stayed == 0 {
                self.table.reset(0);
            }
            self.expand(task, variable, host.floor())?;
        }
        core::mem::swap(&mut self.pool, &mut self.next);
        self.depth += 1;
        if self.pool.len() > stayed {
            self.filter(task, stayed);
        }
        Ok(true)
    }

    /// Splits the layer into nodes to which the variable matters, and nodes that stay.
    ///
    /// The split must be complete before the first child is made: a child comes after the decision,
    /// and must not be confused with a node before it.
    fn split_layer<P>(&mut self, task: &Task<'_, P>, variable: Variable)
    where
        P: Relaxation<State = S>,
    {
        self.next.clear();
        self.branching.clear();
        for &id in &self.pool {
            if task.model.problem.matters(variable, &self.states[id as usize]) {
                self.nodes[id as usize].flags |= GONE;
                self.branching.push(id);
            } else {
                self.next.push(id);
            }
        }
    }

    fn expand<P>(&mut self, task: &Task<'_, P>, variable: Variable, floor: Cost) -> Result<(), Halt>
    where
        P: Relaxation<State = S>,
    {
        let layer = self.layers.len() as u32;
        self.layers.push(Layer { variable, depth: self.depth as u32, start: self.closed.len() as u32 });
        // A layer below the root's layer has its nodes closed now, and can be the last exact one.
        self.below_root = layer > 0;
        let mut values = core::mem::take(&mut self.values);
        for at in 0..self.branching.len() {
            let id = self.branching[at];
            values.clear();
            task.model.problem.domain(variable, &self.states[id as usize], |value| values.push(value));
            for &value in &values {
                self.branch(task, id, Decision { variable, value }, floor)?;
            }
            let node = &mut self.nodes[id as usize];
            node.layer = layer;
            node.arcs_end = self.arcs.len() as u32;
            self.closed.push(id);
        }
        self.values = values;
        Ok(())
    }

    /// Makes the arc of a decision, and its lower node if that is new.
    ///
    /// Neither is made if nothing better than `floor` can follow.
    #[inline]
    fn branch<P>(&mut self, task: &Task<'_, P>, from: u32, decision: Decision, floor: Cost) -> Result<(), Overflow>
    where
        P: Relaxation<State = S>,
    {
        let state = &self.states[from as usize];
        let next = task.model.problem.transition(state, decision);
        let arc_cost = task.model.cost(state, &next, decision)?;
        let Node { cost: so_far, flags: above, .. } = self.nodes[from as usize];
        let cost = add(so_far, arc_cost)?;
        let hash = half_hash(&next);
        let (nodes, states) = (&self.nodes, &self.states);
        let found = self.table.find(hash, |id| !nodes[id as usize].has(GONE) && states[id as usize] == next);
        match found {
            Ok(id) => {
                let node = &mut self.nodes[id as usize];
                let rough = node.rough;
                if bound_of(cost, rough)? <= floor {
                    self.lower_threshold(from, arc_cost, rough, floor);
                    return Ok(());
                }
                // A node is exact only if all nodes above it are.
                node.flags &= above | !EXACT;
                let arc = self.make_arc(from, decision.value, arc_cost);
                self.attach_arc(id, arc, cost);
            }
            Err(slot) => {
                let rough = task.model.rough_bound(self.depth + 1, &next)?;
                if bound_of(cost, rough)? <= floor {
                    self.lower_threshold(from, arc_cost, rough, floor);
                    return Ok(());
                }
                let id = self.nodes.len() as u32;
                let mut node = Node::new(cost, rough, hash, self.depth + 1, above & EXACT);
                let arc = self.make_arc(from, decision.value, arc_cost);
                self.arcs[arc as usize].to = id;
                node.inbound = arc;
                node.best = arc;
                self.nodes.push(node);
                self.states.push(next);
                self.next.push(id);
                if self.table.is_full() {
                    self.rebuild_table();
                } else {
                    self.table.put(slot, hash, id);
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn make_arc(&mut self, from: u32, value: Value, cost: Cost) -> u32 {
        self.push_arc(Arc { cost, value, from, to: NONE, next: NONE })
    }

    /// Lowers the threshold of a node for an arc that was pruned.
    ///
    /// The arc is of use only if the node is reached at a cost above the threshold.
    #[inline]
    fn lower_threshold(&mut self, from: u32, arc_cost: Cost, rough: Cost, floor: Cost) {
        let node = &mut self.nodes[from as usize];
        node.threshold = node.threshold.min(floor.saturating_sub(rough).saturating_sub(arc_cost));
    }

    /// Empties the table and adds the nodes that the next layer has so far.
    #[cold]
    fn rebuild_table(&mut self) {
        self.table.reset(self.next.len() * 2);
        for &id in &self.next {
            self.table.add(self.nodes[id as usize].hash, id);
        }
    }

    /// Drops nodes made for this layer that were seen before, at no worse a cost.
    ///
    /// They may have been seen in this diagram or in another.
    fn filter<P>(&mut self, task: &Task<'_, P>, stayed: usize)
    where
        P: Relaxation<State = S>,
    {
        let (nodes, states, depth) = (&mut self.nodes, &self.states, self.depth);
        if let Some(cache) = task.cache {
            let before = self.pool.len();
            retain_from(&mut self.pool, stayed, |id| {
                let node = &mut nodes[id as usize];
                match cache.threshold(node.hash, depth, &states[id as usize]) {
                    Some(threshold) if node.cost <= threshold => {
                        node.threshold = threshold;
                        node.flags |= GONE;
                        false
                    }
                    _ => true,
                }
            });
            self.cache_lookups += (before - stayed) as u64;
            self.cache_hits += (before - self.pool.len()) as u64;
        }
        if let Some(dominance) = task.dominance {
            // Greatest cost first: these dominate the others, not the other way round.
            greatest_cost_first(&mut self.pool[stayed..], nodes);
            retain_from(&mut self.pool, stayed, |id| {
                let node = &mut nodes[id as usize];
                if !node.is_exact() {
                    return true;
                }
                match dominance.check(depth, &states[id as usize], node.cost) {
                    Some(threshold) => {
                        node.threshold = threshold;
                        node.flags |= GONE;
                        false
                    }
                    None => true,
                }
            });
        }
    }
}

/// Sorts nodes by cost. It is compiled once, not for each problem.
fn greatest_cost_first(pool: &mut [u32], nodes: &[Node]) {
    pool.sort_unstable_by_key(|&id| (core::cmp::Reverse(nodes[id as usize].cost), id));
}

/// Retains the elements from `start` on for which `keep` returns `true`.
pub(super) fn retain_from(list: &mut Vec<u32>, start: usize, mut keep: impl FnMut(u32) -> bool) {
    let mut kept = start;
    for at in start..list.len() {
        let id = list[at];
        if keep(id) {
            list[kept] = id;
            kept += 1;
        }
    }
    list.truncate(kept);
}
