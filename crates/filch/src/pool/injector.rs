//! The queue for jobs from outside: of threads that are no workers, and of workers that must not
//! run what they hold.

use std::collections::VecDeque;

use crate::job::Job;
use crate::lineage::Lineage;
use crate::sync::{lock, AtomicUsize, Mutex, Ordering};

/// See the module. First in, first out, but for jobs that waits need.
#[derive(Debug)]
pub(crate) struct Injector {
    /// How many there are, so that no thread locks for nothing; and how many of them a wait may
    /// need.
    len: AtomicUsize,
    needed: AtomicUsize,
    jobs: Mutex<Jobs>,
}

/// Jobs with the numbers in which they came.
#[derive(Debug)]
struct Jobs {
    next: u64,
    /// Those that no wait needs.
    others: VecDeque<(u64, Job)>,
    /// Those that a wait may need.
    needed: VecDeque<(u64, Job)>,
}

impl Injector {
    pub(crate) fn new() -> Injector {
        Injector {
            len: AtomicUsize::new(0),
            needed: AtomicUsize::new(0),
            jobs: Mutex::new(Jobs { next: 0, others: VecDeque::new(), needed: VecDeque::new() }),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        // SeqCst: after the counters and states of the sleep protocol.
        self.len.load(Ordering::SeqCst) == 0
    }

    pub(crate) fn push(&self, job: Job) {
        let mut jobs = lock(&self.jobs);
        let number = jobs.next;
        jobs.next += 1;
        if job.lineage.is_root() {
            jobs.others.push_back((number, job));
        } else {
            jobs.needed.push_back((number, job));
            self.needed.fetch_add(1, Ordering::SeqCst);
        }
        // SeqCst: before the look at who sleeps.
        self.len.fetch_add(1, Ordering::SeqCst);
    }

    /// The oldest job.
    pub(crate) fn take(&self) -> Option<Job> {
        if self.is_empty() {
            return None;
        }
        let mut jobs = lock(&self.jobs);
        let first = |jobs: &VecDeque<(u64, Job)>| jobs.front().map_or(u64::MAX, |&(number, _)| number);
        let (_, job) = if first(&jobs.needed) < first(&jobs.others) {
            self.needed.fetch_sub(1, Ordering::SeqCst);
            jobs.needed.pop_front()?
        } else {
            jobs.others.pop_front()?
        };
        self.len.fetch_sub(1, Ordering::SeqCst);
        Some(job)
    }

    /// The oldest job of such a lineage. While this looks, no job is done, so that it can climb.
    pub(crate) fn take_needed(&self, is_needed: impl Fn(Lineage) -> bool) -> Option<Job> {
        if self.needed.load(Ordering::SeqCst) == 0 {
            return None;
        }
        let mut jobs = lock(&self.jobs);
        let at = jobs.needed.iter().position(|(_, job)| is_needed(job.lineage))?;
        let (_, job) = jobs.needed.remove(at)?;
        self.needed.fetch_sub(1, Ordering::SeqCst);
        self.len.fetch_sub(1, Ordering::SeqCst);
        Some(job)
    }

    /// Whether there is such a job.
    pub(crate) fn has_needed(&self, is_needed: impl Fn(Lineage) -> bool) -> bool {
        self.needed.load(Ordering::SeqCst) != 0 && lock(&self.jobs).needed.iter().any(|(_, job)| is_needed(job.lineage))
    }
}
