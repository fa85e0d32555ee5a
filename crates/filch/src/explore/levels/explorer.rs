//! The worker of an exploration by level, as a task sees it.

use std::fmt;

use crate::explore::explorer::Stop;

/// The worker that runs a task of a level. Pushes tasks of the next level, stops the exploration,
/// has a state.
pub struct LevelExplorer<'a, T, S = ()> {
    /// The tasks of the next level. Not behind a reference, so that a compiler can hold it in
    /// registers.
    pub(super) pushed: Vec<T>,
    /// Gets `pushed` back, also if the task panics.
    pub(super) home: &'a mut Vec<T>,
    pub(super) state: &'a mut S,
    pub(super) index: usize,
    pub(super) level: usize,
    pub(super) redundant: u64,
    pub(super) stop: &'a dyn Stop,
}

impl<T, S> LevelExplorer<'_, T, S> {
    /// Pushes a task of the next level.
    ///
    /// # Panics
    ///
    /// If there is no address space left. The panic stops the exploration.
    #[inline]
    pub fn push(&mut self, task: T) {
        self.pushed.push(task);
    }

    /// Pushes many tasks of the next level.
    ///
    /// # Panics
    ///
    /// As for [`push`](LevelExplorer::push).
    #[inline]
    pub fn push_all(&mut self, tasks: impl IntoIterator<Item = T>) {
        self.pushed.extend(tasks);
    }

    /// Returns the number of the current level. The roots are level 0.
    #[inline]
    pub fn level(&self) -> usize {
        self.level
    }

    /// Stops the exploration. No worker begins another task once it has seen the stop, and each
    /// worker looks before every task.
    pub fn stop(&self) {
        self.stop.stop();
    }

    /// Returns whether the exploration was stopped or cancelled, or its deadline has passed.
    ///
    /// For tasks that take long. Reads the clock if there is a deadline.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    /// Records that this task was done already, for the
    /// [counts](crate::explore::Counts::redundant).
    #[inline]
    pub fn count_redundant(&mut self) {
        self.redundant += 1;
    }

    /// Returns the index of this explorer, from 0. At most one task runs under an index at a time.
    #[inline]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the worker's own state.
    #[inline]
    pub fn state(&mut self) -> &mut S {
        self.state
    }

    /// Returns the worker's own state, and a handle that pushes, to use both at once.
    ///
    /// ```
    /// use filch::explore::Explore;
    ///
    /// // Halves until only ones are left. Each worker reuses one list for the two halves.
    /// let explored = Explore::exactly_once().state(|_| Vec::new()).run_by_level([12u32], |n, worker| {
    ///     let (halves, mut tasks) = worker.split();
    ///     halves.clear();
    ///     halves.extend([n / 2, n - n / 2]);
    ///     tasks.push_all(halves.iter().copied().filter(|half| *half > 1));
    /// });
    /// assert_eq!(explored.total().tasks, 11);
    /// ```
    #[inline]
    pub fn split(&mut self) -> (&mut S, LevelPusher<'_, T>) {
        (self.state, LevelPusher { pushed: &mut self.pushed })
    }
}

impl<T, S> Drop for LevelExplorer<'_, T, S> {
    #[inline(always)]
    fn drop(&mut self) {
        std::mem::swap(self.home, &mut self.pushed);
    }
}

impl<T, S> fmt::Debug for LevelExplorer<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LevelExplorer").field("index", &self.index).field("level", &self.level).finish_non_exhaustive()
    }
}

/// A handle that pushes while the state is in use; see [`LevelExplorer::split`].
pub struct LevelPusher<'a, T> {
    pushed: &'a mut Vec<T>,
}

impl<T> LevelPusher<'_, T> {
    /// Pushes a task of the next level, like [`LevelExplorer::push`].
    ///
    /// # Panics
    ///
    /// As for [`LevelExplorer::push`].
    #[inline]
    pub fn push(&mut self, task: T) {
        self.pushed.push(task);
    }

    /// Pushes many tasks of the next level, like [`LevelExplorer::push_all`].
    ///
    /// # Panics
    ///
    /// As for [`LevelExplorer::push_all`].
    #[inline]
    pub fn push_all(&mut self, tasks: impl IntoIterator<Item = T>) {
        self.pushed.extend(tasks);
    }
}

impl<T> fmt::Debug for LevelPusher<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LevelPusher").finish_non_exhaustive()
    }
}
