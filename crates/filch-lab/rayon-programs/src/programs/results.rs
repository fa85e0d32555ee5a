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

/// Adds to the result of a task, so that a second run of the task changes the checksum.
///
/// A load and a store, because no two threads should run one task, and an exchange would be most of
/// its cost.
pub(super) fn add(result: &AtomicU64, number: u64) {
    result.store(result.load(Ordering::Relaxed).wrapping_add(number), Ordering::Relaxed);
}

/// A checksum of all results. Relaxed is enough, since all tasks have ended.
pub(super) fn sum(results: &[AtomicU64]) -> u64 {
    checksum(results.iter().map(|result| result.load(Ordering::Relaxed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_is_lost_or_runs_twice_changes_the_checksum() {
        let of = |tasks: &[usize]| {
            let results = empty(5);
            tasks.iter().for_each(|&task| add(&results[task], task as u64 + 1));
            sum(&results)
        };
        assert_eq!(of(&[0, 1, 2, 3, 4]), of(&[4, 1, 0, 3, 2]));
        assert_ne!(of(&[0, 1, 2, 3, 4]), of(&[0, 1, 2, 3]));
        assert_ne!(of(&[0, 1, 2, 3, 4]), of(&[0, 1, 2, 3, 4, 2]));
        assert_ne!(of(&[0, 1, 2, 3, 4]), of(&[0, 1, 1, 3, 4]));
    }
}
