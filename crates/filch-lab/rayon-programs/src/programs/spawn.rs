//! Jobs spawned into a pool, from inside and from outside, that no call waits for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Condvar, Mutex, PoisonError};
use std::thread;

use super::{own_pool, results, Program};
use crate::clock::{counted, timed, Round};
use crate::random::mix;

/// The state that all jobs of a program share.
pub(super) struct Jobs {
    /// The result of each job.
    results: Vec<AtomicU64>,
    /// The number of jobs of this round that have not run.
    left: AtomicU64,
    /// For the thread that waits for the last job.
    lock: Mutex<()>,
    all_done: Condvar,
}

impl Jobs {
    /// `count` jobs.
    ///
    /// Jobs may borrow only what lives forever, and a program lives as long as its process.
    pub(super) fn leaked(count: usize) -> &'static Jobs {
        let results = results::empty(count);
        Box::leak(Box::new(Jobs { results, left: AtomicU64::new(0), lock: Mutex::new(()), all_done: Condvar::new() }))
    }

    /// Finishes a job. The last job wakes the waiting thread.
    pub(super) fn finish(&self, job: usize, result: u64) {
        results::add(&self.results[job], result);
        // Release: the waiting thread reads the results after it has seen zero.
        if self.left.fetch_sub(1, Ordering::Release) == 1 {
            let _locked = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.all_done.notify_one();
        }
    }

    /// Blocks until every job has run. A thread of the pool must not call it.
    fn wait(&self) {
        let locked = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Acquire: pairs with the Release of all jobs, whose decrements are one release sequence.
        let is_left = |_: &mut ()| self.left.load(Ordering::Acquire) != 0;
        let _locked = self.all_done.wait_while(locked, is_left).unwrap_or_else(PoisonError::into_inner);
    }

    /// Times `spawn`, which spawns all jobs, until all of them have run.
    fn round(&self, spawn: impl FnOnce()) -> Round {
        timed(self.reset(), || self.spawn_and_wait(spawn), |()| results::sum(&self.results))
    }

    /// Like `round`, with a count of the allocations.
    pub(super) fn counted_round(&self, spawn: impl FnOnce()) -> Round {
        counted(self.reset(), || self.spawn_and_wait(spawn), |()| results::sum(&self.results))
    }

    /// Makes all jobs run again. Returns their number.
    fn reset(&self) -> u64 {
        results::clear(&self.results);
        let count = self.results.len() as u64;
        self.left.store(count, Ordering::Relaxed);
        count
    }

    fn spawn_and_wait(&self, spawn: impl FnOnce()) {
        spawn();
        self.wait();
    }
}

/// Runs a job: the smallest that leaves something to check.
fn run(jobs: &Jobs, job: usize) {
    jobs.finish(job, mix(job as u64 + 1));
}

/// `count` jobs, spawned by a worker.
///
/// The caller waits: a pool of one worker runs none before its closure returns.
pub(crate) fn inside(count: usize) -> Result<Program, String> {
    let (jobs, pool) = (Jobs::leaked(count), own_pool()?);
    Ok(Box::new(move || {
        jobs.round(|| {
            pool.install(|| (0..count).for_each(|job| rayon::spawn(move || run(jobs, job))));
        })
    }))
}

/// `count` jobs, spawned by `threads` threads outside the pool, each its share.
pub(crate) fn outside(threads: usize, count: usize) -> Program {
    let jobs = Jobs::leaked(count);
    Box::new(move || {
        let start = Barrier::new(threads + 1);
        thread::scope(|scope| {
            for thread in 0..threads {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    let own = count * thread / threads..count * (thread + 1) / threads;
                    own.for_each(|job| rayon::spawn(move || run(jobs, job)));
                });
            }
            jobs.round(|| {
                start.wait();
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::checksum;

    #[test]
    fn every_job_is_run_wherever_it_is_spawned() {
        let all = checksum((1..=1_001).map(mix));
        let mut from_inside = inside(1_001).unwrap();
        assert_eq!([from_inside().checksum(), from_inside().checksum()], [all; 2]);
        for threads in [1, 4] {
            let mut from_outside = outside(threads, 1_001);
            assert_eq!([from_outside().checksum(), from_outside().checksum()], [all; 2]);
        }
    }
}
