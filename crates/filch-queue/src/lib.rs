//! Work-stealing queues: the published algorithms behind one interface, each with its exact
//! guarantee.
//!
//! A constructor returns an owner and a thief. The owner pushes and pops on one thread at a time.
//! Thieves steal on any number of threads; they can be cloned or shared by reference.
//!
//! ```
//! use filch_queue::{chase_lev, Steal};
//!
//! let (owner, thief) = chase_lev::new();
//! for task in 0..1000 {
//!     owner.push(task);
//! }
//! let helper = std::thread::spawn(move || {
//!     let mut sum = 0;
//!     loop {
//!         match thief.steal() {
//!             Steal::Success(task) => sum += task,
//!             Steal::Retry | Steal::Abort => std::hint::spin_loop(),
//!             Steal::Empty => return sum,
//!         }
//!     }
//! });
//! let mut sum = 0;
//! while let Some(task) = owner.pop() {
//!     sum += task;
//! }
//! assert_eq!(sum + helper.join().unwrap(), (0..1000).sum());
//! ```
//!
//! # Which queue?
//!
//! - If a task may run twice, use an [`idempotent`] queue: it has the cheapest owner, and cheap
//!   thieves.
//! - Otherwise use [`chase_lev`].
//! - If the fence of [`chase_lev`] shows in a profile, use [`asymmetric`] if steals are rare, or
//!   [`ff_cl`] if you know the store buffer of your CPUs.
//! - If tasks come in batches, use [`bulk`]. Its steal takes a share of the queue in a single
//!   operation.
//!
//! | queue | guarantee | pop / steal takes | owner's pop costs | steal costs | a steal may | platforms |
//! |---|---|---|---|---|---|---|
//! | [`chase_lev`] | exactly once | youngest / oldest | a fence | a CAS and a fence | retry | all |
//! | [`the`] | exactly once | youngest / oldest | a fence | a lock and a fence | retry, wait for a thief | all |
//! | [`asymmetric`] | exactly once | youngest / oldest | nothing | a system call | retry; abort if the kernel refuses | no fence on Linux and Windows; fenced elsewhere |
//! | [`ff_cl`] | exactly once given delta (`unsafe`), or at least once | youngest / oldest | a spare store | a CAS and a fence | retry, abort | no fence on x86-64; fenced elsewhere |
//! | [`ff_the`] | the same | youngest / oldest | a spare store | a lock and a fence | retry, wait for a thief, abort | the same |
//! | [`thep`] | the same | youngest / oldest | an echo | a lock and a fence | retry, wait for a thief or the owner | the same |
//! | [`bulk`] | exactly once | youngest / a share of the oldest | a CAS | a CAS | retry | all |
//! | [`idempotent::lifo`] | at least once | youngest / youngest | nothing | a CAS and a fence | retry | all |
//! | [`idempotent::fifo`] | at least once | oldest / oldest | nothing | a CAS and a fence | retry | all |
//! | [`idempotent::double_ended`] | at least once | youngest / oldest | nothing | a CAS and a fence | retry | all |
//!
//! "Nothing" means nothing beyond plain loads and stores. A push has no fence between a store and a
//! load, with two exceptions: the first push after a pop in the at-least-once `ff_*` and `thep`
//! queues, and every 256th push in [`idempotent::double_ended`]. Owners are lock-free, except for
//! the last task in the locked queues. Thieves of the queues that retry are lock-free too. All
//! queues grow without bound while thieves steal, and free memory as they drain.
//! [`idempotent::lifo`] and [`thep`] hold fewer than 2^30 tasks, [`idempotent::double_ended`] fewer
//! than 2^27 and [`bulk`] fewer than 2^31. A queue has a single owner and any number of
//! thieves. [`Steal`] is the outcome of an attempt.
//!
//! Generic code takes any queue as an [`Owner`] and a [`Thief`], and requires [`ExactlyOnce`] or
//! [`AtLeastOnce`].
//!
//! # For speed
//!
//! Keep the owner in a local variable of the loop that uses it. The compiler can then hold the
//! whole owner in registers. This halves the cost of a push and a pop compared with an owner behind
//! a reference.
//!
//! # Edges
//!
//! - A capacity of 0 means 1. A constructor returns [`CapacityError`] if the capacity is too large
//!   or the allocation fails.
//! - An owner can be moved to another thread. It is not `Sync`.
//! - A thief that outlives the owner can steal all remaining tasks. The last handle drops the tasks
//!   that are left.
//! - `len` and `is_empty` are hints: another thread may push or take a task meanwhile.
//! - On CPUs other than x86-64, or with `RUSTFLAGS="--cfg filch_fenced"`, the fence-free queues
//!   have a fence. `--cfg filch_no_membarrier` adds the fence to [`asymmetric`].
//! - The crate is `no_std` and needs `alloc`. With the default feature `std`, a waiting thread
//!   yields its time slice.
//! - CPUs: x86-64, AArch64, RISC-V 64, LoongArch 64. On other CPUs compilation fails with a message
//!   that says why. Rust 1.81 or newer.
#![no_std]

extern crate alloc;
#[cfg(any(feature = "std", test, loom))]
extern crate std;

mod array;
pub mod asymmetric;
pub mod barrier;
pub mod bound;
pub mod bulk;
pub mod chase_lev;
mod deque;
mod error;
mod expect;
pub mod ff_cl;
pub mod ff_the;
#[doc(hidden)]
pub mod handle;
pub mod idempotent;
mod locked;
mod ring;
mod steal;
mod storage;
mod sync;
mod task;
pub mod the;
pub mod thep;
mod traits;
mod turnstile;
mod visitors;

#[cfg(loom)]
#[doc(hidden)]
pub use sync::weaken;

pub use error::{BoundError, CapacityError, PushError};
pub use steal::Steal;
pub use traits::{AtLeastOnce, ExactlyOnce, Owner, Thief};

/// The examples of the README, for doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
