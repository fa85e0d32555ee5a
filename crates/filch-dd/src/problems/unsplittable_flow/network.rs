//! An instance as in the file, and the data computed from it before a search.

use super::super::{invalid, Invalid};
use crate::Cost;

/// An arc from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    /// The node where it begins, counted from 0.
    pub from: usize,
    /// The node where it ends: a higher number.
    pub to: usize,
    /// The most that it can carry.
    pub capacity: u32,
}

/// The properties of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The most that it can send, if it is a source.
    pub supply: u32,
    /// The value of every unit that arrives, if it is a sink.
    pub value: u32,
    /// Whether the flow that arrives must be neither split nor merged.
    pub chosen: bool,
}

/// An instance, and its model: [`State`](super::State) describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    nodes: Vec<Node>,
    arcs: Vec<Arc>,
    /// The arcs that lead to each node.
    pub(super) into: Vec<Vec<usize>>,
    /// The arcs that lead away from each node.
    pub(super) out: Vec<Vec<usize>>,
    /// The variables in their order.
    pub(super) steps: Vec<Step>,
    /// The most flow of each arc that can reach a sink. More need never be sent along it.
    pub(super) through: Vec<u32>,
    /// The greatest value that a unit at each node can reach.
    pub(super) best: Vec<Cost>,
    /// For each number of decisions, the values still ahead.
    ///
    /// The first is the greatest value of the sources that have not sent yet. The second is that of
    /// what the sinks can still take.
    pub(super) ahead: Vec<(Cost, Cost)>,
    pub(super) limit: Cost,
}

/// What a variable decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) node: usize,
    /// At a chosen node an incoming arc, at others an outgoing one.
    pub(super) arc: usize,
    /// Whether it is the last variable of its node, so that the next nodes follow.
    pub(super) last: bool,
}

pub(super) const MAX_NODES: usize = 4096;
pub(super) const MAX_ARCS: usize = 65_536;
/// The most that an arc can carry.
///
/// A node that can split has a value for each unit that an arc can carry. A chosen node has a bit
/// for each outgoing arc.
pub(super) const MAX_CAPACITY: u32 = 65_535;
const MAX_OUT: usize = 64;
/// No sum of flows times values comes near an overflow.
pub(super) const MAX_VALUE: u32 = 1_000_000;

impl Network {
    /// Returns a network of these nodes and arcs.
    ///
    /// # Errors
    ///
    /// If an arc does not go from a lower to a higher number of an existing node, or carries more
    /// than 65,535; if a node with a supply has an incoming arc, or a node with a value has an
    /// outgoing one; if a chosen node has no incoming or no outgoing arc, or more than 64 outgoing
    /// ones; if a unit is worth more than 1,000,000; or if there are more than 4,096 nodes or
    /// 65,536 arcs.
    pub fn new(nodes: Vec<Node>, arcs: Vec<Arc>) -> Result<Network, Invalid> {
        if nodes.len() > MAX_NODES || arcs.len() > MAX_ARCS {
            return invalid(format!(
                "there are {} nodes and {} arcs, but at most {MAX_NODES} and {MAX_ARCS} are allowed",
                nodes.len(),
                arcs.len()
            ));
        }
        let mut into = vec![Vec::new(); nodes.len()];
        let mut out = vec![Vec::new(); nodes.len()];
        for (at, arc) in arcs.iter().enumerate() {
            if arc.from >= arc.to || arc.to >= nodes.len() {
                return invalid(format!(
                    "arc {} goes from node {} to node {}: it must go to a higher number, up to {}",
                    at + 1,
                    arc.from + 1,
                    arc.to + 1,
                    nodes.len()
                ));
            }
            if arc.capacity > MAX_CAPACITY {
                return invalid(format!(
                    "arc {} can carry {}, but at most {MAX_CAPACITY} is allowed",
                    at + 1,
                    arc.capacity
                ));
            }
            out[arc.from].push(at);
            into[arc.to].push(at);
        }
        for (at, node) in nodes.iter().enumerate() {
            let name = at + 1;
            if node.supply > 0 && !into[at].is_empty() {
                return invalid(format!("node {name} has a supply, but an arc leads to it, so it is no source"));
            }
            if node.value > MAX_VALUE {
                return invalid(format!(
                    "a unit at node {name} is worth {}, but at most {MAX_VALUE} is allowed",
                    node.value
                ));
            }
            if node.value > 0 && !out[at].is_empty() {
                return invalid(format!("node {name} has a value, but an arc leads away from it, so it is no sink"));
            }
            if node.chosen && (into[at].is_empty() || out[at].is_empty()) {
                return invalid(format!("node {name} is chosen, but has no arcs to match: there must be some that lead to it and some that lead away"));
            }
            if node.chosen && out[at].len() > MAX_OUT {
                return invalid(format!(
                    "node {name} is chosen and {} arcs lead away from it, but at most {MAX_OUT} are allowed",
                    out[at].len()
                ));
            }
        }

        let mut network = Network {
            through: vec![0; arcs.len()],
            best: vec![0; nodes.len()],
            steps: Vec::new(),
            ahead: Vec::new(),
            limit: 0,
            nodes,
            arcs,
            into,
            out,
        };
        network.compute_passing_flow();
        network.compute_steps();
        Ok(network)
    }

    /// Computes the flow that each arc lets through, and a unit's value.
    ///
    /// The value is the greatest that a unit at each node can reach. The pass goes from the sinks
    /// to the sources.
    fn compute_passing_flow(&mut self) {
        for at in (0..self.nodes.len()).rev() {
            let ways = self.out[at].iter().map(|&arc| self.through[arc]);
            let passes = match (self.out[at].is_empty(), self.nodes[at].chosen) {
                (true, _) if self.nodes[at].value > 0 => u32::MAX,
                (true, _) => 0,
                // The flow of one incoming arc goes along one outgoing arc.
                (false, true) => ways.max().unwrap_or(0),
                (false, false) => ways.fold(0, u32::saturating_add),
            };
            self.best[at] = match self.out[at].is_empty() {
                true => Cost::from(self.nodes[at].value),
                false => self.out[at].iter().map(|&arc| self.best[self.arcs[arc].to]).max().unwrap_or(0),
            };
            for &arc in &self.into[at] {
                self.through[arc] = self.arcs[arc].capacity.min(passes);
            }
        }
    }

    /// Computes the variables, and the value that is still ahead of each.
    fn compute_steps(&mut self) {
        let mut sources = vec![0; self.nodes.len() + 1];
        let mut sinks = vec![0; self.nodes.len() + 1];
        for at in (0..self.nodes.len()).rev() {
            let passes: u64 = self.out[at].iter().map(|&arc| u64::from(self.through[arc])).sum();
            let sent = u64::from(self.nodes[at].supply).min(passes);
            sources[at] = sources[at + 1] + sent as Cost * self.best[at];
            let worth = |&arc: &usize| Cost::from(self.through[arc]) * Cost::from(self.nodes[self.arcs[arc].to].value);
            let worths = self.out[at].iter().map(worth);
            // In a merged state an outgoing arc may count as free although the states have taken
            // it. So each incoming arc may get the best one.
            let all: Cost = match self.nodes[at].chosen {
                true => worths.max().unwrap_or(0) * self.into[at].len() as Cost,
                false => worths.sum(),
            };
            sinks[at] = sinks[at + 1] + all;
        }
        self.limit = 2 * sinks[0];
        for at in 0..self.nodes.len() {
            let arcs = match self.nodes[at].chosen {
                true => &self.into[at][..],
                // What is left goes along the last arc: there is nothing to decide.
                false => &self.out[at][..self.out[at].len().saturating_sub(1)],
            };
            for (place, &arc) in arcs.iter().enumerate() {
                self.steps.push(Step { node: at, arc, last: place + 1 == arcs.len() });
                self.ahead.push((sources[at + 1], sinks[at]));
            }
        }
        self.ahead.push((0, 0));
    }

    /// Returns the nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the arcs.
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// Returns the value of a unit that arrives along an arc.
    #[inline]
    pub(super) fn value(&self, arc: usize) -> Cost {
        Cost::from(self.nodes[self.arcs[arc].to].value)
    }

    /// Returns the instance as the text of a file.
    pub fn text(&self) -> String {
        let mut text = format!("p flow {} {}\n", self.nodes.len(), self.arcs.len());
        for (at, node) in self.nodes.iter().enumerate() {
            if node.supply > 0 {
                text += &format!("s {} {}\n", at + 1, node.supply);
            }
            if node.value > 0 {
                text += &format!("t {} {}\n", at + 1, node.value);
            }
            if node.chosen {
                text += &format!("u {}\n", at + 1);
            }
        }
        for arc in &self.arcs {
            text += &format!("a {} {} {}\n", arc.from + 1, arc.to + 1, arc.capacity);
        }
        text
    }
}
