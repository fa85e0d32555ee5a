//! Mail: jobs that only the worker of a seat may run.

use super::deques::are_deques_used;
use super::Seat;
use crate::job::Job;
use crate::sync::Ordering;

/// A job that only one worker may run.
#[derive(Debug)]
pub(super) struct Mail {
    job: Job,
    /// Whether the sender is a worker of some pool, or descends from one.
    is_from_inside: bool,
}

impl Seat {
    /// Delivers a job that only this worker may run, and wakes the worker.
    pub(crate) fn deliver(&self, job: Job) {
        // Workers of other pools count as inside, too: a call that runs here may wait for them.
        let is_from_inside = Seat::current().is_some() || self.pool().waits_above(job.lineage).next().is_some();
        self.inbox.push(Mail { job, is_from_inside });
        self.sleep.notify();
    }

    /// Takes the oldest of the jobs that only this worker may run.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn take_mail(&self) -> Option<Job> {
        let mail = self.inbox.pop()?;
        self.looks_before_mail.0.set(0);
        Some(mail.job)
    }

    /// Returns whether any job in the inbox was sent from inside a pool. The sender is a worker of
    /// any pool, or descends from one.
    pub(crate) fn has_mail_from_inside(&self) -> bool {
        self.has_mail() && self.inbox.has(|mail| mail.is_from_inside)
    }

    /// Returns whether there are jobs that only this worker may run.
    pub(crate) fn has_mail(&self) -> bool {
        // SeqCst: after the worker's state says that it sleeps.
        self.inbox.len.load(Ordering::SeqCst) != 0
    }

    /// Counts a look for own work. Returns whether there is mail that has waited for so many looks
    /// that it comes first.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn is_mail_overdue(&self) -> bool {
        /// More than a worker usually has spawned before a broadcast, which comes after that.
        const MAX_LOOKS: u32 = 1024;
        if !are_deques_used() || !self.has_mail() {
            return false;
        }
        let looks = self.looks_before_mail.0.get();
        self.looks_before_mail.0.set(looks.saturating_add(1));
        looks >= MAX_LOOKS
    }
}
