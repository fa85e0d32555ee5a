//! Deques for tasks of scopes of which the spawning worker has no segment. For example, the worker
//! runs a stolen half of a join inside of the scope, or another scope is its innermost.
//!
//! Such a task is counted when it is pushed, so the worker need not run it before it goes on. The
//! owner takes the oldest, as thieves do. Each deque has the tasks of one scope at a time, so that
//! a worker that waits can tell whether its wait needs them.

use std::cell::Cell;
use std::fmt;

use super::list::List;
use super::{Counted, Deque};
use crate::job::Job;
use crate::lineage::Lineage;

/// The stray tasks of a worker; see the module.
pub(crate) struct Strays {
    deques: List,
    /// The index of the deque at which [`take`](Strays::take) looks first. It is behind the deque
    /// from which the last task was taken.
    next: Cell<usize>,
}

// SAFETY: the functions that use the cell are unsafe, and only the owner calls them.
unsafe impl Sync for Strays {}

impl Strays {
    pub(crate) fn new() -> Strays {
        Strays { deques: List::new(Counted::WhenPushed), next: Cell::new(0) }
    }

    /// Returns all deques that exist.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Deque> {
        self.deques.iter()
    }

    /// Pushes a counted task. Returns the deque, or the task if all deques have tasks of other
    /// scopes.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn push(&self, task: Job) -> Result<&Deque, Job> {
        // SAFETY: the caller guarantees it.
        let Some(tasks) = (unsafe { self.deque_for(task.lineage) }) else { return Err(task) };
        // SAFETY: as above; a job is written.
        unsafe { tasks.push(|slot| slot.write(task)) };
        Ok(tasks)
    }

    /// Returns the deque of this lineage, or a deque without tasks, which becomes that.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    unsafe fn deque_for(&self, lineage: Lineage) -> Option<&Deque> {
        // SAFETY: the caller guarantees it.
        if let Some(tasks) = self.iter().find(|tasks| unsafe { tasks.is_open_for(lineage) }) {
            return Some(tasks);
        }
        let without_tasks = self.iter().find(|tasks| !tasks.has_tasks());
        // SAFETY: the caller guarantees it; all before were created.
        let tasks = without_tasks.or_else(|| unsafe { self.deques.get_or_make(self.iter().count()) })?;
        // SAFETY: the caller guarantees it.
        unsafe {
            if tasks.is_open() {
                tasks.close();
            }
            tasks.open(lineage)?;
        }
        Some(tasks)
    }

    /// Takes the oldest task of a deque. The deques take turns.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn take(&self) -> Option<Job> {
        let next = self.next.get();
        let mut in_turn = self.iter().enumerate().skip(next).chain(self.iter().enumerate().take(next));
        let (at, task) = in_turn.find_map(|(at, tasks)| {
            // SAFETY: the caller guarantees it.
            tasks.has_tasks().then(|| unsafe { tasks.take_oldest() }).flatten().map(|task| (at, task))
        })?;
        self.next.set(at + 1);
        Some(task)
    }

    /// Takes the oldest task of a lineage that is wanted.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn take_if(&self, is_wanted: impl Fn(Lineage) -> bool) -> Option<Job> {
        // SAFETY: the caller guarantees it.
        unsafe { self.wanted(is_wanted).find_map(|tasks| tasks.take_oldest()) }
    }

    /// Returns whether there is a task of a lineage that is wanted.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn has(&self, is_wanted: impl Fn(Lineage) -> bool) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe { self.wanted(is_wanted) }.next().is_some()
    }

    /// Returns the deques that have tasks of a lineage that is wanted.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    unsafe fn wanted(&self, is_wanted: impl Fn(Lineage) -> bool) -> impl Iterator<Item = &Deque> {
        // SAFETY: the caller guarantees it.
        self.iter().filter(move |tasks| tasks.has_tasks() && unsafe { tasks.lineage() }.is_some_and(&is_wanted))
    }
}

impl fmt::Debug for Strays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Strays").finish_non_exhaustive()
    }
}
