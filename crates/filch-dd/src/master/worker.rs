//! A worker on a thread: the interface for tasks, and the steps between tasks.

use core::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use filch_queue::bulk::Batch;

use super::notes::Note;
use super::queue::{Bulk, Queue, QueueOwner};
use super::region::Region;
use super::report::Ending;
use super::shared::{Shared, Waker};
use super::signal::SignalValue;
use super::worker_data::WorkerData;
use super::Work;
use crate::sync::{lock, Ordering};

/// The most polls and tasks between two checks of the limits.
const MAX_CHECK_INTERVAL: u32 = 32;
/// Checks become rarer while they are less than this apart.
const SHORT_TIME: Duration = Duration::from_micros(100);
/// The most reads of the signal that a master skips after serving in vain.
const MAX_SKIP: u32 = 64;

/// A worker, as a task sees it: a task pushes, polls and publishes here.
pub struct Worker<'a, W: Work<Q>, Q: Queue = Bulk> {
    pub(super) shared: &'a Shared<'a, W, Q>,
    pub(super) waker: &'a dyn Waker<W, Q>,
    pub(super) data: WorkerData<W, Q>,
    /// The number of polls or tasks until the next check of the limits.
    until_check: u32,
    /// The value of `until_check` that the last check set.
    check_interval: u32,
    /// The time of the last check.
    last_check: Option<Instant>,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The worker has processed a task.
    Worked,
    /// The worker has no task.
    Idle,
    /// The run is over.
    Over,
}

impl<'a, W: Work<Q>, Q: Queue> Worker<'a, W, Q> {
    /// Starts a worker on this thread.
    pub(super) fn begin(shared: &'a Shared<'a, W, Q>, waker: &'a dyn Waker<W, Q>, data: WorkerData<W, Q>) -> Self {
        Worker { shared, waker, data, until_check: 0, check_interval: 0, last_check: None }
    }

    /// Returns the index of this worker, from 0.
    pub fn index(&self) -> usize {
        self.data.index
    }

    /// Returns the number of workers.
    pub fn workers(&self) -> usize {
        self.shared.worker_infos.len()
    }

    /// Returns whether this worker had the master lock last. The master changes: see [the
    /// module](super).
    pub fn is_master(&self) -> bool {
        // Relaxed: it only decides which worker looks first.
        self.shared.last_master.load(Ordering::Relaxed) == self.data.index
    }

    /// Returns where the current task lies.
    pub fn region(&self) -> &Region {
        &self.data.region
    }

    /// Adds a task. The worker takes the youngest of its own tasks first.
    #[inline]
    pub fn push(&mut self, task: W::Task) {
        self.data.owner.push(task);
        self.pushed(1);
    }

    /// Adds a batch, in constant time.
    #[inline]
    pub fn push_batch(&mut self, batch: Batch<W::Task>) {
        let tasks = batch.len();
        self.data.owner.push_batch(batch);
        self.pushed(tasks);
    }

    #[inline]
    fn pushed(&mut self, tasks: usize) {
        self.data.counts.pushes += tasks as u64;
        // A worker that parks either finds these tasks or is seen in the signal.
        self.shared.fencing.light();
        let seen = self.shared.signal.load();
        if !seen.is_quiet() {
            self.serve_waiting(seen);
        }
    }

    /// Serves the waiting workers, if the queue has more than one task.
    ///
    /// This worker takes the youngest task next.
    #[cold]
    fn serve_waiting(&mut self, seen: SignalValue) {
        if seen.any_waiting() && !seen.is_over() && self.data.owner.len() > 1 {
            self.serve();
        }
    }

    /// Serves workers that want work, and returns whether to stop.
    ///
    /// Long tasks should call it now and then. If it returns `true`, the task may return at once.
    ///
    /// If there is nothing to do, a poll is one load. Otherwise the worker takes the master lock
    /// and moves tasks to the workers that want work: to workers that have nothing, also from its
    /// own queue; and, if it is the master, to workers that run low.
    #[inline]
    #[must_use = "returns whether the task should stop"]
    pub fn poll(&mut self) -> bool {
        if !self.shared.limits.are_none() {
            self.check_limits();
        }
        let seen = self.shared.signal.load();
        !seen.is_quiet() && self.handle_signal(seen)
    }

    /// Reacts to the signal. Returns whether the run is over.
    #[cold]
    fn handle_signal(&mut self, seen: SignalValue) -> bool {
        if seen.is_over() {
            return true;
        }
        let info = &self.shared.worker_infos[self.data.index];
        if seen.any_waiting() && (!self.data.owner.is_empty() || info.inbox.has_mail()) {
            self.serve();
        } else if seen.any_running_low() && self.is_master() {
            if self.data.skip > 0 {
                self.data.skip -= 1;
            } else if self.serve() {
                self.data.next_skip = 1;
            } else {
                // No worker has tasks to spare. That does not change at once, so skip some reads.
                self.data.skip = self.data.next_skip;
                self.data.next_skip = MAX_SKIP.min(2 * self.data.next_skip);
            }
        }
        self.shared.signal.load().is_over()
    }

    /// Takes the master lock and serves, or makes the holder serve once more.
    ///
    /// Returns whether this worker moved a batch.
    fn serve(&mut self) -> bool {
        let (shared, waker, index) = (self.shared, self.waker, self.data.index);
        let mut moved = 0;
        shared.master_lock.try_serve(|master| {
            shared.last_master.store(index, Ordering::Relaxed);
            moved += shared.serve(master, waker, None);
        });
        self.data.count_serve(moved);
        moved > 0
    }

    /// Takes a share of the longest queue's oldest tasks out of the run.
    ///
    /// The batch is empty if no task is waiting. Returns `None` if another worker holds the master
    /// lock: try again later.
    ///
    /// # Panics
    ///
    /// If the share is not from 0 to 1.
    pub fn withdraw(&mut self, share: f64) -> Option<Batch<W::Task>> {
        let shared = self.shared;
        let mut master = shared.master_lock.try_lock()?;
        let batch = shared.withdraw(&mut master, share);
        drop(master);
        // Other workers may have left requests while this one held the master lock.
        shared.serve_requests(self.waker);
        Some(batch)
    }

    /// Checks the limits now and then: always, if much time passes between two calls.
    #[inline]
    fn check_limits(&mut self) {
        if self.until_check > 0 {
            self.until_check -= 1;
        } else {
            self.check_limits_now();
        }
    }

    #[cold]
    fn check_limits_now(&mut self) {
        let now = Instant::now();
        if let Some(why) = self.shared.limits.reached(now) {
            self.shared.stop(why);
        }
        let short = self.last_check.replace(now).is_some_and(|before| now - before < SHORT_TIME);
        self.check_interval = if short { MAX_CHECK_INTERVAL.min(2 * self.check_interval + 1) } else { 0 };
        self.until_check = self.check_interval;
    }

    /// Stops the run: no worker begins another task once it has seen this.
    ///
    /// The tasks that are left are in the report.
    pub fn stop(&mut self) {
        self.shared.stop(Ending::Stopped);
    }

    /// Publishes what the current task taught, for tasks near it.
    ///
    /// It reaches the tasks of this worker, and the tasks that are brought from it to other
    /// workers.
    pub fn publish(&mut self, learnt: W::Learnt) {
        self.publish_at(self.data.region, learnt);
    }

    /// Publishes something that holds in all of a region.
    pub fn publish_at(&mut self, region: Region, learnt: W::Learnt) {
        let note = Note { region, learnt: Arc::new(learnt) };
        lock(&self.shared.worker_infos[self.data.index].published).insert(note.clone(), &self.data.region);
        self.data.notes.insert(note, &self.data.region);
    }

    /// Returns the notes near the current task, nearest first, among equals the youngest.
    ///
    /// Each comes with the region that it was learnt in. The caller decides whether it holds here.
    ///
    /// The lookup is local: it returns what this worker has learnt, and what came with the tasks
    /// that were brought to it.
    pub fn learnt(&self) -> impl Iterator<Item = (&Region, &W::Learnt)> {
        self.data.notes.nearest_first(&self.data.region).map(|(_, note)| (&note.region, &*note.learnt))
    }

    /// Processes a task, if there is one and the run is not over.
    pub(super) fn step(&mut self) -> Step {
        if !self.shared.limits.are_none() {
            self.check_limits();
        }
        if self.shared.signal.load().is_over() {
            return Step::Over;
        }
        let Some(task) = self.next() else { return Step::Idle };
        let starting = &self.shared.worker_infos[self.data.index].starting;
        if starting.load(Ordering::Relaxed) {
            starting.store(false, Ordering::Relaxed);
        }
        self.signal_if_running_low();
        let seen = self.shared.signal.load();
        if !seen.is_quiet() && self.handle_signal(seen) {
            self.data.owner.push(task);
            return Step::Over;
        }
        if self.data.idle_since.is_some() {
            self.data.end_idle(self.shared.clock.now());
        }
        let region = self.shared.work.region(&task);
        self.data.region = region;
        self.data.counts.tasks += 1;
        self.shared.worker_infos[self.data.index].begin(&region, self.data.counts.tasks);
        self.shared.work.process(task, self);
        Step::Worked
    }

    /// Takes the youngest of the worker's own tasks, or else of those in its mail.
    fn next(&mut self) -> Option<W::Task> {
        self.data.owner.pop().or_else(|| {
            let inbox = &self.shared.worker_infos[self.data.index].inbox;
            if inbox.has_mail() {
                self.data.accept(inbox.take()?);
            }
            self.data.owner.pop()
        })
    }

    /// Signals that the queue is nearly drained.
    ///
    /// The worker calls this before it begins a task that may be its last for now.
    #[inline]
    fn signal_if_running_low(&mut self) {
        let shared = self.shared;
        let info = &shared.worker_infos[self.data.index];
        if shared.worker_infos.len() > 1
            && self.data.owner.len() <= shared.low_watermark
            && !info.inbox.has_mail()
            && !info.running_low.load(Ordering::Relaxed)
        {
            info.running_low.store(true, Ordering::Relaxed);
            self.data.counts.ran_low += 1;
            shared.signal.begin_running_low();
        }
    }
}

impl<W: Work<Q>, Q: Queue> fmt::Debug for Worker<'_, W, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("index", &self.data.index)
            .field("region", &self.data.region)
            .finish_non_exhaustive()
    }
}
