//! Double-ended extraction, at least once: the owner takes the youngest task, thieves the oldest.
//!
//! Source: figure 3 of the idempotent paper.
//! Model-checked on bounded TSO: `crates/filch-model/src/models/idempotent/double_ended.tso`.
//!
//! # Shared words
//!
//! - anchor: a tag (10 bits), the number of tasks (27 bits) and the index of the oldest (27 bits), in one word, at the start of the array that
//!   it belongs to. The owner stores it, thieves exchange it.
//! - the array in use.
//!
//! # Invariant
//!
//! A push writes a slot and then stores an anchor with a new tag; pops and steals keep the tag. So if a thief's CAS finds the anchor that it
//! loaded, no slot was written since, and what it read from the oldest slot is the task there. A pop or push that loaded the anchor before such
//! a CAS and stores it after undoes the steal: the task is given again, and none is lost. The tag has to change at every push, not only when the queue was empty:
//! because the head can fall back, the owner may write to any slot without the queue having been empty.
//!
//! # Widths
//!
//! A queue holds fewer than 2^27 tasks; a push beyond that is refused. The tag wraps after 1,024 pushes, far too soon to trust to luck, and a word of 128 bits would
//! cost the owner more than all the rest. Instead the owner watches: every quarter of a round of tags it looks who is inside a steal. If a
//! thief is seen twice in the same steal, at this array, then the owner moves the tasks into a new array with an anchor of its own, and the old
//! anchor can be exchanged without harm. So less than half a round of tags passes between a thief's load and its CAS, and **however long a
//! thief is suspended, a wrapped tag loses no task**. The look costs a fence every 256 pushes; the move, a copy of the queue, happens only when a
//! thief is held up in the few nanoseconds that a steal takes.
//!
//! # Difference from the figure
//!
//! The anchor lives and dies with its array. A thief that found an old array may take a task that was copied to the new one, which gives it twice.
//!
//! # Memory
//!
//! As in [`chase_lev`](crate::chase_lev), except that an owner that only pushes, and leaves it to thieves to drain the queue, keeps a large array until
//! its next pop.

use alloc::vec::Vec;
use core::cell::{Cell, UnsafeCell};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crossbeam_utils::CachePadded;

use super::width::{Wide, Width};
use crate::array::Array;
use crate::expect;
use crate::handle::Handle;
use crate::ring::{self, Ring};
use crate::storage::{Gate, Storage};
use crate::sync::{fence, ContestedU64, Ordering};
use crate::traits::queue_shape;
use crate::turnstile::{Turnstile, Visit};
use crate::visitors::{Visited, Visiting, Visitors};
use crate::{CapacityError, PushError, Steal};

const HEAD_BITS: u32 = 27;
const COUNT_BITS: u32 = 27;

/// The most slots, one of which is spare, so that a count fits its field. Indices are counted modulo at least as many.
const LIMIT: usize = 1 << COUNT_BITS;

const ONE_TASK: u64 = 1 << HEAD_BITS;
const HEAD: u64 = (1 << HEAD_BITS) - 1;

/// The index of the oldest task.
#[inline(always)]
fn head(anchor: u64) -> usize {
    (anchor & HEAD) as usize
}

/// How many tasks an anchor counts.
#[inline(always)]
fn count(anchor: u64) -> usize {
    (anchor >> HEAD_BITS & ((1 << COUNT_BITS) - 1)) as usize
}

/// The index behind the youngest task, in its low 27 bits. An array's mask drops the rest.
#[inline(always)]
fn tail(anchor: u64) -> usize {
    anchor.wrapping_add(anchor >> HEAD_BITS) as usize
}

/// The lowest bit of the tag, which is in the highest bits and wraps by falling off.
#[inline(always)]
fn one_tag<W: Width>() -> u64 {
    match W::DOUBLE_ENDED_TAG_BITS {
        0 => 0,
        bits => 1 << (u64::BITS - bits),
    }
}

/// The anchor after a push: one more task, and the next tag.
#[inline(always)]
fn pushed<W: Width>(anchor: u64) -> u64 {
    anchor.wrapping_add(ONE_TASK + one_tag::<W>())
}

/// Whether a quarter of a round of tags begins with this anchor.
#[inline(always)]
fn is_watch<W: Width>(anchor: u64) -> bool {
    let quarter = one_tag::<W>() << (W::DOUBLE_ENDED_TAG_BITS.saturating_sub(2));
    W::WATCHED && anchor & (quarter - one_tag::<W>()) == 0
}

/// The anchor after a pop: one task fewer, and the same tag.
#[inline(always)]
fn popped(anchor: u64) -> u64 {
    anchor - ONE_TASK
}

/// The anchor after a steal: one task fewer, from the front, and the same tag.
#[inline(always)]
fn stolen(anchor: u64) -> u64 {
    let head = anchor.wrapping_add(1) & HEAD;
    (anchor & !HEAD | head) - ONE_TASK
}

impl ring::Anchor for ContestedU64 {
    fn successor(&self) -> Self {
        // Relaxed: the owner continues from what it reads here itself.
        ContestedU64::new(self.load(Ordering::Relaxed))
    }
}

/// A visit that was under way when the owner last looked.
type Seen = (NonNull<Turnstile>, usize);

struct Shared<T> {
    storage: CachePadded<Storage<T, ContestedU64, Visitors>>,
    /// Only the owner touches it.
    seen: UnsafeCell<Vec<Seen>>,
}

/// The owner's side: pushes, and pops the youngest task.
pub struct Owner<T: Copy, W: Width = Wide> {
    shared: Handle<Shared<T>>,
    /// The anchor as the owner last stored or loaded it.
    anchor: Cell<u64>,
    ring: Cell<Ring<T, ContestedU64>>,
    kind: PhantomData<W>,
}

/// A thief's side: steals the oldest task.
pub struct Thief<T: Copy, W: Width = Wide> {
    shared: Visiting<Shared<T>>,
    kind: PhantomData<W>,
}

/// A new queue.
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

/// A new queue with room for `capacity` tasks before it first grows; 0 is as good as 1.
///
/// # Errors
///
/// If there is no memory for so many, or they are 2^27 or more.
pub fn with_capacity<T: Copy + Send>(capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    starting_at(0, capacity)
}

/// A new queue whose first task has this index, modulo 2^27.
#[doc(hidden)]
pub fn starting_at<T: Copy + Send>(index: usize, capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    make(index, capacity, LIMIT)
}

/// A new queue that is refused more than `limit` slots, a power of two.
#[doc(hidden)]
pub fn limited_to<T: Copy + Send>(limit: usize, capacity: usize) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    make(0, capacity, limit)
}

fn make<T: Copy + Send, W: Width>(
    index: usize,
    capacity: usize,
    limit: usize,
) -> Result<(Owner<T, W>, Thief<T, W>), CapacityError> {
    let anchor = index as u64 & HEAD;
    let storage = Storage::new(0, capacity, limit, ContestedU64::new(anchor), Visitors::new())?;
    let ring = Cell::new(Ring::new(&storage, 0));
    let shared = Handle::new(Shared { storage: CachePadded::new(storage), seen: UnsafeCell::new(Vec::new()) });
    let thief = Thief { shared: Visiting::new(shared.clone()), kind: PhantomData };
    Ok((Owner { shared, anchor: Cell::new(anchor), ring, kind: PhantomData }, thief))
}

impl<T: Copy, W: Width> Owner<T, W> {
    /// Adds a task, or gives it back if the queue holds 2^27 - 1 already or there is no memory left to grow.
    #[inline]
    pub fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        // Acquire: pairs with the thieves' CAS; they have read the slots that they have emptied.
        let mut anchor = expect::word(self.ring.get().anchor().load(Ordering::Acquire), self.anchor.get());
        if count(anchor) == self.ring.get().mask() || is_watch::<W>(pushed::<W>(anchor)) {
            match self.shared.look_after(self.ring.get(), anchor, is_watch::<W>(pushed::<W>(anchor))) {
                Ok(ring) => self.ring.set(ring),
                Err(cause) => return Err(PushError::new(task, cause)),
            }
            // Acquire: as above.
            anchor = self.ring.get().anchor().load(Ordering::Acquire);
        }
        // Release: the anchor that a pop stored is seen by a thief that reads anything of this task (see the parent module).
        fence(Ordering::Release);
        self.ring.get().slot(tail(anchor)).write(task);
        let next = pushed::<W>(anchor);
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
            // Release: a thief may read the anchor from here, and then expects the slots that it counts to be written.
            self.ring.get().anchor().store(popped(anchor), Ordering::Release);
            // SAFETY: what the anchor counts was pushed, and tasks are `Copy`.
            return Some(unsafe { task.assume_init() });
        }
        let (task, anchor, ring) = self.shared.pop_near_empty(self.ring.get(), anchor);
        self.anchor.set(anchor);
        self.ring.set(ring);
        task
    }
}

impl<T: Copy, W: Width> Thief<T, W> {
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
        let mut visit = self.shared.enter();
        let array = self.shared.storage.current();
        visit.look_at(array.as_ptr().cast());
        // SAFETY: inside a visit, to the end of which the glimpse holds on.
        let word = unsafe { array.anchor() };
        // Acquire: pairs with the release in `try_push`; what the anchor counts is in its slots.
        let anchor = word.load(Ordering::Acquire);
        if count(anchor) == 0 {
            return Err(Steal::Empty);
        }
        // SAFETY: inside a visit.
        let task = unsafe { array.slot(head(anchor)) }.read();
        Ok(Glimpse { task, anchor, word, _visit: visit })
    }

    /// The second half: takes it, if the anchor is what it was.
    #[inline(always)]
    fn claim(&self, glimpse: Glimpse<'_, T>) -> Steal<T> {
        // Acquire: pairs with the release fence in `try_push` (see the parent module).
        fence(Ordering::Acquire);
        let next = stolen(glimpse.anchor);
        // AcqRel: the release half keeps the read of the slot before it, for the owner that reuses the slot; the acquire half passes on what
        // the anchor was stored with.
        match glimpse.word.compare_exchange(glimpse.anchor, next, Ordering::AcqRel, Ordering::Relaxed) {
            // SAFETY: the anchor says that no slot was written meanwhile, and tasks are `Copy`.
            Ok(_) => Steal::Success(unsafe { glimpse.task.assume_init() }),
            Err(_) => Steal::Retry,
        }
    }
}

/// What a thief saw.
struct Glimpse<'a, T> {
    task: MaybeUninit<T>,
    anchor: u64,
    word: &'a ContestedU64,
    _visit: Visit<'a>,
}

impl<T: Copy> Shared<T> {
    /// What a push does now and then: grows, and watches for thieves that tags could wrap around behind.
    #[cold]
    #[inline(never)]
    fn look_after(
        &self,
        ring: Ring<T, ContestedU64>,
        anchor: u64,
        watch: bool,
    ) -> Result<Ring<T, ContestedU64>, CapacityError> {
        let (head, tail) = (head(anchor), head(anchor) + count(anchor));
        if count(anchor) == ring.mask() {
            // A new array has a new anchor, so what was seen at the old one does not matter.
            return ring.make_room(&self.storage, head, tail);
        }
        if watch && self.is_somebody_held_up(ring.array()) {
            return ring.renew(&self.storage, head, tail);
        }
        Ok(ring)
    }

    /// Whether a thief has been in one steal, from this array, since the last call; remembers who is in one now.
    fn is_somebody_held_up(&self, array: Array<T, ContestedU64>) -> bool {
        // Pairs with the barriers in `Visiting::enter` and `look_at`: a thief whose visit or view is not seen below will see the anchors stored so far.
        fence(Ordering::SeqCst);
        // SAFETY: only the owner, who pushes, touches it.
        let seen = unsafe { &mut *self.seen.get() };
        let mut now = Vec::new();
        let mut held_up = false;
        self.storage.gate().turnstiles(&mut |turnstile| {
            let Some(visit) = turnstile.visit_under_way() else { return };
            let view = turnstile.view();
            let this: Seen = (NonNull::from(turnstile), visit);
            // Who has nothing in view has loaded no anchor yet, or needs none any more.
            held_up |= seen.contains(&this) && view == array.as_ptr().cast();
            now.push(this);
        });
        *seen = now;
        held_up
    }

    /// Pops from a queue in which few tasks are left, or none. Gives back the task, and the anchor and the view as they are now.
    #[cold]
    #[inline(never)]
    fn pop_near_empty(&self, ring: Ring<T, ContestedU64>, anchor: u64) -> (Option<T>, u64, Ring<T, ContestedU64>) {
        let (head, count) = (head(anchor), count(anchor));
        if count == 0 {
            return (None, anchor, ring.relieve(&self.storage, head, head));
        }
        let task = ring.slot(head + count - 1).read();
        // Release: as in `pop`.
        ring.anchor().store(popped(anchor), Ordering::Release);
        // SAFETY: what the anchor counts was pushed, and tasks are `Copy`.
        (Some(unsafe { task.assume_init() }), popped(anchor), ring.relieve(&self.storage, head, head + count - 1))
    }
}

impl<T> Visited for Shared<T> {
    fn visitors(&self) -> &Visitors {
        self.storage.gate()
    }
}

queue_shape!(
    "idempotent::double_ended", <T: Copy, W: Width>,
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
    use super::super::width::{Narrow, NarrowWatched, Untagged};
    use super::*;

    /// A thief looks; the owner pops the task and pushes others until `pushes` were pushed, one being in the queue again; the
    /// thief claims. Gives what the thief got, and what is left.
    fn stall_a_thief<W: Width>(pushes: usize) -> (Steal<usize>, Option<usize>) {
        let (owner, thief) = make::<usize, W>(0, 4, LIMIT).unwrap();
        owner.push(0);
        let glimpse = thief.look().ok().unwrap();
        for task in 1..=pushes {
            assert_eq!(owner.pop(), Some(task - 1));
            owner.push(task);
        }
        let stolen = thief.claim(glimpse);
        (stolen, owner.pop())
    }

    #[test]
    fn a_narrow_tag_that_wraps_unwatched_loses_a_task() {
        assert_eq!(stall_a_thief::<Narrow>(3), (Steal::Retry, Some(3)));
        // Four pushes bring a tag of two bits back: the thief gets the old task 0, and task 4 is gone.
        assert_eq!(stall_a_thief::<Narrow>(4), (Steal::Success(0), None));
    }

    #[test]
    fn without_a_tag_a_single_push_loses_a_task() {
        assert_eq!(stall_a_thief::<Untagged>(1), (Steal::Success(0), None));
    }

    #[test]
    fn a_watched_tag_loses_nothing_however_often_it_wraps() {
        for pushes in 1..=64 {
            let (_stolen, left) = stall_a_thief::<NarrowWatched>(pushes);
            assert_eq!(left, Some(pushes), "a thief was stalled for {pushes} pushes");
        }
        for pushes in [1023, 1024, 1025, 2048, 10_240, 1_000_000] {
            let (_stolen, left) = stall_a_thief::<Wide>(pushes);
            assert_eq!(left, Some(pushes), "a thief was stalled for {pushes} pushes");
        }
    }

    #[test]
    fn a_thief_that_is_held_up_costs_one_move_and_no_more() {
        let (owner, thief) = make::<usize, Wide>(0, 4, LIMIT).unwrap();
        owner.push(0);
        let glimpse = thief.look().ok().unwrap();
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
        drop(glimpse);
    }

    #[test]
    fn the_fields_of_an_anchor_do_not_spill() {
        let full = (u64::MAX >> 10) & !HEAD | HEAD;
        assert_eq!((head(full), count(full)), ((1 << 27) - 1, (1 << 27) - 1));
        assert_eq!(tail(full) & ((1 << 27) - 1), (head(full) + count(full)) & ((1 << 27) - 1));
        // A steal at the last index goes on at the first.
        assert_eq!((head(stolen(full)), count(stolen(full))), (0, (1 << 27) - 2));
        // The highest tag is followed by the first, and count and head stay as they are.
        let highest = (1023 << 54) | ONE_TASK | 5;
        assert_eq!(pushed::<Wide>(highest), (2 * ONE_TASK) | 5);
    }

    #[test]
    fn the_size_limit_is_refused_and_nothing_is_lost() {
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
