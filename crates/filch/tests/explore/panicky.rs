//! Queues that panic.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use filch::queue::Kind;
use filch_queue::{chase_lev, AtLeastOnce, ExactlyOnce, Owner, PushError, Steal, Thief};

/// The shared state of queues that panic in one method, at its n-th call. They are the queues of
/// one exploration.
#[derive(Clone)]
pub(crate) struct Panicky(Arc<PanickyCalls>);

struct PanickyCalls {
    method: &'static str,
    nth: usize,
    calls: AtomicUsize,
}

impl Panicky {
    pub(crate) fn new(method: &'static str, nth: usize) -> Panicky {
        Panicky(Arc::new(PanickyCalls { method, nth, calls: AtomicUsize::new(0) }))
    }

    fn call(&self, method: &str) {
        if self.0.method == method && self.0.calls.fetch_add(1, Ordering::SeqCst) == self.0.nth {
            panic!("panic in a queue");
        }
    }

    pub(crate) fn has_panicked(&self) -> bool {
        self.0.calls.load(Ordering::SeqCst) > self.0.nth
    }
}

pub(crate) struct PanickyOwner<T>(chase_lev::Owner<T>, Panicky);
pub(crate) struct PanickyThief<T>(chase_lev::Thief<T>, Panicky);

impl<T: Send> Kind<T> for Panicky {
    type Owner = PanickyOwner<T>;
    type Thief = PanickyThief<T>;

    fn make(&self) -> (PanickyOwner<T>, PanickyThief<T>) {
        self.call("make");
        let (owner, thief) = chase_lev::new();
        (PanickyOwner(owner, self.clone()), PanickyThief(thief, self.clone()))
    }
}

impl<T: Send> Owner for PanickyOwner<T> {
    type Task = T;

    fn push(&self, task: T) {
        assert!(self.try_push(task).is_ok(), "the push failed");
    }

    fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        self.1.call("before push");
        self.0.try_push(task)?;
        self.1.call("after push");
        Ok(())
    }

    fn pop(&self) -> Option<T> {
        self.1.call("before pop");
        let task = self.0.pop();
        self.1.call("after pop");
        task
    }

    fn len(&self) -> usize {
        self.1.call("len of an owner");
        self.0.len()
    }
}

impl<T: Send> Thief for PanickyThief<T> {
    type Task = T;

    fn steal(&self) -> Steal<T> {
        self.1.call("before steal");
        let task = self.0.steal();
        self.1.call("after steal");
        task
    }

    fn len(&self) -> usize {
        self.1.call("len of a thief");
        self.0.len()
    }
}

impl<T> Clone for PanickyThief<T> {
    fn clone(&self) -> Self {
        PanickyThief(self.0.clone(), self.1.clone())
    }
}

impl<T> AtLeastOnce for PanickyOwner<T> {}
impl<T> AtLeastOnce for PanickyThief<T> {}
// SAFETY: the tasks are those of a Chase-Lev queue.
unsafe impl<T> ExactlyOnce for PanickyOwner<T> {}
// SAFETY: as above.
unsafe impl<T> ExactlyOnce for PanickyThief<T> {}
