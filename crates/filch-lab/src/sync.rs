//! Locks after a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after a panic: every critical section leaves its data usable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
