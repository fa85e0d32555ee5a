//! The workers' queues: bulk queues, or a count and a list in loom's models.
//!
//! Bulk queues would make the models too large, and the models are not about them.

#[cfg(not(all(loom, test)))]
pub(super) use filch_queue::bulk::{new, Owner, Thief};

#[cfg(all(loom, test))]
pub(super) use small::{new, Owner, Thief};

#[cfg(all(loom, test))]
mod small {
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};

    use filch_queue::bulk::{Batch, FractionError};
    use loom::sync::atomic::{AtomicUsize, Ordering};

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

    pub(in super::super) struct Owner<T>(Arc<Queue<T>>);
    pub(in super::super) struct Thief<T>(Arc<Queue<T>>);

    pub(in super::super) fn new<T>() -> (Owner<T>, Thief<T>) {
        let queue = Arc::new(Queue { tasks: Mutex::new(VecDeque::new()), count: AtomicUsize::new(0) });
        (Owner(Arc::clone(&queue)), Thief(queue))
    }

    impl<T> Owner<T> {
        pub(in super::super) fn push(&self, task: T) {
            self.0.with(|tasks| tasks.push_back(task));
        }

        pub(in super::super) fn push_batch(&self, batch: Batch<T>) {
            self.0.with(|tasks| tasks.extend(batch));
        }

        pub(in super::super) fn pop(&self) -> Option<T> {
            if self.is_empty() {
                return None;
            }
            self.0.with(VecDeque::pop_back)
        }

        pub(in super::super) fn len(&self) -> usize {
            self.0.tasks.lock().unwrap().len()
        }

        pub(in super::super) fn is_empty(&self) -> bool {
            self.len() == 0
        }
    }

    impl<T> Thief<T> {
        pub(in super::super) fn steal(&mut self, fraction: f64) -> Result<Batch<T>, FractionError> {
            Ok(self.0.with(|tasks| {
                let count = (tasks.len() as f64 * fraction).ceil() as usize;
                tasks.drain(..count).collect()
            }))
        }

        pub(in super::super) fn len(&self) -> usize {
            self.0.count.load(Ordering::Relaxed)
        }
    }
}
