//! A worker: forks, joins, searches for work, sleeps.

use std::cell::Cell;
use std::fmt;
use std::ptr;
use std::sync::Arc;

use filch_queue::{Owner, PushError, Steal, Thief};

use super::job::{Forked, Job};
use super::pool::{Seat, Shared};
use super::{HeavyBarrier, Idle, Queue};
use crate::queue::Asymmetric;
use crate::random::Random;
use crate::sync::thread_local;
use crate::unwind::{self, NoUnwind, Payload};

/// The pool of which this thread is a worker, and the worker. Code that knows the pool knows their
/// types.
type Current = Cell<(*const (), *const ())>;

fn no_worker() -> Current {
    Cell::new((ptr::null(), ptr::null()))
}

thread_local! {
    static CURRENT: Current = no_worker();
}

/// The message of a join whose queue panics.
const JOB_IN_QUEUE: &str = "the queue of a worker panicked while it may have held the job of a join";

/// The thread that runs this code, as a worker of its pool.
///
/// A worker cannot be owned or sent to another thread. A closure gets the worker of the thread that
/// it runs on.
pub struct Worker<Q: Queue<I> = Asymmetric, I: Idle = HeavyBarrier> {
    owner: Q::Owner,
    shared: Arc<Shared<Q, I>>,
    index: usize,
    idle: I::Local,
    random: Cell<Random>,
}

impl<Q: Queue<I>, I: Idle> Worker<Q, I> {
    pub(super) fn new(shared: Arc<Shared<Q, I>>, index: usize, owner: Q::Owner) -> Self {
        // Any odd constant, so that no two workers start with the same state.
        let random = Cell::new(Random::new(index));
        Worker { owner, idle: I::local(&shared.idle), shared, index, random }
    }

    /// Runs the main loop of a worker.
    pub(super) fn main_loop(shared: Arc<Shared<Q, I>>, index: usize, owner: Q::Owner) {
        let worker = Worker::new(shared, index, owner);
        let pool: *const Shared<Q, I> = &*worker.shared;
        CURRENT.with(|current| current.set((pool.cast(), ptr::from_ref(&worker).cast())));
        let guard = NoUnwind("a worker unwound");
        worker.until(&|| worker.shared.is_shutting_down(), &|| true);
        guard.disarm();
        CURRENT.with(|current| current.set((ptr::null(), ptr::null())));
    }

    /// Returns the worker that the calling thread is in this pool, if any.
    ///
    /// # Safety
    ///
    /// The reference is not kept beyond what runs on that worker now.
    pub(super) unsafe fn current<'a>(pool: &Shared<Q, I>) -> Option<&'a Worker<Q, I>> {
        let (own, worker) = CURRENT.with(Cell::get);
        // SAFETY: set by `main_loop` for this pool, so of this type, and the thread is still inside
        // of it.
        ptr::eq(own, ptr::from_ref(pool).cast()).then(|| unsafe { &*worker.cast() })
    }

    /// Returns the index of this worker in its pool, counted from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the number of workers of the pool.
    pub fn num_threads(&self) -> usize {
        self.shared.seats.len()
    }

    /// Returns whether the seat is one of this worker's pool.
    pub(super) fn is_of_pool_with(&self, seat: *const Seat<Q, I>) -> bool {
        self.shared.seats.as_ptr_range().contains(&seat)
    }

    /// Wakes the worker of a seat of this pool, whose wait is over.
    pub(super) fn notify(&self, seat: *const Seat<Q, I>) {
        let first = self.shared.seats.as_ptr();
        I::notify(&self.shared, (seat.addr() - first.addr()) / size_of::<Seat<Q, I>>());
    }

    fn seat(&self) -> &Seat<Q, I> {
        &self.shared.seats[self.index]
    }

    /// Runs two closures, in parallel if another worker takes the second, and returns both results.
    ///
    /// # Panics
    ///
    /// If a closure panics. The other closure is run or waited for, and then the panic resumes. If
    /// both closures panic, the panic of the first resumes.
    ///
    /// If the queue refuses the job, for example because memory is exhausted. Neither closure runs
    /// then.
    ///
    /// # Aborts
    ///
    /// If the queue itself panics, because the job may still be in it.
    #[inline]
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&Worker<Q, I>) -> RA + Send,
        B: FnOnce(&Worker<Q, I>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let job = Forked::new(b, self.seat());
        // Armed as long as the queue or a thief may have the job: that job is in this frame.
        let guard = NoUnwind(JOB_IN_QUEUE);
        // SAFETY: this frame stays until the queue refuses the job, or the job was popped below or
        // waited for.
        if let Err(refused) = self.fork(unsafe { job.job() }) {
            guard.disarm();
            fail_join(refused, &job);
        }
        match unwind::catch(|| a(self)) {
            Ok(first) => {
                if self.take_back(job.data()) {
                    guard.disarm();
                    // SAFETY: taken back.
                    let b = unsafe { job.take() };
                    (first, b(self))
                } else {
                    let second = self.wait_for(&job);
                    guard.disarm();
                    match second {
                        Ok(second) => (first, second),
                        Err(panic) => {
                            unwind::discard(first);
                            unwind::resume(panic)
                        }
                    }
                }
            }
            Err(panic) => self.finish_panicked(&job, panic, guard),
        }
    }

    /// Puts a job into the queue, or returns it if the queue refuses it.
    ///
    /// Wakes a worker if all workers that have no work sleep.
    #[inline(always)]
    pub(super) fn fork(&self, job: Job<Q, I>) -> Result<(), PushError<Job<Q, I>>> {
        self.owner.try_push(job)?;
        I::forked(self.idle, &self.shared, || self.owner.len());
        Ok(())
    }

    /// Takes back the job at `data`, the youngest that this worker has forked. Returns whether it
    /// is the worker's own again; if not, it was stolen.
    #[inline(always)]
    fn take_back(&self, data: *const ()) -> bool {
        match self.owner.pop() {
            Some(job) if job.is_at(data) => true,
            Some(other) => self.take_back_from_below(other, data),
            None => false,
        }
    }

    /// Runs `other` first. Joins are nested, so an owner that pops its youngest job never comes
    /// here; but with another order nothing must be lost either.
    #[cold]
    #[inline(never)]
    fn take_back_from_below(&self, other: Job<Q, I>, data: *const ()) -> bool {
        other.run(self);
        self.take_back(data)
    }

    /// Returns the result of a job that was stolen. Runs any work until then.
    #[cold]
    #[inline(never)]
    fn wait_for<B, RB>(&self, job: &Forked<Q, I, B, RB>) -> Result<RB, Payload>
    where
        B: FnOnce(&Worker<Q, I>) -> RB,
    {
        self.until(&|| job.is_done(), &|| job.request_wake());
        // SAFETY: the job is done, and the result is taken once.
        unsafe { job.take_result() }
    }

    /// Ends a join whose first closure has panicked.
    ///
    /// Runs the second closure or waits for it, and resumes the panic.
    ///
    /// `guard` is that of the join.
    #[cold]
    #[inline(never)]
    fn finish_panicked<B, RB>(&self, job: &Forked<Q, I, B, RB>, panic: Payload, guard: NoUnwind) -> !
    where
        B: FnOnce(&Worker<Q, I>) -> RB,
    {
        let second = if self.take_back(job.data()) {
            guard.disarm();
            // SAFETY: taken back.
            let b = unsafe { job.take() };
            unwind::catch(|| b(self))
        } else {
            let second = self.wait_for(job);
            guard.disarm();
            second
        };
        // The first panic resumes, whatever the second closure returned or panicked with.
        unwind::discard(second);
        unwind::resume(panic)
    }

    /// Runs any work until `is_done` returns true. `request_wake` requests that this worker is
    /// woken then. It returns false if that is done already.
    ///
    /// The worker's own queue is empty here and whenever this goes on: either nothing was forked,
    /// or a job was stolen, and with it all older ones. That is why no two thieves of a queue that
    /// makes them wait can wait for each other's owners.
    pub(super) fn until(&self, is_done: &dyn Fn() -> bool, request_wake: &dyn Fn() -> bool) {
        while !is_done() {
            let mut search = I::start(&self.shared, self.index);
            let job = loop {
                if is_done() {
                    break None;
                }
                if let Some(job) = self.steal().or_else(|| self.shared.injector.take()) {
                    break Some(job);
                }
                I::rest(&mut search, &self.shared, self.index, is_done, request_wake);
            };
            I::stop(search, &self.shared, self.index);
            if let Some(job) = job {
                job.run(self);
            }
        }
    }

    /// Steals a job of another worker. Starts with a random victim, and tries the next ones in
    /// turn.
    fn steal(&self) -> Option<Job<Q, I>> {
        let seats = &self.shared.seats;
        let start = self.random(seats.len());
        let (after, before) = (seats[start..].iter(), seats[..start].iter());
        after.chain(before).filter(|seat| !ptr::eq(*seat, self.seat())).find_map(|victim| match victim.thief.steal() {
            Steal::Success(job) => {
                self.seat().tally.steals.add(1);
                Some(job)
            }
            Steal::Abort => {
                self.seat().tally.aborts.add(1);
                None
            }
            // A thief that has to retry does so in the next round.
            Steal::Empty | Steal::Retry => None,
        })
    }

    /// Returns a random number below `bound`, which is not 0.
    fn random(&self, bound: usize) -> usize {
        let mut random = self.random.get();
        let number = random.below(bound);
        self.random.set(random);
        number
    }
}

/// Ends a join whose job the queue has refused. Drops the second closure unrun, and panics.
#[cold]
#[inline(never)]
fn fail_join<Q: Queue<I>, I: Idle, B, RB>(refused: PushError<Job<Q, I>>, job: &Forked<Q, I, B, RB>) -> !
where
    B: FnOnce(&Worker<Q, I>) -> RB,
{
    // SAFETY: the queue has given the job back, so no worker runs it. See `ExactlyOnce`.
    unwind::discard(unsafe { job.take() });
    panic!("{refused}")
}

impl<Q: Queue<I>, I: Idle> fmt::Debug for Worker<Q, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("index", &self.index).finish_non_exhaustive()
    }
}
