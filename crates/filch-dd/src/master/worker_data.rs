//! The data of a worker, on a thread or parked.

use std::time::Duration;

use super::inbox::Mail;
use super::notes::Notes;
use super::queue::{Bulk, Queue, QueueOwner};
use super::region::Region;
use super::report::Counts;
use super::Work;

/// The data of a worker that goes with it from thread to thread.
pub(super) struct WorkerData<W: Work<Q>, Q: Queue = Bulk> {
    pub(super) index: usize,
    pub(super) owner: Q::Owner<W::Task>,
    pub(super) counts: Counts,
    /// The region of its last task.
    pub(super) region: Region,
    pub(super) notes: Notes<W::Learnt>,
    /// The time since when it has had nothing to do.
    pub(super) idle_since: Option<Duration>,
    /// The number of reads of the signal until it serves workers that run low again.
    pub(super) skip: u32,
    /// The next value of `skip` if serving is in vain again.
    pub(super) next_skip: u32,
}

impl<W: Work<Q>, Q: Queue> WorkerData<W, Q> {
    pub(super) fn new(index: usize, owner: Q::Owner<W::Task>, notes: usize) -> Self {
        WorkerData {
            index,
            owner,
            counts: Counts::default(),
            region: Region::ROOT,
            notes: Notes::new(notes),
            idle_since: Some(Duration::ZERO),
            skip: 0,
            next_skip: 1,
        }
    }

    /// Takes the tasks and notes of its mail.
    pub(super) fn accept(&mut self, mail: Mail<W::Task, W::Learnt>) {
        self.owner.push_batch(mail.tasks);
        for note in mail.notes {
            self.notes.insert(note, &self.region);
        }
    }

    /// Counts that it had the master lock and moved `moved` batches.
    pub(super) fn count_serve(&mut self, moved: usize) {
        self.counts.served += u64::from(moved > 0);
        self.counts.futile += u64::from(moved == 0);
    }

    /// Adds the time it was idle, until `now`.
    pub(super) fn end_idle(&mut self, now: Duration) {
        if let Some(since) = self.idle_since.take() {
            self.counts.idle += now.saturating_sub(since);
        }
    }
}
