//! Chase-Lev deque whose owner has no fence on any CPU, exactly once.
//!
//! A thief makes the owner's stores visible through the kernel.
//!
//! Source: original work. The algorithm is [`chase_lev`](crate::chase_lev) with both barriers on
//! the thief's side, by `membarrier(2)`.
//! Model-checked on bounded TSO: `crates/filch-model/src/models/asymmetric.tso`.
//!
//! # Invariant
//!
//! The invariant is that of [`chase_lev`](crate::chase_lev). The owner's barrier between its store
//! of the tail and its load of the head only stops the compiler. The thief's barrier, between its
//! load of the head and its load of the tail, is a full barrier on every thread of the process at
//! once. If it interrupts the owner after both accesses, the thief sees the tail. If the owner has
//! yet to load the head, it sees the head as the thief did.
//!
//! # Modes
//!
//! A process registers with the kernel once, when it makes its first such queue. If the call does
//! not exist or fails, the queue is [`Fenced`](Mode::Fenced) from the start: the owner has a fence
//! and thieves make no call. If the kernel refuses only later (a seccomp filter was installed
//! meanwhile), thieves request the fence and abort until the owner's next pop. That pop sets the
//! mode to fenced for good. `--cfg filch_no_membarrier` builds a queue that never tries the call.
//!
//! # Cost
//!
//! A steal makes a system call that interrupts every running thread of the process: microseconds
//! instead of nanoseconds. The queue is for owners that pop millions of times for each steal.
//!
//! # Memory
//!
//! The same as in [`chase_lev`](crate::chase_lev).

use core::cell::Cell;
use core::fmt;
use core::ops::Deref;

use crossbeam_utils::CachePadded;

use crate::barrier;
use crate::deque::Deque;
use crate::handle::Handle;
use crate::ring::{self, distance, Ring};
use crate::sync::{AtomicU8, Ordering};
use crate::traits::queue_shape;
use crate::visitors::{HasVisitors, VisitorHandle, Visitors};
use crate::{CapacityError, PushError, Steal};

/// The side that pays for the order between the owner's stores and loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The thief pays, by a system call.
    Membarrier,
    /// The owner pays, by a fence.
    Fenced,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Membarrier => "membarrier",
            Mode::Fenced => "fenced",
        })
    }
}

/// The thief pays.
const MEMBARRIER: u8 = 0;
/// A thief's call failed, and the thief requests the owner's fence.
const FENCE_REQUESTED: u8 = 1;
/// The owner pays, for good.
const FENCED: u8 = 2;

struct Shared<T> {
    deque: Deque<T>,
    /// One of the three constants above. It only grows, and the owner sets the last.
    mode: CachePadded<AtomicU8>,
}

/// The owner's side: pushes tasks, and pops the youngest task without a fence.
pub struct Owner<T> {
    shared: Handle<Shared<T>>,
    /// The owner's copy of the tail. Only the owner writes the tail.
    tail: Cell<usize>,
    ring: Cell<Ring<T>>,
}

/// A thief's side: steals the oldest task by a system call.
pub struct Thief<T> {
    shared: VisitorHandle<Shared<T>>,
}

/// Creates a queue.
///
/// ```
/// use filch_queue::{asymmetric, Steal};
///
/// let (owner, thief) = asymmetric::new();
/// owner.push("first");
/// owner.push("second");
/// println!("the price of a pop: {}", owner.mode());
/// std::thread::spawn(move || assert_eq!(thief.steal(), Steal::Success("first"))).join().unwrap();
/// assert_eq!(owner.pop(), Some("second"));
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
    let mode = if barrier::register() { MEMBARRIER } else { FENCED };
    let shared = Handle::new(Shared { deque, mode: CachePadded::new(AtomicU8::new(mode)) });
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
        let tail = self.tail.get().wrapping_sub(1);
        // Release: a thief may read the tail from here.
        self.shared.tail.store(tail, Ordering::Release);
        // Pairs with the heavy barrier in `steal`.
        barrier::light();
        // Relaxed: only the owner ends the popping without a fence, and it does so by a fence.
        if self.shared.mode.load(Ordering::Relaxed) != MEMBARRIER {
            self.shared.fence();
        }
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

    /// Returns the side that currently pays for the order of the owner's accesses.
    pub fn mode(&self) -> Mode {
        self.shared.mode()
    }
}

impl<T> Thief<T> {
    /// Tries once to take the oldest task.
    ///
    /// Returns [`Steal::Abort`] only if the kernel has started to refuse the barrier, until the
    /// owner's next pop.
    #[inline]
    pub fn steal(&self) -> Steal<T> {
        // Acquire: the tail is loaded after it. Pairs with the CAS of the thread that moved the
        // head.
        let head = self.shared.head.load(Ordering::Acquire);
        // Relaxed: this check only lets a thief skip the system call on an empty queue.
        if distance(head, self.shared.tail.load(Ordering::Relaxed)) <= 0 {
            return Steal::Empty;
        }
        // A barrier between head and tail. It suffices if the owner has a fence too.
        let _visit = self.shared.enter();
        if !self.shared.sync_with_owner() {
            return Steal::Abort;
        }
        // Acquire: pairs with the release in `try_push`. Tasks below the tail are in their slots.
        if distance(head, self.shared.tail.load(Ordering::Acquire)) <= 0 {
            return Steal::Empty;
        }
        self.shared.take(head)
    }

    /// Returns the side that currently pays for the order of the owner's accesses.
    pub fn mode(&self) -> Mode {
        self.shared.mode()
    }
}

impl<T> Shared<T> {
    fn mode(&self) -> Mode {
        // Relaxed: a hint.
        match self.mode.load(Ordering::Relaxed) {
            FENCED => Mode::Fenced,
            _ => Mode::Membarrier,
        }
    }

    /// Executes the owner's fence, after its store of the tail, and publishes the fenced mode.
    #[cold]
    #[inline(never)]
    fn fence(&self) {
        barrier::full();
        // Release: a thief that sees the mode sees every tail that was stored without a fence.
        self.mode.store(FENCED, Ordering::Release);
    }

    /// Makes the thief see every pop that has not yet seen the thief.
    ///
    /// Returns whether that succeeded.
    #[inline]
    fn sync_with_owner(&self) -> bool {
        // Acquire: pairs with the release in `fence` and in the owner's drop.
        self.mode.load(Ordering::Acquire) == FENCED || barrier::heavy().is_ok() || self.request_fence()
    }

    #[cold]
    fn request_fence(&self) -> bool {
        // Acquire on failure: the owner may just have set the fenced mode, as in `sync_with_owner`.
        // Relaxed on success: a request publishes no data.
        self.mode.compare_exchange(MEMBARRIER, FENCE_REQUESTED, Ordering::Relaxed, Ordering::Acquire) == Err(FENCED)
    }
}

impl<T> Drop for Owner<T> {
    fn drop(&mut self) {
        // The owner pops no more, so its stores need no further barrier. Release: as in `fence`.
        self.shared.mode.store(FENCED, Ordering::Release);
    }
}

impl<T> Deref for Shared<T> {
    type Target = Deque<T>;

    #[inline(always)]
    fn deref(&self) -> &Deque<T> {
        &self.deque
    }
}

impl<T> HasVisitors for Shared<T> {
    fn visitors(&self) -> &Visitors {
        self.deque.visitors()
    }
}

queue_shape!("asymmetric", <T>);
// SAFETY: see the invariant. In either mode the barrier of one side covers both.
unsafe impl<T> crate::ExactlyOnce for Owner<T> {}
// SAFETY: as above.
unsafe impl<T> crate::ExactlyOnce for Thief<T> {}
