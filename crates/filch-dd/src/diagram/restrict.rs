//! The restricted diagram: keeps the best nodes of each layer and drops the others.
//!
//! What it reaches are solutions.
//!
//! It starts from the nodes of the layer at which the relaxed diagram begins to merge. Only the
//! best path to a node is kept, since only the best solution is needed.

use super::layer::{half_hash, retain_from};
use super::merge::{best_first, Ranked};
use super::node::NONE;
use super::table::Table;
use super::{Diagram, Halt, Host, Task};
use crate::model::{add, bound_of};
use crate::problem::{Cost, Decision, Relaxation, Value, Variable};

/// A node of the relaxed diagram from which the restricted one starts.
///
/// Its data is that of the time of the start.
#[derive(Clone, Copy)]
pub(super) struct Start {
    pub(super) id: u32,
    pub(super) cost: Cost,
    pub(super) best: u32,
}

struct Node {
    cost: Cost,
    rough: Cost,
    rank: i64,
    value: Value,
    variable: Variable,
    /// The node above.
    ///
    /// For the first nodes, it is the arc of the relaxed diagram that leads to them.
    above: u32,
    hash: u32,
    gone: bool,
    ranked: bool,
}

pub(super) struct Restricted<S> {
    nodes: Vec<Node>,
    states: Vec<S>,
    /// The number of first nodes.
    first: usize,
    pool: Vec<u32>,
    next: Vec<u32>,
    branching: Vec<u32>,
    values: Vec<Value>,
    ranked: Vec<Ranked>,
    table: Table,
}

impl<S: Clone + Eq + core::hash::Hash> Restricted<S> {
    pub(super) fn new() -> Self {
        Restricted {
            nodes: Vec::new(),
            states: Vec::new(),
            first: 0,
            pool: Vec::new(),
            next: Vec::new(),
            branching: Vec::new(),
            values: Vec::new(),
            ranked: Vec::new(),
            table: Table::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.states.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Starts from nodes of the relaxed diagram.
    fn start(&mut self, starts: &[Start], nodes: &[super::node::Node], states: &[S]) {
        self.clear();
        self.pool.clear();
        self.table.reset(starts.len() * 2);
        for &Start { id, cost, best } in starts {
            let node = &nodes[id as usize];
            let at = self.nodes.len() as u32;
            self.nodes.push(Node {
                cost,
                rough: node.rough,
                rank: node.rank,
                value: 0,
                variable: Variable(0),
                above: best,
                hash: node.hash,
                gone: false,
                ranked: node.has(super::node::RANKED),
            });
            self.states.push(states[id as usize].clone());
            self.table.add(node.hash, at);
            self.pool.push(at);
        }
        self.first = self.nodes.len();
    }

    /// Decides all variables.
    ///
    /// Returns the best node of the last layer, if it is better than the best known solution.
    fn run<P>(
        &mut self,
        task: &Task<'_, P>,
        host: &mut impl Host,
        mut depth: usize,
    ) -> Result<Option<(Cost, u32)>, Halt>
    where
        P: Relaxation<State = S>,
    {
        let problem = task.model.problem;
        while !self.pool.is_empty() && depth < problem.variables() {
            let states = &self.states;
            let layer = self.pool.iter().map(|&id| &states[id as usize]);
            let Some(variable) = problem.next_variable(depth, layer) else { break };
            if host.stop() {
                return Err(Halt::Stopped);
            }
            self.next.clear();
            self.branching.clear();
            for &id in &self.pool {
                if problem.matters(variable, &self.states[id as usize]) {
                    self.nodes[id as usize].gone = true;
                    self.branching.push(id);
                } else {
                    self.next.push(id);
                }
            }
            let stayed = self.next.len();
            if stayed == 0 {
                self.table.reset(0);
            }
            depth += 1;
            let floor = host.floor();
            for at in 0..self.branching.len() {
                self.expand(task, self.branching[at], variable, depth, floor)?;
            }
            core::mem::swap(&mut self.pool, &mut self.next);
            if self.pool.len() > stayed {
                self.filter(task, depth, stayed);
                self.narrow(task);
            }
        }
        let best = self.pool.iter().map(|&id| (self.nodes[id as usize].cost, id));
        Ok(best.max_by_key(|&(cost, id)| (cost, core::cmp::Reverse(id))).filter(|&(cost, _)| cost > host.floor()))
    }

    fn expand<P>(
        &mut self,
        task: &Task<'_, P>,
        id: u32,
        variable: Variable,
        depth: usize,
        floor: Cost,
    ) -> Result<(), Halt>
    where
        P: Relaxation<State = S>,
    {
        let mut values = core::mem::take(&mut self.values);
        values.clear();
        task.model.problem.domain(variable, &self.states[id as usize], |value| values.push(value));
        let so_far = self.nodes[id as usize].cost;
        for &value in &values {
            let decision = Decision { variable, value };
            let state = &self.states[id as usize];
            let next = task.model.problem.transition(state, decision);
            let cost = add(so_far, task.model.cost(state, &next, decision)?)?;
            let hash = half_hash(&next);
            let (nodes, states) = (&self.nodes, &self.states);
            match self.table.find(hash, |id| !nodes[id as usize].gone && states[id as usize] == next) {
                Ok(found) => {
                    let node = &mut self.nodes[found as usize];
                    if cost > node.cost {
                        // A first node that is reached from another node is no longer a first node:
                        // a new node takes its place in the layer.
                        if (found as usize) < self.first {
                            node.gone = true;
                            let (rough, rank, ranked) = (node.rough, node.rank, node.ranked);
                            let at = self.nodes.len() as u32;
                            self.nodes.push(Node {
                                cost,
                                rough,
                                rank,
                                value,
                                variable,
                                above: id,
                                hash,
                                gone: false,
                                ranked,
                            });
                            self.states.push(next);
                            if let Some(place) = self.next.iter_mut().find(|place| **place == found) {
                                *place = at;
                            }
                            self.add_to_table(hash, at);
                        } else {
                            node.cost = cost;
                            node.value = value;
                            node.variable = variable;
                            node.above = id;
                        }
                    }
                }
                Err(_) => {
                    let rough = task.model.rough_bound(depth, &next)?;
                    if bound_of(cost, rough)? <= floor {
                        continue;
                    }
                    let at = self.nodes.len() as u32;
                    self.nodes.push(Node {
                        cost,
                        rough,
                        rank: 0,
                        value,
                        variable,
                        above: id,
                        hash,
                        gone: false,
                        ranked: false,
                    });
                    self.states.push(next);
                    self.next.push(at);
                    self.add_to_table(hash, at);
                }
            }
        }
        self.values = values;
        Ok(())
    }

    /// Adds a node that is already in the next layer to the table.
    #[inline]
    fn add_to_table(&mut self, hash: u32, at: u32) {
        if self.table.is_full() {
            self.table.reset(self.next.len() * 2);
            for &id in &self.next {
                self.table.add(self.nodes[id as usize].hash, id);
            }
        } else {
            self.table.add(hash, at);
        }
    }

    /// Drops nodes that were seen before at no worse a cost.
    fn filter<P>(&mut self, task: &Task<'_, P>, depth: usize, stayed: usize)
    where
        P: Relaxation<State = S>,
    {
        let (nodes, states) = (&mut self.nodes, &self.states);
        if let Some(cache) = task.cache {
            retain_from(&mut self.pool, stayed, |id| {
                let node = &mut nodes[id as usize];
                let threshold = cache.threshold(node.hash, depth, &states[id as usize]);
                node.gone = threshold.is_some_and(|threshold| node.cost <= threshold);
                !node.gone
            });
        }
        if let Some(dominance) = task.dominance {
            greatest_cost_first(&mut self.pool[stayed..], nodes);
            retain_from(&mut self.pool, stayed, |id| {
                let node = &mut nodes[id as usize];
                node.gone = dominance.check(depth, &states[id as usize], node.cost).is_some();
                !node.gone
            });
        }
    }

    fn narrow<P>(&mut self, task: &Task<'_, P>)
    where
        P: Relaxation<State = S>,
    {
        if self.pool.len() <= task.width {
            return;
        }
        self.ranked.clear();
        for &id in &self.pool {
            let node = &mut self.nodes[id as usize];
            if !node.ranked {
                node.rank = task.model.problem.rank(&self.states[id as usize]);
                node.ranked = true;
            }
            self.ranked.push((node.cost, node.rank, core::cmp::Reverse(id)));
        }
        best_first(&mut self.ranked, task.width);
        for &(_, _, core::cmp::Reverse(id)) in &self.ranked[task.width..] {
            self.nodes[id as usize].gone = true;
        }
        self.pool.clear();
        self.pool.extend(self.ranked[..task.width].iter().map(|&(_, _, core::cmp::Reverse(id))| id));
    }

    /// Visits the decisions that lead to a node, the last one first.
    ///
    /// Returns the arc of the relaxed diagram above them.
    fn walk_up(&self, mut id: u32, mut visit: impl FnMut(Decision)) -> u32 {
        loop {
            let node = &self.nodes[id as usize];
            if (id as usize) < self.first {
                return node.above;
            }
            visit(Decision { variable: node.variable, value: node.value });
            id = node.above;
        }
    }
}

impl<S: Clone + Eq + core::hash::Hash> Diagram<S> {
    /// Builds the restricted diagram and reports its best solution.
    ///
    /// It starts where the relaxed diagram began to merge. The solution is reported only if it is
    /// better than the best known one.
    pub(super) fn restrict<P>(&mut self, task: &Task<'_, P>, host: &mut impl Host) -> Result<(), Halt>
    where
        P: Relaxation<State = S>,
    {
        self.restricted_done = true;
        self.restricted.start(&self.starts, &self.nodes, &self.states);
        let Some((cost, leaf)) = self.restricted.run(task, host, self.starts_depth)? else { return Ok(()) };
        let mut path = core::mem::take(&mut self.path);
        path.clear();
        let arc = self.restricted.walk_up(leaf, |decision| path.push(decision));
        debug_assert!(arc != NONE, "the layer that is too wide is below the root");
        self.walk_up(arc, |decision| path.push(decision));
        path.reverse();
        let reported = host.found(cost, &path);
        self.path = path;
        reported
    }
}

/// Sorts nodes by cost. It is compiled once, not for each problem.
fn greatest_cost_first(pool: &mut [u32], nodes: &[Node]) {
    pool.sort_unstable_by_key(|&id| (core::cmp::Reverse(nodes[id as usize].cost), id));
}
