//! Slots for forks beyond the end of the stack.

use crate::stack::Slot;
use crate::sync::{lock, Mutex};

/// Slots that do not belong to the stack and live as long as the pool.
#[derive(Debug)]
pub(crate) struct SpareSlots(pub(super) Mutex<Vec<*mut Slot>>);

impl SpareSlots {
    /// Returns a free slot, for use until it is put back.
    pub(crate) fn take(&self) -> *const Slot {
        let slot = lock(&self.0).pop().unwrap_or_else(|| Box::into_raw(Box::new(Slot::new())));
        slot.expose_provenance();
        slot
    }

    /// Puts a slot back. No thread runs or waits for its job any more.
    pub(crate) fn put_back(&self, slot: *const Slot) {
        // SAFETY: a slot of this pool, and alive.
        unsafe { &*slot }.clear();
        lock(&self.0).push(slot.cast_mut());
    }
}

impl Drop for SpareSlots {
    fn drop(&mut self) {
        for slot in lock(&self.0).drain(..) {
            // SAFETY: from `Box::into_raw`; all are back when nothing runs any more.
            drop(unsafe { Box::from_raw(slot) });
        }
    }
}

// SAFETY: slots are atomics, and no thread uses a slot that is in the list.
unsafe impl Sync for SpareSlots {}
// SAFETY: as above.
unsafe impl Send for SpareSlots {}
