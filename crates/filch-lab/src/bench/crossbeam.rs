//! crossbeam-deque behind the traits of filch's queues.

use crossbeam_deque::{Stealer, Worker};
use filch_queue::{AtLeastOnce, Owner, PushError, Steal, Thief};

/// The name of crossbeam's deque whose owner takes the youngest task.
pub(crate) const CROSSBEAM_LIFO: &str = "crossbeam-lifo";

/// The owner's side, which pushes and pops.
#[derive(Debug)]
pub(crate) struct CrossbeamOwner<T>(pub(crate) Worker<T>);

/// The thief's side, which steals.
#[derive(Debug)]
pub(crate) struct CrossbeamThief<T>(pub(crate) Stealer<T>);

/// Both sides of a deque.
pub(crate) fn sides<T>(worker: Worker<T>) -> (CrossbeamOwner<T>, CrossbeamThief<T>) {
    let stealer = worker.stealer();
    (CrossbeamOwner(worker), CrossbeamThief(stealer))
}

impl<T> Clone for CrossbeamThief<T> {
    fn clone(&self) -> Self {
        CrossbeamThief(self.0.clone())
    }
}

impl<T> AtLeastOnce for CrossbeamOwner<T> {}
impl<T> AtLeastOnce for CrossbeamThief<T> {}

impl<T> Owner for CrossbeamOwner<T> {
    type Task = T;

    #[inline(always)]
    fn push(&self, task: T) {
        self.0.push(task);
    }

    #[inline(always)]
    fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        // crossbeam's push aborts the process if there is no memory to grow.
        self.0.push(task);
        Ok(())
    }

    #[inline(always)]
    fn pop(&self) -> Option<T> {
        self.0.pop()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Thief for CrossbeamThief<T> {
    type Task = T;

    #[inline(always)]
    fn steal(&self) -> Steal<T> {
        match self.0.steal() {
            crossbeam_deque::Steal::Success(task) => Steal::Success(task),
            crossbeam_deque::Steal::Empty => Steal::Empty,
            crossbeam_deque::Steal::Retry => Steal::Retry,
        }
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
