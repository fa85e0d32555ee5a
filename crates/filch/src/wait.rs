//! Waiting: for a stolen job, for the tasks of a scope, for another pool; and what a worker may run meanwhile.
//!
//! A worker that waits and runs whatever it finds can meet a lock that is held below it on its own stack, can pile up frames without bound,
//! and can be kept by unrelated work from going on when what it waited for is there. So under [`Waiting::Strict`] it runs only what its own wait needs:
//!
//! - for a stolen job, jobs from the fork stack of the worker that runs it. They descend from it if it is still undone *after* the theft:
//!   all that could be taken from that stack at that moment, from the height on at which the job began, was forked by it. If it is done by then, the prize goes unrun to the injector.
//! - for a scope, the scope's own tasks, and jobs from the stacks of workers that run one of those at their bottom, with the same proof.
//! - for another pool, what came back from there (see [`origin`](crate::origin)). The tasks of a scope that run above something else, and the parts of its broadcasts, are told apart in the same way.
//!
//! Jobs that are addressed to one worker, as those of a broadcast, are run by that worker in any wait:
//! no other worker could. A caller from outside that has borrowed a seat runs them only if some were
//! sent from inside a pool. The others stay for the seat's own thread.

use std::cell::UnsafeCell;

use crate::backoff::Backoff;
use crate::defect::{defect, Defect};
use crate::job::Job;
use crate::origin::{Frame, Origin};
use crate::pool::Shared;
use crate::scope::Tasks;
use crate::search::{self, Others, Work};
use crate::seat::Seat;
use crate::sleep::{self, fall_asleep, SleepState, Sleeper};
use crate::spin;
use crate::stack::{Execute, Slot, Theft};
use crate::sync::{spin_loop, AtomicBool, Ordering};
use crate::worker::Worker;

/// What a worker may run while it waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// Only work that the wait needs. A lock that is held across a join cannot meet itself, the stack stays bounded by the depth of the
    /// program, and no unrelated work delays the join. In some shapes of programs workers idle that could have run something else.
    #[default]
    Strict,
    /// Strict inside of the pool; but a worker that waits for another pool runs whatever its own pool has. Then two pools can install into each other at the same time, each with all of
    /// its workers, and both go on.
    StrictInPool,
    /// Whatever there is, as rayon does. No worker idles while there is work; all that the strict policy excludes can happen.
    Any,
}

/// How many [turns](crate::spin) a worker waits before it offers its help, or takes what was not
/// offered: about a microsecond.
pub(crate) const SHORT_WAIT: u32 = 3;

/// What a worker waits for.
#[derive(Debug)]
pub(crate) enum Awaited<'a> {
    /// A stolen job, in a slot of the worker's own stack.
    Stolen(&'a Slot),
    /// A job that went through the injector because the stack was full.
    Beyond(&'a Beyond),
    /// The end of all tasks of a scope.
    Scope(&'a Tasks),
    /// A job in another pool, or the parts of a broadcast.
    Installed(&'a Frame, &'a AtomicBool),
}

impl Awaited<'_> {
    fn has_come(&self) -> bool {
        match self {
            Awaited::Stolen(slot) => slot.is_done(),
            Awaited::Beyond(beyond) => beyond.slot().is_done(),
            Awaited::Scope(tasks) => tasks.are_done(),
            // Acquire: pairs with the release of whoever has done it.
            Awaited::Installed(_, done) => done.load(Ordering::Acquire),
        }
    }

    /// Something that the strict policy lets a worker run in this wait.
    fn find<'p>(&self, seat: &Seat, pool: &'p Shared) -> Option<Work<'p>> {
        match *self {
            Awaited::Stolen(slot) => find_for_slot(seat, pool, slot, std::ptr::from_ref(slot).cast()),
            Awaited::Beyond(beyond) => find_for_slot(seat, pool, beyond.slot(), beyond.data()),
            Awaited::Scope(tasks) => self
                .take_task(seat)
                .or_else(|| find_for_scope(seat, pool, tasks))
                .or_else(|| find_descendant(seat, pool, tasks.frame())),
            Awaited::Installed(frame, _) => find_descendant(seat, pool, frame),
        }
    }

    /// A task of the awaited scope that is in a queue.
    fn take_task<'p>(&self, seat: &Seat) -> Option<Work<'p>> {
        match self {
            Awaited::Scope(tasks) => tasks.take(seat).map(Work::Task),
            Awaited::Stolen(_) | Awaited::Beyond(_) | Awaited::Installed(..) => None,
        }
    }

    /// Workers whose forks can be of use.
    fn victims<'p>(&self, seat: &Seat, pool: &'p Shared) -> Vec<&'p Seat> {
        let slot = match *self {
            Awaited::Stolen(slot) => slot,
            Awaited::Beyond(beyond) => beyond.slot(),
            Awaited::Scope(tasks) => {
                let runs_one = |other: &&Seat| {
                    let above_something = || other.origins.include(tasks.frame());
                    other.scope() == tasks.number() || above_something()
                };
                return pool.others(seat).filter(runs_one).collect();
            }
            Awaited::Installed(frame, _) => {
                return pool.others(seat).filter(|other| other.origins.include(frame)).collect();
            }
        };
        runner_of(slot, seat, pool).into_iter().collect()
    }

    /// Jobs that the runner had forked before it took the awaited one bar the way to what that one forks, and the runner may wait for this very worker to take
    /// some of it. They go to the injector, unrun. Returns false if some are still in the way.
    fn clear_the_way(&self, seat: &Seat, pool: &Shared) -> bool {
        let slot = match self {
            Awaited::Stolen(slot) => slot,
            Awaited::Beyond(beyond) => beyond.slot(),
            Awaited::Scope(_) | Awaited::Installed(..) => return true,
        };
        let Some(runner) = runner_of(slot, seat, pool) else { return true };
        while !self.has_come() && !runner.stack.is_stolen_below(slot.floor()) {
            match runner.stack.steal() {
                Theft::Job(older) => {
                    seat.tally.aborts.add(1);
                    give_back(pool, older, runner);
                }
                Theft::Lost => seat.tally.aborts.add(1),
                Theft::Nothing if pool.raids => {
                    let refused = !seat.raid(runner);
                    if !runner.stack.has_public() {
                        // Until the runner has learnt of it, no raid succeeds.
                        if refused && self.announce() {
                            sleep::nap(seat, false);
                        }
                        return false;
                    }
                }
                Theft::Nothing => return true,
            }
        }
        true
    }

    /// Whether something is there for which it is not worth lying down.
    fn sees_something(&self, pool: &Shared) -> bool {
        match self {
            Awaited::Stolen(slot) => slot.is_given_back() || slot_sees_something(slot, pool),
            Awaited::Scope(tasks) => {
                let runs_one = |runner: &&Seat| runner.scope() == tasks.number();
                tasks.are_waiting()
                    || pool.seats().filter(runs_one).any(|runner| pool.injector.has(of_scope(runner)))
                    || has_descendant(pool, tasks.frame())
            }
            Awaited::Installed(frame, _) => has_descendant(pool, frame),
            Awaited::Beyond(beyond) => slot_sees_something(beyond.slot(), pool),
        }
    }

    /// Says that a sleeper is to be called when it comes. Returns false if it has come.
    fn announce(&self) -> bool {
        match self {
            Awaited::Stolen(slot) => slot.sleep_on(),
            Awaited::Beyond(beyond) => beyond.slot().sleep_on(),
            // These call whether one sleeps or not.
            Awaited::Scope(_) | Awaited::Installed(..) => !self.has_come(),
        }
    }

    fn state(&self) -> SleepState {
        match self {
            Awaited::Stolen(slot) => SleepState::on(slot),
            Awaited::Beyond(beyond) => SleepState::on(beyond.slot()),
            Awaited::Scope(tasks) => SleepState::Scope(tasks.number()),
            Awaited::Installed(frame, _) => SleepState::Installed(frame.address()),
        }
    }
}

/// Takes a job that is addressed to the worker of `seat`, if the worker may run mail now.
fn collect(seat: &Seat) -> Option<Job> {
    may_run_mail(seat).then(|| seat.collect()).flatten()
}

/// Whether there is mail that the worker of `seat` may run in a wait.
///
/// A worker runs all of it, because no other worker could. A caller that has borrowed the seat does so
/// only if some of it was sent from inside a pool, and may be needed here. The order of the mail is
/// kept.
fn may_run_mail(seat: &Seat) -> bool {
    seat.has_mail() && (!seat.sleep.has_guest() || seat.has_mail_from_inside())
}

/// The worker that runs the job in `slot`, if it is another one than that of `seat`, and has said so.
fn runner_of<'p>(slot: &Slot, seat: &Seat, pool: &'p Shared) -> Option<&'p Seat> {
    slot.runner().filter(|&runner| runner != seat.index).map(|runner| pool.seat(runner))
}

fn slot_sees_something(slot: &Slot, pool: &Shared) -> bool {
    slot.runner().is_some_and(|runner| pool.injector.has(of_slot(slot, pool.seat(runner))))
}

fn find_for_slot<'p>(seat: &Seat, pool: &'p Shared, slot: &Slot, data: *const ()) -> Option<Work<'p>> {
    match slot.runner() {
        Some(runner) if runner != seat.index => {
            let runner = pool.seat(runner);
            leapfrog(seat, pool, runner, slot.floor(), |prize| {
                !slot.is_done() && !is_foreign(runner, prize, slot.foreigners(), slot.floor())
            })
            .or_else(|| fetch(pool, runner, of_slot(slot, runner), || !slot.is_done()))
        }
        Some(_) => None,
        None => pool.injector.take_back(data).map(Work::Job),
    }
}

/// A job of a worker that runs one of these tasks at its bottom.
fn find_for_scope<'p>(seat: &Seat, pool: &'p Shared, tasks: &Tasks) -> Option<Work<'p>> {
    pool.others(seat).filter(|other| other.scope() == tasks.number()).find_map(|victim| {
        let still = || victim.scope() == tasks.number();
        leapfrog(seat, pool, victim, 0, |slot| still() && !is_foreign(victim, slot, victim.scope_since(), 0))
            .or_else(|| fetch(pool, victim, of_scope(victim), still))
    })
}

/// A job, or a task of a scope, that descends from `frame`.
fn find_descendant<'p>(seat: &Seat, pool: &'p Shared, frame: &Frame) -> Option<Work<'p>> {
    let forked = || {
        pool.others(seat)
            .filter(|other| other.origins.include(frame))
            .find_map(|victim| leapfrog(seat, pool, victim, 0, |slot| comes_from(victim, slot, frame)))
    };
    let job = pool.injector.take_descendant(frame).map(Work::Job);
    job.or_else(forked).or_else(|| pool.scopes.take_descendant(seat, frame).map(Work::Task))
}

/// Whether one of them waits in a queue.
fn has_descendant(pool: &Shared, frame: &Frame) -> bool {
    pool.injector.has_descendant(frame) || pool.scopes.have_descendant(frame)
}

/// Takes a job from `victim`, none below `floor`, if `still` holds after the theft.
fn leapfrog<'p>(
    seat: &Seat,
    pool: &'p Shared,
    victim: &'p Seat,
    floor: u32,
    still: impl Fn(&Slot) -> bool,
) -> Option<Work<'p>> {
    let slot = seat.rob(victim, floor)?;
    if still(slot) {
        return Some(Work::Forked(slot, victim));
    }
    seat.tally.aborts.add(1);
    give_back(pool, slot, victim);
    None
}

/// Which jobs that were given back descend from the one in `slot`, which `runner` runs, as long as that is undone: those that stand on the runner's stack since
/// it began.
fn of_slot<'a>(slot: &'a Slot, runner: &'a Seat) -> impl Fn(&Job) -> bool + 'a {
    move |job| {
        let depth = runner.stack.depth_of(job.address());
        depth.is_some_and(|depth| depth >= slot.floor() && !runner.is_foreign(depth, slot.foreigners(), slot.floor()))
    }
}

/// The same for a scope, one of whose tasks is at the bottom of `runner`.
fn of_scope(runner: &Seat) -> impl Fn(&Job) -> bool + '_ {
    move |job| {
        let depth = runner.stack.depth_of(job.address());
        depth.is_some_and(|depth| !runner.is_foreign(depth, runner.scope_since(), 0))
    }
}

/// Takes such a job of `victim` out of the injector, where a worker has put it that was not to run
/// it, if `still` holds then.
pub(crate) fn fetch<'p>(
    pool: &Shared,
    victim: &Seat,
    wanted: impl Fn(&Job) -> bool,
    still: impl Fn() -> bool,
) -> Option<Work<'p>> {
    let job = pool.injector.take_where(wanted)?;
    if still() {
        return Some(Work::Job(job));
    }
    return_to_injector(pool, job, victim);
    None
}

/// Whether the stolen job in `slot` is part of something that has nothing to do with what its owner began at `floor`, when so many foreign things had begun there.
fn is_foreign(victim: &Seat, slot: &Slot, since: u32, floor: u32) -> bool {
    victim.is_foreign(victim.stack.index_of(slot), since, floor)
}

/// Whether the stolen job in `slot` descends from `frame`. Stable, and the frames alive, until it is done.
fn comes_from(victim: &Seat, slot: &Slot, frame: &Frame) -> bool {
    victim.origins.at(std::ptr::from_ref(slot).addr()).descends_from(frame)
}

/// Gives a stolen job that must not be run here to the injector, for any idle worker; or for its
/// owner, should that wait for it.
fn give_back(pool: &Shared, slot: &Slot, victim: &Seat) {
    unsafe fn execute(data: *const (), worker: &mut Worker, _: bool) {
        // SAFETY: a slot of the pool; its job is waited for until it is done.
        unsafe { search::run_forked(&*data.cast::<Slot>(), worker) };
    }
    let address = std::ptr::from_ref(slot);
    // Marked first: once it can be had from the injector, it may be over and the slot in use again.
    let call_owner = slot.give_back();
    // SAFETY: the worker that takes it out of the injector runs it, once.
    let job = unsafe { Job::from_parts(address.cast(), execute, victim.origins.at(address.addr())) };
    return_to_injector(pool, job, victim);
    if call_owner {
        victim.sleep.call_waiter();
    }
}

/// Puts a job that stands on the stack of `victim` into the injector. Workers that wait for what
/// `victim` runs may have looked for it meanwhile, on that stack or in the injector, and then slept.
fn return_to_injector(pool: &Shared, job: Job, victim: &Seat) {
    pool.inject(job);
    if !defect(Defect::ReturnsInSilence) {
        pool.wake_waiters_for(victim);
    }
}

/// Waits until the stolen job in `slot` is done, and frees the slot.
#[cold]
#[inline(never)]
pub(crate) fn for_stolen(seat: &Seat, slot: &Slot) {
    seat.stack.stand_above(slot);
    until(seat, &Awaited::Stolen(slot));
    seat.stack.reset(slot);
}

/// Waits until what went through the injector is done.
pub(crate) fn for_beyond(seat: &Seat, beyond: &Beyond) {
    until(seat, &Awaited::Beyond(beyond));
}

/// Waits, on the worker of `seat`, and works as the pool's policy allows.
pub(crate) fn until(seat: &Seat, awaited: &Awaited<'_>) {
    let pool = seat.pool();
    if awaited.has_come() {
        return;
    }
    let others = match (pool.waiting, awaited) {
        // What the caller holds outside of the pool, such as a lock, must not meet unrelated work.
        _ if seat.sleep.has_guest() => return until_strictly(seat, pool, awaited),
        // Callers in place take only what descends from their own wait, so the rest is marked.
        (Waiting::Any, _) if pool.lends => Others::Foreign,
        (Waiting::Any, _) => Others::Alike,
        (Waiting::StrictInPool, Awaited::Installed(frame, _)) if frame.is_away() => Others::Foreign,
        (Waiting::Strict | Waiting::StrictInPool, _) => return until_strictly(seat, pool, awaited),
    };
    let (has_come, announce) = (&mut || awaited.has_come(), &mut || awaited.announce());
    let find = &mut || awaited.find(seat, pool);
    search::until(seat, pool, has_come, announce, find, others, SleepState::Idle);
}

fn until_strictly(seat: &Seat, pool: &Shared, awaited: &Awaited<'_>) {
    // What is nearly done is not worth helping with. Only tasks that are in a queue are taken at once.
    let mut has_paused = false;
    let mut was_asleep = false;
    let mut backoff = Backoff::new(seat.patience());
    while !awaited.has_come() {
        seat.stack.heed_request();
        let mail = collect(seat);
        let work = match has_paused {
            _ if mail.is_some() => None,
            true => awaited.find(seat, pool),
            false => awaited.take_task(seat),
        };
        // A fork may have relied on this worker while it slept, and then left its job to it. If it
        // runs something else instead, another worker has to be woken for that job.
        let runs = mail.is_some() || work.is_some();
        if runs && std::mem::take(&mut was_asleep) && pool.sleep.counts().only_sleepers_are_free() {
            pool.wake_for_unclaimed_work();
        }
        if let Some(job) = mail {
            search::run_foreign(seat, Work::Job(job));
        } else if let Some(work) = work {
            backoff.reward(seat.patience());
            search::run(seat, work);
            backoff = Backoff::new(seat.patience());
        } else if !has_paused {
            has_paused = true;
            pause_until_done(awaited);
        } else if !backoff.snooze() {
            backoff.learn(seat.patience(), || fall_asleep(seat, pool, &mut Waiter { seat, pool, awaited }));
            was_asleep = true;
        }
    }
    backoff.reward(seat.patience());
}

/// Waits until it is done, but for a moment only.
fn pause_until_done(awaited: &Awaited<'_>) {
    let mut pauses = spin::pauses_in(SHORT_WAIT);
    while pauses > 0 && !awaited.has_come() {
        spin_loop();
        pauses -= 1;
    }
}

/// A worker that waits under the strict policy and has found nothing that its wait needs.
struct Waiter<'a> {
    seat: &'a Seat,
    pool: &'a Shared,
    awaited: &'a Awaited<'a>,
}

impl Sleeper for Waiter<'_> {
    fn prepare(&mut self) -> bool {
        self.awaited.clear_the_way(self.seat, self.pool) && self.awaited.announce()
    }

    fn state(&self) -> SleepState {
        self.awaited.state()
    }

    fn victims<'p>(&self, pool: &'p Shared) -> Vec<&'p Seat> {
        self.awaited.victims(self.seat, pool)
    }

    fn is_done(&mut self) -> bool {
        self.awaited.has_come()
    }

    fn has_queued(&self) -> bool {
        self.awaited.sees_something(self.pool) || may_run_mail(self.seat)
    }
}

/// A fork beyond the end of the stack: what the injector carries, and where the result is announced.
///
/// The slot is one of the pool's spare ones, not part of the frame: others may look at it when the frame is gone.
pub(crate) struct Beyond {
    slot: *const Slot,
    seat: *const Seat,
    job: UnsafeCell<(*const (), Execute)>,
}

impl std::fmt::Debug for Beyond {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Beyond").finish_non_exhaustive()
    }
}

impl Drop for Beyond {
    fn drop(&mut self) {
        // SAFETY: the worker's own seat.
        let seat = unsafe { &*self.seat };
        seat.spare_slots.put_back(self.slot);
    }
}

impl Beyond {
    pub(crate) fn new(seat: &Seat, data: *const (), execute: Execute) -> Beyond {
        Beyond { slot: seat.spare_slots.take(), seat, job: UnsafeCell::new((data, execute)) }
    }

    fn data(&self) -> *const () {
        std::ptr::from_ref(self).cast()
    }

    fn slot(&self) -> &Slot {
        // SAFETY: a spare slot of the pool, which lives as long as the pool.
        unsafe { &*self.slot }
    }

    /// Puts the job into the injector.
    ///
    /// # Safety
    ///
    /// The caller waits for it before anything of it goes away.
    pub(crate) unsafe fn inject(&self) {
        unsafe fn execute(data: *const (), worker: &mut Worker, _: bool) {
            // SAFETY: waited for.
            let beyond = unsafe { &*data.cast::<Beyond>() };
            beyond.slot().run_by(worker.index(), worker.depth(), worker.seat().foreigners());
            // SAFETY: written before it was injected, and not since.
            let (data, execute) = unsafe { *beyond.job.get() };
            // SAFETY: pool memory, as is the slot: from the completion on the frame may be gone.
            let (seat, slot) = unsafe { (&*beyond.seat, &*beyond.slot) };
            // SAFETY: run once, by whoever took it from the injector.
            unsafe { execute(data, worker, !std::ptr::eq(seat, worker.seat())) };
            if slot.complete() {
                seat.sleep.call_waiter();
            }
        }
        // SAFETY: made from a reference to the worker's own seat.
        let seat = unsafe { &*self.seat };
        let origin: Origin = seat.origin();
        // SAFETY: the caller's word.
        seat.pool().inject(unsafe { Job::from_parts(self.data(), execute, origin) });
    }
}
