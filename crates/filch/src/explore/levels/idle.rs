//! The workers of an exploration by level that are on no thread.
//!
//! **No worker stays idle that a level needs.** A worker that becomes idle looks at the gate under
//! the lock of the list. The owner opens the gate, and then takes workers under the same lock. If
//! the worker is first, the owner finds it in the list. Otherwise the worker sees the open gate.

use crate::defect::{defect, Defect};
use crate::sync::{lock, Mutex};

/// The list of idle workers; see the module. `X` is a worker.
#[derive(Debug)]
pub(crate) struct IdleWorkers<X>(Mutex<Vec<X>>);

impl<X> IdleWorkers<X> {
    /// Creates a list of these workers.
    pub(crate) fn new(workers: Vec<X>) -> Self {
        IdleWorkers(Mutex::new(workers))
    }

    /// Adds a worker. Returns it if it is needed after all.
    pub(crate) fn add(&self, worker: X, is_needed: impl FnOnce() -> bool) -> Option<X> {
        if defect(Defect::IdlesWithoutLook) {
            lock(&self.0).push(worker);
            return None;
        }
        let mut workers = lock(&self.0);
        if is_needed() {
            return Some(worker);
        }
        workers.push(worker);
        None
    }

    /// Takes up to this many workers, for a gate that was opened before.
    pub(crate) fn take(&self, most: usize) -> Vec<X> {
        let mut workers = lock(&self.0);
        let kept = workers.len().saturating_sub(most);
        workers.split_off(kept)
    }

    /// Returns all workers.
    pub(crate) fn into_workers(self) -> Vec<X> {
        std::mem::take(&mut *lock(&self.0))
    }
}
