//! A queue for what is rarely queued: first in, first out, under a lock.

use std::collections::VecDeque;

use crate::sync::{lock, AtomicUsize, Mutex, Ordering};

/// A queue of jobs, first in, first out.
#[derive(Debug)]
pub(super) struct FifoQueue<T> {
    /// Lets callers skip the lock when the queue is empty.
    pub(super) len: AtomicUsize,
    jobs: Mutex<VecDeque<T>>,
}

impl<T> FifoQueue<T> {
    pub(super) fn new() -> FifoQueue<T> {
        FifoQueue { len: AtomicUsize::new(0), jobs: Mutex::new(VecDeque::new()) }
    }

    pub(super) fn push(&self, job: T) {
        let mut jobs = lock(&self.jobs);
        jobs.push_back(job);
        // SeqCst: before the notification; see `has_mail`.
        self.len.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn pop(&self) -> Option<T> {
        // Acquire: pairs with the release above.
        if self.len.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut jobs = lock(&self.jobs);
        let job = jobs.pop_front()?;
        self.len.fetch_sub(1, Ordering::Relaxed);
        Some(job)
    }

    pub(super) fn has(&self, wanted: impl Fn(&T) -> bool) -> bool {
        lock(&self.jobs).iter().any(wanted)
    }
}
