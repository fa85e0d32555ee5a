//! The workers' queues.
//!
//! Searches use [`Bulk`]. The other kinds are only for measurements that compare with it: what do
//! batches gain over a queue of single tasks, or over a lock?

#[cfg(not(all(loom, test)))]
mod bulk;
#[cfg(all(loom, test))]
#[path = "small.rs"]
mod bulk;
mod chase_lev;
mod locked;

use filch_queue::bulk::{Batch, FractionError};

pub use bulk::Bulk;
pub use chase_lev::ChaseLev;
pub use locked::Locked;

/// A kind of queue for the workers.
pub trait Queue: Sized + 'static {
    /// The owner's side of a queue.
    type Owner<T: Send>: QueueOwner<T> + Send;
    /// The thief's side of a queue.
    type Thief<T: Send>: QueueThief<T> + Send;

    /// Returns the two sides of an empty queue.
    fn new<T: Send>() -> (Self::Owner<T>, Self::Thief<T>);
}

/// The owner's side: adds tasks, and takes the youngest.
pub trait QueueOwner<T> {
    /// Adds a task.
    fn push(&self, task: T);

    /// Adds a batch, the oldest task first.
    fn push_batch(&self, batch: Batch<T>);

    /// Takes the youngest task.
    fn pop(&self) -> Option<T>;

    /// Returns the number of tasks.
    fn len(&self) -> usize;

    /// Returns whether there is no task.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The thief's side. Only the master has it.
pub trait QueueThief<T> {
    /// Takes a share of the oldest tasks, rounded up: fewer if the owner is faster.
    ///
    /// # Errors
    ///
    /// If the share is not from 0 to 1.
    fn steal(&mut self, share: f64) -> Result<Batch<T>, FractionError>;

    /// Returns the number of tasks a moment ago.
    fn queued(&self) -> usize;
}

/// Returns the number of tasks in a share of a queue without batches, rounded up.
fn tasks_in(share: f64, length: usize) -> Result<usize, FractionError> {
    if (0.0..=1.0).contains(&share) {
        Ok((share * length as f64).ceil() as usize)
    } else {
        // Only a bulk queue makes this error.
        filch_queue::bulk::new::<()>().1.steal(share).map(|batch| batch.len())
    }
}
