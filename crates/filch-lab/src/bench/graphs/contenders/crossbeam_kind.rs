//! crossbeam-deque as a queue of filch's exploration: only the queue differs.

use crossbeam_deque::{Stealer, Worker};
use filch_queue::{AtLeastOnce, Owner, PushError, Steal, Thief};

use crate::queue::Kind;

/// `crossbeam-lifo`: crossbeam's deque, whose owner takes the youngest task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CrossbeamLifo;

/// The owner's side, which pushes and pops.
#[derive(Debug)]
pub(crate) struct CrossbeamOwner<T>(Worker<T>);

/// The thief's side, which steals.
#[derive(Debug)]
pub(crate) struct CrossbeamThief<T>(Stealer<T>);

impl<T> Clone for CrossbeamThief<T> {
    fn clone(&self) -> Self {
        CrossbeamThief(self.0.clone())
    }
}

impl<T: Send> Kind<T> for CrossbeamLifo {
    type Owner = CrossbeamOwner<T>;
    type Thief = CrossbeamThief<T>;

    fn make(&self) -> (CrossbeamOwner<T>, CrossbeamThief<T>) {
        let worker = Worker::new_lifo();
        let stealer = worker.stealer();
        (CrossbeamOwner(worker), CrossbeamThief(stealer))
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
