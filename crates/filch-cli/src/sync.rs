//! Locks after a panic.

use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

/// Locks, also after a panic: every critical section leaves its data usable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    unpoisoned(mutex.lock())
}

/// Returns the data of a lock, also after a panic.
pub(crate) fn unpoisoned<T>(data: LockResult<T>) -> T {
    data.unwrap_or_else(PoisonError::into_inner)
}
