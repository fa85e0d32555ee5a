//! Owner and thief race for the last tasks of a short queue.

use std::fmt;
use std::hint;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::common::{claim, delta, for_every_exact_queue, for_every_relaxed_queue, Queue, Setup};
use crate::threads::{join, run_alone, tasks_per_queue, Dice, Done};
use crate::workload::{expect_empty, fill_store_buffer};
use crate::{pin_to_core, too_small_delta};
use filch_queue::bound::{Delta, FENCE_FREE};
use filch_queue::{Owner, Steal, Thief};

/// The outcome of a race.
struct Race {
    pushed: usize,
    popped: usize,
    stolen: usize,
    /// The sum of the pushed numbers minus the sum of the extracted numbers.
    ///
    /// It is not 0 if a task is missing or came out twice.
    difference: usize,
}

/// Runs rounds in which the owner pushes a few tasks and pops them all.
///
/// It pushes slightly more tasks than thieves must leave to it. The rounds end when enough tasks
/// were stolen, or when it is clear that the thief has no core. No thread counts each task, so that
/// a pop makes no stores but its own.
fn race<Q: Queue>(delta: Delta) -> Race {
    let rounds = tasks_per_queue().min(1_000_000);
    // A system call takes longer than the owner would otherwise wait before it pops.
    let (enough, max_spins) = if Q::SLOW_STEAL { (10_000, 500) } else { (100_000, 30) };
    let _alone = run_alone();
    let (owner, thief) = Q::make::<usize>(Setup { delta, ..Setup::small() }).unwrap();
    let (done, stolen) = (AtomicBool::new(false), AtomicUsize::new(0));
    let race = thread::scope(|scope| {
        let thief_thread = scope.spawn(|| {
            pin_to_core(1);
            let mut sum = 0_usize;
            while !done.load(Ordering::Acquire) {
                if let Steal::Success(task) = thief.steal() {
                    sum = sum.wrapping_add(task);
                    // Relaxed: only this thread writes it, and the owner needs only a rough number.
                    stolen.store(stolen.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                }
            }
            sum
        });
        let (done, stolen) = (&done, &stolen);
        let winner = scope.spawn(move || {
            pin_to_core(0);
            let _done = Done(done);
            let mut dice = Dice::new(1);
            let (mut pushed, mut popped, mut difference) = (0_usize, 0_usize, 0_usize);
            for _ in 0..rounds {
                // As many as a thief must leave to the owner, and a few more; or fewer, which it
                // must leave alone.
                let most = Q::DOUBT.reach(delta) + dice.roll(1..5);
                let tasks = if dice.roll(0..2) == 0 { most } else { dice.roll(1..most + 1) };
                for _ in 0..tasks {
                    owner.push(pushed);
                    difference = difference.wrapping_add(pushed);
                    pushed += 1;
                }
                (0..dice.roll(0..max_spins)).for_each(|_| hint::spin_loop());
                if dice.roll(0..2) == 0 {
                    fill_store_buffer(4, &mut dice);
                }
                while let Some(task) = owner.pop() {
                    difference = difference.wrapping_sub(task);
                    popped += 1;
                }
                expect_empty(&owner);
                if stolen.load(Ordering::Relaxed) >= enough {
                    break;
                }
            }
            Race { pushed, popped, stolen: 0, difference }
        });
        let race = join(winner);
        let difference = race.difference.wrapping_sub(join(thief_thread));
        Race { stolen: stolen.load(Ordering::Relaxed), difference, ..race }
    });
    eprintln!("{}, delta {}: {race}", Q::NAME, delta.get());
    race
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Race { pushed, popped, stolen, .. } = self;
        let redundant = 100.0 * (popped + stolen).saturating_sub(*pushed) as f64 / *pushed as f64;
        write!(f, "{pushed} pushed, {popped} popped, {stolen} stolen, {redundant:.4} % redundant")
    }
}

fn returns_each_task_once<Q: Queue>() {
    let race = race::<Q>(delta(1));
    assert_eq!((race.popped + race.stolen, race.difference), (race.pushed, 0), "each task must come out once");
}

for_every_exact_queue!(a_thief_never_returns_a_task_that_the_owner_popped, returns_each_task_once);

fn stays_empty<Q: Queue>() {
    let race = race::<Q>(delta(1));
    assert!(race.popped + race.stolen >= race.pushed, "fewer tasks came out than went in");
}

for_every_relaxed_queue!(a_queue_stays_empty_until_the_next_push, stays_empty);

/// Shows that a delta that is too small has an effect.
///
/// If tasks never came out twice here, the two claims above would prove nothing about the
/// fence-free queues.
fn may_double_a_task_if_delta_is_too_small<Q: Queue>() {
    let race = race::<Q>(too_small_delta());
    assert!(race.popped + race.stolen >= race.pushed, "fewer tasks came out than went in");
    if FENCE_FREE && race.popped + race.stolen == race.pushed {
        eprintln!("{}: no task came out twice, although delta is too small; is there only one core?", Q::NAME);
    }
}

claim!(a_delta_that_is_too_small_doubles_tasks_and_loses_none, may_double_a_task_if_delta_is_too_small, ff_cl FfCl,
    ff_the FfThe, thep Thep);
