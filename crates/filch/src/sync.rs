//! The primitives, in one place, so that a checker can take their place: loom's under `--cfg loom`, shuttle's under
//! `--cfg shuttle`, otherwise those of the standard library.

#[cfg(not(any(loom, shuttle)))]
mod real {
    pub(crate) use std::hint::spin_loop;
    pub(crate) use std::sync::atomic::{fence, AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, RwLock};
    pub(crate) use std::thread;
    pub(crate) use std::thread_local;
}

#[cfg(loom)]
mod real {
    pub(crate) use loom::hint::spin_loop;
    pub(crate) use loom::sync::atomic::{fence, AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard, RwLock};
    pub(crate) use loom::thread;
    pub(crate) use loom::thread_local;
}

#[cfg(all(shuttle, not(loom)))]
mod real {
    pub(crate) use shuttle::hint::spin_loop;
    pub(crate) use shuttle::sync::atomic::{fence, AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard, RwLock};
    pub(crate) use shuttle::thread;
    pub(crate) use shuttle::thread_local;
}

pub(crate) use real::*;

/// Locks, also after a panic: no section of ours leaves its data in a state that a later one could not use.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}
