//! The array in use, the retired arrays, and the thieves that may still read them.
//!
//! The owner replaces the array when it is full or far too large. A thief may be reading the old
//! array, so the owner retires it instead of freeing it. A thief enters a [`Turnstile`] before it
//! loads the array and leaves it after it has read its slot. A retired array is freed once every
//! visit that was under way when it was retired is over.
//!
//! Invariant: a thief inside a visit may read the array that it loaded. If a thief enters while the
//! owner retires an array, at least one of them sees the other: each has a full barrier between its
//! store (the visit; the new array) and its load (the array; the visits). So either the thief loads
//! the new array or the owner waits for the visit.
//!
//! Cost: growing fourfold keeps the total size of the retired arrays at half of the array in use,
//! or less. They are freed at the next change of array, or when the owner next finds the queue
//! empty, whichever is first. A thief that is suspended inside a visit keeps the arrays that were
//! retired before it left. All are freed with the last handle.

use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ptr::NonNull;

use crossbeam_utils::CachePadded;

use crate::array::{Array, Published};
use crate::sync::{fence, Ordering};
use crate::turnstile::Turnstile;
use crate::CapacityError;

/// An array of this many slots is never replaced by a smaller array.
///
/// If the queue was created with more slots, that number applies instead.
const KEPT_SLOTS: usize = 1024;

/// The turnstiles that thieves enter before they read the array.
pub(crate) trait Turnstiles {
    /// Calls `f` with every turnstile.
    fn for_each(&self, f: &mut dyn FnMut(&Turnstile));
}

/// A lock is a single turnstile.
impl Turnstiles for Turnstile {
    fn for_each(&self, f: &mut dyn FnMut(&Turnstile)) {
        f(self);
    }
}

/// A replaced array, and the visits that may have loaded it.
struct Retired<T, A> {
    array: Array<T, A>,
    visits: Vec<(NonNull<Turnstile>, usize)>,
}

/// The array in use and the retired arrays; see the module.
pub(crate) struct Storage<T, A, V: Turnstiles> {
    current: Published<A>,
    /// The minimum number of slots of a replacement array.
    pub(crate) min_slots: usize,
    /// The maximum number of slots of an array.
    pub(crate) limit: usize,
    /// Accessed only by the owner, and by the drop of the storage.
    retired: UnsafeCell<Vec<Retired<T, A>>>,
    turnstiles: CachePadded<V>,
}

impl<T, A, V: Turnstiles> Storage<T, A, V> {
    /// Creates a storage with a first array for `capacity` tasks, at most `limit` slots.
    ///
    /// The indices start at `base`.
    pub(crate) fn new(
        base: usize,
        capacity: usize,
        limit: usize,
        anchor: A,
        turnstiles: V,
    ) -> Result<Self, CapacityError> {
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
            min_slots: slots.max(KEPT_SLOTS),
            limit,
            retired: UnsafeCell::new(Vec::new()),
            turnstiles: CachePadded::new(turnstiles),
        })
    }

    pub(crate) fn turnstiles(&self) -> &V {
        &self.turnstiles
    }

    /// Returns the array in use. Only valid inside a visit, or for the owner.
    #[inline(always)]
    pub(crate) fn current(&self) -> Array<T, A> {
        // Acquire: pairs with the release in `replace`. The copied tasks are in the array.
        // SAFETY: `current` is only ever set to arrays of these types.
        unsafe { Array::from_ptr(self.current.load(Ordering::Acquire)) }
    }

    /// Publishes `next` and retires the previous array.
    ///
    /// # Safety
    ///
    /// Only the owner calls it.
    pub(crate) unsafe fn replace(&self, next: Array<T, A>) {
        let array = self.current();
        // Release: a thief that loads the array sees the tasks in it.
        self.current.store(next.as_ptr(), Ordering::Release);
        // Pairs with the barrier in `enter`, or with the fence after a thief takes the lock: see
        // the module.
        fence(Ordering::SeqCst);
        let mut visits = Vec::new();
        self.turnstiles.for_each(&mut |turnstile| {
            visits.extend(turnstile.visit_under_way().map(|visit| (NonNull::from(turnstile), visit)));
        });
        // SAFETY: only the owner accesses it.
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
        // SAFETY: only the owner accesses it.
        let retired = unsafe { &mut *self.retired.get() };
        retired.retain_mut(|old| {
            // SAFETY: turnstiles live as long as the storage.
            old.visits.retain(|(turnstile, visit)| unsafe { turnstile.as_ref() }.visit_under_way() == Some(*visit));
            let free = old.visits.is_empty();
            if free {
                // SAFETY: the array is not in use, the visits that could have loaded it are over,
                // and later visits load another array.
                unsafe { old.array.free() };
            }
            !free
        });
    }
}

impl<T, A, V: Turnstiles> Drop for Storage<T, A, V> {
    fn drop(&mut self) {
        // SAFETY: no handle is left, so no thread reads any of the arrays.
        unsafe {
            self.current().free();
            self.retired.get_mut().drain(..).for_each(|old| old.array.free());
        }
    }
}
