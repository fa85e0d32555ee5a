//! The worker of an exploration, as a task sees it.

use std::fmt;

use filch_queue::{barrier, CapacityError, Owner, PushError};

use super::explored::Counts;
use super::idle_list::IdleCounts;
use crate::sync::{fence, Ordering};
use crate::unwind;

/// The worker that runs a task. Pushes new tasks, stops the exploration, has a state.
pub struct Explorer<'a, Q, S = ()> {
    /// Not behind a reference, so that a compiler can hold it in registers.
    pub(super) owner: Q,
    /// Behind a reference: a task that takes its address does not take the owner's.
    pub(super) state: &'a mut S,
    pub(super) index: usize,
    pub(super) counts: Counts,
    pub(super) handle: Handle<'a>,
}

/// An explorer's access to the exploration: it wakes another explorer for a task, or stops all.
#[derive(Clone, Copy)]
pub(super) struct Handle<'a> {
    pub(super) idle: &'a IdleCounts,
    /// Whether a push has a fence. It has if the kernel provides no barrier for explorers that
    /// become idle.
    pub(super) fenced: bool,
    pub(super) control: &'a dyn Control,
}

impl Handle<'_> {
    /// Wakes an idle explorer, if there is one and none searches.
    #[inline(always)]
    pub(super) fn wake_if_needed(self) {
        if self.idle.should_wake() {
            self.control.wake_one();
        }
    }
}

/// Control of the exploration, whatever the types of its queues and states.
pub(super) trait Control: Stop {
    /// Wakes an idle explorer.
    fn wake_one(&self);
}

/// Stops an exploration, whatever its types.
pub(super) trait Stop {
    /// Ends the exploration.
    fn stop(&self);
    /// Returns whether the exploration was stopped or has reached a limit.
    fn is_stopped(&self) -> bool;
}

impl<Q: Owner, S> Explorer<'_, Q, S> {
    /// Pushes a task.
    ///
    /// # Panics
    ///
    /// If the queue is at its limit or there is no memory left. The panic stops the exploration.
    #[inline]
    pub fn push(&self, task: Q::Task) {
        push(&self.owner, self.handle, task);
    }

    /// Pushes many tasks.
    ///
    /// # Panics
    ///
    /// As for [`push`](Explorer::push).
    #[inline]
    pub fn push_all(&self, tasks: impl IntoIterator<Item = Q::Task>) {
        for task in tasks {
            self.push(task);
        }
    }

    /// Returns the worker's own state, and a handle that pushes, to use both at once.
    ///
    /// ```
    /// use filch::explore::Explore;
    ///
    /// // Halves until only ones are left. Each worker reuses one list for the two halves.
    /// let explored = Explore::exactly_once().state(|_| Vec::new()).run([12u32], |n, worker| {
    ///     let (halves, tasks) = worker.split();
    ///     halves.clear();
    ///     halves.extend([n / 2, n - n / 2]);
    ///     tasks.push_all(halves.iter().copied().filter(|half| *half > 1));
    /// });
    /// assert_eq!(explored.total().tasks, 11);
    /// ```
    #[inline]
    pub fn split(&mut self) -> (&mut S, Pusher<'_, Q>) {
        (self.state, Pusher { owner: &self.owner, handle: self.handle })
    }
}

impl<Q, S> Explorer<'_, Q, S> {
    /// Stops the exploration. No worker begins another task once it has seen the stop, and each
    /// worker looks before every task.
    pub fn stop(&self) {
        self.handle.control.stop();
    }

    /// Returns whether the exploration was stopped or cancelled, or its deadline has passed.
    ///
    /// For tasks that take long. Reads the clock if there is a deadline.
    pub fn is_stopped(&self) -> bool {
        self.handle.control.is_stopped()
    }

    /// Records that this task was done already, for the [counts](Counts::redundant).
    #[inline]
    pub fn count_redundant(&mut self) {
        self.counts.redundant += 1;
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
}

impl<Q, S> fmt::Debug for Explorer<'_, Q, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Explorer").field("index", &self.index).finish_non_exhaustive()
    }
}

/// A handle that pushes while the state is in use; see [`Explorer::split`].
pub struct Pusher<'a, Q> {
    owner: &'a Q,
    handle: Handle<'a>,
}

impl<Q: Owner> Pusher<'_, Q> {
    /// Pushes a task, like [`Explorer::push`].
    ///
    /// # Panics
    ///
    /// As for [`Explorer::push`].
    #[inline]
    pub fn push(&self, task: Q::Task) {
        push(self.owner, self.handle, task);
    }

    /// Pushes many tasks, like [`Explorer::push_all`].
    ///
    /// # Panics
    ///
    /// As for [`Explorer::push_all`].
    #[inline]
    pub fn push_all(&self, tasks: impl IntoIterator<Item = Q::Task>) {
        for task in tasks {
            self.push(task);
        }
    }
}

impl<Q> fmt::Debug for Pusher<'_, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pusher").finish_non_exhaustive()
    }
}

/// Pushes a task, and makes sure that an explorer looks for it.
#[inline(always)]
pub(super) fn push<Q: Owner>(owner: &Q, handle: Handle<'_>, task: Q::Task) {
    match owner.try_push_and_look(task) {
        Ok(true) => announce(handle),
        Ok(false) => {}
        Err(error) => push_failed(error),
    }
}

/// Makes sure that an explorer looks for what was pushed last.
#[inline(always)]
pub(super) fn announce(handle: Handle<'_>) {
    // An explorer that becomes idle announces it, raises the alarms, makes this thread pass a
    // barrier, and looks once more.
    if handle.fenced {
        // SeqCst: the kernel provides no such barrier, so it is here.
        fence(Ordering::SeqCst);
    } else {
        barrier::light();
    }
    handle.wake_if_needed();
}

#[cold]
#[inline(never)]
pub(crate) fn push_failed<T>(error: PushError<T>) -> ! {
    let cause = error.cause();
    // The drop of the task might panic too.
    unwind::discard(error);
    match cause {
        CapacityError::TooLarge { limit, .. } => panic!(
            "a worker's queue is full: this kind holds at most {limit} tasks. Explore with \
             filch::queue::ChaseLev, which holds as many as there is memory for"
        ),
        cause => panic!("a task could not be pushed: {cause}"),
    }
}
