//! A queue for batches, exactly once.
//!
//! A push or a steal of a thousand tasks takes as long as that of a single task.
//!
//! Source: the interface of "A Lock-Free Work-Stealing Algorithm for Bulk Operations" (listings 1
//! to 4), but not its algorithm. The owner pushes batches and single tasks, and pops the youngest
//! task. Any number of thieves steal at the same time, each a share of the oldest tasks. The cost
//! of a push does not depend on the size of the batch, and the cost of a steal does not depend on
//! the share. A stolen batch can be pushed into another queue as it is. To be exact, a push and a
//! steal cost a few nanoseconds for each piece of memory that holds the tasks. A batch that was
//! built with a known size is a single piece, and short batches are put together. The queue grows
//! without moving tasks.
//!
//! ```
//! use filch_queue::bulk;
//!
//! let (owner, thief) = bulk::new();
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
//! # Differences from the listings
//!
//! Listing 4 checks the size, then cuts the list. Between the two the owner may pop past the cut,
//! and then both own the tasks behind it. Its thief also follows links that the owner pops and
//! frees meanwhile. No order of its steps repairs this, since no write of the thief shows it what
//! the owner has done since. In this queue a steal is a claim by a single CAS, on a word that every
//! pop and every other steal change too. So a claim succeeds only if none of its tasks was taken.
//! Tasks are not nodes of a list, so there are no links to follow. Pushes have no read-modify-write,
//! where the listings have one. A pop has one, as in the listings. The listings have one stealer,
//! and name several as future work.
//!
//! # Shared words
//!
//! A task has a position: its height in the stack. Positions and counts have 32 bits and wrap.
//!
//! - `pushed`, P: the number of tasks pushed so far. Only the owner writes it, by a plain store,
//!   after the tasks are in their slots. (It has 64 bits; positions take the lower half.)
//! - `anchor`: the number of stolen tasks, T, and the number of tasks popped by the owner, O, in a
//!   single word. It is changed only by CAS. A pop adds 1 to O, a steal of k tasks adds k to T.
//! - `ring`, `last`: the directory, which maps positions to slots of segments, and its youngest
//!   entry. In the ring's header is `oldest`: the oldest entry whose cell was not reused. Only the
//!   owner writes them.
//! - `hint`: where thieves begin to search the directory. Any value is safe.
//!
//! The next free position, the bottom, is P - O. The oldest task is at the top, T. The queue holds
//! P - O - T tasks.
//!
//! # Invariant
//!
//! T <= P - O. The slots of the positions from T up to P - O hold tasks. The directory's entries
//! from `oldest` to `last` cover them without gaps. No position below T is written again.
//!
//! A pop's CAS expects the T that the owner knows. With that T there is at least one task, so
//! position P - O - 1 belongs to the owner.
//!
//! A steal has three steps. It looks: it loads the anchor, then P, then the directory's words. It
//! finds the oldest k tasks in the directory, and notes their segments and slots. It loads anchor
//! and P again, and claims the tasks by a CAS that expects this anchor. Take first the case that it
//! is the anchor of the look. If the CAS succeeds, no task was popped or stolen since the look, and
//! P only grew. So the positions from T to T + k were in the queue all the time and were its oldest.
//! The steal takes effect at that moment, and k is the share of the tasks in the queue when P was
//! loaded. The thief reads the tasks after the CAS, when no other thread may access them. So slots
//! are plain memory, tasks can be of any type, and no read has to be discarded.
//!
//! What the thief noted is right, too. The owner writes three kinds of cells:
//!
//! - entries at the bottom or above, when it pushes. The thief may read one: it loads `last` after P,
//!   and may have seen a pop and not yet that the popped entry is gone. Such an entry starts beyond
//!   the claim, and so does every entry of a larger ring that is not in use.
//! - an entry that replaces one without tasks. That one is not in the claim.
//! - reused cells of entries below the top. The owner raises `oldest` before it reuses them. The
//!   thief checks that `oldest` is the same after its reads. The cells of the claim itself are not
//!   reused as long as T does not change.
//!
//! Entries are compared by their starts. All entries after `oldest` are less than 2^31 positions
//! apart, since the owner raises `oldest` before it opens an entry that would end further away.
//!
//! If T has changed since the look, another thief has succeeded. If only O has changed, the owner
//! has popped, and perhaps pushed. Each pop takes at most one of the tasks that the look counted, so
//! the positions below P - O are still as noted, with the P of the look and the O of now. The thief
//! claims no more than those. It looks again only if none is left, or if the owner has pushed more
//! than 2^30 tasks.
//!
//! The owner finds the queue empty by the T that it knows: T only grows and cannot grow beyond the
//! bottom. It loads T once more, in case that 2^32 tasks were pushed since it learned that T. A thief
//! finds the queue empty if the loaded P equals the T + O that it loaded before, and the anchor has
//! not changed.
//!
//! # The directory
//!
//! Tasks are stored in segments. Each segment is a single allocation, which a batch brings along.
//! Single tasks, and batches of up to 32 tasks and 4 KiB, go into blocks of up to 4,096 slots that
//! the owner allocates, so that the directory never becomes a list of single tasks. An entry of the
//! directory stands for a run of slots. A thief finds the end of its claim among the entries by
//! bisection, and copies the entries, not the tasks.
//!
//! All runs of a segment, in queues and in batches, share the segment. It counts the slots that are
//! still held, and each slot has one holder. A claim makes the thief the holder of the slots of its
//! tasks: nothing is counted when a run is divided, and no thief depends on what other thieves do
//! with theirs. An entry below the top holds nothing.
//!
//! # Progress and limits
//!
//! Lock-free: a CAS fails only if another CAS has succeeded. A push never waits, and below the size
//! limit it fails only for lack of memory. [`Thief::try_steal`] returns without tasks only if the
//! queue is empty or another thief has succeeded during the call.
//!
//! The queue holds fewer than 2^31 tasks at a time. A push beyond that fails and returns the tasks.
//!
//! A steal could be wrong only if the anchor returns to its old value between its last load and the
//! CAS right after it: if meanwhile the owner pops 2^32 tasks, or other thieves steal so many, or a
//! multiple, and not one more. At 5 ns for a push and a pop the thief would have to be suspended at
//! that place for 20 seconds, and then resume within a certain 5 ns. If other thieves steal batches
//! of a million tasks each, it is 4,096 steals, a tenth of a millisecond; then it has to resume
//! between two certain steals. From the look's load of P to that last load the counts cannot wrap
//! unnoticed: P has 64 bits, and the thief looks again if the owner has pushed more than 2^30 tasks.
//! If they wrap before that load of P, the claim is still of tasks that P counted and that were not
//! taken. A thief may take the queue for empty if the anchor returns to its old value while it
//! looks.
//!
//! Memory: a segment is freed when its last task is taken out of a batch or dropped, or when the
//! owner leaves its free slots. So an empty queue keeps at most its youngest segment and a spare
//! block. A block has at most 4,096 slots or 64 KiB, but never fewer than 16 slots. The directory
//! has 16 bytes for each run. Its rings are kept until the queue is dropped.
//!
//! Model-checked on bounded TSO: `crates/filch-model/src/models/bulk/queue.tso`. The errors of the
//! listings are described [separately](published).

mod batch;
mod directory;
mod fraction;
mod owner;
#[cfg(doc)]
#[doc = include_str!("published.md")]
pub mod published {}
mod row;
mod segment;
mod thief;
mod traits;
mod words;

use core::cell::Cell;
use core::ptr;

use crate::handle::Handle;
use crate::sync::{has_flaw, Ordering, TaskCell};
use crate::{CapacityError, PushError, Steal};

use self::fraction::Fraction;
use self::owner::{Fill, Place};
use self::words::{Anchor, Words};

pub use self::batch::{Batch, IntoIter};
pub use self::fraction::FractionError;

/// The owner's side: pushes tasks and batches, and pops the youngest task.
pub struct Owner<T> {
    words: Handle<Words<T>>,
    /// The owner's copy of the number of pushed tasks. Only the owner writes that number.
    pushed: Cell<u64>,
    /// The anchor as the owner last saw it.
    ///
    /// Its count of popped tasks is exact. Its count of stolen tasks is exact or too low.
    anchor: Cell<Anchor>,
    /// The owner's place in the youngest entry of the directory: see [`Place`].
    slots: Cell<*const TaskCell<T>>,
    used: Cell<u32>,
    room: Cell<u32>,
}

/// The thief's side: steals a share of the oldest tasks.
///
/// Clones, and threads that share a thief, steal from the same queue at the same time. No thief
/// waits for another.
pub struct Thief<T> {
    words: Handle<Words<T>>,
}

/// Creates a queue.
///
/// ```
/// use filch_queue::bulk;
///
/// let (owner, thief) = bulk::new();
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
/// If there is not enough memory.
pub fn new<T: Send>() -> (Owner<T>, Thief<T>) {
    starting_at(0, 0).unwrap_or_else(|error| panic!("{error}"))
}

/// Creates a queue with counts as if `stolen` and `popped` tasks had been taken.
#[doc(hidden)]
pub fn starting_at<T: Send>(stolen: u32, popped: u32) -> Result<(Owner<T>, Thief<T>), CapacityError> {
    let words = Words::new(stolen, popped)?;
    // Relaxed: no other thread has it yet.
    let anchor = Anchor(words.anchor.load(Ordering::Relaxed));
    let words = Handle::new(words);
    let thief = Thief { words: words.clone() };
    let pushed = Cell::new(u64::from(stolen.wrapping_add(popped)));
    let (slots, used, room) = (Cell::new(ptr::null()), Cell::new(0), Cell::new(0));
    Ok((Owner { words, pushed, anchor: Cell::new(anchor), slots, used, room }, thief))
}

impl<T> Owner<T> {
    /// Adds a task.
    ///
    /// # Panics
    ///
    /// If the queue is at its size limit or there is no memory left to grow.
    /// [`try_push`](Owner::try_push) returns the task instead.
    #[inline]
    pub fn push(&self, task: T) {
        if let Err(error) = self.try_push(task) {
            crate::error::panic_with(error);
        }
    }

    /// Adds a task, or returns it in an error if it cannot be added.
    ///
    /// This happens if the queue is at its size limit or there is no memory left to grow.
    #[inline]
    pub fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        if self.used.get() == self.room.get() {
            // SAFETY: the caller is the owner.
            match unsafe { self.words.make_room(self.used.get(), self.anchor.get(), self.pushed.get()) } {
                Ok(place) => self.set_place(place),
                Err(cause) => return Err(PushError::new(task, cause)),
            }
        }
        let used = self.used.get();
        // SAFETY: there is room, and the slots from the bottom on belong to the owner.
        unsafe { (*self.slots.get().add(used as usize)).write(task) };
        self.used.set(used + 1);
        self.publish(1);
        Ok(())
    }

    /// Adds the tasks of a batch, in a single operation.
    ///
    /// The youngest task of the batch becomes the youngest task of the queue.
    ///
    /// The tasks stay in place, unless they are so few that moving them is cheaper. The batch may
    /// have been stolen from another queue.
    ///
    /// # Panics
    ///
    /// If the queue is at its size limit or there is no memory left to grow.
    /// [`try_push_batch`](Owner::try_push_batch) returns the batch instead.
    #[inline]
    pub fn push_batch(&self, batch: Batch<T>) {
        if let Err(error) = self.try_push_batch(batch) {
            crate::error::panic_with(error);
        }
    }

    /// Adds the tasks of a batch, in a single operation, or returns all of them.
    ///
    /// It returns them if the queue is at its size limit or there is no memory left to grow.
    #[inline]
    pub fn try_push_batch(&self, batch: Batch<T>) -> Result<(), PushError<Batch<T>>> {
        let anchor = self.anchor.get();
        // SAFETY: the caller is the owner.
        let count = match unsafe { self.words.reserve_for_batch(anchor, self.pushed.get(), &batch) } {
            Ok(count) => count,
            Err(cause) => return Err(PushError::new(batch, cause)),
        };
        let (older, youngest) = batch.into_runs();
        let fill = Fill { used: self.used.get(), room: self.room.get() };
        let mut place = Place { slots: self.slots.get(), fill };
        let mut bottom = anchor.bottom(self.pushed.get());
        if !older.is_empty() {
            // SAFETY: the caller is the owner, and room for the batch is reserved.
            (place, bottom) = unsafe { self.words.put_all(place, bottom, older) };
        }
        if youngest.len() > 0 {
            // SAFETY: as above.
            place = unsafe { self.words.put(place, bottom, youngest) };
        }
        self.set_place(place);
        self.publish(count);
        Ok(())
    }

    #[inline(always)]
    fn set_place(&self, place: Place<T>) {
        self.slots.set(place.slots);
        self.used.set(place.fill.used);
        self.room.set(place.fill.room);
    }

    /// Publishes that `count` more tasks are in their slots.
    #[inline(always)]
    fn publish(&self, count: u32) {
        let pushed = self.pushed.get().wrapping_add(u64::from(count));
        self.pushed.set(pushed);
        // Release: a thief that sees the count sees the tasks, and the directory that leads to
        // them.
        self.words.owner.pushed.store(pushed, Ordering::Release);
    }

    /// Takes the youngest task.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let pushed = self.pushed.get();
        let mut anchor = self.anchor.get();
        loop {
            if anchor.length(pushed) == 0 {
                // Relaxed: nothing is read that another thread wrote.
                let now = Anchor(self.words.anchor.load(Ordering::Relaxed));
                self.anchor.set(now);
                if now == anchor {
                    return None;
                }
                // The bottom is 2^32 or more beyond the top that the owner knew.
                anchor = now;
                continue;
            }
            let popped = anchor.after_pop();
            if has_flaw("bulk: a pop by a plain store") {
                self.words.anchor.store(popped.0, Ordering::Release);
                break;
            }
            // Release: a thief that sees the pop sees the push of the popped task. So it counts at
            // least as many pushed tasks as taken tasks. Relaxed, if a thief was faster: the owner
            // reads no data that the thief wrote.
            match self.words.anchor.compare_exchange(anchor.0, popped.0, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => anchor = Anchor(now),
            }
        }
        self.anchor.set(anchor.after_pop());
        if self.used.get() == 0 {
            // SAFETY: the caller is the owner, and has just taken the position below the entry.
            self.set_place(unsafe { self.words.step_back(anchor.bottom(pushed).wrapping_sub(1)) });
        }
        let used = self.used.get() - 1;
        self.used.set(used);
        // SAFETY: the position was pushed, and by the CAS it belongs to the owner.
        Some(unsafe { (*self.slots.get().add(used as usize)).take() })
    }

    /// Returns the number of tasks in the queue a moment ago.
    #[inline]
    pub fn len(&self) -> usize {
        // Relaxed: a hint. The owner's own part of it is exact.
        Anchor(self.words.anchor.load(Ordering::Relaxed)).length(self.pushed.get()) as usize
    }

    /// Returns whether the queue was empty a moment ago.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Thief<T> {
    /// Takes this share of the tasks, the oldest, in a single operation.
    ///
    /// The number of tasks is rounded up: it is at least 1 unless the queue is empty or the share
    /// is 0. It may be smaller if the owner pops meanwhile.
    ///
    /// The tasks stay in place. The batch can be pushed into another queue as it is.
    ///
    /// If another thief is faster, it tries again.
    ///
    /// # Errors
    ///
    /// If the share is not a number from 0 to 1. No task is stolen then.
    ///
    /// ```
    /// let (owner, thief) = filch_queue::bulk::new();
    /// owner.push_batch((0..10).collect());
    /// assert!(thief.steal(0.3).unwrap().into_iter().eq(0..3));
    /// assert!(thief.steal(1.0).unwrap().into_iter().eq(3..10));
    /// assert!(thief.steal(0.5).unwrap().is_empty());
    /// assert_eq!(thief.steal(1.5).unwrap_err().to_string(), "a share of 1.5 of the tasks cannot be stolen; give a number from 0 to 1");
    /// ```
    #[inline]
    pub fn steal(&self, fraction: f64) -> Result<Batch<T>, FractionError> {
        loop {
            match self.try_steal(fraction)? {
                Steal::Success(batch) => return Ok(batch),
                Steal::Empty | Steal::Abort => return Ok(Batch::new()),
                Steal::Retry => core::hint::spin_loop(),
            }
        }
    }

    /// Tries once to take this share of the tasks; see [`steal`](Thief::steal).
    ///
    /// It returns [`Retry`](Steal::Retry) only if another thief has stolen tasks during the call. A
    /// share of 0 is an empty batch.
    ///
    /// # Errors
    ///
    /// As for [`steal`](Thief::steal).
    ///
    /// ```
    /// use filch_queue::{bulk, Steal};
    ///
    /// let (owner, thief) = bulk::new();
    /// owner.push_batch((0..10).collect());
    /// let Ok(Steal::Success(half)) = thief.try_steal(0.5) else { panic!("no other thief steals") };
    /// assert_eq!(half.len(), 5);
    /// ```
    #[inline]
    pub fn try_steal(&self, fraction: f64) -> Result<Steal<Batch<T>>, FractionError> {
        let fraction = Fraction::new(fraction)?;
        if fraction.is_zero() {
            return Ok(Steal::Success(Batch::new()));
        }
        Ok(self.words.steal(|length| fraction.of(length)))
    }

    /// Takes the oldest task. If another thief is faster, it tries again.
    #[inline]
    pub fn steal_one(&self) -> Option<T> {
        loop {
            match self.words.steal_one() {
                Steal::Success(task) => return Some(task),
                Steal::Empty | Steal::Abort => return None,
                Steal::Retry => core::hint::spin_loop(),
            }
        }
    }

    /// Returns the number of tasks in the queue a moment ago.
    #[inline]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns whether the queue was empty a moment ago.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
