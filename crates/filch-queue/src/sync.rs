//! The atomics of the crate, in one place, so that loom can replace them.
//!
//! Under `--cfg loom` they are loom's, behind a thin layer that knows every call site and can
//! weaken a single site.

#[cfg(not(loom))]
mod real {
    use core::cell::UnsafeCell;
    use core::mem::MaybeUninit;

    pub(crate) use alloc::sync::Arc;
    pub(crate) use core::sync::atomic::{
        compiler_fence, fence, AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicU8, AtomicUsize, Ordering,
    };

    /// A word that one side of a queue stores and the other side exchanges.
    pub(crate) type ContestedU64 = AtomicU64;
    /// An index that one side of a queue stores and the other side exchanges.
    pub(crate) type ContestedUsize = AtomicUsize;

    /// Storage for a single task, with a single reader or writer at a time.
    #[repr(transparent)]
    pub(crate) struct TaskCell<T>(UnsafeCell<MaybeUninit<T>>);

    impl<T> TaskCell<T> {
        #[inline(always)]
        pub(crate) fn empty() -> Self {
            TaskCell(UnsafeCell::new(MaybeUninit::uninit()))
        }

        /// Writes a task into the cell.
        ///
        /// # Safety
        ///
        /// No other thread reads or writes the cell meanwhile.
        #[inline(always)]
        pub(crate) unsafe fn write(&self, task: T) {
            // SAFETY: the caller guarantees it.
            unsafe { (*self.0.get()).write(task) };
        }

        /// Takes the task out of the cell.
        ///
        /// # Safety
        ///
        /// The cell holds a task, no other thread writes it meanwhile, and it is not taken again.
        #[inline(always)]
        pub(crate) unsafe fn take(&self) -> T {
            // SAFETY: the caller guarantees it.
            unsafe { (*self.0.get()).assume_init_read() }
        }

        /// Returns a pointer to the task.
        #[inline(always)]
        pub(crate) fn place(&self) -> *mut T {
            self.0.get().cast()
        }
    }

    /// Returns whether this build has the named deliberate flaw: never, outside of models.
    #[inline(always)]
    pub(crate) fn has_flaw(_: &'static str) -> bool {
        false
    }

    /// Spins, or yields the time slice, in a loop that waits.
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
