//! Deques for scopes whose tasks are taken oldest first: one for each that is open on a worker.
//!
//! The owner takes the oldest task of such a scope from the thieves' end of the deque. So each
//! scope needs a deque in which no older tasks of other scopes stand before its own. The owner
//! never pops from its own end, where a raid would have to be told from a pop: so a raid of a lane
//! needs no barrier, and lanes are in the fenced mode from the start.

use std::cell::Cell;
use std::iter;
use std::ptr;

use super::Deque;
use crate::split::Mode;
use crate::sync::{AtomicPtr, Ordering};

/// How many such scopes a worker can have open. The tasks of others go through the injector.
const LANES: usize = 8;

/// See the module.
#[derive(Debug)]
pub(crate) struct Lanes {
    lanes: [AtomicPtr<Deque>; LANES],
    /// How many are in use. The owner's.
    used: Cell<usize>,
}

// SAFETY: the functions that use the cell are unsafe, and the owner's.
unsafe impl Sync for Lanes {}

impl Lanes {
    pub(crate) fn new() -> Lanes {
        let lanes = [ptr::null_mut(); LANES].map(AtomicPtr::new);
        Lanes { lanes, used: Cell::new(0) }
    }

    fn get(&self, index: usize) -> Option<&Deque> {
        // Acquire: the deque as it was made.
        let lane = self.lanes.get(index)?.load(Ordering::Acquire);
        // SAFETY: lanes live as long as `self`.
        unsafe { lane.as_ref() }
    }

    /// All lanes that there are, in use or not.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Deque> {
        let mut index = 0;
        iter::from_fn(move || {
            let lane = self.get(index);
            index += 1;
            lane
        })
    }

    /// A lane without tasks, if there is one left.
    ///
    /// # Safety
    ///
    /// Called by the owner, which [puts it back](Lanes::put_back) last in, first out.
    pub(crate) unsafe fn take(&self) -> Option<&Deque> {
        let index = self.used.get();
        let place = self.lanes.get(index)?;
        self.used.set(index + 1);
        if self.get(index).is_none() {
            // Release: see `get`.
            place.store(Box::into_raw(Box::new(Deque::new(Mode::Fenced, 1))), Ordering::Release);
        }
        self.get(index)
    }

    /// The lane that was taken last is not needed any more.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn put_back(&self) {
        self.used.set(self.used.get() - 1);
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        // Shuttle drops what a failed run has left when its atomics cannot be used any more.
        if cfg!(shuttle) {
            return;
        }
        for lane in &self.lanes {
            let lane = lane.load(Ordering::Relaxed);
            if !lane.is_null() {
                // SAFETY: from `take`, and in no use.
                drop(unsafe { Box::from_raw(lane) });
            }
        }
    }
}
