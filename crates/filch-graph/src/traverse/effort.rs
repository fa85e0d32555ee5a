//! What a traversal took.

use filch::explore::{Counts, Ending, Explored};

/// What a traversal took: what its workers did, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effort {
    counts: Vec<Counts>,
    ending: Ending,
    needed: Option<u64>,
}

impl Effort {
    /// Of one exploration. `needed` is how many tasks would have done, known once it is complete.
    pub(super) fn of<S>(explored: &Explored<S>, needed: impl FnOnce() -> u64) -> Effort {
        let (counts, ending) = (explored.counts().to_vec(), explored.ending());
        Effort { counts, ending, needed: (ending == Ending::Complete).then(needed) }
    }

    /// Of one thread that did all there was to do.
    pub(crate) fn serial(tasks: u64) -> Effort {
        let mut counts = Counts::default();
        counts.tasks = tasks;
        Effort { counts: vec![counts], ending: Ending::Complete, needed: Some(tasks) }
    }

    /// The same, now that it is known how many tasks would have done.
    pub(super) fn needing(mut self, more: u64) -> Effort {
        self.needed = self.needed.map(|needed| needed + more);
        self
    }

    /// Of this and then that.
    pub(super) fn then(mut self, next: Effort) -> Effort {
        self.ending = next.ending;
        self.needed = self.needed.zip(next.needed).map(|(mine, its)| mine + its);
        for (at, more) in next.counts.into_iter().enumerate() {
            match self.counts.get_mut(at) {
                None => self.counts.push(more),
                Some(counts) => {
                    counts.tasks += more.tasks;
                    counts.redundant += more.redundant;
                    counts.steals += more.steals;
                    counts.aborts += more.aborts;
                    counts.longest = counts.longest.max(more.longest);
                    counts.idle += more.idle;
                }
            }
        }
        self
    }

    /// How it ended. Unless this is [`Ending::Complete`], what was found is true as far as it goes, and more may be missing.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// Whether nothing was left to do.
    pub fn is_complete(&self) -> bool {
        self.ending == Ending::Complete
    }

    /// What each worker did.
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// How many tasks were run.
    pub fn tasks(&self) -> u64 {
        self.counts.iter().map(|counts| counts.tasks).sum()
    }

    /// How many of them were stolen.
    pub fn steals(&self) -> u64 {
        self.counts.iter().map(|counts| counts.steals).sum()
    }

    /// The tasks in the longest queue of each worker, added up: what the worklists took at most, at eight bytes a task. The workers look at their queues now and then, so it may be a
    /// little more.
    pub fn longest(&self) -> usize {
        self.counts.iter().map(|counts| counts.longest).sum()
    }

    /// How many of them somebody had run already, or was running: those that the queue gave out twice and those that were pushed twice.
    ///
    /// It is what is left of all tasks when one for each vertex (or piece of work) is taken off, so counting costs the traversal nothing. Unknown if it did not complete.
    pub fn redundant(&self) -> Option<u64> {
        self.needed.map(|needed| self.tasks().saturating_sub(needed))
    }
}
