//! Work-stealing queues.
#![no_std]

extern crate alloc;
#[cfg(any(feature = "std", test, loom))]
extern crate std;

mod array;
pub mod asymmetric;
mod barrier;
pub mod bound;
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
#[cfg(target_has_atomic = "64")]
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
