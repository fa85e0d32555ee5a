//! Going to sleep: the steps of the README, for idle and for waiting workers.

use std::time::Duration;

use super::SleepState;
use crate::defect::{defect, Defect};
use crate::pool::Shared;
use crate::seat::Seat;
use crate::spin;
use crate::split;
use crate::sync::{fence, spin_loop, Ordering};
use crate::wait::SHORT_WAIT;

/// A worker that goes to sleep: its wait, and where it would find work.
pub(crate) trait Sleeper {
    /// Looks for public work once more, and announces the worker's wait (steps 1, 2). Returns
    /// whether it is still worth going to sleep.
    fn prepare(&mut self) -> bool;

    /// Returns the state in which the worker sleeps: what it may be woken for.
    fn state(&self) -> SleepState;

    /// Returns the workers whose forks this worker may run.
    fn victims<'p>(&self, pool: &'p Shared) -> Vec<&'p Seat>;

    /// Returns whether `victim` has a public job that this worker may run.
    fn may_take_public(&self, victim: &Seat) -> bool;

    /// Returns whether `victim` has a job that this worker may run. It may have to raid `victim`.
    fn may_take(&self, victim: &Seat) -> bool;

    /// Returns whether the wait of the worker is over.
    fn is_done(&mut self) -> bool;

    /// Returns whether this worker may run something in a queue, or in the seat's mail.
    fn has_queued(&self) -> bool;
}

/// Puts the worker of `seat` to sleep, if there is still nothing to do. Returns whether it slept.
pub(crate) fn fall_asleep(seat: &Seat, pool: &Shared, sleeper: &mut impl Sleeper) -> bool {
    if !sleeper.prepare() || raids_first(seat, pool, sleeper) {
        return false;
    }
    // Steps 3 and 4.
    pool.sleep.mark_asleep(&seat.sleep, sleeper.state());
    let slept = sleep(seat, pool, sleeper);
    // Step 9.
    pool.sleep.mark_awake(&seat.sleep);
    slept
}

/// Raids a worker that has jobs and does not respond, instead of going to sleep. Returns whether
/// there is something to take now.
fn raids_first(seat: &Seat, pool: &Shared, sleeper: &impl Sleeper) -> bool {
    // Step 7 does the same, where loom examines it.
    if cfg!(loom) || !pool.raids {
        return false;
    }
    let victims = sleeper.victims(pool);
    if !have_jobs_for_a_while(&victims, sleeper) {
        return false;
    }
    raid_for(seat, pool, sleeper, &victims)
}

/// Raids one of these workers that has jobs which the sleeper may run. Returns whether there is
/// something to take now.
pub(crate) fn raid_for(seat: &Seat, pool: &Shared, sleeper: &impl Sleeper, victims: &[&Seat]) -> bool {
    seat.raid_one_of(pool, victims.iter().copied().filter(|victim| sleeper.may_take(victim)));
    victims.iter().any(|victim| sleeper.may_take_public(victim))
}

/// Steps 4 to 8.
fn sleep<S: Sleeper>(seat: &Seat, pool: &Shared, sleeper: &mut S) -> bool {
    if sleeper.state().is_idle() {
        pool.wake_for_own_jobs(seat);
    }
    let victims = sleeper.victims(pool);
    let sees_work = |sleeper: &mut S| {
        sleeper.is_done() || sleeper.has_queued() || victims.iter().any(|victim| sleeper.may_take_public(victim))
    };
    victims.iter().for_each(|victim| victim.stack.demand());
    if !defect(Defect::SleepWithoutLook) && sees_work(sleeper) {
        return false;
    }
    // A fork that did not see the demand is before the barrier: then it is seen now.
    let Some(certain) = pass_barrier(seat, &victims, sleeper) else { return true };
    if have_jobs_for_a_while(&victims, sleeper) {
        raid_for(seat, pool, sleeper, &victims);
    }
    // A raid that was called off, or had more than one victim to choose from, leaves private jobs.
    let left = victims.iter().any(|victim| sleeper.may_take(victim));
    let sleeps = defect(Defect::SleepWithoutLook) || !(sees_work(sleeper) || left && certain);
    if sleeps {
        // SAFETY: this is the worker of the seat.
        let keeps_memory = sleeper.state().is_idle() && certain && unsafe { seat.has_spare_memory() };
        if keeps_memory {
            if park(seat, Some(KEEP), Offer::Plain) {
                return true;
            }
            // SAFETY: as above; the seat is this thread's own again.
            unsafe { seat.trim(true) };
        }
        nap(seat, certain);
    }
    sleeps
}

/// How long a sleeping worker keeps the memory of its former tasks. Its next tasks are faster with
/// it.
const KEEP: Duration = Duration::from_secs(1);

/// How long a worker dozes before it makes the kernel interrupt other workers.
const GRACE: Duration = Duration::from_millis(2);

/// How long a worker sleeps while a fork may be missed. That is so if the kernel has refused a
/// barrier and not every owner fences yet.
const UNCERTAIN: Duration = Duration::from_millis(1);

/// Makes sure that later forks of `others` see the demand of this worker (step 6). Also makes sure
/// that their earlier forks can be seen. Returns `None` if the worker was notified meanwhile,
/// otherwise whether it is certain.
///
/// A worker that sleeps passes a fence when it wakes, a worker that runs nothing when it begins to
/// run something, and a fenced owner at each fork. For the others, a fork and the demand can miss
/// each other only while a store is on its way. So, unless there is something to take at once, this
/// worker dozes first. In most cases it is notified, or the others go to sleep, before the time is
/// over, and no worker is interrupted.
///
/// If the kernel refuses the barrier, the others are asked to fence their forks from now on.
fn pass_barrier(seat: &Seat, others: &[&Seat], sleeper: &impl Sleeper) -> Option<bool> {
    let all_see_demand = || {
        // The demand is written before this worker looks at the others.
        if !defect(Defect::NoBarrier) {
            fence(Ordering::SeqCst);
        }
        !others.iter().any(|other| other.may_fork_unseen())
    };
    if all_see_demand() {
        return Some(true);
    }
    // A checker has no time: for it the doze is over at once. That matters only where the seat is
    // offered meanwhile.
    let dozes = !cfg!(any(loom, shuttle)) || seat.sleep.state() == SleepState::Resting;
    if dozes && !have_jobs_for_a_while(others, sleeper) {
        if park(seat, Some(GRACE), Offer::Promised) {
            return None;
        }
        if all_see_demand() {
            return Some(true);
        }
    }
    let passed = split::heavy_barrier();
    if !passed {
        others.iter().filter(|other| other.may_fork_unseen()).for_each(|other| other.request_fences());
    }
    Some(passed)
}

/// Returns whether these stacks have jobs for this worker, for more than a moment. Otherwise a raid
/// is not worth it: it interrupts their owners.
fn have_jobs_for_a_while(seats: &[&Seat], sleeper: &impl Sleeper) -> bool {
    let have_jobs = || seats.iter().any(|seat| sleeper.may_take(seat));
    let mut pauses = spin::pauses_in(SHORT_WAIT);
    // After a pause, loom shows a thread no old values any more.
    if cfg!(loom) {
        pauses = 0;
    }
    have_jobs()
        && (0..pauses).all(|_| {
            spin_loop();
            have_jobs()
        })
}

/// Sleeps until notified, or only briefly if a fork may be missed (step 8).
pub(crate) fn nap(seat: &Seat, certain: bool) {
    if certain {
        park(seat, None, Offer::Plain);
    } else {
        park(seat, Some(UNCERTAIN), Offer::None);
    }
}

/// Whether callers may borrow the seat of a parked worker that runs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offer {
    None,
    Plain,
    /// Callers may, and the worker makes a barrier when the time is over.
    Promised,
}

/// Parks the worker until it is notified, or for at most `time`. Returns whether it was notified.
fn park(seat: &Seat, time: Option<Duration>, offer: Offer) -> bool {
    seat.tally.sleeps.add(1);
    seat.log.fall_asleep();
    let notified = if offer != Offer::None && seat.sleep.state() == SleepState::Resting {
        let notified = seat.pool().sleep.park_resting(&seat.sleep, time, offer == Offer::Promised);
        // SAFETY: the seat is this thread's own again.
        unsafe { seat.forget_calls() };
        notified
    } else {
        seat.sleep.park(time)
    };
    seat.log.wake_up();
    seat.tally.wakes.add(1);
    notified
}
