//! The atomics, in one place, so that a model checker can take their place.
//!
//! Under `--cfg loom` they are loom's, behind a thin layer that knows every call site and can weaken one at a time.

#[cfg(not(loom))]
mod real {
    use core::cell::UnsafeCell;
    use core::mem::MaybeUninit;

    pub(crate) use alloc::sync::Arc;
    pub(crate) use core::sync::atomic::{
        compiler_fence, fence, AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicU8, AtomicUsize, Ordering,
    };

    /// A word that one side stores and the other exchanges.
    pub(crate) type ContestedU64 = AtomicU64;
    /// The same, for an index.
    pub(crate) type ContestedUsize = AtomicUsize;

    /// Room for one task that has one reader or writer at a time.
    #[repr(transparent)]
    pub(crate) struct TaskCell<T>(UnsafeCell<MaybeUninit<T>>);

    impl<T> TaskCell<T> {
        #[inline(always)]
        pub(crate) fn empty() -> Self {
            TaskCell(UnsafeCell::new(MaybeUninit::uninit()))
        }

        /// Puts a task in.
        ///
        /// # Safety
        ///
        /// Nobody else reads or writes meanwhile.
        #[inline(always)]
        pub(crate) unsafe fn write(&self, task: T) {
            // SAFETY: promised.
            unsafe { (*self.0.get()).write(task) };
        }

        /// Takes the task out.
        ///
        /// # Safety
        ///
        /// There is one, nobody writes meanwhile, and nobody takes it again.
        #[inline(always)]
        pub(crate) unsafe fn take(&self) -> T {
            // SAFETY: promised.
            unsafe { (*self.0.get()).assume_init_read() }
        }

        /// Where the task is.
        #[inline(always)]
        pub(crate) fn place(&self) -> *mut T {
            self.0.get().cast()
        }
    }

    /// Whether this is the crate that has this flaw, on purpose: never, outside of models.
    #[inline(always)]
    pub(crate) fn has_flaw(_: &'static str) -> bool {
        false
    }

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
    compiler_fence, fence, has_flaw, pause, Arc, AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicU8, AtomicUsize,
    ContestedU64, ContestedUsize, Ordering, TaskCell,
};
