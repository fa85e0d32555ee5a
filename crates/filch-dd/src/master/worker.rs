//! A worker on a thread: what a task may ask of it, and what it does between two tasks.

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

/// How many polls and tasks it is at most from one look at the limits to the next,
const MOST_A_LOOK: u32 = 32;
/// if those before took no longer than this.
const SHORT: Duration = Duration::from_micros(100);
/// How many looks at the signal a master lets pass at most, after it served the hungry in vain.
const MOST_PATIENCE: u32 = 64;

/// A worker, as a task sees it: where to push, whom to ask.
pub struct Worker<'a, W: Work> {
    pub(super) crew: &'a Crew<'a, W>,
    pub(super) summoner: &'a dyn Summon<W>,
    pub(super) member: Member<W>,
    /// After how many more polls or tasks it looks at the limits,
    until_look: u32,
    /// how many it was given at the last look,
    granted: u32,
    /// and when that was.
    last_look: Option<Instant>,
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It has processed a task.
    Worked,
    /// It has none.
    Idle,
    /// All is over.
    Over,
}

impl<'a, W: Work> Worker<'a, W> {
    /// Takes up its work on this thread.
    pub(super) fn begin(crew: &'a Crew<'a, W>, summoner: &'a dyn Summon<W>, member: Member<W>) -> Self {
        Worker { crew, summoner, member, until_look: 0, granted: 0, last_look: None }
    }

    /// Which worker this is, from 0.
    pub fn index(&self) -> usize {
        self.member.index
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.crew.desks.len()
    }

    /// Whether it had the baton last. The master changes: see [the module](super).
    pub fn is_master(&self) -> bool {
        // Relaxed: it decides only who looks first.
        self.crew.master.load(Ordering::Relaxed) == self.member.index
    }

    /// Where the current task lies.
    pub fn region(&self) -> &Region {
        &self.member.region
    }

    /// Adds a task. The worker takes the youngest of its own first.
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
        // Somebody who sits down either finds these tasks or is seen.
        self.crew.fencing.light();
        let seen = self.crew.signal.look();
        if !seen.is_quiet() {
            self.share(seen);
        }
    }

    /// Feeds those who wait, if there is more than what this worker takes next.
    #[cold]
    fn share(&mut self, seen: Seen) {
        if seen.anybody_waits() && !seen.is_over() && self.member.owner.len() > 1 {
            self.serve();
        }
    }

    /// Looks whether anything is to be done; to be called now and then by tasks that take long. Says whether to stop: then the task may return at once.
    ///
    /// If nothing is to be done that is one load. Otherwise the worker takes the baton and moves tasks to those in want: to those who have nothing, from its own queue among others; and if it is
    /// the master, to those who are hungry.
    #[inline]
    #[must_use = "it says whether to stop"]
    pub fn poll(&mut self) -> bool {
        if !self.crew.limits.are_none() {
            self.mind_limits();
        }
        let seen = self.crew.signal.look();
        !seen.is_quiet() && self.answer(seen)
    }

    /// Does what the signal asks for. Whether all is over.
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
                // Nobody has plenty. That will not have changed at once.
                self.member.skip = self.member.patience;
                self.member.patience = MOST_PATIENCE.min(2 * self.member.patience);
            }
        }
        self.crew.signal.look().is_over()
    }

    /// Takes the baton, or has whoever holds it serve once more. Whether a batch was moved by this worker.
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

    /// Takes a share of the tasks out of the run, the oldest of the queue that has most; none if there is none waiting. `None` if somebody else has the baton just now: try again later.
    ///
    /// # Panics
    ///
    /// If the share is not from 0 to 1.
    pub fn withdraw(&mut self, share: f64) -> Option<Batch<W::Task>> {
        let crew = self.crew;
        let mut office = crew.baton.try_take()?;
        let batch = crew.withdraw(&mut office, share);
        drop(office);
        // With the baton came the notes of those who found it taken.
        crew.mind_notes(self.summoner);
        Some(batch)
    }

    /// Looks at the limits now and then: always, if much time passes between two calls.
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

    /// Ends the run: no worker begins another task once it has seen this. What is left is in the report.
    pub fn stop(&mut self) {
        self.crew.stop(Ending::Stopped);
    }

    /// Publishes what the current task taught, for tasks near it: those of this worker, and those that are brought to others.
    pub fn publish(&mut self, learnt: W::Learnt) {
        self.publish_at(self.member.region, learnt);
    }

    /// Publishes something that holds in all of a region.
    pub fn publish_at(&mut self, region: Region, learnt: W::Learnt) {
        let note = Note { region, what: Arc::new(learnt) };
        lock(&self.crew.desks[self.member.index].published).put(note.clone(), &self.member.region);
        self.member.shelf.put(note, &self.member.region);
    }

    /// What is known near the current task, nearest first, and of equals the youngest. Each comes with the region that it was learnt in, and says itself whether it holds here.
    ///
    /// Nobody is asked: it is what this worker has learnt, and what came along with the tasks that it was brought.
    pub fn learnt(&self) -> impl Iterator<Item = (&Region, &W::Learnt)> {
        self.member.shelf.near(&self.member.region).map(|(_, note)| (&note.region, &*note.what))
    }

    /// Processes a task, if there is one and nothing is over.
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

    /// The youngest of its own tasks, or else of those that were brought.
    fn next(&mut self) -> Option<W::Task> {
        self.member.owner.pop().or_else(|| {
            let letterbox = &self.crew.desks[self.member.index].letterbox;
            if letterbox.is_full() {
                self.member.accept(letterbox.take()?);
            }
            self.member.owner.pop()
        })
    }

    /// Says that its queue is nearly drained, before it begins what may be its last task for now.
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
