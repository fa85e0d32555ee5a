//! What a task sees of the worker that runs it.

use std::fmt;

use filch_queue::{barrier, CapacityError, Owner, PushError};

use super::bench::Callable;
use super::explored::Counts;
use crate::sync::{fence, Ordering};
use crate::unwind;

/// A worker's part in an exploration, as a task sees it: pushes new tasks, stops everything, has a state of its own.
pub struct Explorer<'a, Q, S = ()> {
    /// Not behind a reference, so that a compiler can hold it in registers.
    pub(super) owner: Q,
    /// Behind one: a task that takes its address does not take the owner's.
    pub(super) state: &'a mut S,
    pub(super) index: usize,
    pub(super) counts: Counts,
    pub(super) others: Others<'a>,
}

/// How an explorer that has pushed a task makes sure that somebody comes for it.
#[derive(Clone, Copy)]
pub(super) struct Others<'a> {
    pub(super) callable: &'a Callable,
    /// Whether a push has a fence, because the kernel makes no barrier for those that go to the bench.
    pub(super) fenced: bool,
    pub(super) crew: &'a dyn Summon,
}

impl Others<'_> {
    /// Calls one of those that have nothing to do, if there is one.
    #[inline(always)]
    pub(super) fn call(self) {
        if self.callable.is_anybody() {
            self.crew.call();
        }
    }
}

/// What an explorer asks of the others, whatever their queues are.
pub(super) trait Summon {
    /// Calls one of those that have nothing to do.
    fn call(&self);
    /// Ends the exploration.
    fn stop(&self);
    /// Whether it was stopped or has reached a limit.
    fn is_stopped(&self) -> bool;
}

impl<Q: Owner, S> Explorer<'_, Q, S> {
    /// Adds a task.
    ///
    /// # Panics
    ///
    /// If the queue is at its limit or there is no memory left. The panic stops the exploration.
    #[inline]
    pub fn push(&self, task: Q::Task) {
        push(&self.owner, self.others, task);
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

    /// The worker's own state, and what pushes, for when both are needed at once.
    ///
    /// ```
    /// use filch::explore::Explore;
    ///
    /// // Halves, until there are only ones; the two halves of a task lie in a list that is not made anew each time.
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
        (self.state, Pusher { owner: &self.owner, others: self.others })
    }
}

impl<Q, S> Explorer<'_, Q, S> {
    /// Stops the exploration: no worker begins another task once it has seen it, and each looks before every task.
    pub fn stop(&self) {
        self.others.crew.stop();
    }

    /// Whether it was stopped or cancelled, or its time is up: for tasks that take long. Costs a look at the clock if there is a deadline.
    pub fn is_stopped(&self) -> bool {
        self.others.crew.is_stopped()
    }

    /// Tells that the task at hand was done already, for the [counts](Counts::redundant).
    #[inline]
    pub fn found_done(&mut self) {
        self.counts.redundant += 1;
    }

    /// Which of the explorers this is, from 0. At most one task runs under an index at a time.
    #[inline]
    pub fn index(&self) -> usize {
        self.index
    }

    /// The worker's own state.
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

/// Pushes while the state is in use; see [`Explorer::split`].
pub struct Pusher<'a, Q> {
    owner: &'a Q,
    others: Others<'a>,
}

impl<Q: Owner> Pusher<'_, Q> {
    /// As [`Explorer::push`].
    ///
    /// # Panics
    ///
    /// As that.
    #[inline]
    pub fn push(&self, task: Q::Task) {
        push(self.owner, self.others, task);
    }

    /// As [`Explorer::push_all`].
    ///
    /// # Panics
    ///
    /// As that.
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

/// Adds a task to a queue, and makes sure that somebody comes for it who has nothing to do.
#[inline(always)]
pub(super) fn push<Q: Owner>(owner: &Q, others: Others<'_>, task: Q::Task) {
    if let Err(error) = owner.try_push(task) {
        refuse(error);
    }
    announce(others);
}

/// Makes sure that somebody who has nothing to do comes for what was just pushed.
#[inline(always)]
pub(super) fn announce(others: Others<'_>) {
    // Who goes to the bench says so, has a barrier made here, and looks once more.
    if others.fenced {
        // SeqCst: nobody makes that barrier, so it is here.
        fence(Ordering::SeqCst);
    } else {
        barrier::light();
    }
    others.call();
}

#[cold]
#[inline(never)]
pub(super) fn refuse<T>(error: PushError<T>) -> ! {
    let cause = error.cause();
    // Its drop might panic too.
    unwind::discard(error);
    match cause {
        CapacityError::TooLarge { limit, .. } => panic!(
            "a worker's queue is full: this kind holds at most {limit} tasks. Explore with \
             filch::explore::queue::ChaseLev, which holds as many as there is memory for"
        ),
        cause => panic!("a task could not be pushed: {cause}"),
    }
}
