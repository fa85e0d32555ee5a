//! A pool of workers with one kind of queue, and the state that they share.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use crossbeam_utils::CachePadded;
use filch_queue::Thief;

use super::job::{Installed, Job};
use super::worker::Worker;
use super::{HeavyBarrier, Idle, Queue};
use crate::error::BuildError;
use crate::pool::MIN_STACK;
use crate::queue::Asymmetric;
use crate::sleep::MAX_WORKERS;
use crate::spin;
use crate::stats::Count;
use crate::sync::{lock, thread, AtomicBool, AtomicUsize, Mutex, Ordering};
use crate::unwind;

/// A pool whose workers have queues of kind `Q` and sleep by the protocol `I`. See the
/// [module](super).
pub struct Pool<Q: Queue<I> = Asymmetric, I: Idle = HeavyBarrier> {
    shared: Arc<Shared<Q, I>>,
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
        Pool::with_idle(threads, queue, None)
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
        Pool::with_idle(threads, queue, Some(bytes))
    }
}

impl<Q: Queue<I>, I: Idle> Pool<Q, I> {
    /// Creates a pool with any idle protocol, which the pool's type names.
    ///
    /// Its workers have stacks of `bytes` bytes, or of the usual size. The other constructors make
    /// pools with the default protocol, so that a caller need not name it.
    ///
    /// # Errors
    ///
    /// As for [`new`](Pool::new), and if the stack is smaller than a worker needs.
    pub fn with_idle(threads: usize, queue: Q, bytes: Option<usize>) -> Result<Pool<Q, I>, BuildError> {
        if let Some(asked) = bytes.filter(|&bytes| bytes < MIN_STACK) {
            return Err(BuildError::StackTooSmall { asked, least: MIN_STACK });
        }
        match threads {
            0 => return Err(BuildError::NoThreads),
            asked if asked > MAX_WORKERS => return Err(BuildError::TooManyThreads { asked, most: MAX_WORKERS }),
            _ => {}
        }
        spin::measure();
        let (owners, thieves): (Vec<_>, Vec<_>) = (0..threads).map(|_| queue.make()).unzip();
        let shared = Arc::new(Shared::new(thieves));
        // From here on, dropping the pool ends the threads that have been started.
        let mut pool = Pool { shared, threads: Vec::new() };
        for (index, owner) in owners.into_iter().enumerate() {
            let shared = pool.shared.clone();
            let mut builder = thread::Builder::new().name(format!("filch-engine-{index}"));
            if let Some(bytes) = bytes {
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
        F: FnOnce(&Worker<Q, I>) -> R + Send,
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

impl<Q: Queue<I>, I: Idle> Drop for Pool<Q, I> {
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

impl<Q: Queue<I>, I: Idle> fmt::Debug for Pool<Q, I> {
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
pub(super) struct Seat<Q: Queue<I>, I: Idle> {
    pub(super) thief: Q::Thief,
    pub(super) idle: I::Seat,
    /// On its own cache line. The worker writes it at each attempt while others read the rest.
    pub(super) tally: CachePadded<Tally>,
}

/// Counts of a worker's attempts to steal.
pub(super) struct Tally {
    pub(super) steals: Count,
    pub(super) aborts: Count,
}

impl<Q: Queue<I>, I: Idle> Seat<Q, I> {
    fn new(thief: Q::Thief) -> Self {
        Seat { thief, idle: I::seat(), tally: CachePadded::new(Tally { steals: Count::new(), aborts: Count::new() }) }
    }
}

/// The state that the workers of a pool share.
pub struct Shared<Q: Queue<I>, I: Idle> {
    pub(super) seats: Vec<Seat<Q, I>>,
    pub(super) injector: Injector<Q, I>,
    pub(super) idle: I::Pool,
    shutting_down: AtomicBool,
}

impl<Q: Queue<I>, I: Idle> Shared<Q, I> {
    pub(super) fn new(thieves: Vec<Q::Thief>) -> Self {
        Shared {
            seats: thieves.into_iter().map(Seat::new).collect(),
            injector: Injector { len: AtomicUsize::new(0), jobs: Mutex::new(VecDeque::new()) },
            idle: I::pool(),
            shutting_down: AtomicBool::new(false),
        }
    }

    /// Returns whether there is a job in some queue, stealable or not.
    pub(super) fn has_work(&self) -> bool {
        !self.injector.is_empty() || self.seats.iter().any(|seat| !seat.thief.is_empty())
    }

    pub(super) fn inject(&self, job: Job<Q, I>) {
        let len = self.injector.push(job);
        I::injected(self, len);
    }

    fn shut_down(&self) {
        // SeqCst: before the notifications; a worker that goes to sleep looks at it afterwards.
        self.shutting_down.store(true, Ordering::SeqCst);
        (0..self.seats.len()).for_each(|index| I::notify(self, index));
    }

    pub(super) fn is_shutting_down(&self) -> bool {
        // SeqCst: see `shut_down`.
        self.shutting_down.load(Ordering::SeqCst)
    }
}

/// Jobs from outside, first in, first out.
pub(super) struct Injector<Q, I> {
    /// Lets callers skip the lock when the queue is empty.
    len: AtomicUsize,
    jobs: Mutex<VecDeque<Job<Q, I>>>,
}

impl<Q, I> Injector<Q, I> {
    fn is_empty(&self) -> bool {
        // SeqCst: after the counters of the idle protocol.
        self.len.load(Ordering::SeqCst) == 0
    }

    /// Returns the number of jobs, with this one.
    fn push(&self, job: Job<Q, I>) -> usize {
        let mut jobs = lock(&self.jobs);
        jobs.push_back(job);
        // SeqCst: before the idle protocol announces it.
        self.len.store(jobs.len(), Ordering::SeqCst);
        jobs.len()
    }

    pub(super) fn take(&self) -> Option<Job<Q, I>> {
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
