//! The report of a run.

use core::fmt;
use std::collections::VecDeque;
use std::time::Duration;

use filch_queue::bulk::Batch;

pub use filch::explore::Ending;

/// Counts of one worker, or of all of them together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Tasks that it processed.
    pub tasks: u64,
    /// Tasks that it pushed.
    pub pushes: u64,
    /// The time it had nothing to do.
    ///
    /// In a deterministic run a step of a worker counts as a microsecond.
    pub idle: Duration,
    /// The number of times its queue was nearly drained.
    pub ran_low: u64,
    /// The number of times it waited: it had nothing left and found nothing to take.
    pub waits: u64,
    /// Tasks that were taken from it.
    pub given: u64,
    /// Tasks that were brought to it.
    pub got: u64,
    /// The number of times it took the master lock and moved a batch.
    ///
    /// That happens in a poll, at a push, between two tasks, or when it has nothing left.
    pub served: u64,
    /// The number of times it took the master lock in vain.
    pub futile: u64,
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.tasks += other.tasks;
        self.pushes += other.pushes;
        self.idle += other.idle;
        self.ran_low += other.ran_low;
        self.waits += other.waits;
        self.given += other.given;
        self.got += other.got;
        self.served += other.served;
        self.futile += other.futile;
    }
}

/// One batch that went from one worker to another.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Transfer {
    /// The time since the start of the run.
    ///
    /// In a deterministic run a step of a worker counts as a microsecond.
    pub at: Duration,
    /// The index of the worker that the tasks were taken from.
    pub from: usize,
    /// The index of the worker that the tasks were brought to.
    pub to: usize,
    /// The number of tasks.
    pub tasks: usize,
    /// The share of the queue that was asked for.
    pub share: f64,
    /// The nearness of the tasks to the region where the receiver worked.
    pub nearness: u32,
}

/// Totals of all transfers of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transfers {
    /// The number of transfers.
    pub batches: u64,
    /// The number of tasks that they moved.
    pub tasks: u64,
    /// The sum of their nearness.
    pub nearness: u64,
}

/// The latest transfers, and the totals of all.
#[derive(Debug)]
pub(super) struct Log {
    last: VecDeque<Transfer>,
    capacity: usize,
    total: Transfers,
}

impl Log {
    pub(super) fn new(capacity: usize) -> Self {
        Log { last: VecDeque::new(), capacity, total: Transfers::default() }
    }

    pub(super) fn add(&mut self, transfer: Transfer) {
        self.total.batches += 1;
        self.total.tasks += transfer.tasks as u64;
        self.total.nearness += u64::from(transfer.nearness);
        if self.last.len() == self.capacity {
            self.last.pop_front();
        }
        if self.capacity > 0 {
            self.last.push_back(transfer);
        }
    }

    pub(super) fn into_parts(self) -> (Vec<Transfer>, Transfers) {
        (self.last.into(), self.total)
    }
}

/// The report of a run: counts, transfers, ending, and the tasks left.
#[must_use = "says whether the run was stopped early, and which tasks are left"]
#[non_exhaustive]
pub struct Report<T> {
    /// The counts of each worker, by its index.
    ///
    /// Workers that got nothing to do are included.
    pub workers: Vec<Counts>,
    /// The latest transfers, oldest first, as many as [`Master::log`](super::Master::log) says.
    pub transfers: Vec<Transfer>,
    /// The totals of all transfers.
    pub moved: Transfers,
    /// How the run ended.
    pub ending: Ending,
    /// The tasks that no worker began, if the run was stopped early. In no particular order.
    pub left: Batch<T>,
    /// The duration of the run.
    pub elapsed: Duration,
}

impl<T> Report<T> {
    /// Returns the counts of all workers together.
    pub fn total(&self) -> Counts {
        self.workers.iter().fold(Counts::default(), |mut total, counts| {
            total.add(counts);
            total
        })
    }
}

impl<T> fmt::Debug for Report<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Report")
            .field("workers", &self.workers)
            .field("moved", &self.moved)
            .field("ending", &self.ending)
            .field("left", &self.left.len())
            .field("elapsed", &self.elapsed)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_keeps_the_last_and_counts_all() {
        let mut log = Log::new(2);
        for tasks in 1..=4 {
            log.add(Transfer { at: Duration::ZERO, from: 0, to: 1, tasks, share: 0.5, nearness: 3 });
        }
        let (last, total) = log.into_parts();
        assert_eq!(last.iter().map(|transfer| transfer.tasks).collect::<Vec<_>>(), [3, 4]);
        assert_eq!((total.batches, total.tasks, total.nearness), (4, 10, 12));
    }
}
