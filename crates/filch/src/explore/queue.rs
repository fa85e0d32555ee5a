//! Which queue the workers of an exploration have.
//!
//! | kind | a task runs | pop / steal takes | an owner pays | good for |
//! |---|---|---|---|---|
//! | [`ChaseLev`], the default of `exactly_once` | once | youngest / oldest | a fence a task | everything |
//! | [`The`] | once | youngest / oldest | a fence a task | comparison |
//! | [`Asymmetric`] | once | youngest / oldest | nothing; a thief makes a system call, which interrupts all | tasks of which few are stolen |
//! | [`FfCl`], [`FfThe`], [`Thep`], `unsafe` | once, on CPUs that you vouch for | youngest / oldest | a spare store | the same |
//! | [`Lifo`], the default of `at_least_once` | at least once | youngest / youngest | nothing | tasks that may repeat |
//! | [`Fifo`] | at least once | oldest / oldest | nothing | the same, level by level, more or less |
//! | [`DoubleEnded`] | at least once | youngest / oldest | nothing | the same, where thieves should take what is far from the owner |
//! | [`UntrustedFfCl`], [`UntrustedFfThe`], [`UntrustedThep`] | at least once | youngest / oldest | a spare store; a fence for the first push after a pop | comparison |
//!
//! Thieves of `FfCl` and `FfThe`, and those of `Thep` while the owner does not pop, leave up to delta tasks alone: with so few tasks in a queue nobody helps its owner.
//!
//! # Memory
//!
//! A queue takes 8 bytes for a task of up to 8, in a power of two of slots, and grows when it is full, holding the old and the new array for a moment; as it drains it gives memory back. How many tasks there are at once is up to
//! the visits: a traversal that marks a vertex before it pushes it has at most one task a vertex, and a few more where two workers mark at the same time. [`Lifo`] and [`Thep`] hold fewer than 2^30 tasks a worker, [`DoubleEnded`]
//! fewer than 2^27; a push beyond that panics with a sentence that names [`ChaseLev`], and that stops the exploration.

use filch_queue::bound::Untrusted;
use filch_queue::idempotent;
use filch_queue::{ff_cl, ff_the, thep, AtLeastOnce, Owner, Thief};

pub use crate::engine::{Asymmetric, ChaseLev, FfCl, FfThe, The, Thep};
pub use filch_queue::bound::{Bound, Delta};

use crate::engine;

/// A kind of queue for tasks of type `T`: makes one for each worker of an exploration.
///
/// The kinds of [`engine`] are kinds here too, and keep their promise of exactly once. Those of this module are at least once, and want tasks that
/// are `Copy`.
///
/// Anybody can implement it. Nothing here is unsafe, but an exploration ends, and ends in time, only if each call makes a new queue, a `pop` gives nothing only when the queue is empty, a `steal` does not say
/// [`Retry`](filch_queue::Steal::Retry) for ever, and a thief that waits for the owner stops when that is dropped.
pub trait Kind<T>: Sync {
    /// The side that pushes and pops.
    type Owner: Owner<Task = T> + AtLeastOnce + Send;
    /// The side that steals.
    type Thief: Thief<Task = T> + AtLeastOnce + Send + Sync;

    /// A new queue.
    fn make(&self) -> (Self::Owner, Self::Thief);
}

/// The kinds of `engine`, which are for tasks of any type.
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

/// An idempotent queue: no fence and no read-modify-write for the owner.
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
    /// [`filch_queue::idempotent::double_ended`]: the owner takes the youngest task, thieves the oldest.
    DoubleEnded, double_ended
}

/// A fence-free queue of which nobody has vouched that its delta is right for this CPU.
macro_rules! untrusting {
    ($(#[$doc:meta])* $name:ident, $module:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(
            /// How many hidden pops a thief allows for.
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
