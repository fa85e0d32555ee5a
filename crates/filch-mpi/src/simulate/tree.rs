//! The trees of simulated runs: recorded, or grown like a recorded one.

use core::time::Duration;

use super::recording::{Recording, Taken};
use crate::random::{below, fraction, mix, mix_two};

/// An open node of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// The place in the recording; in a grown tree, a random number of its own.
    key: u64,
    /// Its distance from the root.
    level: u32,
}

/// A tree whose nodes are computed on demand, always with the same result.
#[derive(Clone, Debug)]
pub struct Tree {
    shape: Shape,
    /// The factor on the cost of each node.
    factor: f64,
    size: Size,
}

/// The size of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// The number of nodes.
    pub nodes: u64,
    /// The cost of all nodes together, in nanoseconds.
    pub work: u64,
    /// A sum over the nodes, each hashed to a random number. Two sets of the same size and sum are
    /// the same.
    pub(super) sum: u64,
}

impl Size {
    pub(super) fn add(&mut self, node: Node, cost: u64) {
        self.nodes += 1;
        self.work += cost;
        self.sum = self.sum.wrapping_add(mix_two(node.key, u64::from(node.level)));
    }

    /// Adds two sizes.
    pub(super) fn plus(self, other: Size) -> Size {
        Size { nodes: self.nodes + other.nodes, work: self.work + other.work, sum: self.sum.wrapping_add(other.sum) }
    }

    /// Returns the work as a time.
    #[must_use]
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.work)
    }
}

#[derive(Clone, Debug)]
enum Shape {
    /// As recorded. The children of a node are a range of `children`, the oldest first.
    Recorded { nodes: Vec<Taken>, firsts: Vec<u32>, children: Vec<u32> },
    /// Grown by drawing from the nodes that were recorded at the same level.
    Grown { levels: Vec<Vec<Taken>>, growth: f64, seed: u64 },
}

impl Tree {
    /// Returns the tree of a recording.
    ///
    /// # Panics
    ///
    /// If nothing was recorded.
    #[must_use]
    pub fn recorded(recording: &Recording) -> Tree {
        let nodes = recording.nodes().to_vec();
        let parents = parents(&nodes);
        let mut firsts = Vec::with_capacity(nodes.len() + 1);
        let mut total = 0;
        for taken in &nodes {
            firsts.push(total);
            total += taken.children;
        }
        firsts.push(total);
        // The child that was taken first is the youngest, so it comes last.
        let mut ends: Vec<u32> = firsts[1..].to_vec();
        let mut children = vec![0; total as usize];
        for (index, parent) in parents.iter().enumerate().skip(1) {
            ends[*parent as usize] -= 1;
            children[ends[*parent as usize] as usize] = index as u32;
        }
        Tree { shape: Shape::Recorded { nodes, firsts, children }, factor: 1.0, size: Size::default() }.measured()
    }

    /// Returns a tree that resembles a recording and has about this much work.
    ///
    /// The nodes of each level are drawn from the recorded nodes of the same level. One factor
    /// scales the number of children of all nodes. Of a few seeds it takes the one whose tree is
    /// nearest to `work`.
    ///
    /// # Panics
    ///
    /// If nothing was recorded.
    #[must_use]
    pub fn grown(recording: &Recording, work: Duration, seed: u64) -> Tree {
        let levels = by_level(recording);
        let wanted = work.as_nanos() as f64;
        let growth = growth(&levels, wanted);
        let far = |tree: &Tree| (tree.size.work as f64 / wanted).ln().abs();
        let mut nearest: Option<Tree> = None;
        for attempt in 0..16 {
            let shape = Shape::Grown { levels: levels.clone(), growth, seed: mix_two(seed, attempt) };
            let tree = Tree { shape, factor: 1.0, size: Size::default() }.measured();
            if nearest.as_ref().is_none_or(|nearest| far(&tree) < far(nearest)) {
                nearest = Some(tree);
            }
            if nearest.as_ref().is_some_and(|nearest| far(nearest) < 0.1) {
                break;
            }
        }
        nearest.expect("there was at least one attempt")
    }

    /// Returns the same tree with nodes that cost `factor` times as much as recorded.
    ///
    /// A node that costs anything costs at least a nanosecond.
    #[must_use]
    pub fn scaled(mut self, factor: f64) -> Tree {
        if factor == self.factor {
            return self;
        }
        self.factor = factor;
        self.measured()
    }

    /// Returns the size of the tree.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    pub(super) fn root(&self) -> Node {
        match &self.shape {
            Shape::Recorded { .. } => Node { key: 0, level: 0 },
            Shape::Grown { seed, .. } => Node { key: *seed, level: 0 },
        }
    }

    /// Returns the cost of a node, in nanoseconds.
    pub(super) fn cost(&self, node: Node) -> u64 {
        match self.taken(node).cost {
            0 => 0,
            cost => ((f64::from(cost) * self.factor) as u64).max(1),
        }
    }

    /// Calls `each` with the children of a node, the oldest first.
    pub(super) fn children(&self, node: Node, mut each: impl FnMut(Node)) {
        let level = node.level + 1;
        match &self.shape {
            Shape::Recorded { firsts, children, .. } => {
                let (first, end) = (firsts[node.key as usize], firsts[node.key as usize + 1]);
                for &child in &children[first as usize..end as usize] {
                    each(Node { key: u64::from(child), level });
                }
            }
            Shape::Grown { growth, .. } => {
                let wanted = f64::from(self.taken(node).children) * growth;
                // Rounded up at random, so that the mean is `wanted`.
                let count = (wanted + fraction(mix(node.key ^ 0x5EED))).floor() as u64;
                for child in 0..count {
                    each(Node { key: mix_two(node.key, child + 1), level });
                }
            }
        }
    }

    fn taken(&self, node: Node) -> Taken {
        match &self.shape {
            Shape::Recorded { nodes, .. } => nodes[node.key as usize],
            Shape::Grown { levels, .. } => {
                let level = &levels[node.level as usize];
                level[below(mix(node.key), level.len() as u64) as usize]
            }
        }
    }

    /// Computes the size by visiting all nodes.
    fn measured(mut self) -> Tree {
        let mut size = Size::default();
        let mut open = vec![self.root()];
        while let Some(node) = open.pop() {
            size.add(node, self.cost(node));
            self.children(node, |child| open.push(child));
        }
        self.size = size;
        self
    }
}

/// Returns the parent of every node, 0 for the root.
fn parents(nodes: &[Taken]) -> Vec<u32> {
    let mut waiting: Vec<(u32, u32)> = Vec::new();
    let mut parents = Vec::with_capacity(nodes.len());
    for (index, taken) in nodes.iter().enumerate() {
        parents.push(waiting.last().map_or(0, |(parent, _)| *parent));
        if let Some((_, missing)) = waiting.last_mut() {
            *missing -= 1;
            if *missing == 0 {
                waiting.pop();
            }
        }
        if taken.children > 0 {
            waiting.push((index as u32, taken.children));
        }
    }
    parents
}

/// Groups the nodes by their distance from the root.
fn by_level(recording: &Recording) -> Vec<Vec<Taken>> {
    let nodes = recording.nodes();
    let parents = parents(nodes);
    let mut level_of = vec![0u32; nodes.len()];
    let mut levels: Vec<Vec<Taken>> = Vec::new();
    for (index, taken) in nodes.iter().enumerate() {
        if index > 0 {
            level_of[index] = level_of[parents[index] as usize] + 1;
        }
        let level = level_of[index] as usize;
        if levels.len() <= level {
            levels.push(Vec::new());
        }
        levels[level].push(*taken);
    }
    levels
}

/// Returns the factor on the number of children for which the expected work is `wanted`. With a
/// factor of 1, the expected tree has the recorded work at every level.
fn growth(levels: &[Vec<Taken>], wanted: f64) -> f64 {
    let work: Vec<f64> = levels.iter().map(|level| level.iter().map(|taken| f64::from(taken.cost)).sum()).collect();
    let expected = |growth: f64| work.iter().rev().fold(0.0, |sum, work| sum * growth + work);
    let (mut low, mut high) = (0.0, 1.0);
    while expected(high) < wanted && high < 1e6 {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if expected(middle) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::tests::made_up_recording;

    #[test]
    fn a_depth_first_traversal_of_a_recorded_tree_has_the_order_of_the_recording() {
        let recording = made_up_recording(500, 7);
        let tree = Tree::recorded(&recording);
        let mut open = vec![tree.root()];
        let mut order = Vec::new();
        while let Some(node) = open.pop() {
            order.push(node.key);
            tree.children(node, |child| open.push(child));
        }
        assert_eq!(order, (0..recording.nodes().len() as u64).collect::<Vec<_>>());
        assert_eq!(tree.size().time(), recording.work());
    }

    #[test]
    fn a_grown_tree_has_about_the_requested_work() {
        let recording = made_up_recording(3_000, 7);
        for factor in [0.5, 1.0, 10.0, 100.0] {
            let work = recording.work().mul_f64(factor);
            let grown = Tree::grown(&recording, work, 3).size().time();
            let ratio = grown.as_secs_f64() / work.as_secs_f64();
            assert!((0.8..1.25).contains(&ratio), "{factor} times the work: {ratio} of the requested work");
        }
    }

    #[test]
    fn a_seed_determines_the_tree() {
        let recording = made_up_recording(1_000, 7);
        let grown = |seed| Tree::grown(&recording, recording.work() * 4, seed).size();
        assert_eq!(grown(1), grown(1));
        assert_ne!(grown(1), grown(2));
    }

    #[test]
    fn scaling_the_cost_keeps_the_number_of_nodes() {
        let recording = made_up_recording(1_000, 7);
        let (coarse, fine) = (Tree::recorded(&recording), Tree::recorded(&recording).scaled(0.1));
        assert_eq!(coarse.size().nodes, fine.size().nodes);
        let ratio = coarse.size().work as f64 / fine.size().work as f64;
        assert!((9.9..10.1).contains(&ratio), "{ratio}");
    }
}
