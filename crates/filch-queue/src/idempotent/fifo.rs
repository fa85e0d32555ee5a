//! FIFO extraction, at least once: owner and thieves both take the oldest task.
//!
//! Source: figure 2 of the idempotent paper.
//! Model-checked on bounded TSO: `crates/filch-model/src/models/idempotent/fifo.tso`.
//!
//! # Shared words
//!
//! - head: index of the oldest task. The owner stores it, thieves exchange it, so it may fall back: a pop overwrites the steals that
//!   happened since it loaded the head, and their tasks are given again.
//! - tail: index of the first free slot. Only the owner writes it, and it only grows.
//! - the array in use.
//!
//! # Invariant
//!
//! The head never falls below a value that the owner has loaded or stored: the owner stores one more than it loaded, and a
//! thief one more than there is. The owner overwrites a slot only when it has seen the head past it. So if a thief's CAS finds the head at i
//! again, slot i still holds the task with index i, in whichever array it was read; no tag is needed. Indices have 64 bits: with a push a
//! nanosecond they wrap after 584 years.
//!
//! # Memory
//!
//! As in [`chase_lev`](crate::chase_lev).

use core::cell::Cell;

use crossbeam_utils::CachePadded;

use crate::expect;
use crate::handle::Handle;
use crate::ring::{self, distance, length, Ring};
use crate::storage::Storage;
use crate::sync::{fence, AtomicUsize, ContestedUsize, Ordering};
use crate::traits::queue_shape;
use crate::visitors::{Visited, Visiting, Visitors};
use crate::{CapacityError, PushError, Steal};

/// The most slots: indices are compared by signed differences.
const LIMIT: usize = isize::MAX as usize / 2 + 1;

struct Shared<T> {
    head: CachePadded<ContestedUsize>,
    tail: CachePadded<AtomicUsize>,
    storage: CachePadded<Storage<T, (), Visitors>>,
}

/// The owner's side: pushes, and pops the oldest task.
pub struct Owner<T: Copy> {
    shared: Handle<Shared<T>>,
    /// The head as the owner last stored or loaded it.
    head: Cell<usize>,
    /// The owner's own copy of the tail, which nobody else writes.
    tail: Cell<usize>,
    ring: Cell<Ring<T>>,
}

/// A thief's side: steals the oldest task.
pub struct Thief<T: Copy> {
    shared: Visiting<Shared<T>>,
}

/// A new queue.
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

/// A new queue with room for `capacity` tasks before it first grows; 0 is as good as 1.
///
/// # Errors
///
/// If there is no memory or no address space for so many.
pub fn with_capacity<T: Copy + Send>(capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    starting_at(0, capacity)
}

/// A new queue whose first task has this index.
#[doc(hidden)]
pub fn starting_at<T: Copy + Send>(index: usize, capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    let storage = Storage::new(index, capacity, LIMIT, (), Visitors::new())?;
    let ring = Cell::new(Ring::new(&storage, index));
    let shared = Handle::new(Shared {
        head: CachePadded::new(ContestedUsize::new(index)),
        tail: CachePadded::new(AtomicUsize::new(index)),
        storage: CachePadded::new(storage),
    });
    let thief = Thief { shared: Visiting::new(shared.clone()) };
    Ok((Owner { shared, head: Cell::new(index), tail: Cell::new(index), ring }, thief))
}

impl<T: Copy> Owner<T> {
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
        // Release: the head that a pop stored is seen by a thief that reads anything of this task (see the parent module).
        fence(Ordering::Release);
        self.ring.get().slot(tail).write(task);
        self.tail.set(tail.wrapping_add(1));
        // Release: a thief that sees the tail sees the task, and the array it is in.
        self.shared.tail.store(tail.wrapping_add(1), Ordering::Release);
        Ok(())
    }

    /// Takes the oldest task.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        // Acquire: pairs with the thieves' CAS; they have read the slots before the head, which a push may now overwrite.
        let head = expect::index(self.shared.head.load(Ordering::Acquire), self.head.get());
        let tail = self.tail.get();
        if distance(head, tail) > self.ring.get().low_water() {
            let task = self.ring.get().slot(head).read();
            let next = head.wrapping_add(1);
            self.head.set(next);
            // Release: pairs with a thief's acquire load of the head, after which it looks for the array.
            self.shared.head.store(next, Ordering::Release);
            // SAFETY: what lies between head and tail was pushed, and tasks are `Copy`.
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
        match self.look() {
            Ok(glimpse) => self.claim(glimpse),
            Err(outcome) => outcome,
        }
    }

    /// The first half of a steal: reads what lies at the head.
    #[inline(always)]
    fn look(&self) -> Result<Glimpse<'_, T>, Steal<T>> {
        // A look that spares an empty queue the visit.
        if self.is_empty() {
            return Err(Steal::Empty);
        }
        let visit = self.shared.enter();
        // Acquire: the tail and the array are loaded after it. Tail first, a queue that was never empty could look empty.
        let head = self.shared.head.load(Ordering::Acquire);
        // Acquire: pairs with the release in `try_push`; what is below the tail is in its slot.
        if distance(head, self.shared.tail.load(Ordering::Acquire)) <= 0 {
            return Err(Steal::Empty);
        }
        let array = self.shared.storage.current();
        // SAFETY: inside a visit.
        if unsafe { array.is_past(head) } {
            return Err(Steal::Retry);
        }
        // SAFETY: inside a visit. The slot was written: the task is below the tail and not past.
        let task = unsafe { array.slot(head) }.read();
        Ok(Glimpse { task, head, _visit: visit })
    }

    /// The second half: takes it, if the head is where it was.
    #[inline(always)]
    fn claim(&self, glimpse: Glimpse<'_, T>) -> Steal<T> {
        // Acquire: pairs with the release fence in `try_push` (see the parent module).
        fence(Ordering::Acquire);
        let next = glimpse.head.wrapping_add(1);
        // AcqRel: the release half keeps the read of the slot before it, for the owner that reuses the slot; the acquire half passes on
        // what the head was stored with.
        match self.shared.head.compare_exchange(glimpse.head, next, Ordering::AcqRel, Ordering::Relaxed) {
            // SAFETY: the head says that the slot was not overwritten (see the invariant), and tasks are `Copy`.
            Ok(_) => Steal::Success(unsafe { glimpse.task.assume_init() }),
            Err(_) => Steal::Retry,
        }
    }
}

/// What a thief saw.
struct Glimpse<'a, T> {
    task: core::mem::MaybeUninit<T>,
    head: usize,
    _visit: crate::turnstile::Visit<'a>,
}

impl<T: Copy> Shared<T> {
    /// Pops from a queue in which few tasks are left, or none. Gives back the task, and the head and the view as they are now.
    #[cold]
    #[inline(never)]
    fn pop_near_empty(&self, ring: Ring<T>, head: usize, tail: usize) -> (Option<T>, usize, Ring<T>) {
        if distance(head, tail) <= 0 {
            return (None, head, ring.relieve(&self.storage, head, tail));
        }
        let task = ring.slot(head).read();
        let next = head.wrapping_add(1);
        // Release: as in `pop`.
        self.head.store(next, Ordering::Release);
        // SAFETY: what lies between head and tail was pushed, and tasks are `Copy`.
        (Some(unsafe { task.assume_init() }), next, ring.relieve(&self.storage, next, tail))
    }

    #[cold]
    #[inline(never)]
    fn make_room(&self, ring: Ring<T>, tail: usize) -> Result<Ring<T>, CapacityError> {
        // Acquire: as in `pop`.
        ring.make_room(&self.storage, self.head.load(Ordering::Acquire), tail)
    }

    fn len(&self) -> usize {
        // Acquire, relaxed: a hint, but the tail is not older than the head.
        length(self.head.load(Ordering::Acquire), self.tail.load(Ordering::Relaxed))
    }
}

impl<T> Visited for Shared<T> {
    fn visitors(&self) -> &Visitors {
        self.storage.gate()
    }
}

queue_shape!("idempotent::fifo", <T: Copy>);
