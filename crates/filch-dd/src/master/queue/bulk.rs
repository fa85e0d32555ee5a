//! filch's bulk queue.

use filch_queue::bulk::{self, Batch, FractionError, Owner, Thief};

use super::{Queue, QueueOwner, QueueThief};

/// The bulk queue of filch-queue: batches are pushed and stolen whole.
#[derive(Debug)]
pub enum Bulk {}

impl Queue for Bulk {
    type Owner<T: Send> = Owner<T>;
    type Thief<T: Send> = Thief<T>;

    fn new<T: Send>() -> (Owner<T>, Thief<T>) {
        bulk::new()
    }
}

impl<T: Send> QueueOwner<T> for Owner<T> {
    #[inline(always)]
    fn push(&self, task: T) {
        self.push(task);
    }

    #[inline(always)]
    fn push_batch(&self, batch: Batch<T>) {
        self.push_batch(batch);
    }

    #[inline(always)]
    fn pop(&self) -> Option<T> {
        self.pop()
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.len()
    }
}

impl<T: Send> QueueThief<T> for Thief<T> {
    fn steal(&mut self, share: f64) -> Result<Batch<T>, FractionError> {
        Thief::steal(self, share)
    }

    fn queued(&self) -> usize {
        self.len()
    }
}
