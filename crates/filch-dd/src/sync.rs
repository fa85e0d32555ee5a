//! The synchronisation primitives, replaced by loom's under `--cfg loom`.

use std::sync::{LockResult, PoisonError};

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

/// Returns the data of a lock, also after a panic: every critical section leaves its data usable.
pub(crate) fn unpoisoned<T>(data: LockResult<T>) -> T {
    data.unwrap_or_else(PoisonError::into_inner)
}

/// Locks, also after a panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    unpoisoned(mutex.lock())
}

/// Like [`lock`], but returns `None` instead of waiting.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
