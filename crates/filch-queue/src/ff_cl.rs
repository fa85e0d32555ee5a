//! FF-CL: a Chase-Lev deque without an owner fence, for bounded store buffers.
//!
//! Exactly once, given delta. A steal may abort.
//!
//! Source: figure 4 of the fence-free paper. Push and pop are those of
//! [`chase_lev`](crate::chase_lev) without the fence.
//!
//! # Invariant
//!
//! The invariant is that of [`chase_lev`](crate::chase_lev), except that the tail alone does not
//! tell a thief how far the owner is: at most delta pops are still in the owner's store buffer. A
//! thief that loads head = h and tail > h + delta knows that the owner's store of tail = h is not
//! among them. So the owner has yet to load the head for that pop. It finds the head at h, and uses
//! the CAS. Nearer to the tail the thief cannot know and returns [`Steal::Abort`].
//!
//! S buffered stores can hide at most delta pops, if each pop makes x + 1 stores ([`Delta`]). The
//! extra stores go to cache lines of their own, so that the CPU does not merge two stores to the
//! tail.
//!
//! # If delta is too small
//!
//! If delta is too small, owner and thief may both take a task. This is why only the `unsafe`
//! constructors promise exactly once. But a queue made by a safe constructor loses no task even
//! then: before the owner reuses the index of a task that it popped without a fence, it makes up
//! for the fence. It does so in the first push after a pop. If the head is then at the tail or past
//! it, a thief has taken the popped task, or may be about to take it, and the owner continues after
//! it. This also holds in the C11 model without any bound, where it is checked.
//!
//! # Linearizability
//!
//! This queue is not linearizable, for the same reason as [`chase_lev`](crate::chase_lev): a push
//! returns while its stores wait in the store buffer, and a steal that begins later returns
//! [`Steal::Empty`]. A fence at the end of push would make it linearizable to a deque whose steals
//! may abort (section 3.3 of the paper), with pop as it is. Push has no such fence, because no task
//! is lost without it: the owner pops what thieves miss. The models `linearizability/ff_cl` and
//! `linearizability/ff_cl-fenced-push` show both.
//!
//! Why the laws of order do not demand a fence in pop: see [`bound`](crate::bound).
//!
//! # Platforms
//!
//! Only on x86-64 does the owner have no fence. On other CPUs, or with `--cfg filch_fenced`, the
//! owner keeps the fence and thieves never abort; see [`FENCE_FREE`](crate::bound::FENCE_FREE).
//!
//! # Memory
//!
//! The same as in [`chase_lev`](crate::chase_lev).
//!
//! Model-checked on bounded TSO: `crates/filch-model/src/models/ff_cl.tso`.

use core::cell::Cell;
use core::marker::PhantomData;
use core::ops::Deref;

use crossbeam_utils::CachePadded;

use crate::barrier;
use crate::bound::{lower_tail, Delta, HiddenPops, Spacer, Trust, Trusted, Untrusted};
use crate::deque::Deque;
use crate::handle::Handle;
use crate::ring::{self, distance, Ring};
use crate::sync::Ordering;
use crate::traits::queue_shape;
use crate::visitors::{HasVisitors, VisitorHandle, Visitors};
use crate::{CapacityError, PushError, Steal};

struct Shared<T> {
    deque: Deque<T>,
    hidden_pops: CachePadded<HiddenPops>,
    spacer: Spacer,
}

/// The owner's side: pushes tasks, and pops the youngest task without a fence.
pub struct Owner<T, B: Trust = Untrusted> {
    shared: Handle<Shared<T>>,
    /// The owner's copy of the tail. Only the owner writes the tail.
    tail: Cell<usize>,
    /// Whether the owner popped a task since its last fence.
    ///
    /// Not used if the bound is trusted.
    unsettled: Cell<bool>,
    ring: Cell<Ring<T>>,
    kind: PhantomData<B>,
}

/// A thief's side: steals the oldest task, unless it is among the youngest delta.
pub struct Thief<T, B: Trust = Untrusted> {
    shared: VisitorHandle<Shared<T>>,
    kind: PhantomData<B>,
}

/// Creates an at-least-once queue, whether or not `delta` is right for this CPU.
///
/// ```
/// use filch_queue::bound::{Bound, Delta};
/// use filch_queue::ff_cl;
///
/// let delta = Delta::new(Bound::GENEROUS, 1)?;
/// let (owner, thief) = ff_cl::new(delta);
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

/// Creates an at-least-once queue with room for `capacity` tasks before it first grows.
///
/// A capacity of 0 means 1.
///
/// # Errors
///
/// If memory or address space does not suffice for `capacity` tasks.
pub fn with_capacity<T: Copy + Send>(delta: Delta, capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    starting_at(0, delta, capacity)
}

/// Creates a queue whose first task has index `index`.
#[doc(hidden)]
pub fn starting_at<T: Copy + Send>(
    index: usize,
    delta: Delta,
    capacity: usize,
) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    make(index, delta, capacity)
}

/// Creates an exactly-once queue; the caller guarantees the bound.
///
/// # Safety
///
/// On every CPU that the owner runs on, a load overtakes at most as many stores of its thread as
/// the [`Bound`](crate::bound::Bound) of `delta` says.
pub unsafe fn new_trusted<T: Send>(delta: Delta) -> (Owner<T, Trusted>, Thief<T, Trusted>) {
    make(0, delta, ring::DEFAULT_CAPACITY).unwrap_or_else(|error| panic!("{error}"))
}

/// Creates an exactly-once queue with room for `capacity` tasks before it first grows.
///
/// A capacity of 0 means 1.
///
/// # Errors
///
/// If memory or address space does not suffice for `capacity` tasks.
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

/// Creates an exactly-once queue whose first task has index `index`.
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
    let (deque, ring) = Deque::starting_at(index, capacity)?;
    let shared =
        Handle::new(Shared { deque, hidden_pops: CachePadded::new(HiddenPops::new(delta)), spacer: Spacer::new() });
    let thief = Thief { shared: VisitorHandle::new(shared.clone()), kind: PhantomData };
    let (tail, unsettled) = (Cell::new(index), Cell::new(false));
    Ok((Owner { shared, tail, unsettled, ring: Cell::new(ring), kind: PhantomData }, thief))
}

impl<T, B: Trust> Owner<T, B> {
    /// Adds a task, or returns it if there is no memory left to grow.
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
        // Release: a thief that sees the tail sees the task and its array.
        self.shared.tail.store(tail.wrapping_add(1), Ordering::Release);
        Ok(())
    }

    /// Takes the youngest task.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let tail = self.tail.get().wrapping_sub(1);
        lower_tail::<B>(&self.shared.tail, tail);
        // Relaxed: the head may be outdated, by as much as delta allows for.
        let head = self.shared.head.load(Ordering::Relaxed);
        self.shared.spacer.store(self.shared.hidden_pops.extra_stores(), tail);
        if distance(head, tail) > self.ring.get().low_water() {
            self.tail.set(tail);
            if !B::TRUSTED {
                self.unsettled.set(true);
            }
            // SAFETY: the task was pushed here. A thief that tries to take it does not trust the
            // tail. If the bound is untrusted, the thief may take a copy, since the task is `Copy`.
            return Some(unsafe { self.ring.get().slot(tail).read().assume_init() });
        }
        let (task, tail) = self.shared.pop_near_empty(self.ring.get(), head, tail);
        let (tail, ring) = self.shared.settle_and_free_memory::<B>(self.ring.get(), tail);
        self.tail.set(tail);
        self.ring.set(ring);
        self.unsettled.set(true);
        task
    }
}

impl<T, B: Trust> Thief<T, B> {
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
        // A barrier between head and tail: for an owner that has a barrier too, and for `settle`.
        let _visit = self.shared.enter();
        let hidden = self.shared.hidden_pops.max::<B>();
        // Acquire: pairs with the release in `try_push`. Tasks below the tail are in their slots.
        let ahead = distance(head, self.shared.tail.load(Ordering::Acquire));
        if ahead <= 0 {
            return Steal::Empty;
        }
        if ahead as usize <= hidden {
            return Steal::Abort;
        }
        self.shared.take(head)
    }
}

impl<T> Shared<T> {
    /// Frees memory after a pop.
    ///
    /// A smaller array has no slots for tasks that the owner regards as popped. So if the bound is
    /// untrusted, the owner first settles them. Returns the tail to continue from, and the view
    /// from there.
    #[cold]
    #[inline(never)]
    fn settle_and_free_memory<B: Trust>(&self, ring: Ring<T>, tail: usize) -> (usize, Ring<T>) {
        let (tail, ring) =
            if !B::TRUSTED && ring.may_shrink(&self.storage) { self.settle(ring, tail) } else { (tail, ring) };
        (tail, self.free_memory(ring, tail))
    }

    /// Makes up for the missing fences of pops, before their indices are reused.
    ///
    /// Returns the tail to continue from, and the view from there.
    #[cold]
    #[inline(never)]
    fn settle(&self, ring: Ring<T>, tail: usize) -> (usize, Ring<T>) {
        // Pairs with the barrier in `steal`: a thief that did not see this tail has moved the head,
        // or loaded it, before the load here.
        barrier::full();
        loop {
            // Acquire: as in `Deque::make_room`.
            let head = self.head.load(Ordering::Acquire);
            if distance(head, tail) > 0 {
                return (tail, ring);
            }
            // A thief may be about to take the task that the owner popped. No thief contends for
            // the indices past it.
            let past = head.wrapping_add(1);
            // SeqCst: as in `Deque::take`.
            if self.head.compare_exchange(head, past, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
                // Release: a thief may read the tail from here.
                self.tail.store(past, Ordering::Release);
                return (past, ring.with_head(past));
            }
        }
    }
}

impl<T, B: Trust> Drop for Owner<T, B> {
    fn drop(&mut self) {
        self.shared.hidden_pops.close();
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

queue_shape!("ff_cl", <T, B: Trust>);
// SAFETY: only `unsafe` constructors make this type, and their callers guarantee the bound that the
// invariant relies on. If the fence is kept, the queue is `chase_lev`.
unsafe impl<T> crate::ExactlyOnce for Owner<T, Trusted> {}
// SAFETY: as above.
unsafe impl<T> crate::ExactlyOnce for Thief<T, Trusted> {}
