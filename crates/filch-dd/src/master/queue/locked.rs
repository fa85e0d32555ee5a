//! A deque behind a lock.

use std::collections::VecDeque;
use std::sync::Arc;

use filch_queue::bulk::{Batch, FractionError};

use super::{tasks_in, Queue, QueueOwner, QueueThief};
use crate::sync::{lock, Mutex};

/// A deque of the standard library behind a mutex: a batch is pushed or stolen under one lock.
#[derive(Debug)]
pub enum Locked {}

/// A side of the deque: both are the same.
#[derive(Debug)]
pub struct Side<T>(Arc<Mutex<VecDeque<T>>>);

impl Queue for Locked {
    type Owner<T: Send> = Side<T>;
    type Thief<T: Send> = Side<T>;

    fn new<T: Send>() -> (Side<T>, Side<T>) {
        let deque = Arc::new(Mutex::new(VecDeque::new()));
        (Side(Arc::clone(&deque)), Side(deque))
    }
}

impl<T: Send> QueueOwner<T> for Side<T> {
    fn push(&self, task: T) {
        lock(&self.0).push_back(task);
    }

    fn push_batch(&self, batch: Batch<T>) {
        lock(&self.0).extend(batch);
    }

    fn pop(&self) -> Option<T> {
        lock(&self.0).pop_back()
    }

    fn len(&self) -> usize {
        lock(&self.0).len()
    }
}

impl<T: Send> QueueThief<T> for Side<T> {
    fn steal(&mut self, share: f64) -> Result<Batch<T>, FractionError> {
        let mut deque = lock(&self.0);
        let wanted = tasks_in(share, deque.len())?;
        Ok(deque.drain(..wanted).collect())
    }

    fn queued(&self) -> usize {
        lock(&self.0).len()
    }
}
