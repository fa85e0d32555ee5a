//! What a task sees of the worker that runs it.

use std::fmt;

use filch::explore::Owner;

/// A worker's part in an exploration across ranks, as a task sees it: [`filch::explore::Explorer`], whose tasks may leave for other ranks.
pub struct Explorer<'a, 'e, Q: Owner> {
    pub(super) local: &'a mut filch::explore::Explorer<'e, Q>,
    pub(super) away: &'a dyn Away<Q::Task>,
}

/// What takes tasks that are not for this rank.
pub(super) trait Away<T>: Sync {
    /// Gives the task back if it is for this rank.
    fn take(&self, worker: usize, task: T) -> Option<T>;
}

/// All tasks stay.
pub(super) struct Here;

impl<T> Away<T> for Here {
    fn take(&self, _: usize, task: T) -> Option<T> {
        Some(task)
    }
}

impl<Q: Owner> Explorer<'_, '_, Q> {
    /// Adds a task, here or on the rank that is its home.
    ///
    /// # Panics
    ///
    /// If the queue is at its limit or there is no memory left, if the task cannot be written as bytes for another rank, or if there is no such rank. The panic stops the exploration on all ranks.
    #[inline]
    pub fn push(&self, task: Q::Task) {
        if let Some(task) = self.away.take(self.local.index(), task) {
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

    /// Adds a task that is known to be for this rank: one question less than [`push`](Explorer::push).
    ///
    /// # Panics
    ///
    /// If the queue is at its limit or there is no memory left.
    #[inline]
    pub fn push_here(&self, task: Q::Task) {
        self.local.push(task);
    }

    /// Stops the exploration on all ranks. On this one no worker begins another task; the others go on until they hear of it.
    pub fn stop(&self) {
        self.local.stop();
    }

    /// Whether it was stopped on this rank, or its time is up.
    pub fn is_stopped(&self) -> bool {
        self.local.is_stopped()
    }

    /// Tells that the task at hand was done already, for the [counts](super::RankCounts::redundant).
    #[inline]
    pub fn found_done(&mut self) {
        self.local.found_done();
    }

    /// Which of this rank's workers this is, from 0.
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
