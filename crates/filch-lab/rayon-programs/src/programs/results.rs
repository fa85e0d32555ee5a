//! The results of tasks, each in a place of its own.
//!
//! A sum that all tasks share would be most of their cost.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::checksum;

/// The results of `tasks` tasks that have not run.
pub(super) fn empty(tasks: usize) -> Vec<AtomicU64> {
    (0..tasks).map(|_| AtomicU64::new(0)).collect()
}

/// Forgets all results. Relaxed is enough, since tasks start after it.
pub(super) fn clear(results: &[AtomicU64]) {
    results.iter().for_each(|result| result.store(0, Ordering::Relaxed));
}

/// A checksum of all results. Relaxed is enough, since all tasks have ended.
pub(super) fn sum(results: &[AtomicU64]) -> u64 {
    checksum(results.iter().map(|result| result.load(Ordering::Relaxed)))
}
