//! Work-stealing queues: every published way to steal work, behind one shape, each with the guarantee it really gives.
//!
//! A constructor gives an owner and a thief. The owner pushes and pops on one thread at a time; thieves are cloned, or shared by reference, and
//! steal on any number of threads.
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
//! # Which one?
//!
//! May a task be done twice? Then an [`idempotent`] queue: the cheapest owner, and cheap thieves. Otherwise [`chase_lev`], unless its fence shows in a profile; then
//! [`asymmetric`], if steals are rare, or [`ff_cl`] if you know the store buffer of your CPUs. Tasks that come and go in batches: [`bulk`], whose steal takes a share of the
//! queue in one operation.
//!
//! | queue | guarantee | pop / steal takes | owner's pop costs | steal costs | a steal may | platforms |
//! |---|---|---|---|---|---|---|
//! | [`chase_lev`] | exactly once | youngest / oldest | a fence | a CAS and a fence | retry | all |
//! | [`the`] | exactly once | youngest / oldest | a fence | a lock and a fence | retry, wait for a thief | all |
//! | [`asymmetric`] | exactly once | youngest / oldest | nothing | a system call | retry | no fence on Linux and Windows; fenced elsewhere |
//! | [`ff_cl`] | exactly once given delta (`unsafe`), or at least once | youngest / oldest | a spare store | a CAS and a fence | retry, abort | no fence on x86-64; fenced elsewhere |
//! | [`ff_the`] | the same | youngest / oldest | a spare store | a lock and a fence | retry, wait for a thief, abort | the same |
//! | [`thep`] | the same | youngest / oldest | an echo | a lock and a fence | retry, wait for a thief or the owner | the same |
//! | [`bulk`] | exactly once | youngest / a share of the oldest | a CAS | a CAS | retry, if thieves share their side | all |
//! | [`idempotent::lifo`] | at least once | youngest / youngest | nothing | a CAS and a fence | retry | all |
//! | [`idempotent::fifo`] | at least once | oldest / oldest | nothing | a CAS and a fence | retry | all |
//! | [`idempotent::double_ended`] | at least once | youngest / oldest | nothing | a CAS and a fence | retry | all |
//!
//! "Nothing" is nothing beyond plain loads and stores. A push costs no fence between store and load, except the first after a pop in the `ff_*` and `thep` queues that
//! are at least once, and every 256th in [`idempotent::double_ended`]. Owners are lock-free but for the last task in the locked queues; so are the thieves of the queues that retry. All grow without bound while thieves
//! steal, and give memory back as they drain; [`idempotent::lifo`] and [`thep`] hold fewer than 2^30 tasks, [`idempotent::double_ended`] fewer than 2^27 and
//! [`bulk`] fewer than 2^31. One owner, any number of thieves, though in [`bulk`] one at a time; [`Steal`] says what an attempt came to.
//!
//! Generic code takes any queue as an [`Owner`] and a [`Thief`], and demands [`ExactlyOnce`] or [`AtLeastOnce`].
//!
//! # For speed
//!
//! Keep the owner in a local variable of the loop that uses it. Its methods are written so that the compiler can then hold all of it in registers,
//! which halves the cost of a push and a pop compared with an owner behind a reference.
//!
//! # Edges
//!
//! - A capacity of 0 is as good as 1. One that cannot be had is a [`CapacityError`].
//! - An owner may be moved to another thread. It is not `Sync`.
//! - A thief that outlives the owner can steal all that is left; the last handle drops what nobody took.
//! - `len` and `is_empty` are hints: another thread may be at work.
//! - Off x86-64, or with `RUSTFLAGS="--cfg filch_fenced"`, the fence-free queues have a fence. `--cfg filch_no_membarrier` does the same to [`asymmetric`].
//! - The crate is `no_std` and needs `alloc`. With the default feature `std`, a thread that waits gives its time slice away.
//! - CPUs: x86-64, AArch64, RISC-V 64, LoongArch 64. Elsewhere the crate does not compile, and says why. Rust 1.81 or newer.
#![no_std]

extern crate alloc;
#[cfg(any(feature = "std", test, loom))]
extern crate std;

mod array;
pub mod asymmetric;
pub mod barrier;
pub mod bound;
pub mod bulk;
pub mod calibration;
pub mod chase_lev;
mod deque;
mod error;
mod expect;
pub mod ff_cl;
pub mod ff_the;
mod handle;
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
