//! Counts of what the workers have done.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::pool::Shared;

/// A count that only its worker raises.
#[derive(Debug)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn new() -> Count {
        Count(AtomicU64::new(0))
    }

    /// Adds `more`. Only the worker that owns the count calls this.
    #[inline(always)]
    pub(crate) fn add(&self, more: u64) {
        // Relaxed, and no exchange: only its worker writes it, and it orders nothing.
        // Wrapping: a worker counts while thieves may have the job of its join, and must not panic.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
    }

    /// Adds `more`, and publishes what the worker did before to a thread that sees it.
    #[inline(always)]
    pub(crate) fn publish(&self, more: u64) {
        // Release: pairs with `get`.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(more), Ordering::Release);
    }

    pub(crate) fn get(&self) -> u64 {
        // Acquire: pairs with `publish`.
        self.0.load(Ordering::Acquire)
    }
}

/// The counts of one worker.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) jobs: Count,
    pub(crate) shares: Count,
    pub(crate) steals: Count,
    pub(crate) raids: Count,
    pub(crate) aborts: Count,
    pub(crate) sleeps: Count,
    pub(crate) wakes: Count,
}

impl Tally {
    pub(crate) fn new() -> Tally {
        Tally {
            jobs: Count::new(),
            shares: Count::new(),
            steals: Count::new(),
            raids: Count::new(),
            aborts: Count::new(),
            sleeps: Count::new(),
            wakes: Count::new(),
        }
    }
}

/// Counts of what one worker has done since its pool was built.
///
/// A forked job that its own worker runs is not counted: to count it would cost as much as to run
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerStats {
    /// Jobs run that came from elsewhere. These are stolen, spawned and installed jobs, tasks of
    /// scopes, parts of broadcasts, and calls that ran in its seat.
    pub jobs: u64,
    /// Forked jobs, tasks and spawned jobs that it published because another worker wanted work.
    pub shares: u64,
    /// Jobs that it took from the fork stacks of other workers. Tasks and spawned jobs are not
    /// counted here.
    pub steals: u64,
    /// The number of times it published jobs of a worker that did not respond.
    pub raids: u64,
    /// Failed steals: lost a race, or disallowed by strict waiting.
    pub aborts: u64,
    /// The number of times it went to sleep.
    ///
    /// A worker that dozes before it sleeps for longer counts twice, and once more if it frees the
    /// memory of tasks after a second. A caller that borrows its seat ends a sleep, and begins one
    /// when it returns the seat.
    pub sleeps: u64,
    /// The number of times a sleep ended.
    pub wakes: u64,
}

impl WorkerStats {
    fn of(tally: &Tally) -> WorkerStats {
        WorkerStats {
            jobs: tally.jobs.get(),
            shares: tally.shares.get(),
            steals: tally.steals.get(),
            raids: tally.raids.get(),
            aborts: tally.aborts.get(),
            sleeps: tally.sleeps.get(),
            wakes: tally.wakes.get(),
        }
    }
}

/// Counts of what the workers of a pool have done; see [`Pool::stats`](crate::Pool::stats).
///
/// ```
/// # fn main() -> Result<(), filch::BuildError> {
/// let pool = filch::Pool::builder().threads(2).build()?;
/// pool.install(|| ());
/// assert!(pool.stats().total().jobs >= 1);
/// println!("{}", pool.stats());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    workers: Vec<WorkerStats>,
}

impl Stats {
    pub(crate) fn of(pool: &Shared) -> Stats {
        Stats { workers: pool.seats().map(|seat| WorkerStats::of(&seat.tally)).collect() }
    }

    /// Returns the counts of each worker.
    pub fn workers(&self) -> &[WorkerStats] {
        &self.workers
    }

    /// Returns the sums over all workers.
    pub fn total(&self) -> WorkerStats {
        self.workers.iter().fold(WorkerStats::default(), |sum, one| WorkerStats {
            jobs: sum.jobs + one.jobs,
            shares: sum.shares + one.shares,
            steals: sum.steals + one.steals,
            raids: sum.raids + one.raids,
            aborts: sum.aborts + one.aborts,
            sleeps: sum.sleeps + one.sleeps,
            wakes: sum.wakes + one.wakes,
        })
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "worker       jobs     shares     steals      raids     aborts     sleeps      wakes")?;
        for (index, worker) in self.workers.iter().enumerate() {
            let WorkerStats { jobs, shares, steals, raids, aborts, sleeps, wakes } = worker;
            writeln!(f, "{index:6} {jobs:10} {shares:10} {steals:10} {raids:10} {aborts:10} {sleeps:10} {wakes:10}")?;
        }
        Ok(())
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_count_wraps() {
        let count = Count(AtomicU64::new(u64::MAX));
        count.add(2);
        assert_eq!(count.get(), 1);
    }
}
