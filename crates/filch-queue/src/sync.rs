//! The atomics, in one place, so that a model checker can take their place.
//!
//! Under `--cfg loom` they are loom's, behind a thin layer that knows every call site and can weaken one at a time.

#[cfg(not(loom))]
mod real {
    pub(crate) use alloc::sync::Arc;
    pub(crate) use core::sync::atomic::{
        compiler_fence, fence, AtomicBool, AtomicPtr, AtomicU64, AtomicU8, AtomicUsize, Ordering,
    };

    /// A word that one side stores and the other exchanges.
    pub(crate) type ContestedU64 = AtomicU64;
    /// The same, for an index.
    pub(crate) type ContestedUsize = AtomicUsize;

    /// Gives the core to somebody else for a moment, in a loop that waits.
    pub(crate) fn pause(turn: u32) {
        const SPINS: u32 = 64;
        if turn < SPINS {
            core::hint::spin_loop();
            return;
        }
        #[cfg(feature = "std")]
        std::thread::yield_now();
        #[cfg(not(feature = "std"))]
        core::hint::spin_loop();
    }
}

#[cfg(not(loom))]
pub(crate) use real::*;

#[cfg(loom)]
pub mod weaken;

#[cfg(loom)]
pub(crate) use weaken::{
    compiler_fence, fence, pause, Arc, AtomicBool, AtomicPtr, AtomicU64, AtomicU8, AtomicUsize, ContestedU64,
    ContestedUsize, Ordering,
};
