//! Waking: what producers of work do for workers that sleep.

use super::{SleepCell, SleepState};
use crate::defect::{defect, Defect};
use crate::lineage::Lineage;
use crate::pool::Shared;
use crate::seat::Seat;
use crate::stack::Slot;
use crate::sync::{fence, Ordering};
use crate::tasks::Deque;

/// The result of a fork on the slow path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Forked,
    Full,
}

impl Answer {
    pub(crate) fn is_full(&self) -> bool {
        *self == Answer::Full
    }
}

/// Handles a fork that found the alarm raised, or the stack full. If another worker wants work, the
/// oldest jobs become public. If no worker searches for them, a sleeper is woken.
#[cold]
#[inline(never)]
pub(crate) fn answer(seat: &Seat, slot: &Slot) -> Answer {
    if seat.stack.is_full_at(slot) {
        seat.stack.withdraw(slot);
        seat.handle_fence_requests();
        return Answer::Full;
    }
    let share = |more| if more { seat.stack.share_more() } else { seat.stack.share() };
    answer_alarm(seat, &share, &|| seat.pool().find_sleeper(seat));
    Answer::Forked
}

/// Does the same as [`answer`], for a task on a deque of the worker's own.
#[cold]
#[inline(never)]
pub(crate) fn answer_task(seat: &Seat, tasks: &Deque) {
    // A worker that may take what is forked now may take this task: the scope was opened in the
    // same run, or the run is a task of the scope.
    answer_alarm(seat, &|more| tasks.share(more), &|| seat.pool().find_sleeper(seat));
}

/// Does the same as [`answer`], for a stray task of the worker's own. `lineage` is that of the
/// task, whose scope was opened in this run or above it.
#[cold]
#[inline(never)]
pub(crate) fn answer_stray(seat: &Seat, tasks: &Deque, lineage: Lineage) {
    // A worker that waits for less than the scope may not take the task.
    answer_alarm(seat, &|more| tasks.share(more), &|| seat.pool().find_sleeper_for(lineage, seat));
}

/// Does the same as [`answer`], for a spawned job, which only idle workers take.
#[cold]
#[inline(never)]
pub(crate) fn answer_spawned(seat: &Seat) {
    answer_alarm(seat, &|more| seat.spawned.share(more), &|| seat.pool().find_idle(seat));
}

/// Answers the alarm. `share` publishes jobs, or more of them if some are public. `find_sleeper`
/// finds a worker that may take them.
fn answer_alarm<'p>(
    seat: &Seat,
    share: &dyn Fn(bool) -> u32,
    find_sleeper: &dyn Fn() -> Option<(&'p SleepCell, SleepState)>,
) {
    let pool = seat.pool();
    let is_brief = pool.raids && seat.has_brief_calls() && !seat.stack.is_demanded();
    if is_brief && pool.sleep.event().searchers_suffice() {
        // The alarm stays up: the next fork looks again. If the job is still there when the
        // searching worker stops, that worker raids this one or wakes another worker.
        seat.handle_fence_requests();
        return;
    }
    let work_wanted = seat.stack.answer();
    seat.handle_fence_requests();
    let mut sleeper = find_sleeper();
    let mut published = 0;
    if work_wanted || sleeper.is_some() {
        published = share(false);
    }
    if sleeper.is_some() {
        // The jobs are published before this worker looks at the counters.
        fence(Ordering::SeqCst);
    }
    while let Some((cell, state)) = sleeper {
        // A searcher will find what is public now, or looks once more when it stops. It may not
        // take what a waiter may take, so a waiter is woken in any case.
        if state.is_idle() && pool.sleep.counts().searching() > 0 {
            break;
        }
        if !state.is_idle() {
            cell.set_waker(seat.index);
        }
        if pool.sleep.wake(cell, state) {
            if published == 0 {
                // What is public was published for other workers.
                published = share(true);
            }
            break;
        }
        // Another worker has woken it, or a caller has borrowed its seat and takes nothing.
        sleeper = find_sleeper();
    }
    if published > 0 {
        seat.tally.shares.add(published.into());
        seat.log.shared(published);
    }
    // As long as a worker sleeps that could take a job, each fork offers one. Not all of them take
    // a spawned job, but its push has switched the alarm off for all.
    if pool.find_sleeper(seat).is_some() {
        seat.stack.alarm();
    }
}

impl Shared {
    /// Finds a sleeping worker that may take what the worker of `seat` forks now. That is an idle
    /// worker if there is one, otherwise the nearest whose wait needs the fork.
    pub(crate) fn find_sleeper(&self, seat: &Seat) -> Option<(&SleepCell, SleepState)> {
        self.find_sleeper_for(seat.runs.top().lineage(), seat)
    }

    /// Does the same as [`find_sleeper`](Shared::find_sleeper), for work of this lineage. The
    /// worker of `seat` keeps the work from being done.
    fn find_sleeper_for(&self, lineage: Lineage, seat: &Seat) -> Option<(&SleepCell, SleepState)> {
        let idle = self.find_idle(seat);
        if idle.is_some() {
            return idle;
        }
        if self.sleep.counts().waiting() == 0 {
            return None;
        }
        let asleep = |&(waiter, node): &(&Seat, usize)| waiter.sleep.state() == SleepState::WaitingFor(node);
        let most = if defect(Defect::WakesDirectWaitsOnly) { 1 } else { usize::MAX };
        let (waiter, node) = self.waits_above(lineage).take(most).find(asleep)?;
        Some((&self.seat(waiter.index).sleep, SleepState::WaitingFor(node)))
    }

    /// Finds an idle worker that sleeps, other than that of `seat`.
    fn find_idle(&self, seat: &Seat) -> Option<(&SleepCell, SleepState)> {
        let idle = self.others(seat).find(|other| other.sleep.state().is_idle());
        idle.map(|idle| (&*idle.sleep, SleepState::Idle))
    }

    /// Returns the workers of this pool that wait for this, or for what contains it. Each comes
    /// with the node that it waits for, nearest first. For a thread that keeps the work from being
    /// done.
    pub(crate) fn waits_above(&self, lineage: Lineage) -> impl Iterator<Item = (&Seat, usize)> {
        lineage.waits().filter(|(seat, _)| std::ptr::eq(seat.pool(), self))
    }

    /// Wakes the nearest of these waiters that sleeps. Called after the event for what they need.
    pub(crate) fn wake_nearest<'a>(&self, mut waits: impl Iterator<Item = (&'a Seat, usize)>) {
        if self.sleep.counts().waiting() > 0 && !defect(Defect::PutBackWakesNoWaiter) {
            waits.any(|(waiter, node)| self.sleep.wake(&waiter.sleep, SleepState::WaitingFor(node)));
        }
    }

    /// Wakes one idle worker. Returns whether there was one.
    pub(crate) fn wake_idle(&self) -> bool {
        self.seats().any(|seat| self.wake_if_idle(seat))
    }

    fn wake_if_idle(&self, seat: &Seat) -> bool {
        seat.sleep.state().is_idle() && self.sleep.wake(&seat.sleep, SleepState::Idle)
    }

    /// Wakes every sleeping worker whose wait may need a job of `seat`. With `None`, it may need
    /// any work.
    ///
    /// Not every match is exact: a waiter that is woken in vain looks once and sleeps again.
    fn wake_waiters(&self, seat: Option<&Seat>) {
        let is_asked = |other: &&Seat| seat.is_none_or(|seat| seat.index == other.index);
        let with_jobs: Vec<_> = self.seats().filter(is_asked).filter(|other| other.has_jobs()).collect();
        for waiter in self.seats() {
            let state = waiter.sleep.state();
            let SleepState::WaitingFor(node) = state else { continue };
            let has_needed = |other: &&Seat| {
                other.index != waiter.index
                    && (other.runs.have_job_under_node(node, other.stack.depths())
                        || other.task_deques().any(|tasks| tasks.has_under_node(node)))
            };
            let is_needed = |lineage: Lineage| lineage.descends_from_node(node);
            let queues = || self.injector.has_needed(is_needed);
            if with_jobs.iter().any(has_needed) || seat.is_none() && queues() {
                self.sleep.wake(&waiter.sleep, state);
            }
        }
    }

    /// Wakes another worker for the jobs on the stack of `seat`, unless a worker searches. The
    /// worker of `seat` goes to sleep and cannot take them itself. A searching worker will find
    /// them.
    pub(crate) fn wake_for_own_jobs(&self, seat: &Seat) {
        if self.could_take_from(seat)
            && self.sleep.counts().only_sleepers_are_free()
            && !self.others(seat).any(|other| self.wake_if_idle(other))
        {
            self.wake_waiters(Some(seat));
        }
    }

    /// Announces something that was queued for all workers. Wakes an idle worker, unless a worker
    /// searches. Returns whether a worker searches now.
    pub(crate) fn event(&self) -> bool {
        let counts = self.sleep.event();
        counts.searching() > 0 || counts.sleeping() > 0 && self.wake_idle()
    }

    /// Wakes a worker for work that no searching worker will find.
    ///
    /// Called by the last searcher when it has stopped, and by a waiter that was woken and has
    /// found something: the producer of other work may have relied on either. If there is an idle
    /// worker, it is woken. It searches, and does the same when it stops. Otherwise this wakes the
    /// waiters that may take some of what is left.
    pub(crate) fn wake_for_unclaimed_work(&self) {
        // SeqCst: what a worker did before it saw a searcher is seen by that searcher when it has
        // stopped.
        fence(Ordering::SeqCst);
        if (!self.injector.is_empty() || self.seats().any(Seat::has_jobs)) && self.wake_idle() {
            return;
        }
        if self.sleep.counts().waiting() > 0 && !defect(Defect::WakesNoWaiters) {
            self.wake_waiters(None);
        }
    }

    /// Returns whether a thief would get something here, by a raid if need be.
    ///
    /// This is one look: between two looks, private jobs could become public, and public jobs
    /// private.
    pub(crate) fn could_take_from(&self, seat: &Seat) -> bool {
        if self.raids {
            seat.has_jobs()
        } else {
            seat.has_public()
        }
    }

    /// Returns whether the worker of `seat` would find something without a raid. Its own public
    /// jobs do not count: it does not take them.
    pub(crate) fn has_work(&self, seat: &Seat) -> bool {
        seat.has_mail() || !self.injector.is_empty() || seat.has_queued() || self.others(seat).any(Seat::has_public)
    }
}
