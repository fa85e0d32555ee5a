//! A worker of the crew, on a thread or on none.

use std::time::Duration;

use super::learnt::Shelf;
use super::mail::Mail;
use super::queue::Owner;
use super::region::Region;
use super::report::Counts;
use super::Work;

/// A worker of the crew: its queue, and its data between threads.
pub(super) struct Member<W: Work> {
    pub(super) index: usize,
    pub(super) owner: Owner<W::Task>,
    pub(super) counts: Counts,
    /// The region of its last task.
    pub(super) region: Region,
    pub(super) shelf: Shelf<W::Learnt>,
    /// The time since when it has had nothing to do.
    pub(super) idle_since: Option<Duration>,
    /// The number of reads of the signal until it serves the hungry again.
    pub(super) skip: u32,
    /// The next value of `skip` if serving is in vain again.
    pub(super) patience: u32,
}

impl<W: Work> Member<W> {
    pub(super) fn new(index: usize, owner: Owner<W::Task>, notes: usize) -> Self {
        Member {
            index,
            owner,
            counts: Counts::default(),
            region: Region::ROOT,
            shelf: Shelf::new(notes),
            idle_since: Some(Duration::ZERO),
            skip: 0,
            patience: 1,
        }
    }

    /// Takes the tasks and notes of its mail.
    pub(super) fn accept(&mut self, mail: Mail<W::Task, W::Learnt>) {
        self.owner.push_batch(mail.tasks);
        for note in mail.notes {
            self.shelf.put(note, &self.region);
        }
    }

    /// Counts that it had the baton and moved `moved` batches.
    pub(super) fn count_service(&mut self, moved: usize) {
        self.counts.served += u64::from(moved > 0);
        self.counts.futile += u64::from(moved == 0);
    }

    /// Adds the time it was idle, until `now`.
    pub(super) fn end_idleness(&mut self, now: Duration) {
        if let Some(since) = self.idle_since.take() {
            self.counts.idle += now.saturating_sub(since);
        }
    }
}
