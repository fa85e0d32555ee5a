//! A common trait for all queues, and the tasks that the tests push.
//!
//! A claim is written once and checked for each queue.

// Each test file uses a part of it.
#![allow(dead_code, unused_macros, unused_imports)]

use std::fmt::Debug;

use filch_queue::bound::{Bound, Delta, Trusted, FENCE_FREE};
use filch_queue::idempotent::{double_ended, fifo, lifo};
use filch_queue::{asymmetric, bulk, chase_lev, ff_cl, ff_the, the, thep};
use filch_queue::{AtLeastOnce, CapacityError, ExactlyOnce, Owner, Steal, Thief};

/// The end of a queue that a task is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Oldest,
    Youngest,
}

/// A thief's reaction if it cannot know whether the owner has taken the last tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// The thief always knows.
    Never,
    /// The thief returns `Steal::Abort`.
    Aborts,
    /// The thief waits for the owner's next pop.
    Waits,
}

impl Doubt {
    /// Returns the largest number of tasks at which a thief is in doubt. It is 0 for never.
    pub(crate) fn reach(self, delta: Delta) -> usize {
        match self {
            Doubt::Aborts | Doubt::Waits if FENCE_FREE => delta.get(),
            _ => 0,
        }
    }
}

/// The parameters of a new queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// The index of the first task, in queues with a configurable index.
    pub(crate) index: usize,
    pub(crate) capacity: usize,
    /// The delta, for queues that take one.
    pub(crate) delta: Delta,
}

impl Setup {
    /// Returns a setup with a capacity that is too small.
    pub(crate) fn small() -> Setup {
        Setup { index: 0, capacity: 2, delta: delta(1) }
    }

    /// Returns a setup in which indices wrap after `tasks` tasks.
    ///
    /// Indices of 27 and 32 bits wrap there as well.
    pub(crate) fn wrapping_after(tasks: usize) -> Setup {
        Setup { index: 0_usize.wrapping_sub(tasks), ..Setup::small() }
    }
}

/// Returns a delta that is right for every CPU. Each pop makes `extra_stores` extra stores.
///
/// It is 64 for 1 extra store and 2 for 63.
pub(crate) fn delta(extra_stores: usize) -> Delta {
    Delta::new(Bound::GENEROUS, extra_stores).unwrap()
}

/// The behaviour of a queue.
pub(crate) trait Shape {
    const NAME: &'static str;
    const POP: End;
    const STEAL: End;
    const DOUBT: Doubt;
    /// Whether a steal may be a system call.
    const SLOW_STEAL: bool;
    const EXACT: bool;
}

/// The two sides of a new queue, or the error from creating it.
pub(crate) type Made<O, W> = Result<(O, W), CapacityError>;

/// A queue of `Copy` tasks: at least once, or better.
pub(crate) trait Queue: Shape {
    type Owner<T: Copy + Send>: Owner<Task = T> + AtLeastOnce + Send + Debug;
    type Thief<T: Copy + Send>: Thief<Task = T> + AtLeastOnce + Send + Sync + Debug;

    fn make<T: Copy + Send>(setup: Setup) -> Made<Self::Owner<T>, Self::Thief<T>>;
}

/// A queue of any tasks: exactly once.
pub(crate) trait ExactQueue: Shape {
    type Owner<T: Send>: Owner<Task = T> + ExactlyOnce + Send + Debug;
    type Thief<T: Send>: Thief<Task = T> + ExactlyOnce + Send + Sync + Debug;

    fn make_exact<T: Send>(setup: Setup) -> Made<Self::Owner<T>, Self::Thief<T>>;
}

macro_rules! shape {
    ($kind:ident, $name:literal, pop $pop:ident, steal $steal:ident, doubt $doubt:ident, $slow:literal, $exact:literal) => {
        pub(crate) enum $kind {}

        impl Shape for $kind {
            const NAME: &'static str = $name;
            const POP: End = End::$pop;
            const STEAL: End = End::$steal;
            const DOUBT: Doubt = Doubt::$doubt;
            const SLOW_STEAL: bool = $slow;
            const EXACT: bool = $exact;
        }
    };
}

macro_rules! queue {
    ($kind:ident, $owner:ty, $thief:ty, |$setup:ident| $make:expr) => {
        impl Queue for $kind {
            type Owner<T: Copy + Send> = $owner;
            type Thief<T: Copy + Send> = $thief;

            fn make<T: Copy + Send>($setup: Setup) -> Made<Self::Owner<T>, Self::Thief<T>> {
                $make
            }
        }
    };
}

macro_rules! exact_queue {
    ($kind:ident, $owner:ty, $thief:ty, |$setup:ident| $make:expr) => {
        queue!($kind, $owner, $thief, |$setup| $make);

        impl ExactQueue for $kind {
            type Owner<T: Send> = $owner;
            type Thief<T: Send> = $thief;

            fn make_exact<T: Send>($setup: Setup) -> Made<Self::Owner<T>, Self::Thief<T>> {
                $make
            }
        }
    };
}

shape!(ChaseLev, "chase_lev", pop Youngest, steal Oldest, doubt Never, false, true);
exact_queue!(ChaseLev, chase_lev::Owner<T>, chase_lev::Thief<T>, |setup| {
    chase_lev::starting_at(setup.index, setup.capacity)
});

shape!(The, "the", pop Youngest, steal Oldest, doubt Never, false, true);
exact_queue!(The, the::Owner<T>, the::Thief<T>, |setup| the::starting_at(setup.index, setup.capacity));

shape!(Asymmetric, "asymmetric", pop Youngest, steal Oldest, doubt Never, true, true);
exact_queue!(Asymmetric, asymmetric::Owner<T>, asymmetric::Thief<T>, |setup| {
    asymmetric::starting_at(setup.index, setup.capacity)
});

shape!(Bulk, "bulk", pop Youngest, steal Oldest, doubt Never, false, true);
// The queue has no capacity, and its counts have 32 bits.
exact_queue!(Bulk, bulk::Owner<T>, bulk::Thief<T>, |setup| bulk::starting_at(setup.index as u32, 0));

shape!(FfClTrusted, "ff_cl, trusted", pop Youngest, steal Oldest, doubt Aborts, false, true);
exact_queue!(FfClTrusted, ff_cl::Owner<T, Trusted>, ff_cl::Thief<T, Trusted>, |setup| {
    // SAFETY: all tests make their deltas with `delta`, from a bound above the store buffer of
    // every known CPU.
    unsafe { ff_cl::starting_at_trusted(setup.index, setup.delta, setup.capacity) }
});

shape!(FfTheTrusted, "ff_the, trusted", pop Youngest, steal Oldest, doubt Aborts, false, true);
exact_queue!(FfTheTrusted, ff_the::Owner<T, Trusted>, ff_the::Thief<T, Trusted>, |setup| {
    // SAFETY: as above.
    unsafe { ff_the::starting_at_trusted(setup.index, setup.delta, setup.capacity) }
});

shape!(ThepTrusted, "thep, trusted", pop Youngest, steal Oldest, doubt Waits, false, true);
exact_queue!(ThepTrusted, thep::Owner<T, Trusted>, thep::Thief<T, Trusted>, |setup| {
    // SAFETY: as above.
    unsafe { thep::starting_at_trusted(setup.index, setup.delta, setup.capacity) }
});

shape!(FfCl, "ff_cl", pop Youngest, steal Oldest, doubt Aborts, false, false);
queue!(FfCl, ff_cl::Owner<T>, ff_cl::Thief<T>, |setup| ff_cl::starting_at(setup.index, setup.delta, setup.capacity));

shape!(FfThe, "ff_the", pop Youngest, steal Oldest, doubt Aborts, false, false);
queue!(FfThe, ff_the::Owner<T>, ff_the::Thief<T>, |setup| {
    ff_the::starting_at(setup.index, setup.delta, setup.capacity)
});

shape!(Thep, "thep", pop Youngest, steal Oldest, doubt Waits, false, false);
queue!(Thep, thep::Owner<T>, thep::Thief<T>, |setup| thep::starting_at(setup.index, setup.delta, setup.capacity));

shape!(Lifo, "idempotent::lifo", pop Youngest, steal Youngest, doubt Never, false, false);
queue!(Lifo, lifo::Owner<T>, lifo::Thief<T>, |setup| lifo::with_capacity(setup.capacity));

shape!(Fifo, "idempotent::fifo", pop Oldest, steal Oldest, doubt Never, false, false);
queue!(Fifo, fifo::Owner<T>, fifo::Thief<T>, |setup| fifo::starting_at(setup.index, setup.capacity));

shape!(DoubleEnded, "idempotent::double_ended", pop Youngest, steal Oldest, doubt Never, false, false);
queue!(DoubleEnded, double_ended::Owner<T>, double_ended::Thief<T>, |setup| {
    double_ended::starting_at(setup.index, setup.capacity)
});

/// Defines a claim about some queues. It is a module of this name, with a test for each queue.
macro_rules! claim {
    ($claim:ident, $check:path, $($name:ident $kind:ident),+) => {
        mod $claim {
            #[allow(unused_imports)]
            use super::*;

            $(
                #[test]
                fn $name() {
                    use $check as check;
                    check::<$crate::common::$kind>();
                }
            )+
        }
    };
}
pub(crate) use claim;

/// Defines a claim about every exactly-once queue.
macro_rules! for_every_exact_queue {
    ($claim:ident, $check:path) => {
        $crate::common::claim!($claim, $check, chase_lev ChaseLev, the The, asymmetric Asymmetric, bulk Bulk,
            ff_cl_trusted FfClTrusted, ff_the_trusted FfTheTrusted, thep_trusted ThepTrusted);
    };
}
pub(crate) use for_every_exact_queue;

/// Defines a claim about every queue that is only at least once.
macro_rules! for_every_relaxed_queue {
    ($claim:ident, $check:path) => {
        $crate::common::claim!($claim, $check, ff_cl FfCl, ff_the FfThe, thep Thep, lifo Lifo, fifo Fifo,
            double_ended DoubleEnded);
    };
}
pub(crate) use for_every_relaxed_queue;

/// Defines a claim about every queue with an array and a capacity.
macro_rules! for_every_array_queue {
    ($claim:ident, $check:path) => {
        $crate::common::claim!($claim, $check, chase_lev ChaseLev, the The, asymmetric Asymmetric, ff_cl_trusted FfClTrusted,
            ff_the_trusted FfTheTrusted, thep_trusted ThepTrusted, ff_cl FfCl, ff_the FfThe, thep Thep, lifo Lifo, fifo Fifo,
            double_ended DoubleEnded);
    };
}
pub(crate) use for_every_array_queue;

/// Defines a claim about every queue.
macro_rules! for_every_queue {
    ($claim:ident, $check:path) => {
        $crate::common::claim!($claim, $check, chase_lev ChaseLev, the The, asymmetric Asymmetric, bulk Bulk,
            ff_cl_trusted FfClTrusted, ff_the_trusted FfTheTrusted, thep_trusted ThepTrusted, ff_cl FfCl, ff_the FfThe, thep Thep, lifo Lifo, fifo Fifo,
            double_ended DoubleEnded);
    };
}
pub(crate) use for_every_queue;

/// A task that differs from all others, as far as its type has room.
pub(crate) trait Sample: PartialEq + Debug + Send {
    fn sample(n: usize) -> Self;
}

impl Sample for usize {
    fn sample(n: usize) -> Self {
        n
    }
}

impl Sample for u8 {
    fn sample(n: usize) -> Self {
        n as u8
    }
}

impl Sample for () {
    fn sample(_: usize) -> Self {}
}

impl Sample for Box<usize> {
    fn sample(n: usize) -> Self {
        Box::new(n)
    }
}

/// Three words, two of them with padding.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub(crate) struct Padded(u8, usize, u16);

impl Sample for Padded {
    fn sample(n: usize) -> Self {
        Padded(n as u8, n, n as u16)
    }
}

/// A word and a part of a word.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Uneven([u8; 11]);

impl Sample for Uneven {
    fn sample(n: usize) -> Self {
        let bytes = n.wrapping_mul(0x9E37_79B9).to_le_bytes();
        Uneven(std::array::from_fn(|at| bytes[at % bytes.len()] ^ at as u8))
    }
}

/// Steals, and retries while another thread interferes.
pub(crate) fn steal<Q: Thief>(thief: &Q) -> Steal<Q::Task> {
    loop {
        let outcome = thief.steal();
        if !outcome.is_retry() {
            return outcome;
        }
    }
}
