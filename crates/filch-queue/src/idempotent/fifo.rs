//! FIFO extraction, at least once: owner and thieves both take the oldest task.
//!
//! Source: figure 2 of the idempotent paper.
//! Model-checked on bounded TSO: `crates/filch-model/src/models/idempotent/fifo.tso`.
//!
//! # Shared words
//!
//! - head: index of the oldest task. The owner stores it and thieves exchange it, so it may fall
//!   back: a pop overwrites the steals since it loaded the head, and their tasks are returned
//!   again.
//! - tail: index of the first free slot. Only the owner writes it, and it only grows.
//! - the array in use.
//!
//! # Invariant
//!
//! The head never falls below a value that the owner has loaded or stored: the owner stores one
//! more than it loaded, and a thief adds one to the current value. The owner overwrites a slot only
//! after it has seen the head past it. So if a thief's CAS finds the head at i again, slot i still
//! holds the task with index i, in every array that the thief may have read. No tag is needed.
//! Indices have 64 bits: at a push per nanosecond they wrap after 584 years.
//!
//! # Memory
//!
//! The same as in [`chase_lev`](crate::chase_lev).

use core::cell::Cell;

use crossbeam_utils::CachePadded;

use crate::expect;
use crate::handle::Handle;
use crate::ring::{self, distance, length, Ring};
use crate::storage::Storage;
use crate::sync::{fence, AtomicUsize, ContestedUsize, Ordering};
use crate::traits::queue_shape;
use crate::visitors::{HasVisitors, VisitorHandle, Visitors};
use crate::{CapacityError, PushError, Steal};

/// The maximum number of slots: indices are compared by signed differences.
const LIMIT: usize = isize::MAX as usize / 2 + 1;

struct Shared<T> {
    head: CachePadded<ContestedUsize>,
    tail: CachePadded<AtomicUsize>,
    storage: CachePadded<Storage<T, (), Visitors>>,
}

/// The owner's side: pushes tasks, and pops the oldest task.
pub struct Owner<T: Copy> {
    shared: Handle<Shared<T>>,
    /// The head as the owner last stored or loaded it.
    head: Cell<usize>,
    /// The owner's copy of the tail. Only the owner writes the tail.
    tail: Cell<usize>,
    ring: Cell<Ring<T>>,
}

/// A thief's side: steals the oldest task.
pub struct Thief<T: Copy> {
    shared: VisitorHandle<Shared<T>>,
}

/// Creates a queue.
///
/// ```
/// use filch_queue::{idempotent::fifo, Steal};
///
/// let (owner, thief) = fifo::new();
/// for node in 0..3 {
///     owner.push(node);
/// }
/// assert_eq!(owner.pop(), Some(0));
/// assert_eq!(thief.steal(), Steal::Success(1));
/// assert_eq!(owner.pop(), Some(2));
/// ```
pub fn new<T: Copy + Send>() -> (Owner<T>, Thief<T>) {
    with_capacity(ring::DEFAULT_CAPACITY).unwrap_or_else(|error| panic!("{error}"))
}

/// Creates a queue with room for `capacity` tasks before it first grows.
///
/// A capacity of 0 means 1.
///
/// # Errors
///
/// If memory or address space does not suffice for `capacity` tasks.
pub fn with_capacity<T: Copy + Send>(capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    starting_at(0, capacity)
}

/// Creates a queue whose first task has index `index`.
#[doc(hidden)]
pub fn starting_at<T: Copy + Send>(index: usize, capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    let storage = Storage::new(index, capacity, LIMIT, (), Visitors::new())?;
    let ring = Cell::new(Ring::new(&storage, index));
    let shared = Handle::new(Shared {
        head: CachePadded::new(ContestedUsize::new(index)),
        tail: CachePadded::new(AtomicUsize::new(index)),
        storage: CachePadded::new(storage),
    });
    let thief = Thief { shared: VisitorHandle::new(shared.clone()) };
    Ok((Owner { shared, head: Cell::new(index), tail: Cell::new(index), ring }, thief))
}

impl<T: Copy> Owner<T> {
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
        // Release: a thief that reads any word of this task sees the head that a pop stored (see
        // the parent module).
        fence(Ordering::Release);
        self.ring.get().slot(tail).write(task);
        self.tail.set(tail.wrapping_add(1));
        // Release: a thief that sees the tail sees the task and its array.
        self.shared.tail.store(tail.wrapping_add(1), Ordering::Release);
        Ok(())
    }

    /// Takes the oldest task.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        // Acquire: pairs with the thieves' CAS. They have read the slots before the head, which a
        // push may now overwrite.
        let head = expect::index(self.shared.head.load(Ordering::Acquire), self.head.get());
        let tail = self.tail.get();
        if distance(head, tail) > self.ring.get().low_water() {
            let task = self.ring.get().slot(head).read();
            let next = head.wrapping_add(1);
            self.head.set(next);
            // Release: pairs with a thief's acquire load of the head, after which it loads the
            // array.
            self.shared.head.store(next, Ordering::Release);
            // SAFETY: tasks between head and tail were pushed, and tasks are `Copy`.
            return Some(unsafe { task.assume_init() });
        }
        let (task, head, ring) = self.shared.pop_near_empty(self.ring.get(), head, tail);
        self.head.set(head);
        self.ring.set(ring);
        task
    }
}

impl<T: Copy> Thief<T> {
    /// Tries once to take the oldest task.
    #[inline]
    pub fn steal(&self) -> Steal<T> {
        match self.begin_steal() {
            Ok(pending) => self.finish_steal(pending),
            Err(outcome) => outcome,
        }
    }

    /// Reads the task at the head: the first half of a steal.
    #[inline(always)]
    fn begin_steal(&self) -> Result<PendingSteal<'_, T>, Steal<T>> {
        // This check only lets a thief skip the visit on an empty queue.
        if self.is_empty() {
            return Err(Steal::Empty);
        }
        let visit = self.shared.enter();
        // Acquire: the tail and the array are loaded after it. If the tail were loaded first, a
        // queue that was never empty could look empty.
        let head = self.shared.head.load(Ordering::Acquire);
        // Acquire: pairs with the release in `try_push`. Tasks below the tail are in their slots.
        if distance(head, self.shared.tail.load(Ordering::Acquire)) <= 0 {
            return Err(Steal::Empty);
        }
        let array = self.shared.storage.current();
        // SAFETY: inside a visit.
        if unsafe { array.is_past(head) } {
            return Err(Steal::Retry);
        }
        // SAFETY: inside a visit. The slot was written: the index is below the tail and not past.
        let task = unsafe { array.slot(head) }.read();
        Ok(PendingSteal { task, head, _visit: visit })
    }

    /// Takes the task if the head is unchanged: the second half of a steal.
    #[inline(always)]
    fn finish_steal(&self, pending: PendingSteal<'_, T>) -> Steal<T> {
        // Acquire: pairs with the release fence in `try_push` (see the parent module).
        fence(Ordering::Acquire);
        let next = pending.head.wrapping_add(1);
        // AcqRel: the release half keeps the read of the slot before it, for the owner that reuses
        // the slot. The acquire half passes on the writes before the store of the head.
        match self.shared.head.compare_exchange(pending.head, next, Ordering::AcqRel, Ordering::Relaxed) {
            // SAFETY: the unchanged head proves that the slot was not overwritten (see the
            // invariant), and tasks are `Copy`.
            Ok(_) => Steal::Success(unsafe { pending.task.assume_init() }),
            Err(_) => Steal::Retry,
        }
    }
}

/// The state of a steal between its two halves.
struct PendingSteal<'a, T> {
    task: core::mem::MaybeUninit<T>,
    head: usize,
    _visit: crate::turnstile::Visit<'a>,
}

impl<T: Copy> Shared<T> {
    /// Pops from a queue with few tasks left, or none.
    ///
    /// Returns the task, and the current head and view.
    #[cold]
    #[inline(never)]
    fn pop_near_empty(&self, ring: Ring<T>, head: usize, tail: usize) -> (Option<T>, usize, Ring<T>) {
        if distance(head, tail) <= 0 {
            return (None, head, ring.free_memory(&self.storage, head, tail));
        }
        let task = ring.slot(head).read();
        let next = head.wrapping_add(1);
        // Release: as in `pop`.
        self.head.store(next, Ordering::Release);
        // SAFETY: tasks between head and tail were pushed, and tasks are `Copy`.
        (Some(unsafe { task.assume_init() }), next, ring.free_memory(&self.storage, next, tail))
    }

    #[cold]
    #[inline(never)]
    fn make_room(&self, ring: Ring<T>, tail: usize) -> Result<Ring<T>, CapacityError> {
        // Acquire: as in `pop`.
        ring.make_room(&self.storage, self.head.load(Ordering::Acquire), tail)
    }

    fn len(&self) -> usize {
        // Acquire, then relaxed: a hint, but the tail is not older than the head.
        length(self.head.load(Ordering::Acquire), self.tail.load(Ordering::Relaxed))
    }
}

impl<T> HasVisitors for Shared<T> {
    fn visitors(&self) -> &Visitors {
        self.storage.turnstiles()
    }
}

queue_shape!("idempotent::fifo", <T: Copy>);
