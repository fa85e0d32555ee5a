//! Storage for tasks: segments, and runs, which are a party's share of a segment.
//!
//! A segment has one or more parties.
//!
//! A segment never moves its tasks. Each run of it, in a batch or in the directory of a queue, is a
//! party, that is, a counted reference. The last party that leaves frees the segment. The parties
//! know which slots hold tasks and which party may access them; the segment does not.

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
    parties: AtomicU32,
    capacity: u32,
}

/// A pointer to a segment. Its holder is a party, or knows a party that stays.
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
    /// Allocates a segment with a single party, the caller.
    pub(super) fn allocate(capacity: u32) -> Result<Self, CapacityError> {
        let header = Header { parties: AtomicU32::new(1), capacity };
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
    /// The segment has a party that stays.
    pub(super) unsafe fn capacity(self) -> u32 {
        // SAFETY: the caller guarantees it.
        unsafe { self.0.header() }.capacity
    }

    /// Returns the n-th slot.
    ///
    /// # Safety
    ///
    /// The segment has a party that stays, and `n` is at most the number of slots.
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

    /// Adds a party.
    ///
    /// # Safety
    ///
    /// The segment has a party that stays until the call returns.
    #[inline]
    pub(super) unsafe fn join(self) {
        // Relaxed: the caller knows the segment through a party. Its accesses are ordered by the
        // release in `leave`.
        // SAFETY: the caller guarantees it.
        unsafe { self.0.header() }.parties.fetch_add(1, Ordering::Relaxed);
    }

    /// Removes the caller's party. The last party frees the segment.
    ///
    /// # Safety
    ///
    /// The caller is a party, and is not a party afterwards. Its slots hold no task any more.
    #[inline]
    pub(super) unsafe fn leave(self) {
        // SAFETY: the caller is a party.
        let Header { parties, capacity } = unsafe { self.0.header() };
        let capacity = *capacity;
        // Acquire: the last party sees all accesses of the others to their slots, by the release
        // with which they left. A party that is alone stays alone, since only a party can add
        // another.
        let alone = parties.load(Ordering::Acquire) == 1;
        // Release: this party's accesses to its slots come before the segment is freed. Acquire: as
        // above.
        if alone || parties.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: the last party has left.
            unsafe { self.0.free(capacity) };
        }
    }
}

/// Consecutive slots of a segment that all hold tasks, and a party of that segment.
pub(super) struct Run<T> {
    /// `None` if the run never had a segment.
    segment: Option<Segment<T>>,
    first: u32,
    len: u32,
}

impl<T> Run<T> {
    pub(super) const fn empty() -> Self {
        Run { segment: None, first: 0, len: 0 }
    }

    /// # Safety
    ///
    /// The slots hold tasks that belong to no other party, and the caller passes its party of the
    /// segment on.
    pub(super) unsafe fn new(segment: Segment<T>, first: u32, len: u32) -> Self {
        Run { segment: Some(segment), first, len }
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Returns the index of the slot after the last task.
    #[inline]
    pub(super) fn end(&self) -> u32 {
        self.first + self.len
    }

    pub(super) fn capacity(&self) -> u32 {
        // SAFETY: the run is a party.
        self.segment.map_or(0, |segment| unsafe { segment.capacity() })
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
    /// There is a segment, and the slot after the last task belongs to the run.
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

    /// Returns the segment, the first slot, and the number of tasks.
    ///
    /// The party passes to the caller.
    pub(super) fn into_parts(self) -> Option<(Segment<T>, u32, u32)> {
        let parts = self.segment.map(|segment| (segment, self.first, self.len));
        forget(self);
        parts
    }
}

impl<T> Drop for Run<T> {
    fn drop(&mut self) {
        /// Continues after a panic, and leaves the segment at the end.
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
                    // SAFETY: the run is a party, and has no task left that needs drop.
                    unsafe { segment.leave() };
                }
            }
        }

        drop(DropGuard(self));
    }
}
