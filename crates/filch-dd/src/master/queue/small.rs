//! A count and a list in place of the bulk queue, for loom's models.
//!
//! Bulk queues would make the models too large, and the models are not about them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use filch_queue::bulk::{Batch, FractionError};
use loom::sync::atomic::{AtomicUsize, Ordering};

use super::{QueueOwner, QueueThief};

struct Queue<T> {
    /// Hidden from loom: the visibility of tasks is tested with the queue. Loom runs one thread
    /// at a time.
    tasks: Mutex<VecDeque<T>>,
    /// The length that a thief sees. It may be out of date, as if a push were still in its
    /// owner's store buffer.
    count: AtomicUsize,
}

impl<T> Queue<T> {
    fn with<R>(&self, change: impl FnOnce(&mut VecDeque<T>) -> R) -> R {
        let (result, count) = {
            let mut tasks = self.tasks.lock().unwrap();
            (change(&mut tasks), tasks.len())
        };
        self.count.store(count, Ordering::Relaxed);
        result
    }
}

/// The owner's side.
pub struct Owner<T>(Arc<Queue<T>>);
/// The thief's side.
pub struct Thief<T>(Arc<Queue<T>>);

/// A small queue, in place of the bulk queue.
#[derive(Debug)]
pub enum Bulk {}

impl super::Queue for Bulk {
    type Owner<T: Send> = Owner<T>;
    type Thief<T: Send> = Thief<T>;

    fn new<T: Send>() -> (Owner<T>, Thief<T>) {
        let queue = Arc::new(Queue { tasks: Mutex::new(VecDeque::new()), count: AtomicUsize::new(0) });
        (Owner(Arc::clone(&queue)), Thief(queue))
    }
}

impl<T> QueueOwner<T> for Owner<T> {
    fn push(&self, task: T) {
        self.0.with(|tasks| tasks.push_back(task));
    }

    fn push_batch(&self, batch: Batch<T>) {
        self.0.with(|tasks| tasks.extend(batch));
    }

    fn pop(&self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        self.0.with(VecDeque::pop_back)
    }

    fn len(&self) -> usize {
        self.0.tasks.lock().unwrap().len()
    }
}

impl<T> QueueThief<T> for Thief<T> {
    fn steal(&mut self, fraction: f64) -> Result<Batch<T>, FractionError> {
        Ok(self.0.with(|tasks| {
            let count = (tasks.len() as f64 * fraction).ceil() as usize;
            tasks.drain(..count).collect()
        }))
    }

    fn queued(&self) -> usize {
        self.0.count.load(Ordering::Relaxed)
    }
}
