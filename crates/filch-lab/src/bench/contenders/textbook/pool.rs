//! The threads of a pool, their queues, and how they wait.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::{self, JoinHandle, Thread};

use anyhow::{ensure, Context as _, Result};
use crossbeam_utils::{Backoff, CachePadded};

use super::job::{Forked, Job, Waiter};
use super::Scheme;
use crate::bench::contenders::STACK;
use crate::sync::lock;

/// Threads that follow a scheme. They end when the pool is dropped.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// A pool of `threads` workers.
    pub(crate) fn new(scheme: Scheme, threads: usize) -> Result<Pool> {
        ensure!(threads > 0, "a pool needs a thread");
        let workers = u16::try_from(threads).context("too many threads: a pool has at most 65,535")?;
        let queues = if scheme == Scheme::Central { 1 } else { threads };
        let shared = Arc::new(Shared {
            scheme,
            workers,
            queues: (0..queues).map(|_| CachePadded::default()).collect(),
            handles: (0..threads).map(|_| OnceLock::new()).collect(),
            is_stopping: AtomicBool::new(false),
        });
        // From here on, dropping the pool ends the threads that have started.
        let mut pool = Pool { shared, threads: Vec::new() };
        for index in 0..workers {
            let shared = pool.shared.clone();
            let thread = thread::Builder::new().name(format!("textbook-{index}")).stack_size(STACK);
            let started = thread.spawn(move || shared.run_loop(index)).context("a thread could not be started")?;
            // Set before any thread can enter the pool, and so before any worker is woken.
            let _ = pool.shared.handles[usize::from(index)].set(started.thread().clone());
            pool.threads.push(started);
        }
        Ok(pool)
    }

    /// Runs a closure on a worker and waits for its result.
    pub(super) fn enter<F, R>(&self, closure: F) -> R
    where
        F: for<'a> FnOnce(WorkerContext<'a>) -> R + Send,
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
        self.shared.is_stopping.store(true, Ordering::Release);
        self.shared.handles.iter().filter_map(OnceLock::get).for_each(Thread::unpark);
        for thread in self.threads.drain(..) {
            // Panics of jobs are caught, so the thread did not panic.
            let _ = thread.join();
        }
    }
}

/// Where code runs: its worker, its depth, and the workers of its part.
#[derive(Clone, Copy)]
pub(crate) struct WorkerContext<'a> {
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
    is_stopping: AtomicBool,
}

#[derive(Default)]
struct Queue {
    /// The number of jobs. Lets workers skip the lock when the queue is empty.
    len: AtomicUsize,
    state: Mutex<QueueState>,
}

#[derive(Default)]
struct QueueState {
    jobs: VecDeque<Job>,
    /// Sleeping workers that found nothing here, each with its floor.
    ///
    /// A worker may run a job only if the job is nested in more joins than the worker's floor.
    sleepers: Vec<(u16, u32)>,
}

impl QueueState {
    /// Removes and returns a sleeping worker that may run a job nested in `depth` joins.
    fn take_sleeper(&mut self, depth: u32) -> Option<u16> {
        let position = self.sleepers.iter().position(|&(_, floor)| depth > floor)?;
        Some(self.sleepers.swap_remove(position).0)
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // A panic leaves nothing half done in any critical section.
        lock(&self.state)
    }

    /// Whether the queue had no job at the time of the read.
    fn is_empty(&self) -> bool {
        // Relaxed: it is only a hint.
        self.len.load(Ordering::Relaxed) == 0
    }

    fn update_len(&self, state: &QueueState) {
        // Relaxed: it is only a hint, as above.
        self.len.store(state.jobs.len(), Ordering::Relaxed);
    }
}

impl Shared {
    /// Finds the first worker after `index` whose queue is empty.
    pub(super) fn find_empty_queue(&self, index: u16) -> Option<usize> {
        let index = usize::from(index);
        (index + 1..self.queues.len()).chain(0..index).find(|&other| self.queues[other].is_empty())
    }

    /// Pushes a job into a queue and wakes a sleeping worker that may run it.
    pub(super) fn push(&self, queue: usize, job: Job) {
        let queue = &self.queues[queue];
        let mut state = queue.lock();
        let sleeper = state.take_sleeper(job.depth);
        state.jobs.push_back(job);
        queue.update_len(&state);
        drop(state);
        if let Some(sleeper) = sleeper {
            self.wake(&Waiter::Worker(sleeper));
        }
    }

    /// Removes the job at `data` from the queue. Returns whether it was still there.
    pub(super) fn take_back(&self, queue: usize, data: *const ()) -> bool {
        let queue = &self.queues[queue];
        let mut state = queue.lock();
        // It is nearly always the youngest job.
        let Some(position) = state.jobs.iter().rposition(|job| job.is_at(data)) else { return false };
        state.jobs.remove(position);
        queue.update_len(&state);
        true
    }

    /// Takes the oldest job for worker `index` that is nested in more than `floor` joins.
    fn take(&self, index: u16, floor: u32) -> Option<Job> {
        let queue = self.queue_of(index);
        if queue.is_empty() {
            return None;
        }
        let mut state = queue.lock();
        let position = state.jobs.iter().position(|job| job.depth > floor)?;
        let job = state.jobs.remove(position);
        queue.update_len(&state);
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
    pub(super) fn wake(&self, waiter: &Waiter) {
        match waiter {
            Waiter::Worker(index) => self.handles[usize::from(*index)].get().map(Thread::unpark).unwrap_or_default(),
            Waiter::Outside(thread) => thread.unpark(),
        }
    }

    /// The main loop of a worker.
    fn run_loop(&self, index: u16) {
        // Acquire: pairs with the store when the pool is dropped.
        self.run_until(index, 0, &|| self.is_stopping.load(Ordering::Acquire));
    }

    /// Runs jobs for worker `index` until `is_done` returns true.
    ///
    /// The thread that makes `is_done` true wakes the worker afterwards. The worker runs only jobs
    /// that are nested in more than `floor` joins. A worker that waits at a join already has a
    /// stack of that depth, so its stack never gets deeper than the program's own. No worker waits
    /// forever: of all jobs that are running and waited for, the deepest is not itself waiting.
    pub(super) fn run_until(&self, index: u16, floor: u32, is_done: &dyn Fn() -> bool) {
        let backoff = Backoff::new();
        let mut was_woken = false;
        while !is_done() {
            if let Some(job) = self.take(index, floor) {
                was_woken = false;
                let (depth, end) = (job.depth, job.end);
                job.run(WorkerContext { pool: self, index, end, depth });
                backoff.reset();
            } else if was_woken {
                // Another worker has taken the job. The job that woke that worker may be left, and
                // may not be for this worker.
                was_woken = false;
                self.wake_another(index);
            } else if !backoff.is_completed() {
                backoff.snooze();
            } else {
                was_woken = self.sleep(index, floor, is_done);
            }
        }
        if was_woken {
            self.wake_another(index);
        }
    }

    /// Sleeps until woken, unless there is a job to run. May wake spuriously.
    ///
    /// Returns whether the worker was woken for a job.
    fn sleep(&self, index: u16, floor: u32, is_done: &dyn Fn() -> bool) -> bool {
        let queue = self.queue_of(index);
        let mut state = queue.lock();
        if state.jobs.iter().any(|job| job.depth > floor) {
            return false;
        }
        state.sleepers.push((index, floor));
        drop(state);
        // A wake-up from here on makes `park` return at once.
        if !is_done() {
            thread::park();
        }
        let mut state = queue.lock();
        let asleep = state.sleepers.len();
        state.sleepers.retain(|&(sleeper, _)| sleeper != index);
        state.sleepers.len() == asleep
    }

    /// Wakes another sleeping worker for the jobs that are left.
    ///
    /// A worker that was woken for a job but takes none calls this, so that the wake-up is not
    /// lost.
    fn wake_another(&self, index: u16) {
        let mut state = self.queue_of(index).lock();
        let deepest = state.jobs.iter().map(|job| job.depth).max();
        let sleeper = deepest.and_then(|depth| state.take_sleeper(depth));
        drop(state);
        if let Some(sleeper) = sleeper {
            self.wake(&Waiter::Worker(sleeper));
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
            is_stopping: AtomicBool::new(false),
        }
    }

    #[test]
    fn a_worker_whose_join_is_done_wakes_another_for_the_job() {
        // The worker's join is done before the worker sleeps, or only when it is woken.
        for (depth, is_late) in [(5, false), (2, false), (5, true), (2, true)] {
            let shared = shared();
            let forked = Forked::new(|_: WorkerContext<'_>| (), Waiter::Outside(thread::current()));
            let is_pushed = Cell::new(false);
            // While the first worker goes to sleep, its join is done, another worker goes to sleep
            // at a join of depth 3, and a job is pushed.
            let is_done = || {
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
            shared.run_until(0, 1, &is_done);
            let asleep = shared.queues[0].lock().sleepers.clone();
            assert_eq!(asleep, if depth > 3 { vec![] } else { vec![(1, 3)] }, "a job of depth {depth}, {is_late}");
            assert!(shared.take_back(0, forked.data()));
        }
    }

    #[test]
    fn a_worker_woken_for_a_taken_job_wakes_another_for_the_rest() {
        let shared = shared();
        let forked = Forked::new(|_: WorkerContext<'_>| (), Waiter::Outside(thread::current()));
        let asleep = Cell::new(None);
        let times = Cell::new(0);
        let is_done = || {
            let falls_asleep = shared.queues[0].lock().sleepers.iter().any(|&(sleeper, _)| sleeper == 0);
            if !falls_asleep {
                return times.get() == 2;
            }
            times.set(times.get() + 1);
            if times.get() == 1 {
                // The worker is woken for a job that is gone when it wakes. Another job is left
                // that is not for it but for another sleeping worker.
                let mut state = shared.queues[0].lock();
                state.sleepers = vec![(1, 0)];
                // SAFETY: the job never runs, and the queue is dropped before it.
                state.jobs.push_back(unsafe { forked.job(3, 2) });
                shared.queues[0].update_len(&state);
                thread::current().unpark();
            } else {
                // Read before the worker sleeps again.
                asleep.set(Some(shared.queues[0].lock().sleepers.clone()));
            }
            times.get() == 2
        };
        shared.run_until(0, 5, &is_done);
        assert_eq!(asleep.take(), Some(vec![(0, 5)]));
        assert!(shared.take_back(0, forked.data()));
    }
}
