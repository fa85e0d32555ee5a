//! The owner's view of a circular array.
//!
//! It determines where the next task goes, and when to replace the array.
//!
//! All queues whose tasks have consecutive indices share it (figure 2a of the fence-free paper,
//! figure 2 of the idempotent paper). Indices wrap; only their differences have a meaning. One slot
//! is always spare: a thief of the THE family moves the head past a slot before it reads the slot,
//! and may move the head back.

use core::mem::needs_drop;

use crate::array::Array;
use crate::storage::{Storage, Turnstiles};
use crate::task::Slot;
use crate::CapacityError;

/// The default capacity of a queue.
pub(crate) const DEFAULT_CAPACITY: usize = 256;

/// Data that an algorithm keeps in the array's header.
pub(crate) trait Anchor {
    /// Returns the initial anchor of the next array.
    fn successor(&self) -> Self;
}

impl Anchor for () {
    fn successor(&self) {}
}

/// Returns the number of tasks in a queue with these indices.
///
/// The tail may be behind the head for a moment.
#[inline(always)]
pub(crate) fn length(head: usize, tail: usize) -> usize {
    (distance(head, tail)).max(0) as usize
}

/// Returns how far the tail is ahead of the head; negative if it is behind.
#[inline(always)]
pub(crate) fn distance(head: usize, tail: usize) -> isize {
    tail.wrapping_sub(head) as isize
}

/// The owner's view of the array; see the module.
///
/// A small value that an owner keeps beside its tail. The slow paths take it and return it changed.
pub(crate) struct Ring<T, A = ()> {
    array: Array<T, A>,
    /// The tail at which there is no more room, as far as the owner knows.
    end: usize,
}

impl<T, A> Clone for Ring<T, A> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, A> Copy for Ring<T, A> {}

impl<T, A: Anchor> Ring<T, A> {
    /// Returns the owner's view of a new storage, whose indices start at `index`.
    pub(crate) fn new<V: Turnstiles>(storage: &Storage<T, A, V>, index: usize) -> Self {
        Ring { array: storage.current(), end: index }.with_head(index)
    }

    /// Returns a view of the same array with the room computed from `head`.
    pub(crate) fn with_head(self, head: usize) -> Self {
        Ring { end: head.wrapping_add(self.mask()), ..self }
    }

    /// Returns the number of slots minus 1: the maximum number of tasks.
    #[inline(always)]
    pub(crate) fn mask(&self) -> usize {
        // SAFETY: this is the array in use. Only the owner retires it, and the owner has the ring.
        unsafe { self.array.mask() }
    }

    /// Returns the slot of an index.
    #[inline(always)]
    pub(crate) fn slot(&self, index: usize) -> Slot<'_, T> {
        // SAFETY: as in `mask`.
        unsafe { self.array.slot(index) }
    }

    /// Returns the anchor: the data that lives with the array.
    #[inline(always)]
    pub(crate) fn anchor(&self) -> &A {
        // SAFETY: as in `mask`.
        unsafe { self.array.anchor() }
    }

    /// Returns the array.
    pub(crate) fn array(&self) -> Array<T, A> {
        self.array
    }

    /// Returns whether the owner knows of room for a task at the tail.
    ///
    /// The tail must not have moved past the index at which this is false.
    #[inline(always)]
    pub(crate) fn has_room(&self, tail: usize) -> bool {
        tail != self.end
    }

    /// With more tasks than this left, a pop takes the fast path. Never negative.
    #[inline(always)]
    pub(crate) fn low_water(&self) -> isize {
        // SAFETY: as in `mask`. The ring belongs to the owner.
        unsafe { self.array.low_water() }.get()
    }

    /// Makes room for a task at the tail. Either the head has advanced, or the array grows.
    ///
    /// `head` must have been loaded with acquire: thieves have finished reading the slots before
    /// it.
    #[cold]
    #[inline(never)]
    pub(crate) fn make_room<V: Turnstiles>(
        self,
        storage: &Storage<T, A, V>,
        head: usize,
        tail: usize,
    ) -> Result<Self, CapacityError> {
        let seen = self.with_head(head);
        if length(head, tail) < self.mask() {
            return Ok(seen.shrink(storage, head, tail));
        }
        let slots = self.mask() + 1;
        if slots >= storage.limit {
            return Err(CapacityError::TooLarge { requested: slots, limit: storage.limit - 1 });
        }
        // Fourfold: fewer copies than doubling, and the system does not yet provide the unused
        // pages at the end.
        self.change(storage, head, tail, slots.saturating_mul(4).min(storage.limit))
    }

    /// Frees memory. Call it when few tasks, or none, are left.
    ///
    /// `head` must have been loaded with acquire, as for [`make_room`](Ring::make_room).
    #[cold]
    #[inline(never)]
    pub(crate) fn free_memory<V: Turnstiles>(self, storage: &Storage<T, A, V>, head: usize, tail: usize) -> Self {
        // SAFETY: the ring belongs to the owner, so the caller is the owner.
        unsafe { storage.collect() };
        self.with_head(head).shrink(storage, head, tail)
    }

    /// Returns whether the array is larger than an empty queue needs.
    pub(crate) fn may_shrink<V: Turnstiles>(&self, storage: &Storage<T, A, V>) -> bool {
        self.mask() + 1 > storage.min_slots
    }

    /// Takes a smaller array if this one is sixteen times too large. The new array has room for
    /// four to eight times the tasks that are left.
    fn shrink<V: Turnstiles>(self, storage: &Storage<T, A, V>, head: usize, tail: usize) -> Self {
        let (left, capacity) = (length(head, tail), self.mask() + 1);
        if !self.may_shrink(storage) || left > capacity / 16 {
            return self;
        }
        let slots = (left * 4).next_power_of_two().max(storage.min_slots);
        self.change(storage, head, tail, slots).unwrap_or_else(|_| {
            // No memory for the smaller array: keep this array, and do not try again at every pop.
            // SAFETY: as in `mask`. The ring belongs to the owner.
            unsafe { self.array.low_water() }.set(0);
            self
        })
    }

    /// Takes a new array of the same size.
    pub(crate) fn renew<V: Turnstiles>(
        self,
        storage: &Storage<T, A, V>,
        head: usize,
        tail: usize,
    ) -> Result<Self, CapacityError> {
        self.change(storage, head, tail, self.mask() + 1)
    }

    fn change<V: Turnstiles>(
        self,
        storage: &Storage<T, A, V>,
        head: usize,
        tail: usize,
        slots: usize,
    ) -> Result<Self, CapacityError> {
        // Starts one before the head: a thief of the THE family may move the head back by one.
        let (first, count) = (head.wrapping_sub(1), length(head, tail) + 1);
        // A thief with an outdated head may ask for a task before `first`, which it can detect. In
        // a queue in which only the end moves, it may also ask for a task after the last. A larger
        // array has the slot for that. A smaller array may not have it, so it is zeroed.
        let zeroed = slots <= self.mask();
        let array = Array::allocate(slots, first, zeroed, self.anchor().successor())?;
        debug_assert!(count <= slots);
        // SAFETY: the ring belongs to the owner, and only the owner writes to the array in use. The
        // new array is not shared yet.
        unsafe {
            self.array.copy_to(array, first, count);
            array.low_water().set(if slots > storage.min_slots { (slots / 16) as isize } else { 0 });
            storage.replace(array);
        }
        Ok(Ring { array, end: head }.with_head(head))
    }
}

/// Drops the tasks that are left in a queue.
///
/// If the drop of a task panics, the remaining tasks are dropped too. A second panic aborts the
/// process, as it does for a `Vec`.
///
/// # Safety
///
/// No handle is left, and the slots from `head` to `tail` hold tasks that were not taken.
pub(crate) unsafe fn drop_tasks<T, V: Turnstiles>(storage: &Storage<T, (), V>, head: usize, tail: usize) {
    /// Continues after a panic.
    struct RemainingTasks<'a, T, V: Turnstiles> {
        storage: &'a Storage<T, (), V>,
        next: usize,
        end: usize,
    }

    impl<T, V: Turnstiles> RemainingTasks<'_, T, V> {
        fn drop_all(&mut self) {
            while self.next != self.end {
                let index = self.next;
                self.next = index.wrapping_add(1);
                // SAFETY: the caller guarantees it, and each index is passed once.
                unsafe { drop(self.storage.current().slot(index).read().assume_init()) };
            }
        }
    }

    impl<T, V: Turnstiles> Drop for RemainingTasks<'_, T, V> {
        fn drop(&mut self) {
            self.drop_all();
        }
    }

    if needs_drop::<T>() {
        RemainingTasks { storage, next: head, end: head.wrapping_add(length(head, tail)) }.drop_all();
    }
}
