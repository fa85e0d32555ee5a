//! A tree that cannot be divided evenly in advance, like the Unbalanced Tree Search benchmark.
//!
//! A hash of a node's place decides whether it has children. A leaf's sibling may therefore be the
//! root of nearly the whole tree.

use anyhow::{ensure, Result};

use super::Work;
use crate::bench::contenders::Fork;
use crate::bench::random::scramble;

/// The number of children of a node that has any.
const CHILDREN: u64 = 8;

/// The number of nodes in 2^32 that have children.
///
/// That is 0.135 of them, which makes a little more than one child per node.
const PARENTS: u64 = 579_820_584;

/// The depth below which no node has children. It bounds the stack of a search.
const DEEPEST: u32 = 100;

/// The hash of a root whose tree has millions of nodes.
const ROOT: u64 = 1_393;

/// A tree whose nodes exist only while they are searched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skewed {
    deepest: u32,
    expected: Totals,
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Totals {
    nodes: u64,
    hash: u64,
}

impl Skewed {
    /// The tree that is measured.
    pub(crate) fn new() -> Skewed {
        Skewed::down_to(DEEPEST)
    }

    fn down_to(deepest: u32) -> Skewed {
        Skewed { deepest, expected: search_serially(deepest) }
    }
}

impl Work for Skewed {
    type Input = ();
    type Answer = Totals;

    fn input(&self) {}

    fn run<F: Fork>(&self, context: F::Context<'_>, (): ()) -> Totals {
        visit::<F>(context, Node { hash: ROOT, layers: self.deepest })
    }

    fn check(&self, answer: &Totals) -> Result<()> {
        ensure!(*answer == self.expected, "the search found {answer:?} instead of {:?}", self.expected);
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct Node {
    hash: u64,
    /// The number of layers that may be below the node.
    layers: u32,
}

impl Node {
    fn has_children(self) -> bool {
        self.layers > 0 && scramble(self.hash) >> 32 < PARENTS
    }

    fn child(self, index: u64) -> Node {
        Node { hash: scramble(self.hash ^ (index + 1).wrapping_mul(0xd134_2543_de82_ef95)), layers: self.layers - 1 }
    }
}

impl Totals {
    fn of(node: Node) -> Totals {
        Totals { nodes: 1, hash: node.hash }
    }

    fn and(self, other: Totals) -> Totals {
        Totals { nodes: self.nodes + other.nodes, hash: self.hash.wrapping_add(other.hash) }
    }
}

fn visit<F: Fork>(context: F::Context<'_>, node: Node) -> Totals {
    if node.has_children() {
        Totals::of(node).and(children::<F>(context, node, 0, CHILDREN))
    } else {
        Totals::of(node)
    }
}

fn children<F: Fork>(context: F::Context<'_>, node: Node, from: u64, to: u64) -> Totals {
    if to - from == 1 {
        return visit::<F>(context, node.child(from));
    }
    let middle = from.midpoint(to);
    let (left, right) = F::join(
        context,
        move |context| children::<F>(context, node, from, middle),
        move |context| children::<F>(context, node, middle, to),
    );
    left.and(right)
}

/// Searches the tree without recursion.
fn search_serially(deepest: u32) -> Totals {
    let mut found = Totals { nodes: 0, hash: 0 };
    let mut open = vec![Node { hash: ROOT, layers: deepest }];
    while let Some(node) = open.pop() {
        found = found.and(Totals::of(node));
        if node.has_children() {
            open.extend((0..CHILDREN).map(|index| node.child(index)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::{joins, tests::all_contenders_agree_on};
    use super::*;

    #[test]
    fn all_contenders_find_every_node() {
        for deepest in [0, 1, 20] {
            all_contenders_agree_on(&Skewed::down_to(deepest));
        }
    }

    #[test]
    fn a_node_with_children_joins_seven_times() {
        let work = Skewed::down_to(20);
        let parents = (work.expected.nodes - 1) / CHILDREN;
        assert!(parents > 10);
        assert_eq!(joins(&work).unwrap(), parents * (CHILDREN - 1));
    }

    #[test]
    fn the_measured_tree_has_millions_of_nodes() {
        let nodes = Skewed::new().expected.nodes;
        assert!((2_000_000..8_000_000).contains(&nodes), "{nodes}");
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let work = Skewed::down_to(5);
        assert!(work.check(&work.expected).is_ok());
        assert!(work.check(&Totals { nodes: work.expected.nodes + 1, ..work.expected }).is_err());
        assert!(work.check(&Totals { hash: work.expected.hash ^ 1, ..work.expected }).is_err());
    }
}
