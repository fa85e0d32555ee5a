//! A worker: forks, joins, searches for work, sleeps.

use std::cell::Cell;
use std::fmt;
use std::ptr;
use std::sync::Arc;

use filch_queue::{barrier, Owner, PushError, Steal, Thief};

use super::job::{Forked, Job};
use super::pool::{Seat, Shared};
use super::Queue;
use crate::backoff::Backoff;
use crate::queue::Asymmetric;
use crate::random::Random;
use crate::sleep::SleepState;
use crate::sync::{fence, thread_local, Ordering};
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
pub struct Worker<Q: Queue = Asymmetric> {
    owner: Q::Owner,
    shared: Arc<Shared<Q>>,
    index: usize,
    /// Whether a fork has a fence. It has if the kernel provides no barrier for workers that go to
    /// sleep.
    fenced: bool,
    random: Cell<Random>,
}

impl<Q: Queue> Worker<Q> {
    /// Runs the main loop of a worker.
    pub(super) fn main_loop(shared: Arc<Shared<Q>>, index: usize, owner: Q::Owner) {
        // Any odd constant, so that no two workers start with the same state.
        let random = Cell::new(Random::new(index));
        let worker = Worker { owner, fenced: shared.fenced, shared, index, random };
        let pool: *const Shared<Q> = &*worker.shared;
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
    pub(super) unsafe fn current<'a>(pool: &Shared<Q>) -> Option<&'a Worker<Q>> {
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
    pub(super) fn is_of_pool_with(&self, seat: *const Seat<Q>) -> bool {
        self.shared.seats.as_ptr_range().contains(&seat)
    }

    fn seat(&self) -> &Seat<Q> {
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
        A: FnOnce(&Worker<Q>) -> RA + Send,
        B: FnOnce(&Worker<Q>) -> RB + Send,
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
    fn fork(&self, job: Job<Q>) -> Result<(), PushError<Job<Q>>> {
        self.owner.try_push(job)?;
        // A worker that goes to sleep announces it, makes this thread pass a barrier, and looks at
        // the queues again. If the load below is too early to see the sleeper, the push is before
        // that barrier and the sleeper sees it.
        if self.fenced {
            // SeqCst: the kernel provides no such barrier, so it is here.
            fence(Ordering::SeqCst);
        } else {
            barrier::light();
        }
        if self.shared.sleep.counts().sleeping() != 0 {
            self.shared.wake_unless_searching();
        }
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
    fn take_back_from_below(&self, other: Job<Q>, data: *const ()) -> bool {
        other.run(self);
        self.take_back(data)
    }

    /// Returns the result of a job that was stolen. Runs any work until then.
    #[cold]
    #[inline(never)]
    fn wait_for<B, RB>(&self, job: &Forked<Q, B, RB>) -> Result<RB, Payload>
    where
        B: FnOnce(&Worker<Q>) -> RB,
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
    fn finish_panicked<B, RB>(&self, job: &Forked<Q, B, RB>, panic: Payload, guard: NoUnwind) -> !
    where
        B: FnOnce(&Worker<Q>) -> RB,
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
    fn until(&self, is_done: &dyn Fn() -> bool, request_wake: &dyn Fn() -> bool) {
        while !is_done() {
            self.shared.sleep.start_searching();
            let patience = &self.seat().patience;
            let mut backoff = Backoff::new(patience);
            let job = loop {
                if is_done() {
                    break None;
                }
                if let Some(job) = self.steal().or_else(|| self.shared.injector.take()) {
                    break Some(job);
                }
                if !backoff.snooze() {
                    backoff.learn(patience, || self.sleep(is_done, request_wake));
                }
            };
            backoff.reward(patience);
            if self.shared.sleep.stop_searching() {
                self.shared.wake_for_unclaimed_work();
            }
            if let Some(job) = job {
                job.run(self);
            }
        }
    }

    /// Steals a job of another worker. Starts with a random victim, and tries the next ones in
    /// turn.
    fn steal(&self) -> Option<Job<Q>> {
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

    /// Puts a searching worker to sleep, if there is still nothing to do. Returns whether it slept.
    fn sleep(&self, is_done: &dyn Fn() -> bool, request_wake: &dyn Fn() -> bool) -> bool {
        let (shared, cell) = (&*self.shared, &self.seat().sleep);
        if shared.has_work() || !request_wake() {
            return false;
        }
        shared.sleep.mark_asleep(cell, SleepState::Idle);
        // A fork that did not see the sleeper is before the barrier. Then it is seen now.
        let certain = shared.barrier();
        let sleeps = !(is_done() || shared.has_work());
        if sleeps {
            if certain {
                cell.park(None);
            } else {
                // The kernel has refused a barrier that it had promised: look again soon.
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
        shared.sleep.mark_awake(cell);
        sleeps
    }
}

/// Ends a join whose job the queue has refused. Drops the second closure unrun, and panics.
#[cold]
#[inline(never)]
fn fail_join<Q: Queue, B, RB>(refused: PushError<Job<Q>>, job: &Forked<Q, B, RB>) -> !
where
    B: FnOnce(&Worker<Q>) -> RB,
{
    // SAFETY: the queue has given the job back, so no worker runs it. See `ExactlyOnce`.
    unwind::discard(unsafe { job.take() });
    panic!("{refused}")
}

impl<Q: Queue> fmt::Debug for Worker<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("index", &self.index).finish_non_exhaustive()
    }
}
