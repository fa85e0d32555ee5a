//! The synchronisation primitives, replaced by loom's under `--cfg loom`.

/// Atomics that are only advice.
///
/// An old value does no harm, so loom need not explore it.
pub(crate) mod advice {
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
}

#[cfg(not(loom))]
mod real {
    pub(crate) use std::sync::atomic::{fence, AtomicBool, AtomicU64, Ordering};
    pub(crate) use std::sync::{Mutex, MutexGuard, TryLockError};
    pub(crate) use std::thread;
}

#[cfg(loom)]
mod real {
    pub(crate) use loom::sync::atomic::{fence, AtomicBool, AtomicU64, Ordering};
    pub(crate) use loom::sync::{Mutex, MutexGuard};
    pub(crate) use loom::thread;
    pub(crate) use std::sync::TryLockError;
}

pub(crate) use real::*;

/// Locks, also after a panic: every critical section leaves its data usable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}

/// Like [`lock`], but returns `None` instead of waiting.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
