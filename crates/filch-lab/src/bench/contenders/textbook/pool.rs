//! The threads of a pool, their queues, and how they wait.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle, Thread};

use anyhow::{ensure, Context as _, Result};
use crossbeam_utils::{Backoff, CachePadded};

use super::job::{Forked, Job, Waiter};
use super::Scheme;
use crate::bench::contenders::STACK;

/// Threads that follow a scheme. They end when the pool is dropped.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// A pool of `threads` workers.
    pub(crate) fn new(scheme: Scheme, threads: usize) -> Result<Pool> {
        ensure!(threads > 0, "a pool needs a thread");
        let workers = u16::try_from(threads).context("a pool of so many threads is not possible")?;
        let queues = if scheme == Scheme::Central { 1 } else { threads };
        let shared = Arc::new(Shared {
            scheme,
            workers,
            queues: (0..queues).map(|_| CachePadded::default()).collect(),
            handles: (0..threads).map(|_| OnceLock::new()).collect(),
            leaving: AtomicBool::new(false),
        });
        // From here on, dropping the pool ends the threads that have started.
        let mut pool = Pool { shared, threads: Vec::new() };
        for index in 0..workers {
            let shared = pool.shared.clone();
            let thread = thread::Builder::new().name(format!("textbook-{index}")).stack_size(STACK);
            let started = thread.spawn(move || shared.work(index)).context("a thread could not be started")?;
            // Set before any thread can enter the pool, and so before any worker is woken.
            let _ = pool.shared.handles[usize::from(index)].set(started.thread().clone());
            pool.threads.push(started);
        }
        Ok(pool)
    }

    /// Runs a closure on a worker and waits for its result.
    pub(super) fn enter<F, R>(&self, closure: F) -> R
    where
        F: for<'a> FnOnce(Place<'a>) -> R + Send,
        R: Send,
    {
        let forked = Forked::new(closure, Waiter::Outside(thread::current()));
        // SAFETY: the job is waited for below.
        self.shared.push(0, unsafe { forked.job(1, self.shared.workers) });
        while !forked.is_done() {
            thread::park();
        }
        match forked.into_result() {
            Some(Ok(result)) => result,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => unreachable!("a job that is done has a result"),
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Release: the flag publishes nothing but itself, and each worker woken below reads it
        // again.
        self.shared.leaving.store(true, Ordering::Release);
        self.shared.handles.iter().filter_map(OnceLock::get).for_each(Thread::unpark);
        for thread in self.threads.drain(..) {
            // Panics of jobs are caught, so the thread did not panic.
            let _ = thread.join();
        }
    }
}

/// Where code runs: its worker, its depth, and the workers of its part.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(super) pool: &'a Shared,
    /// This worker. In the static partition, also the first worker of this part.
    pub(super) index: u16,
    /// The first worker after those of this part.
    pub(super) end: u16,
    /// The number of joins that the code is nested in.
    pub(super) depth: u32,
}

/// The state that all workers share.
pub(crate) struct Shared {
    pub(super) scheme: Scheme,
    pub(super) workers: u16,
    /// One queue for all workers, or one for each.
    queues: Vec<CachePadded<Queue>>,
    /// The workers' threads, for waking them.
    handles: Vec<OnceLock<Thread>>,
    leaving: AtomicBool,
}

#[derive(Default)]
struct Queue {
    /// The number of jobs. Lets workers skip the lock when the queue is empty.
    len: AtomicUsize,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    jobs: VecDeque<Job>,
    /// Sleeping workers that found nothing here, each with its floor.
    ///
    /// A worker may run a job only if the job is nested in more joins than the worker's floor.
    sleepers: Vec<(u16, u32)>,
}

impl Inside {
    /// Removes and returns a sleeping worker that may run a job nested in `depth` joins.
    fn call_out(&mut self, depth: u32) -> Option<u16> {
        let position = self.sleepers.iter().position(|&(_, floor)| depth > floor)?;
        Some(self.sleepers.swap_remove(position).0)
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        // A panic leaves nothing half done in any critical section.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the queue had no job at the time of the read.
    fn is_empty(&self) -> bool {
        // Relaxed: it is only a hint.
        self.len.load(Ordering::Relaxed) == 0
    }

    fn count(&self, inside: &Inside) {
        // Relaxed: it is only a hint, as above.
        self.len.store(inside.jobs.len(), Ordering::Relaxed);
    }
}

impl Shared {
    /// Finds the first worker after `index` whose queue is empty.
    pub(super) fn whoever_lacks_a_job(&self, index: u16) -> Option<usize> {
        let index = usize::from(index);
        (index + 1..self.queues.len()).chain(0..index).find(|&other| self.queues[other].is_empty())
    }

    /// Pushes a job into a queue and wakes a sleeping worker that may run it.
    pub(super) fn push(&self, queue: usize, job: Job) {
        let queue = &self.queues[queue];
        let mut inside = queue.lock();
        let sleeper = inside.call_out(job.depth);
        inside.jobs.push_back(job);
        queue.count(&inside);
        drop(inside);
        if let Some(sleeper) = sleeper {
            self.call(&Waiter::Worker(sleeper));
        }
    }

    /// Removes the job at `data` from the queue. Returns whether it was still there.
    pub(super) fn take_back(&self, queue: usize, data: *const ()) -> bool {
        let queue = &self.queues[queue];
        let mut inside = queue.lock();
        // It is nearly always the youngest job.
        let Some(position) = inside.jobs.iter().rposition(|job| job.is_at(data)) else { return false };
        inside.jobs.remove(position);
        queue.count(&inside);
        true
    }

    /// Takes the oldest job for worker `index` that is nested in more than `floor` joins.
    fn take(&self, index: u16, floor: u32) -> Option<Job> {
        let queue = self.queue_of(index);
        if queue.is_empty() {
            return None;
        }
        let mut inside = queue.lock();
        let position = inside.jobs.iter().position(|job| job.depth > floor)?;
        let job = inside.jobs.remove(position);
        queue.count(&inside);
        job
    }

    /// The queue that holds this worker's jobs.
    fn queue_of(&self, index: u16) -> &Queue {
        match self.scheme {
            Scheme::Central => &self.queues[0],
            Scheme::Sharing | Scheme::Static => &self.queues[usize::from(index)],
        }
    }

    /// Wakes a waiting thread.
    pub(super) fn call(&self, waiter: &Waiter) {
        match waiter {
            Waiter::Worker(index) => self.handles[usize::from(*index)].get().map(Thread::unpark).unwrap_or_default(),
            Waiter::Outside(thread) => thread.unpark(),
        }
    }

    /// The main loop of a worker.
    fn work(&self, index: u16) {
        // Acquire: pairs with the store when the pool is dropped.
        self.until(index, 0, &|| self.leaving.load(Ordering::Acquire));
    }

    /// Runs jobs for worker `index` until `has_come` returns true.
    ///
    /// The thread that makes `has_come` true wakes the worker afterwards. The worker runs only jobs
    /// that are nested in more than `floor` joins. A worker that waits at a join already has a
    /// stack of that depth, so its stack never gets deeper than the program's own. No worker waits
    /// forever: of all jobs that are running and waited for, the deepest is not itself waiting.
    pub(super) fn until(&self, index: u16, floor: u32, has_come: &dyn Fn() -> bool) {
        let backoff = Backoff::new();
        let mut was_called = false;
        while !has_come() {
            if let Some(job) = self.take(index, floor) {
                was_called = false;
                let (depth, end) = (job.depth, job.end);
                job.run(Place { pool: self, index, end, depth });
                backoff.reset();
            } else if was_called {
                // Another worker has taken the job. The job that woke that worker may be left, and
                // may not be for this worker.
                was_called = false;
                self.pass_on(index);
            } else if !backoff.is_completed() {
                backoff.snooze();
            } else {
                was_called = self.sleep(index, floor, has_come);
            }
        }
        if was_called {
            self.pass_on(index);
        }
    }

    /// Sleeps until woken, unless there is a job to run. May wake spuriously.
    ///
    /// Returns whether the worker was woken for a job.
    fn sleep(&self, index: u16, floor: u32, has_come: &dyn Fn() -> bool) -> bool {
        let queue = self.queue_of(index);
        let mut inside = queue.lock();
        if inside.jobs.iter().any(|job| job.depth > floor) {
            return false;
        }
        inside.sleepers.push((index, floor));
        drop(inside);
        // A wake-up from here on makes `park` return at once.
        if !has_come() {
            thread::park();
        }
        let mut inside = queue.lock();
        let asleep = inside.sleepers.len();
        inside.sleepers.retain(|&(sleeper, _)| sleeper != index);
        inside.sleepers.len() == asleep
    }

    /// Wakes another sleeping worker for the jobs that are left.
    ///
    /// A worker that was woken for a job but takes none calls this, so that the wake-up is not
    /// lost.
    fn pass_on(&self, index: u16) {
        let mut inside = self.queue_of(index).lock();
        let deepest = inside.jobs.iter().map(|job| job.depth).max();
        let sleeper = deepest.and_then(|depth| inside.call_out(depth));
        drop(inside);
        if let Some(sleeper) = sleeper {
            self.call(&Waiter::Worker(sleeper));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A central queue without workers.
    fn shared() -> Shared {
        Shared {
            scheme: Scheme::Central,
            workers: 2,
            queues: vec![CachePadded::default()],
            handles: vec![OnceLock::new(), OnceLock::new()],
            leaving: AtomicBool::new(false),
        }
    }

    #[test]
    fn who_goes_on_with_its_own_join_passes_the_call_on() {
        // The worker's join is done before the worker sleeps, or only when it is woken.
        for (depth, is_late) in [(5, false), (2, false), (5, true), (2, true)] {
            let shared = shared();
            let forked = Forked::new(|_: Place<'_>| (), Waiter::Outside(thread::current()));
            let is_pushed = Cell::new(false);
            // While the first worker goes to sleep, its join is done, another worker goes to sleep
            // at a join of depth 3, and a job is pushed.
            let has_come = || {
                let falls_asleep = !is_pushed.get() && !shared.queues[0].lock().sleepers.is_empty();
                if falls_asleep {
                    is_pushed.set(true);
                    shared.queues[0].lock().sleepers.push((1, 3));
                    // SAFETY: the job never runs, and the queue is dropped before it.
                    shared.push(0, unsafe { forked.job(depth, 2) });
                    thread::current().unpark();
                }
                is_pushed.get() && !(falls_asleep && is_late)
            };
            shared.until(0, 1, &has_come);
            let asleep = shared.queues[0].lock().sleepers.clone();
            assert_eq!(asleep, if depth > 3 { vec![] } else { vec![(1, 3)] }, "a job of depth {depth}, {is_late}");
            assert!(shared.take_back(0, forked.data()));
        }
    }

    #[test]
    fn who_was_called_for_what_another_took_passes_on_what_is_left() {
        let shared = shared();
        let forked = Forked::new(|_: Place<'_>| (), Waiter::Outside(thread::current()));
        let asleep = Cell::new(None);
        let times = Cell::new(0);
        let has_come = || {
            let lies_down = shared.queues[0].lock().sleepers.iter().any(|&(sleeper, _)| sleeper == 0);
            if !lies_down {
                return times.get() == 2;
            }
            times.set(times.get() + 1);
            if times.get() == 1 {
                // The worker is woken for a job that is gone when it wakes. Another job is left
                // that is not for it but for another sleeping worker.
                let mut inside = shared.queues[0].lock();
                inside.sleepers = vec![(1, 0)];
                // SAFETY: the job never runs, and the queue is dropped before it.
                inside.jobs.push_back(unsafe { forked.job(3, 2) });
                shared.queues[0].count(&inside);
                thread::current().unpark();
            } else {
                // Read before the worker sleeps again.
                asleep.set(Some(shared.queues[0].lock().sleepers.clone()));
            }
            times.get() == 2
        };
        shared.until(0, 5, &has_come);
        assert_eq!(asleep.take(), Some(vec![(0, 5)]));
        assert!(shared.take_back(0, forked.data()));
    }
}
