//! The array in use, the arrays that were in use, and who may still be reading them.
//!
//! The owner replaces the array when it is full or far too large. A thief may be reading the old one, so it is retired
//! rather than freed: a thief passes a [`Turnstile`] before it looks for the array and leaves it when it has read its slot,
//! and a retired array is freed once every visit that was under way when it was retired is over.
//!
//! Invariant: whoever is inside a visit that is not over may read the array it found. Between a thief that enters and an
//! owner that retires, at least one sees the other, because each has a full barrier between its store (the visit; the new
//! array) and its load (the array; the visits). So either the thief finds the new array or the owner waits for it.
//!
//! Cost: growing fourfold keeps the retired arrays together at half of the one in use, or less. They go at the next change of
//! array, or when the owner next finds the queue empty, whichever is first; a thief that is suspended inside a visit keeps
//! those that were retired before it left. All go with the last handle.

use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ptr::NonNull;

use crossbeam_utils::CachePadded;

use crate::array::{Array, Published};
use crate::sync::{fence, Ordering};
use crate::turnstile::Turnstile;
use crate::CapacityError;

/// An array of this many slots, or of as many as the queue was made with, is never exchanged for a smaller one.
const KEPT_CAPACITY: usize = 1024;

/// Where thieves pass before they read the array.
pub(crate) trait Gate {
    /// Shows every turnstile of the gate.
    fn turnstiles(&self, show: &mut dyn FnMut(&Turnstile));
}

/// A lock is a gate with one turnstile.
impl Gate for Turnstile {
    fn turnstiles(&self, show: &mut dyn FnMut(&Turnstile)) {
        show(self);
    }
}

/// An array that is no longer in use, and the visits that may have found it.
struct Retired<T, A> {
    array: Array<T, A>,
    visits: Vec<(NonNull<Turnstile>, usize)>,
}

/// See the module.
pub(crate) struct Storage<T, A, G: Gate> {
    current: Published<A>,
    /// The array never gets fewer slots than this.
    pub(crate) kept: usize,
    /// Nor more than this.
    pub(crate) limit: usize,
    /// Only the owner touches it, and whoever drops the storage.
    retired: UnsafeCell<Vec<Retired<T, A>>>,
    gate: CachePadded<G>,
}

impl<T, A, G: Gate> Storage<T, A, G> {
    /// A storage with a first array, of as many slots as `capacity` tasks need but no more than `limit`, for tasks from index `base` on.
    pub(crate) fn new(base: usize, capacity: usize, limit: usize, anchor: A, gate: G) -> Result<Self, CapacityError> {
        let limit = limit.min(Array::<T, A>::largest());
        let too_large = CapacityError::TooLarge { requested: capacity, limit: limit - 1 };
        let slots = capacity.checked_add(1).and_then(usize::checked_next_power_of_two).ok_or(too_large)?;
        if slots > limit {
            return Err(too_large);
        }
        let slots = slots.max(Array::<T, A>::SMALLEST);
        let first = Array::<T, A>::allocate(slots, base, true, anchor)
            .map_err(|_| CapacityError::OutOfMemory { requested: capacity })?;
        Ok(Storage {
            current: Published::new(first.as_ptr()),
            kept: slots.max(KEPT_CAPACITY),
            limit,
            retired: UnsafeCell::new(Vec::new()),
            gate: CachePadded::new(gate),
        })
    }

    pub(crate) fn gate(&self) -> &G {
        &self.gate
    }

    /// The array in use. Only valid inside a visit, or for the owner.
    #[inline(always)]
    pub(crate) fn current(&self) -> Array<T, A> {
        // Acquire: pairs with the release in `replace`; the copied tasks are in the array.
        // SAFETY: `current` is only ever set from arrays of these types.
        unsafe { Array::from_ptr(self.current.load(Ordering::Acquire)) }
    }

    /// Puts `next` into use and retires the array before it.
    ///
    /// # Safety
    ///
    /// Only the owner calls it.
    pub(crate) unsafe fn replace(&self, next: Array<T, A>) {
        let array = self.current();
        // Release: a thief that finds the array finds the tasks in it.
        self.current.store(next.as_ptr(), Ordering::Release);
        // Pairs with the barrier in `enter`, or with the fence after a thief takes the lock: see the module.
        fence(Ordering::SeqCst);
        let mut visits = Vec::new();
        self.gate.turnstiles(&mut |turnstile| {
            visits.extend(turnstile.visit_under_way().map(|visit| (NonNull::from(turnstile), visit)));
        });
        // SAFETY: only the owner touches it.
        unsafe { (*self.retired.get()).push(Retired { array, visits }) };
        // SAFETY: only the owner calls it.
        unsafe { self.collect() };
    }

    /// Frees the retired arrays that no thief can be reading.
    ///
    /// # Safety
    ///
    /// Only the owner calls it.
    pub(crate) unsafe fn collect(&self) {
        // SAFETY: only the owner touches it.
        let retired = unsafe { &mut *self.retired.get() };
        retired.retain_mut(|old| {
            // SAFETY: turnstiles stay as long as the gate.
            old.visits.retain(|(turnstile, visit)| unsafe { turnstile.as_ref() }.visit_under_way() == Some(*visit));
            let free = old.visits.is_empty();
            if free {
                // SAFETY: it is not in use, the visits that could have found it are over, and later ones find another.
                unsafe { old.array.free() };
            }
            !free
        });
    }
}

impl<T, A, G: Gate> Drop for Storage<T, A, G> {
    fn drop(&mut self) {
        // SAFETY: no handle is left, so nobody reads any of them.
        unsafe {
            self.current().free();
            self.retired.get_mut().drain(..).for_each(|old| old.array.free());
        }
    }
}
