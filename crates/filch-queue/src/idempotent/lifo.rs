//! LIFO extraction, at least once: owner and thieves both take the youngest task.
//!
//! Source: figure 1 of the idempotent paper.
//! Model-checked on bounded TSO: `crates/filch-model/src/models/idempotent/lifo.tso`.
//!
//! # Shared words
//!
//! - anchor: the number of tasks (30 bits) and a tag (34 bits), in a single word. The owner stores
//!   it, thieves exchange it. Task i is in slot i.
//! - the array in use.
//!
//! # Invariant
//!
//! A push writes a slot and then stores an anchor with a new tag. Pops and steals keep the tag. So
//! if a thief's CAS finds the anchor that it loaded, no slot was written since, and the thief has
//! read the task in the last slot. If a pop loads the anchor before such a CAS and stores it after,
//! the pop undoes the steal: the task is returned again, and none is lost.
//!
//! # Widths
//!
//! A queue holds fewer than 2^30 tasks; a push beyond that fails. The tag wraps after 2^34 pushes.
//! A wrapped tag loses a task only if a thief is suspended between its load and its CAS while a
//! multiple of 2^34 tasks is pushed and the number of tasks ends up the same. At a push per cycle
//! on a 5 GHz CPU this takes at least 3.4 seconds, and at a push per nanosecond 17.
//!
//! # Memory
//!
//! The same as in [`chase_lev`](crate::chase_lev), with one exception: an owner that only pushes,
//! while thieves drain the queue, keeps a large array until its next pop.

use core::cell::Cell;
use core::mem::MaybeUninit;

use crossbeam_utils::CachePadded;

use crate::expect;
use crate::handle::Handle;
use crate::ring::{self, Ring};
use crate::storage::Storage;
use crate::sync::{fence, ContestedU64, Ordering};
use crate::traits::queue_shape;
use crate::turnstile::Visit;
use crate::visitors::{HasVisitors, VisitorHandle, Visitors};
use crate::{CapacityError, PushError, Steal};

const COUNT_BITS: u32 = 30;

/// The maximum number of slots. One slot is spare, so that a count fits its field.
const LIMIT: usize = 1 << COUNT_BITS;

/// The lowest bit of the tag.
const ONE_TAG: u64 = 1 << COUNT_BITS;

/// Returns the number of tasks in an anchor.
#[inline(always)]
fn count(anchor: u64) -> usize {
    (anchor & ((1 << COUNT_BITS) - 1)) as usize
}

/// Returns the anchor after a push: one more task, and the next tag.
///
/// The tag is in the highest bits, and its overflow is discarded.
#[inline(always)]
fn pushed(anchor: u64) -> u64 {
    anchor.wrapping_add(1 + ONE_TAG)
}

/// Returns the anchor after a pop or a steal.
///
/// It has one task fewer, and the same tag.
#[inline(always)]
fn taken(anchor: u64) -> u64 {
    anchor - 1
}

struct Shared<T> {
    anchor: CachePadded<ContestedU64>,
    storage: CachePadded<Storage<T, (), Visitors>>,
}

/// The owner's side: pushes tasks, and pops the youngest task.
pub struct Owner<T: Copy> {
    shared: Handle<Shared<T>>,
    /// The anchor as the owner last stored or loaded it.
    anchor: Cell<u64>,
    ring: Cell<Ring<T>>,
}

/// A thief's side: steals the youngest task.
pub struct Thief<T: Copy> {
    shared: VisitorHandle<Shared<T>>,
}

/// Creates a queue.
///
/// ```
/// use filch_queue::{idempotent::lifo, Steal};
///
/// let (owner, thief) = lifo::new();
/// for node in 0..3 {
///     owner.push(node);
/// }
/// assert_eq!(owner.pop(), Some(2));
/// assert_eq!(thief.steal(), Steal::Success(1));
/// assert_eq!(owner.pop(), Some(0));
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
/// If memory does not suffice for `capacity` tasks, or `capacity` is 2^30 or more.
pub fn with_capacity<T: Copy + Send>(capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    make(capacity, LIMIT)
}

/// Creates a queue with at most `limit` slots, a power of two.
#[doc(hidden)]
pub fn limited_to<T: Copy + Send>(limit: usize, capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    make(capacity, limit)
}

fn make<T: Copy + Send>(capacity: usize, limit: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    let storage = Storage::new(0, capacity, limit, (), Visitors::new())?;
    let ring = Cell::new(Ring::new(&storage, 0));
    let shared =
        Handle::new(Shared { anchor: CachePadded::new(ContestedU64::new(0)), storage: CachePadded::new(storage) });
    let thief = Thief { shared: VisitorHandle::new(shared.clone()) };
    Ok((Owner { shared, anchor: Cell::new(0), ring }, thief))
}

impl<T: Copy> Owner<T> {
    /// Adds a task, or returns it in an error if it cannot be added.
    ///
    /// This happens if the queue already holds 2^30 - 1 tasks or there is no memory left to grow.
    #[inline]
    pub fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        // Acquire: pairs with the thieves' CAS. They have read the slots that they emptied.
        let anchor = expect::word(self.shared.anchor.load(Ordering::Acquire), self.anchor.get());
        let tail = count(anchor);
        if !self.ring.get().has_room(tail) {
            match self.ring.get().make_room(&self.shared.storage, 0, tail) {
                Ok(ring) => self.ring.set(ring),
                Err(cause) => return Err(PushError::new(task, cause)),
            }
        }
        // Release: a thief that reads any word of this task sees the anchor that a pop stored (see
        // the parent module).
        fence(Ordering::Release);
        self.ring.get().slot(tail).write(task);
        let next = pushed(anchor);
        self.anchor.set(next);
        // Release: a thief that sees the anchor sees the task and its array.
        self.shared.anchor.store(next, Ordering::Release);
        Ok(())
    }

    /// Takes the youngest task.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        // Acquire: as in `try_push`.
        let anchor = expect::word(self.shared.anchor.load(Ordering::Acquire), self.anchor.get());
        let tail = count(anchor);
        if tail as isize > self.ring.get().low_water() {
            let task = self.ring.get().slot(tail - 1).read();
            self.anchor.set(taken(anchor));
            // Release: a thief may read the anchor from here, and then expects the slots below it
            // to be written.
            self.shared.anchor.store(taken(anchor), Ordering::Release);
            // SAFETY: tasks below the tail were pushed, and tasks are `Copy`.
            return Some(unsafe { task.assume_init() });
        }
        let (task, anchor, ring) = self.shared.pop_near_empty(self.ring.get(), anchor);
        self.anchor.set(anchor);
        self.ring.set(ring);
        task
    }
}

impl<T: Copy> Thief<T> {
    /// Tries once to take the youngest task.
    #[inline]
    pub fn steal(&self) -> Steal<T> {
        match self.begin_steal() {
            Ok(pending) => self.finish_steal(pending),
            Err(outcome) => outcome,
        }
    }

    /// Reads the task in the last slot: the first half of a steal.
    #[inline(always)]
    fn begin_steal(&self) -> Result<PendingSteal<'_, T>, Steal<T>> {
        // This check only lets a thief skip the visit on an empty queue.
        if self.is_empty() {
            return Err(Steal::Empty);
        }
        let visit = self.shared.enter();
        // Acquire: pairs with the release in `try_push`. The array is loaded after it.
        let anchor = self.shared.anchor.load(Ordering::Acquire);
        if count(anchor) == 0 {
            return Err(Steal::Empty);
        }
        // SAFETY: inside a visit. If the array has shrunk meanwhile, the index may be too high. The
        // array's own mask brings it into range, and the CAS will fail.
        let task = unsafe { self.shared.storage.current().slot(count(anchor) - 1) }.read();
        Ok(PendingSteal { task, anchor, _visit: visit })
    }

    /// Takes the task if the anchor is unchanged: the second half of a steal.
    #[inline(always)]
    fn finish_steal(&self, pending: PendingSteal<'_, T>) -> Steal<T> {
        // Acquire: pairs with the release fence in `try_push` (see the parent module).
        fence(Ordering::Acquire);
        let next = taken(pending.anchor);
        // AcqRel: the release half keeps the read of the slot before it, for the owner that reuses
        // the slot. The acquire half passes on the writes before the store of the anchor.
        match self.shared.anchor.compare_exchange(pending.anchor, next, Ordering::AcqRel, Ordering::Relaxed) {
            // SAFETY: the unchanged anchor proves that no slot was written meanwhile, and tasks are
            // `Copy`.
            Ok(_) => Steal::Success(unsafe { pending.task.assume_init() }),
            Err(_) => Steal::Retry,
        }
    }
}

/// The state of a steal between its two halves.
struct PendingSteal<'a, T> {
    task: MaybeUninit<T>,
    anchor: u64,
    _visit: Visit<'a>,
}

impl<T: Copy> Shared<T> {
    /// Pops from a queue with few tasks left, or none.
    ///
    /// Returns the task, and the current anchor and view.
    #[cold]
    #[inline(never)]
    fn pop_near_empty(&self, ring: Ring<T>, anchor: u64) -> (Option<T>, u64, Ring<T>) {
        let tail = count(anchor);
        if tail == 0 {
            return (None, anchor, ring.free_memory(&self.storage, 0, 0));
        }
        let task = ring.slot(tail - 1).read();
        // Release: as in `pop`.
        self.anchor.store(taken(anchor), Ordering::Release);
        // SAFETY: tasks below the tail were pushed, and tasks are `Copy`.
        (Some(unsafe { task.assume_init() }), taken(anchor), ring.free_memory(&self.storage, 0, tail - 1))
    }

    fn len(&self) -> usize {
        // Relaxed: a hint.
        count(self.anchor.load(Ordering::Relaxed))
    }
}

impl<T> HasVisitors for Shared<T> {
    fn visitors(&self) -> &Visitors {
        self.storage.turnstiles()
    }
}

queue_shape!("idempotent::lifo", <T: Copy>);

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Suspends a thief in the middle of a steal while the owner makes `pushes` pushes.
    ///
    /// The thief begins its steal. The owner alternates between a pop and a push, so that a single
    /// task is in the queue again. The tag is increased by `skipped_tags`, which stands for that
    /// many pushes more. Then the thief finishes its steal. Returns the thief's outcome, and the
    /// task that is left.
    fn stall_a_thief(pushes: usize, skipped_tags: u64) -> (Steal<usize>, Option<usize>) {
        let (owner, thief) = make(4, LIMIT).unwrap();
        owner.push(0);
        let pending = thief.begin_steal().ok().unwrap();
        for task in 1..=pushes {
            assert_eq!(owner.pop(), Some(task - 1));
            owner.push(task);
        }
        owner.anchor.set(owner.anchor.get().wrapping_add(skipped_tags * ONE_TAG));
        owner.shared.anchor.store(owner.anchor.get(), Ordering::Release);
        let stolen = thief.finish_steal(pending);
        (stolen, owner.pop())
    }

    #[test]
    fn a_tag_that_wraps_loses_a_task() {
        let round = 1 << 34;
        assert_eq!(stall_a_thief(3, round - 4), (Steal::Retry, Some(3)));
        // The thief gets the old task 0, and task 3 is lost.
        assert_eq!(stall_a_thief(3, round - 3), (Steal::Success(0), None));
    }

    #[test]
    fn without_a_new_tag_a_single_push_loses_a_task() {
        assert_eq!(stall_a_thief(1, u64::MAX / ONE_TAG), (Steal::Success(0), None));
    }

    #[test]
    fn the_real_tag_does_not_wrap_in_a_million_pushes() {
        assert_eq!(stall_a_thief(1_000_000, 0), (Steal::Retry, Some(1_000_000)));
    }

    #[test]
    fn the_real_tag_wraps_where_the_module_says() {
        let start: u64 = 17;
        let mut anchor = start;
        let tag = |anchor: u64| anchor >> COUNT_BITS;
        anchor = pushed(anchor);
        assert_eq!(tag(anchor), 1);
        // A push and a pop that wrap the highest tag to the first do not change the count.
        let highest = u64::MAX << COUNT_BITS | start;
        assert_eq!(tag(highest), (1 << 34) - 1);
        assert_eq!(taken(pushed(highest)), start);
    }

    #[test]
    fn a_push_beyond_the_size_limit_fails_and_loses_no_task() {
        let (owner, _thief) = limited_to(8, 2).unwrap();
        for task in 0..7 {
            owner.try_push(task).unwrap();
        }
        let error = owner.try_push(7).unwrap_err();
        assert_eq!(error.cause(), CapacityError::TooLarge { requested: 8, limit: 7 });
        assert_eq!(error.into_task(), 7);
        assert_eq!(owner.len(), 7);
        assert_eq!(owner.pop(), Some(6));
        owner.try_push(8).unwrap();
        assert_eq!(owner.pop(), Some(8));
    }
}
