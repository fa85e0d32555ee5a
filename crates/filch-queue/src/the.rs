//! Cilk's THE, exactly once.
//!
//! Source: figure 2b of the fence-free paper.
//!
//! # Shared words
//!
//! - head: index of the oldest task. Only a thief that holds the lock writes it.
//! - tail: index of the first free slot. Only the owner writes it.
//! - a lock, which thieves always take and the owner only in a conflict.
//! - the array in use.
//!
//! # Invariant
//!
//! A thief announces index i by storing head = i + 1 and then loads the tail; the owner announces i by storing tail = i and then loads the head;
//! both have a full barrier between. So at least one sees the other. The thief that sees the owner (tail <= i) withdraws. The owner that sees the
//! thief (head > i) takes the lock, behind which the thief has either withdrawn, and the owner has the task, or not, and the thief has it. An owner
//! that sees head <= i has the task: whoever announces i later sees the tail.
//!
//! The thief reads its slot after the owner may have learnt that the head has moved past it; so one slot is always spare, and the
//! owner does not reuse a slot before the head is two past it, by when the thief has left the lock.
//!
//! # Differences from the figure
//!
//! When the queue is empty the owner sets the tail to the head; the figure sets it to what it was, which is the same. A thief looks at both
//! indices before it takes the lock, so that an empty queue costs it none. An owner must not: a head that has reached the tail may be that of a thief
//! which is about to withdraw.
//!
//! # Progress
//!
//! A thief waits for the thief that holds the lock; an owner waits for it only when both are after the last task.
//!
//! # Memory
//!
//! The array grows fourfold when full and is exchanged for a smaller one when no more than a sixteenth of it is used, but never for one of
//! fewer than 1,024 slots. An array that was replaced is freed at once, unless a thief holds the lock at that moment; then it goes at the
//! next change of array or when the owner next finds few tasks or none.
//!
//! Model-checked on bounded TSO: `crates/filch-model/src/models/the.tso`.

use core::cell::Cell;

use crate::barrier;
use crate::handle::Handle;
use crate::locked::Locked;
use crate::ring::{self, distance, Ring};
use crate::sync::Ordering;
use crate::traits::queue_shape;
use crate::{CapacityError, PushError, Steal};

/// The owner's side: pushes, and pops the youngest task.
pub struct Owner<T> {
    shared: Handle<Locked<T>>,
    /// The owner's own copy of the tail, which nobody else writes.
    tail: Cell<usize>,
    ring: Cell<Ring<T>>,
}

/// A thief's side: steals the oldest task under a lock.
pub struct Thief<T> {
    shared: Handle<Locked<T>>,
}

/// A new queue.
///
/// ```
/// use filch_queue::{the, Steal};
///
/// let (owner, thief) = the::new();
/// owner.push("first");
/// owner.push("second");
/// std::thread::spawn(move || assert_eq!(thief.steal(), Steal::Success("first"))).join().unwrap();
/// assert_eq!(owner.pop(), Some("second"));
/// assert_eq!(owner.pop(), None);
/// ```
pub fn new<T: Send>() -> (Owner<T>, Thief<T>) {
    with_capacity(ring::DEFAULT_CAPACITY).unwrap_or_else(|error| panic!("{error}"))
}

/// A new queue with room for `capacity` tasks before it first grows; 0 is as good as 1.
///
/// # Errors
///
/// If there is no memory or no address space for so many.
pub fn with_capacity<T: Send>(capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    starting_at(0, capacity)
}

/// A new queue whose first task has this index.
#[doc(hidden)]
pub fn starting_at<T: Send>(index: usize, capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    let (locked, ring) = Locked::starting_at(index, capacity)?;
    let shared = Handle::new(locked);
    let thief = Thief { shared: shared.clone() };
    Ok((Owner { shared, tail: Cell::new(index), ring: Cell::new(ring) }, thief))
}

impl<T> Owner<T> {
    /// Adds a task, or gives it back if there is no memory left to grow.
    #[inline]
    pub fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        let tail = self.tail.get();
        if !self.ring.get().has_room(tail) {
            match self.shared.make_room(self.ring.get(), tail) {
                Ok(ring) => self.ring.set(ring),
                Err(cause) => return Err(PushError::new(task, cause)),
            }
        }
        self.ring.get().slot(tail).write(task);
        self.tail.set(tail.wrapping_add(1));
        // Release: a thief that sees the tail sees the task, and the array it is in.
        self.shared.tail.store(tail.wrapping_add(1), Ordering::Release);
        Ok(())
    }

    /// Takes the youngest task.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let tail = self.tail.get().wrapping_sub(1);
        // Raises the flag: a thief from now on sees that the task is spoken for. Release, because it may read the tail from here. The barrier
        // pairs with the one in `Locked::announce`.
        barrier::store_then_full(&self.shared.tail, tail);
        // Relaxed: ordered behind the store by the barrier.
        let head = self.shared.head.load(Ordering::Relaxed);
        if distance(head, tail) > self.ring.get().low_water() {
            self.tail.set(tail);
            // SAFETY: the task was pushed here, and a thief that announces it from now on sees the tail and withdraws.
            return Some(unsafe { self.ring.get().slot(tail).read().assume_init() });
        }
        let (task, tail) = self.shared.pop_near_empty(self.ring.get(), head, tail);
        self.tail.set(tail);
        self.ring.set(self.shared.relieve(self.ring.get(), tail));
        task
    }
}

impl<T> Thief<T> {
    /// Takes the oldest task, waiting for another thief if one is at it.
    #[inline]
    pub fn steal(&self) -> Steal<T> {
        if let Some(outcome) = self.shared.look() {
            return outcome;
        }
        let _lock = self.shared.storage.gate().enter();
        let head = self.shared.announce();
        // Acquire: pairs with the release in `try_push`; what is below the tail is in its slot.
        if distance(head, self.shared.tail.load(Ordering::Acquire)) > 0 {
            return Steal::Success(self.shared.take(head));
        }
        self.shared.withdraw(head);
        Steal::Empty
    }
}

queue_shape!("the", <T>);
// SAFETY: see the invariant; the barriers are those of the C11 model, on any machine.
unsafe impl<T> crate::ExactlyOnce for Owner<T> {}
// SAFETY: as above.
unsafe impl<T> crate::ExactlyOnce for Thief<T> {}
