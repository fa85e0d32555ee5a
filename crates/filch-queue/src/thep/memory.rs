//! The array of a THEP queue: when it grows and shrinks, and what the owner settles before that.

use super::words::{Head, Shared};
use crate::barrier;
use crate::bound::Trust;
use crate::ring::Ring;
use crate::sync::Ordering;
use crate::CapacityError;

impl<T> Shared<T> {
    /// Frees memory after a pop.
    ///
    /// A smaller array has no slots for tasks that the owner regards as popped. So if the bound is
    /// untrusted, the owner first settles them. Returns the tail to continue from, and the view
    /// from there.
    #[cold]
    #[inline(never)]
    pub(super) fn settle_and_free_memory<B: Trust>(&self, ring: Ring<T>, tail: usize) -> (usize, Ring<T>) {
        let (tail, ring) =
            if !B::TRUSTED && ring.may_shrink(&self.storage) { self.settle(ring, tail) } else { (tail, ring) };
        (tail, self.free_memory(ring, tail))
    }

    /// Makes up for the missing fences of pops, before their indices are reused.
    ///
    /// Returns the tail to continue from, and the view from there.
    #[cold]
    #[inline(never)]
    pub(super) fn settle(&self, ring: Ring<T>, tail: usize) -> (usize, Ring<T>) {
        // Pairs with the barrier in `steal`: a thief that did not see this tail has announced its
        // steal before the load here.
        barrier::full();
        // Relaxed: if the head is past the tail, the lock decides.
        if Head::unpack(self.head.load(Ordering::Relaxed)).distance(tail) >= 0 {
            return (tail, ring);
        }
        let _lock = self.storage.turnstiles().enter();
        // Relaxed: only the holder of the lock writes the head.
        let head = Head::unpack(self.head.load(Ordering::Relaxed));
        if head.distance(tail) >= 0 {
            return (tail, ring);
        }
        let tail = head.full(tail);
        // Release: a thief may read the tail from here.
        self.tail.store(tail, Ordering::Release);
        (tail, ring.with_head(tail))
    }

    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&self, ring: Ring<T>, tail: usize) -> Result<Ring<T>, CapacityError> {
        // Acquire: pairs with the release in `steal`. Thieves have read the slots before the one
        // before the head.
        let head = Head::unpack(self.head.load(Ordering::Acquire));
        ring.make_room(&self.storage, head.full(tail), tail)
    }

    pub(super) fn free_memory(&self, ring: Ring<T>, tail: usize) -> Ring<T> {
        // Acquire: as in `make_room`.
        let head = Head::unpack(self.head.load(Ordering::Acquire));
        ring.free_memory(&self.storage, head.full(tail), tail)
    }
}
