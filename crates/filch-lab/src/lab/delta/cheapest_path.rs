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
use std::collections::{BinaryHeap, HashSet};

use super::blocks::{Block, Code, End};
use super::program::Program;

/// The distance of a node that is not reached.
const UNREACHED: u64 = u64::MAX;

/// Adds two numbers of stores, saturating. Nested calls can double the number each time.
fn sum(some: u64, more: u64) -> u64 {
    some.saturating_add(more).min(UNREACHED - 1)
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
    let stores_to_return = stores_to_return(code);
    let graph = Graph::new(program, code, places, &stores_to_return);
    let (distances, next) = graph.distances();
    let starts = places.iter().map(|&place| graph.outer_node(place));
    let start = starts.filter(|&start| distances[start] != UNREACHED).min_by_key(|&start| (distances[start], start))?;
    let mut path = CheapestPath { stores: distances[start], steps: Vec::new(), exit: None };
    let mut node = start;
    while let Some(edge) = next[node] {
        let edge = graph.edges[edge];
        if let Some(block) = graph.block(node) {
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
fn stores_to_return(code: &Code) -> Vec<u64> {
    let blocks = &code.blocks;
    // The predecessors of each block; and the calls for which it is the callee or the return
    // target.
    let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
    let mut calls: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
    let mut queue = BinaryHeap::new();
    for (index, block) in blocks.iter().enumerate() {
        match block.end {
            End::Falls | End::CallsLibrary | End::CallsUnknown => add_to_next(block, index, &mut predecessors),
            End::Jumps(to) => predecessors[to].push(index),
            End::Branches(to) => {
                predecessors[to].push(index);
                add_to_next(block, index, &mut predecessors);
            }
            End::Calls(to) => {
                calls[to].push(index);
                block.next.into_iter().for_each(|next| calls[next].push(index));
            }
            End::Returns | End::JumpsToLibrary | End::JumpsUnknown => queue.push(Reverse((block.stores, index))),
            End::Stops => {}
        }
    }

    let mut fewest = vec![UNREACHED; blocks.len()];
    while let Some(Reverse((stores, index))) = queue.pop() {
        if fewest[index] != UNREACHED {
            continue;
        }
        fewest[index] = stores;
        for &earlier in &predecessors[index] {
            queue.push(Reverse((sum(blocks[earlier].stores, stores), earlier)));
        }
        for &caller in &calls[index] {
            let (End::Calls(called), Some(next)) = (blocks[caller].end, blocks[caller].next) else { continue };
            if fewest[called] != UNREACHED && fewest[next] != UNREACHED {
                let total = sum(sum(blocks[caller].stores, fewest[called]), fewest[next]);
                queue.push(Reverse((total, caller)));
            }
        }
    }
    fewest
}

fn add_to_next(block: &Block, index: usize, predecessors: &mut [Vec<usize>]) {
    block.next.into_iter().for_each(|next| predecessors[next].push(index));
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: usize,
    to: usize,
    stores: u64,
    exit: Option<Exit>,
}

/// The graph of control flow, with two nodes for each block.
///
/// The first node is for a block entered from outside, where a return may lead to any caller. The
/// second is for a block entered by a call on the path, where a return leads back to a caller that
/// the path has already handled. Each function has a node for returning from it. A last node stands
/// for being at a place again.
struct Graph<'a> {
    blocks: usize,
    functions: usize,
    places: &'a HashSet<usize>,
    edges: Vec<Edge>,
}

impl<'a> Graph<'a> {
    fn new(program: &Program, code: &Code, places: &'a HashSet<usize>, stores_to_return: &[u64]) -> Graph<'a> {
        let mut graph =
            Graph { blocks: code.blocks.len(), functions: program.functions.len(), places, edges: Vec::new() };
        let mut has_callers = vec![false; program.functions.len()];
        for (index, block) in code.blocks.iter().enumerate() {
            for is_outer in [true, false] {
                graph.add_block(code, index, is_outer, stores_to_return);
            }
            match block.end {
                End::Calls(to) => {
                    let called = code.blocks[to].function;
                    has_callers[called] = true;
                    if let Some(next) = block.next {
                        graph.add(graph.return_node(called), graph.entry_node(next, true), 0);
                    }
                }
                End::Jumps(to) | End::Branches(to) => graph.add_tail_call(code, block.function, to, &mut has_callers),
                _ => {}
            }
            // The next block is in another function if a symbol is in the middle of another
            // function's code.
            let reaches_next = matches!(
                block.end,
                End::Falls | End::Branches(_) | End::Calls(_) | End::CallsLibrary | End::CallsUnknown
            );
            if let (true, Some(next)) = (reaches_next, block.next) {
                graph.add_tail_call(code, block.function, next, &mut has_callers);
            }
        }
        for (index, function) in program.functions.iter().enumerate() {
            if program.unnamed > 0
                || function.is_pointed_to
                || code.address_taken.contains(&index)
                || !has_callers[index]
            {
                graph.add_exit(graph.return_node(index), 0, Exit::Return(index));
            }
        }
        graph
    }

    /// Adds the edges of a block.
    fn add_block(&mut self, code: &Code, index: usize, is_outer: bool, stores_to_return: &[u64]) {
        let block = &code.blocks[index];
        let node = if is_outer { self.outer_node(index) } else { self.inner_node(index) };
        let continue_at = |graph: &mut Graph<'_>, to: Option<usize>, stores: u64| {
            if let Some(to) = to {
                graph.add(node, graph.entry_node(to, is_outer), stores);
            }
        };
        match block.end {
            End::Falls | End::CallsLibrary => continue_at(self, block.next, block.stores),
            End::Jumps(to) => continue_at(self, Some(to), block.stores),
            End::Branches(to) => {
                continue_at(self, Some(to), block.stores);
                continue_at(self, block.next, block.stores);
            }
            End::Calls(called) => {
                self.add(node, self.entry_node(called, false), block.stores);
                if stores_to_return[called] != UNREACHED {
                    continue_at(self, block.next, sum(block.stores, stores_to_return[called]));
                }
            }
            End::CallsUnknown => self.add_exit(node, block.stores, Exit::Call(block.last)),
            End::JumpsUnknown => self.add_exit(node, block.stores, Exit::Jump(block.last)),
            End::Returns | End::JumpsToLibrary if is_outer => {
                self.add(node, self.return_node(block.function), block.stores);
            }
            End::Returns | End::JumpsToLibrary | End::Stops => {}
        }
    }

    /// Adds a tail call. The function that is entered returns to the callers of the first.
    fn add_tail_call(&mut self, code: &Code, from: usize, to: usize, has_callers: &mut [bool]) {
        let into = code.blocks[to].function;
        if from != into {
            has_callers[into] = true;
            self.add(self.return_node(into), self.return_node(from), 0);
        }
    }

    fn add(&mut self, from: usize, to: usize, stores: u64) {
        self.edges.push(Edge { from, to, stores, exit: None });
    }

    fn add_exit(&mut self, from: usize, stores: u64, exit: Exit) {
        self.edges.push(Edge { from, to: self.end_node(), stores, exit: Some(exit) });
    }

    fn outer_node(&self, block: usize) -> usize {
        2 * block
    }

    fn inner_node(&self, block: usize) -> usize {
        2 * block + 1
    }

    /// Returns the node for entering a block. The blocks of the places are where the path ends.
    fn entry_node(&self, block: usize, is_outer: bool) -> usize {
        match is_outer {
            _ if self.places.contains(&block) => self.end_node(),
            true => self.outer_node(block),
            false => self.inner_node(block),
        }
    }

    fn return_node(&self, function: usize) -> usize {
        2 * self.blocks + function
    }

    fn end_node(&self) -> usize {
        2 * self.blocks + self.functions
    }

    fn block(&self, node: usize) -> Option<usize> {
        (node < 2 * self.blocks).then_some(node / 2)
    }

    /// Returns, for each node, the fewest stores to a place, and the first edge.
    fn distances(&self) -> (Vec<u64>, Vec<Option<usize>>) {
        let nodes = self.end_node() + 1;
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        self.edges.iter().enumerate().for_each(|(index, edge)| into[edge.to].push(index));

        let mut distances = vec![UNREACHED; nodes];
        let mut next = vec![None; nodes];
        distances[self.end_node()] = 0;
        let mut queue = BinaryHeap::from([Reverse((0, self.end_node()))]);
        while let Some(Reverse((stores, node))) = queue.pop() {
            if stores > distances[node] {
                continue;
            }
            for &index in &into[node] {
                let edge = self.edges[index];
                let total = sum(stores, edge.stores);
                if total < distances[edge.from] {
                    distances[edge.from] = total;
                    next[edge.from] = Some(index);
                    queue.push(Reverse((total, edge.from)));
                }
            }
        }
        (distances, next)
    }
}
