//! Where tasks lie: segments, which have several parties, and runs, which are a party's share of a segment.
//!
//! A segment never moves its tasks. Each run of it, whether in a batch or in the directory of a queue, is a party, and the last party to
//! go frees it. Which slots hold tasks, and who may touch them, the parties know; the segment does not.

use core::mem::{forget, needs_drop};
#[cfg(not(loom))]
use core::ptr;

use super::row::Row;
use crate::sync::{AtomicU32, Ordering, TaskCell};
use crate::CapacityError;

/// The most slots of a segment: as many as a queue holds tasks at most.
pub(super) const MOST_SLOTS: u32 = (1 << 31) - 1;

/// What stands before the slots.
pub(super) struct Header {
    parties: AtomicU32,
    capacity: u32,
}

/// A pointer to a segment; it is a party, or knows one that stays.
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
    /// A segment with one party, the caller.
    pub(super) fn allocate(capacity: u32) -> Result<Self, CapacityError> {
        let header = Header { parties: AtomicU32::new(1), capacity };
        Row::allocate(header, capacity, |_| TaskCell::empty()).map(Segment)
    }

    /// The segment that begins here, if there is one.
    ///
    /// # Safety
    ///
    /// It is null or came from [`as_ptr`](Segment::as_ptr) of a segment of such tasks.
    #[inline(always)]
    pub(super) unsafe fn from_ptr(segment: *mut ()) -> Option<Self> {
        // SAFETY: promised.
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
        // SAFETY: promised.
        unsafe { self.0.header() }.capacity
    }

    /// The n-th slot.
    ///
    /// # Safety
    ///
    /// The segment has a party that stays, and so many slots or one fewer.
    #[inline(always)]
    pub(super) unsafe fn slot(self, n: u32) -> *const TaskCell<T> {
        #[cfg(loom)]
        // SAFETY: promised. loom is told of the use.
        unsafe {
            self.0.header()
        };
        // SAFETY: promised.
        unsafe { self.0.cell(n) }
    }

    /// One more party.
    ///
    /// # Safety
    ///
    /// The segment has a party that stays until this is done.
    #[inline]
    pub(super) unsafe fn join(self) {
        // Relaxed: who joins knows of the segment through a party, and gives up what it knows by the release in `leave`.
        // SAFETY: promised.
        unsafe { self.0.header() }.parties.fetch_add(1, Ordering::Relaxed);
    }

    /// One party fewer; the last one frees the segment.
    ///
    /// # Safety
    ///
    /// The caller is a party, and is none afterwards. Its slots hold no task any more.
    #[inline]
    pub(super) unsafe fn leave(self) {
        // SAFETY: the caller is a party.
        let Header { parties, capacity } = unsafe { self.0.header() };
        let capacity = *capacity;
        // Acquire: the last party sees all that the others did with their slots, by the release with which they left. A party that is alone stays alone, since
        // only parties let others join.
        let alone = parties.load(Ordering::Acquire) == 1;
        // Release: what this party did with its slots is before the end of the segment. Acquire: as above.
        if alone || parties.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: the last party has left.
            unsafe { self.0.free(capacity) };
        }
    }
}

/// Consecutive slots of a segment that all hold tasks, and a party of that segment.
pub(super) struct Run<T> {
    /// None if there never was one.
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
    /// The slots hold tasks that are nobody else's, and the caller's party of the segment is handed over.
    pub(super) unsafe fn new(segment: Segment<T>, first: u32, len: u32) -> Self {
        Run { segment: Some(segment), first, len }
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// The slot behind the last task.
    #[inline]
    pub(super) fn end(&self) -> u32 {
        self.first + self.len
    }

    pub(super) fn capacity(&self) -> u32 {
        // SAFETY: the run is a party.
        self.segment.map_or(0, |segment| unsafe { segment.capacity() })
    }

    /// The n-th task's slot; if there is none, that of the next one.
    ///
    /// # Safety
    ///
    /// There is a segment, and it has such a slot.
    #[inline(always)]
    pub(super) unsafe fn slot(&self, n: u32) -> *const TaskCell<T> {
        // SAFETY: promised.
        unsafe { self.segment.unwrap_unchecked().slot(self.first + n) }
    }

    /// Adds a task at the young end.
    ///
    /// # Safety
    ///
    /// There is a segment, and the slot behind the last task is the run's to use.
    #[inline]
    pub(super) unsafe fn push(&mut self, task: T) {
        // SAFETY: promised.
        unsafe { (*self.slot(self.len)).write(task) };
        self.len += 1;
    }

    /// So many more slots hold tasks.
    ///
    /// # Safety
    ///
    /// They were written.
    pub(super) unsafe fn lengthen(&mut self, more: u32) {
        self.len += more;
    }

    /// Moves all tasks to other slots, from this one on.
    ///
    /// # Safety
    ///
    /// There are so many, and they are the caller's to fill.
    #[inline]
    pub(super) unsafe fn move_to(mut self, slots: *const TaskCell<T>) {
        #[cfg(not(loom))]
        if self.len > 0 {
            // SAFETY: promised; the tasks are the run's, and no longer counted.
            unsafe {
                ptr::copy_nonoverlapping(self.slot(0).cast::<T>(), slots.cast_mut().cast(), self.len as usize);
            }
            self.len = 0;
        }
        #[cfg(loom)]
        for n in 0.. {
            let Some(task) = self.pop_oldest() else { break };
            // SAFETY: promised.
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
        // SAFETY: the slot before the first one held a task of the run, and is no longer counted. There is one, so this does not underflow.
        Some(unsafe { (*self.segment.unwrap_unchecked().slot(self.first - 1)).take() })
    }

    /// The task at this place, oldest first.
    pub(super) fn get(&self, n: u32) -> Option<&T> {
        // SAFETY: the slot holds a task of the run, which nobody changes while it is borrowed.
        (n < self.len).then(|| unsafe { &*(*self.slot(n)).place() })
    }

    /// The segment, the first slot, and how many tasks: whoever takes them is the party now.
    pub(super) fn into_parts(self) -> Option<(Segment<T>, u32, u32)> {
        let parts = self.segment.map(|segment| (segment, self.first, self.len));
        forget(self);
        parts
    }
}

impl<T> Drop for Run<T> {
    fn drop(&mut self) {
        /// Goes on where a panic left off, and leaves in the end.
        struct Rest<'a, T>(&'a mut Run<T>);

        impl<T> Drop for Rest<'_, T> {
            fn drop(&mut self) {
                if needs_drop::<T>() && self.0.len > 0 {
                    let rest = Rest(&mut *self.0);
                    while let Some(task) = rest.0.pop_oldest() {
                        drop(task);
                    }
                }
                if let Some(segment) = self.0.segment.take() {
                    // SAFETY: the run is a party, and has no task left that wants dropping.
                    unsafe { segment.leave() };
                }
            }
        }

        drop(Rest(self));
    }
}
