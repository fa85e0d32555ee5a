//! Chase-Lev for weak memory, exactly once.
//!
//! Source: figure 2c of the fence-free paper (Chase and Lev's deque), with the fences of its version for weak memory and the
//! corrected resize: the new array is published with release and found with acquire, indices wrap, and thieves check nothing
//! but the head.
//!
//! # Shared words
//!
//! - head: index of the oldest task. It only grows, by one, by CAS.
//! - tail: index of the first free slot. Only the owner writes it.
//! - the array in use.
//!
//! # Invariant
//!
//! A task with index i is taken by whoever moves the head from i to i + 1, or by an owner that stored tail = i and then saw head < i.
//! The owner has a full barrier between its store of the tail and its load of the head, a thief between its load of the head
//! and its load of the tail. If a thief loaded head = i and still saw the tail above i, its barrier came before the owner's,
//! so the owner's load sees head >= i, and it goes for the task by CAS as well. One CAS from i succeeds.
//!
//! A thief that found an old array reads the right task all the same. The task at an index changes only if the owner pops it and
//! pushes another there; as long as the head has not reached the index the thief has not begun, and once it has, the owner
//! can pop it only by the CAS. So whenever the thief's CAS succeeds the task at its index was the same since it loaded the tail, in every
//! array that was in use since; old arrays are not written to. Hence there is no check that the array is still the same.
//!
//! # Memory
//!
//! The array grows fourfold when full and is exchanged for a smaller one when no more than a sixteenth of it is used, but never
//! for one of fewer than 1,024 slots. An array that was replaced is freed at once if no thief is inside a steal at that moment. Otherwise it
//! waits until those steals are over, and goes at the next change of array or when the owner next finds few tasks or
//! none. Arrays that wait after growth are together smaller than the one in use.
//!
//! Model-checked on bounded TSO: `crates/filch-model/src/models/chase_lev.tso`.

use core::cell::Cell;

use crate::barrier;
use crate::deque::Deque;
use crate::handle::Handle;
use crate::ring::{self, distance, Ring};
use crate::sync::Ordering;
use crate::traits::queue_shape;
use crate::visitors::Visiting;
use crate::{CapacityError, PushError, Steal};

/// The owner's side: pushes, and pops the youngest task.
pub struct Owner<T> {
    shared: Handle<Deque<T>>,
    /// The owner's own copy of the tail, which nobody else writes.
    tail: Cell<usize>,
    ring: Cell<Ring<T>>,
}

/// A thief's side: steals the oldest task.
pub struct Thief<T> {
    shared: Visiting<Deque<T>>,
}

/// A new queue.
///
/// ```
/// use filch_queue::{chase_lev, Steal};
///
/// let (owner, thief) = chase_lev::new();
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
    let (deque, ring) = Deque::starting_at(index, capacity)?;
    let shared = Handle::new(deque);
    let thief = Thief { shared: Visiting::new(shared.clone()) };
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
        // Relaxed: a head that has reached the tail stays there until the owner pushes. Spares an idle owner the barrier.
        if distance(self.shared.head.load(Ordering::Relaxed), self.tail.get()) <= 0 {
            self.ring.set(self.shared.relieve(self.ring.get(), self.tail.get()));
            return None;
        }
        let tail = self.tail.get().wrapping_sub(1);
        // Raises the flag: a thief from now on sees that the task is spoken for. Release, because it may read the tail from here. The barrier
        // pairs with the one in `steal`.
        barrier::store_then_full(&self.shared.tail, tail);
        // Relaxed: ordered behind the store by the barrier.
        let head = self.shared.head.load(Ordering::Relaxed);
        if distance(head, tail) > self.ring.get().low_water() {
            self.tail.set(tail);
            // SAFETY: the task was pushed here, and the head has not reached it: no thief can take it any more.
            return Some(unsafe { self.ring.get().slot(tail).read().assume_init() });
        }
        let (task, tail) = self.shared.pop_near_empty(self.ring.get(), head, tail);
        self.tail.set(tail);
        self.ring.set(self.shared.relieve(self.ring.get(), tail));
        task
    }
}

impl<T> Thief<T> {
    /// Tries once to take the oldest task.
    #[inline]
    pub fn steal(&self) -> Steal<T> {
        // Acquire: the tail is loaded after it. Pairs with the CAS of whoever moved the head.
        let head = self.shared.head.load(Ordering::Acquire);
        // Relaxed: a look that spares an empty queue the barrier.
        if distance(head, self.shared.tail.load(Ordering::Relaxed)) <= 0 {
            return Steal::Empty;
        }
        // The barrier between head and tail that pairs with the owner's in `pop`.
        let _visit = self.shared.enter();
        // Acquire: pairs with the release in `try_push`; what is below the tail is in its slot.
        if distance(head, self.shared.tail.load(Ordering::Acquire)) <= 0 {
            return Steal::Empty;
        }
        self.shared.take(head)
    }
}

queue_shape!("chase_lev", <T>);
// SAFETY: see the invariant; the fences are those of the C11 model, on any machine.
unsafe impl<T> crate::ExactlyOnce for Owner<T> {}
// SAFETY: as above.
unsafe impl<T> crate::ExactlyOnce for Thief<T> {}
