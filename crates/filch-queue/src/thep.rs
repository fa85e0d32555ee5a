//! THEP: FF-THE whose owner echoes the thief, so that no steal need abort.
//!
//! Exactly once, given delta. A thief may wait for the owner.
//!
//! Source: figure 5 of the fence-free paper.
//!
//! # Shared words
//!
//! - head: the index of the oldest task (its low 32 bits) and a counter of steals (32 bits), in a
//!   single word. Only a thief that holds the lock writes it.
//! - tail: index of the first free slot. Only the owner writes it.
//! - echo: the counter that the owner saw at its last pop, or none. Only the owner writes it.
//! - a lock: thieves always take it, the owner takes it only in a conflict.
//! - the array in use.
//!
//! # Invariant
//!
//! If the tail is more than delta away, the invariant is that of [`ff_the`](crate::ff_the).
//! Otherwise the thief, which has announced index i with a new counter, waits until the echo is
//! that counter. The owner stores the tail, loads the head, and stores the echo, in this order. So
//! the tail that the thief loads after the echo was stored by a pop that saw the announcement, or
//! later. That tail is exact for index i, and the thief decides as in [`the`](crate::the). This
//! part needs no bound. The thief also stops waiting if the tail says that the queue is empty or
//! has grown past delta, or if the owner is dropped.
//!
//! The store of the echo is the first of the x extra stores of a pop: it goes to another cache line
//! than the tail.
//!
//! # One word or two
//!
//! The paper notes that the counter can be a word of its own, for one more load in each pop. The
//! order of the thief's stores then matters: head first, counter second. With the counter first,
//! the owner can echo it in two pops that both load the old head, and the thief takes the task of
//! the second, whose tail is still hidden. The owner may load the two words in either order: the
//! tail of the pop that echoes is visible with the echo, and later pops see the new head. This
//! queue keeps both in one word, which needs no such argument and saves the load. The models
//! `thep/separate-counter`, `thep/separate-counter-loaded-last` (both hold) and
//! `thep/separate-counter-stored-first` (a task is extracted twice) show this.
//!
//! # Widths
//!
//! Indices are compared modulo 2^32, so a queue holds fewer than 2^30 tasks, and a push beyond that
//! fails. The counter wraps after 2^32 attempts to steal. A thief could mistake an echo that old
//! for a new echo only if the owner had not popped since. So the thief skips a counter that equals
//! the echo that it sees. It does not see an echo that is still in the owner's store buffer, but no
//! store stays there for 2^32 steals.
//!
//! # Progress
//!
//! **A thief that finds at most delta tasks waits, holding the lock, until the owner pops, drains
//! the queue, fills it or is dropped.** So this queue is only for owners that keep popping. An
//! owner inside a long task keeps such a thief, and all thieves behind it, waiting. The owner waits
//! for the lock only if a thief wants its last task. Such a thief stops waiting when it sees the
//! lowered tail. For other owners there is [`Thief::steal_or_abort`]: it withdraws after waiting
//! for a moment. If an owner is forgotten (`mem::forget`) with tasks in the queue, thieves wait
//! forever.
//!
//! # If delta is too small
//!
//! As in [`ff_the`](crate::ff_the): a queue made by a safe constructor may then return a task
//! twice, and loses none.
//!
//! # Linearizability
//!
//! This queue is not linearizable, for the same reason as [`the`](crate::the): a push returns while
//! its stores wait in the store buffer, and a steal that begins later returns [`Steal::Empty`]. A
//! fence at the end of push would make it linearizable to a deque (section 3.3 of the paper), with
//! pop as it is. Push has no such fence, because no task is lost without it: the owner pops what
//! thieves miss. The models `linearizability/thep` and `linearizability/thep-fenced-push` show
//! both.
//!
//! Why the laws of order do not demand a fence in pop: see [`bound`](crate::bound).
//!
//! # Platforms
//!
//! Only on x86-64 does the owner have no fence. On other CPUs, or with `--cfg filch_fenced`, the
//! owner keeps the fence and thieves never wait for it; see
//! [`FENCE_FREE`](crate::bound::FENCE_FREE).
//!
//! # Memory
//!
//! The same as in [`the`](crate::the).
//!
//! Model-checked on bounded TSO: `crates/filch-model/src/models/thep.tso`.

mod memory;
mod words;

use core::cell::Cell;
use core::marker::PhantomData;

use crossbeam_utils::CachePadded;

use crate::barrier;
use crate::bound::{lower_tail, Delta, HiddenPops, Spacer, Trust, Trusted, Untrusted};
use crate::handle::Handle;
use crate::ring::{self, Ring};
use crate::storage::Storage;
use crate::sync::{pause, AtomicU64, AtomicUsize, Ordering};
use crate::traits::queue_shape;
use crate::turnstile::Turnstile;
use crate::{CapacityError, PushError, Steal};
use words::{Head, Shared, NO_ECHO};

/// The maximum number of slots: differences of 32-bit indices need a sign.
const LIMIT: usize = 1 << 30;

/// The number of turns that `steal_or_abort` waits.
///
/// An owner that pops all the time answers in fewer.
const MAX_TURNS: u32 = 64;

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

/// A thief's side: steals the oldest task under a lock. It may wait for the owner.
pub struct Thief<T, B: Trust = Untrusted> {
    shared: Handle<Shared<T>>,
    kind: PhantomData<B>,
}

/// Creates an at-least-once queue, whether or not `delta` is right for this CPU.
///
/// ```
/// use filch_queue::bound::{Bound, Delta};
/// use filch_queue::thep;
///
/// let delta = Delta::new(Bound::GENEROUS, 1)?;
/// let (owner, thief) = thep::new(delta);
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
/// If memory does not suffice for `capacity` tasks, or `capacity` is 2^30 or more.
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
/// If memory does not suffice for `capacity` tasks, or `capacity` is 2^30 or more.
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
    let storage = Storage::new(index, capacity, LIMIT, (), Turnstile::new())?;
    let ring = Cell::new(Ring::new(&storage, index));
    let shared = Handle::new(Shared {
        head: CachePadded::new(AtomicU64::new(Head { counter: 0, index: index as u32 }.pack())),
        tail: CachePadded::new(AtomicUsize::new(index)),
        echo: CachePadded::new(AtomicU64::new(NO_ECHO)),
        storage: CachePadded::new(storage),
        hidden_pops: CachePadded::new(HiddenPops::new(delta)),
        spacer: Spacer::new(),
    });
    let thief = Thief { shared: shared.clone(), kind: PhantomData };
    let (tail, unsettled) = (Cell::new(index), Cell::new(false));
    Ok((Owner { shared, tail, unsettled, ring, kind: PhantomData }, thief))
}

impl<T, B: Trust> Owner<T, B> {
    /// Adds a task, or returns it in an error if it cannot be added.
    ///
    /// This happens if the queue already holds 2^30 - 1 tasks or there is no memory left to grow.
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
        let head = Head::unpack(self.shared.head.load(Ordering::Relaxed));
        if head.distance(tail) > self.ring.get().low_water() {
            // Release: a thief that sees the echo sees the tail that was stored before it.
            self.shared.echo.store(u64::from(head.counter), Ordering::Release);
            if self.shared.hidden_pops.extra_stores() > 1 {
                self.shared.spacer.store(self.shared.hidden_pops.extra_stores() - 1, tail);
            }
            self.tail.set(tail);
            if !B::TRUSTED {
                self.unsettled.set(true);
            }
            // SAFETY: the task was pushed here. A thief that tries to take it waits for an echo or
            // does not trust the tail. If the bound is untrusted, the thief may take a copy, since
            // the task is `Copy`.
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
    /// Takes the oldest task, and waits for other thieves and, if necessary, the owner.
    ///
    /// It waits for a thief that holds the lock. If at most delta tasks are left, it waits for the
    /// owner's next pop.
    #[inline]
    pub fn steal(&self) -> Steal<T> {
        self.steal_within(None)
    }

    /// Takes the oldest task, but aborts if the owner does not answer within a moment.
    #[inline]
    pub fn steal_or_abort(&self) -> Steal<T> {
        self.steal_within(Some(MAX_TURNS))
    }

    #[inline(always)]
    fn steal_within(&self, max_turns: Option<u32>) -> Steal<T> {
        if let Some(outcome) = self.shared.check_without_lock() {
            return outcome;
        }
        let _lock = self.shared.storage.turnstiles().enter();
        // Relaxed: only the holder of the lock writes the head.
        let head = Head::unpack(self.shared.head.load(Ordering::Relaxed));
        let announced = Head { counter: self.shared.new_counter(head), index: head.index.wrapping_add(1) };
        // Release: an owner that sees this head may reuse the slots before the one that is being
        // stolen. They have been read.
        self.shared.head.store(announced.pack(), Ordering::Release);
        // Pairs with the barrier in `pop`, if it has one, with `settle`, and with the barrier after
        // an array was replaced.
        barrier::full();
        let hidden = self.shared.hidden_pops.max::<B>();
        // Acquire: pairs with the release in `try_push`. Tasks below the tail are in their slots.
        let ahead = head.distance(self.shared.tail.load(Ordering::Acquire));
        let answer = if ahead > 0 && ahead as usize > hidden {
            Answer::Take
        } else {
            self.shared.wait_for_owner::<B>(head, announced, max_turns)
        };
        if let Answer::Take = answer {
            // SAFETY: under the lock the array stays allocated. The task was pushed, and the spare
            // slot keeps it from being overwritten. The owner does not pop it without the lock. If
            // the bound is untrusted, the owner may have a copy of it, and the task is `Copy`.
            return Steal::Success(unsafe {
                self.shared.storage.current().slot(head.index as usize).read().assume_init()
            });
        }
        let withdrawn = Head { counter: announced.counter, index: head.index };
        // Release: as above.
        self.shared.head.store(withdrawn.pack(), Ordering::Release);
        match answer {
            Answer::Unknown => Steal::Abort,
            _ => Steal::Empty,
        }
    }
}

/// The thief's knowledge about the task that it has announced.
enum Answer {
    Take,
    Empty,
    /// The owner has not answered yet.
    Unknown,
}

impl<T> Shared<T> {
    /// Returns the counter for the next steal.
    ///
    /// It is one more, but never a counter that an old echo already has.
    #[inline(always)]
    fn new_counter(&self, head: Head) -> u32 {
        let next = head.counter.wrapping_add(1);
        // Relaxed: the owner can store this value only after the counter has been announced.
        if self.echo.load(Ordering::Relaxed) == u64::from(next) {
            return next.wrapping_add(1);
        }
        next
    }

    /// Waits until it is certain whether the announced task can be stolen.
    ///
    /// Gives up after `max_turns` turns, if given.
    #[cold]
    #[inline(never)]
    fn wait_for_owner<B: Trust>(&self, head: Head, announced: Head, max_turns: Option<u32>) -> Answer {
        let mut turn = 0;
        loop {
            // Acquire: pairs with the release of the echo. The tail that is loaded next was stored
            // before the echo or later.
            let answered = self.echo.load(Ordering::Acquire) == u64::from(announced.counter);
            let hidden = if answered { 0 } else { self.hidden_pops.max::<B>() };
            // Acquire: as in `steal`.
            let ahead = head.distance(self.tail.load(Ordering::Acquire));
            if ahead <= 0 {
                return Answer::Empty;
            }
            if ahead as usize > hidden {
                return Answer::Take;
            }
            if max_turns == Some(turn) {
                return Answer::Unknown;
            }
            pause(turn);
            turn = turn.saturating_add(1);
        }
    }

    /// Returns an outcome that needs no lock.
    ///
    /// This is empty, or retry if another thief holds the lock or held it meanwhile. Returns `None`
    /// if there is a task.
    #[inline]
    fn check_without_lock(&self) -> Option<Steal<T>> {
        let before = self.storage.turnstiles().visits();
        // Acquire: the tail is loaded after the head, and the visits are loaded again after both.
        let head = Head::unpack(self.head.load(Ordering::Acquire));
        if head.distance(self.tail.load(Ordering::Acquire)) > 0 {
            return None;
        }
        // A thief that holds the lock, or held it meanwhile, may have announced the last task and
        // may withdraw.
        let quiet = before % 2 == 0 && self.storage.turnstiles().visits() == before;
        Some(if quiet { Steal::Empty } else { Steal::Retry })
    }

    /// Finishes a pop that stored `tail` and found the head near or past it.
    ///
    /// Returns the task, if the owner has it, and the current tail.
    #[cold]
    #[inline(never)]
    fn pop_near_empty(&self, ring: Ring<T>, head: Head, tail: usize) -> (Option<T>, usize) {
        let mut echo = u64::from(head.counter);
        if head.distance(tail) < 0 {
            let _lock = self.storage.turnstiles().enter();
            echo = NO_ECHO;
            // Relaxed: only the holder of the lock writes the head.
            let head = Head::unpack(self.head.load(Ordering::Relaxed));
            if head.distance(tail) < 0 {
                let tail = head.full(tail);
                // Release: a thief that sees the echo, which is none, or the tail sees the earlier
                // writes.
                self.echo.store(echo, Ordering::Release);
                self.tail.store(tail, Ordering::Release);
                return (None, tail);
            }
        }
        // Release: as in `pop`.
        self.echo.store(echo, Ordering::Release);
        if self.hidden_pops.extra_stores() > 1 {
            self.spacer.store(self.hidden_pops.extra_stores() - 1, tail);
        }
        // SAFETY: the task was pushed here. A thief that announces it from now on sees the tail and
        // withdraws, or waits for an echo. If the bound is untrusted, the thief may take a copy,
        // since the task is `Copy`.
        (Some(unsafe { ring.slot(tail).read().assume_init() }), tail)
    }

    fn len(&self) -> usize {
        // Acquire, then relaxed: a hint, but the tail is not older than the head.
        let (head, tail) = (self.head.load(Ordering::Acquire), self.tail.load(Ordering::Relaxed));
        Head::unpack(head).distance(tail).max(0) as usize
    }
}

impl<T, B: Trust> Drop for Owner<T, B> {
    fn drop(&mut self) {
        self.shared.hidden_pops.close();
    }
}

queue_shape!(
    "thep", <T, B: Trust>, |owner: &Self| owner.shared.len(), |thief: &Self| thief.shared.len(),
    steal_or_abort: Thief::steal_or_abort
);
// SAFETY: only `unsafe` constructors make this type, and their callers guarantee the bound that the
// invariant relies on. If the fence is kept, the queue is `the`.
unsafe impl<T> crate::ExactlyOnce for Owner<T, Trusted> {}
// SAFETY: as above.
unsafe impl<T> crate::ExactlyOnce for Thief<T, Trusted> {}
