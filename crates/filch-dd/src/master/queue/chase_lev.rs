//! filch's Chase-Lev deque: tasks are pushed and stolen one by one.

use filch_queue::bulk::{Batch, FractionError};
use filch_queue::chase_lev::{self, Owner, Thief};
use filch_queue::Steal;

use super::{tasks_in, Queue, QueueOwner, QueueThief};

/// The Chase-Lev deque of filch-queue.
#[derive(Debug)]
pub enum ChaseLev {}

impl Queue for ChaseLev {
    type Owner<T: Send> = Owner<T>;
    type Thief<T: Send> = Thief<T>;

    fn new<T: Send>() -> (Owner<T>, Thief<T>) {
        chase_lev::new()
    }
}

impl<T: Send> QueueOwner<T> for Owner<T> {
    #[inline(always)]
    fn push(&self, task: T) {
        self.push(task);
    }

    fn push_batch(&self, batch: Batch<T>) {
        batch.into_iter().for_each(|task| self.push(task));
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
    /// Steals one by one. The owner pops meanwhile, so the share may become all that is left.
    fn steal(&mut self, share: f64) -> Result<Batch<T>, FractionError> {
        let wanted = tasks_in(share, self.len())?;
        let mut batch = Batch::new();
        while batch.len() < wanted {
            match Thief::steal(self) {
                Steal::Success(task) => batch.push(task),
                // The owner took that task: look again.
                Steal::Retry => {}
                Steal::Empty | Steal::Abort => break,
            }
        }
        Ok(batch)
    }

    fn queued(&self) -> usize {
        self.len()
    }
}
