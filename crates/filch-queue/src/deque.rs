//! The shared words and slow paths of the three Chase-Lev queues.
//!
//! The slow paths settle the last task, grow the array, and drop the queue.
//!
//! - `head`: index of the oldest task. It only grows, by one, by CAS.
//! - `tail`: index of the first free slot. Only the owner writes it.
//! - `storage`: the array in use.

use crossbeam_utils::CachePadded;

use crate::ring::{self, distance, length, Ring};
use crate::storage::Storage;
use crate::sync::{AtomicUsize, Ordering};
use crate::visitors::{HasVisitors, Visitors};
use crate::{CapacityError, Steal};

/// The maximum number of slots: indices are compared by signed differences.
const LIMIT: usize = isize::MAX as usize / 2 + 1;

/// The shared words of the deque; see the module.
pub(crate) struct Deque<T> {
    pub(crate) head: CachePadded<AtomicUsize>,
    pub(crate) tail: CachePadded<AtomicUsize>,
    pub(crate) storage: CachePadded<Storage<T, (), Visitors>>,
}

impl<T> Deque<T> {
    /// Creates an empty deque whose first task has index `index`, and its owner's view.
    pub(crate) fn starting_at(index: usize, capacity: usize) -> Result<(Self, Ring<T>), CapacityError> {
        let storage = Storage::new(index, capacity, LIMIT, (), Visitors::new())?;
        let ring = Ring::new(&storage, index);
        let deque = Deque {
            head: CachePadded::new(AtomicUsize::new(index)),
            tail: CachePadded::new(AtomicUsize::new(index)),
            storage: CachePadded::new(storage),
        };
        Ok((deque, ring))
    }

    /// Finishes a pop that stored `tail` and found the head near or past it.
    ///
    /// A thief may try to take the last task too. Returns the task, if the owner has it, and the
    /// current tail.
    #[cold]
    #[inline(never)]
    pub(crate) fn pop_near_empty(&self, ring: Ring<T>, head: usize, tail: usize) -> (Option<T>, usize) {
        let ahead = distance(head, tail);
        if ahead > 0 {
            // SAFETY: the task was pushed here, and the head has not reached it. So no thief can
            // take it any more. In a queue without a fence, a thief does not trust the tail, or it
            // takes a copy of a task that is `Copy`.
            return (Some(unsafe { ring.slot(tail).read().assume_init() }), tail);
        }
        let (mut task, mut next) = (None, head);
        if ahead == 0 {
            next = head.wrapping_add(1);
            // SeqCst, as in `take`: decides between the owner and the thieves that saw the task
            // too.
            let race = self.head.compare_exchange(head, next, Ordering::SeqCst, Ordering::Relaxed);
            // SAFETY: the owner's CAS has taken the task.
            task = race.ok().map(|_| unsafe { ring.slot(tail).read().assume_init() });
        }
        // Release: a thief may read the tail from here, and then expects the slots below it to be
        // written.
        self.tail.store(next, Ordering::Release);
        (task, next)
    }

    /// Finishes a steal, inside a visit: takes the task at `head`.
    ///
    /// The thief has made sure that the owner does not pop this task without a CAS.
    #[inline(always)]
    pub(crate) fn take(&self, head: usize) -> Steal<T> {
        let array = self.storage.current();
        // SAFETY: inside a visit.
        if unsafe { array.is_past(head) } {
            return Steal::Retry;
        }
        // SAFETY: inside a visit. The slot was written: the index is below the tail and not past.
        let task = unsafe { array.slot(head) }.read();
        // SeqCst: in a single order with the owner's CAS and barrier. The release half keeps the
        // read of the slot before the CAS, for the owner that reuses the slot after it sees the new
        // head.
        match self.head.compare_exchange(head, head.wrapping_add(1), Ordering::SeqCst, Ordering::Relaxed) {
            // SAFETY: no other thread moved the head past the task, so it was still in its slot
            // (see `chase_lev`).
            Ok(_) => Steal::Success(unsafe { task.assume_init() }),
            Err(_) => Steal::Retry,
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn make_room(&self, ring: Ring<T>, tail: usize) -> Result<Ring<T>, CapacityError> {
        // Acquire: pairs with the thieves' CAS. They have read the slots before the head.
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

impl<T> HasVisitors for Deque<T> {
    fn visitors(&self) -> &Visitors {
        self.storage.turnstiles()
    }
}

impl<T> Drop for Deque<T> {
    fn drop(&mut self) {
        // Relaxed: no other handle is left.
        let (head, tail) = (self.head.load(Ordering::Relaxed), self.tail.load(Ordering::Relaxed));
        // SAFETY: no other handle is left. The tasks between head and tail were pushed and not
        // taken.
        unsafe { ring::drop_tasks(&self.storage, head, tail) };
    }
}
