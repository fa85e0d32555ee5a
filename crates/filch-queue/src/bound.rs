//! How far a CPU lets a load run ahead of earlier stores, and what a thief makes of it.
//!
//! The fence-free queues rest on *bounded TSO*: a load overtakes at most S stores of its own thread. Where stores wait in the
//! store buffer only, S is its capacity plus one, because the store that is on its way out of the buffer counts too. A pop lowers the tail by
//! one store and makes x further stores, so at most ceil(S / (x + 1)) pops can be hidden from a thief that reads the tail:
//! that number is [`Delta`].
//!
//! Two consecutive stores to one cache line may leave the buffer as one. Without a store to another line between them any
//! number of pops could hide behind one entry; hence x is at least 1, and the queues make that store themselves.

use core::num::NonZeroUsize;

use crossbeam_utils::CachePadded;

use crate::barrier;
use crate::sync::{compiler_fence, AtomicBool, AtomicUsize, Ordering};
use crate::BoundError;

/// The bound S: how many of a thread's stores a later load of that thread may overtake.
///
/// It is a property of the CPU. Published store buffers hold 32 (Westmere), 42 (Haswell), 56 (Skylake), 72 (Ice Lake), 112
/// (Golden Cove) entries on Intel, and 48 (Zen 2), 64 (Zen 4) and 104 (Zen 5) on AMD; S is one more, where a store waits nowhere else. That is not so
/// everywhere: on AMD's Zen 3, whose store buffer has 64 entries, `filch lab litmus` caught loads overtaking 73 stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bound(NonZeroUsize);

impl Bound {
    /// Above every store buffer published so far (the largest known has 112 entries). It makes thieves abort on short queues.
    pub const GENEROUS: Bound = match NonZeroUsize::new(128) {
        Some(bound) => Bound(bound),
        None => unreachable!(),
    };

    /// A bound of `stores`.
    ///
    /// # Errors
    ///
    /// If `stores` is 0.
    pub fn new(stores: usize) -> Result<Bound, BoundError> {
        NonZeroUsize::new(stores).map(Bound).ok_or(BoundError::ZeroBound)
    }

    /// The bound of a CPU whose store buffer has this many entries: one more. See above for CPUs on which that is not enough.
    ///
    /// # Errors
    ///
    /// If `entries` is 0.
    pub fn of_store_buffer(entries: usize) -> Result<Bound, BoundError> {
        match entries {
            0 => Err(BoundError::ZeroBound),
            _ => Bound::new(entries.saturating_add(1)),
        }
    }

    /// The number of stores.
    pub fn get(self) -> usize {
        self.0.get()
    }
}

/// How many pops a thief must assume hidden in the owner's store buffer: ceil(S / (x + 1)).
///
/// It also tells the owner how many extra stores, x, each pop has to make.
///
/// ```
/// use filch_queue::bound::{Bound, Delta};
///
/// let ice_lake = Bound::of_store_buffer(72)?;
/// assert_eq!(Delta::new(ice_lake, 1)?.get(), 37);
/// assert_eq!(Delta::new(ice_lake, 3)?.get(), 19);
/// assert!(Delta::new(ice_lake, 0).is_err());
/// # Ok::<(), filch_queue::BoundError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delta {
    pops: usize,
    extra_stores: usize,
}

impl Delta {
    /// The most extra stores that a pop makes.
    pub const MAX_EXTRA_STORES: usize = 64;

    /// The delta of a CPU with this bound, for pops that each make `extra_stores` stores beside the one to the tail.
    ///
    /// More extra stores make every pop slower and let thieves steal from shorter queues.
    ///
    /// # Errors
    ///
    /// If `extra_stores` is 0 or above [`MAX_EXTRA_STORES`](Delta::MAX_EXTRA_STORES).
    pub fn new(bound: Bound, extra_stores: usize) -> Result<Delta, BoundError> {
        match extra_stores {
            0 => Err(BoundError::NoExtraStore),
            1..=Delta::MAX_EXTRA_STORES => Ok(Delta { pops: bound.get().div_ceil(extra_stores + 1), extra_stores }),
            requested => Err(BoundError::TooManyExtraStores { requested, limit: Delta::MAX_EXTRA_STORES }),
        }
    }

    /// The number of pops that may be hidden; at least 1.
    pub fn get(self) -> usize {
        self.pops
    }

    /// How many extra stores each pop makes.
    pub fn extra_stores(self) -> usize {
        self.extra_stores
    }
}

mod sealed {
    pub trait Sealed {}
}

/// Whether a fence-free queue takes its [`Delta`] on trust: [`Trusted`] or [`Untrusted`].
pub trait Trust: sealed::Sealed + 'static {
    #[doc(hidden)]
    const TRUSTED: bool;

    /// Whether the owner's pop goes without its fence. loom knows no bound, so there only the queue that does not rely on
    /// one goes without.
    #[doc(hidden)]
    const UNFENCED: bool = FENCE_FREE || (cfg!(loom) && !Self::TRUSTED);
}

/// The caller of an `unsafe` constructor vouches for the bound: the queue is exactly once.
#[derive(Clone, Copy, Debug)]
pub enum Trusted {}

/// Nobody vouches for the bound: the queue is at least once, whatever the CPU does.
#[derive(Clone, Copy, Debug)]
pub enum Untrusted {}

impl sealed::Sealed for Trusted {}
impl sealed::Sealed for Untrusted {}

impl Trust for Trusted {
    const TRUSTED: bool = true;
}

impl Trust for Untrusted {
    const TRUSTED: bool = false;
}

/// Whether the owner's pop goes without its fence in this build: on x86-64, unless `--cfg filch_fenced` keeps it.
///
/// Elsewhere nothing bounds what a load may overtake, so the fence stays.
pub const FENCE_FREE: bool = cfg!(all(target_arch = "x86_64", not(filch_fenced), not(loom)));

/// What the sides of a fence-free queue know about each other's view of the tail.
pub(crate) struct Sight {
    delta: Delta,
    /// The owner is gone: nothing is hidden any more.
    closed: AtomicBool,
}

impl Sight {
    pub(crate) fn new(delta: Delta) -> Self {
        Sight { delta, closed: AtomicBool::new(false) }
    }

    /// How many extra stores the owner makes at each pop.
    #[inline(always)]
    pub(crate) fn extra_stores(&self) -> usize {
        self.delta.extra_stores
    }

    /// The owner will never pop again.
    pub(crate) fn close(&self) {
        // Release: who sees it sees the last tail.
        self.closed.store(true, Ordering::Release);
    }

    /// How many pops may be missing from the tail that the caller is about to load.
    #[inline(always)]
    pub(crate) fn hidden<B: Trust>(&self) -> usize {
        // Acquire: pairs with `close`; the tail that is loaded next is the last.
        if B::UNFENCED && !self.closed.load(Ordering::Acquire) {
            self.delta.pops
        } else {
            0
        }
    }
}

/// Stores the lowered tail in a pop, with release, and keeps the load of the head behind it: by a barrier, or where the bound takes its place
/// as far as the compiler is concerned.
#[inline(always)]
pub(crate) fn lower_tail<B: Trust>(word: &AtomicUsize, tail: usize) {
    if B::UNFENCED {
        // Release: a thief may read the tail from here.
        word.store(tail, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
    } else {
        barrier::store_then_full(word, tail);
    }
}

/// Where the extra stores of a pop go: two cache lines that nobody reads, in turn.
pub(crate) struct Spacer {
    lines: [CachePadded<AtomicUsize>; 2],
}

impl Spacer {
    pub(crate) fn new() -> Self {
        Spacer { lines: [CachePadded::new(AtomicUsize::new(0)), CachePadded::new(AtomicUsize::new(0))] }
    }

    /// Makes `stores` stores, at least one, none of which can be merged with its neighbours or with the store to the tail around them.
    #[inline(always)]
    pub(crate) fn space(&self, stores: usize, value: usize) {
        self.touch(0, value);
        if stores > 1 {
            self.space_further(stores, value);
        }
    }

    #[cold]
    #[inline(never)]
    fn space_further(&self, stores: usize, value: usize) {
        (1..stores).for_each(|n| self.touch(n % 2, value));
    }

    #[inline(always)]
    fn touch(&self, line: usize, value: usize) {
        // The compiler may not merge or drop it either.
        compiler_fence(Ordering::SeqCst);
        // Relaxed: nobody reads it; it only has to take up an entry of the store buffer.
        self.lines[line].store(value, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn delta_is_the_bound_divided_by_the_stores_of_a_pop_rounded_up() {
        for (stores, extra, pops) in [(33, 1, 17), (43, 1, 22), (73, 1, 37), (73, 2, 25), (1, 1, 1), (1, 64, 1)] {
            assert_eq!(Delta::new(Bound::new(stores).unwrap(), extra).unwrap().get(), pops);
        }
    }

    #[test]
    fn a_delta_of_zero_cannot_be_made() {
        assert_eq!(Bound::new(0), Err(BoundError::ZeroBound));
        assert_eq!(Bound::of_store_buffer(0), Err(BoundError::ZeroBound));
        assert!(Bound::new(0).unwrap_err().to_string().contains("entries plus one"));
    }

    #[test]
    fn without_an_extra_store_no_delta_is_given() {
        let error = Delta::new(Bound::GENEROUS, 0).unwrap_err();
        assert_eq!(error, BoundError::NoExtraStore);
        assert!(error.to_string().contains("no delta is safe"));
        assert!(Delta::new(Bound::GENEROUS, 65).unwrap_err().to_string().contains("at most 64"));
    }

    #[test]
    fn absurd_bounds_do_not_overflow() {
        let bound = Bound::of_store_buffer(usize::MAX).unwrap();
        assert_eq!(Delta::new(bound, 1).unwrap().get(), usize::MAX / 2 + 1);
    }
}
