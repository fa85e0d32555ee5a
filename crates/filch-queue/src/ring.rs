//! The owner's view of a circular array: where the next task goes, and when to take a larger or smaller array.
//!
//! Shared by all queues whose tasks have consecutive indices (figure 2a of the fence-free paper, figure 2 of the idempotent
//! one). Indices wrap; only their differences mean anything. One slot is always spare: a thief of the THE family has already
//! moved the head past the slot that it is still reading, and may move it back.

use core::mem::needs_drop;

use crate::array::Array;
use crate::storage::{Gate, Storage};
use crate::task::Slot;
use crate::CapacityError;

/// How many slots a queue has room for if nobody says.
pub(crate) const DEFAULT_CAPACITY: usize = 256;

/// What an algorithm keeps in the array's header.
pub(crate) trait Anchor {
    /// What the next array begins with.
    fn successor(&self) -> Self;
}

impl Anchor for () {
    fn successor(&self) {}
}

/// How many tasks are in a queue with these indices. The tail may be behind the head for a moment.
#[inline(always)]
pub(crate) fn length(head: usize, tail: usize) -> usize {
    (distance(head, tail)).max(0) as usize
}

/// How far the tail is ahead of the head; negative if it is behind.
#[inline(always)]
pub(crate) fn distance(head: usize, tail: usize) -> isize {
    tail.wrapping_sub(head) as isize
}

/// See the module. A small value that an owner keeps beside its tail; the slow paths take it and give it back changed.
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
    /// The owner's view of a storage that was just made, for a queue whose indices start at `index`.
    pub(crate) fn new<G: Gate>(storage: &Storage<T, A, G>, index: usize) -> Self {
        Ring { array: storage.current(), end: index }.seen_from(index)
    }

    /// The same array, with what is known about its room from a head.
    pub(crate) fn seen_from(self, head: usize) -> Self {
        Ring { end: head.wrapping_add(self.mask()), ..self }
    }

    /// One less than the number of slots: the most tasks that the array holds.
    #[inline(always)]
    pub(crate) fn mask(&self) -> usize {
        // SAFETY: this is the array in use, which only the owner, who has the ring, retires.
        unsafe { self.array.mask() }
    }

    /// The slot of an index.
    #[inline(always)]
    pub(crate) fn slot(&self, index: usize) -> Slot<'_, T> {
        // SAFETY: as in `mask`.
        unsafe { self.array.slot(index) }
    }

    /// What lives with the array.
    #[inline(always)]
    pub(crate) fn anchor(&self) -> &A {
        // SAFETY: as in `mask`.
        unsafe { self.array.anchor() }
    }

    /// The array itself.
    pub(crate) fn array(&self) -> Array<T, A> {
        self.array
    }

    /// Whether a task can be put at the tail, as far as the owner knows. The tail must not have been moved past one where it could not.
    #[inline(always)]
    pub(crate) fn has_room(&self, tail: usize) -> bool {
        tail != self.end
    }

    /// With more tasks than this left, a pop need not look after anything. Never negative.
    #[inline(always)]
    pub(crate) fn low_water(&self) -> isize {
        // SAFETY: as in `mask`; the ring is the owner's.
        unsafe { self.array.low_water() }.get()
    }

    /// Makes room for a task at the tail, by finding that the head has moved on or by growing.
    ///
    /// `head` must have been read with acquire: what thieves read from the slots before it, they have read.
    #[cold]
    #[inline(never)]
    pub(crate) fn make_room<G: Gate>(
        self,
        storage: &Storage<T, A, G>,
        head: usize,
        tail: usize,
    ) -> Result<Self, CapacityError> {
        let seen = self.seen_from(head);
        if length(head, tail) < self.mask() {
            return Ok(seen.shrink(storage, head, tail));
        }
        let slots = self.mask() + 1;
        if slots >= storage.limit {
            return Err(CapacityError::TooLarge { requested: slots, limit: storage.limit - 1 });
        }
        // Fourfold: fewer copies than doubling, and the pages at the end that are not yet used are not there yet.
        self.change(storage, head, tail, slots.saturating_mul(4).min(storage.limit))
    }

    /// Gives memory back: to be called when few tasks, or none, are left.
    ///
    /// `head` must have been read with acquire, as for [`make_room`](Ring::make_room).
    #[cold]
    #[inline(never)]
    pub(crate) fn relieve<G: Gate>(self, storage: &Storage<T, A, G>, head: usize, tail: usize) -> Self {
        // SAFETY: whoever has the ring is the owner.
        unsafe { storage.collect() };
        self.seen_from(head).shrink(storage, head, tail)
    }

    /// Whether the array is larger than it need be when the queue is empty.
    pub(crate) fn may_shrink<G: Gate>(&self, storage: &Storage<T, A, G>) -> bool {
        self.mask() + 1 > storage.kept
    }

    /// Takes an array of four to eight times the tasks that are left, if this one is sixteen times too large.
    fn shrink<G: Gate>(self, storage: &Storage<T, A, G>, head: usize, tail: usize) -> Self {
        let (left, capacity) = (length(head, tail), self.mask() + 1);
        if !self.may_shrink(storage) || left > capacity / 16 {
            return self;
        }
        let slots = (left * 4).next_power_of_two().max(storage.kept);
        self.change(storage, head, tail, slots).unwrap_or_else(|_| {
            // No memory for less memory: stay, and do not ask again at every pop.
            // SAFETY: as in `mask`; the ring is the owner's.
            unsafe { self.array.low_water() }.set(0);
            self
        })
    }

    /// Takes an array of the same size.
    pub(crate) fn renew<G: Gate>(
        self,
        storage: &Storage<T, A, G>,
        head: usize,
        tail: usize,
    ) -> Result<Self, CapacityError> {
        self.change(storage, head, tail, self.mask() + 1)
    }

    fn change<G: Gate>(
        self,
        storage: &Storage<T, A, G>,
        head: usize,
        tail: usize,
        slots: usize,
    ) -> Result<Self, CapacityError> {
        // From one before the head: a thief of the THE family may move the head back by one.
        let (first, count) = (head.wrapping_sub(1), length(head, tail) + 1);
        // A thief that is behind the times asks for a task before `first`, which it can tell. In a queue of which only the end moves it may also ask for
        // one behind the last; then a larger array has its slot, and a smaller one, which may not, is zeroed.
        let zeroed = slots <= self.mask();
        let array = Array::allocate(slots, first, zeroed, self.anchor().successor())?;
        debug_assert!(count <= slots);
        // SAFETY: whoever has the ring is the owner, who alone writes to the array in use; the new one is nobody else's yet.
        unsafe {
            self.array.copy_to(array, first, count);
            array.low_water().set(if slots > storage.kept { (slots / 16) as isize } else { 0 });
            storage.replace(array);
        }
        Ok(Ring { array, end: head }.seen_from(head))
    }
}

/// Drops the tasks that are left in a queue, also those after one whose drop panics; a second panic ends the process, as it does for a `Vec`.
///
/// # Safety
///
/// No handle is left, and the slots from `head` to `tail` hold tasks that nobody has.
pub(crate) unsafe fn drop_tasks<T, G: Gate>(storage: &Storage<T, (), G>, head: usize, tail: usize) {
    /// Goes on where a panic left off.
    struct Rest<'a, T, G: Gate> {
        storage: &'a Storage<T, (), G>,
        next: usize,
        end: usize,
    }

    impl<T, G: Gate> Rest<'_, T, G> {
        fn drop_all(&mut self) {
            while self.next != self.end {
                let index = self.next;
                self.next = index.wrapping_add(1);
                // SAFETY: promised, and each index is passed once.
                unsafe { drop(self.storage.current().slot(index).read().assume_init()) };
            }
        }
    }

    impl<T, G: Gate> Drop for Rest<'_, T, G> {
        fn drop(&mut self) {
            self.drop_all();
        }
    }

    if needs_drop::<T>() {
        Rest { storage, next: head, end: head.wrapping_add(length(head, tail)) }.drop_all();
    }
}
