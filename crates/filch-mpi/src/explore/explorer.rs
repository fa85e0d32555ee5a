//! A task's access to the worker that runs it.

use std::fmt;

use filch::explore::Owner;

/// A worker's part in an exploration across ranks, as a task sees it.
///
/// As [`filch::explore::Explorer`], but tasks may go to other ranks.
pub struct Explorer<'a, 'e, Q: Owner> {
    pub(super) local: &'a mut filch::explore::Explorer<'e, Q>,
    pub(super) outbound: &'a dyn Outbound<Q::Task>,
}

/// Takes tasks that are for other ranks.
pub(super) trait Outbound<T>: Sync {
    /// Sends the task, or returns it if it is for this rank.
    fn send_if_remote(&self, worker: usize, task: T) -> Option<T>;
}

/// Keeps all tasks on this rank.
pub(super) struct KeepLocal;

impl<T> Outbound<T> for KeepLocal {
    fn send_if_remote(&self, _: usize, task: T) -> Option<T> {
        Some(task)
    }
}

impl<Q: Owner> Explorer<'_, '_, Q> {
    /// Adds a task, on this rank or on the rank that is its home.
    ///
    /// # Panics
    ///
    /// If the queue is at its limit, the memory is exhausted, the task cannot be encoded for
    /// another rank, or its home is no rank. The panic stops the exploration on all ranks.
    #[inline]
    pub fn push(&self, task: Q::Task) {
        if let Some(task) = self.outbound.send_if_remote(self.local.index(), task) {
            self.local.push(task);
        }
    }

    /// Adds many tasks.
    ///
    /// # Panics
    ///
    /// As [`push`](Explorer::push).
    #[inline]
    pub fn push_all(&self, tasks: impl IntoIterator<Item = Q::Task>) {
        for task in tasks {
            self.push(task);
        }
    }

    /// Adds a task that is for this rank. Skips the check that [`push`](Explorer::push) makes.
    ///
    /// # Panics
    ///
    /// If the queue is at its limit or there is no memory left.
    #[inline]
    pub fn push_here(&self, task: Q::Task) {
        self.local.push(task);
    }

    /// Stops the exploration on all ranks.
    ///
    /// On this rank no worker starts another task. The other ranks go on until they receive the
    /// message.
    pub fn stop(&self) {
        self.local.stop();
    }

    /// Returns whether the exploration was stopped on this rank, or its time is up.
    pub fn is_stopped(&self) -> bool {
        self.local.is_stopped()
    }

    /// Records that the current task was already done, for the
    /// [counts](super::RankCounts::redundant).
    #[inline]
    pub fn count_redundant(&mut self) {
        self.local.count_redundant();
    }

    /// Returns the index of this worker on its rank, from 0.
    #[inline]
    pub fn index(&self) -> usize {
        self.local.index()
    }
}

impl<Q: Owner> fmt::Debug for Explorer<'_, '_, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Explorer").field("index", &self.index()).finish_non_exhaustive()
    }
}
