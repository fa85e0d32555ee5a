//! The synchronization primitives, in one place, so that a checker can replace them.
//!
//! Those of loom under `--cfg loom`, those of shuttle under `--cfg shuttle`, otherwise those of the
//! standard library. Under `--cfg filch_tsan` the locks are this crate's own: ThreadSanitizer
//! cannot see through those of the library.

use std::sync::{LockResult, PoisonError};

#[cfg(not(any(loom, shuttle)))]
mod real {
    pub(crate) use std::hint::spin_loop;
    pub(crate) use std::sync::atomic::{fence, AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    #[cfg(not(target_os = "linux"))]
    pub(crate) use std::sync::Condvar;
    #[cfg(not(filch_tsan))]
    pub(crate) use std::sync::{Mutex, MutexGuard};
    pub(crate) use std::thread;
    pub(crate) use std::thread_local;

    #[cfg(filch_tsan)]
    pub(crate) use super::visible::{Mutex, MutexGuard};
}

#[cfg(all(filch_tsan, not(any(loom, shuttle))))]
mod visible;

#[cfg(loom)]
mod real {
    pub(crate) use loom::hint::spin_loop;
    pub(crate) use loom::sync::atomic::{fence, AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use loom::thread;
    pub(crate) use loom::thread_local;
}

#[cfg(all(shuttle, not(loom)))]
mod real {
    pub(crate) use shuttle::hint::spin_loop;
    pub(crate) use shuttle::sync::atomic::{fence, AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use shuttle::thread;
    pub(crate) use shuttle::thread_local;
}

pub(crate) use real::*;

/// Declares a thread-local with a constant initial value. The checkers' thread-locals have no such
/// form.
macro_rules! thread_local_constant {
    ($(#[$attribute:meta])* static $name:ident: $type:ty = $value:expr;) => {
        #[cfg(not(any(loom, shuttle)))]
        $crate::sync::thread_local! {
            $(#[$attribute])*
            static $name: $type = const { $value };
        }
        #[cfg(any(loom, shuttle))]
        $crate::sync::thread_local! {
            $(#[$attribute])*
            static $name: $type = $value;
        }
    };
}

pub(crate) use thread_local_constant;

/// A full fence, for a thread whose last write was an atomic exchange.
///
/// On x86 the exchange is a full barrier already, and the fence only has to hold back the compiler.
/// A real fence would cost as much as the exchange.
#[inline(always)]
pub(crate) fn fence_after_exchange() {
    #[cfg(all(target_arch = "x86_64", not(any(loom, shuttle))))]
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
    #[cfg(not(all(target_arch = "x86_64", not(any(loom, shuttle)))))]
    fence(Ordering::SeqCst);
}

/// Returns the data of a lock, also after a panic: every critical section leaves its data usable.
pub(crate) fn unpoisoned<T>(data: LockResult<T>) -> T {
    data.unwrap_or_else(PoisonError::into_inner)
}

/// Locks `mutex`, also after a panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    unpoisoned(mutex.lock())
}
