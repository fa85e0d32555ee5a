//! The tasks of a scope that are in a worker's own deque.
//!
//! They are those from the position where the scope was opened there, or where a task of it began
//! to run, to the end.

use std::ptr;

use super::record::Record;
use super::Order;
use crate::defect::{defect, Defect};
use crate::job::Job;
use crate::lineage::Lineage;
use crate::seat::Seat;
use crate::sleep;
use crate::sync::{spin_loop, thread};
use crate::tasks::{Deque, Pop};

/// The scope whose tasks a worker may push onto its own deque, uncounted. Holds that deque, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Innermost {
    record: *const Record,
    tasks: *const Deque,
}

// SAFETY: it is kept in the seat, and only the worker of the seat uses it.
unsafe impl Send for Innermost {}

impl Innermost {
    /// No innermost scope.
    pub(crate) const NONE: Innermost = Innermost { record: ptr::null(), tasks: ptr::null() };

    /// Returns the scope of a task that is about to run in place. The task is of this deque of the
    /// worker's own.
    pub(crate) fn of(job: &Job, tasks: &Deque) -> Innermost {
        Innermost { record: ptr::with_exposed_provenance(job.lineage.node()), tasks }
    }

    #[inline(always)]
    pub(super) fn is(self, record: &Record) -> bool {
        ptr::eq(self.record, record)
    }

    /// Returns the deque.
    ///
    /// # Safety
    ///
    /// There is one: this is not [`NONE`](Innermost::NONE). Called on the worker's own thread.
    #[inline(always)]
    pub(crate) unsafe fn tasks<'a>(self) -> &'a Deque {
        // SAFETY: deques live as long as the seat.
        unsafe { &*self.tasks }
    }
}

/// A segment of a scope; see the module.
#[derive(Debug)]
pub(super) struct Segment {
    /// The position where the segment begins, if the worker had a deque for it.
    base: Option<u64>,
    order: Order,
    /// The innermost scope before this one.
    outer: Innermost,
}

impl Segment {
    /// Opens a segment for the scope, which becomes the innermost.
    ///
    /// If there is no room for one, the tasks are counted when they are spawned.
    ///
    /// # Safety
    ///
    /// Called by the worker of the seat. The segment is [finished](Segment::finish) before the
    /// record is gone, and segments are finished last in, first out.
    #[inline(always)]
    pub(super) unsafe fn open(seat: &Seat, record: &Record) -> Segment {
        let tasks = match record.order {
            Order::Youngest => Some(&seat.tasks),
            // SAFETY: the caller guarantees it.
            Order::Oldest => unsafe { seat.take_lane() },
        };
        // SAFETY: as above.
        let base = tasks.and_then(|tasks| unsafe { tasks.open(record.lineage()) });
        let innermost = match (base, tasks) {
            (Some(_), Some(tasks)) => Innermost { record, tasks },
            _ => Innermost::NONE,
        };
        // SAFETY: as above.
        let outer = unsafe { seat.set_innermost(innermost) };
        Segment { base, order: record.order, outer }
    }

    /// Runs all tasks that are left in the segment, and closes it. Before it closes the segment, it
    /// waits until the tasks that thieves have claimed are counted.
    ///
    /// # Safety
    ///
    /// As for [`open`](Segment::open).
    #[inline(always)]
    pub(super) unsafe fn finish(self, seat: &Seat) {
        // SAFETY: the caller guarantees it.
        let was_stolen_from = unsafe { self.run_tasks(seat) };
        if self.base.is_some() {
            // SAFETY: as above; opened, so there is a deque.
            let tasks = unsafe { seat.innermost().tasks() };
            if was_stolen_from && !defect(Defect::ScopeIgnoresClaimed) {
                // SAFETY: as above.
                unsafe { wait_for_thieves(tasks) };
            }
            // SAFETY: as above; all its tasks were taken.
            unsafe { tasks.close() };
            if self.order == Order::Oldest {
                // SAFETY: as above.
                unsafe { seat.put_lane_back() };
            }
        }
        // SAFETY: as above.
        unsafe { seat.set_innermost(self.outer) };
    }

    /// Takes another stray task of this lineage, unless mail comes first.
    ///
    /// If the youngest tasks go first, this runs the tasks of the segment before. Otherwise all
    /// that the strays spawn would be there at once. The next stray is taken after that, so that
    /// another worker can take it meanwhile.
    ///
    /// # Safety
    ///
    /// As for [`open`](Segment::open). The segment is the last.
    unsafe fn next_stray(&self, seat: &Seat, lineage: Lineage) -> Option<Job> {
        let is_meant = |other| other == lineage;
        // Strays come before the younger tasks of a lane, which run next in any case.
        let is_lane = self.order == Order::Oldest && self.base.is_some();
        // SAFETY: the caller guarantees it.
        if seat.has_mail() && !is_lane || !unsafe { seat.has_stray(is_meant) } {
            return None;
        }
        if self.order == Order::Youngest {
            // SAFETY: as above.
            unsafe { self.run_tasks(seat) };
        }
        // SAFETY: as above.
        unsafe { seat.take_stray(is_meant) }
    }

    /// Runs all tasks that are in the segment. Returns whether some may have been taken from the
    /// other end.
    ///
    /// # Safety
    ///
    /// As for [`open`](Segment::open). The segment is the last.
    #[inline(always)]
    unsafe fn run_tasks(&self, seat: &Seat) -> bool {
        let Some(base) = self.base else { return false };
        // SAFETY: the caller guarantees it; opened, so there is a deque.
        let tasks = unsafe { seat.innermost().tasks() };
        match self.order {
            // SAFETY: as above.
            Order::Youngest => unsafe { run_youngest_first(seat, tasks, base) },
            // SAFETY: as above.
            Order::Oldest => unsafe { run_oldest_first(seat, tasks) },
        }
    }
}

/// Runs the tasks above `base`. Returns whether thieves have taken some.
///
/// # Safety
///
/// Called by the worker of the seat, for a deque of its own whose scope is the innermost.
#[inline(always)]
unsafe fn run_youngest_first(seat: &Seat, tasks: &Deque, base: u64) -> bool {
    let mut count = 0;
    let was_stolen_from = loop {
        // SAFETY: the caller guarantees it.
        match unsafe { tasks.pop(base) } {
            Pop::Task(job) => {
                if seat.stack.is_demanded() {
                    answer_demand(seat, tasks);
                }
                count += 1;
                // SAFETY: popped once; it is a task of the innermost scope, in the segment where it
                // was spawned.
                unsafe { run_in_place(seat, job) }
            }
            Pop::Empty => break false,
            Pop::Stolen => break true,
        }
    };
    seat.tally.jobs.add(count);
    was_stolen_from
}

/// Offers some of many tasks, if another worker wants work, and looks whether it wants fences. This
/// worker may push nothing for a while.
#[cold]
#[inline(never)]
fn answer_demand(seat: &Seat, tasks: &Deque) {
    /// The least number of tasks to offer: fewer are over before a thief is there.
    const MANY: u32 = 4;
    // A refused raid of another deque of this worker leaves a demand, too.
    seat.handle_fence_requests();
    // A thief that takes what is public has left the demand on its way.
    if tasks.private() >= MANY && !tasks.has_public() {
        sleep::answer_task(seat, tasks);
    }
}

/// Runs the tasks, the oldest first. Returns whether thieves may have taken some.
///
/// # Safety
///
/// Called by the worker of the seat, for a deque of its own whose scope is the innermost.
unsafe fn run_oldest_first(seat: &Seat, tasks: &Deque) -> bool {
    // SAFETY: the caller guarantees it.
    while let Some(job) = unsafe { tasks.take_oldest() } {
        seat.tally.jobs.add(1);
        // SAFETY: as above.
        unsafe { run_in_place(seat, &job) };
    }
    true
}

/// Runs a task of a deque of the worker's own. The caller counts it in the statistics.
///
/// # Safety
///
/// Called by the worker of the seat; once for each task.
#[inline(always)]
pub(crate) unsafe fn run_in_place(seat: &Seat, job: *const Job) {
    let _span = seat.log.task();
    // SAFETY: the caller guarantees it.
    unsafe { Job::run_at(job, seat.worker(), false) };
}

/// Waits until the tasks that thieves have claimed are counted. The thieves only have to move a
/// task and add two numbers.
///
/// # Safety
///
/// Called by the owner of the deque.
#[cold]
unsafe fn wait_for_thieves(tasks: &Deque) {
    const PAUSES: u32 = 64;
    let mut pauses = 0;
    // SAFETY: the caller guarantees it.
    while !unsafe { tasks.all_moved() } {
        if pauses < PAUSES {
            pauses += 1;
            spin_loop();
        } else {
            // The thief may need this core.
            thread::yield_now();
        }
    }
}

/// Runs a counted task, and what it spawns and no thief takes. Also runs other tasks of the scope
/// that this worker has as strays. If it runs on top of something that does not need it, it runs
/// only the task. The record may be gone when this returns.
///
/// # Safety
///
/// Called by the worker of the seat, once for each counted task.
#[inline(never)]
pub(super) unsafe fn run_elsewhere(seat: &Seat, record: *const Record, run: &mut dyn FnMut()) {
    // SAFETY: the caller guarantees it.
    if !unsafe { seat.runs_tasks_to_the_end() } {
        run();
        // SAFETY: nothing is done with the scope after this.
        return unsafe { Record::finish(record, 1) };
    }
    // SAFETY: the caller guarantees it. The record is there until the task is finished, below.
    let (segment, lineage) = unsafe { (Segment::open(seat, &*record), (*record).lineage()) };
    run();
    let mut tasks = 1;
    // SAFETY: the caller guarantees it.
    while let Some(stray) = unsafe { segment.next_stray(seat, lineage) } {
        seat.tally.jobs.add(1);
        tasks += 1;
        // SAFETY: taken once. It is run in the segment of its scope.
        unsafe { run_in_place(seat, &stray) };
    }
    if defect(Defect::FinishesBeforeItsTasks) {
        // SAFETY: wrong.
        unsafe { Record::finish(record, tasks) };
        // SAFETY: wrong.
        return unsafe { segment.finish(seat) };
    }
    // SAFETY: as above.
    unsafe { segment.finish(seat) };
    // SAFETY: nothing is done with the scope after this.
    unsafe { Record::finish(record, tasks) };
}
