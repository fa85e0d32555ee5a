//! Storage for tasks: segments, and runs, which are consecutive slots of a segment.
//!
//! A segment never moves its tasks. Each of its slots has one holder: a run of a batch, an entry of
//! a queue's directory, or the free slots that an owner keeps. The segment counts the slots that are
//! still held. The holder that releases the last ones frees the segment.
//!
//! **A slot changes its holder without a change of the count.** So a thief that claims tasks holds
//! their slots at that moment, and the segment cannot be freed under it, whatever other thieves do
//! with their slots. The holders know which slots contain tasks; the segment does not.

use core::mem::{forget, needs_drop};
#[cfg(not(loom))]
use core::ptr;

use super::row::Row;
use crate::sync::{AtomicU32, Ordering, TaskCell};
use crate::CapacityError;

/// The maximum number of slots of a segment, and of tasks in a queue.
pub(super) const MAX_SLOTS: u32 = (1 << 31) - 1;

/// The header before the slots.
pub(super) struct Header {
    /// The number of slots that have a holder.
    held: AtomicU32,
    capacity: u32,
}

/// A pointer to a segment.
///
/// It dangles when all slots are released.
pub(super) struct Segment<T>(Row<Header, TaskCell<T>>);

impl<T> Clone for Segment<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Segment<T> {}

impl<T> PartialEq for Segment<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Segment<T> {
    /// Allocates a segment. The caller holds all of its slots.
    pub(super) fn allocate(capacity: u32) -> Result<Self, CapacityError> {
        let header = Header { held: AtomicU32::new(capacity), capacity };
        Row::allocate(header, capacity, |_| TaskCell::empty()).map(Segment)
    }

    /// Returns the segment that starts at this address, or `None` for null.
    ///
    /// # Safety
    ///
    /// The pointer is null or came from [`as_ptr`](Segment::as_ptr) of a segment of such tasks.
    #[inline(always)]
    pub(super) unsafe fn from_ptr(segment: *mut ()) -> Option<Self> {
        // SAFETY: the caller guarantees it.
        (!segment.is_null()).then(|| unsafe { Segment(Row::from_ptr(segment)) })
    }

    #[inline(always)]
    pub(super) fn as_ptr(self) -> *mut () {
        self.0.as_ptr()
    }

    /// # Safety
    ///
    /// A slot is held, and is not released meanwhile.
    pub(super) unsafe fn capacity(self) -> u32 {
        // SAFETY: the caller guarantees it.
        unsafe { self.0.header() }.capacity
    }

    /// Returns the n-th slot.
    ///
    /// # Safety
    ///
    /// A slot is held, and is not released meanwhile. `n` is at most the number of slots.
    #[inline(always)]
    pub(super) unsafe fn slot(self, n: u32) -> *const TaskCell<T> {
        #[cfg(loom)]
        // SAFETY: the caller guarantees it. This reports the use to loom.
        unsafe {
            self.0.header()
        };
        // SAFETY: the caller guarantees it.
        unsafe { self.0.cell(n) }
    }

    /// Releases `slots` slots. Frees the segment with the last ones.
    ///
    /// # Safety
    ///
    /// The caller holds so many slots, and does not hold them afterwards. No task is left in them.
    #[inline]
    pub(super) unsafe fn release(self, slots: u32) {
        if slots == 0 {
            // The segment may be gone.
            return;
        }
        // SAFETY: the caller holds a slot.
        let Header { held, capacity } = unsafe { self.0.header() };
        let capacity = *capacity;
        // Acquire: the last holder sees all accesses of the others to their slots, by the release
        // with which they gave them up. If all held slots are the caller's, no other holder exists,
        // and none can appear.
        let are_last = held.load(Ordering::Acquire) == slots;
        // Release: the accesses to these slots come before the segment is freed. Acquire: as above.
        if are_last || held.fetch_sub(slots, Ordering::AcqRel) == slots {
            // SAFETY: no slot is held any more.
            unsafe { self.0.free(capacity) };
        }
    }
}

/// Consecutive slots with tasks, the oldest first, and free slots after them.
///
/// The run holds these slots, and those before them whose tasks it has returned.
pub(super) struct Run<T> {
    /// `None` if the run never had a segment.
    segment: Option<Segment<T>>,
    /// The first slot with a task.
    first: u32,
    /// The number of tasks.
    len: u32,
    /// The number of slots that the run holds.
    held: u32,
}

impl<T> Run<T> {
    pub(super) const fn empty() -> Self {
        Run { segment: None, first: 0, len: 0, held: 0 }
    }

    /// Creates a run of `len` tasks in `held` slots from `first` on.
    ///
    /// # Safety
    ///
    /// Before the run is used, the caller holds the slots, and the first `len` contain tasks. They
    /// pass to the run.
    pub(super) unsafe fn new(segment: Segment<T>, first: u32, len: u32, held: u32) -> Self {
        Run { segment: Some(segment), first, len, held }
    }

    /// Creates a run of tasks that a thief is about to claim, and of no other slots.
    ///
    /// # Safety
    ///
    /// The run is not used, nor dropped, before the claim has succeeded. Then as for
    /// [`new`](Run::new).
    #[inline(always)]
    pub(super) unsafe fn unclaimed(segment: Option<Segment<T>>, first: u32, len: u32) -> Self {
        Run { segment, first, len, held: len }
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Returns the number of free slots after the last task, of a run that has returned no task from
    /// its old end.
    #[inline]
    pub(super) fn room(&self) -> u32 {
        self.held - self.len
    }

    /// Returns the n-th task's slot, or the slot after the last task.
    ///
    /// # Safety
    ///
    /// There is a segment, and it has such a slot.
    #[inline(always)]
    pub(super) unsafe fn slot(&self, n: u32) -> *const TaskCell<T> {
        // SAFETY: the caller guarantees it.
        unsafe { self.segment.unwrap_unchecked().slot(self.first + n) }
    }

    /// Adds a task at the young end.
    ///
    /// # Safety
    ///
    /// There is a segment, and [`room`](Run::room) after the last task.
    #[inline]
    pub(super) unsafe fn push(&mut self, task: T) {
        // SAFETY: the caller guarantees it.
        unsafe { (*self.slot(self.len)).write(task) };
        self.len += 1;
    }

    /// Adds `more` slots to the run.
    ///
    /// # Safety
    ///
    /// The slots were written.
    pub(super) unsafe fn lengthen(&mut self, more: u32) {
        self.len += more;
    }

    /// Moves all tasks to other slots, from `slots` on.
    ///
    /// # Safety
    ///
    /// There are enough slots, and they belong to the caller.
    #[inline]
    pub(super) unsafe fn move_to(mut self, slots: *const TaskCell<T>) {
        #[cfg(not(loom))]
        if self.len > 0 {
            // SAFETY: the caller guarantees it. The tasks belong to the run, and are no longer
            // counted.
            unsafe {
                ptr::copy_nonoverlapping(self.slot(0).cast::<T>(), slots.cast_mut().cast(), self.len as usize);
            }
            self.len = 0;
        }
        #[cfg(loom)]
        for n in 0.. {
            let Some(task) = self.pop_oldest() else { break };
            // SAFETY: the caller guarantees it.
            unsafe { (*slots.add(n)).write(task) };
        }
    }

    /// Takes the youngest task.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: the slot holds a task of the run, and is no longer counted.
        Some(unsafe { (*self.slot(self.len)).take() })
    }

    /// Takes the oldest task.
    #[inline]
    pub(super) fn pop_oldest(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        self.first += 1;
        // SAFETY: the slot before the new first slot held a task of the run, and is no longer
        // counted. The run had a task, so this does not underflow.
        Some(unsafe { (*self.segment.unwrap_unchecked().slot(self.first - 1)).take() })
    }

    /// Returns the n-th task, oldest first.
    pub(super) fn get(&self, n: u32) -> Option<&T> {
        // SAFETY: the slot holds a task of the run, which no thread changes while it is borrowed.
        (n < self.len).then(|| unsafe { &*(*self.slot(n)).place() })
    }

    /// Returns the segment, the first slot, the number of tasks and the number of slots.
    ///
    /// The slots pass to the caller. The run has returned no task from its old end.
    pub(super) fn into_parts(self) -> Option<(Segment<T>, u32, u32, u32)> {
        let parts = self.segment.map(|segment| (segment, self.first, self.len, self.held));
        forget(self);
        parts
    }

    /// Leaves only the oldest `len` tasks and their slots in an [unclaimed](Run::unclaimed) run.
    pub(super) fn shorten_to(&mut self, len: u32) {
        (self.len, self.held) = (len, len);
    }
}

impl<T> Drop for Run<T> {
    fn drop(&mut self) {
        /// Continues after a panic, and releases the slots at the end.
        struct DropGuard<'a, T>(&'a mut Run<T>);

        impl<T> Drop for DropGuard<'_, T> {
            fn drop(&mut self) {
                if needs_drop::<T>() && self.0.len > 0 {
                    let guard = DropGuard(&mut *self.0);
                    while let Some(task) = guard.0.pop_oldest() {
                        drop(task);
                    }
                }
                if let Some(segment) = self.0.segment.take() {
                    // SAFETY: the run holds the slots, and has no task left that needs drop.
                    unsafe { segment.release(self.0.held) };
                }
            }
        }

        drop(DropGuard(self));
    }
}
