//! Searching for work, and running it.

use crate::backoff::{Backoff, Patience};
use crate::defect::{defect, Defect};
use crate::job::Job;
use crate::lineage::{Lineage, Wait};
use crate::pool::Shared;
use crate::scope::{self, Innermost};
use crate::seat::Seat;
use crate::sleep::{fall_asleep, SleepState, Sleeper};
use crate::spin;
use crate::stack::{Slot, Theft};
use crate::sync::spin_loop;
use crate::unwind::NoUnwind;
use crate::wait::SHORT_WAIT;
use crate::worker::Worker;

/// Something to run.
#[derive(Debug)]
pub(crate) enum Work<'p> {
    /// A job stolen from a fork stack.
    Forked(&'p Slot, &'p Seat),
    /// A job from a queue.
    Job(Job),
    /// A task of a scope, stolen from another worker.
    Task(Job),
    /// A task of a scope, from a deque of the worker's own. The second field is the innermost scope
    /// while it runs.
    OwnTask(Job, Innermost),
}

impl Work<'_> {
    fn lineage(&self) -> Lineage {
        match self {
            Work::Forked(slot, victim) => victim.lineage_of(slot),
            Work::Job(job) | Work::Task(job) | Work::OwnTask(job, _) => job.lineage,
        }
    }
}

/// Why a worker runs something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The wait below needs it. So the wait needs all tasks that it spawns into its own scope.
    Needed,
    /// Something else. The worker would do other work without it, unless it runs nothing.
    Other,
}

/// Runs `work` on the calling worker, at the bottom or above its wait.
pub(crate) fn run(seat: &Seat, work: Work<'_>, purpose: Purpose) {
    // Jobs catch their own panics. If a panic still escapes, it must not unwind frames that other
    // workers still use.
    let guard = NoUnwind("a job unwound into its worker");
    // A run on top of another run pushes no tasks for the scopes below.
    let innermost = match &work {
        &Work::OwnTask(_, innermost) => innermost,
        Work::Forked(..) | Work::Job(_) | Work::Task(_) => Innermost::NONE,
    };
    // SAFETY: this is the worker of the seat.
    let outer = unsafe { seat.set_innermost(innermost) };
    let lineage = work.lineage();
    let is_root = lineage.is_root();
    seat.runs.begin(seat, lineage, seat.worker().depth());
    let before = seat.begin_work();
    // What a task spawns may take forever. The work below must be able to go on before that.
    let to_the_end = purpose == Purpose::Needed || !before;
    // SAFETY: as above.
    let outer_to_the_end = unsafe { seat.set_runs_tasks_to_the_end(to_the_end) };
    let worker = seat.worker();
    match work {
        Work::Forked(slot, victim) => {
            seat.tally.jobs.add(1);
            seat.tally.steals.add(1);
            let _span = seat.log.stolen(victim.index);
            // SAFETY: stolen, so this worker runs it.
            unsafe { run_forked(slot, worker) };
        }
        Work::Job(job) => {
            run_job(seat, job);
            if is_root && !before {
                run_roots(seat);
            }
        }
        Work::Task(task) => {
            seat.tally.jobs.add(1);
            let _span = seat.log.task();
            // SAFETY: as above.
            unsafe { task.run(worker) };
        }
        Work::OwnTask(task, _) => {
            seat.tally.jobs.add(1);
            // SAFETY: as above; its scope waits for it further down on this stack.
            unsafe { scope::run_in_place(seat, &task) };
        }
    }
    seat.runs.end();
    if before && !defect(Defect::EndRaisesNoAlarm) {
        // Meanwhile, forks in the run below could not wake the workers that wait for it.
        seat.stack.alarm();
    }
    // SAFETY: this is the worker of the seat. It still counts as working: this may run user code.
    unsafe {
        seat.drop_kept_pool();
        seat.set_innermost(outer);
        seat.set_runs_tasks_to_the_end(outer_to_the_end);
    }
    seat.end_work(before);
    if before && is_root {
        seat.pool().notify_if_shutting_down();
    }
    guard.disarm();
}

fn run_job(seat: &Seat, job: Job) {
    seat.tally.jobs.add(1);
    let _span = seat.log.job();
    // SAFETY: taken from a queue that gives each job once.
    unsafe { job.run(seat.worker()) };
}

/// Runs more of the jobs that no worker waits for, as part of one run. These are the jobs that the
/// worker has spawned itself, and some from outside.
fn run_roots(seat: &Seat) {
    /// The number of jobs from outside before the worker looks at other work.
    const MAX_FROM_OUTSIDE: u32 = 32;
    let mut from_outside = 0;
    // SAFETY: this is the worker of the seat.
    while !seat.has_mail() && !unsafe { seat.has_stray(|_| true) } {
        // SAFETY: as above. The job leaves its slot before it runs.
        if let Some(job) = unsafe { seat.pop_spawned() } {
            seat.fence_after_refusal();
            seat.tally.jobs.add(1);
            let _span = seat.log.job();
            // SAFETY: popped once.
            unsafe { Job::run_at(job, seat.worker(), true) };
            continue;
        }
        if from_outside == MAX_FROM_OUTSIDE {
            return;
        }
        let Some(job) = seat.pool().injector.take_root_in_turn() else { return };
        from_outside += 1;
        seat.fence_after_refusal();
        run_job(seat, job);
    }
}

/// Runs the stolen job in `slot`, and notifies its owner.
///
/// # Safety
///
/// The caller has stolen the job, or got it from the worker that has stolen it.
pub(crate) unsafe fn run_forked(slot: &Slot, worker: &mut Worker) {
    // SAFETY: a slot of this pool.
    let owner = unsafe { Worker::at(std::ptr::from_ref(slot).addr()) }.seat();
    slot.run_by(worker.index());
    let (data, execute) = slot.job();
    // SAFETY: the caller guarantees that it runs once, and that the frame it points to waits.
    unsafe { execute(data, worker, !std::ptr::eq(owner, worker.seat())) };
    if slot.complete() {
        owner.sleep.notify_waiter();
    }
}

/// Takes what this worker has spawned itself, or what only it may run.
///
/// Tasks come first, then spawned jobs, then mail, so that a broadcast comes after what was there
/// before. Strays come before or after the last two in turn. So strays and spawned jobs do not wait
/// for each other if one spawns itself again. So that mail does not wait for them either, [`until`]
/// takes overdue mail first.
pub(crate) fn take_own<'p>(seat: &Seat) -> Option<Work<'p>> {
    // SAFETY: this is the worker of the seat.
    take_own_task(seat).or_else(|| match unsafe { seat.next_turn() } % 2 {
        0 => take_own_stray(seat).or_else(|| take_spawned(seat)).or_else(|| take_mail(seat)),
        _ => take_spawned(seat).or_else(|| take_mail(seat)).or_else(|| take_own_stray(seat)),
    })
}

/// Takes a job that this worker has spawned.
fn take_spawned<'p>(seat: &Seat) -> Option<Work<'p>> {
    // SAFETY: this is the worker of the seat. The job leaves its slot at once.
    unsafe { seat.pop_spawned().map(|job| job.read()) }.map(Work::Job)
}

/// Takes a job that only this worker may run.
fn take_mail<'p>(seat: &Seat) -> Option<Work<'p>> {
    // SAFETY: this is the worker of the seat.
    unsafe { seat.take_mail() }.map(Work::Job)
}

/// Takes mail that is overdue: the worker has looked for own work about a thousand times since.
fn take_overdue_mail<'p>(seat: &Seat) -> Option<Work<'p>> {
    // SAFETY: this is the worker of the seat.
    unsafe { seat.is_mail_overdue() }.then(|| take_mail(seat)).flatten()
}

/// Takes a task of a scope from a deque of this worker's own.
fn take_own_task<'p>(seat: &Seat) -> Option<Work<'p>> {
    let own = |(task, innermost)| Work::OwnTask(task, innermost);
    // SAFETY: this is the worker of the seat.
    let in_segment = unsafe { seat.take_segment_task() }.map(own);
    // SAFETY: as above.
    let before_lane = || unsafe { seat.take_stray_of_lane() }.map(Work::Task);
    // SAFETY: as above.
    in_segment.or_else(before_lane).or_else(|| unsafe { seat.take_lane_task() }.map(own))
}

/// Takes a task that this worker has spawned into a scope without a segment.
fn take_own_stray<'p>(seat: &Seat) -> Option<Work<'p>> {
    // SAFETY: this is the worker of the seat.
    unsafe { seat.take_any_stray() }.map(Work::Task)
}

/// Takes own work, for a worker that yields.
///
/// Own work is what the worker has spawned, what only it may run, and a task in the injector of a
/// scope that it has opened. Tasks, strays, injected tasks and spawned jobs come first in turn, and
/// mail comes last, or first if it is overdue. So none of these kinds has to wait for another
/// that spawns itself again.
pub(crate) fn take_own_in_turn<'p>(seat: &Seat) -> Option<Work<'p>> {
    let injected = || seat.pool().injector.take_needed(|lineage| lineage.is_waited_for_by(seat)).map(Work::Job);
    // SAFETY: this is the worker of the seat.
    let first = unsafe { seat.next_yield() } % 4;
    let in_turn = || {
        (0..4).find_map(|turn| match (first + turn) % 4 {
            0 => take_own_task(seat),
            1 => take_own_stray(seat),
            2 => injected(),
            _ => take_spawned(seat),
        })
    };
    take_overdue_mail(seat).or_else(in_turn).or_else(|| take_mail(seat))
}

/// Takes the oldest job that this worker has forked and no thief has taken. The join that forked it
/// finds it done.
pub(crate) fn take_own_forked(seat: &Seat) -> Option<Work<'_>> {
    seat.stack.share();
    seat.handle_fence_requests();
    loop {
        match seat.stack.steal() {
            Theft::Job(slot) => return Some(Work::Forked(slot, seat)),
            Theft::Lost => {}
            Theft::Nothing => return None,
        }
    }
}

/// Finds any work, for a worker that may run anything.
pub(crate) fn find<'p>(seat: &Seat, pool: &'p Shared) -> Option<Work<'p>> {
    take_own(seat)
        .or_else(|| steal_forked(seat, pool))
        .or_else(|| steal_task(seat, pool))
        .or_else(|| pool.injector.take().map(Work::Job))
        .or_else(|| steal_spawned(seat, pool))
}

/// Does the same as [`find`], but also raids a worker that does not respond.
///
/// For a worker that does not sleep, and so does not raid, before it looks again.
pub(crate) fn find_or_raid<'p>(seat: &Seat, pool: &'p Shared) -> Option<Work<'p>> {
    find(seat, pool).or_else(|| {
        let mut others = pool.others(seat);
        if !others.clone().any(Seat::has_jobs) {
            return None;
        }
        (0..spin::pauses_in(SHORT_WAIT)).for_each(|_| spin_loop());
        if !others.clone().any(Seat::has_public) {
            seat.raid_one_of(pool, others.by_ref());
        }
        steal_forked(seat, pool).or_else(|| steal_task(seat, pool)).or_else(|| steal_spawned(seat, pool))
    })
}

/// Returns the other workers, starting at a random one.
pub(crate) fn victims<'p>(seat: &Seat, pool: &'p Shared) -> impl Iterator<Item = &'p Seat> {
    let count = pool.seats.len();
    // SAFETY: this is the worker of the seat.
    let start = unsafe { seat.random(count) };
    let own = seat.index;
    (0..count).map(move |turn| (start + turn) % count).filter(move |&index| index != own).map(|index| pool.seat(index))
}

fn steal_forked<'p>(seat: &Seat, pool: &'p Shared) -> Option<Work<'p>> {
    victims(seat, pool).find_map(|victim| seat.steal_or_demand(victim).map(|slot| Work::Forked(slot, victim)))
}

fn steal_task<'p>(seat: &Seat, pool: &'p Shared) -> Option<Work<'p>> {
    victims(seat, pool).find_map(|victim| victim.steal_task(|_, _| true)).map(Work::Task)
}

fn steal_spawned<'p>(seat: &Seat, pool: &'p Shared) -> Option<Work<'p>> {
    victims(seat, pool).find_map(Seat::steal_spawned).map(Work::Job)
}

/// Runs any work until `is_done` returns true.
///
/// `request_wake` requests that this worker is woken then. `find_own` finds work that the wait
/// needs. `state` is the state of the worker while it sleeps.
pub(crate) fn until<'p>(
    seat: &Seat,
    pool: &'p Shared,
    is_done: &mut dyn FnMut() -> bool,
    request_wake: &mut dyn FnMut() -> bool,
    find_own: &mut dyn FnMut() -> Option<Work<'p>>,
    state: SleepState,
) {
    while !is_done() {
        let mut crowded = is_crowded(pool, pool.sleep.start_searching().searching(), seat.patience());
        let mut backoff = Backoff::new(seat.patience());
        let needed = |work| (work, Purpose::Needed);
        let other = |work| (work, Purpose::Other);
        let work = loop {
            if is_done() {
                break None;
            }
            // Mail that is overdue comes first, even before work that the wait needs: that work may
            // need the mail to end.
            let overdue = take_overdue_mail(seat).map(other);
            let found = overdue.or_else(|| find_own().map(needed)).or_else(|| find(seat, pool).map(other));
            if found.is_some() {
                break found;
            }
            // At least one turn, in which owners can answer the demand.
            if !backoff.snooze() || crowded {
                backoff.learn(seat.patience(), || {
                    fall_asleep(seat, pool, &mut Searcher { seat, pool, is_done, request_wake, state })
                });
                crowded = false;
                // Most likely this is why the worker was woken, so it need not search everywhere
                // first.
                if is_done() {
                    break None;
                }
                // A caller may have left work in the seat, which comes before injected work.
                let queued = || take_own(seat).or_else(|| pool.injector.take().map(Work::Job));
                if let Some(work) = find_own().map(needed).or_else(|| queued().map(other)) {
                    break Some(work);
                }
            }
        };
        backoff.reward(seat.patience());
        if pool.sleep.stop_searching() {
            pool.wake_for_unclaimed_work();
        }
        if let Some((work, purpose)) = work {
            run(seat, work, purpose);
        }
    }
}

/// Returns whether a worker that starts to search should sleep after one look. `searching` is the
/// number of searching workers.
fn is_crowded(pool: &Shared, searching: usize, patience: &Patience) -> bool {
    let count = pool.seats.len();
    // Callers need a vacant seat, and not a worker that searches.
    searching > (count / 2).max(1) && patience.is_over() || pool.lends && searching == count
}

/// A worker that has searched for any work and found none.
struct Searcher<'a> {
    seat: &'a Seat,
    pool: &'a Shared,
    is_done: &'a mut dyn FnMut() -> bool,
    request_wake: &'a mut dyn FnMut() -> bool,
    state: SleepState,
}

impl Sleeper for Searcher<'_> {
    fn prepare(&mut self) -> bool {
        !self.pool.has_work(self.seat) && (self.request_wake)()
    }

    fn state(&self) -> SleepState {
        self.state
    }

    fn victims<'p>(&self, pool: &'p Shared) -> Vec<&'p Seat> {
        pool.others(self.seat).collect()
    }

    fn may_take_public(&self, victim: &Seat) -> bool {
        victim.has_public()
    }

    fn may_take(&self, victim: &Seat) -> bool {
        self.pool.could_take_from(victim)
    }

    fn is_done(&mut self) -> bool {
        (self.is_done)()
    }

    fn has_queued(&self) -> bool {
        self.seat.has_mail() || !self.pool.injector.is_empty() || self.seat.has_queued()
    }
}

impl Seat {
    /// Steals the oldest public job of another worker. If there is none, leaves a demand.
    pub(crate) fn steal_or_demand<'p>(&self, victim: &'p Seat) -> Option<&'p Slot> {
        self.steal_or_demand_if(victim, |_| true, || true)
    }

    /// Does the same as [`steal_or_demand`](Seat::steal_or_demand), for a job that the wait seems
    /// to need. Such a job descends from what is waited for. A demand is left only if a run of
    /// `victim` seems to descend from it. The caller checks whether the stolen job does descend.
    pub(crate) fn steal_or_demand_for<'p>(&self, victim: &'p Seat, wait: Wait) -> Option<&'p Slot> {
        self.steal_or_demand_if(victim, |depth| victim.runs.at(depth).is_under(wait), || victim.runs.have_under(wait))
    }

    /// Does the same as [`steal_or_demand`](Seat::steal_or_demand), for a job at a depth that is
    /// wanted. A demand is left only if the worker is worth asking.
    fn steal_or_demand_if<'p>(
        &self,
        victim: &'p Seat,
        is_wanted: impl FnOnce(u32) -> bool,
        is_worth_asking: impl FnOnce() -> bool,
    ) -> Option<&'p Slot> {
        match victim.stack.steal_if(is_wanted) {
            Theft::Job(slot) => Some(slot),
            Theft::Lost => {
                self.tally.aborts.add(1);
                None
            }
            Theft::Nothing => {
                if is_worth_asking() {
                    self.ask(victim);
                }
                None
            }
        }
    }

    /// Leaves a demand for work.
    fn ask(&self, victim: &Seat) {
        // SAFETY: this is the worker of the seat.
        if unsafe { self.should_ask(victim) } {
            victim.stack.demand();
        }
    }

    /// Raids the first of these workers that needs a raid. Such a worker has private jobs of some
    /// kind and has published none of that kind. Does nothing if the pool does not raid. If the
    /// kernel refuses the barrier for a worker, the next may need none.
    pub(crate) fn raid_one_of<'p>(&self, pool: &Shared, others: impl Iterator<Item = &'p Seat>) {
        if pool.raids {
            let mut owners = others.filter(|other| other.needs_raid());
            owners.any(|victim| self.raid(victim));
        }
    }

    /// Publishes jobs of a worker that does not respond. Returns false if the kernel refused the
    /// barrier for that.
    pub(crate) fn raid(&self, victim: &Seat) -> bool {
        self.tally.raids.add(1);
        let _span = self.log.raid(victim.index);
        victim.publish_for_raid()
    }
}
