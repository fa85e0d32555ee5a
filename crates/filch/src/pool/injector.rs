//! The queue for jobs from outside: of threads that are no workers, and of workers that must not run what they hold.

use std::collections::VecDeque;

use crate::job::Job;
use crate::origin::Frame;
use crate::sync::{lock, AtomicUsize, Mutex, Ordering};

/// See the module. First in, first out, but for those that are looked for.
#[derive(Debug)]
pub(crate) struct Injector {
    /// So that nobody locks for nothing.
    len: AtomicUsize,
    jobs: Mutex<VecDeque<Job>>,
}

impl Injector {
    pub(crate) fn new() -> Injector {
        Injector { len: AtomicUsize::new(0), jobs: Mutex::new(VecDeque::new()) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        // SeqCst: after the counters and beds of the sleep protocol.
        self.len.load(Ordering::SeqCst) == 0
    }

    pub(crate) fn push(&self, job: Job) {
        let mut jobs = lock(&self.jobs);
        jobs.push_back(job);
        // SeqCst: before the look at who sleeps.
        self.len.fetch_add(1, Ordering::SeqCst);
    }

    /// The oldest such job.
    pub(crate) fn take_where(&self, wanted: impl Fn(&Job) -> bool) -> Option<Job> {
        if self.is_empty() {
            return None;
        }
        let mut jobs = lock(&self.jobs);
        let at = jobs.iter().position(wanted)?;
        let job = jobs.remove(at)?;
        self.len.fetch_sub(1, Ordering::SeqCst);
        Some(job)
    }

    /// The oldest job.
    pub(crate) fn take(&self) -> Option<Job> {
        self.take_where(|_| true)
    }

    /// The job that was made from `data`.
    pub(crate) fn take_back(&self, data: *const ()) -> Option<Job> {
        self.take_where(|job| job.is_of(data))
    }

    /// The oldest job that descends from `frame`.
    pub(crate) fn take_descendant(&self, frame: &Frame) -> Option<Job> {
        self.take_where(|job| job.origin.descends_from(frame))
    }

    pub(crate) fn has_descendant(&self, frame: &Frame) -> bool {
        self.has(|job| job.origin.descends_from(frame))
    }

    /// Whether there is such a job.
    pub(crate) fn has(&self, wanted: impl Fn(&Job) -> bool) -> bool {
        !self.is_empty() && lock(&self.jobs).iter().any(wanted)
    }
}
