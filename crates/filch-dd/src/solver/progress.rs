//! The progress of a search: a bound on all open nodes, valid at every moment.
//!
//! Open nodes are counted by their bound, in buckets. A node's children are counted before the node
//! is taken off the count, and their bounds are at most its bound. A reader goes through the
//! buckets from the greatest bound down and stops at the first that is not empty. It never reads
//! too low a bound: a node that has left a bucket has its children in that bucket or in one still
//! to be read.

use core::sync::atomic::{AtomicI64, Ordering};
use core::time::Duration;
use std::sync::OnceLock;

use crate::problem::Cost;

/// The progress of a search.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The number of open nodes.
    pub open: u64,
    /// The number of explored nodes.
    pub explored: u64,
    /// The cost of the best solution so far.
    pub best: Option<Cost>,
    /// No solution is better than this.
    pub bound: Option<Cost>,
    /// The gap between `best` and `bound`; see [`Outcome::gap`](crate::Outcome::gap).
    pub gap: Option<f64>,
    /// The time since the start of the search.
    pub elapsed: Duration,
    /// The size of the open nodes in bytes, without what their states refer to.
    pub memory: u64,
}

/// The callback for progress.
pub(crate) type OnProgress<'a> = Box<dyn FnMut(&Progress) + Send + 'a>;

const BUCKETS: usize = 1024;

/// Counts of open nodes by bound.
pub(crate) struct OpenBounds {
    counts: Box<[AtomicI64]>,
    /// The greatest bound that was ever counted in the last bucket.
    beyond: AtomicI64,
    /// The range of the buckets, known after the first diagram. Until then all nodes are in the
    /// last bucket.
    scale: OnceLock<Scale>,
}

struct Scale {
    least: Cost,
    greatest: Cost,
    step: u64,
}

impl Default for OpenBounds {
    fn default() -> Self {
        OpenBounds::new()
    }
}

impl OpenBounds {
    pub(crate) fn new() -> Self {
        OpenBounds {
            counts: (0..BUCKETS).map(|_| AtomicI64::new(0)).collect(),
            beyond: AtomicI64::new(Cost::MIN),
            scale: OnceLock::new(),
        }
    }

    /// Sets the expected range of bounds; only the first call counts.
    pub(crate) fn set_range(&self, least: Cost, greatest: Cost) {
        self.scale.get_or_init(|| {
            let least = least.min(greatest);
            Scale { least, greatest, step: (greatest.abs_diff(least) / (BUCKETS as u64 - 2)).max(1) }
        });
    }

    fn bucket(&self, bound: Cost) -> usize {
        match self.scale.get() {
            Some(scale) if bound <= scale.greatest => {
                if bound <= scale.least {
                    0
                } else {
                    ((bound.abs_diff(scale.least) / scale.step) as usize).min(BUCKETS - 2)
                }
            }
            _ => BUCKETS - 1,
        }
    }

    /// Counts nodes in.
    pub(crate) fn add<'b>(&self, bounds: impl Iterator<Item = Cost> + 'b) {
        let mut run = (BUCKETS, 0);
        for bound in bounds {
            let bucket = self.bucket(bound);
            if bucket == BUCKETS - 1 {
                // Relaxed: the release in `add_to_bucket` comes after it.
                self.beyond.fetch_max(bound, Ordering::Relaxed);
            }
            if bucket == run.0 {
                run.1 += 1;
            } else {
                self.add_to_bucket(run);
                run = (bucket, 1);
            }
        }
        self.add_to_bucket(run);
    }

    /// Counts a node out; its children were counted in before.
    pub(crate) fn remove(&self, bound: Cost) {
        self.add_to_bucket((self.bucket(bound), -1));
    }

    fn add_to_bucket(&self, (bucket, count): (usize, i64)) {
        if count != 0 {
            // Release: a reader that sees that a node left also sees its children. The reader has
            // the acquire.
            self.counts[bucket].fetch_add(count, Ordering::Release);
        }
    }

    /// Returns a bound on all open nodes, or `None` if there is none.
    ///
    /// The bound is `Cost::MAX` if no bound is known.
    pub(crate) fn greatest(&self) -> Option<Cost> {
        // Acquire: pairs with the release in `add_to_bucket`.
        let bucket = (0..BUCKETS).rev().find(|&bucket| self.counts[bucket].load(Ordering::Acquire) > 0)?;
        Some(match self.scale.get() {
            Some(scale) if bucket < BUCKETS - 1 => {
                let top = (bucket as u64 + 1).saturating_mul(scale.step) - 1;
                if bucket == BUCKETS - 2 {
                    scale.greatest
                } else {
                    scale.least.saturating_add_unsigned(top).min(scale.greatest)
                }
            }
            // Relaxed: the acquire above saw the count of the nodes whose bounds are stored here.
            _ => self.beyond.load(Ordering::Relaxed),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiny::Dice;

    #[test]
    fn the_bound_is_no_less_than_that_of_any_open_node_and_exact_if_there_are_few_bounds() {
        for (least, greatest) in [(0, 100), (-500, 400), (-1_000_000, 1_000_000), (Cost::MIN / 4, Cost::MAX / 4)] {
            let mut dice = Dice::new(greatest as u64);
            let bounds = OpenBounds::new();
            bounds.add([Cost::MAX].into_iter());
            assert_eq!(bounds.greatest(), Some(Cost::MAX), "no bound of the root is known");
            bounds.set_range(least, greatest);
            let mut open: Vec<Cost> = vec![Cost::MAX];
            let span = greatest.abs_diff(least) + 1;
            for _ in 0..2000 {
                // A node leaves after its children are counted; its bound is a bound on theirs.
                if open.is_empty() {
                    bounds.add([greatest].into_iter());
                    open.push(greatest);
                }
                let node = open.swap_remove(dice.roll(open.len() as u64) as usize);
                let children: Vec<Cost> = (0..dice.roll(3))
                    .map(|_| greatest.saturating_sub_unsigned(dice.roll(span + span / 8)).min(node))
                    .collect();
                bounds.add(children.iter().copied());
                open.extend(children);
                bounds.remove(node);
                let (read, most) = (bounds.greatest(), open.iter().copied().max());
                assert!(read >= most, "read {read:?}, but the greatest bound of an open node is {most:?}");
                assert_eq!(read.is_none(), most.is_none());
                if span < 1000 && most.is_some_and(|most| most > least) {
                    assert_eq!(read, most);
                }
            }
        }
    }

    #[test]
    fn a_reader_never_sees_too_low_a_bound_while_nodes_are_added_and_removed() {
        let bounds = OpenBounds::new();
        bounds.set_range(0, 1000);
        bounds.add([1000].into_iter());
        std::thread::scope(|scope| {
            // One node goes down step by step, and is always counted in before it is counted out.
            let down = scope.spawn(|| {
                for bound in (0..1000).rev() {
                    bounds.add([bound].into_iter());
                    bounds.remove(bound + 1);
                }
            });
            let mut last = 1000;
            while !down.is_finished() {
                let read = bounds.greatest().expect("one node is always open");
                assert!(read <= last, "{read} after {last}");
                last = read;
            }
        });
        assert_eq!(bounds.greatest(), Some(0));
    }
}
