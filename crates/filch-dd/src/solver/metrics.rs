//! The metrics of a search, for observers: counts, and bounds of the open nodes.

use core::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use super::progress::OpenBounds;

/// Counts that change with every node.
#[derive(Default)]
pub(crate) struct Metrics {
    /// On a cache line apart from data that is only read.
    counts: CachePadded<Counts>,
    pub(crate) bounds: OpenBounds,
}

#[derive(Default)]
struct Counts {
    explored: AtomicU64,
    open: AtomicU64,
    most_open: AtomicU64,
}

// All Relaxed: these are counts.
impl Metrics {
    /// Returns the number of open nodes and of explored nodes.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.counts.open.load(Ordering::Relaxed), self.counts.explored.load(Ordering::Relaxed))
    }

    /// Returns the greatest number of open nodes at a time.
    pub(crate) fn most_open(&self) -> u64 {
        self.counts.most_open.load(Ordering::Relaxed)
    }

    /// Counts an explored node. Returns `false`, and counts nothing, if the limit is reached.
    pub(crate) fn count_explored(&self, limit: Option<u64>) -> bool {
        let explored = self.counts.explored.fetch_add(1, Ordering::Relaxed);
        let allowed = limit.is_none_or(|limit| explored < limit);
        if !allowed {
            self.counts.explored.fetch_sub(1, Ordering::Relaxed);
        }
        allowed
    }

    /// Counts `nodes` more open nodes.
    pub(crate) fn add_open(&self, nodes: u64) {
        let open = self.counts.open.fetch_add(nodes, Ordering::Relaxed) + nodes;
        if open > self.counts.most_open.load(Ordering::Relaxed) {
            self.counts.most_open.fetch_max(open, Ordering::Relaxed);
        }
    }

    /// Counts one open node less.
    pub(crate) fn remove_open(&self) {
        self.counts.open.fetch_sub(1, Ordering::Relaxed);
    }
}
