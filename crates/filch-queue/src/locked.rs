//! The shared words and slow paths of the two THE queues.
//!
//! The slow paths settle a conflict under the lock, grow the array, and drop the queue.
//!
//! - `head`: index of the oldest task. Only a thief that holds the lock writes it: up by one to
//!   announce a steal, and down again if it withdraws.
//! - `tail`: index of the first free slot. Only the owner writes it.
//! - `storage`: the array in use. Its turnstile is the lock, so a thief that reads the array holds
//!   the lock.
//!
//! The owner never waits for the lock to change the array: a thief that holds it can continue with
//! the old array.

use crossbeam_utils::CachePadded;

use crate::barrier;
use crate::ring::{self, distance, length, Ring};
use crate::storage::Storage;
use crate::sync::{AtomicUsize, Ordering};
use crate::turnstile::Turnstile;
use crate::{CapacityError, Steal};

/// The maximum number of slots: indices are compared by signed differences.
const LIMIT: usize = isize::MAX as usize / 2 + 1;

/// The shared words of the queue; see the module.
pub(crate) struct Locked<T> {
    pub(crate) head: CachePadded<AtomicUsize>,
    pub(crate) tail: CachePadded<AtomicUsize>,
    pub(crate) storage: CachePadded<Storage<T, (), Turnstile>>,
}

impl<T> Locked<T> {
    /// Creates an empty queue whose first task has index `index`, and its owner's view.
    pub(crate) fn starting_at(index: usize, capacity: usize) -> Result<(Self, Ring<T>), CapacityError> {
        let storage = Storage::new(index, capacity, LIMIT, (), Turnstile::new())?;
        let ring = Ring::new(&storage, index);
        let locked = Locked {
            head: CachePadded::new(AtomicUsize::new(index)),
            tail: CachePadded::new(AtomicUsize::new(index)),
            storage: CachePadded::new(storage),
        };
        Ok((locked, ring))
    }

    /// Finishes a pop that stored `tail` and found the head near or past it.
    ///
    /// Returns the task, if the owner has it, and the current tail.
    #[cold]
    #[inline(never)]
    pub(crate) fn pop_near_empty(&self, ring: Ring<T>, head: usize, tail: usize) -> (Option<T>, usize) {
        if distance(head, tail) < 0 {
            let _lock = self.storage.turnstiles().enter();
            // Relaxed: only the holder of the lock writes the head.
            let head = self.head.load(Ordering::Relaxed);
            if distance(head, tail) < 0 {
                // Release: a thief may read the tail from here, and then expects the slots below it
                // to be written.
                self.tail.store(head, Ordering::Release);
                return (None, head);
            }
        }
        // SAFETY: the task was pushed here. A thief that announces it from now on sees the tail and
        // withdraws. In a queue without a fence, the thief does not trust the tail, or it takes a
        // copy of a task that is `Copy`.
        (Some(unsafe { ring.slot(tail).read().assume_init() }), tail)
    }

    /// Returns an outcome that needs no lock.
    ///
    /// This is empty, or retry if another thief holds the lock or held it meanwhile. Returns `None`
    /// if there is a task.
    #[inline]
    pub(crate) fn check_without_lock(&self) -> Option<Steal<T>> {
        let before = self.storage.turnstiles().visits();
        // Acquire: the tail is loaded after the head, and the visits are loaded again after both.
        let head = self.head.load(Ordering::Acquire);
        if distance(head, self.tail.load(Ordering::Acquire)) > 0 {
            return None;
        }
        // A thief that holds the lock, or held it meanwhile, may have announced the last task and
        // may withdraw.
        let quiet = before % 2 == 0 && self.storage.turnstiles().visits() == before;
        Some(if quiet { Steal::Empty } else { Steal::Retry })
    }

    /// Starts a steal, under the lock: announces that the thief takes the oldest task.
    ///
    /// The barrier makes sure that the thief sees an owner that has not seen the announcement.
    /// Returns the index of that task.
    #[inline(always)]
    pub(crate) fn announce(&self) -> usize {
        // Relaxed: only the holder of the lock writes the head.
        let head = self.head.load(Ordering::Relaxed);
        // Release: an owner that sees this head may reuse the slots before the one that is being
        // stolen. They have been read. The barrier pairs with the barrier in the owner's pop, and
        // with the barrier after an array was replaced.
        barrier::store_then_full(&self.head, head.wrapping_add(1));
        head
    }

    /// Finishes an announced steal that is safe.
    #[inline(always)]
    pub(crate) fn take(&self, head: usize) -> T {
        // SAFETY: under the lock the array stays allocated. The task was pushed, and the spare slot
        // keeps it from being overwritten. The owner does not pop it without the lock. In a queue
        // with an untrusted bound, the owner may have a copy of it, and the task is `Copy`.
        unsafe { self.storage.current().slot(head).read().assume_init() }
    }

    /// Withdraws an announced steal that is not safe.
    #[inline(always)]
    pub(crate) fn withdraw(&self, head: usize) {
        // Release: as in `announce`.
        self.head.store(head, Ordering::Release);
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn make_room(&self, ring: Ring<T>, tail: usize) -> Result<Ring<T>, CapacityError> {
        // Acquire: pairs with `announce`. Thieves have read the slots before the one before the
        // head.
        ring.make_room(&self.storage, self.head.load(Ordering::Acquire), tail)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn free_memory(&self, ring: Ring<T>, tail: usize) -> Ring<T> {
        // Acquire: as in `make_room`.
        ring.free_memory(&self.storage, self.head.load(Ordering::Acquire), tail)
    }

    pub(crate) fn len(&self) -> usize {
        // Acquire, then relaxed: a hint, but the tail is not older than the head.
        length(self.head.load(Ordering::Acquire), self.tail.load(Ordering::Relaxed))
    }
}

impl<T> Drop for Locked<T> {
    fn drop(&mut self) {
        // Relaxed: no other handle is left.
        let (head, tail) = (self.head.load(Ordering::Relaxed), self.tail.load(Ordering::Relaxed));
        // SAFETY: no other handle is left. The tasks between head and tail were pushed and not
        // taken.
        unsafe { ring::drop_tasks(&self.storage, head, tail) };
    }
}
