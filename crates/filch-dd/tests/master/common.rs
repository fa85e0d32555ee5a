//! Trees of tasks, in which each task is identified and counted.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use filch_dd::master::{Batch, Region, Work, Worker};

use super::Q;

/// Returns a number that depends on all of the seed and the index.
pub(crate) fn scatter(seed: u64, index: u64) -> u64 {
    let mut x = seed ^ index.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for _ in 0..2 {
        x ^= x >> 31;
        x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    }
    x ^ (x >> 32)
}

/// The shape of a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// Nodes have up to four children.
    Bushy,
    /// Nodes have one child, and now and then a hundred more.
    Chain,
    /// Only the first child of a node has children.
    Skewed,
}

/// Processes a tree of at most `size` tasks, and records them.
pub(crate) struct Tree {
    pub(crate) seed: u64,
    pub(crate) shape: Shape,
    size: u64,
    made: AtomicU64,
    pub(crate) seen: Vec<AtomicUsize>,
    /// Tasks that exist at the moment, queued or being processed.
    pub(crate) alive: AtomicUsize,
}

pub(crate) struct Node<'t> {
    pub(crate) number: u64,
    pub(crate) region: Region,
    tree: &'t Tree,
}

impl Drop for Node<'_> {
    fn drop(&mut self) {
        self.tree.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Tree {
    pub(crate) fn new(seed: u64, shape: Shape, size: usize) -> Self {
        let seen = (0..size).map(|_| AtomicUsize::new(0)).collect();
        Tree { seed, shape, size: size as u64, made: AtomicU64::new(0), seen, alive: AtomicUsize::new(0) }
    }

    /// Returns another task, unless the limit is reached.
    pub(crate) fn node(&self, region: Region) -> Option<Node<'_>> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        (number < self.size).then(|| {
            self.alive.fetch_add(1, Ordering::Relaxed);
            Node { number, region, tree: self }
        })
    }

    pub(crate) fn roots(&self, count: u32) -> Batch<Node<'_>> {
        (0..count).filter_map(|label| self.node(Region::ROOT.child(label))).collect()
    }

    /// Returns how many tasks were made.
    pub(crate) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed).min(self.size)
    }

    fn children(&self, node: &Node<'_>) -> u32 {
        let chance = scatter(self.seed, node.number);
        match self.shape {
            Shape::Bushy => (chance % 5) as u32,
            Shape::Chain if chance % 50 == 0 => 100,
            Shape::Chain => 1,
            Shape::Skewed if node.region.labels().last().is_none_or(|label| *label == 0) => 1 + (chance % 7) as u32,
            Shape::Skewed => 0,
        }
    }

    /// Checks that every task was processed exactly once, and that none is left.
    pub(crate) fn check(&self) {
        for (number, seen) in self.seen.iter().enumerate() {
            let expected = usize::from((number as u64) < self.made());
            assert_eq!(seen.load(Ordering::Relaxed), expected, "task {number} of {self:?}");
        }
        assert_eq!(self.alive.load(Ordering::Relaxed), 0, "tasks of {self:?} were not dropped");
    }
}

impl std::fmt::Debug for Tree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {} of {}", self.shape, self.seed, self.size)
    }
}

/// The work on a tree, so that tasks can borrow it.
pub(crate) struct ProcessTree<'t>(pub(crate) &'t Tree);

impl<'t> Work<Q> for ProcessTree<'t> {
    type Task = Node<'t>;
    type Learnt = ();

    fn region(&self, task: &Node<'t>) -> Region {
        task.region
    }

    fn process(&self, task: Node<'t>, worker: &mut Worker<'_, Self, Q>) {
        let tree = self.0;
        tree.seen[task.number as usize].fetch_add(1, Ordering::Relaxed);
        let children = (0..tree.children(&task)).filter_map(|label| tree.node(task.region.child(label)));
        match scatter(tree.seed, task.number) % 3 {
            0 => children.for_each(|child| worker.push(child)),
            1 => worker.push_batch(children.collect()),
            _ => children.for_each(|child| {
                worker.push(child);
                let _ = worker.poll();
            }),
        }
    }
}

/// Work that is a closure on numbers, all in one region.
pub(crate) struct Closure<'a>(Box<dyn Fn(u64, &mut Worker<'_, Closure<'a>, Q>) + Sync + 'a>);

impl Work<Q> for Closure<'_> {
    type Task = u64;
    type Learnt = ();

    fn region(&self, _: &u64) -> Region {
        Region::ROOT
    }

    fn process(&self, task: u64, worker: &mut Worker<'_, Self, Q>) {
        (self.0)(task, worker);
    }
}

pub(crate) fn work<'a>(f: impl Fn(u64, &mut Worker<'_, Closure<'a>, Q>) + Sync + 'a) -> Closure<'a> {
    Closure(Box::new(f))
}
