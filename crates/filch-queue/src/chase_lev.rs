//! Chase-Lev deque for weak memory, exactly once.
//!
//! Source: figure 2c of the fence-free paper (Chase and Lev's deque), with the fences of its
//! version for weak memory and the corrected resize. The new array is published with release and
//! loaded with acquire, indices wrap, and thieves check only the head.
//!
//! # Shared words
//!
//! - head: index of the oldest task. It only grows, by one, by CAS.
//! - tail: index of the first free slot. Only the owner writes it.
//! - the array in use.
//!
//! # Invariant
//!
//! A task with index i is taken by the thread that moves the head from i to i + 1, or by an owner
//! that stored tail = i and then loaded head < i. The owner has a full barrier between its store of
//! the tail and its load of the head. A thief has a full barrier between its load of the head and
//! its load of the tail. Suppose a thief loaded head = i and still loaded a tail above i. Then its
//! barrier came before the owner's, so the owner loads head >= i and also takes the task by CAS.
//! Only one CAS from i succeeds.
//!
//! A thief that loaded an old array still reads the right task. The task at an index changes only
//! if the owner pops it and pushes another there. Before the head reaches the index, the thief's
//! steal has not begun. After the head has reached it, the owner can pop the task only by the CAS.
//! So if the thief's CAS succeeds, the task at its index has not changed since the thief loaded the
//! tail. This holds in every array in use since then, because old arrays are not written. Hence the
//! thief need not check that the array is still the same.
//!
//! # Memory
//!
//! The array grows fourfold when full. It is replaced by a smaller array when at most a sixteenth
//! of it is used, but never by an array of fewer than 1,024 slots. A replaced array is freed at
//! once if no thief is inside a steal at that moment. Otherwise it is freed after those steals, at
//! the next change of array or when the owner next finds few tasks or none. Arrays that wait to be
//! freed after growth are together smaller than the array in use.
//!
//! Model-checked on bounded TSO: `crates/filch-model/src/models/chase_lev.tso`.

use core::cell::Cell;

use crate::barrier;
use crate::deque::Deque;
use crate::handle::Handle;
use crate::ring::{self, distance, Ring};
use crate::sync::Ordering;
use crate::traits::queue_shape;
use crate::visitors::VisitorHandle;
use crate::{CapacityError, PushError, Steal};

/// The owner's side: pushes tasks, and pops the youngest task.
pub struct Owner<T> {
    shared: Handle<Deque<T>>,
    /// The owner's copy of the tail. Only the owner writes the tail.
    tail: Cell<usize>,
    ring: Cell<Ring<T>>,
}

/// A thief's side: steals the oldest task.
pub struct Thief<T> {
    shared: VisitorHandle<Deque<T>>,
}

/// Creates a queue.
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
    let (deque, ring) = Deque::starting_at(index, capacity)?;
    let shared = Handle::new(deque);
    let thief = Thief { shared: VisitorHandle::new(shared.clone()) };
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
        // Relaxed: a head that has reached the tail stays there until the owner pushes. An idle
        // owner skips the barrier.
        if distance(self.shared.head.load(Ordering::Relaxed), self.tail.get()) <= 0 {
            self.ring.set(self.shared.free_memory(self.ring.get(), self.tail.get()));
            return None;
        }
        let tail = self.tail.get().wrapping_sub(1);
        // A thief that loads this tail sees that the owner claims the task. Release: the thief may
        // read the tail from here. The barrier pairs with the barrier in `steal`.
        barrier::store_then_full(&self.shared.tail, tail);
        // Relaxed: the barrier orders it after the store.
        let head = self.shared.head.load(Ordering::Relaxed);
        if distance(head, tail) > self.ring.get().low_water() {
            self.tail.set(tail);
            // SAFETY: the task was pushed here. The head has not reached it, so no thief can take
            // it any more.
            return Some(unsafe { self.ring.get().slot(tail).read().assume_init() });
        }
        let (task, tail) = self.shared.pop_near_empty(self.ring.get(), head, tail);
        self.tail.set(tail);
        self.ring.set(self.shared.free_memory(self.ring.get(), tail));
        task
    }
}

impl<T> Thief<T> {
    /// Tries once to take the oldest task.
    #[inline]
    pub fn steal(&self) -> Steal<T> {
        // Acquire: the tail is loaded after it. Pairs with the CAS of the thread that moved the
        // head.
        let head = self.shared.head.load(Ordering::Acquire);
        // Relaxed: this check only lets a thief skip the barrier on an empty queue.
        if distance(head, self.shared.tail.load(Ordering::Relaxed)) <= 0 {
            return Steal::Empty;
        }
        // The barrier between head and tail. It pairs with the owner's barrier in `pop`.
        let _visit = self.shared.enter();
        // Acquire: pairs with the release in `try_push`. Tasks below the tail are in their slots.
        if distance(head, self.shared.tail.load(Ordering::Acquire)) <= 0 {
            return Steal::Empty;
        }
        self.shared.take(head)
    }
}

queue_shape!("chase_lev", <T>);
// SAFETY: see the invariant. The fences are those of the C11 model, so it holds on any machine.
unsafe impl<T> crate::ExactlyOnce for Owner<T> {}
// SAFETY: as above.
unsafe impl<T> crate::ExactlyOnce for Thief<T> {}
