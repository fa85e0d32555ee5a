//! Waits until all threads of the global pool have started.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::IndexHandler;

/// The number of threads that have started.
#[derive(Debug)]
pub(super) struct StartCount {
    started: Arc<(Mutex<usize>, Condvar)>,
}

impl StartCount {
    pub(super) fn new() -> StartCount {
        StartCount { started: Arc::default() }
    }

    /// Returns a start handler that counts the thread and then calls `handler`.
    pub(super) fn counting(&self, handler: Option<Box<IndexHandler>>) -> Box<IndexHandler> {
        let started = Arc::clone(&self.started);
        Box::new(move |index| {
            let (count, changed) = &*started;
            *count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            changed.notify_one();
            if let Some(handler) = &handler {
                handler(index);
            }
        })
    }

    /// Waits until this many threads have started.
    pub(super) fn wait_for(&self, threads: usize) {
        let (count, changed) = &*self.started;
        let count = count.lock().unwrap_or_else(PoisonError::into_inner);
        drop(changed.wait_while(count, |count| *count < threads));
    }
}
