//! The bound on how many stores a load may overtake, and its use.
//!
//! The fence-free queues rely on *bounded TSO*: a load overtakes at most S stores of its own
//! thread. If stores wait only in the store buffer, S is its capacity plus one, because the store
//! that is leaving the buffer counts too. A pop lowers the tail by one store and makes x further
//! stores. So at most ceil(S / (x + 1)) pops can be hidden from a thief that reads the tail. That
//! number is [`Delta`].
//!
//! Two consecutive stores to the same cache line may leave the buffer as one. Without a store to
//! another line between them, any number of pops could hide behind a single entry. Hence x is at
//! least 1, and the queues make that store themselves, right after the store to the tail.
//!
//! The program may make further stores between two pops, and they count as well (section 4 of the
//! paper). A queue cannot see them, so only an `unsafe` constructor counts them:
//! [`Delta::with_client_stores`].
//!
//! # The laws of order
//!
//! The "laws of order" say that some methods need a fence or an atomic instruction: those that
//! change each other's answers, in a linearizable and *tight* implementation. Tight means that it
//! has every sequential run of its specification. A pop and a steal are such methods if the queue
//! has one task. The fence-free queues are not tight (section 6 of the paper), and this does not
//! depend on the store buffer. A steal that runs alone on one task aborts in
//! [`ff_the`](crate::ff_the) and [`ff_cl`](crate::ff_cl), and waits in [`thep`](crate::thep). So no
//! steal comes first and takes the task that a hidden pop has taken. With a delta of 0, `ff_the`
//! would be tight, and owner and thief could both take the only task. `ff_cl` would be tight too
//! and still safe with one task, because its pop of the last task is a CAS; there, delta protects
//! queues with more tasks.
//!
//! What the bound is for: with it, a steal from more than delta tasks succeeds. Without it, every
//! steal would have to abort or wait. The models `laws/…` (`crates/filch-model/src/models/laws.rs`)
//! show each of these statements.

use core::num::NonZeroUsize;

use crossbeam_utils::CachePadded;

use crate::barrier;
use crate::sync::{compiler_fence, AtomicBool, AtomicUsize, Ordering};
use crate::BoundError;

/// The bound S: how many earlier stores of its own thread a load may overtake.
///
/// The bound is a property of the CPU. Published store buffers hold 32 (Westmere), 42 (Haswell), 56
/// (Skylake), 72 (Ice Lake), 112 (Golden Cove) entries on Intel, and 48 (Zen 2), 64 (Zen 4) and 104
/// (Zen 5) on AMD. S is one more, if stores wait only in the store buffer. That is not true of
/// every CPU: on AMD's Zen 3, whose store buffer has 64 entries, `filch-lab lab litmus` observed
/// loads that overtook 73 stores. On an Intel CPU with 112 entries it observed up to 116, now and
/// then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bound(NonZeroUsize);

impl Bound {
    /// A bound above every store buffer published so far.
    ///
    /// The largest known has 112 entries. With this bound, thieves abort on short queues.
    pub const GENEROUS: Bound = match NonZeroUsize::new(128) {
        Some(bound) => Bound(bound),
        None => unreachable!(),
    };

    /// Creates a bound of `stores`.
    ///
    /// # Errors
    ///
    /// If `stores` is 0.
    pub fn new(stores: usize) -> Result<Bound, BoundError> {
        NonZeroUsize::new(stores).map(Bound).ok_or(BoundError::ZeroBound)
    }

    /// Returns the bound of a CPU with a store buffer of `entries`: one more.
    ///
    /// See [`Bound`] for CPUs on which that is not enough.
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

    /// Returns the number of stores.
    pub fn get(self) -> usize {
        self.0.get()
    }
}

/// The number of pops that the store buffer may hide: ceil(S / (x + 1)).
///
/// A thief must assume that this many pops are hidden.
///
/// Of the x stores, a pop makes the extra stores itself, and the program may make the others.
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
    client_stores: usize,
}

impl Delta {
    /// The maximum number of extra stores in a pop.
    pub const MAX_EXTRA_STORES: usize = 64;

    /// Creates the delta of a CPU with bound `bound`.
    ///
    /// Each pop makes `extra_stores` stores beside the store to the tail.
    ///
    /// With more extra stores, every pop is slower and thieves can steal from shorter queues.
    ///
    /// # Errors
    ///
    /// If `extra_stores` is 0 or above [`MAX_EXTRA_STORES`](Delta::MAX_EXTRA_STORES).
    pub fn new(bound: Bound, extra_stores: usize) -> Result<Delta, BoundError> {
        Delta::counting(bound, extra_stores, 0)
    }

    /// Creates the delta of a CPU with bound `bound`, for a program that makes stores of its own.
    ///
    /// Each pop makes `extra_stores` stores beside the store to the tail, and the program makes at
    /// least `client_stores` more before the next pop. `filch-lab lab delta` counts the stores in a
    /// compiled program.
    ///
    /// ```
    /// use filch_queue::bound::{Bound, Delta};
    ///
    /// let westmere = Bound::of_store_buffer(32)?;
    /// assert_eq!(Delta::new(westmere, 1)?.get(), 17);
    /// // SAFETY: this program makes no queue with it.
    /// let delta = unsafe { Delta::with_client_stores(westmere, 1, 7)? };
    /// assert_eq!(delta.get(), 4);
    /// # Ok::<(), filch_queue::BoundError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`new`](Delta::new).
    ///
    /// # Safety
    ///
    /// For each queue made with this delta: between a pop that returns a task and the next pop of
    /// the same owner, the owner's thread executes at least `client_stores` store instructions, on
    /// every path, or an instruction that empties the store buffer (a fence or a locked
    /// instruction).
    ///
    /// - Stores of the queue's `pop` do not count. Those of a `push` do, if there is one on every
    ///   path.
    /// - Only stores of the compiled program count, not those of its source. The compiler may
    ///   remove a store, merge several into one wide store, or keep a variable in a register. It
    ///   does not do so with volatile and atomic stores. Of other stores, N bytes of results that
    ///   must be in memory before the next pop take at least N / 64 instructions on x86-64, if the
    ///   compiler does not call `memcpy` or `memset` for them: these may use a string instruction,
    ///   which writes any number of bytes.
    /// - The stores may go to any address. Stores to the same cache line count each if each takes an
    ///   entry of the store buffer until it leaves, as on the CPUs of the paper. `lab litmus` tests
    ///   only stores to different lines. On a CPU where loads have overtaken more stores than the
    ///   store buffer has entries, count stores to one line that follow each other as one.
    ///
    /// If the promise is broken, an exactly-once queue may return a task twice.
    pub unsafe fn with_client_stores(
        bound: Bound,
        extra_stores: usize,
        client_stores: usize,
    ) -> Result<Delta, BoundError> {
        Delta::counting(bound, extra_stores, client_stores)
    }

    fn counting(bound: Bound, extra_stores: usize, client_stores: usize) -> Result<Delta, BoundError> {
        match extra_stores {
            // Also with stores of the client: only a store right after that to the tail keeps the
            // CPU from merging the latter with whatever comes next.
            0 => Err(BoundError::NoExtraStore),
            1..=Delta::MAX_EXTRA_STORES => {
                let stores_a_pop = client_stores.saturating_add(extra_stores + 1);
                Ok(Delta { pops: bound.get().div_ceil(stores_a_pop), extra_stores, client_stores })
            }
            requested => Err(BoundError::TooManyExtraStores { requested, limit: Delta::MAX_EXTRA_STORES }),
        }
    }

    /// Returns the number of pops that may be hidden; at least 1.
    pub fn get(self) -> usize {
        self.pops
    }

    /// Returns the number of extra stores in each pop.
    pub fn extra_stores(self) -> usize {
        self.extra_stores
    }

    /// Returns the number of stores that the program makes between two pops, of those that count.
    pub fn client_stores(self) -> usize {
        self.client_stores
    }
}

mod sealed {
    pub trait Sealed {}
}

/// Whether a fence-free queue takes its [`Delta`] on trust: [`Trusted`] or [`Untrusted`].
pub trait Trust: sealed::Sealed + 'static {
    #[doc(hidden)]
    const TRUSTED: bool;

    /// Whether the owner's pop has no fence.
    ///
    /// loom has no bound, so under loom only the queue that does not rely on a bound has no fence.
    #[doc(hidden)]
    const UNFENCED: bool = FENCE_FREE || (cfg!(loom) && !Self::TRUSTED);
}

/// The caller of an `unsafe` constructor guarantees the bound: the queue is exactly once.
#[derive(Clone, Copy, Debug)]
pub enum Trusted {}

/// The bound is not guaranteed: the queue is at least once on every CPU.
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

/// Whether the owner's pop has no fence in this build.
///
/// This is so on x86-64, unless `--cfg filch_fenced` keeps the fence.
///
/// On other CPUs the number of stores that a load may overtake has no bound, so the fence stays.
pub const FENCE_FREE: bool = cfg!(all(target_arch = "x86_64", not(filch_fenced), not(loom)));

/// The state that tells a thief how many pops may be hidden from it.
pub(crate) struct HiddenPops {
    delta: Delta,
    /// The owner is dropped: no pop is hidden any more.
    closed: AtomicBool,
}

impl HiddenPops {
    pub(crate) fn new(delta: Delta) -> Self {
        HiddenPops { delta, closed: AtomicBool::new(false) }
    }

    /// Returns the number of extra stores in each of the owner's pops.
    #[inline(always)]
    pub(crate) fn extra_stores(&self) -> usize {
        self.delta.extra_stores
    }

    /// Records that the owner never pops again.
    pub(crate) fn close(&self) {
        // Release: a thief that sees it sees the last tail.
        self.closed.store(true, Ordering::Release);
    }

    /// Returns how many pops may be missing from the tail that the caller loads next.
    #[inline(always)]
    pub(crate) fn max<B: Trust>(&self) -> usize {
        // Acquire: pairs with `close`. The tail that is loaded next is the last.
        if B::UNFENCED && !self.closed.load(Ordering::Acquire) {
            self.delta.pops
        } else {
            0
        }
    }
}

/// Stores the lowered tail in a pop, with release, before the load of the head.
///
/// A barrier orders the two. If the bound replaces the barrier, only the compiler is kept from
/// reordering them.
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

/// The target of a pop's extra stores: two alternating cache lines that are never read.
pub(crate) struct Spacer {
    lines: [CachePadded<AtomicUsize>; 2],
}

impl Spacer {
    pub(crate) fn new() -> Self {
        Spacer { lines: [CachePadded::new(AtomicUsize::new(0)), CachePadded::new(AtomicUsize::new(0))] }
    }

    /// Makes `stores` stores, at least one, that cannot be merged.
    ///
    /// None of them merges with its neighbours or with the stores to the tail around them.
    #[inline(always)]
    pub(crate) fn store(&self, stores: usize, value: usize) {
        self.store_to_line(0, value);
        if stores > 1 {
            self.store_more(stores, value);
        }
    }

    #[cold]
    #[inline(never)]
    fn store_more(&self, stores: usize, value: usize) {
        (1..stores).for_each(|n| self.store_to_line(n % 2, value));
    }

    #[inline(always)]
    fn store_to_line(&self, line: usize, value: usize) {
        // The compiler may not merge or remove the store either.
        compiler_fence(Ordering::SeqCst);
        // Relaxed: the value is never read. The store only has to occupy an entry of the store
        // buffer.
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

    /// A delta that no queue is made with.
    fn with_client_stores(bound: usize, extra: usize, client: usize) -> Result<Delta, BoundError> {
        // SAFETY: no queue is made with it.
        unsafe { Delta::with_client_stores(Bound::new(bound)?, extra, client) }
    }

    #[test]
    fn stores_of_the_client_count_like_those_of_a_pop() {
        // The bounds of the paper, its default deltas, and the fewest stores for its delta of 4.
        for (bound, client, pops) in [(33, 0, 17), (33, 6, 5), (33, 7, 4), (43, 0, 22), (43, 8, 5), (43, 9, 4)] {
            let delta = with_client_stores(bound, 1, client).unwrap();
            assert_eq!((delta.get(), delta.extra_stores(), delta.client_stores()), (pops, 1, client));
            assert_eq!(Delta::new(Bound::new(bound).unwrap(), client + 1).unwrap().get(), pops);
        }
        assert_eq!(with_client_stores(43, 5, 5).unwrap().get(), 4);
    }

    #[test]
    fn stores_of_the_client_do_not_replace_the_store_of_a_pop() {
        assert_eq!(with_client_stores(33, 0, 100), Err(BoundError::NoExtraStore));
        assert!(matches!(with_client_stores(33, 65, 100), Err(BoundError::TooManyExtraStores { requested: 65, .. })));
    }

    #[test]
    fn absurd_numbers_do_not_overflow() {
        let bound = Bound::of_store_buffer(usize::MAX).unwrap();
        assert_eq!(Delta::new(bound, 1).unwrap().get(), usize::MAX / 2 + 1);
        assert_eq!(with_client_stores(usize::MAX, 64, usize::MAX).unwrap().get(), 1);
    }
}
