//! The path from a pop to a pop that makes the fewest stores.
//!
//! Calls and returns are matched: a path through a called function returns to its call, at the
//! price of the cheapest path through the callee. A path that returns from the function it began
//! in, or from that function's caller, may return to any caller. Where control flow is unknown (an
//! indirect call, an indirect jump, or a return to an unknown caller), the path may reach the place
//! at once. No path can be shorter, so the result is a lower bound. It may be lower than necessary.
//!
//! Functions of libraries are assumed to return without a pop and without a store. Panics are
//! ignored: unwinding makes more stores than any buffer holds.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::blocks::{Block, Code, End};
use super::program::Program;

/// Adds two numbers of stores, saturating. Nested calls can double the number each time.
fn sum(some: u64, more: u64) -> u64 {
    some.saturating_add(more).min(u64::MAX - 1)
}

/// A path from one of the places to one of them.
#[derive(Clone, Debug)]
pub(super) struct CheapestPath {
    /// How many stores it makes, including the store of the place itself.
    pub(super) stores: u64,
    /// The blocks that it passes through.
    pub(super) steps: Vec<Step>,
    /// Where its target becomes unknown.
    pub(super) exit: Option<Exit>,
}

/// A block on the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The index of its function.
    pub(super) function: usize,
    /// The address where it begins.
    pub(super) address: u64,
    /// How many stores it makes, including the stores of callees that return.
    pub(super) stores: u64,
}

/// How a path leaves the known control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// By an indirect call at this address.
    Call(u64),
    /// By an indirect jump at this address.
    Jump(u64),
    /// By returning from this function to an unknown caller.
    Return(usize),
}

/// Returns the cheapest path from any of these blocks to any; `None` if none exists.
pub(super) fn find(program: &Program, code: &Code, places: &HashSet<usize>) -> Option<CheapestPath> {
    let graph = Graph::new(program, code, places);
    let fewest = graph.fewest_stores();
    let starts = places.iter().map(|&place| Node::Block(place, Entered::FromOutside));
    let (stores, start) = starts.filter_map(|start| Some((fewest.get(&start)?.0, start))).min()?;
    let mut path = CheapestPath { stores, steps: Vec::new(), exit: None };
    let mut node = start;
    while let Some((_, Some(edge))) = fewest.get(&node) {
        if let Node::Block(block, _) = node {
            let Block { function, start, .. } = code.blocks[block];
            path.steps.push(Step { function, address: start, stores: edge.stores });
        }
        path.exit = edge.exit;
        node = edge.to;
    }
    Some(path)
}

/// Returns, for each block, the fewest stores from its beginning to its function's return.
///
/// This is Knuth's form of Dijkstra's algorithm: the price of a call is the sum of two paths,
/// through the callee and from the call on.
fn stores_to_return(code: &Code) -> Vec<Option<u64>> {
    let blocks = &code.blocks;
    // The blocks that come before each block, and the calls of it.
    let mut earlier: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
    let mut queue = BinaryHeap::new();
    for (index, block) in blocks.iter().enumerate() {
        code.successors(index).chain(code.callee(index)).for_each(|to| earlier[to].push(index));
        if matches!(block.end, End::Returns | End::JumpsToLibrary | End::JumpsUnknown) {
            queue.push(Reverse((block.stores, index)));
        }
    }

    let mut fewest = vec![None; blocks.len()];
    while let Some(Reverse((stores, index))) = queue.pop() {
        if fewest[index].is_some() {
            continue;
        }
        fewest[index] = Some(stores);
        for &block in &earlier[index] {
            let rest = match (code.callee(block), blocks[block].next) {
                (None, _) => Some(stores),
                (Some(callee), Some(next)) => {
                    fewest[callee].zip(fewest[next]).map(|(inside, after)| sum(inside, after))
                }
                (Some(_), None) => None,
            };
            queue.extend(rest.map(|rest| Reverse((sum(blocks[block].stores, rest), block))));
        }
    }
    fewest
}

/// A node of the graph of control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Node {
    /// At the beginning of a block.
    Block(usize, Entered),
    /// Returning from a function to any caller.
    Return(usize),
    /// At a place again.
    End,
}

/// How the path got into the function of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Entered {
    /// It began there, or returned there: a return may lead to any caller.
    FromOutside,
    /// By a call on the path: a return leads back to a caller that the path has already handled.
    ByCall,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: Node,
    to: Node,
    stores: u64,
    exit: Option<Exit>,
}

/// The graph of control flow: the edges into each node.
struct Graph<'a> {
    code: &'a Code,
    places: &'a HashSet<usize>,
    into: HashMap<Node, Vec<Edge>>,
}

impl<'a> Graph<'a> {
    fn new(program: &Program, code: &'a Code, places: &'a HashSet<usize>) -> Graph<'a> {
        let mut graph = Graph { code, places, into: HashMap::new() };
        let stores_to_return = stores_to_return(code);
        let mut has_callers = vec![false; program.functions.len()];
        for (index, block) in code.blocks.iter().enumerate() {
            for entered in [Entered::FromOutside, Entered::ByCall] {
                graph.add_block(index, entered, &stores_to_return);
            }
            if let Some(callee) = code.callee(index) {
                let called = code.blocks[callee].function;
                has_callers[called] = true;
                if let Some(next) = block.next {
                    graph.add(Node::Return(called), graph.entry(next, Entered::FromOutside), 0);
                }
            }
            // A tail call: the function that is entered returns to the callers of the first. The
            // next block is in another function if a symbol is in the middle of a function's code.
            for to in code.successors(index) {
                let into = code.blocks[to].function;
                if into != block.function {
                    has_callers[into] = true;
                    graph.add(Node::Return(into), Node::Return(block.function), 0);
                }
            }
        }
        for (index, function) in program.functions.iter().enumerate() {
            if program.unnamed > 0
                || function.is_pointed_to
                || code.address_taken.contains(&index)
                || !has_callers[index]
            {
                graph.add_exit(Node::Return(index), 0, Exit::Return(index));
            }
        }
        graph
    }

    /// Adds the edges of a block.
    fn add_block(&mut self, index: usize, entered: Entered, stores_to_return: &[Option<u64>]) {
        let (code, node) = (self.code, Node::Block(index, entered));
        let Block { stores, last, function, end, .. } = code.blocks[index];
        let mut until_successor = Some(stores);
        if let Some(callee) = code.callee(index) {
            self.add(node, self.entry(callee, Entered::ByCall), stores);
            until_successor = stores_to_return[callee].map(|inside| sum(stores, inside));
        }
        match end {
            End::CallsUnknown => self.add_exit(node, stores, Exit::Call(last)),
            End::JumpsUnknown => self.add_exit(node, stores, Exit::Jump(last)),
            End::Returns | End::JumpsToLibrary if entered == Entered::FromOutside => {
                self.add(node, Node::Return(function), stores);
            }
            _ => {
                let Some(stores) = until_successor else { return };
                code.successors(index).for_each(|to| self.add(node, self.entry(to, entered), stores));
            }
        }
    }

    fn add(&mut self, from: Node, to: Node, stores: u64) {
        self.into.entry(to).or_default().push(Edge { from, to, stores, exit: None });
    }

    fn add_exit(&mut self, from: Node, stores: u64, exit: Exit) {
        self.into.entry(Node::End).or_default().push(Edge { from, to: Node::End, stores, exit: Some(exit) });
    }

    /// Returns the node for entering a block. The blocks of the places are where the path ends.
    fn entry(&self, block: usize, entered: Entered) -> Node {
        if self.places.contains(&block) {
            Node::End
        } else {
            Node::Block(block, entered)
        }
    }

    /// Returns, for each node that leads to a place, the fewest stores to it, and the first edge.
    fn fewest_stores(&self) -> HashMap<Node, (u64, Option<Edge>)> {
        let mut fewest = HashMap::from([(Node::End, (0, None))]);
        let mut queue = BinaryHeap::from([Reverse((0, Node::End))]);
        while let Some(Reverse((stores, node))) = queue.pop() {
            if stores > fewest[&node].0 {
                continue;
            }
            for &edge in self.into.get(&node).into_iter().flatten() {
                let total = sum(stores, edge.stores);
                if fewest.get(&edge.from).is_none_or(|&(known, _)| total < known) {
                    fewest.insert(edge.from, (total, Some(edge)));
                    queue.push(Reverse((total, edge.from)));
                }
            }
        }
        fewest
    }
}
