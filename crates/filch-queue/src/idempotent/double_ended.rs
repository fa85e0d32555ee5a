//! Double-ended extraction, at least once: the owner takes the youngest task, thieves the oldest.
//!
//! Source: figure 3 of the idempotent paper.
//! Model-checked on bounded TSO: `crates/filch-model/src/models/idempotent/double_ended.tso`.
//!
//! # Shared words
//!
//! - anchor: a tag (10 bits), the number of tasks (27 bits) and the index of the oldest task (27
//!   bits), in a single word, at the start of the array that it belongs to. The owner stores it,
//!   thieves exchange it.
//! - the array in use.
//!
//! # Invariant
//!
//! A push writes a slot and then stores an anchor with a new tag. Pops and steals keep the tag. So
//! if a thief's CAS finds the anchor that it loaded, no slot was written since, and the thief has
//! read the task in the oldest slot. If a pop or push loads the anchor before such a CAS and stores
//! it after, it undoes the steal: the task is returned again, and none is lost. The tag has to
//! change at every push, not only when the queue was empty: because the head can fall back, the
//! owner may write to any slot without the queue having been empty.
//!
//! # Widths
//!
//! A queue holds fewer than 2^27 tasks; a push beyond that fails. The tag wraps after 1,024 pushes,
//! which is too few to be safe, and a word of 128 bits would cost the owner more than all the rest.
//! Instead the owner watches: every quarter of a round of tags it looks which thieves are inside a
//! steal. If it sees a thief twice in the same steal, at this array, it moves the tasks into a new
//! array with a new anchor. A CAS on the old anchor is then harmless. So less than half a round of
//! tags passes between a thief's load and its CAS, and **however long a thief is suspended, a
//! wrapped tag loses no task**. The watch costs a fence every 256 pushes. The move, a copy of the
//! queue, happens only if a thief is suspended in the few nanoseconds that a steal takes.
//!
//! # Difference from the figure
//!
//! Each array has its own anchor. A thief that loaded an old array may take a task that was copied
//! to the new array; then the task is returned twice.
//!
//! # Memory
//!
//! The same as in [`chase_lev`](crate::chase_lev), with one exception: an owner that only pushes,
//! while thieves drain the queue, keeps a large array until its next pop.

use alloc::vec::Vec;
use core::cell::{Cell, UnsafeCell};
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crossbeam_utils::CachePadded;

use crate::array::Array;
use crate::expect;
use crate::handle::Handle;
use crate::ring::{self, Ring};
use crate::storage::{Storage, Turnstiles};
use crate::sync::{fence, ContestedU64, Ordering};
use crate::traits::queue_shape;
use crate::turnstile::{Turnstile, Visit};
use crate::visitors::{HasVisitors, VisitorHandle, Visitors};
use crate::{CapacityError, PushError, Steal};

const HEAD_BITS: u32 = 27;
const COUNT_BITS: u32 = 27;

/// The maximum number of slots. One slot is spare, so that a count fits its field.
///
/// Indices are counted modulo at least as many.
const LIMIT: usize = 1 << COUNT_BITS;

const ONE_TASK: u64 = 1 << HEAD_BITS;
const HEAD: u64 = (1 << HEAD_BITS) - 1;

/// The lowest bit of the tag, which is in the highest bits. Its overflow is discarded.
const ONE_TAG: u64 = 1 << (HEAD_BITS + COUNT_BITS);
/// A quarter of a round of tags.
const QUARTER: u64 = 1 << (u64::BITS - 2);

/// Returns the index of the oldest task.
#[inline(always)]
fn head(anchor: u64) -> usize {
    (anchor & HEAD) as usize
}

/// Returns the number of tasks in an anchor.
#[inline(always)]
fn count(anchor: u64) -> usize {
    (anchor >> HEAD_BITS & ((1 << COUNT_BITS) - 1)) as usize
}

/// Returns the index after the youngest task, in the low 27 bits.
///
/// An array's mask removes the other bits.
#[inline(always)]
fn tail(anchor: u64) -> usize {
    anchor.wrapping_add(anchor >> HEAD_BITS) as usize
}

/// Returns the anchor after a push: one more task, and the next tag.
#[inline(always)]
fn pushed(anchor: u64) -> u64 {
    anchor.wrapping_add(ONE_TASK + ONE_TAG)
}

/// Returns whether a quarter of a round of tags starts with this anchor.
#[inline(always)]
fn is_watch_due(anchor: u64) -> bool {
    anchor & (QUARTER - ONE_TAG) == 0
}

/// Returns the anchor after a pop: one task fewer, and the same tag.
#[inline(always)]
fn popped(anchor: u64) -> u64 {
    anchor - ONE_TASK
}

/// Returns the anchor after a steal.
///
/// It has one task fewer, from the front, and the same tag.
#[inline(always)]
fn stolen(anchor: u64) -> u64 {
    let head = anchor.wrapping_add(1) & HEAD;
    (anchor & !HEAD | head) - ONE_TASK
}

impl ring::Anchor for ContestedU64 {
    fn successor(&self) -> Self {
        // Relaxed: the owner itself continues from this value.
        ContestedU64::new(self.load(Ordering::Relaxed))
    }
}

/// A visit that was under way at the owner's last watch.
type VisitId = (NonNull<Turnstile>, usize);

struct Shared<T> {
    storage: CachePadded<Storage<T, ContestedU64, Visitors>>,
    /// Accessed only by the owner.
    last_visits: UnsafeCell<Vec<VisitId>>,
}

/// The owner's side: pushes tasks, and pops the youngest task.
pub struct Owner<T: Copy> {
    shared: Handle<Shared<T>>,
    /// The anchor as the owner last stored or loaded it.
    anchor: Cell<u64>,
    ring: Cell<Ring<T, ContestedU64>>,
}

/// A thief's side: steals the oldest task.
pub struct Thief<T: Copy> {
    shared: VisitorHandle<Shared<T>>,
}

/// Creates a queue.
///
/// ```
/// use filch_queue::{idempotent::double_ended, Steal};
///
/// let (owner, thief) = double_ended::new();
/// for node in 0..3 {
///     owner.push(node);
/// }
/// assert_eq!(owner.pop(), Some(2));
/// assert_eq!(thief.steal(), Steal::Success(0));
/// assert_eq!(owner.pop(), Some(1));
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
/// If memory does not suffice for `capacity` tasks, or `capacity` is 2^27 or more.
pub fn with_capacity<T: Copy + Send>(capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    starting_at(0, capacity)
}

/// Creates a queue whose first task has index `index`, modulo 2^27.
#[doc(hidden)]
pub fn starting_at<T: Copy + Send>(index: usize, capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    make(index, capacity, LIMIT)
}

/// Creates a queue with at most `limit` slots, a power of two.
#[doc(hidden)]
pub fn limited_to<T: Copy + Send>(limit: usize, capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    make(0, capacity, limit)
}

fn make<T: Copy + Send>(index: usize, capacity: usize, limit: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    let anchor = index as u64 & HEAD;
    let storage = Storage::new(0, capacity, limit, ContestedU64::new(anchor), Visitors::new())?;
    let ring = Cell::new(Ring::new(&storage, 0));
    let shared = Handle::new(Shared { storage: CachePadded::new(storage), last_visits: UnsafeCell::new(Vec::new()) });
    let thief = Thief { shared: VisitorHandle::new(shared.clone()) };
    Ok((Owner { shared, anchor: Cell::new(anchor), ring }, thief))
}

impl<T: Copy> Owner<T> {
    /// Adds a task, or returns it in an error if it cannot be added.
    ///
    /// This happens if the queue already holds 2^27 - 1 tasks or there is no memory left to grow.
    #[inline]
    pub fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        // Acquire: pairs with the thieves' CAS. They have read the slots that they emptied.
        let mut anchor = expect::word(self.ring.get().anchor().load(Ordering::Acquire), self.anchor.get());
        if count(anchor) == self.ring.get().mask() || is_watch_due(pushed(anchor)) {
            match self.shared.push_slow_path(self.ring.get(), anchor, is_watch_due(pushed(anchor))) {
                Ok(ring) => self.ring.set(ring),
                Err(cause) => return Err(PushError::new(task, cause)),
            }
            // Acquire: as above.
            anchor = self.ring.get().anchor().load(Ordering::Acquire);
        }
        // Release: a thief that reads any word of this task sees the anchor that a pop stored (see
        // the parent module).
        fence(Ordering::Release);
        self.ring.get().slot(tail(anchor)).write(task);
        let next = pushed(anchor);
        self.anchor.set(next);
        // Release: a thief that sees the anchor sees the task.
        self.ring.get().anchor().store(next, Ordering::Release);
        Ok(())
    }

    /// Takes the youngest task.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        // Acquire: as in `try_push`.
        let anchor = expect::word(self.ring.get().anchor().load(Ordering::Acquire), self.anchor.get());
        if count(anchor) as isize > self.ring.get().low_water() {
            let task = self.ring.get().slot(tail(anchor).wrapping_sub(1)).read();
            self.anchor.set(popped(anchor));
            // Release: a thief may read the anchor from here, and then expects the slots that it
            // counts to be written.
            self.ring.get().anchor().store(popped(anchor), Ordering::Release);
            // SAFETY: tasks that the anchor counts were pushed, and tasks are `Copy`.
            return Some(unsafe { task.assume_init() });
        }
        let (task, anchor, ring) = self.shared.pop_near_empty(self.ring.get(), anchor);
        self.anchor.set(anchor);
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
        let mut visit = self.shared.enter();
        let array = self.shared.storage.current();
        visit.announce_view(array.as_ptr().cast());
        // SAFETY: inside a visit, which the pending steal keeps open.
        let word = unsafe { array.anchor() };
        // Acquire: pairs with the release in `try_push`. Tasks that the anchor counts are in their
        // slots.
        let anchor = word.load(Ordering::Acquire);
        if count(anchor) == 0 {
            return Err(Steal::Empty);
        }
        // SAFETY: inside a visit.
        let task = unsafe { array.slot(head(anchor)) }.read();
        Ok(PendingSteal { task, anchor, word, _visit: visit })
    }

    /// Takes the task if the anchor is unchanged: the second half of a steal.
    #[inline(always)]
    fn finish_steal(&self, pending: PendingSteal<'_, T>) -> Steal<T> {
        // Acquire: pairs with the release fence in `try_push` (see the parent module).
        fence(Ordering::Acquire);
        let next = stolen(pending.anchor);
        // AcqRel: the release half keeps the read of the slot before it, for the owner that reuses
        // the slot. The acquire half passes on the writes before the store of the anchor.
        match pending.word.compare_exchange(pending.anchor, next, Ordering::AcqRel, Ordering::Relaxed) {
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
    word: &'a ContestedU64,
    _visit: Visit<'a>,
}

impl<T: Copy> Shared<T> {
    /// Grows the array, and watches for suspended thieves: the slow path of a push.
    ///
    /// A suspended thief is a thief during whose steal a tag could wrap.
    #[cold]
    #[inline(never)]
    fn push_slow_path(
        &self,
        ring: Ring<T, ContestedU64>,
        anchor: u64,
        watch: bool,
    ) -> Result<Ring<T, ContestedU64>, CapacityError> {
        let (head, tail) = (head(anchor), head(anchor) + count(anchor));
        if count(anchor) == ring.mask() {
            // A new array has a new anchor, so the visits seen at the old anchor do not matter.
            return ring.make_room(&self.storage, head, tail);
        }
        if watch && self.has_stalled_thief(ring.array()) {
            return ring.renew(&self.storage, head, tail);
        }
        Ok(ring)
    }

    /// Returns whether a thief is in the same steal as at the last call. Only steals from this
    /// array count.
    ///
    /// Records the visits that are under way now.
    fn has_stalled_thief(&self, array: Array<T, ContestedU64>) -> bool {
        // Pairs with the barriers in `VisitorHandle::enter` and `announce_view`: a thief whose
        // visit or view is not seen below will see the anchors stored so far.
        fence(Ordering::SeqCst);
        // SAFETY: only the owner, which calls it in a push, accesses it.
        let last_visits = unsafe { &mut *self.last_visits.get() };
        let mut now = Vec::new();
        let mut stalled = false;
        self.storage.turnstiles().for_each(&mut |turnstile| {
            let Some(visit) = turnstile.visit_under_way() else { return };
            let view = turnstile.view();
            let this: VisitId = (NonNull::from(turnstile), visit);
            // A thief without a view has not loaded an anchor yet, or needs it no longer.
            stalled |= last_visits.contains(&this) && view == array.as_ptr().cast();
            now.push(this);
        });
        *last_visits = now;
        stalled
    }

    /// Pops from a queue with few tasks left, or none.
    ///
    /// Returns the task, and the current anchor and view.
    #[cold]
    #[inline(never)]
    fn pop_near_empty(&self, ring: Ring<T, ContestedU64>, anchor: u64) -> (Option<T>, u64, Ring<T, ContestedU64>) {
        let (head, count) = (head(anchor), count(anchor));
        if count == 0 {
            return (None, anchor, ring.free_memory(&self.storage, head, head));
        }
        let task = ring.slot(head + count - 1).read();
        // Release: as in `pop`.
        ring.anchor().store(popped(anchor), Ordering::Release);
        // SAFETY: tasks that the anchor counts were pushed, and tasks are `Copy`.
        (Some(unsafe { task.assume_init() }), popped(anchor), ring.free_memory(&self.storage, head, head + count - 1))
    }
}

impl<T> HasVisitors for Shared<T> {
    fn visitors(&self) -> &Visitors {
        self.storage.turnstiles()
    }
}

queue_shape!(
    "idempotent::double_ended", <T: Copy>,
    // Relaxed: a hint.
    |owner: &Self| count(owner.ring.get().anchor().load(Ordering::Relaxed)),
    |thief: &Self| {
        let _visit = thief.shared.enter();
        // SAFETY: inside a visit. Relaxed: a hint.
        count(unsafe { thief.shared.storage.current().anchor() }.load(Ordering::Relaxed))
    }
);

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Suspends a thief in the middle of a steal while the owner makes `pushes` pushes.
    ///
    /// The thief begins its steal. The owner alternates between a pop and a push, so that a single
    /// task is in the queue again. It does not watch if `watched` is false. The tag is increased by
    /// `skipped_tags`. Then the thief finishes its steal. Returns the thief's outcome, and the task
    /// that is left.
    fn stall_a_thief(pushes: usize, watched: bool, skipped_tags: u64) -> (Steal<usize>, Option<usize>) {
        let (owner, thief) = make(0, 4, LIMIT).unwrap();
        owner.push(0);
        let pending = thief.begin_steal().ok().unwrap();
        for task in 1..=pushes {
            assert_eq!(owner.pop(), Some(task - 1));
            owner.push(task);
            if !watched {
                // Without a record the owner sees no visit twice.
                // SAFETY: the owner, on this thread, does not access it now.
                unsafe { (*owner.shared.last_visits.get()).clear() };
            }
        }
        owner.anchor.set(owner.anchor.get().wrapping_add(skipped_tags * ONE_TAG));
        owner.ring.get().anchor().store(owner.anchor.get(), Ordering::Release);
        let stolen = thief.finish_steal(pending);
        (stolen, owner.pop())
    }

    #[test]
    fn a_tag_that_wraps_unwatched_loses_a_task() {
        assert_eq!(stall_a_thief(1023, false, 0), (Steal::Retry, Some(1023)));
        // The thief gets the old task 0, and task 1024 is lost.
        assert_eq!(stall_a_thief(1024, false, 0), (Steal::Success(0), None));
    }

    #[test]
    fn without_a_new_tag_a_single_push_loses_a_task() {
        assert_eq!(stall_a_thief(1, true, u64::MAX / ONE_TAG), (Steal::Success(0), None));
    }

    #[test]
    fn a_watched_tag_loses_nothing_however_often_it_wraps() {
        for pushes in (1..=64).chain([1023, 1024, 1025, 2048, 10_240, 1_000_000]) {
            let (_stolen, left) = stall_a_thief(pushes, true, 0);
            assert_eq!(left, Some(pushes), "a thief was stalled for {pushes} pushes");
        }
    }

    #[test]
    fn a_stalled_thief_causes_only_one_new_array() {
        let (owner, thief) = make(0, 4, LIMIT).unwrap();
        owner.push(0);
        let pending = thief.begin_steal().ok().unwrap();
        let before = owner.ring.get().array().as_ptr();
        let mut moves = 0;
        let mut at = before;
        for task in 0..100_000 {
            owner.push(task);
            owner.pop();
            let now = owner.ring.get().array().as_ptr();
            moves += usize::from(now != at);
            at = now;
        }
        assert_eq!(moves, 1);
        drop(pending);
    }

    #[test]
    fn the_fields_of_an_anchor_do_not_spill() {
        let full = (u64::MAX >> 10) & !HEAD | HEAD;
        assert_eq!((head(full), count(full)), ((1 << 27) - 1, (1 << 27) - 1));
        assert_eq!(tail(full) & ((1 << 27) - 1), (head(full) + count(full)) & ((1 << 27) - 1));
        // A steal at the last index continues at the first.
        assert_eq!((head(stolen(full)), count(stolen(full))), (0, (1 << 27) - 2));
        // The highest tag is followed by the first. The overflow does not affect count and head.
        let highest = (1023 << 54) | ONE_TASK | 5;
        assert_eq!(pushed(highest), (2 * ONE_TASK) | 5);
    }

    #[test]
    fn a_push_beyond_the_size_limit_fails_and_loses_no_task() {
        let (owner, thief) = limited_to(8, 2).unwrap();
        for task in 0..7 {
            owner.try_push(task).unwrap();
        }
        let error = owner.try_push(7).unwrap_err();
        assert_eq!(error.cause(), CapacityError::TooLarge { requested: 8, limit: 7 });
        assert_eq!(error.into_task(), 7);
        assert_eq!((owner.len(), thief.len()), (7, 7));
        assert_eq!(thief.steal(), Steal::Success(0));
        owner.try_push(8).unwrap();
        assert_eq!(owner.pop(), Some(8));
    }
}
