//! The unbalanced tree search: trees that cannot be divided evenly in advance.
//!
//! Nodes are made as they are searched. A node is 20 bytes, the SHA-1 digest of its parent's 20
//! bytes and its number among its siblings. Its last four bytes determine the number of its
//! children. The benchmark is specified so closely that the sizes of its trees are known: Olivier
//! et al., *UTS: An Unbalanced Tree Search Benchmark* (2006), and the sample trees that come with
//! it.

use anyhow::{ensure, Result};
use sha1::{Digest, Sha1};

use crate::bench::contenders::Fork;
use crate::bench::work::Work;

/// The largest number of children, except for the root of [`Shape::Binomial`].
const MAX_CHILDREN: f64 = 100.0;

/// A tree to search.
#[derive(Clone, Debug)]
pub(crate) struct Uts {
    name: &'static str,
    shape: Shape,
    root: Node,
    expected: Size,
}

/// The distribution of the number of children.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Nodes above a depth have a geometrically distributed number.
    Geometric { depth: u32, mean: f64 },
    /// The root has a fixed number. Others have `children` with a probability, or none.
    Binomial { at_root: u32, children: u32, probability: f64 },
}

impl Uts {
    /// The sample tree T1: geometric, shallow and wide.
    pub(crate) fn t1() -> Uts {
        let expected = Size { nodes: 4_130_071, leaves: 3_305_118, depth: 10 };
        Uts { name: "uts-t1", shape: Shape::Geometric { depth: 10, mean: 4.0 }, root: Node::root(19), expected }
    }

    /// The sample tree T3: binomial, a few narrow subtrees that are very deep.
    pub(crate) fn t3() -> Uts {
        let expected = Size { nodes: 4_112_897, leaves: 3_599_034, depth: 1_572 };
        let shape = Shape::Binomial { at_root: 2_000, children: 8, probability: 0.124_875 };
        Uts { name: "uts-t3", shape, root: Node::root(42), expected }
    }

    /// A tree like T1, three layers less deep.
    pub(crate) fn small_t1() -> Uts {
        Uts::counted("uts-t1-small", Shape::Geometric { depth: 7, mean: 4.0 }, 19)
    }

    /// A tree like T3, with slightly fewer children and therefore far smaller.
    pub(crate) fn small_t3() -> Uts {
        Uts::counted("uts-t3-small", Shape::Binomial { at_root: 2_000, children: 8, probability: 0.12 }, 42)
    }

    /// A tree whose size is not published and therefore counted.
    fn counted(name: &'static str, shape: Shape, seed: u32) -> Uts {
        let root = Node::root(seed);
        Uts { name, shape, root, expected: count(shape, root) }
    }

    fn below<F: Fork>(&self, context: F::Context<'_>, node: &Node, depth: u32) -> Size {
        match children(self.shape, node, depth) {
            0 => Size::leaf(depth),
            children => self.children::<F>(context, node, depth + 1, 0, children).with_parent(),
        }
    }

    /// The size of the children `from` to `to` of `parent`, with all nodes below them.
    fn children<F: Fork>(&self, context: F::Context<'_>, parent: &Node, depth: u32, from: u32, to: u32) -> Size {
        if to - from == 1 {
            return self.below::<F>(context, &child(parent, from), depth);
        }
        let middle = from.midpoint(to);
        let (first, last) = F::join(
            context,
            move |context| self.children::<F>(context, parent, depth, from, middle),
            move |context| self.children::<F>(context, parent, depth, middle, to),
        );
        first.and(last)
    }
}

/// The size of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    nodes: u32,
    leaves: u32,
    /// The depth of the deepest node. The root has depth 0.
    depth: u32,
}

impl Size {
    fn leaf(depth: u32) -> Size {
        Size { nodes: 1, leaves: 1, depth }
    }

    fn with_parent(self) -> Size {
        Size { nodes: self.nodes + 1, ..self }
    }

    fn and(self, other: Size) -> Size {
        Size { nodes: self.nodes + other.nodes, leaves: self.leaves + other.leaves, depth: self.depth.max(other.depth) }
    }
}

#[derive(Clone, Copy, Debug)]
struct Node([u8; 20]);

impl Node {
    fn root(seed: u32) -> Node {
        let mut bytes = [0; 20];
        bytes[16..].copy_from_slice(&seed.to_be_bytes());
        Node(Sha1::digest(bytes).into())
    }

    /// A number from 0 up to but not including 1.
    fn uniform(&self) -> f64 {
        let [.., a, b, c, d] = self.0;
        f64::from(u32::from_be_bytes([a, b, c, d]) & 0x7fff_ffff) / f64::from(1u32 << 31)
    }
}

#[inline(never)]
fn child(parent: &Node, number: u32) -> Node {
    let mut bytes = [0; 24];
    bytes[..20].copy_from_slice(&parent.0);
    bytes[20..].copy_from_slice(&number.to_be_bytes());
    Node(Sha1::digest(bytes).into())
}

/// The number of children of a node.
#[inline(never)]
fn children(shape: Shape, node: &Node, depth: u32) -> u32 {
    match shape {
        Shape::Geometric { depth: deepest, mean } if depth < deepest => {
            let stop = 1.0 / (1.0 + mean);
            ((1.0 - node.uniform()).ln() / (1.0 - stop).ln()).floor().min(MAX_CHILDREN) as u32
        }
        Shape::Geometric { .. } => 0,
        Shape::Binomial { at_root, .. } if depth == 0 => at_root,
        Shape::Binomial { children, probability, .. } if node.uniform() < probability => children,
        Shape::Binomial { .. } => 0,
    }
}

/// Counts a tree with a list of nodes still to visit.
fn count(shape: Shape, root: Node) -> Size {
    let mut size = Size { nodes: 0, leaves: 0, depth: 0 };
    let mut waiting = vec![(root, 0)];
    while let Some((node, depth)) = waiting.pop() {
        let children = children(shape, &node, depth);
        size.nodes += 1;
        size.leaves += u32::from(children == 0);
        size.depth = size.depth.max(depth);
        waiting.extend((0..children).map(|number| (child(&node, number), depth + 1)));
    }
    size
}

impl Work for Uts {
    type Input = ();
    type Answer = Size;

    fn input(&self) {}

    fn run<F: Fork>(&self, context: F::Context<'_>, (): ()) -> Size {
        self.below::<F>(context, &self.root, 0)
    }

    fn check(&self, answer: &Size) -> Result<()> {
        ensure!(*answer == self.expected, "{} has {:?}, not {answer:?}", self.name, self.expected);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::work::{joins, tests::all_contenders_agree_on};

    fn tiny() -> [Uts; 2] {
        [
            Uts::counted("geometric", Shape::Geometric { depth: 4, mean: 4.0 }, 19),
            Uts::counted("binomial", Shape::Binomial { at_root: 20, children: 8, probability: 0.12 }, 42),
        ]
    }

    #[test]
    fn all_contenders_find_the_same_trees() {
        for work in tiny() {
            all_contenders_agree_on(&work);
        }
    }

    #[test]
    fn trees_are_those_of_the_benchmark() {
        // T1 cut off at this depth, as other implementations count it. T1 and T3 themselves are
        // checked when they are measured.
        assert_eq!(Uts::small_t1().expected, Size { nodes: 63_914, leaves: 51_124, depth: 7 });
    }

    #[test]
    fn siblings_are_joined_two_by_two() {
        for work in tiny() {
            let Size { nodes, leaves, .. } = work.expected;
            // All nodes but the root are children, and n siblings need n - 1 joins.
            assert_eq!(joins(&work).unwrap(), u64::from((nodes - 1) - (nodes - leaves)));
        }
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let work = Uts::t1();
        let published = Size { nodes: 4_130_071, leaves: 3_305_118, depth: 10 };
        assert!(work.check(&published).is_ok());
        assert!(work.check(&Size { nodes: published.nodes - 1, ..published }).is_err());
        assert!(work.check(&Size { leaves: published.leaves + 1, ..published }).is_err());
        assert!(work.check(&Size { depth: 9, ..published }).is_err());
    }
}
