//! Termination: an exploration is over exactly when no task is queued or running.
//!
//! `active` counts the explorers that may have a task or get one. An explorer is active from before
//! it takes its first task until its own queue is empty, it runs nothing, and it has seen that no
//! root is left. It must be active to steal. An explorer that is not active looks at the queues of
//! others without taking anything.
//!
//! **Invariant.** A queued task is in the queue of an active explorer: only an owner fills its
//! queue, and it stays active until the queue is empty. A running task is run by an active
//! explorer. The first explorer is active until no root is left. So when `active` is 0 there is no
//! task. It then stays 0, except for explorers that become active, find nothing and stop: no
//! explorer is left that could push. The explorer that takes `active` to 0 sets `over`, and no
//! other check is needed.

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicBool, AtomicUsize, Ordering};

/// The number of active explorers, and whether the exploration is over.
#[derive(Debug)]
pub(crate) struct Termination {
    /// Not on the cache line that all explorers read for every task.
    active: CachePadded<AtomicUsize>,
    over: AtomicBool,
}

impl Termination {
    /// Creates a counter with the first explorer active.
    pub(crate) fn new() -> Self {
        Termination { active: CachePadded::new(AtomicUsize::new(1)), over: AtomicBool::new(false) }
    }

    /// Makes the calling explorer active.
    pub(crate) fn enter(&self) {
        // Acquire and release: what was pushed before other explorers stopped being active is seen
        // by an explorer that becomes active after them.
        self.active.fetch_add(1, Ordering::AcqRel);
    }

    /// Makes the calling explorer inactive. Its queue is empty, it runs nothing, and there are no
    /// roots.
    pub(crate) fn leave(&self) {
        if self.active.fetch_sub(1, Ordering::AcqRel) == 1 {
            // Release: a thread that sees it sees all that was done.
            self.over.store(true, Ordering::Release);
        }
    }

    /// Ends the exploration early.
    pub(crate) fn stop(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// Returns whether the exploration is over, or was stopped.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}
