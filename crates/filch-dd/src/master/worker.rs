//! A worker on a thread: the interface for tasks, and the steps between tasks.

use core::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use filch_queue::bulk::Batch;

use super::crew::{Crew, Summon};
use super::learnt::Note;
use super::member::Member;
use super::region::Region;
use super::report::Ending;
use super::signal::Seen;
use super::Work;
use crate::sync::{lock, Ordering};

/// The most polls and tasks between two checks of the limits.
const MOST_A_LOOK: u32 = 32;
/// Checks become rarer while they are less than this apart.
const SHORT: Duration = Duration::from_micros(100);
/// The most reads of the signal that a master skips after serving in vain.
const MOST_PATIENCE: u32 = 64;

/// A worker, as a task sees it: a task pushes, polls and publishes here.
pub struct Worker<'a, W: Work> {
    pub(super) crew: &'a Crew<'a, W>,
    pub(super) summoner: &'a dyn Summon<W>,
    pub(super) member: Member<W>,
    /// The number of polls or tasks until the next check of the limits.
    until_look: u32,
    /// The value of `until_look` that the last check set.
    granted: u32,
    /// The time of the last check.
    last_look: Option<Instant>,
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

impl<'a, W: Work> Worker<'a, W> {
    /// Starts a member on this thread.
    pub(super) fn begin(crew: &'a Crew<'a, W>, summoner: &'a dyn Summon<W>, member: Member<W>) -> Self {
        Worker { crew, summoner, member, until_look: 0, granted: 0, last_look: None }
    }

    /// Returns the index of this worker, from 0.
    pub fn index(&self) -> usize {
        self.member.index
    }

    /// Returns the number of workers.
    pub fn workers(&self) -> usize {
        self.crew.desks.len()
    }

    /// Returns whether this worker had the baton last. The master changes: see [the module](super).
    pub fn is_master(&self) -> bool {
        // Relaxed: it only decides which worker looks first.
        self.crew.master.load(Ordering::Relaxed) == self.member.index
    }

    /// Returns where the current task lies.
    pub fn region(&self) -> &Region {
        &self.member.region
    }

    /// Adds a task. The worker takes the youngest of its own tasks first.
    #[inline]
    pub fn push(&mut self, task: W::Task) {
        self.member.owner.push(task);
        self.pushed(1);
    }

    /// Adds a batch, in constant time.
    #[inline]
    pub fn push_batch(&mut self, batch: Batch<W::Task>) {
        let tasks = batch.len();
        self.member.owner.push_batch(batch);
        self.pushed(tasks);
    }

    #[inline]
    fn pushed(&mut self, tasks: usize) {
        self.member.counts.pushes += tasks as u64;
        // A worker that parks either finds these tasks or is seen in the signal.
        self.crew.fencing.light();
        let seen = self.crew.signal.look();
        if !seen.is_quiet() {
            self.share(seen);
        }
    }

    /// Serves the waiting workers, if the queue has more than one task.
    ///
    /// This worker takes the youngest task next.
    #[cold]
    fn share(&mut self, seen: Seen) {
        if seen.anybody_waits() && !seen.is_over() && self.member.owner.len() > 1 {
            self.serve();
        }
    }

    /// Serves workers in want, and returns whether to stop.
    ///
    /// Long tasks should call it now and then. If it returns `true`, the task may return at once.
    ///
    /// If there is nothing to do, a poll is one load. Otherwise the worker takes the baton and
    /// moves tasks to the workers in want: to workers that have nothing, also from its own queue;
    /// and, if it is the master, to hungry workers.
    #[inline]
    #[must_use = "it says whether to stop"]
    pub fn poll(&mut self) -> bool {
        if !self.crew.limits.are_none() {
            self.mind_limits();
        }
        let seen = self.crew.signal.look();
        !seen.is_quiet() && self.answer(seen)
    }

    /// Reacts to the signal. Returns whether the run is over.
    #[cold]
    fn answer(&mut self, seen: Seen) -> bool {
        if seen.is_over() {
            return true;
        }
        let desk = &self.crew.desks[self.member.index];
        if seen.anybody_waits() && (!self.member.owner.is_empty() || desk.letterbox.is_full()) {
            self.serve();
        } else if seen.anybody_hungry() && self.is_master() {
            if self.member.skip > 0 {
                self.member.skip -= 1;
            } else if self.serve() {
                self.member.patience = 1;
            } else {
                // No worker has tasks to spare. That does not change at once, so skip some reads.
                self.member.skip = self.member.patience;
                self.member.patience = MOST_PATIENCE.min(2 * self.member.patience);
            }
        }
        self.crew.signal.look().is_over()
    }

    /// Takes the baton and serves, or makes the holder serve once more.
    ///
    /// Returns whether this worker moved a batch.
    fn serve(&mut self) -> bool {
        let (crew, summoner, index) = (self.crew, self.summoner, self.member.index);
        let mut moved = 0;
        crew.baton.try_serve(|office| {
            crew.master.store(index, Ordering::Relaxed);
            moved += crew.serve(office, summoner, None);
        });
        self.member.count_service(moved);
        moved > 0
    }

    /// Takes a share of the longest queue's oldest tasks out of the run.
    ///
    /// The batch is empty if no task is waiting. Returns `None` if another worker holds the baton:
    /// try again later.
    ///
    /// # Panics
    ///
    /// If the share is not from 0 to 1.
    pub fn withdraw(&mut self, share: f64) -> Option<Batch<W::Task>> {
        let crew = self.crew;
        let mut office = crew.baton.try_take()?;
        let batch = crew.withdraw(&mut office, share);
        drop(office);
        // Other workers may have left notes while this one held the baton.
        crew.mind_notes(self.summoner);
        Some(batch)
    }

    /// Checks the limits now and then: always, if much time passes between two calls.
    #[inline]
    fn mind_limits(&mut self) {
        if self.until_look > 0 {
            self.until_look -= 1;
        } else {
            self.look_at_limits();
        }
    }

    #[cold]
    fn look_at_limits(&mut self) {
        let now = Instant::now();
        if let Some(why) = self.crew.limits.reached(now) {
            self.crew.stop(why);
        }
        let short = self.last_look.replace(now).is_some_and(|before| now - before < SHORT);
        self.granted = if short { MOST_A_LOOK.min(2 * self.granted + 1) } else { 0 };
        self.until_look = self.granted;
    }

    /// Stops the run: no worker begins another task once it has seen this.
    ///
    /// The tasks that are left are in the report.
    pub fn stop(&mut self) {
        self.crew.stop(Ending::Stopped);
    }

    /// Publishes what the current task taught, for tasks near it.
    ///
    /// It reaches the tasks of this worker, and the tasks that are brought from it to other
    /// workers.
    pub fn publish(&mut self, learnt: W::Learnt) {
        self.publish_at(self.member.region, learnt);
    }

    /// Publishes something that holds in all of a region.
    pub fn publish_at(&mut self, region: Region, learnt: W::Learnt) {
        let note = Note { region, what: Arc::new(learnt) };
        lock(&self.crew.desks[self.member.index].published).put(note.clone(), &self.member.region);
        self.member.shelf.put(note, &self.member.region);
    }

    /// Returns the notes near the current task, nearest first, among equals the youngest.
    ///
    /// Each comes with the region that it was learnt in. The caller decides whether it holds here.
    ///
    /// The lookup is local: it returns what this worker has learnt, and what came with the tasks
    /// that were brought to it.
    pub fn learnt(&self) -> impl Iterator<Item = (&Region, &W::Learnt)> {
        self.member.shelf.near(&self.member.region).map(|(_, note)| (&note.region, &*note.what))
    }

    /// Processes a task, if there is one and the run is not over.
    pub(super) fn step(&mut self) -> Step {
        if !self.crew.limits.are_none() {
            self.mind_limits();
        }
        if self.crew.signal.look().is_over() {
            return Step::Over;
        }
        let Some(task) = self.next() else { return Step::Idle };
        let called = &self.crew.desks[self.member.index].called;
        if called.load(Ordering::Relaxed) {
            called.store(false, Ordering::Relaxed);
        }
        self.mind_hunger();
        let seen = self.crew.signal.look();
        if !seen.is_quiet() && self.answer(seen) {
            self.member.owner.push(task);
            return Step::Over;
        }
        if self.member.idle_since.is_some() {
            self.member.end_idleness(self.crew.clock.now());
        }
        let region = self.crew.work.region(&task);
        self.member.region = region;
        self.member.counts.tasks += 1;
        self.crew.desks[self.member.index].begin(&region, self.member.counts.tasks);
        self.crew.work.process(task, self);
        Step::Worked
    }

    /// Takes the youngest of the worker's own tasks, or else of those in its mail.
    fn next(&mut self) -> Option<W::Task> {
        self.member.owner.pop().or_else(|| {
            let letterbox = &self.crew.desks[self.member.index].letterbox;
            if letterbox.is_full() {
                self.member.accept(letterbox.take()?);
            }
            self.member.owner.pop()
        })
    }

    /// Signals that the queue is nearly drained.
    ///
    /// The worker calls this before it begins a task that may be its last for now.
    #[inline]
    fn mind_hunger(&mut self) {
        let crew = self.crew;
        let desk = &crew.desks[self.member.index];
        if crew.desks.len() > 1
            && self.member.owner.len() <= crew.hungry_at
            && !desk.letterbox.is_full()
            && !desk.hungry.load(Ordering::Relaxed)
        {
            desk.hungry.store(true, Ordering::Relaxed);
            self.member.counts.hungry += 1;
            crew.signal.begin_hunger();
        }
    }
}

impl<W: Work> fmt::Debug for Worker<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("index", &self.member.index)
            .field("region", &self.member.region)
            .finish_non_exhaustive()
    }
}
