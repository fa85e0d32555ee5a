//! Deques for scopes whose tasks are taken oldest first. Each such scope that is open on a worker
//! has one.
//!
//! The owner takes the oldest task of such a scope from the thieves' end of the deque. So each
//! scope needs a deque in which no older tasks of other scopes stand before its own.

use std::cell::Cell;
use std::fmt;

use super::list::List;
use super::{Counted, Deque};

/// The lanes of a worker; see the module.
pub(crate) struct Lanes {
    lanes: List,
    /// The number of lanes in use. Only the owner uses it.
    used: Cell<usize>,
}

// SAFETY: the functions that use the cell are unsafe, and only the owner calls them.
unsafe impl Sync for Lanes {}

impl Lanes {
    pub(crate) fn new() -> Lanes {
        Lanes { lanes: List::new(Counted::WhenStolen), used: Cell::new(0) }
    }

    /// Returns all lanes that exist, in use or not.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Deque> {
        self.lanes.iter()
    }

    /// Takes a lane without tasks, if there is one left.
    ///
    /// # Safety
    ///
    /// Called by the owner, which [puts it back](Lanes::put_back) last in, first out.
    pub(crate) unsafe fn take(&self) -> Option<&Deque> {
        let index = self.used.get();
        // SAFETY: the caller guarantees it; lanes are made in order.
        let lane = unsafe { self.lanes.get_or_make(index) }?;
        self.used.set(index + 1);
        Some(lane)
    }

    /// Puts back the lane that was taken last.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn put_back(&self) {
        self.used.set(self.used.get() - 1);
    }
}

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lanes").finish_non_exhaustive()
    }
}
