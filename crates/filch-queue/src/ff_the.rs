//! FF-THE: Cilk's THE whose owner has no fence, for CPUs with a bounded store buffer. Exactly once, given delta; a steal may abort.
//!
//! Source: figure 3 of the fence-free paper; push and pop are those of [`the`](crate::the) without the fence.
//!
//! # Invariant
//!
//! As in [`the`](crate::the), but a thief that has announced index i does not learn from the tail alone whether the owner has announced it too:
//! at most delta pops are still in the owner's store buffer. If the tail is above i + delta, tail = i is not among them, so the owner has yet
//! to load the head for that pop, sees the thief, and takes the lock. Nearer to the tail the thief cannot know: it withdraws and gives
//! [`Steal::Abort`].
//!
//! Delta pops are the most that S buffered stores can hide when each pop makes x + 1 of them ([`Delta`]); the extra ones go to cache lines of their
//! own, so that the CPU merges no two stores to the tail.
//!
//! # If delta is too small
//!
//! Then owner and thief may both have a task, which is why only the `unsafe` constructors promise exactly once. But no task is lost even then, in a
//! queue made by the safe ones: before the owner reuses the index of a task that it popped without a fence, it makes up for the fence,
//! in the first push after a pop. If the head is then past the tail, a thief has had the popped task, and the owner goes on behind it. That
//! also holds in the C11 model with no bound at all, where it is checked.
//!
//! # Differences from the figure
//!
//! Those of [`the`](crate::the). The figure gives abort for an empty queue too; we give [`Steal::Empty`] if the tail that the thief sees says so, since what
//! is hidden can only have lowered it.
//!
//! # Platforms
//!
//! The fence is left out on x86-64 only. Elsewhere, or with `--cfg filch_fenced`, the owner keeps it and thieves never abort; see
//! [`FENCE_FREE`](crate::bound::FENCE_FREE).
//!
//! # Progress and memory
//!
//! As in [`the`](crate::the).
//!
//! Model-checked on bounded TSO: `crates/filch-model/src/models/ff_the.tso`.

use core::cell::Cell;
use core::marker::PhantomData;
use core::ops::Deref;

use crossbeam_utils::CachePadded;

use crate::barrier;
use crate::bound::{lower_tail, Delta, Sight, Spacer, Trust, Trusted, Untrusted};
use crate::handle::Handle;
use crate::locked::Locked;
use crate::ring::{self, distance, Ring};
use crate::sync::Ordering;
use crate::traits::queue_shape;
use crate::{CapacityError, PushError, Steal};

struct Shared<T> {
    locked: Locked<T>,
    sight: CachePadded<Sight>,
    spacer: Spacer,
}

/// The owner's side: pushes, and pops the youngest task without a fence.
pub struct Owner<T, B: Trust = Untrusted> {
    shared: Handle<Shared<T>>,
    /// The owner's own copy of the tail, which nobody else writes.
    tail: Cell<usize>,
    /// Whether a task was popped since the owner last made sure that its tail is seen. Of no use where the bound is trusted.
    unsettled: Cell<bool>,
    ring: Cell<Ring<T>>,
    kind: PhantomData<B>,
}

/// A thief's side: steals the oldest task under a lock, unless it is among the youngest delta.
pub struct Thief<T, B: Trust = Untrusted> {
    shared: Handle<Shared<T>>,
    kind: PhantomData<B>,
}

/// A new queue that is at least once, whether or not `delta` is right for this CPU.
///
/// ```
/// use filch_queue::bound::{Bound, Delta};
/// use filch_queue::ff_the;
///
/// let delta = Delta::new(Bound::GENEROUS, 1)?;
/// let (owner, thief) = ff_the::new(delta);
/// for task in 0..1000 {
///     owner.push(task);
/// }
/// assert_eq!(thief.steal().success(), Some(0));
/// assert_eq!(owner.pop(), Some(999));
/// # Ok::<(), filch_queue::BoundError>(())
/// ```
pub fn new<T: Copy + Send>(delta: Delta) -> (Owner<T>, Thief<T>) {
    with_capacity(delta, ring::DEFAULT_CAPACITY).unwrap_or_else(|error| panic!("{error}"))
}

/// The same with room for `capacity` tasks before it first grows; 0 is as good as 1.
///
/// # Errors
///
/// If there is no memory or no address space for so many.
pub fn with_capacity<T: Copy + Send>(delta: Delta, capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    starting_at(0, delta, capacity)
}

/// A new queue whose first task has this index.
#[doc(hidden)]
pub fn starting_at<T: Copy + Send>(
    index: usize,
    delta: Delta,
    capacity: usize,
) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    make(index, delta, capacity)
}

/// A new queue that is exactly once, on the caller's word.
///
/// # Safety
///
/// On every CPU that the owner runs on, a load overtakes at most as many of its thread's stores as the [`Bound`](crate::bound::Bound) that
/// `delta` was made from says.
pub unsafe fn new_trusted<T: Send>(delta: Delta) -> (Owner<T, Trusted>, Thief<T, Trusted>) {
    make(0, delta, ring::DEFAULT_CAPACITY).unwrap_or_else(|error| panic!("{error}"))
}

/// The same with room for `capacity` tasks before it first grows; 0 is as good as 1.
///
/// # Errors
///
/// If there is no memory or no address space for so many.
///
/// # Safety
///
/// As for [`new_trusted`].
pub unsafe fn with_capacity_trusted<T: Send>(
    delta: Delta,
    capacity: usize,
) -> Result<(Owner<T, Trusted>, Thief<T, Trusted>), CapacityError> {
    make(0, delta, capacity)
}

/// A new queue whose first task has this index.
///
/// # Safety
///
/// As for [`new_trusted`].
#[doc(hidden)]
pub unsafe fn starting_at_trusted<T: Send>(
    index: usize,
    delta: Delta,
    capacity: usize,
) -> Result<(Owner<T, Trusted>, Thief<T, Trusted>), CapacityError> {
    make(index, delta, capacity)
}

fn make<T: Send, B: Trust>(
    index: usize,
    delta: Delta,
    capacity: usize,
) -> Result<(Owner<T, B>, Thief<T, B>), CapacityError> {
    let (locked, ring) = Locked::starting_at(index, capacity)?;
    let shared = Handle::new(Shared { locked, sight: CachePadded::new(Sight::new(delta)), spacer: Spacer::new() });
    let thief = Thief { shared: shared.clone(), kind: PhantomData };
    let (tail, unsettled) = (Cell::new(index), Cell::new(false));
    Ok((Owner { shared, tail, unsettled, ring: Cell::new(ring), kind: PhantomData }, thief))
}

impl<T, B: Trust> Owner<T, B> {
    /// Adds a task, or gives it back if there is no memory left to grow.
    #[inline]
    pub fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        if !B::TRUSTED && self.unsettled.get() {
            let (tail, ring) = self.shared.settle(self.ring.get(), self.tail.get());
            self.tail.set(tail);
            self.ring.set(ring);
            self.unsettled.set(false);
        }
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
        lower_tail::<B>(&self.shared.tail, tail);
        // Relaxed: it may be an old head, by as much as delta allows for.
        let head = self.shared.head.load(Ordering::Relaxed);
        self.shared.spacer.space(self.shared.sight.extra_stores(), tail);
        if distance(head, tail) > self.ring.get().low_water() {
            self.tail.set(tail);
            if !B::TRUSTED {
                self.unsettled.set(true);
            }
            // SAFETY: the task was pushed here, and a thief that goes for it either does not believe the tail, or, where
            // nobody vouched for the bound, takes a copy, since the task is `Copy`.
            return Some(unsafe { self.ring.get().slot(tail).read().assume_init() });
        }
        let (task, tail) = self.shared.pop_near_empty(self.ring.get(), head, tail);
        let (tail, ring) = self.shared.relieve_settled::<B>(self.ring.get(), tail);
        self.tail.set(tail);
        self.ring.set(ring);
        self.unsettled.set(true);
        task
    }
}

impl<T, B: Trust> Thief<T, B> {
    /// Tries to take the oldest task, waiting for another thief if one is at it.
    #[inline]
    pub fn steal(&self) -> Steal<T> {
        if let Some(outcome) = self.shared.look() {
            return outcome;
        }
        let _lock = self.shared.storage.gate().enter();
        let head = self.shared.announce();
        let hidden = self.shared.sight.hidden::<B>();
        // Acquire: pairs with the release in `try_push`; what is below the tail is in its slot.
        let ahead = distance(head, self.shared.tail.load(Ordering::Acquire));
        if ahead > 0 && ahead as usize > hidden {
            return Steal::Success(self.shared.take(head));
        }
        self.shared.withdraw(head);
        if ahead > 0 {
            Steal::Abort
        } else {
            Steal::Empty
        }
    }
}

impl<T> Shared<T> {
    /// Gives memory back after a pop. A smaller array has no slots for tasks that are thought popped, so where nobody vouched for the bound that is made
    /// sure first. Gives back the tail to go on from, and the view from there.
    #[cold]
    #[inline(never)]
    fn relieve_settled<B: Trust>(&self, ring: Ring<T>, tail: usize) -> (usize, Ring<T>) {
        let (tail, ring) =
            if !B::TRUSTED && ring.may_shrink(&self.storage) { self.settle(ring, tail) } else { (tail, ring) };
        (tail, self.relieve(ring, tail))
    }

    /// Makes up for the fences that pops went without, before an index of theirs is reused. Gives back the tail to go on from, and
    /// the view from there.
    #[cold]
    #[inline(never)]
    fn settle(&self, ring: Ring<T>, tail: usize) -> (usize, Ring<T>) {
        // Pairs with the barrier in `announce`: a thief that did not see this tail has announced itself before the load here.
        barrier::full();
        // Relaxed: if it is past the tail, the lock decides.
        if distance(self.head.load(Ordering::Relaxed), tail) >= 0 {
            return (tail, ring);
        }
        let _lock = self.storage.gate().enter();
        // Relaxed: only who holds the lock writes it, and taking the lock has acquired it.
        let head = self.head.load(Ordering::Relaxed);
        if distance(head, tail) >= 0 {
            return (tail, ring);
        }
        // Release: a thief may read the tail from here.
        self.tail.store(head, Ordering::Release);
        (head, ring.seen_from(head))
    }
}

impl<T, B: Trust> Drop for Owner<T, B> {
    fn drop(&mut self) {
        self.shared.sight.close();
    }
}

impl<T> Deref for Shared<T> {
    type Target = Locked<T>;

    #[inline(always)]
    fn deref(&self) -> &Locked<T> {
        &self.locked
    }
}

queue_shape!("ff_the", <T, B: Trust>);
// SAFETY: only `unsafe` constructors make this type, and their callers vouch for the bound that the invariant rests on. Where the fence
// is kept it is `the`.
unsafe impl<T> crate::ExactlyOnce for Owner<T, Trusted> {}
// SAFETY: as above.
unsafe impl<T> crate::ExactlyOnce for Thief<T, Trusted> {}
