//! A queue for batches, exactly once: a push or a steal of a thousand tasks takes the time of one.
//!
//! Source: the promise of "A Lock-Free Work-Stealing Algorithm for Bulk Operations" (listings 1 to 4), though not its algorithm. One owner pushes batches and single tasks
//! and pops the youngest; one thief at a time steals a share of the oldest. A push costs the same whatever the size of the batch, a steal whatever the share, and what was stolen can be pushed elsewhere as it is. To be exact, both cost a
//! few nanoseconds for each piece of memory that the tasks lie in: a batch that was built with its size known is one piece, and short ones are put together. The queue grows without moving tasks.
//!
//! ```
//! use filch_queue::bulk;
//!
//! let (owner, mut thief) = bulk::new();
//! owner.push_batch((0..1000).collect());
//! owner.push(1000);
//! let helper = std::thread::spawn(move || {
//!     let half = thief.steal(0.5).expect("a half is a share");
//!     let (own, _) = bulk::new();
//!     own.push_batch(half);
//!     std::iter::from_fn(|| own.pop()).sum::<u64>()
//! });
//! let sum: u64 = std::iter::from_fn(|| owner.pop()).sum();
//! assert_eq!(sum + helper.join().unwrap(), (0..=1000).sum());
//! ```
//!
//! # What is different from the listings
//!
//! Listing 4 checks the size, then cuts the list, and between the two the owner may pop past the cut: both then own what is behind it. Its thief also walks links that the owner pops and frees meanwhile. No
//! order of its steps repairs that, since nothing that the thief writes shows it what the owner has done since. Here a steal is a claim by one CAS, on a word that every pop changes too, so
//! that a claim succeeds only if none of its tasks was popped; and tasks are not nodes of a list, so that nobody walks them. Pushes are free of read-modify-writes, where the listings have one; a pop has
//! one, as theirs.
//!
//! # Shared words
//!
//! A task has a position: its height in the stack. Positions and counts are of 32 bits and wrap.
//!
//! - `pushed`, P: how many tasks were ever pushed. Only the owner writes it, by a plain store, when the tasks are in their slots.
//! - `anchor`: how many were stolen, T, and how many the owner popped, O, in one word that is changed by CAS alone. A pop adds one to O, a steal of k tasks adds k to T.
//! - `ring`, `last`: the directory, which says in which slots of which segments the positions lie, and its youngest entry. Only the owner writes them.
//! - `first`: the directory's oldest entry. Only the thief writes it.
//!
//! The next free position, the bottom, is P - O; the oldest task is at the top, T; there are P - O - T tasks.
//!
//! # Invariant
//!
//! T <= P - O. The slots of the positions from T up to P - O hold tasks, the directory's entries from `first` to `last` cover them without gaps, and no position below T is written to again.
//!
//! A pop's CAS expects the T that the owner knows, which leaves at least one task, so that the position P - O - 1 is the owner's. A steal loads the anchor, then P, and its CAS expects that
//! anchor: if it succeeds, nothing was popped or stolen in between, P only grew, and the positions from T to T + k were in the queue, the oldest of it. That moment is when the steal takes effect, and k is the share of
//! what the queue held when P was loaded. The tasks are read after the CAS, when nobody else may touch them: plain memory, tasks of any type, no read that may turn out to be void.
//!
//! An empty queue is found empty by the owner without looking, for T only grows and cannot grow beyond the bottom; by a thief, when P is loaded and equals the T + O that it loaded before.
//!
//! # The directory
//!
//! Tasks lie in segments, each one allocation, which batches bring along; single tasks, and batches of up to 32 tasks and 4 KiB, go into blocks of up to 4,096 slots that the owner makes, so that there is never a list of ones. One entry
//! of the directory stands for a run of slots. A thief searches the end of its claim among the entries by bisection, and copies the entries, not the tasks.
//!
//! A segment is shared by all the runs of it that are in queues and batches; each is a party, and the last one frees it. A thief that takes a part of an entry makes its run another party. Once its claim goes
//! beyond the entry, the entry's own party is the thief's. The owner takes an entry back when it has popped a position below it: then no thief was ever in it.
//!
//! # Progress and limits
//!
//! Lock-free: a CAS fails only because the other side's has succeeded, and the second try nearly always does. A push never fails or waits, but for memory. A [`SharedThief`] that finds another one at work says so.
//!
//! Fewer than 2^31 tasks at a time; a push beyond that is refused and gives the tasks back.
//!
//! A steal could be deceived only by an anchor that has come back to its old value: if between its load and its CAS the owner pops 2^32 tasks, or a multiple, and not one more. At 5 ns for a push and a
//! pop the thief would have to be suspended at that place for 20 seconds, and then wake up in a certain 5 ns.
//!
//! Memory: segments live as long as any run of theirs, and one from which all was stolen until a steal or a pop leaves it behind, or the queue ends: an empty queue may keep one segment; a block has at most 4,096 slots or 64 KiB, though never fewer than 16 slots. The owner keeps one spare block, and so crosses the edge of a block without the allocator. The
//! directory has 16 bytes for each run, and its rings are kept until the queue ends.
//!
//! Model-checked on bounded TSO: `crates/filch-model/src/models/bulk/queue.tso`. What is wrong with the listings is [told apart](published).

mod batch;
mod directory;
mod fraction;
mod owner;
#[cfg(doc)]
#[doc = include_str!("published.md")]
pub mod published {}
mod row;
mod segment;
mod shared;
mod thief;
mod words;

use core::cell::Cell;
use core::fmt;
use core::ptr;

use crate::handle::Handle;
use crate::sync::{has_flaw, Ordering, TaskCell};
use crate::{CapacityError, PushError};

use self::fraction::Fraction;
use self::owner::{Fill, Place};
use self::words::{Anchor, Words};

pub use self::batch::{Batch, IntoIter};
pub use self::fraction::FractionError;
pub use self::shared::{SharedThief, StealError};

/// The owner's side: pushes tasks and batches, and pops the youngest task.
pub struct Owner<T> {
    words: Handle<Words<T>>,
    /// The owner's own copy of how many were pushed, which nobody else writes.
    pushed: Cell<u32>,
    /// The anchor when the owner last knew it. Its count of popped tasks is right, and that of stolen tasks is right or too low.
    anchor: Cell<Anchor>,
    /// Where the owner is in the youngest entry of the directory: see [`Place`].
    slots: Cell<*const TaskCell<T>>,
    used: Cell<u32>,
    room: Cell<u32>,
}

/// The thief's side: steals a share of the oldest tasks.
///
/// There is one for each queue, and it is not `Clone`: the algorithm is for one stealer at a time. It may move from thread to thread, and a master that feeds many workers holds
/// one for each of their queues. [`share`](Thief::share) turns it into one for many threads.
///
/// ```compile_fail
/// let (_owner, thief) = filch_queue::bulk::new::<u32>();
/// let another = thief.clone();
/// ```
pub struct Thief<T> {
    words: Handle<Words<T>>,
}

/// A new queue.
///
/// ```
/// use filch_queue::bulk;
///
/// let (owner, mut thief) = bulk::new();
/// owner.push_batch((1..=10).collect());
/// owner.push(11);
/// assert_eq!(owner.pop(), Some(11));
/// let stolen = thief.steal(0.25).unwrap();
/// assert!(stolen.into_iter().eq([1, 2, 3]));
/// assert_eq!(thief.steal_one(), Some(4));
/// ```
///
/// # Panics
///
/// If there is no memory.
pub fn new<T: Send>() -> (Owner<T>, Thief<T>) {
    starting_at(0, 0).unwrap_or_else(|error| panic!("{error}"))
}

/// A new queue with counts as if so many tasks had been stolen and popped.
#[doc(hidden)]
pub fn starting_at<T: Send>(stolen: u32, popped: u32) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    let words = Words::new(stolen, popped)?;
    // Relaxed: nobody else has it yet.
    let anchor = Anchor(words.anchor.load(Ordering::Relaxed));
    let words = Handle::new(words);
    let thief = Thief { words: words.clone() };
    let pushed = Cell::new(stolen.wrapping_add(popped));
    let (slots, used, room) = (Cell::new(ptr::null()), Cell::new(0), Cell::new(0));
    Ok((Owner { words, pushed, anchor: Cell::new(anchor), slots, used, room }, thief))
}

impl<T> Owner<T> {
    /// Adds a task.
    ///
    /// # Panics
    ///
    /// If the queue is at its size limit or there is no memory left to grow. [`try_push`](Owner::try_push) gives the task back instead.
    #[inline]
    pub fn push(&self, task: T) {
        if let Err(error) = self.try_push(task) {
            crate::error::refuse(error);
        }
    }

    /// Adds a task, or gives it back if the queue is at its size limit or there is no memory left to grow.
    #[inline]
    pub fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        if self.used.get() == self.room.get() {
            // SAFETY: the owner asks.
            match unsafe { self.words.make_room(self.fill(), self.anchor.get(), self.pushed.get()) } {
                Ok(place) => self.go_to(place),
                Err(cause) => return Err(PushError::new(task, cause)),
            }
        }
        let used = self.used.get();
        // SAFETY: there is room, and slots from the bottom on are the owner's.
        unsafe { (*self.slots.get().add(used as usize)).write(task) };
        self.used.set(used + 1);
        self.publish(1);
        Ok(())
    }

    /// Adds the tasks of a batch, in one operation: the youngest of the batch is the youngest of the queue.
    ///
    /// The tasks stay where they are, unless they are so few that moving them is cheaper; the batch may have been stolen from another queue.
    ///
    /// # Panics
    ///
    /// If the queue is at its size limit or there is no memory left to grow. [`try_push_batch`](Owner::try_push_batch) gives the batch back instead.
    #[inline]
    pub fn push_batch(&self, batch: Batch<T>) {
        if let Err(error) = self.try_push_batch(batch) {
            crate::error::refuse(error);
        }
    }

    /// Adds the tasks of a batch, in one operation, or gives all of them back if the queue is at its size limit or there is no memory left to grow.
    #[inline]
    pub fn try_push_batch(&self, batch: Batch<T>) -> Result<(), PushError<Batch<T>>> {
        let anchor = self.anchor.get();
        // SAFETY: the owner asks.
        let count = match unsafe { self.words.admit(anchor, self.pushed.get(), &batch) } {
            Ok(count) => count,
            Err(cause) => return Err(PushError::new(batch, cause)),
        };
        let (older, youngest, limit) = batch.into_runs();
        let mut place = Place { slots: self.slots.get(), fill: self.fill() };
        let (mut bottom, top) = (anchor.bottom(self.pushed.get()), anchor.top());
        if !older.is_empty() {
            // SAFETY: the owner asks, and the batch was admitted.
            (place, bottom) = unsafe { self.words.put_all(place, bottom, older, top) };
        }
        if youngest.len() > 0 {
            // SAFETY: as above.
            place = unsafe { self.words.put(place, bottom, youngest, limit, top) };
        }
        self.go_to(place);
        self.publish(count);
        Ok(())
    }

    #[inline(always)]
    fn fill(&self) -> Fill {
        Fill { used: self.used.get(), room: self.room.get() }
    }

    #[inline(always)]
    fn go_to(&self, place: Place<T>) {
        self.slots.set(place.slots);
        self.used.set(place.fill.used);
        self.room.set(place.fill.room);
    }

    /// So many more tasks are in their slots.
    #[inline(always)]
    fn publish(&self, count: u32) {
        let pushed = self.pushed.get().wrapping_add(count);
        self.pushed.set(pushed);
        // Release: a thief that sees the count sees the tasks, and the directory that leads to them.
        self.words.young.pushed.store(pushed, Ordering::Release);
    }

    /// Takes the youngest task.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let pushed = self.pushed.get();
        let mut anchor = self.anchor.get();
        loop {
            if anchor.length(pushed) == 0 {
                self.anchor.set(anchor);
                return None;
            }
            let popped = anchor.after_pop();
            if has_flaw("bulk: a pop by a plain store") {
                self.words.anchor.store(popped.0, Ordering::Release);
                break;
            }
            // Release: a thief that sees the pop sees the push of what was popped, and so counts at least as many pushed tasks as taken ones. Relaxed, if a thief was faster: the owner reads nothing that it wrote.
            match self.words.anchor.compare_exchange(anchor.0, popped.0, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => anchor = Anchor(now),
            }
        }
        self.anchor.set(anchor.after_pop());
        if self.used.get() == 0 {
            // SAFETY: the owner asks, and has just taken the position below the entry.
            self.go_to(unsafe { self.words.step_back(self.room.get(), anchor.bottom(pushed).wrapping_sub(1)) });
        }
        let used = self.used.get() - 1;
        self.used.set(used);
        // SAFETY: the position was pushed, and the CAS has made it the owner's.
        Some(unsafe { (*self.slots.get().add(used as usize)).take() })
    }

    /// How many tasks there were a moment ago.
    #[inline]
    pub fn len(&self) -> usize {
        // Relaxed: a hint. The owner's own part of it is exact.
        Anchor(self.words.anchor.load(Ordering::Relaxed)).length(self.pushed.get()) as usize
    }

    /// Whether there was no task a moment ago.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Thief<T> {
    /// Takes this share of the tasks, the oldest, in one operation; rounded up, so that there is at least one unless the queue is empty or the share is 0.
    ///
    /// The tasks stay where they are, and can be pushed into another queue as they are.
    ///
    /// # Errors
    ///
    /// If the share is not a number from 0 to 1. Nothing is stolen then.
    ///
    /// ```
    /// let (owner, mut thief) = filch_queue::bulk::new();
    /// owner.push_batch((0..10).collect());
    /// assert!(thief.steal(0.3).unwrap().into_iter().eq(0..3));
    /// assert!(thief.steal(1.0).unwrap().into_iter().eq(3..10));
    /// assert!(thief.steal(0.5).unwrap().is_empty());
    /// assert_eq!(thief.steal(1.5).unwrap_err().to_string(), "a share of 1.5 of the tasks cannot be stolen; give a number from 0 to 1");
    /// ```
    #[inline]
    pub fn steal(&mut self, fraction: f64) -> Result<Batch<T>, FractionError> {
        let fraction = Fraction::new(fraction)?;
        // SAFETY: the only thief, and it is borrowed for as long as this takes.
        Ok(unsafe { steal(&self.words, fraction) })
    }

    /// Takes the oldest task.
    #[inline]
    pub fn steal_one(&mut self) -> Option<T> {
        // SAFETY: as above.
        unsafe { steal_one(&self.words) }
    }

    /// How many tasks there were a moment ago.
    #[inline]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there was no task a moment ago.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A thief's side that several threads may hold, of which one at a time steals.
    pub fn share(self) -> SharedThief<T> {
        SharedThief::new(self.words)
    }
}

/// # Safety
///
/// Nobody else steals meanwhile.
#[inline]
unsafe fn steal<T>(words: &Words<T>, fraction: Fraction) -> Batch<T> {
    if fraction.is_nothing() {
        return Batch::new();
    }
    // SAFETY: promised.
    match unsafe { words.claim(|length| fraction.of(length)) } {
        // SAFETY: the claim was just made.
        Some(claim) => unsafe { words.fetch(claim) },
        None => Batch::new(),
    }
}

/// # Safety
///
/// Nobody else steals meanwhile.
#[inline]
unsafe fn steal_one<T>(words: &Words<T>) -> Option<T> {
    // SAFETY: promised, and the claim was just made.
    unsafe { words.claim(|_| 1).map(|claim| words.fetch_one(claim)) }
}

impl<T> crate::Owner for Owner<T> {
    type Task = T;

    #[inline]
    fn push(&self, task: T) {
        Owner::push(self, task)
    }

    #[inline]
    fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        Owner::try_push(self, task)
    }

    #[inline]
    fn pop(&self) -> Option<T> {
        Owner::pop(self)
    }

    #[inline]
    fn len(&self) -> usize {
        Owner::len(self)
    }
}

impl<T> crate::AtLeastOnce for Owner<T> {}
// SAFETY: see the invariant.
unsafe impl<T> crate::ExactlyOnce for Owner<T> {}

impl<T> fmt::Debug for Owner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("bulk::Owner").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Thief<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("bulk::Thief").field("len", &self.len()).finish_non_exhaustive()
    }
}

// SAFETY: tasks move between threads; all else that the two sides share is atomic, or belongs to the owner, of which there is one and which is not `Sync`.
unsafe impl<T: Send> Send for Owner<T> {}
// SAFETY: as above; there is one thief.
unsafe impl<T: Send> Send for Thief<T> {}
// SAFETY: a shared reference shows only how many tasks there are.
unsafe impl<T: Send> Sync for Thief<T> {}
