//! The queue for jobs from outside: of threads that are no workers, and of workers that must not
//! run what they hold.

use std::collections::VecDeque;

use crate::job::Job;
use crate::lineage::Lineage;
use crate::sync::{lock, AtomicUsize, Mutex, Ordering};

/// See the module. Two queues, each first in, first out.
#[derive(Debug)]
pub(crate) struct Injector {
    /// Jobs that no worker waits for.
    roots: Roots,
    /// Jobs that a worker may wait for.
    needed: Mutex<VecDeque<Job>>,
    /// How many of those there are. Lets workers skip the lock when there are none.
    needed_len: AtomicUsize,
    /// How often a worker has looked for any job, so that neither queue always comes first.
    looks: AtomicUsize,
}

impl Injector {
    pub(crate) fn new() -> Injector {
        Injector {
            roots: Roots::new(),
            needed: Mutex::new(VecDeque::new()),
            needed_len: AtomicUsize::new(0),
            looks: AtomicUsize::new(0),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        // SeqCst: after the counters and states of the sleep protocol.
        self.roots.is_empty() && self.needed_len.load(Ordering::SeqCst) == 0
    }

    /// Queues a job. The caller announces it after this, with a fence.
    pub(crate) fn push(&self, job: Job) {
        if job.lineage.is_root() {
            self.roots.push(job);
        } else {
            let mut needed = lock(&self.needed);
            needed.push_back(job);
            self.needed_len.store(needed.len(), Ordering::SeqCst);
        }
    }

    /// The oldest job of one of the queues.
    pub(crate) fn take(&self) -> Option<Job> {
        if self.needed_len.load(Ordering::SeqCst) == 0 {
            return self.take_root();
        }
        // Relaxed: it only has to change.
        if self.looks.fetch_add(1, Ordering::Relaxed) % 2 == 0 {
            self.take_needed(|_| true).or_else(|| self.take_root())
        } else {
            self.take_root().or_else(|| self.take_needed(|_| true))
        }
    }

    /// The oldest job that no worker waits for.
    pub(crate) fn take_root(&self) -> Option<Job> {
        self.roots.pop()
    }

    /// The oldest job of such a lineage. While this looks, no job is done, so that it can climb.
    pub(crate) fn take_needed(&self, is_needed: impl Fn(Lineage) -> bool) -> Option<Job> {
        if self.needed_len.load(Ordering::SeqCst) == 0 {
            return None;
        }
        let mut needed = lock(&self.needed);
        let at = needed.iter().position(|job| is_needed(job.lineage))?;
        let job = needed.remove(at);
        self.needed_len.store(needed.len(), Ordering::SeqCst);
        job
    }

    /// Whether there is such a job.
    pub(crate) fn has_needed(&self, is_needed: impl Fn(Lineage) -> bool) -> bool {
        self.needed_len.load(Ordering::SeqCst) != 0 && lock(&self.needed).iter().any(|job| is_needed(job.lineage))
    }
}

#[cfg(not(any(loom, shuttle)))]
type Roots = crossbeam_queue::SegQueue<Job>;
#[cfg(any(loom, shuttle))]
use checked::Roots;

/// The same for the checkers, which cannot look into another crate's queue.
#[cfg(any(loom, shuttle))]
mod checked {
    use std::collections::VecDeque;

    use crate::job::Job;
    use crate::sync::{lock, AtomicUsize, Mutex, Ordering};

    #[derive(Debug)]
    pub(super) struct Roots {
        len: AtomicUsize,
        jobs: Mutex<VecDeque<Job>>,
    }

    impl Roots {
        pub(super) fn new() -> Roots {
            Roots { len: AtomicUsize::new(0), jobs: Mutex::new(VecDeque::new()) }
        }

        pub(super) fn is_empty(&self) -> bool {
            self.len.load(Ordering::SeqCst) == 0
        }

        pub(super) fn push(&self, job: Job) {
            let mut jobs = lock(&self.jobs);
            jobs.push_back(job);
            self.len.fetch_add(1, Ordering::SeqCst);
        }

        pub(super) fn pop(&self) -> Option<Job> {
            if self.is_empty() {
                return None;
            }
            let mut jobs = lock(&self.jobs);
            let job = jobs.pop_front()?;
            self.len.fetch_sub(1, Ordering::SeqCst);
            Some(job)
        }
    }
}
