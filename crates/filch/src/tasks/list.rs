//! Deques that a worker creates when it first needs them. All workers can look at them.

use std::iter;
use std::ptr;

use super::{Counted, Deque};
use crate::split::Mode;
use crate::sync::{AtomicPtr, Ordering};

/// The most deques in a list.
const MAX_DEQUES: usize = 8;

/// A list of deques; see the module.
///
/// Each deque has room for one segment and is in the fenced mode. The owners never pop from their
/// own end, where a raid would have to be distinguished from a pop. So a raid needs no barrier.
#[derive(Debug)]
pub(super) struct List {
    deques: [AtomicPtr<Deque>; MAX_DEQUES],
    counted: Counted,
}

impl List {
    pub(super) fn new(counted: Counted) -> List {
        List { deques: [ptr::null_mut(); MAX_DEQUES].map(AtomicPtr::new), counted }
    }

    fn get(&self, index: usize) -> Option<&Deque> {
        // Acquire: the deque as it was made.
        let deque = self.deques.get(index)?.load(Ordering::Acquire);
        // SAFETY: deques live as long as `self`.
        unsafe { deque.as_ref() }
    }

    /// Returns all deques that were created.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Deque> {
        let mut index = 0;
        iter::from_fn(move || {
            let deque = self.get(index);
            index += 1;
            deque
        })
    }

    /// Returns the deque of this index. Creates it if need be, unless that would be too many.
    ///
    /// # Safety
    ///
    /// Called by the owner. The deques of lower indices were created.
    pub(super) unsafe fn get_or_make(&self, index: usize) -> Option<&Deque> {
        let place = self.deques.get(index)?;
        if self.get(index).is_none() {
            let deque = Deque::new(Mode::Fenced, 1, self.counted);
            // Release: see `get`.
            place.store(Box::into_raw(Box::new(deque)), Ordering::Release);
        }
        self.get(index)
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // Shuttle drops what a failed execution has left when its atomics cannot be used any more.
        if cfg!(shuttle) {
            return;
        }
        for deque in &self.deques {
            let deque = deque.load(Ordering::Relaxed);
            if !deque.is_null() {
                // SAFETY: from `get_or_make`, and in no use.
                drop(unsafe { Box::from_raw(deque) });
            }
        }
    }
}
