//! The words of a THE queue, and what its two queues do alike: settle a conflict under the lock, grow, and end.
//!
//! - `head`: index of the oldest task. Only a thief that holds the lock writes it: up by one to announce a steal, and down again
//!   if it gives up.
//! - `tail`: index of the first free slot. Only the owner writes it.
//! - `storage`: the array in use; its gate is the lock, so that whoever reads the array as a thief holds the lock.
//!
//! The owner never waits for the lock to change the array: a thief that holds it may go on with the old one.

use crossbeam_utils::CachePadded;

use crate::barrier;
use crate::ring::{self, distance, length, Ring};
use crate::storage::Storage;
use crate::sync::{AtomicUsize, Ordering};
use crate::turnstile::Turnstile;
use crate::{CapacityError, Steal};

/// The most slots: indices are compared by signed differences.
const LIMIT: usize = isize::MAX as usize / 2 + 1;

/// See the module.
pub(crate) struct Locked<T> {
    pub(crate) head: CachePadded<AtomicUsize>,
    pub(crate) tail: CachePadded<AtomicUsize>,
    pub(crate) storage: CachePadded<Storage<T, (), Turnstile>>,
}

impl<T> Locked<T> {
    /// An empty queue whose first task has this index, and its owner's view of it.
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

    /// The end of a pop that has lowered the tail to `tail`, then found the head close to it or past it. Gives back the task, if the
    /// owner has it, and the tail as it is now.
    #[cold]
    #[inline(never)]
    pub(crate) fn pop_near_empty(&self, ring: Ring<T>, head: usize, tail: usize) -> (Option<T>, usize) {
        if distance(head, tail) < 0 {
            let _lock = self.storage.gate().enter();
            // Relaxed: only who holds the lock writes it.
            let head = self.head.load(Ordering::Relaxed);
            if distance(head, tail) < 0 {
                // Release: a thief may read the tail from here, and then expects the slots below it to be written.
                self.tail.store(head, Ordering::Release);
                return (None, head);
            }
        }
        // SAFETY: the task was pushed here. A thief that announces it from now on sees the tail and gives up; or, in a queue without a fence, does not believe
        // it, or takes a copy of a task that is `Copy`.
        (Some(unsafe { ring.slot(tail).read().assume_init() }), tail)
    }

    /// What a thief can say without the lock: that the queue is empty, or that another thief has it just now.
    #[inline]
    pub(crate) fn look(&self) -> Option<Steal<T>> {
        let before = self.storage.gate().visits();
        // Acquire: the tail is loaded after it, and the visits again after both.
        let head = self.head.load(Ordering::Acquire);
        if distance(head, self.tail.load(Ordering::Acquire)) > 0 {
            return None;
        }
        // A thief that is inside, or was meanwhile, may have announced the last task and withdraw.
        let quiet = before % 2 == 0 && self.storage.gate().visits() == before;
        Some(if quiet { Steal::Empty } else { Steal::Retry })
    }

    /// The start of a steal, under the lock: announces that the oldest task will be taken, and makes sure that an owner who
    /// has not seen it is seen. Gives back the index of that task.
    #[inline(always)]
    pub(crate) fn announce(&self) -> usize {
        // Relaxed: only who holds the lock writes it.
        let head = self.head.load(Ordering::Relaxed);
        // Release: an owner that sees this head may reuse the slots before the one that is being stolen; they have been read. The barrier
        // pairs with the one in the owner's pop, and with the one after an array was replaced.
        barrier::store_then_full(&self.head, head.wrapping_add(1));
        head
    }

    /// The end of a steal that was announced and is safe.
    #[inline(always)]
    pub(crate) fn take(&self, head: usize) -> T {
        // SAFETY: under the lock the array stays allocated; the task was pushed, and the spare slot keeps it from being overwritten. The owner does not pop
        // it without the lock, or, where nobody vouched for the bound, has had a copy of a task that is `Copy`.
        unsafe { self.storage.current().slot(head).read().assume_init() }
    }

    /// The end of a steal that was announced and is not safe.
    #[inline(always)]
    pub(crate) fn withdraw(&self, head: usize) {
        // Release: as in `announce`.
        self.head.store(head, Ordering::Release);
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn make_room(&self, ring: Ring<T>, tail: usize) -> Result<Ring<T>, CapacityError> {
        // Acquire: pairs with `announce`; thieves have read the slots before the one before the head.
        ring.make_room(&self.storage, self.head.load(Ordering::Acquire), tail)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn relieve(&self, ring: Ring<T>, tail: usize) -> Ring<T> {
        // Acquire: as in `make_room`.
        ring.relieve(&self.storage, self.head.load(Ordering::Acquire), tail)
    }

    pub(crate) fn len(&self) -> usize {
        // Acquire, relaxed: a hint, but the tail is not older than the head.
        length(self.head.load(Ordering::Acquire), self.tail.load(Ordering::Relaxed))
    }
}

impl<T> Drop for Locked<T> {
    fn drop(&mut self) {
        // Relaxed: no other handle is left.
        let (head, tail) = (self.head.load(Ordering::Relaxed), self.tail.load(Ordering::Relaxed));
        // SAFETY: no other handle is left, and what is between head and tail was pushed and taken by nobody.
        unsafe { ring::drop_tasks(&self.storage, head, tail) };
    }
}
