//! Waiting for a stolen job, the tasks of a scope or another pool.
//!
//! A worker that waits can run other work meanwhile. If it runs whatever it finds, it can meet a
//! lock that is held below it on its own stack. It can pile up frames without bound. Unrelated work
//! can keep it from going on when its wait is over.
//!
//! So under [`Waiting::Strict`] a worker runs only what its own wait needs: what
//! [descends](crate::lineage) from what it waits for, wherever that is:
//!
//! - jobs on the fork stacks of other workers. One look shows whether the oldest seems to descend,
//!   and after the theft it is certain. If the job does not descend, it goes unrun to the injector.
//! - jobs in the injector, and tasks of scopes.
//!
//! Jobs that are addressed to one worker, as those of a broadcast, are run by that worker in any
//! wait: no other worker may run them. A caller from outside that has borrowed a seat runs them
//! only if some were sent from inside a pool, or if it yields. The others stay for the seat's own
//! thread.

use std::cell::UnsafeCell;

use crate::backoff::Backoff;
use crate::job::Job;
use crate::latch::Completion;
use crate::lineage::{node_of, Lineage, Wait};
use crate::pool::Shared;
use crate::scope::Record;
use crate::search::{self, Purpose, Work};
use crate::seat::{steal_task_from, Seat};
use crate::sleep::{self, fall_asleep, raid_for, SleepState, Sleeper};
use crate::spin;
use crate::stack::{Execute, Slot, Theft};
use crate::sync::{fence, spin_loop, Ordering};
use crate::tasks::{self, Deque};
use crate::worker::Worker;

/// The policy for what a worker may run while it waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// Run only work that the wait needs.
    ///
    /// A lock that is held across a join cannot meet itself. The stack stays bounded by the depth
    /// of the program. No unrelated work delays the join. In some programs workers idle that could
    /// have run something else.
    #[default]
    Strict,
    /// Strict inside the pool, but not in waits for other pools.
    ///
    /// A worker that waits for another pool runs any work of its own pool. Then two pools can
    /// install into each other at the same time, each with all of its workers, and both make
    /// progress.
    StrictInPool,
    /// Run any work, as rayon does.
    ///
    /// No worker idles while there is work. All that the strict policy excludes can happen.
    Any,
}

/// The number of [turns](crate::spin) of a short wait: about a microsecond. A worker waits so long
/// before it offers its help, or takes what was not offered.
pub(crate) const SHORT_WAIT: u32 = 3;

/// What a worker waits for.
#[derive(Debug)]
pub(crate) enum Awaited<'a> {
    /// A job that was stolen, in a slot of the worker's own stack. Or a job that went through the
    /// injector because the stack was full, in a spare slot.
    Forked(&'a Slot),
    /// The end of all tasks of a scope.
    Scope(&'a Record),
    /// Work in this pool: a closure, or the parts of a broadcast.
    Completion(&'a Completion, &'a Shared),
    /// Work in this pool under another node: the tasks of a scope of this pool.
    Elsewhere(&'a Completion, usize, &'a Shared),
}

impl Awaited<'_> {
    fn is_done(&self) -> bool {
        match self {
            Awaited::Forked(slot) => slot.is_done(),
            Awaited::Scope(record) => record.is_done(),
            // Acquire: pairs with the release of the thread that has completed it.
            Awaited::Completion(completion, _) | Awaited::Elsewhere(completion, ..) => {
                completion.done.load(Ordering::Acquire)
            }
        }
    }

    fn node(&self) -> usize {
        match *self {
            Awaited::Forked(slot) => node_of(slot),
            Awaited::Scope(record) => node_of(record),
            Awaited::Completion(completion, _) => node_of(completion),
            Awaited::Elsewhere(_, node, _) => node,
        }
    }

    /// Returns the worker that runs what is waited for, if it is known.
    fn runner<'p>(&self, seat: &Seat, pool: &'p Shared) -> Option<&'p Seat> {
        match self {
            Awaited::Forked(slot) => {
                slot.runner().filter(|&runner| runner != seat.index).map(|runner| pool.seat(runner))
            }
            Awaited::Scope(_) | Awaited::Completion(..) | Awaited::Elsewhere(..) => None,
        }
    }

    /// Requests that the waiter is woken on completion. Returns false if it is already done.
    fn request_wake(&self) -> bool {
        match self {
            Awaited::Forked(slot) => slot.request_wake(),
            Awaited::Scope(record) => record.request_wake(),
            // Completions wake the waiter whether it sleeps or not.
            Awaited::Completion(..) | Awaited::Elsewhere(..) => !self.is_done(),
        }
    }
}

/// Whether older jobs or tasks of a victim block those that a wait needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Blocking {
    None,
    Remains,
    /// Some remain, and the kernel has refused the barrier to take them.
    Refused,
}

/// A worker that waits, and may run only what its wait needs.
struct Waiter<'a, 'p> {
    seat: &'a Seat,
    pool: &'p Shared,
    awaited: &'a Awaited<'a>,
    wait: Wait,
}

impl<'a, 'p> Waiter<'a, 'p> {
    fn new(seat: &'a Seat, pool: &'p Shared, awaited: &'a Awaited<'a>) -> Self {
        Waiter { seat, pool, awaited, wait: Wait::new(awaited.node(), seat.runs.top()) }
    }

    /// Finds work that descends from what is waited for.
    fn find(&self) -> Option<Work<'p>> {
        let waker = self.seat.sleep.take_waker().filter(|&waker| waker != self.seat.index);
        let likely = waker.map(|waker| self.pool.seat(waker)).or_else(|| self.awaited.runner(self.seat, self.pool));
        likely
            .and_then(|likely| self.leapfrog(likely))
            .or_else(|| self.find_queued())
            .or_else(|| search::victims(self.seat, self.pool).find_map(|victim| self.leapfrog(victim)))
    }

    /// Finds such work among this worker's stray tasks, and in the injector.
    fn find_queued(&self) -> Option<Work<'p>> {
        let is_needed = |lineage: Lineage| lineage.descends_from(self.wait);
        // SAFETY: this is the worker of the seat.
        let stray = unsafe { self.seat.take_stray(is_needed) }.map(Work::Task);
        stray.or_else(|| self.pool.injector.take_needed(is_needed).map(Work::Job))
    }

    /// Steals a job or a task of `victim` that descends from what is waited for.
    fn leapfrog(&self, victim: &'p Seat) -> Option<Work<'p>> {
        if let Some(slot) = self.seat.steal_or_demand_for(victim, self.wait) {
            if victim.lineage_of(slot).descends_from(self.wait) {
                return Some(Work::Forked(slot, victim));
            }
            self.give_back(slot, victim);
        }
        let task = victim.steal_task(|tasks, position| tasks.is_under(self.wait, position))?;
        if task.lineage.descends_from(self.wait) {
            return Some(Work::Task(task));
        }
        self.give_back_task(task);
        None
    }

    /// Gives a stolen task that must not run here to the injector.
    fn give_back_task(&self, task: Job) {
        self.seat.tally.aborts.add(1);
        self.pool.inject(task);
    }

    /// Gives a stolen job that must not run here to the injector.
    fn give_back(&self, slot: &Slot, victim: &Seat) {
        unsafe fn execute(data: *const (), worker: &mut Worker, _: bool) {
            // SAFETY: a slot of the pool; its job is waited for until it is done.
            unsafe { search::run_forked(&*data.cast::<Slot>(), worker) };
        }
        self.seat.tally.aborts.add(1);
        // SAFETY: the worker that takes it out of the injector runs it, once.
        let job = unsafe { Job::from_parts(std::ptr::from_ref(slot).cast(), execute, victim.lineage_of(slot)) };
        self.pool.inject(job);
    }

    /// Moves jobs of `victim` that block needed ones to the injector, unrun.
    ///
    /// `victim` has forked them before the jobs that this wait needs, and may itself wait for this
    /// worker to take some of the latter.
    fn move_blocking_jobs(&self, victim: &Seat) -> Blocking {
        let needed = || {
            let depths = victim.stack.depths();
            victim.runs.first_under(self.wait, depths).is_some_and(|depth| depth > depths.0)
        };
        let mut blocking = Blocking::None;
        while !self.awaited.is_done() && needed() {
            match victim.stack.steal() {
                Theft::Job(older) => self.give_back(older, victim),
                Theft::Lost => self.seat.tally.aborts.add(1),
                Theft::Nothing => {
                    if let Some(remaining) = self.raid_blocking(victim, || victim.stack.has_public()) {
                        blocking = remaining;
                        break;
                    }
                }
            }
        }
        victim.task_deques().fold(blocking, |blocking, tasks| self.move_blocking_tasks(tasks, victim).max(blocking))
    }

    /// Does the same as `move_blocking_jobs`, for tasks.
    fn move_blocking_tasks(&self, tasks: &Deque, victim: &Seat) -> Blocking {
        while !self.awaited.is_done() && tasks.has_under_behind_others(self.wait) {
            match steal_task_from(tasks, |_| true) {
                tasks::Theft::Task(older) => self.give_back_task(older),
                tasks::Theft::Lost => self.seat.tally.aborts.add(1),
                tasks::Theft::Nothing => {
                    if let Some(remaining) = self.raid_blocking(victim, || tasks.has_public()) {
                        return remaining;
                    }
                }
            }
        }
        Blocking::None
    }

    /// Raids `victim`, which has published none of the blocking jobs. Returns what remains if the
    /// raid does not help, or `None` to try again.
    fn raid_blocking(&self, victim: &Seat, has_public: impl Fn() -> bool) -> Option<Blocking> {
        if !self.pool.raids {
            return Some(Blocking::None);
        }
        let passed = self.seat.raid(victim);
        match (has_public(), passed) {
            (true, _) => None,
            (false, true) => Some(Blocking::Remains),
            (false, false) => Some(Blocking::Refused),
        }
    }
}

impl Sleeper for Waiter<'_, '_> {
    fn prepare(&mut self) -> bool {
        // Check each worker: if the jobs of one cannot be taken, this worker still needs those of
        // the others.
        let blocking = self
            .pool
            .others(self.seat)
            .fold(Blocking::None, |blocking, victim| self.move_blocking_jobs(victim).max(blocking));
        match blocking {
            Blocking::None => self.awaited.request_wake(),
            Blocking::Remains => false,
            Blocking::Refused => {
                // Other workers may have jobs that can be raided without a barrier.
                let is_offered = raid_for(self.seat, self.pool, self, &self.victims(self.pool));
                // Until the owner has noticed the refusal, no raid of it succeeds.
                if !is_offered && self.awaited.request_wake() {
                    sleep::nap(self.seat, false);
                }
                false
            }
        }
    }

    fn state(&self) -> SleepState {
        SleepState::WaitingFor(self.wait.node)
    }

    fn victims<'p>(&self, pool: &'p Shared) -> Vec<&'p Seat> {
        let may_have = |other: &&Seat| {
            if other.runs.have_under(self.wait) {
                return true;
            }
            // Acquire: a worker that sees that a run is over also sees the stray tasks of that run.
            fence(Ordering::Acquire);
            other.has_strays_under(self.wait)
        };
        pool.others(self.seat).filter(may_have).collect()
    }

    fn may_take_public(&self, victim: &Seat) -> bool {
        victim.runs.first_under(self.wait, victim.stack.public_depths()).is_some()
            || victim.task_deques().any(|tasks| tasks.has_under(self.wait, false))
    }

    fn may_take(&self, victim: &Seat) -> bool {
        let depths = if self.pool.raids { victim.stack.depths() } else { victim.stack.public_depths() };
        victim.runs.first_under(self.wait, depths).is_some()
            || victim.task_deques().any(|tasks| tasks.has_under(self.wait, self.pool.raids))
    }

    fn is_done(&mut self) -> bool {
        self.awaited.is_done()
    }

    fn has_queued(&self) -> bool {
        let is_needed = |lineage: Lineage| lineage.descends_from(self.wait);
        // SAFETY: this is the worker of the seat.
        let has_stray = unsafe { self.seat.has_stray(is_needed) };
        has_stray || self.pool.injector.has_needed(is_needed) || may_run_mail(self.seat)
    }
}

/// Takes a job from the mail of `seat`, if its worker may run mail now.
fn take_runnable_mail(seat: &Seat) -> Option<Job> {
    // SAFETY: this is the worker of the seat.
    may_run_mail(seat).then(|| unsafe { seat.take_mail() }).flatten()
}

/// Returns whether there is mail that the worker of `seat` may run in a wait.
///
/// A worker runs all of its mail, because no other worker may. A caller that has borrowed the seat
/// does so only if some of the mail was sent from inside a pool, and may be needed here. The order
/// of the mail is kept.
fn may_run_mail(seat: &Seat) -> bool {
    seat.has_mail() && (!seat.sleep.has_guest() || seat.has_mail_from_inside())
}

/// Waits until the stolen job in `slot` is done, and frees the slot.
#[cold]
#[inline(never)]
pub(crate) fn for_stolen(seat: &Seat, slot: &Slot) {
    seat.stack.set_bottom_above(slot);
    until(seat, &Awaited::Forked(slot));
    seat.stack.reset(slot);
    // The stack may have switched to fences.
    seat.handle_fence_requests();
}

/// Waits until the job that went through the injector is done.
pub(crate) fn for_overflow(seat: &Seat, overflow: &OverflowJob) {
    until(seat, &Awaited::Forked(overflow.slot()));
}

/// Waits on the worker of `seat`, and runs work as the pool's policy allows.
pub(crate) fn until(seat: &Seat, awaited: &Awaited<'_>) {
    let pool = seat.pool();
    if awaited.is_done() {
        return;
    }
    let is_away = match awaited {
        Awaited::Completion(_, target) | Awaited::Elsewhere(_, _, target) => !std::ptr::eq(*target, pool),
        Awaited::Forked(_) | Awaited::Scope(_) => false,
    };
    let runs_anything = match pool.waiting {
        Waiting::Any => true,
        Waiting::StrictInPool => is_away,
        Waiting::Strict => false,
    };
    let waiter = Waiter::new(seat, pool, awaited);
    // What a caller holds outside of the pool, such as a lock, must not meet unrelated work.
    if !runs_anything || seat.sleep.has_guest() {
        return until_strictly(waiter);
    }
    let (is_done, request_wake) = (&mut || awaited.is_done(), &mut || awaited.request_wake());
    search::until(seat, pool, is_done, request_wake, &mut || waiter.find(), SleepState::Idle);
}

fn until_strictly(mut waiter: Waiter<'_, '_>) {
    let Waiter { seat, pool, awaited, .. } = waiter;
    // What is nearly done is not worth helping with. Only queued work is taken at once.
    let mut has_paused = false;
    let mut was_asleep = false;
    let mut backoff = Backoff::new(seat.patience());
    while !awaited.is_done() {
        seat.handle_fence_requests();
        let mail = take_runnable_mail(seat);
        let work = match has_paused {
            _ if mail.is_some() => None,
            true => waiter.find(),
            false => waiter.find_queued(),
        };
        // A fork may have relied on this worker while it slept, and left its job to it. If this
        // worker runs something else instead, it must wake another worker for that job.
        let runs = mail.is_some() || work.is_some();
        if runs && std::mem::take(&mut was_asleep) && pool.sleep.counts().only_sleepers_are_free() {
            pool.wake_for_unclaimed_work();
        }
        if let Some(job) = mail {
            search::run(seat, Work::Job(job), Purpose::Other);
        } else if let Some(work) = work {
            backoff.reward(seat.patience());
            search::run(seat, work, Purpose::Needed);
            backoff = Backoff::new(seat.patience());
        } else if !has_paused {
            has_paused = true;
            pause_until_done(awaited);
        } else if !backoff.snooze() {
            backoff.learn(seat.patience(), || fall_asleep(seat, pool, &mut waiter));
            was_asleep = true;
        }
    }
    backoff.reward(seat.patience());
}

/// Waits a short time for completion.
fn pause_until_done(awaited: &Awaited<'_>) {
    let mut pauses = spin::pauses_in(SHORT_WAIT);
    while pauses > 0 && !awaited.is_done() {
        spin_loop();
        pauses -= 1;
    }
}

/// A fork beyond the end of the stack: the injected job and its slot.
///
/// The slot is a spare slot of the pool, not part of the frame: other workers may look at it when
/// the frame is gone.
pub(crate) struct OverflowJob {
    slot: *const Slot,
    seat: *const Seat,
    job: UnsafeCell<(*const (), Execute)>,
}

impl std::fmt::Debug for OverflowJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OverflowJob").finish_non_exhaustive()
    }
}

impl Drop for OverflowJob {
    fn drop(&mut self) {
        // SAFETY: the worker's own seat.
        let seat = unsafe { &*self.seat };
        seat.spare_slots.put_back(self.slot);
    }
}

impl OverflowJob {
    pub(crate) fn new(seat: &Seat, data: *const (), execute: Execute) -> OverflowJob {
        OverflowJob { slot: seat.spare_slots.take(), seat, job: UnsafeCell::new((data, execute)) }
    }

    fn slot(&self) -> &Slot {
        // SAFETY: a spare slot of the pool, which lives as long as the pool.
        unsafe { &*self.slot }
    }

    /// Puts the job into the injector.
    ///
    /// # Safety
    ///
    /// The caller waits for the job before any part of it goes away.
    pub(crate) unsafe fn inject(&self) {
        unsafe fn execute(data: *const (), worker: &mut Worker, _: bool) {
            // SAFETY: the forking worker waits for it.
            let overflow = unsafe { &*data.cast::<OverflowJob>() };
            overflow.slot().run_by(worker.index());
            // SAFETY: written before it was injected, and not since.
            let (data, execute) = unsafe { *overflow.job.get() };
            // SAFETY: pool memory, as is the slot. After the completion the frame may be gone.
            let (seat, slot) = unsafe { (&*overflow.seat, &*overflow.slot) };
            // SAFETY: run once, by the worker that took it from the injector.
            unsafe { execute(data, worker, !std::ptr::eq(seat, worker.seat())) };
            if slot.complete() {
                seat.sleep.notify_waiter();
            }
        }
        // SAFETY: made from a reference to the worker's own seat.
        let seat = unsafe { &*self.seat };
        let lineage = Lineage::new(node_of(self.slot()), seat.runs.top());
        // SAFETY: the caller guarantees it.
        seat.pool().inject(unsafe { Job::from_parts(std::ptr::from_ref(self).cast(), execute, lineage) });
    }
}
