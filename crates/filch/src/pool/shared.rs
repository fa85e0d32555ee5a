//! The state that the workers of a pool share.

use std::fmt;
use std::sync::{Arc, Weak};

use crossbeam_utils::CachePadded;

use super::injector::Injector;
use crate::error::BuildError;
use crate::job::Job;
use crate::latch::Gate;
use crate::process::Process;
use crate::search;
use crate::seat::Seat;
use crate::sleep::{Sleep, SleepState};
use crate::spin;
use crate::split::Mode;
use crate::stack::Region;
use crate::stats::Count;
use crate::sync::{fence, lock, AtomicBool, AtomicUsize, Mutex, Ordering};
use crate::unwind::{self, NoUnwind, Payload};
use crate::wait::Waiting;

/// A handler that gets the payload of a panic.
pub(crate) type PanicHandler = Box<dyn Fn(Payload) + Send + Sync>;
/// A handler that gets the index of a worker.
pub(crate) type IndexHandler = Box<dyn Fn(usize) + Send + Sync>;

/// The user's handlers for events of a pool.
#[derive(Default)]
pub(crate) struct Handlers {
    pub(crate) start: Option<IndexHandler>,
    pub(crate) exit: Option<IndexHandler>,
    pub(crate) panic: Option<PanicHandler>,
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers").finish_non_exhaustive()
    }
}

/// The configuration of a pool.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) mode: Mode,
    pub(crate) waiting: Waiting,
    pub(crate) raids: bool,
    /// The bytes of stack that a caller must have left to borrow a seat. `None` if seats are not
    /// lent.
    pub(crate) callers_stack: Option<usize>,
    pub(crate) handlers: Handlers,
}

/// The number of [turns](crate::spin) that a caller gives an awake worker to take its job.
const TURNS_TO_TAKE: u32 = 2;

/// The state that the workers of a pool share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) seats: Vec<Region<Seat>>,
    pub(crate) injector: CachePadded<Injector>,
    /// Held while a job is delivered to all workers. So all get all broadcasts in the same order.
    broadcasts: Mutex<()>,
    pub(crate) sleep: Sleep,
    pub(crate) waiting: Waiting,
    /// Whether thieves raid.
    pub(crate) raids: bool,
    /// Whether callers from outside may borrow seats.
    pub(crate) lends: bool,
    /// The bytes of stack that a caller must have left to borrow a seat.
    pub(crate) callers_stack: usize,
    pub(crate) handlers: Handlers,
    /// The number of jobs that were spawned from outside. Workers count the jobs that they spawn
    /// themselves.
    spawned: CachePadded<AtomicUsize>,
    /// Whether the workers are to end when there is nothing left to do.
    shutting_down: AtomicBool,
    process: Process,
    weak_self: Weak<Shared>,
}

impl Shared {
    pub(crate) fn new(threads: usize, slots: usize, plan: Plan) -> Result<Arc<Shared>, BuildError> {
        let Plan { mode, waiting, raids, callers_stack, handlers } = plan;
        let seat = |index| {
            // SAFETY: the region holds the slots and the seat, and exposes its memory.
            Region::new(slots, |base, slots| unsafe { Seat::new(index, base, slots, mode) })
        };
        let seats = (0..threads).map(seat).collect::<Result<Vec<_>, _>>().map_err(BuildError::Memory)?;
        let shared = Arc::new_cyclic(|weak_self| Shared {
            seats,
            injector: CachePadded::new(Injector::new()),
            broadcasts: Mutex::new(()),
            sleep: Sleep::new(),
            waiting,
            raids,
            lends: callers_stack.is_some(),
            callers_stack: callers_stack.unwrap_or(usize::MAX),
            handlers,
            spawned: CachePadded::new(AtomicUsize::new(0)),
            shutting_down: AtomicBool::new(false),
            process: Process::current(),
            weak_self: weak_self.clone(),
        });
        spin::measure();
        shared.seats().for_each(|seat| seat.set_pool(&shared));
        Ok(shared)
    }

    pub(crate) fn seats(&self) -> impl Iterator<Item = &Seat> + Clone {
        self.seats.iter().map(Region::seat)
    }

    pub(crate) fn seat(&self, index: usize) -> &Seat {
        self.seats[index].seat()
    }

    /// Returns the seat of the calling thread, if it is a worker of this pool.
    pub(crate) fn own_seat<'a>(&self) -> Option<&'a Seat> {
        Seat::current().filter(|seat| std::ptr::eq(seat.pool(), self))
    }

    /// Returns a counted reference to the pool.
    pub(crate) fn to_arc(&self) -> Arc<Shared> {
        self.weak_self.upgrade().expect("a thread that runs on a pool holds a reference to it")
    }

    /// Returns whether the pool was built in this process, and not before a `fork(2)`.
    pub(crate) fn is_in_its_process(&self) -> bool {
        self.process.is_current()
    }

    /// Panics in a child by `fork(2)`. The caller would wait for threads that do not exist there.
    pub(crate) fn check_process(&self) {
        assert!(
            self.is_in_its_process(),
            "this pool was started before fork(2), and the child process has none of its threads: build a new pool there"
        );
    }

    /// Returns all seats but this one.
    pub(crate) fn others<'a>(&'a self, seat: &Seat) -> impl Iterator<Item = &'a Seat> + Clone {
        let index = seat.index;
        self.seats().filter(move |other| other.index != index)
    }

    /// Injects a job for any worker, for a caller that waits for it at `gate`.
    ///
    /// If a worker is awake, it has a moment to take the job before another one is woken for it.
    pub(crate) fn inject_and_wait(&self, job: Job, gate: &Gate) {
        self.injector.push(job);
        let counts = self.sleep.counts();
        let all_sleep = counts.sleeping() + counts.waiting() >= self.seats.len();
        if !all_sleep && gate.try_pass_for(TURNS_TO_TAKE) {
            return;
        }
        let is_queued = !self.injector.is_empty();
        if is_queued {
            self.event();
        }
        // To wake a worker, or to wait until one has nothing else to do, takes longer than a thread
        // should wait without sleeping.
        if all_sleep || is_queued && counts.searching() == 0 {
            gate.pass();
        } else {
            gate.spin_then_pass();
        }
    }

    /// Injects a job for any worker. Wakes an idle worker, or a worker whose wait needs the job.
    pub(crate) fn inject(&self, job: Job) {
        // Before the job can be done, and its ancestors gone.
        let waits: Vec<_> = self.waits_above(job.lineage).collect();
        self.injector.push(job);
        self.event();
        self.wake_nearest(waits.into_iter());
    }

    /// Delivers a job to each of the workers.
    pub(crate) fn deliver_to_all(&self, mut job: impl FnMut(&Seat) -> Job) {
        let _turn = lock(&self.broadcasts);
        self.seats().for_each(|seat| seat.deliver(job(seat)));
    }

    /// Counts jobs that are spawned from outside, or to run on each worker.
    pub(crate) fn count_spawned(&self, jobs: usize) {
        // Relaxed: the thread that spawns holds the pool.
        self.spawned.fetch_add(jobs, Ordering::Relaxed);
    }

    /// Makes the workers end as soon as nothing is left to do.
    pub(crate) fn shut_down(&self) {
        self.shutting_down.store(true, Ordering::SeqCst);
        self.notify_all();
    }

    fn notify_all(&self) {
        self.seats().for_each(|seat| seat.sleep.notify());
    }

    /// Returns whether the workers may end. They may if the pool is dropped, and all spawned jobs
    /// are over.
    ///
    /// Both counts only rise, and a job that is finished was spawned, and has spawned others,
    /// before. The finished jobs are counted first: if there are as many as were spawned later, all
    /// were over in between, and no thread is left that could spawn another one.
    ///
    /// A worker does not see at once what another one has finished. But a worker sees its own, and
    /// notifies all others when it ends.
    fn may_end(&self) -> bool {
        if !self.shutting_down.load(Ordering::SeqCst) {
            return false;
        }
        let sum = |count: fn(&Seat) -> &Count| self.seats().map(|seat| count(seat).get()).fold(0, u64::wrapping_add);
        let finished = sum(|seat| &seat.spawns.finished);
        fence(Ordering::SeqCst);
        let inside = sum(|seat| &seat.spawns.spawned);
        // The casts: one of the counts has the size of a pointer, and wraps there.
        finished as usize == (inside as usize).wrapping_add(self.spawned.load(Ordering::SeqCst))
    }

    /// Notifies all workers if they are to end. A worker has run something on top of something
    /// else, perhaps the last spawned job, and may not end soon itself.
    pub(crate) fn notify_if_shutting_down(&self) {
        // SeqCst: what was finished is finished before this look, which pairs with the look in
        // `may_end`.
        fence(Ordering::SeqCst);
        if self.shutting_down.load(Ordering::SeqCst) {
            self.notify_all();
        }
    }

    /// Handles a panic that no caller waits for. Without a handler the process aborts.
    pub(crate) fn handle_panic(&self, payload: Payload) {
        match &self.handlers.panic {
            Some(handler) => {
                let guard = NoUnwind("the panic handler of a pool panicked");
                handler(payload);
                guard.disarm();
            }
            None => drop(NoUnwind("a spawned job panicked, and its pool has no panic handler")),
        }
    }

    /// Makes the calling thread a worker that does not search for work by itself.
    pub(crate) fn adopt_current_thread(&self, index: usize) {
        // The thread may use the pool as long as it lives, and it is not known how long that is.
        std::mem::forget(self.to_arc());
        let seat = self.seat(index);
        Seat::set_current(Some(seat));
        // From now on the thread may fork at any time.
        seat.begin_work();
    }

    /// Returns the state of a sleeping worker that runs nothing.
    pub(crate) fn resting_state(&self) -> SleepState {
        if self.lends {
            SleepState::Resting
        } else {
            SleepState::Idle
        }
    }

    /// Runs the main loop of a worker.
    pub(crate) fn main_loop(&self, index: usize) {
        let seat = self.seat(index);
        // A thread may be the worker of another pool, and is that again afterwards.
        let outer = Seat::current();
        seat.set_outer(outer);
        Seat::set_current(Some(seat));
        let call = |handler: &Option<IndexHandler>| {
            if let Some(handler) = handler {
                let before = seat.begin_work();
                if let Err(panic) = unwind::catch(|| handler(index)) {
                    self.handle_panic(panic);
                }
                seat.end_work(before);
            }
        };
        call(&self.handlers.start);
        let guard = NoUnwind("a worker unwound");
        let state = self.resting_state();
        search::until(seat, self, &mut || self.may_end(), &mut || true, &mut || None, state);
        guard.disarm();
        self.notify_all();
        call(&self.handlers.exit);
        Seat::set_current(outer);
    }
}
