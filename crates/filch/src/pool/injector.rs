//! The queue for jobs from outside.
//!
//! They come from threads that are no workers, and from workers that must not run what they hold.
//! Jobs that no worker waits for are in a lock-free queue. The others are behind a lock, grouped by
//! lineage: a worker that waits looks at one lineage for each group, not at each job.
//!
//! Jobs are taken in the order in which they came, as far as that is known. Each job behind the
//! lock has a number: how many jobs had come to the other queue before it. It is due when that many
//! were taken there.

use std::collections::VecDeque;

use crate::job::Job;
use crate::lineage::Lineage;
use crate::sync::{lock, AtomicUsize, Mutex, Ordering};

/// The queue for jobs from outside; see the module.
#[derive(Debug)]
pub(crate) struct Injector {
    /// Jobs that no worker waits for.
    roots: Roots,
    /// The numbers of such jobs that have come, and that were taken. The latter includes jobs that
    /// are about to be taken.
    roots_pushed: AtomicUsize,
    roots_taken: AtomicUsize,
    /// Jobs that a worker may wait for.
    needed: Mutex<Groups>,
    /// The number of jobs in `needed`. Lets workers skip the lock when there are none.
    needed_len: AtomicUsize,
}

/// A job behind the lock.
#[derive(Debug)]
struct Queued {
    job: Job,
    /// The number of jobs that had come to the other queue before this one.
    number: usize,
    /// The number of jobs that had come to this queue before this one.
    turn: u64,
}

/// Jobs of one lineage.
#[derive(Debug)]
struct Group {
    lineage: Lineage,
    jobs: VecDeque<Queued>,
}

/// Groups of jobs; none is empty.
#[derive(Debug, Default)]
struct Groups {
    groups: Vec<Group>,
    len: usize,
    /// The number of jobs that have come.
    pushed: u64,
    /// Memory for the next group.
    spare: VecDeque<Queued>,
}

impl Groups {
    fn push(&mut self, number: usize, job: Job) {
        let lineage = job.lineage;
        let queued = Queued { job, number, turn: self.pushed };
        self.len += 1;
        self.pushed += 1;
        match self.groups.iter_mut().find(|group| group.lineage == lineage) {
            Some(group) => group.jobs.push_back(queued),
            None => {
                let mut jobs = std::mem::take(&mut self.spare);
                jobs.push_back(queued);
                self.groups.push(Group { lineage, jobs });
            }
        }
    }

    /// Takes the oldest job of the group at this place.
    fn take_at(&mut self, at: usize) -> Option<Job> {
        let group = &mut self.groups[at];
        let queued = group.jobs.pop_front()?;
        self.len -= 1;
        if group.jobs.is_empty() {
            self.spare = self.groups.swap_remove(at).jobs;
        }
        Some(queued.job)
    }

    /// Returns the group with the oldest job of such a lineage, and the job's number. The group is
    /// given by its index.
    fn oldest(&self, is_meant: impl Fn(Lineage) -> bool) -> Option<(usize, usize)> {
        let first = |(at, group): (usize, &Group)| group.jobs.front().map(|first| (first.turn, at, first.number));
        let meant = self.groups.iter().enumerate().filter(|(_, group)| is_meant(group.lineage));
        meant.filter_map(first).min().map(|(_, at, number)| (at, number))
    }
}

impl Injector {
    pub(crate) fn new() -> Injector {
        Injector {
            roots: Roots::new(),
            roots_pushed: AtomicUsize::new(0),
            roots_taken: AtomicUsize::new(0),
            needed: Mutex::new(Groups::default()),
            needed_len: AtomicUsize::new(0),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        // SeqCst: after the counters and states of the sleep protocol.
        self.roots.is_empty() && self.needed_len.load(Ordering::SeqCst) == 0
    }

    /// Queues a job. The caller announces it after this, with a fence.
    pub(crate) fn push(&self, job: Job) {
        if job.lineage.is_root() {
            // Relaxed: a thread that knows that the job was pushed knows this. First, so that no
            // later number is smaller.
            self.roots_pushed.fetch_add(1, Ordering::Relaxed);
            self.roots.push(job);
        } else {
            let mut needed = lock(&self.needed);
            needed.push(self.roots_pushed.load(Ordering::Relaxed), job);
            self.needed_len.store(needed.len, Ordering::SeqCst);
        }
    }

    /// Takes the oldest job.
    pub(crate) fn take(&self) -> Option<Job> {
        self.take_due().or_else(|| self.take_root()).or_else(|| self.take_needed(|_| true))
    }

    /// Takes the oldest job that a worker may wait for, if it is due. Then it has come before all
    /// jobs that no worker waits for.
    fn take_due(&self) -> Option<Job> {
        self.with_needed(|needed| {
            let (at, number) = needed.oldest(|_| true)?;
            self.is_due(number).then(|| needed.take_at(at)).flatten()
        })
    }

    fn is_due(&self, number: usize) -> bool {
        // Relaxed: only a worker that takes jobs one after the other relies on it.
        (self.roots_taken.load(Ordering::Relaxed).wrapping_sub(number) as isize) >= 0
    }

    fn take_root(&self) -> Option<Job> {
        if self.roots.is_empty() {
            return None;
        }
        // First: if another worker takes the next job, it finds older ones due. Relaxed: as above.
        self.roots_taken.fetch_add(1, Ordering::Relaxed);
        let job = self.roots.pop();
        if job.is_none() {
            self.roots_taken.fetch_sub(1, Ordering::Relaxed);
        }
        job
    }

    /// Takes the oldest job that no worker waits for, unless one in `needed` is older.
    pub(crate) fn take_root_in_turn(&self) -> Option<Job> {
        let is_due = |needed: &mut Groups| needed.oldest(|_| true).filter(|&(_, number)| self.is_due(number));
        match self.with_needed(is_due) {
            Some(_) => None,
            None => self.take_root(),
        }
    }

    /// Takes the oldest job of such a lineage. While this looks, no job is done, so `is_needed` can
    /// climb.
    pub(crate) fn take_needed(&self, is_needed: impl Fn(Lineage) -> bool) -> Option<Job> {
        self.with_needed(|needed| {
            let (at, _) = needed.oldest(is_needed)?;
            needed.take_at(at)
        })
    }

    /// Returns whether there is a job of such a lineage.
    pub(crate) fn has_needed(&self, is_needed: impl Fn(Lineage) -> bool) -> bool {
        let is_there = |needed: &mut Groups| needed.groups.iter().find(|group| is_needed(group.lineage)).map(|_| ());
        self.with_needed(is_there).is_some()
    }

    /// Calls `look` with the jobs that a worker may wait for, if there are any. `look` may take
    /// one.
    fn with_needed<R>(&self, look: impl FnOnce(&mut Groups) -> Option<R>) -> Option<R> {
        if self.needed_len.load(Ordering::SeqCst) == 0 {
            return None;
        }
        let mut needed = lock(&self.needed);
        let len = needed.len;
        let found = look(&mut needed);
        if needed.len != len {
            self.needed_len.store(needed.len, Ordering::SeqCst);
        }
        found
    }
}

#[cfg(not(any(loom, shuttle)))]
type Roots = crossbeam_queue::SegQueue<Job>;
#[cfg(any(loom, shuttle))]
use checked::Roots;

/// The same queue for the checkers, which cannot look into another crate's queue.
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

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::ptr;

    use super::*;
    use crate::worker::Worker;

    unsafe fn never(_: *const (), _: &mut Worker, _: bool) {
        unreachable!("these tests look at jobs and do not run them")
    }

    /// Creates a job with a number. A worker waits for it as `node`, or no worker does if that is
    /// 0.
    fn job(number: usize, node: usize) -> Job {
        // Not looked at, unless a test climbs.
        let up = if node == 0 { ptr::null() } else { ptr::without_provenance(64) };
        // SAFETY: never run.
        unsafe { Job::new(number, never, Lineage::from_parts(node, up)) }
    }

    fn number(job: &Job) -> usize {
        // SAFETY: a job of a number.
        unsafe { Job::take_closure::<usize>(ptr::from_ref(job).cast()) }.0
    }

    fn filled(nodes: &[usize]) -> Injector {
        let injector = Injector::new();
        nodes.iter().enumerate().for_each(|(number, &node)| injector.push(job(number, node)));
        injector
    }

    #[test]
    fn jobs_are_taken_in_the_order_in_which_they_came() {
        let injector = filled(&[0, 8, 0, 0, 8, 16, 0, 16, 8, 16, 24, 8]);
        let order: Vec<_> = std::iter::from_fn(|| injector.take()).map(|job| number(&job)).collect();
        assert!(order.iter().copied().eq(0..12), "{order:?}");
        assert!(injector.is_empty());
    }

    #[test]
    fn a_job_that_no_worker_waits_for_is_left_while_an_older_one_is_there() {
        let injector = filled(&[0, 8, 0]);
        let take_root = || injector.take_root_in_turn().map(|job| number(&job));
        assert_eq!((take_root(), take_root()), (Some(0), None));
        assert_eq!(injector.take_needed(|_| true).map(|job| number(&job)), Some(1));
        assert_eq!((take_root(), take_root()), (Some(2), None));
    }

    #[test]
    fn a_worker_takes_the_oldest_job_of_a_lineage_that_it_needs() {
        let injector = filled(&[8, 16, 8, 16]);
        let take = |node| injector.take_needed(|lineage| lineage.node() == node).map(|job| number(&job));
        assert!(injector.has_needed(|lineage| lineage.node() == 16));
        assert_eq!([take(16), take(16), take(16)], [Some(1), Some(3), None]);
        assert!(!injector.has_needed(|lineage| lineage.node() == 16));
        assert_eq!([take(8), take(8), take(8)], [Some(0), Some(2), None]);
        assert!(injector.is_empty());
    }
}
