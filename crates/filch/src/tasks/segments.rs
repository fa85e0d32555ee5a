//! The segments of a deque, which map positions to scopes. They are a stack that all workers can
//! read.
//!
//! A segment begins at the position where a scope was opened, or where a stolen task of it began to
//! run. All tasks from there to the next segment belong to that scope. So a worker that waits can
//! tell, before it steals, whether a deque has tasks that its wait needs.

use std::cell::Cell;
use std::ptr;

use crate::lineage::{Lineage, Run, Wait};
use crate::sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// The base of a segment that is closed.
const CLOSED: u64 = u64::MAX;

/// A segment of a deque; see the module.
#[derive(Debug)]
struct Segment {
    base: AtomicU64,
    node: AtomicUsize,
    up: AtomicPtr<Run>,
}

impl Segment {
    // Relaxed in all of these: it is a hint for a thread that does not hold a task of the segment.

    fn lineage(&self) -> Lineage {
        Lineage::from_parts(self.node.load(Ordering::Relaxed), self.up.load(Ordering::Relaxed))
    }

    fn base(&self) -> u64 {
        self.base.load(Ordering::Relaxed)
    }
}

/// The segments of one deque.
#[derive(Debug)]
pub(super) struct Segments {
    all: Box<[Segment]>,
    /// The number of open segments. Only the owner uses it.
    open: Cell<usize>,
}

// SAFETY: the functions that use the cell are unsafe, and only the owner calls them.
unsafe impl Sync for Segments {}

impl Segments {
    pub(super) fn new(most: usize) -> Segments {
        let closed = |_| Segment {
            base: AtomicU64::new(CLOSED),
            node: AtomicUsize::new(0),
            up: AtomicPtr::new(ptr::null_mut()),
        };
        Segments { all: (0..most).map(closed).collect(), open: Cell::new(0) }
    }

    /// Opens a segment, if there is one left. Returns whether it did.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    #[inline]
    pub(super) unsafe fn open(&self, base: u64, lineage: Lineage) -> bool {
        let index = self.open.get();
        let Some(segment) = self.all.get(index) else { return false };
        let (node, up) = lineage.into_parts();
        // Relaxed: published with the tasks.
        segment.node.store(node, Ordering::Relaxed);
        segment.up.store(up.cast_mut(), Ordering::Relaxed);
        segment.base.store(base, Ordering::Relaxed);
        self.open.set(index + 1);
        true
    }

    /// Closes the last segment, which has no tasks.
    ///
    /// # Safety
    ///
    /// Called by the owner. There is a segment.
    #[inline]
    pub(super) unsafe fn close(&self) {
        let index = self.open.get() - 1;
        // Relaxed: before what is pushed later.
        self.all[index].base.store(CLOSED, Ordering::Relaxed);
        self.open.set(index);
    }

    /// Returns the position where the last segment begins.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    #[inline]
    pub(super) unsafe fn base(&self) -> Option<u64> {
        self.open.get().checked_sub(1).map(|last| self.all[last].base())
    }

    /// Returns the lineage of the last segment.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(super) unsafe fn last(&self) -> Option<Lineage> {
        self.open.get().checked_sub(1).map(|last| self.all[last].lineage())
    }

    /// Returns the open segments, oldest first, each with its first position and its end.
    fn with_bases(&self) -> impl Iterator<Item = (&Segment, u64, u64)> {
        let base = |index: usize| self.all.get(index).map_or(CLOSED, Segment::base);
        let mut from = base(0);
        self.all.iter().enumerate().map_while(move |(index, segment)| {
            if from == CLOSED {
                return None;
            }
            let above = base(index + 1);
            Some((segment, std::mem::replace(&mut from, above), above))
        })
    }

    /// Returns the first position in the range with a task of such a lineage. The range is from
    /// `top` to below `bottom`. The task only seems to be there.
    fn first(&self, (top, bottom): (u64, u64), is_meant: impl Fn(Lineage) -> bool) -> Option<u64> {
        if top >= bottom {
            return None;
        }
        self.with_bases()
            .find(|&(segment, from, to)| from.max(top) < to.min(bottom) && is_meant(segment.lineage()))
            .map(|(_, from, _)| from.max(top))
    }

    /// Returns the first position at which a task seems to descend from what is awaited.
    pub(super) fn first_under(&self, wait: Wait, positions: (u64, u64)) -> Option<u64> {
        self.first(positions, |lineage| lineage.descends_from(wait))
    }

    /// Returns whether a task seems to descend from what is waited for as `node`.
    pub(super) fn have_task_under_node(&self, node: usize, positions: (u64, u64)) -> bool {
        self.first(positions, |lineage| lineage.seems_under_node(node)).is_some()
    }
}
