//! The kinds of queues that the workers of an exploration can have.
//!
//! Pools of the module `engine` (a feature) have the same kinds.
//!
//! | kind | a task runs | pop / steal takes | an owner pays | good for |
//! |---|---|---|---|---|
//! | [`ChaseLev`] | once | youngest / oldest | a fence a task | tasks that block or take long; systems without the kernel's barrier |
//! | [`The`] | once | youngest / oldest | a fence a task | comparison |
//! | [`Asymmetric`] | once | youngest / oldest | nothing; a thief makes a system call, which interrupts all | tasks of which few are stolen |
//! | [`FfCl`], [`FfThe`], [`Thep`], `unsafe` | once, on CPUs that you vouch for | youngest / oldest | a spare store | the same |
//! | [`Split`], the default | once | youngest / a share of the oldest | nothing, until a thief asks | everything |
//! | [`Bulk`] | once | youngest / the older half, in one steal | one locked instruction a task | many short tasks: few steals, each for long |
//! | [`Lifo`] | at least once | youngest / youngest | nothing | tasks that may repeat |
//! | [`Fifo`] | at least once | oldest / oldest | nothing | the same, level by level, more or less |
//! | [`DoubleEnded`] | at least once | youngest / oldest | nothing | the same, where thieves should take what is far from the owner |
//! | [`UntrustedFfCl`], [`UntrustedFfThe`], [`UntrustedThep`] | at least once | youngest / oldest | a spare store; a fence for the first push after a pop | comparison |
//!
//! Thieves of `FfCl` and `FfThe`, and those of `Thep` while the owner does not pop, leave up to
//! delta tasks alone. With so few tasks in a queue no worker helps its owner.
//!
//! # Memory
//!
//! [`Split`] takes the size of a task for each, in chunks of 4 KiB, and gives chunks back when it is
//! empty. The other queues take 8 bytes for a task of up to 8 bytes, in a power of two of slots. Such
//! a queue grows when it is full, and then holds the old and the new array for a moment. As it drains
//! it gives memory back. The visits determine how many tasks there are at once. A traversal that
//! marks a vertex before it pushes it has at most one task a vertex, and a few more if two workers
//! mark at the same time.
//!
//! [`Split`], [`Lifo`] and [`Thep`] hold at most 2^30 tasks a worker, [`DoubleEnded`] fewer than
//! 2^27. A push beyond that panics with a message that names [`ChaseLev`], and that stops the
//! exploration.
//! [`Bulk`] keeps tasks in blocks that grow to 64 KiB and holds fewer than 2^31.

use filch_queue::bound::{Trusted, Untrusted};
use filch_queue::{asymmetric, bulk, chase_lev, ff_cl, ff_the, idempotent, the, thep};
use filch_queue::{AtLeastOnce, Owner, Steal, Thief};

pub use filch_queue::bound::{Bound, Delta};

use crate::explore::push_failed;
use crate::split_queue::{self, Claimed};
pub use crate::split_queue::{Owner as SplitOwner, Thief as SplitThief};

/// A kind of queue for tasks of type `T`. Makes a queue for each worker.
///
/// The kinds that are exactly once take tasks of any type. Those that are at least once need tasks
/// that are `Copy`.
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

    /// Steals like [`steal_for`](Kind::steal_for), also tasks that the other owner has not made
    /// available. A worker calls it before it sleeps.
    ///
    /// The default is `steal_for`, for queues whose tasks are always available. A kind that wraps
    /// another one forwards both.
    fn raid_for(&self, own: &Self::Owner, thief: &Self::Thief) -> Stolen<T> {
        self.steal_for(own, thief)
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

/// Declares a kind of queue without parameters, for tasks with these bounds.
macro_rules! plain {
    ($(#[$doc:meta])* $name:ident, $($module:ident)::+, $($bound:ident)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;

        impl<T: $($bound +)+> Kind<T> for $name {
            type Owner = $($module)::+::Owner<T>;
            type Thief = $($module)::+::Thief<T>;

            fn make(&self) -> (Self::Owner, Self::Thief) {
                $($module)::+::new()
            }
        }
    };
}

plain! {
    /// [`filch_queue::asymmetric`]: no fence for the owner, a system call for the thief. On systems
    /// without such a call the owner has a fence.
    Asymmetric, asymmetric, Send
}
plain! {
    /// [`filch_queue::chase_lev`]: a fence for the owner.
    ChaseLev, chase_lev, Send
}
plain! {
    /// [`filch_queue::the`]: a fence for the owner, a lock for thieves.
    The, the, Send
}
plain! {
    /// [`filch_queue::idempotent::lifo`]: owner and thieves take the youngest task. The owner of an
    /// idempotent queue has no fence and no read-modify-write.
    Lifo, idempotent::lifo, Copy Send
}
plain! {
    /// [`filch_queue::idempotent::fifo`]: owner and thieves take the oldest task.
    Fifo, idempotent::fifo, Copy Send
}
plain! {
    /// [`filch_queue::idempotent::double_ended`]: the owner takes the youngest task, thieves the
    /// oldest.
    DoubleEnded, idempotent::double_ended, Copy Send
}

/// [`filch_queue::bulk`]: a thief steals the older half of the tasks at once.
///
/// It takes them in one operation, and puts them into its own queue in another. Several workers can
/// steal from the same queue at the same time.
///
/// ```
/// use filch::explore::Explore;
/// use filch::queue::Bulk;
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

/// The tasks are private to their owner until a thief asks.
///
/// The owner pays for no fence and no read-modify-write, on any CPU. A thief that finds only private
/// tasks asks for some, and the owner publishes the older half of them at its next push or task. A
/// thief takes half of what is public, at most 256 tasks. If the owner does not respond, because its
/// task takes long, a thief publishes for it. That costs a system call, which briefly interrupts
/// every running thread of the process.
///
/// ```
/// use filch::explore::Explore;
/// use filch::queue::Split;
///
/// let explored = Explore::exactly_once().queue(Split).run([20u32], |depth, worker| {
///     if depth > 10 {
///         worker.push_all([depth - 1, depth - 1]);
///     }
/// });
/// assert_eq!(explored.total().tasks, 2047);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Split;

impl<T: Send> Kind<T> for Split {
    type Owner = SplitOwner<T>;
    type Thief = SplitThief<T>;

    fn make(&self) -> (Self::Owner, Self::Thief) {
        split_queue::new()
    }

    fn steal_for(&self, own: &Self::Owner, thief: &Self::Thief) -> Stolen<T> {
        take_over(own, thief.claim(split_queue::MAX_SHARE))
    }

    fn raid_for(&self, own: &Self::Owner, thief: &Self::Thief) -> Stolen<T> {
        take_over(own, thief.claim_or_raid(split_queue::MAX_SHARE))
    }
}

/// Puts all claimed tasks but the first into `own`.
fn take_over<T>(own: &SplitOwner<T>, claimed: Steal<Claimed<'_, T>>) -> Stolen<T> {
    let mut pushed = 0;
    let task = claimed.map(|mut claimed| {
        let first = claimed.first();
        for task in claimed {
            own.push(task);
            pushed += 1;
        }
        first
    });
    Stolen { task, pushed }
}

/// The share of a queue that is stolen.
const HALF: f64 = 0.5;

impl<T: Send> Kind<T> for Bulk {
    type Owner = bulk::Owner<T>;
    type Thief = bulk::Thief<T>;

    fn make(&self) -> (Self::Owner, Self::Thief) {
        bulk::new()
    }

    fn steal_for(&self, own: &Self::Owner, thief: &Self::Thief) -> Stolen<T> {
        let stolen = thief.try_steal(HALF).unwrap_or_else(|error| unreachable!("a half is a share: {error}"));
        let mut pushed = 0;
        let task = stolen.map(|mut batch| {
            let task = batch.pop().unwrap_or_else(|| unreachable!("a half of any tasks is at least one"));
            pushed = batch.len();
            if let Err(error) = own.try_push_batch(batch) {
                push_failed(error);
            }
            task
        });
        Stolen { task, pushed }
    }
}

/// Declares a kind of queue that rests on a bound of the CPU.
macro_rules! trusting {
    ($(#[$doc:meta])* $name:ident, $module:ident) => {
        $(#[$doc])*
        ///
        /// ```
        /// use filch::explore::Explore;
        /// use filch::queue::{Bound, Delta};
        ///
        /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// let delta = Delta::new(Bound::GENEROUS, 15)?;
        /// // SAFETY: an example, which relies on 128. In a program, state what the bound rests on: a
        /// // calibration on this CPU, or its published store buffer and no evidence against it.
        #[doc = concat!("let queue = unsafe { filch::queue::", stringify!($name), "::trusting(delta) };")]
        /// let explored = Explore::exactly_once().queue(queue).run(0..100, |_, _| {});
        /// assert_eq!(explored.total().tasks, 100);
        /// # Ok(())
        /// # }
        /// ```
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            /// The caller of `trusting` guarantees it.
            delta: Delta,
        }

        impl $name {
            /// Creates queues that take `delta` on trust.
            ///
            /// # Safety
            ///
            /// On every CPU that the workers run on, a load overtakes at most as many of its
            /// thread's stores as the [`Bound`] that `delta` was made from says. Otherwise a task
            /// may run twice. The second run of an engine's job is after its join has returned and
            /// its closure is gone.
            pub unsafe fn trusting(delta: Delta) -> $name {
                $name { delta }
            }

            /// Returns the delta that the caller of `trusting` guarantees.
            pub fn delta(&self) -> Delta {
                self.delta
            }
        }

        impl<T: Send> Kind<T> for $name {
            type Owner = $module::Owner<T, Trusted>;
            type Thief = $module::Thief<T, Trusted>;

            fn make(&self) -> (Self::Owner, Self::Thief) {
                // SAFETY: the caller of `trusting` guarantees the same.
                unsafe { $module::new_trusted(self.delta) }
            }
        }
    };
}

trusting! {
    /// [`filch_queue::ff_the`]: [`The`] whose owner has no fence. A steal aborts while at most
    /// delta tasks are queued, so a task is *not* always stealable.
    FfThe, ff_the
}
trusting! {
    /// [`filch_queue::ff_cl`]: [`ChaseLev`] whose owner has no fence. A steal aborts while at most
    /// delta tasks are queued, so a task is *not* always stealable.
    FfCl, ff_cl
}
trusting! {
    /// [`filch_queue::thep`]: [`FfThe`] whose thieves wait for the owner's next pop instead of
    /// aborting. So a task is *not* always stealable.
    Thep, thep
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
