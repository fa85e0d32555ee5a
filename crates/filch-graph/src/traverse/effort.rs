//! The effort of a traversal.

use filch::explore::{Counts, Ending, Explored};

/// The effort of a traversal: what its workers did, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effort {
    counts: Vec<Counts>,
    ending: Ending,
    needed: Option<u64>,
}

impl Effort {
    /// Returns the effort of one exploration. `needed` is the number of tasks without repeats,
    /// known once the exploration is complete.
    pub(super) fn of<S>(explored: &Explored<S>, needed: impl FnOnce() -> u64) -> Effort {
        let (counts, ending) = (explored.counts().to_vec(), explored.ending());
        Effort { counts, ending, needed: (ending == Ending::Complete).then(needed) }
    }

    /// Returns the effort of one thread that ran all tasks.
    pub(crate) fn serial(tasks: u64) -> Effort {
        let mut counts = Counts::default();
        counts.tasks = tasks;
        Effort { counts: vec![counts], ending: Ending::Complete, needed: Some(tasks) }
    }

    /// Returns the effort of a traversal that was not counted, and ended like this.
    pub(super) fn uncounted(ending: Ending) -> Effort {
        Effort { counts: Vec::new(), ending, needed: None }
    }

    /// Adds to the number of needed tasks, once it is known.
    pub(super) fn add_needed(mut self, more: u64) -> Effort {
        self.needed = self.needed.map(|needed| needed + more);
        self
    }

    /// Returns the sum of this exploration and the next.
    pub(super) fn plus(mut self, next: Effort) -> Effort {
        self.ending = next.ending;
        self.needed = self.needed.zip(next.needed).map(|(own, added)| own + added);
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

    /// Returns how the traversal ended.
    ///
    /// Unless this is [`Ending::Complete`], the result is right but may be incomplete.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// Returns whether no work was left.
    pub fn is_complete(&self) -> bool {
        self.ending == Ending::Complete
    }

    /// Returns what each worker did.
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// Returns the number of tasks that were run.
    pub fn tasks(&self) -> u64 {
        self.counts.iter().map(|counts| counts.tasks).sum()
    }

    /// Returns the number of tasks that were stolen.
    pub fn steals(&self) -> u64 {
        self.counts.iter().map(|counts| counts.steals).sum()
    }

    /// Returns the longest length of each worker's queue, summed over the workers.
    ///
    /// At eight bytes per task, this is the most memory that the worklists took. The workers check
    /// their queues only now and then, so the true value may be a little larger.
    ///
    /// A traversal [by level](filch::explore::Explore::run_by_level) has no queues. There it is the
    /// most vertices that each worker found for one level, summed over the workers. Two levels
    /// exist at a time, at four bytes per vertex, in vectors of up to twice that size.
    pub fn longest(&self) -> usize {
        self.counts.iter().map(|counts| counts.longest).sum()
    }

    /// Returns the number of tasks whose work another task had done or was doing.
    ///
    /// These are the tasks that the queue returned twice and those that were pushed twice. The
    /// number is the count of all tasks minus one for each vertex (or piece of work), so counting
    /// costs the traversal nothing. `None` if the traversal did not complete.
    pub fn redundant(&self) -> Option<u64> {
        self.needed.map(|needed| self.tasks().saturating_sub(needed))
    }
}
