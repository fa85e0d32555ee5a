//! What an exploration leaves.

use std::time::Duration;

/// How an exploration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// No task was left.
    Complete,
    /// A task stopped it.
    Stopped,
    /// It was cancelled.
    Cancelled,
    /// Its time was up.
    TimedOut,
}

/// What one explorer did, or several together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Tasks that it ran.
    pub tasks: u64,
    /// Tasks of those that were found to be done already, as far as [`Explorer::found_done`](super::Explorer::found_done) was told.
    pub redundant: u64,
    /// Tasks that it stole.
    pub steals: u64,
    /// Attempts to steal at which it could not be told whether the owner had the task.
    pub aborts: u64,
    /// The most tasks that its queue was seen to hold. It is looked at after its first task and then less and less often, at least after every 1,024.
    pub longest: usize,
    /// How long it had nothing to do.
    pub idle: Duration,
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.tasks += other.tasks;
        self.redundant += other.redundant;
        self.steals += other.steals;
        self.aborts += other.aborts;
        self.longest += other.longest;
        self.idle += other.idle;
    }
}

/// What an exploration leaves: the workers' states, what they did, and how it ended.
#[must_use = "it says whether the exploration was stopped early"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored<S = ()> {
    pub(super) states: Vec<S>,
    pub(super) counts: Vec<Counts>,
    pub(super) ending: Ending,
}

impl<S> Explored<S> {
    /// The states of those that ran a task, in the order of [`index`](super::Explorer::index).
    pub fn states(&self) -> &[S] {
        &self.states
    }

    /// The same, to keep.
    pub fn into_states(self) -> Vec<S> {
        self.states
    }

    /// What each worker did, by [`index`](super::Explorer::index), also those that found nothing to do.
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// What they did together. The longest queues are added up, though they need not have been so long at the same time.
    pub fn total(&self) -> Counts {
        self.counts.iter().fold(Counts::default(), |mut total, counts| {
            total.add(counts);
            total
        })
    }

    /// How it ended.
    pub fn ending(&self) -> Ending {
        self.ending
    }
}
