//! Cilk's THE queue, exactly once.
//!
//! Source: figure 2b of the fence-free paper.
//!
//! # Shared words
//!
//! - head: index of the oldest task. Only a thief that holds the lock writes it.
//! - tail: index of the first free slot. Only the owner writes it.
//! - a lock: thieves always take it, the owner takes it only in a conflict.
//! - the array in use.
//!
//! # Invariant
//!
//! A thief announces index i: it stores head = i + 1 and then loads the tail. The owner announces
//! i: it stores tail = i and then loads the head. Both have a full barrier between the store and
//! the load, so at least one of them sees the other. A thief that sees the owner (tail <= i)
//! withdraws. An owner that sees the thief (head > i) takes the lock. By then the thief has either
//! withdrawn, and the owner has the task, or it has not, and the thief has the task. An owner that
//! loads head <= i has the task: every thief that announces i later sees the tail.
//!
//! The owner may see that the head has moved past a slot before the thief reads it. So one slot is
//! always spare: the owner reuses a slot only after the head is two past it. By then the thief has
//! released the lock.
//!
//! # Differences from the figure
//!
//! If the queue is empty, the owner sets the tail to the head. The figure sets it to its previous
//! value, which is the same. A thief looks at both indices before it takes the lock, so a steal
//! from an empty queue takes no lock. An owner must not do that: a head that has reached the tail
//! may be from a thief that is about to withdraw.
//!
//! # Progress
//!
//! A thief waits for the thief that holds the lock. An owner waits for it only if both want the
//! last task.
//!
//! # Memory
//!
//! The array grows fourfold when full. It is replaced by a smaller array when at most a sixteenth
//! of it is used, but never by an array of fewer than 1,024 slots. A replaced array is freed at
//! once, unless a thief holds the lock at that moment. Then it is freed at the next change of array
//! or when the owner next finds few tasks or none.
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

/// The owner's side: pushes tasks, and pops the youngest task.
pub struct Owner<T> {
    shared: Handle<Locked<T>>,
    /// The owner's copy of the tail. Only the owner writes the tail.
    tail: Cell<usize>,
    ring: Cell<Ring<T>>,
}

/// A thief's side: steals the oldest task under a lock.
pub struct Thief<T> {
    shared: Handle<Locked<T>>,
}

/// Creates a queue.
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

/// Creates a queue with room for `capacity` tasks before it first grows.
///
/// A capacity of 0 means 1.
///
/// # Errors
///
/// If memory or address space does not suffice for `capacity` tasks.
pub fn with_capacity<T: Send>(capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    starting_at(0, capacity)
}

/// Creates a queue whose first task has index `index`.
#[doc(hidden)]
pub fn starting_at<T: Send>(index: usize, capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    let (locked, ring) = Locked::starting_at(index, capacity)?;
    let shared = Handle::new(locked);
    let thief = Thief { shared: shared.clone() };
    Ok((Owner { shared, tail: Cell::new(index), ring: Cell::new(ring) }, thief))
}

impl<T> Owner<T> {
    /// Adds a task, or returns it if there is no memory left to grow.
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
        // Release: a thief that sees the tail sees the task and its array.
        self.shared.tail.store(tail.wrapping_add(1), Ordering::Release);
        Ok(())
    }

    /// Takes the youngest task.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let tail = self.tail.get().wrapping_sub(1);
        // A thief that loads this tail sees that the owner claims the task. Release: the thief may
        // read the tail from here. The barrier pairs with the barrier in `Locked::announce`.
        barrier::store_then_full(&self.shared.tail, tail);
        // Relaxed: the barrier orders it after the store.
        let head = self.shared.head.load(Ordering::Relaxed);
        if distance(head, tail) > self.ring.get().low_water() {
            self.tail.set(tail);
            // SAFETY: the task was pushed here. A thief that announces it from now on sees the tail
            // and withdraws.
            return Some(unsafe { self.ring.get().slot(tail).read().assume_init() });
        }
        let (task, tail) = self.shared.pop_near_empty(self.ring.get(), head, tail);
        self.tail.set(tail);
        self.ring.set(self.shared.free_memory(self.ring.get(), tail));
        task
    }
}

impl<T> Thief<T> {
    /// Takes the oldest task, and waits for a thief that holds the lock.
    #[inline]
    pub fn steal(&self) -> Steal<T> {
        if let Some(outcome) = self.shared.check_without_lock() {
            return outcome;
        }
        let _lock = self.shared.storage.turnstiles().enter();
        let head = self.shared.announce();
        // Acquire: pairs with the release in `try_push`. Tasks below the tail are in their slots.
        if distance(head, self.shared.tail.load(Ordering::Acquire)) > 0 {
            return Steal::Success(self.shared.take(head));
        }
        self.shared.withdraw(head);
        Steal::Empty
    }
}

queue_shape!("the", <T>);
// SAFETY: see the invariant. The barriers are those of the C11 model, so it holds on any machine.
unsafe impl<T> crate::ExactlyOnce for Owner<T> {}
// SAFETY: as above.
unsafe impl<T> crate::ExactlyOnce for Thief<T> {}
