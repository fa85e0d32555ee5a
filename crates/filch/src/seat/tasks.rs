//! The tasks of scopes that the worker of a seat has spawned: pushing them, and taking them back.

use super::deques::are_deques_used;
use super::Seat;
use crate::job::Job;
use crate::lineage::{Lineage, Wait};
use crate::scope::Innermost;
use crate::sleep;
use crate::tasks::Deque;

impl Seat {
    /// Takes a task from a segment of the worker's own. Returns it with the scope that is the
    /// innermost while it runs.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn take_segment_task(&self) -> Option<(Job, Innermost)> {
        if !are_deques_used() {
            return None;
        }
        if self.tasks.has_tasks() {
            // SAFETY: the caller guarantees it.
            if let Some(task) = unsafe { self.tasks.take_youngest() } {
                let innermost = Innermost::of(&task, &self.tasks);
                return Some((task, innermost));
            }
            // A task of an older segment. Its pushes would go to the last segment, so there is no
            // innermost scope. It is taken from the other end, so that the last segment still
            // begins where it did.
            // SAFETY: the caller guarantees it.
            if let Some(task) = unsafe { self.tasks.take_oldest() } {
                return Some((task, Innermost::NONE));
            }
        }
        None
    }

    /// Takes a stray task of a FIFO scope of which the worker also has tasks in a lane. The stray
    /// is older than these.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn take_stray_of_lane(&self) -> Option<Job> {
        if !are_deques_used() {
            return None;
        }
        self.lanes.iter().filter(|lane| lane.has_tasks()).find_map(|lane| {
            // SAFETY: the caller guarantees it.
            let lineage = unsafe { lane.lineage() }?;
            // SAFETY: as above.
            unsafe { self.strays.take_if(|other| other == lineage) }
        })
    }

    /// Takes the oldest task of a lane. Returns it with the scope that is the innermost while it
    /// runs.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn take_lane_task(&self) -> Option<(Job, Innermost)> {
        if !are_deques_used() {
            return None;
        }
        self.lanes.iter().filter(|lane| lane.has_tasks()).find_map(|lane| {
            // SAFETY: the caller guarantees it.
            let task = unsafe { lane.take_oldest() }?;
            let innermost = Innermost::of(&task, lane);
            Some((task, innermost))
        })
    }

    /// Takes a stray task. The worker has spawned it into a scope of which it had no segment. The
    /// task is already counted.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn take_any_stray(&self) -> Option<Job> {
        // SAFETY: the caller guarantees it.
        are_deques_used().then(|| unsafe { self.strays.take() }).flatten()
    }

    /// Takes a stray task whose lineage is wanted.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn take_stray(&self, is_wanted: impl Fn(Lineage) -> bool) -> Option<Job> {
        // SAFETY: the caller guarantees it.
        are_deques_used().then(|| unsafe { self.strays.take_if(is_wanted) }).flatten()
    }

    /// Returns whether [`take_stray`](Seat::take_stray) would find a task.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn has_stray(&self, is_wanted: impl Fn(Lineage) -> bool) -> bool {
        // SAFETY: the caller guarantees it.
        are_deques_used() && unsafe { self.strays.has(is_wanted) }
    }

    /// Returns whether the worker seems to have a stray task that `wait` needs. A stray task needed
    /// by a wait descends from what the wait is for.
    pub(crate) fn has_strays_under(&self, wait: Wait) -> bool {
        are_deques_used() && self.strays.iter().any(|tasks| tasks.has_under(wait, true))
    }

    /// Pushes a counted task of a scope of which the worker has no segment.
    ///
    /// Returns the task if the worker has no deque for it. Also returns it if the push would not
    /// wake all workers that may need the task, or if they could not take it from here.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat, whose pool is the scope's.
    pub(crate) unsafe fn push_stray(&self, task: Job) -> Result<(), Job> {
        let lineage = task.lineage;
        // A worker whose wait needs the task raises the alarm of this seat only if the wait needs
        // what runs here. That holds if the scope was opened in this run or above it.
        if !lineage.is_waited_for_above(self.runs.top()) || !self.pool().raids {
            return Err(task);
        }
        // SAFETY: the caller guarantees it.
        let tasks = unsafe { self.strays.push(task) }?;
        if self.stack.is_alarmed() {
            sleep::answer_stray(self, tasks, lineage);
        }
        Ok(())
    }

    /// Sets whether the task that runs here also runs what it spawns, before it ends. Returns the
    /// previous setting.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn set_runs_tasks_to_the_end(&self, does: bool) -> bool {
        self.runs_tasks_to_the_end.0.replace(does)
    }

    /// Returns the value last set by
    /// [`set_runs_tasks_to_the_end`](Seat::set_runs_tasks_to_the_end).
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn runs_tasks_to_the_end(&self) -> bool {
        self.runs_tasks_to_the_end.0.get()
    }

    /// Pushes a task of the innermost scope. `write` writes the task to its place.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat. There is such a scope, and `write` writes a task of it.
    #[inline(always)]
    pub(crate) unsafe fn push_task(&self, write: impl FnOnce(*mut Job)) {
        // SAFETY: the caller guarantees it.
        let tasks = unsafe { self.innermost().tasks() };
        // SAFETY: as above.
        unsafe { tasks.push(write) };
        if self.stack.is_alarmed() {
            sleep::answer_task(self, tasks);
        }
    }

    /// Returns the scope whose tasks the worker may push onto its own deque.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    #[inline(always)]
    pub(crate) unsafe fn innermost(&self) -> Innermost {
        self.innermost.0.get()
    }

    /// Sets the innermost scope. Returns the previous one.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    #[inline(always)]
    pub(crate) unsafe fn set_innermost(&self, innermost: Innermost) -> Innermost {
        self.innermost.0.replace(innermost)
    }

    /// Takes a lane, if one is left. It is a deque for a scope whose oldest tasks are taken first.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat. Lanes are put back last in, first out.
    pub(crate) unsafe fn take_lane(&self) -> Option<&Deque> {
        // SAFETY: the caller guarantees it.
        unsafe { self.lanes.take() }
    }

    /// Pushes a task into the lane that is open here for its scope. Another scope may be the
    /// innermost. Returns the task if there is no such lane.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn push_into_lane(&self, task: Job) -> Result<(), Job> {
        // SAFETY: the caller guarantees it.
        let Some(lane) = self.lanes.iter().find(|lane| unsafe { lane.is_open_for(task.lineage) }) else {
            return Err(task);
        };
        let lineage = task.lineage;
        // SAFETY: as above.
        unsafe { lane.push(|slot| slot.write(task)) };
        lane.share(true);
        // Not through the alarm: what runs here may be no part of the scope.
        let pool = self.pool();
        pool.event();
        pool.wake_nearest(pool.waits_above(lineage));
        Ok(())
    }

    /// Frees the lane that was taken last.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn put_lane_back(&self) {
        // SAFETY: the caller guarantees it.
        unsafe { self.lanes.put_back() };
    }
}
