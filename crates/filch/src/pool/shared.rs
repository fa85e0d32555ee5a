//! What the workers of a pool have in common.

use std::fmt;
use std::sync::{Arc, Weak};

use crossbeam_utils::CachePadded;

use super::injector::Injector;
use crate::defect::{defect, Defect};
use crate::error::BuildError;
use crate::job::Job;
use crate::latch::Gate;
use crate::origin::{Frame, Origin};
use crate::process::Process;
use crate::scope::Scopes;
use crate::search::{self, Others};
use crate::seat::Seat;
use crate::sleep::{Bed, Rest, Sleep};
use crate::spin;
use crate::stack::{Mode, Region, Slot};
use crate::sync::{fence, lock, AtomicBool, AtomicUsize, Mutex, Ordering};
use crate::unwind::{self, NoUnwind, Payload};
use crate::wait::Waiting;

/// Called with what a panic carried.
pub(crate) type PanicHandler = Box<dyn Fn(Payload) + Send + Sync>;
/// Called with the index of a worker.
pub(crate) type IndexHandler = Box<dyn Fn(usize) + Send + Sync>;

/// What a user may have done about events of a pool.
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

/// How many [turns](crate::spin) a caller gives an awake worker to take its job.
const TO_TAKE: u32 = 2;

/// See the module.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) seats: Vec<Region<Seat>>,
    pub(crate) injector: CachePadded<Injector>,
    pub(crate) scopes: Scopes,
    /// Held by who delivers to all workers, so that all get all broadcasts in the same order.
    broadcasts: Mutex<()>,
    pub(crate) sleep: Sleep,
    pub(crate) waiting: Waiting,
    /// Whether thieves raid.
    pub(crate) raids: bool,
    pub(crate) handlers: Handlers,
    /// Spawned jobs that are not over.
    unfinished: AtomicUsize,
    /// Whether the workers are to leave when there is nothing left to do.
    leaving: AtomicBool,
    process: Process,
    me: Weak<Shared>,
}

impl Shared {
    pub(crate) fn new(
        threads: usize,
        slots: usize,
        mode: Mode,
        waiting: Waiting,
        raids: bool,
        handlers: Handlers,
    ) -> Result<Arc<Shared>, BuildError> {
        let seat = |index| {
            // SAFETY: the region holds the slots and the seat, and exposes its memory.
            Region::new(slots, |base, slots| unsafe { Seat::new(index, base, slots, mode) })
        };
        let seats = (0..threads).map(seat).collect::<Result<Vec<_>, _>>().map_err(BuildError::Memory)?;
        let shared = Arc::new_cyclic(|me| Shared {
            seats,
            injector: CachePadded::new(Injector::new()),
            scopes: Scopes::new(),
            broadcasts: Mutex::new(()),
            sleep: Sleep::new(),
            waiting,
            raids,
            handlers,
            unfinished: AtomicUsize::new(0),
            leaving: AtomicBool::new(false),
            process: Process::current(),
            me: me.clone(),
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

    /// The calling thread's, if it is one of this pool's workers.
    pub(crate) fn own_seat<'a>(&self) -> Option<&'a Seat> {
        Seat::current().filter(|seat| std::ptr::eq(seat.pool(), self))
    }

    /// The slot that a bed names.
    pub(crate) fn slot_at(&self, address: usize) -> &Slot {
        // SAFETY: a slot of this pool, on a stack or spare: it lives as long as the pool, and its provenance is exposed.
        unsafe { &*std::ptr::with_exposed_provenance::<Slot>(address) }
    }

    /// A count of the pool.
    pub(crate) fn hold(&self) -> Arc<Shared> {
        self.me.upgrade().expect("a pool is held by whoever runs on it")
    }

    /// Whether this is the process in which the pool was built, and not a child that `fork(2)` made of it.
    pub(crate) fn is_in_its_process(&self) -> bool {
        self.process.is_current()
    }

    /// Whoever would wait for threads that a `fork(2)` has not taken along is told so.
    pub(crate) fn check_process(&self) {
        assert!(
            self.is_in_its_process(),
            "this pool was started before fork(2), and the child process has none of its threads: build a new pool there"
        );
    }

    /// Finds a sleeping worker that may take what the worker of `seat` forks at `depth`: an idle one
    /// if there is one, otherwise one whose wait needs it.
    pub(crate) fn find_sleeper(&self, seat: &Seat, depth: u32) -> Option<(&Bed, Rest)> {
        let may_take = |rest| match rest {
            Rest::Stolen(address) => {
                let slot = self.slot_at(address);
                slot.runner() == Some(seat.index) && !seat.is_foreign(depth, slot.foreigners(), slot.floor())
            }
            Rest::Scope(number) => seat.scope() == number && !seat.is_foreign(depth, seat.scope_since(), 0),
            // Frames are looked at below.
            Rest::Awake | Rest::Waking | Rest::Idle | Rest::Installed(_) => false,
        };
        let origin = seat.origin();
        let waits_for_this = |rest: Rest| {
            origin.frames().any(|frame| match rest {
                Rest::Installed(address) => frame.address() == address,
                Rest::Scope(number) => frame.scope() == number,
                _ => false,
            })
        };
        let mut waiter = None;
        for other in self.others(seat) {
            let rest = other.bed.rest();
            if rest == Rest::Idle {
                return Some((&other.bed, rest));
            }
            if waiter.is_none() && (may_take(rest) || waits_for_this(rest)) {
                waiter = Some((&*other.bed, rest));
            }
        }
        waiter
    }

    /// All seats but this one.
    pub(crate) fn others<'a>(&'a self, seat: &Seat) -> impl Iterator<Item = &'a Seat> + Clone {
        let index = seat.index;
        self.seats().filter(move |other| other.index != index)
    }

    /// Wakes one idle worker. Returns whether there was one.
    pub(crate) fn wake_idle(&self) -> bool {
        self.seats().any(|seat| self.wake_if_idle(seat))
    }

    fn wake_if_idle(&self, seat: &Seat) -> bool {
        seat.bed.rest() == Rest::Idle && self.sleep.wake(&seat.bed, Rest::Idle)
    }

    /// Wakes every sleeping worker whose wait may need what the worker of `seat` has forked.
    pub(crate) fn wake_waiters_for(&self, seat: &Seat) {
        self.wake_waiters(|other| std::ptr::eq(other, seat));
    }

    /// Wakes every sleeping worker whose wait may need what one of `these` workers has forked.
    ///
    /// Not every match is exact: a waiter that is woken in vain looks once and sleeps again.
    fn wake_waiters(&self, these: impl Fn(&Seat) -> bool) {
        for waiter in self.seats() {
            let rest = waiter.bed.rest();
            let any = |matches: &dyn Fn(&Seat) -> bool| self.others(waiter).any(|seat| these(seat) && matches(seat));
            let may_need = match rest {
                Rest::Awake | Rest::Waking | Rest::Idle => false,
                Rest::Stolen(address) => self.slot_at(address).runner().is_some_and(|runner| these(self.seat(runner))),
                Rest::Scope(number) => any(&|seat| seat.scope() == number || !seat.origins.are_none()),
                Rest::Installed(address) => any(&|seat| seat.origins.include_address(address)),
            };
            if may_need {
                self.sleep.wake(&waiter.bed, rest);
            }
        }
    }

    /// Wakes another worker for the jobs on the stack of `seat`, whose worker has just lain down and
    /// cannot take them itself, unless a worker searches that will find them.
    pub(crate) fn wake_for_own_jobs(&self, seat: &Seat) {
        if self.could_take_from(seat)
            && self.sleep.counts().only_sleepers_are_free()
            && !self.others(seat).any(|other| self.wake_if_idle(other))
        {
            self.wake_waiters_for(seat);
        }
    }

    /// Announces something that was queued for every worker: wakes an idle one, unless one searches.
    pub(crate) fn event(&self) {
        let counts = self.sleep.event();
        if counts.searching() == 0 && counts.sleeping() > 0 {
            self.wake_idle();
        }
    }

    /// Puts a job where any worker takes it, for a caller that waits for it at `gate`.
    ///
    /// If a worker is awake, it has a moment to take the job before another one is woken for it.
    pub(crate) fn inject_and_wait(&self, job: Job, gate: &Gate) {
        self.injector.push(job);
        let counts = self.sleep.counts();
        let all_sleep = counts.sleeping() + counts.waiting() >= self.seats.len() as u64;
        if !all_sleep && gate.try_pass_for(TO_TAKE) {
            return;
        }
        if !self.injector.is_empty() {
            self.event();
        }
        if all_sleep {
            // Waking a worker takes longer than a thread should wait awake.
            gate.pass();
        } else {
            gate.pass_soon();
        }
    }

    /// Wakes a worker for work that no searching worker will find.
    ///
    /// Called by the last searcher when it has stopped, and by a waiter that was woken and has found
    /// something: the producer of other work may have relied on either. An idle worker is woken if
    /// there is one. It searches, and does the same when it stops. Otherwise those waiters are woken
    /// that may take some of what is left.
    pub(crate) fn wake_for_unclaimed_work(&self) {
        // SeqCst: what a worker did before it saw a searcher is seen by that searcher when it has
        // stopped.
        fence(Ordering::SeqCst);
        let has_jobs = |seat: &Seat| seat.stack.has_jobs();
        if (self.seats().any(has_jobs) || self.has_visible_work()) && self.wake_idle() {
            return;
        }
        if self.sleep.counts().waiting() > 0 && !defect(Defect::WaitersSleepOn) {
            self.wake_waiters(has_jobs);
        }
    }

    /// Whether something is queued that any worker takes.
    fn has_visible_work(&self) -> bool {
        !self.injector.is_empty()
            || self.scopes.are_waiting()
            || self.seats().any(|seat| seat.has_spawned() || seat.has_tasks())
    }

    /// Whether a thief would get something off this stack, by a raid if need be. One look: between two, what was private becomes public, and what was public private.
    pub(crate) fn could_take_from(&self, seat: &Seat) -> bool {
        if self.raids {
            seat.stack.has_jobs()
        } else {
            seat.stack.has_public()
        }
    }

    /// Whether the worker of `seat` would find something without a raid. What it has made public itself is not for it to take.
    pub(crate) fn has_work(&self, seat: &Seat) -> bool {
        seat.has_mail() || self.has_visible_work() || self.others(seat).any(|other| other.stack.has_public())
    }

    /// Puts a job where any worker takes it, and wakes who should.
    pub(crate) fn inject(&self, job: Job) {
        // A worker that waits for what this descends from may be the only one that can run it. Looked up before the job can be over, and the frames gone.
        let waiters = self.waiters_for(job.origin);
        self.injector.push(job);
        self.event();
        self.call(waiters);
    }

    /// The workers here that wait for what descends from their wait, as this does.
    pub(crate) fn waiters_for(&self, origin: Origin) -> Vec<usize> {
        let here = |frame: &&Frame| std::ptr::eq(frame.pool, self) && frame.worker < self.seats.len();
        origin.frames().filter(here).map(|frame| frame.worker).collect()
    }

    pub(crate) fn call(&self, workers: Vec<usize>) {
        workers.into_iter().for_each(|worker| self.seat(worker).bed.call());
    }

    /// Puts a job that nobody waits for where the calling worker, or any worker, takes it. A worker takes its own ones youngest first, and those that it has spawned in turn among
    /// themselves oldest first.
    pub(crate) fn spawn(&self, job: Job, in_turn: bool) {
        match self.own_seat() {
            Some(seat) => {
                let job = if in_turn { seat.queue_up(job) } else { job };
                // SAFETY: the calling worker's own.
                unsafe { seat.push_spawned(job) };
                self.event();
            }
            None => self.inject(job),
        }
    }

    /// Leaves a job for each of the workers.
    pub(crate) fn deliver_to_all(&self, mut job: impl FnMut(&Seat) -> Job) {
        let _turn = lock(&self.broadcasts);
        self.seats().for_each(|seat| seat.deliver(job(seat)));
    }

    /// So many spawned jobs begin their life.
    pub(crate) fn count_spawned(&self, jobs: usize) {
        // Relaxed: whoever spawns holds the pool.
        self.unfinished.fetch_add(jobs, Ordering::Relaxed);
    }

    /// A spawned job is over.
    pub(crate) fn count_finished(&self) {
        // SeqCst: against `leave`.
        if self.unfinished.fetch_sub(1, Ordering::SeqCst) == 1 && self.leaving.load(Ordering::SeqCst) {
            self.call_all();
        }
    }

    /// The workers leave as soon as nothing is left to do.
    pub(crate) fn leave(&self) {
        self.leaving.store(true, Ordering::SeqCst);
        self.call_all();
    }

    fn call_all(&self) {
        self.seats().for_each(|seat| seat.bed.call());
    }

    fn may_leave(&self) -> bool {
        self.leaving.load(Ordering::SeqCst) && self.unfinished.load(Ordering::SeqCst) == 0
    }

    /// A panic that nobody waits for. Without a handler the process ends, as it does with an uncaught panic on the main thread.
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

    /// Makes the calling thread a worker that does not look for work by itself.
    pub(crate) fn enlist(&self, index: usize) {
        // The thread may use the pool as long as it lives, and there is no telling how long that is.
        std::mem::forget(self.hold());
        let seat = self.seat(index);
        Seat::set_current(Some(seat));
        // From now on it may fork at any time.
        seat.begin();
    }

    /// The life of a worker.
    pub(crate) fn work(&self, index: usize) {
        let seat = self.seat(index);
        // A thread may be the worker of another pool, and be that again afterwards.
        let outer = Seat::current();
        seat.set_outer(outer);
        Seat::set_current(Some(seat));
        let call = |handler: &Option<IndexHandler>| {
            if let Some(handler) = handler {
                let before = seat.begin();
                if let Err(panic) = unwind::catch(|| handler(index)) {
                    self.handle_panic(panic);
                }
                seat.end(before);
            }
        };
        call(&self.handlers.start);
        let guard = NoUnwind("a worker unwound");
        search::until(seat, self, &mut || self.may_leave(), &mut || true, &mut || None, Others::Alike);
        guard.disarm();
        call(&self.handlers.exit);
        Seat::set_current(outer);
    }
}
