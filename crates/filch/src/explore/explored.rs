//! The result of an exploration.

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
    /// Its deadline has passed.
    TimedOut,
}

/// Counts of what one explorer did, or of several together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Tasks that it ran.
    pub tasks: u64,
    /// Those of its tasks that were done already, as reported to
    /// [`Explorer::count_redundant`](super::Explorer::count_redundant).
    pub redundant: u64,
    /// Tasks that it stole.
    pub steals: u64,
    /// Failed steals: the thief could not tell whether the owner had the task.
    pub aborts: u64,
    /// The most tasks that its queue was seen to hold.
    ///
    /// The length is read after the first task and then less and less often, at least after every
    /// 1,024 tasks. [By level](super::Explore::run_by_level) it is the most tasks that the worker
    /// has pushed for one level, exactly.
    pub longest: usize,
    /// The time without a task.
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

/// The result of an exploration: the workers' states, their counts, and how it ended.
#[must_use = "it says whether the exploration was stopped early"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored<S = ()> {
    pub(super) states: Vec<S>,
    pub(super) counts: Vec<Counts>,
    pub(super) ending: Ending,
}

impl<S> Explored<S> {
    /// Returns the states of the workers that ran a task, in the order of
    /// [`index`](super::Explorer::index).
    pub fn states(&self) -> &[S] {
        &self.states
    }

    /// Returns the states of the workers that ran a task, by value.
    pub fn into_states(self) -> Vec<S> {
        self.states
    }

    /// Returns the counts of each worker, by [`index`](super::Explorer::index). Includes workers
    /// that found nothing to do.
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// Returns the sums of all counts.
    ///
    /// The longest queues are added up, though they need not have been so long at the same time.
    pub fn total(&self) -> Counts {
        self.counts.iter().fold(Counts::default(), |mut total, counts| {
            total.add(counts);
            total
        })
    }

    /// Returns how the exploration ended.
    pub fn ending(&self) -> Ending {
        self.ending
    }
}
