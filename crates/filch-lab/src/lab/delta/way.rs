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
const NEVER: u64 = u64::MAX;

/// Adds two numbers of stores, saturating. Nested calls can double the number each time.
fn sum(some: u64, more: u64) -> u64 {
    some.saturating_add(more).min(NEVER - 1)
}

/// A path from one of the places to one of them.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// How many stores it makes, including the store of the place itself.
    pub(super) stores: u64,
    /// The blocks that it passes through.
    pub(super) steps: Vec<Step>,
    /// Where its target becomes unknown.
    pub(super) leaves: Option<Leaves>,
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
pub(super) enum Leaves {
    /// By an indirect call at this address.
    Call(u64),
    /// By an indirect jump at this address.
    Jump(u64),
    /// By returning from this function to an unknown caller.
    Return(usize),
}

/// Returns the cheapest path from any of these blocks to any; `None` if none exists.
pub(super) fn shortest(program: &Program, code: &Code, places: &HashSet<usize>) -> Option<Way> {
    let through = through(code);
    let graph = Graph::new(program, code, places, &through);
    let (distances, next) = graph.distances();
    let starts = places.iter().map(|&place| graph.outside(place));
    let start = starts.filter(|&start| distances[start] != NEVER).min_by_key(|&start| (distances[start], start))?;
    let mut way = Way { stores: distances[start], steps: Vec::new(), leaves: None };
    let mut node = start;
    while let Some(edge) = next[node] {
        let edge = graph.edges[edge];
        if let Some(block) = graph.block(node) {
            let Block { function, start, .. } = code.blocks[block];
            way.steps.push(Step { function, address: start, stores: edge.stores });
        }
        way.leaves = edge.leaves;
        node = edge.to;
    }
    Some(way)
}

/// Returns, for each block, the fewest stores from its beginning to its function's return.
///
/// This is Knuth's form of Dijkstra's algorithm: the price of a call is the sum of two paths,
/// through the callee and from the call on.
fn through(code: &Code) -> Vec<u64> {
    let blocks = &code.blocks;
    // The predecessors of each block; and the calls for which it is the callee or the return
    // target.
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
    let mut calls: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
    let mut queue = BinaryHeap::new();
    for (index, block) in blocks.iter().enumerate() {
        match block.end {
            End::Falls | End::CallsLibrary | End::CallsUnknown => before_next(block, index, &mut before),
            End::Jumps(to) => before[to].push(index),
            End::Branches(to) => {
                before[to].push(index);
                before_next(block, index, &mut before);
            }
            End::Calls(to) => {
                calls[to].push(index);
                block.next.into_iter().for_each(|next| calls[next].push(index));
            }
            End::Returns | End::JumpsToLibrary | End::JumpsUnknown => queue.push(Reverse((block.stores, index))),
            End::Stops => {}
        }
    }

    let mut fewest = vec![NEVER; blocks.len()];
    while let Some(Reverse((stores, index))) = queue.pop() {
        if fewest[index] != NEVER {
            continue;
        }
        fewest[index] = stores;
        for &earlier in &before[index] {
            queue.push(Reverse((sum(blocks[earlier].stores, stores), earlier)));
        }
        for &caller in &calls[index] {
            let (End::Calls(called), Some(next)) = (blocks[caller].end, blocks[caller].next) else { continue };
            if fewest[called] != NEVER && fewest[next] != NEVER {
                let total = sum(sum(blocks[caller].stores, fewest[called]), fewest[next]);
                queue.push(Reverse((total, caller)));
            }
        }
    }
    fewest
}

fn before_next(block: &Block, index: usize, before: &mut [Vec<usize>]) {
    block.next.into_iter().for_each(|next| before[next].push(index));
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: usize,
    to: usize,
    stores: u64,
    leaves: Option<Leaves>,
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
    fn new(program: &Program, code: &Code, places: &'a HashSet<usize>, through: &[u64]) -> Graph<'a> {
        let mut graph =
            Graph { blocks: code.blocks.len(), functions: program.functions.len(), places, edges: Vec::new() };
        let mut has_callers = vec![false; program.functions.len()];
        for (index, block) in code.blocks.iter().enumerate() {
            for is_outside in [true, false] {
                graph.add_block(code, index, is_outside, through);
            }
            match block.end {
                End::Calls(to) => {
                    let called = code.blocks[to].function;
                    has_callers[called] = true;
                    if let Some(next) = block.next {
                        graph.add(graph.return_from(called), graph.to(next, true), 0);
                    }
                }
                End::Jumps(to) | End::Branches(to) => graph.add_tail_call(code, block.function, to, &mut has_callers),
                _ => {}
            }
            // The next block is in another function if a symbol is in the middle of another
            // function's code.
            let goes_on = matches!(
                block.end,
                End::Falls | End::Branches(_) | End::Calls(_) | End::CallsLibrary | End::CallsUnknown
            );
            if let (true, Some(next)) = (goes_on, block.next) {
                graph.add_tail_call(code, block.function, next, &mut has_callers);
            }
        }
        for (index, function) in program.functions.iter().enumerate() {
            if program.unnamed > 0 || function.is_pointed_to || code.taken.contains(&index) || !has_callers[index] {
                graph.leave(graph.return_from(index), 0, Leaves::Return(index));
            }
        }
        graph
    }

    /// Adds the edges of a block.
    fn add_block(&mut self, code: &Code, index: usize, is_outside: bool, through: &[u64]) {
        let block = &code.blocks[index];
        let node = if is_outside { self.outside(index) } else { self.inside(index) };
        let goes_on = |graph: &mut Graph<'_>, to: Option<usize>, stores: u64| {
            if let Some(to) = to {
                graph.add(node, graph.to(to, is_outside), stores);
            }
        };
        match block.end {
            End::Falls | End::CallsLibrary => goes_on(self, block.next, block.stores),
            End::Jumps(to) => goes_on(self, Some(to), block.stores),
            End::Branches(to) => {
                goes_on(self, Some(to), block.stores);
                goes_on(self, block.next, block.stores);
            }
            End::Calls(called) => {
                self.add(node, self.to(called, false), block.stores);
                if through[called] != NEVER {
                    goes_on(self, block.next, sum(block.stores, through[called]));
                }
            }
            End::CallsUnknown => self.leave(node, block.stores, Leaves::Call(block.last)),
            End::JumpsUnknown => self.leave(node, block.stores, Leaves::Jump(block.last)),
            End::Returns | End::JumpsToLibrary if is_outside => {
                self.add(node, self.return_from(block.function), block.stores);
            }
            End::Returns | End::JumpsToLibrary | End::Stops => {}
        }
    }

    /// Adds a tail call. The function that is entered returns to the callers of the first.
    fn add_tail_call(&mut self, code: &Code, from: usize, to: usize, has_callers: &mut [bool]) {
        let into = code.blocks[to].function;
        if from != into {
            has_callers[into] = true;
            self.add(self.return_from(into), self.return_from(from), 0);
        }
    }

    fn add(&mut self, from: usize, to: usize, stores: u64) {
        self.edges.push(Edge { from, to, stores, leaves: None });
    }

    fn leave(&mut self, from: usize, stores: u64, leaves: Leaves) {
        self.edges.push(Edge { from, to: self.again(), stores, leaves: Some(leaves) });
    }

    fn outside(&self, block: usize) -> usize {
        2 * block
    }

    fn inside(&self, block: usize) -> usize {
        2 * block + 1
    }

    /// Returns the node for entering a block. The blocks of the places are where the path ends.
    fn to(&self, block: usize, is_outside: bool) -> usize {
        match is_outside {
            _ if self.places.contains(&block) => self.again(),
            true => self.outside(block),
            false => self.inside(block),
        }
    }

    fn return_from(&self, function: usize) -> usize {
        2 * self.blocks + function
    }

    fn again(&self) -> usize {
        2 * self.blocks + self.functions
    }

    fn block(&self, node: usize) -> Option<usize> {
        (node < 2 * self.blocks).then_some(node / 2)
    }

    /// Returns, for each node, the fewest stores to a place, and the first edge.
    fn distances(&self) -> (Vec<u64>, Vec<Option<usize>>) {
        let nodes = self.again() + 1;
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        self.edges.iter().enumerate().for_each(|(index, edge)| into[edge.to].push(index));

        let mut distances = vec![NEVER; nodes];
        let mut next = vec![None; nodes];
        distances[self.again()] = 0;
        let mut queue = BinaryHeap::from([Reverse((0, self.again()))]);
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
