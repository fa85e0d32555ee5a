//! The tasks that an exploration begins with, until an explorer takes them.

use std::vec::IntoIter;

use crate::sync::{lock, AtomicBool, Mutex, Ordering};

/// The tasks that an exploration begins with, and no explorer has taken. Their number never grows.
#[derive(Debug)]
pub(super) struct Roots<T> {
    left: AtomicBool,
    tasks: Mutex<IntoIter<T>>,
    explorers: usize,
}

impl<T> Roots<T> {
    pub(super) fn new(tasks: Vec<T>, explorers: usize) -> Self {
        Roots { left: AtomicBool::new(!tasks.is_empty()), tasks: Mutex::new(tasks.into_iter()), explorers }
    }

    /// Takes a share of the roots that are left, in order. Shares are large at first, so that
    /// explorers do not meet here often, and small at last, so that they end together.
    pub(super) fn take(&self) -> Vec<T> {
        if !self.are_left() {
            return Vec::new();
        }
        let mut tasks = lock(&self.tasks);
        let share = tasks.len().div_ceil(2 * self.explorers);
        let share = tasks.by_ref().take(share).collect();
        self.left.store(tasks.len() > 0, Ordering::Relaxed);
        share
    }

    /// Returns whether there may be any left.
    pub(super) fn are_left(&self) -> bool {
        // Relaxed: it only ever becomes false, and then no task is left, now or later.
        self.left.load(Ordering::Relaxed)
    }
}
