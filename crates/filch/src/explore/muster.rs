//! When an exploration is over: exactly when no task is queued or running.
//!
//! `active` counts the explorers that may have a task or get one. An explorer counts from before it takes its first task until its own queue is empty and it runs
//! nothing, and has seen that no root is left; to steal it must count, and one that does not count looks at the queues of others without taking anything.
//!
//! **Invariant.** A task that is queued is in the queue of an explorer that counts, since only an owner fills its queue and it stays until that is empty; a task that runs is
//! run by one that counts; the first explorer counts until no root is left. So when `active` is 0 there is none. It stays 0 then, but for explorers that begin to count, find nothing and
//! stop: nobody is there who could push. The one that takes `active` to 0 says that it is over, and no other moment is needed to see it.

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicBool, AtomicUsize, Ordering};

/// Who counts, and whether it is over.
#[derive(Debug)]
pub(crate) struct Muster {
    /// Not beside what all look at for every task.
    active: CachePadded<AtomicUsize>,
    over: AtomicBool,
}

impl Muster {
    /// With the first explorer counted.
    pub(crate) fn new() -> Self {
        Muster { active: CachePadded::new(AtomicUsize::new(1)), over: AtomicBool::new(false) }
    }

    /// Counts the caller.
    pub(crate) fn enter(&self) {
        // Acquire and release: what was pushed before others stopped counting is seen by who counts after them.
        self.active.fetch_add(1, Ordering::AcqRel);
    }

    /// Counts the caller no longer: its queue is empty, it runs nothing, and there are no roots.
    pub(crate) fn leave(&self) {
        if self.active.fetch_sub(1, Ordering::AcqRel) == 1 {
            // Release: who sees it sees all that was done.
            self.over.store(true, Ordering::Release);
        }
    }

    /// Ends it early.
    pub(crate) fn stop(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// Whether it is over, or was stopped.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}
