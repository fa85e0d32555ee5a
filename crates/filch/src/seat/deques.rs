//! All deques of a seat, and its fork stack: what other workers see, steal and raid, and their
//! memory.

use std::iter;

use filch_queue::barrier;

use super::Seat;
use crate::job::Job;
use crate::scope::Record;
use crate::tasks::{Counted, Deque, Theft};

impl Seat {
    /// Returns the deques that hold tasks of scopes.
    pub(crate) fn task_deques(&self) -> impl Iterator<Item = &Deque> {
        let deques = || iter::once(&self.tasks).chain(self.lanes.iter()).chain(self.strays.iter());
        are_deques_used().then(deques).into_iter().flatten()
    }

    /// Returns all deques, those of tasks and that of spawned jobs.
    fn deques(&self) -> impl Iterator<Item = &Deque> {
        self.task_deques().chain(are_deques_used().then_some(&self.spawned))
    }

    /// Steals the oldest public task of this seat, if it seems wanted, and counts it. `is_wanted`
    /// gets the deque and the position. The caller is another worker.
    pub(crate) fn steal_task(&self, is_wanted: impl Fn(&Deque, u64) -> bool) -> Option<Job> {
        self.task_deques().find_map(|tasks| match steal_task_from(tasks, |position| is_wanted(tasks, position)) {
            Theft::Task(job) => Some(job),
            Theft::Lost | Theft::Nothing => None,
        })
    }

    /// Steals the oldest job that the worker of this seat has spawned. The caller is another
    /// worker.
    pub(crate) fn steal_spawned(&self) -> Option<Job> {
        if !are_deques_used() {
            return None;
        }
        match self.spawned.steal_if(|_| true, |_| ()) {
            Theft::Task(job) => Some(job),
            Theft::Lost | Theft::Nothing => None,
        }
    }

    /// Returns whether there is work here that a thief can take at once.
    pub(crate) fn has_public(&self) -> bool {
        self.stack.has_public() || self.deques().any(Deque::has_public)
    }

    /// Returns whether there is work here that no worker has taken.
    pub(crate) fn has_jobs(&self) -> bool {
        self.stack.has_jobs() || self.has_queued()
    }

    /// Returns whether there are tasks or spawned jobs here that no worker has taken.
    pub(crate) fn has_queued(&self) -> bool {
        self.deques().any(Deque::has_tasks)
    }

    /// Returns whether there is work of some kind here of which none is public.
    pub(crate) fn needs_raid(&self) -> bool {
        self.stack.needs_raid() || self.deques().any(Deque::needs_raid)
    }

    /// Publishes some work of each kind that [needs it](Seat::needs_raid). The worker need not
    /// respond. Returns false if the kernel refused the barrier for that.
    pub(crate) fn publish_for_raid(&self) -> bool {
        let is_asleep = || self.sleep.is_asleep();
        let mut passed = true;
        if self.stack.needs_raid() {
            passed = self.stack.raid(is_asleep).is_some();
        }
        for deque in self.deques().filter(|deque| deque.needs_raid()) {
            passed &= deque.raid(is_asleep);
        }
        if !passed {
            self.request_fences();
        }
        passed
    }

    /// Asks the worker to fence what it pushes, because the kernel refuses barriers.
    pub(crate) fn request_fences(&self) {
        self.deques().for_each(Deque::request_fences);
        // Last: it raises the alarm.
        self.stack.request_fences();
    }

    /// Switches the worker to fences, if it was asked to or the kernel has refused a barrier of the
    /// process. The worker calls this.
    pub(crate) fn handle_fence_requests(&self) {
        // A fenced worker calls this at each fork and each return.
        if self.is_fenced() {
            return;
        }
        self.grant_fences();
        // The stack may have switched alone: a refused raid asks it before the deques.
        let is_due = self.stack.is_fenced() || !barrier::register();
        if is_due && !self.is_fenced() {
            self.switch_to_fences();
        }
    }

    /// Switches to fences if the kernel has refused a barrier of the process. The occupant calls
    /// this where it neither forks nor returns, before it runs something.
    ///
    /// The kernel may have refused the barrier to another pool, or for another worker. A raid of
    /// this worker would learn it too late: the worker may block in its next fork.
    #[inline]
    pub(crate) fn fence_after_refusal(&self) {
        // In this order: a pool that was built with fences has never asked the kernel, and a first
        // registration takes milliseconds.
        if (self.stack.is_fenced() || !barrier::register()) && !self.is_fenced() {
            self.switch_to_fences();
        }
    }

    #[cold]
    #[inline(never)]
    fn switch_to_fences(&self) {
        self.request_fences();
        self.grant_fences();
    }

    fn grant_fences(&self) {
        self.stack.handle_fence_request();
        self.deques().for_each(Deque::handle_fence_request);
    }

    /// Returns whether the stack and all deques are in the fenced mode.
    pub(crate) fn is_fenced(&self) -> bool {
        self.stack.is_fenced() && self.deques().all(Deque::is_fenced)
    }

    /// Returns whether there is much memory that no task needs now.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn has_spare_memory(&self) -> bool {
        // SAFETY: the caller guarantees it.
        self.deques().any(|deque| unsafe { deque.has_spare_memory() })
    }

    /// Frees memory that tasks have taken. Frees what was not needed since the last call, or, if
    /// `all`, nearly all of it.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn trim(&self, all: bool) {
        // SAFETY: the caller guarantees it.
        self.deques().for_each(|deque| unsafe { deque.trim(all) });
    }
}

/// Steals the oldest public task of a scope, if its position is wanted. A stolen task is counted.
pub(crate) fn steal_task_from(tasks: &Deque, is_wanted: impl FnOnce(u64) -> bool) -> Theft {
    let count = |lineage| {
        if tasks.counted() == Counted::WhenStolen {
            // SAFETY: the task is claimed, and not over.
            unsafe { Record::add_stolen(lineage) };
        }
    };
    tasks.steal_if(is_wanted, count)
}

/// Returns whether the deques are used. Most of the loom models spawn nothing. For them each look
/// at a deque, which is always empty, would double the number of executions.
#[inline(always)]
pub(super) fn are_deques_used() -> bool {
    #[cfg(all(test, loom))]
    return crate::models::are_deques_used();
    #[cfg(not(all(test, loom)))]
    true
}
