//! The workers of an exploration by level that are on no thread.
//!
//! **No worker stays idle that a level needs.** A worker that becomes idle looks at the gate under
//! the lock of the list. The owner opens the gate, and then takes workers under the same lock. If
//! the worker is first, the owner finds it in the list. Otherwise the worker sees the open gate.
//!
//! The owner takes fewer workers if some are awake and search. A worker leaves that count
//! before it takes the lock, and the owner reads the count under the lock. So a worker that the
//! owner finds in the list is not counted.

use super::gate::{Gate, Opening};
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

    /// Opens the gate, for a level of which the positions before `first` are done, and takes workers
    /// for it. The caller is the owner.
    pub(crate) fn open_and_take(&self, gate: &Gate, first: usize, most: impl FnOnce() -> usize) -> (Opening, Vec<X>) {
        if defect(Defect::TakesBeforeItOpens) {
            let workers = self.take(most);
            return (gate.open(first), workers);
        }
        let opening = gate.open(first);
        (opening, self.take(most))
    }

    /// Takes workers. Calls `most` under the lock, for their number.
    pub(crate) fn take(&self, most: impl FnOnce() -> usize) -> Vec<X> {
        if defect(Defect::CountsBeforeTheLock) {
            let most = most();
            return self.take_counted(|| most);
        }
        self.take_counted(most)
    }

    fn take_counted(&self, most: impl FnOnce() -> usize) -> Vec<X> {
        let mut workers = lock(&self.0);
        let kept = workers.len().saturating_sub(most());
        workers.split_off(kept)
    }

    /// Returns all workers.
    pub(crate) fn into_workers(self) -> Vec<X> {
        std::mem::take(&mut *lock(&self.0))
    }
}
