//! How far a search is, for who looks on: counts, and bounds of what is open.

use core::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use super::progress::OpenBounds;

/// What is counted with every node.
#[derive(Default)]
pub(crate) struct Gauge {
    /// Apart from what is only read.
    counts: CachePadded<Counts>,
    pub(crate) bounds: OpenBounds,
}

#[derive(Default)]
struct Counts {
    explored: AtomicU64,
    open: AtomicU64,
    most_open: AtomicU64,
}

// Relaxed, all of it: counts.
impl Gauge {
    /// Open nodes, and those looked at.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.counts.open.load(Ordering::Relaxed), self.counts.explored.load(Ordering::Relaxed))
    }

    /// The greatest number of open nodes at a time.
    pub(crate) fn most_open(&self) -> u64 {
        self.counts.most_open.load(Ordering::Relaxed)
    }

    /// A node is looked at, unless as many were as are allowed.
    pub(crate) fn explore(&self, limit: Option<u64>) -> bool {
        let explored = self.counts.explored.fetch_add(1, Ordering::Relaxed);
        let allowed = limit.is_none_or(|limit| explored < limit);
        if !allowed {
            self.counts.explored.fetch_sub(1, Ordering::Relaxed);
        }
        allowed
    }

    /// So many more are open.
    pub(crate) fn enter(&self, nodes: u64) {
        let open = self.counts.open.fetch_add(nodes, Ordering::Relaxed) + nodes;
        if open > self.counts.most_open.load(Ordering::Relaxed) {
            self.counts.most_open.fetch_max(open, Ordering::Relaxed);
        }
    }

    /// One less is.
    pub(crate) fn leave(&self) {
        self.counts.open.fetch_sub(1, Ordering::Relaxed);
    }
}
