//! The sum of a binary tree of boxes: little work per join, and memory latency.

use anyhow::{ensure, Result};

use super::Work;
use crate::bench::contenders::Fork;

/// A complete binary tree.
#[derive(Debug)]
pub(crate) struct Tree {
    root: Node,
    nodes: u64,
}

#[derive(Debug)]
struct Node {
    value: u64,
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
}

impl Tree {
    /// A tree of `layers` layers. Nodes are numbered from 1 in the order of allocation.
    pub(crate) fn new(layers: u32) -> Tree {
        let mut nodes = 0;
        let root = Node::new(layers, &mut nodes);
        Tree { root, nodes }
    }
}

impl Node {
    fn new(layers: u32, nodes: &mut u64) -> Node {
        *nodes += 1;
        let value = *nodes;
        let mut child = || (layers > 1).then(|| Box::new(Node::new(layers - 1, nodes)));
        // Which child comes first in memory is pseudorandom. With a fixed order, a contender that
        // walks along it would get every prefetch for free, and one that runs the second closure
        // first would get none, or the other way round.
        let left_first = value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 0;
        let (one, other) = (child(), child());
        let (left, right) = if left_first { (one, other) } else { (other, one) };
        Node { value, left, right }
    }
}

impl Work for Tree {
    type Input = ();
    type Answer = u64;

    fn input(&self) {}

    fn run<F: Fork>(&self, context: F::Context<'_>, (): ()) -> u64 {
        sum::<F>(context, &self.root)
    }

    fn check(&self, answer: &u64) -> Result<()> {
        let expected = self.nodes * (self.nodes + 1) / 2;
        ensure!(*answer == expected, "the numbers up to {} sum to {expected}, not {answer}", self.nodes);
        Ok(())
    }
}

fn sum<F: Fork>(context: F::Context<'_>, node: &Node) -> u64 {
    match (node.left.as_deref(), node.right.as_deref()) {
        (Some(left), Some(right)) => {
            let (left, right) =
                F::join(context, move |context| sum::<F>(context, left), move |context| sum::<F>(context, right));
            node.value + left + right
        }
        (Some(only), None) | (None, Some(only)) => node.value + sum::<F>(context, only),
        (None, None) => node.value,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{joins, tests::all_contenders_agree_on};
    use super::*;

    #[test]
    fn all_contenders_find_the_same_sum() {
        for layers in [1, 2, 10] {
            all_contenders_agree_on(&Tree::new(layers));
        }
    }

    #[test]
    fn a_tree_has_the_size_that_its_case_is_named_after() {
        assert_eq!(Tree::new(10).nodes, 1_023);
        assert_eq!(Tree::new(15).nodes, 32_767);
    }

    #[test]
    fn leaves_do_not_join() {
        assert_eq!(joins(&Tree::new(1)).unwrap(), 0);
        assert_eq!(joins(&Tree::new(10)).unwrap(), 511);
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        assert!(Tree::new(2).check(&6).is_ok());
        assert!(Tree::new(2).check(&5).is_err());
    }
}
