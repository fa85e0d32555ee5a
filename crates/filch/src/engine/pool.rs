//! A pool of workers with one kind of queue, and the state that they share.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use crossbeam_utils::CachePadded;
use filch_queue::{barrier, Thief};

use super::job::{Installed, Job};
use super::worker::Worker;
use super::Queue;
use crate::backoff::Patience;
use crate::error::BuildError;
use crate::pool::MIN_STACK;
use crate::queue::Asymmetric;
use crate::sleep::{Sleep, SleepCell, SleepState, MAX_WORKERS};
use crate::spin;
use crate::stats::Count;
use crate::sync::{fence, lock, thread, AtomicBool, AtomicUsize, Mutex, Ordering};
use crate::unwind;

/// A pool whose workers have queues of kind `Q`. See the [module](super).
pub struct Pool<Q: Queue = Asymmetric> {
    shared: Arc<Shared<Q>>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl<Q: Queue + Default> Pool<Q> {
    /// Creates a pool of `threads` workers.
    ///
    /// # Errors
    ///
    /// If `threads` is 0 or too large, or a thread cannot be started. The threads that were started
    /// have ended then.
    pub fn new(threads: usize) -> Result<Pool<Q>, BuildError> {
        Pool::with_queue(threads, Q::default())
    }
}

impl<Q: Queue> Pool<Q> {
    /// Creates a pool of `threads` workers, whose queues `queue` makes.
    ///
    /// # Errors
    ///
    /// As for [`new`](Pool::new).
    pub fn with_queue(threads: usize, queue: Q) -> Result<Pool<Q>, BuildError> {
        Pool::start(threads, queue, None)
    }

    /// Creates a pool whose workers have stacks of `bytes` bytes.
    ///
    /// A worker that waits runs whatever it finds, on top of what it waits for. So a deep recursion
    /// gets deeper.
    ///
    /// # Errors
    ///
    /// As for [`new`](Pool::new), and if the stack is smaller than a worker needs.
    pub fn with_stacks(threads: usize, queue: Q, bytes: usize) -> Result<Pool<Q>, BuildError> {
        if bytes < MIN_STACK {
            return Err(BuildError::StackTooSmall { asked: bytes, least: MIN_STACK });
        }
        Pool::start(threads, queue, Some(bytes))
    }

    fn start(threads: usize, queue: Q, stack: Option<usize>) -> Result<Pool<Q>, BuildError> {
        match threads {
            0 => return Err(BuildError::NoThreads),
            asked if asked > MAX_WORKERS => return Err(BuildError::TooManyThreads { asked, most: MAX_WORKERS }),
            _ => {}
        }
        spin::measure();
        let (owners, thieves): (Vec<_>, Vec<_>) = (0..threads).map(|_| queue.make()).unzip();
        let shared = Arc::new(Shared {
            seats: thieves.into_iter().map(Seat::new).collect(),
            injector: Injector { len: AtomicUsize::new(0), jobs: Mutex::new(VecDeque::new()) },
            sleep: Sleep::new(),
            fenced: !barrier::register(),
            shutting_down: AtomicBool::new(false),
        });
        // From here on, dropping the pool ends the threads that have been started.
        let mut pool = Pool { shared, threads: Vec::new() };
        for (index, owner) in owners.into_iter().enumerate() {
            let shared = pool.shared.clone();
            let mut builder = thread::Builder::new().name(format!("filch-engine-{index}"));
            if let Some(bytes) = stack {
                builder = builder.stack_size(bytes);
            }
            let started = builder
                .spawn(move || Worker::main_loop(shared, index, owner))
                .map_err(|error| BuildError::Thread { index, error })?;
            pool.threads.push(started);
        }
        Ok(pool)
    }

    /// Returns the number of workers.
    pub fn current_num_threads(&self) -> usize {
        self.shared.seats.len()
    }

    /// Returns the numbers of steals so far, and of steals that a queue refused.
    pub fn thefts(&self) -> Thefts {
        let seats = &self.shared.seats;
        Thefts {
            steals: seats.iter().map(|seat| seat.tally.steals.get()).sum(),
            aborts: seats.iter().map(|seat| seat.tally.aborts.get()).sum(),
        }
    }

    /// Runs a closure on a worker, passes it that worker, and waits for it.
    ///
    /// On a worker of this pool the closure runs in place. Any other thread blocks.
    ///
    /// # Panics
    ///
    /// If the closure panics.
    pub fn install<F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Worker<Q>) -> R + Send,
        R: Send,
    {
        // SAFETY: kept for the call of the closure only.
        if let Some(worker) = unsafe { Worker::current(&self.shared) } {
            return f(worker);
        }
        let installed = Installed::new(f);
        // SAFETY: this function waits for it below.
        self.shared.inject(unsafe { installed.job() });
        // SAFETY: injected above, and waited for once.
        unsafe { installed.wait() }
    }
}

impl<Q: Queue> Drop for Pool<Q> {
    /// Ends the threads and waits for them. Nothing is queued any more: a caller that has installed
    /// something borrows the pool until it is done.
    fn drop(&mut self) {
        self.shared.shut_down();
        for thread in self.threads.drain(..) {
            // A worker that unwinds aborts the process. Only the drop of its queue may panic, and
            // that panic is discarded.
            unwind::discard(thread.join());
        }
    }
}

impl<Q: Queue> fmt::Debug for Pool<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("threads", &self.current_num_threads()).finish_non_exhaustive()
    }
}

/// Counts of a pool's attempts to steal; see [`Pool::thefts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Thefts {
    /// Jobs taken from other workers.
    pub steals: u64,
    /// Attempts that a queue refused because the thief could not be certain.
    pub aborts: u64,
}

/// The part of a worker that other workers see.
pub(super) struct Seat<Q: Queue> {
    pub(super) thief: Q::Thief,
    pub(super) sleep: SleepCell,
    pub(super) patience: Patience,
    /// On its own cache line. The worker writes it at each attempt while others read the rest.
    pub(super) tally: CachePadded<Tally>,
}

/// Counts of a worker's attempts to steal.
pub(super) struct Tally {
    pub(super) steals: Count,
    pub(super) aborts: Count,
}

impl<Q: Queue> Seat<Q> {
    fn new(thief: Q::Thief) -> Self {
        Seat {
            thief,
            sleep: SleepCell::new(),
            patience: Patience::new(),
            tally: CachePadded::new(Tally { steals: Count::new(), aborts: Count::new() }),
        }
    }
}

/// The state that the workers of a pool share.
pub(super) struct Shared<Q: Queue> {
    pub(super) seats: Vec<Seat<Q>>,
    pub(super) injector: Injector<Q>,
    pub(super) sleep: Sleep,
    /// Whether forks have a fence. They have if the kernel provides no barrier for them.
    pub(super) fenced: bool,
    shutting_down: AtomicBool,
}

impl<Q: Queue> Shared<Q> {
    /// Makes every worker pass a full barrier. Returns false if the kernel refuses.
    pub(super) fn barrier(&self) -> bool {
        if self.fenced {
            // SeqCst: pairs with the fence of a fork.
            fence(Ordering::SeqCst);
            return true;
        }
        barrier::heavy().is_ok()
    }

    /// Returns whether there is a job in some queue, stealable or not.
    pub(super) fn has_work(&self) -> bool {
        !self.injector.is_empty() || self.seats.iter().any(|seat| !seat.thief.is_empty())
    }

    /// Wakes a sleeping worker, if there is one.
    fn wake_one(&self) {
        self.seats.iter().any(|seat| seat.sleep.is_asleep() && self.sleep.wake(&seat.sleep, SleepState::Idle));
    }

    /// Wakes a worker after a fork, unless a worker searches. A searching worker will find the job,
    /// or looks for it when it stops.
    #[cold]
    #[inline(never)]
    pub(super) fn wake_unless_searching(&self) {
        if self.sleep.counts().searching() == 0 {
            self.wake_one();
        }
    }

    /// Wakes a worker for unclaimed work, when the last searcher has stopped while others sleep. A
    /// fork may have relied on the searcher: either that fork's push is before the barrier, or the
    /// fork sees that no worker searches now.
    #[cold]
    pub(super) fn wake_for_unclaimed_work(&self) {
        if self.has_work() || !self.barrier() || self.has_work() {
            self.wake_one();
        }
    }

    fn inject(&self, job: Job<Q>) {
        self.injector.push(job);
        let counts = self.sleep.event();
        if counts.searching() == 0 && counts.sleeping() != 0 {
            self.wake_one();
        }
    }

    fn shut_down(&self) {
        // SeqCst: before the notifications; a worker that goes to sleep looks at it afterwards.
        self.shutting_down.store(true, Ordering::SeqCst);
        self.seats.iter().for_each(|seat| seat.sleep.notify());
    }

    pub(super) fn is_shutting_down(&self) -> bool {
        // SeqCst: see `shut_down`.
        self.shutting_down.load(Ordering::SeqCst)
    }
}

/// Jobs from outside, first in, first out.
pub(super) struct Injector<Q: Queue> {
    /// Lets callers skip the lock when the queue is empty.
    len: AtomicUsize,
    jobs: Mutex<VecDeque<Job<Q>>>,
}

impl<Q: Queue> Injector<Q> {
    fn is_empty(&self) -> bool {
        // SeqCst: after the counters of the sleep protocol.
        self.len.load(Ordering::SeqCst) == 0
    }

    fn push(&self, job: Job<Q>) {
        let mut jobs = lock(&self.jobs);
        jobs.push_back(job);
        // SeqCst: before the event of the sleep protocol.
        self.len.store(jobs.len(), Ordering::SeqCst);
    }

    pub(super) fn take(&self) -> Option<Job<Q>> {
        if self.is_empty() {
            return None;
        }
        let mut jobs = lock(&self.jobs);
        let job = jobs.pop_front();
        // SeqCst: as in `push`.
        self.len.store(jobs.len(), Ordering::SeqCst);
        job
    }
}
