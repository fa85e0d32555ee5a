//! The primitives, in one place, so that a checker can take their place: loom's under `--cfg loom`, shuttle's under
//! `--cfg shuttle`, otherwise those of the standard library; but under `--cfg filch_tsan` locks of our own, which ThreadSanitizer can
//! see through where it cannot see through the library's.

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

/// A thread-local whose first value is a constant, where the checkers' thread-locals know none.
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
/// On x86 the exchange is a full barrier already, and the fence has only to hold back the compiler. It
/// would cost as much as the exchange.
#[inline(always)]
pub(crate) fn fence_after_exchange() {
    #[cfg(all(target_arch = "x86_64", not(any(loom, shuttle))))]
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
    #[cfg(not(all(target_arch = "x86_64", not(any(loom, shuttle)))))]
    fence(Ordering::SeqCst);
}

/// Locks, also after a panic: no section of ours leaves its data in a state that a later one could not use.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}
