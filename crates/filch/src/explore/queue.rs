//! The kinds of queues that the workers of an exploration can have.
//!
//! | kind | a task runs | pop / steal takes | an owner pays | good for |
//! |---|---|---|---|---|
//! | [`ChaseLev`], the default of `exactly_once` | once | youngest / oldest | a fence a task | everything |
//! | [`The`] | once | youngest / oldest | a fence a task | comparison |
//! | [`Asymmetric`] | once | youngest / oldest | nothing; a thief makes a system call, which interrupts all | tasks of which few are stolen |
//! | [`FfCl`], [`FfThe`], [`Thep`], `unsafe` | once, on CPUs that you vouch for | youngest / oldest | a spare store | the same |
//! | [`Bulk`] | once | youngest / the older half, in one steal | one locked instruction a task | many short tasks: few steals, each for long |
//! | [`Lifo`], the default of `at_least_once` | at least once | youngest / youngest | nothing | tasks that may repeat |
//! | [`Fifo`] | at least once | oldest / oldest | nothing | the same, level by level, more or less |
//! | [`DoubleEnded`] | at least once | youngest / oldest | nothing | the same, where thieves should take what is far from the owner |
//! | [`UntrustedFfCl`], [`UntrustedFfThe`], [`UntrustedThep`] | at least once | youngest / oldest | a spare store; a fence for the first push after a pop | comparison |
//!
//! Thieves of `FfCl` and `FfThe`, and those of `Thep` while the owner does not pop, leave up to
//! delta tasks alone. With so few tasks in a queue no worker helps its owner.
//!
//! # Memory
//!
//! A queue takes 8 bytes for a task of up to 8 bytes, in a power of two of slots. It grows when it
//! is full, and then holds the old and the new array for a moment. As it drains it gives memory
//! back. The visits determine how many tasks there are at once. A traversal that marks a vertex
//! before it pushes it has at most one task a vertex, and a few more if two workers mark at the
//! same time.
//!
//! [`Lifo`] and [`Thep`] hold fewer than 2^30 tasks a worker, [`DoubleEnded`] fewer than 2^27. A
//! push beyond that panics with a message that names [`ChaseLev`], and that stops the exploration.
//! [`Bulk`] keeps tasks in blocks that grow to 64 KiB and holds fewer than 2^31.

use filch_queue::bound::Untrusted;
use filch_queue::idempotent;
use filch_queue::{bulk, ff_cl, ff_the, thep, AtLeastOnce, Owner, Steal, Thief};

pub use crate::engine::{Asymmetric, ChaseLev, FfCl, FfThe, The, Thep};
pub use filch_queue::bound::{Bound, Delta};

use super::explorer::push_failed;
use crate::engine;

/// A kind of queue for tasks of type `T`. Makes a queue for each worker of an exploration.
///
/// The kinds of [`engine`] are kinds here too, and keep their promise of exactly once. Those of
/// this module are at least once, and need tasks that are `Copy`.
///
/// Users can implement it. Nothing here is unsafe, but an exploration ends, and ends in time, only
/// if
///
/// - each call makes a new queue,
/// - a `pop` returns nothing only if the queue is empty,
/// - a `steal` does not return [`Retry`](filch_queue::Steal::Retry) forever, and
/// - a thief that waits for the owner stops when the owner is dropped.
pub trait Kind<T>: Sync {
    /// The side that pushes and pops.
    type Owner: Owner<Task = T> + AtLeastOnce + Send;
    /// The side that steals.
    type Thief: Thief<Task = T> + AtLeastOnce + Send + Sync;

    /// Creates a queue.
    fn make(&self) -> (Self::Owner, Self::Thief);

    /// Steals for a worker whose own queue, also of this kind, is empty.
    ///
    /// Returns a task for the worker to run. It may have put other tasks into `own`.
    ///
    /// The default steals one task and never waits for the other's owner. An implementation that
    /// puts tasks into `own` must return a task to run, too: otherwise the exploration does not
    /// look there.
    fn steal_for(&self, own: &Self::Owner, thief: &Self::Thief) -> Stolen<T> {
        let _ = own;
        Stolen { task: thief.steal_or_abort(), pushed: 0 }
    }
}

/// The result of a steal; see [`Kind::steal_for`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stolen<T> {
    /// The task to run, or why there is none.
    pub task: Steal<T>,
    /// The number of other stolen tasks, which are in the thief's own queue now.
    pub pushed: usize,
}

/// Implements [`Kind`] for the kinds of `engine`, which are for tasks of any type.
macro_rules! exactly_once {
    ($($name:ident),*) => { $(
        impl<T: Send> Kind<T> for engine::$name {
            type Owner = <engine::$name as engine::Queue>::Owner<T>;
            type Thief = <engine::$name as engine::Queue>::Thief<T>;

            fn make(&self) -> (Self::Owner, Self::Thief) {
                engine::Queue::make(self)
            }
        }
    )* };
}

exactly_once!(ChaseLev, The, Asymmetric, FfThe, FfCl, Thep);

/// [`filch_queue::bulk`]: a thief steals the older half of the tasks at once.
///
/// It takes them in one operation, and puts them into its own queue in another. If two workers
/// steal from the same queue at the same time, one of them retries.
///
/// ```
/// use filch::explore::{queue::Bulk, Explore};
///
/// let explored = Explore::exactly_once().queue(Bulk).run([20u32], |depth, worker| {
///     if depth > 10 {
///         worker.push_all([depth - 1, depth - 1]);
///     }
/// });
/// assert_eq!(explored.total().tasks, 2047);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Bulk;

/// The share of a queue that is stolen.
const HALF: f64 = 0.5;

impl<T: Send> Kind<T> for Bulk {
    type Owner = bulk::Owner<T>;
    type Thief = bulk::SharedThief<T>;

    fn make(&self) -> (Self::Owner, Self::Thief) {
        let (owner, thief) = bulk::new();
        (owner, thief.share())
    }

    fn steal_for(&self, own: &Self::Owner, thief: &Self::Thief) -> Stolen<T> {
        let Ok(mut batch) = thief.steal(HALF) else {
            // A half is a valid share, so the thief was busy.
            return Stolen { task: Steal::Retry, pushed: 0 };
        };
        let Some(task) = batch.pop() else {
            return Stolen { task: Steal::Empty, pushed: 0 };
        };
        let pushed = batch.len();
        if let Err(error) = own.try_push_batch(batch) {
            push_failed(error);
        }
        Stolen { task: Steal::Success(task), pushed }
    }
}

/// Declares an idempotent queue: no fence and no read-modify-write for the owner.
macro_rules! idempotent {
    ($(#[$doc:meta])* $name:ident, $module:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;

        impl<T: Copy + Send> Kind<T> for $name {
            type Owner = idempotent::$module::Owner<T>;
            type Thief = idempotent::$module::Thief<T>;

            fn make(&self) -> (Self::Owner, Self::Thief) {
                idempotent::$module::new()
            }
        }
    };
}

idempotent! {
    /// [`filch_queue::idempotent::lifo`]: owner and thieves take the youngest task.
    Lifo, lifo
}
idempotent! {
    /// [`filch_queue::idempotent::fifo`]: owner and thieves take the oldest task.
    Fifo, fifo
}
idempotent! {
    /// [`filch_queue::idempotent::double_ended`]: the owner takes the youngest task, thieves the
    /// oldest.
    DoubleEnded, double_ended
}

/// Declares a fence-free queue without a guarantee that its delta is right for this CPU.
macro_rules! untrusting {
    ($(#[$doc:meta])* $name:ident, $module:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(
            /// The number of hidden pops that a thief allows for.
            pub Delta,
        );

        impl<T: Copy + Send> Kind<T> for $name {
            type Owner = $module::Owner<T, Untrusted>;
            type Thief = $module::Thief<T, Untrusted>;

            fn make(&self) -> (Self::Owner, Self::Thief) {
                $module::new(self.0)
            }
        }
    };
}

untrusting! {
    /// [`filch_queue::ff_the`] without trust in the bound.
    UntrustedFfThe, ff_the
}
untrusting! {
    /// [`filch_queue::ff_cl`] without trust in the bound.
    UntrustedFfCl, ff_cl
}
untrusting! {
    /// [`filch_queue::thep`] without trust in the bound.
    UntrustedThep, thep
}
