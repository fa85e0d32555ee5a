//! Whose tasks are where: for each deque a stack of segments, open for all workers to read.
//!
//! A segment begins at the position where a scope was opened, or a stolen task of it began to run.
//! All tasks from there to the next segment are that scope's. So a worker that waits can tell,
//! before it steals, whether a deque has tasks that its wait needs.

use std::cell::Cell;
use std::ptr;

use crate::lineage::{Lineage, Run, Wait};
use crate::sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// The base of a segment that is closed.
const CLOSED: u64 = u64::MAX;

/// See the module.
#[derive(Debug)]
struct Segment {
    base: AtomicU64,
    node: AtomicUsize,
    up: AtomicPtr<Run>,
}

impl Segment {
    // Relaxed in all of these: for a thread that does not hold a task of the segment it is a hint.

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
    /// How many are open. The owner's.
    open: Cell<usize>,
}

// SAFETY: the functions that use the cell are unsafe, and the owner's.
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

    /// Opens a segment, if there is one left.
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
    /// Called by the owner. There is one.
    #[inline]
    pub(super) unsafe fn close(&self) {
        let index = self.open.get() - 1;
        // Relaxed: before whatever is pushed later.
        self.all[index].base.store(CLOSED, Ordering::Relaxed);
        self.open.set(index);
    }

    /// Where the last segment begins.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    #[inline]
    pub(super) unsafe fn base(&self) -> Option<u64> {
        self.open.get().checked_sub(1).map(|last| self.all[last].base())
    }

    /// The lineage of the last segment.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(super) unsafe fn last(&self) -> Option<Lineage> {
        self.open.get().checked_sub(1).map(|last| self.all[last].lineage())
    }

    /// The segments with the positions from which and to which the deque is theirs, oldest first.
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

    /// The first position from `top` to below `bottom` at which there seems to be a task of such a
    /// lineage.
    fn first(&self, (top, bottom): (u64, u64), is_meant: impl Fn(Lineage) -> bool) -> Option<u64> {
        if top >= bottom {
            return None;
        }
        self.with_bases()
            .find(|&(segment, from, to)| from.max(top) < to.min(bottom) && is_meant(segment.lineage()))
            .map(|(_, from, _)| from.max(top))
    }

    /// The first position at which there seems to be a task that descends from what is waited for.
    pub(super) fn first_under(&self, wait: Wait, positions: (u64, u64)) -> Option<u64> {
        self.first(positions, |lineage| lineage.descends_from(wait))
    }

    /// Whether there seems to be a task that descends from what is waited for as `node`.
    pub(super) fn have_task_under_node(&self, node: usize, positions: (u64, u64)) -> bool {
        self.first(positions, |lineage| lineage.seems_under_node(node)).is_some()
    }
}
