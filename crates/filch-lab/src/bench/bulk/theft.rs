//! The thief's cost of stealing a share of a queue.
//!
//! The owner filled the queue on another core.
//!
//! The two threads take turns: the owner fills the queue, the thief steals once and times it, the
//! owner empties the queue and accounts for every task. While the thief steals, the owner waits, or
//! continues to pop and push.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use anyhow::{anyhow, ensure, Result};

use super::contenders::{share, StealShare};
use super::operations::Fill;
use crate::bench::pin::Cores;
use crate::stats;
use crate::sync::lock;

/// The number of tasks in the queue before a theft, as in the paper.
pub(crate) const TASKS: usize = 10_000;

/// The parameters of a theft.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theft {
    /// The share to steal, in hundredths.
    pub(crate) percent: usize,
    /// How the tasks were pushed.
    pub(crate) fill: Fill,
    /// Whether the owner pops and pushes meanwhile.
    pub(crate) busy: bool,
}

/// The result of a sample of thefts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// The median time of a theft.
    pub(crate) nanos: f64,
    /// The median number of tasks that were stolen.
    pub(crate) tasks: f64,
}

/// The state that the two threads share.
#[derive(Default)]
struct Turns {
    /// The number of the turn: the owner's if even, the thief's if odd.
    turn: AtomicUsize,
    /// The tasks of the last theft.
    stolen: Mutex<Vec<usize>>,
}

/// The turn that tells both threads to stop.
const END: usize = usize::MAX;

impl Turns {
    /// Waits for a turn. Returns false if the other thread ended instead.
    fn wait(&self, turn: usize) -> bool {
        let mut spins = 0;
        loop {
            // Acquire: this thread sees what the other did in its turn.
            match self.turn.load(Ordering::Acquire) {
                END => return false,
                now if now == turn => return true,
                _ if spins < 1_000 => spin_loop(),
                _ => thread::yield_now(),
            }
            spins += 1;
        }
    }

    fn set_turn(&self, turn: usize) {
        // Release: pairs with the acquire of the waiting thread.
        self.turn.store(turn, Ordering::Release);
    }
}

/// Ends the other thread's wait when dropped, however its own thread's part ended.
struct EndOnDrop<'a>(&'a Turns);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.set_turn(END);
    }
}

impl Theft {
    /// Steals several times, each time from a newly filled queue.
    ///
    /// The calling thread is the thief.
    pub(crate) fn sample<Q: StealShare>(self, thefts: usize, cores: Cores) -> Result<Sample> {
        ensure!(!self.busy || Q::ALLOWS_BUSY_OWNER, "the owner of {} has to wait while a thief steals", Q::NAME);
        let (owner, thief) = Q::new();
        let turns = Turns::default();
        let turns = &turns;
        let mut nanos = Vec::with_capacity(thefts);
        let mut tasks = Vec::with_capacity(thefts);
        thread::scope(|scope| {
            let owner_thread = scope.spawn(move || {
                cores.pin_owner();
                let _end = EndOnDrop(turns);
                self.run_owner::<Q>(&owner, thefts, turns)
            });
            {
                let _end = EndOnDrop(turns);
                for theft in 0..thefts {
                    if !turns.wait(2 * theft + 1) {
                        break;
                    }
                    let mut taken = Q::Stolen::default();
                    let start = Instant::now();
                    Q::steal(&thief, self.percent, &mut taken);
                    nanos.push(start.elapsed().as_nanos() as f64);
                    let stolen = Q::tasks(taken);
                    tasks.push(stolen.len() as f64);
                    *lock(&turns.stolen) = stolen;
                    turns.set_turn(2 * theft + 2);
                }
                turns.wait(2 * thefts + 1);
            }
            owner_thread.join().map_err(|_| anyhow!("the owner's thread panicked"))?
        })?;
        let median = |samples: &[f64]| stats::median(samples).unwrap_or(f64::NAN);
        Ok(Sample { nanos: median(&nanos), tasks: median(&tasks) })
    }

    /// The owner's part.
    fn run_owner<Q: StealShare>(self, owner: &Q::Owner, thefts: usize, turns: &Turns) -> Result<()> {
        for theft in 0..thefts {
            self.fill.fill::<Q>(owner, 0..TASKS);
            turns.set_turn(2 * theft + 1);
            if self.busy {
                // Acquire: as in `wait`.
                while turns.turn.load(Ordering::Acquire) == 2 * theft + 1 {
                    if let Some(task) = Q::pop(owner) {
                        Q::push(owner, task);
                    }
                }
            }
            ensure!(turns.wait(2 * theft + 2), "the thief stopped early");
            let left: Vec<usize> = std::iter::from_fn(|| Q::pop(owner)).collect();
            let stolen = std::mem::take(&mut *lock(&turns.stolen));
            check_tasks(self.percent, &stolen, &left)?;
        }
        turns.set_turn(2 * thefts + 1);
        Ok(())
    }
}

/// Checks that the oldest tasks were stolen and all others were left, each once.
///
/// At least one task is stolen, and no more than the share.
fn check_tasks(percent: usize, stolen: &[usize], left: &[usize]) -> Result<()> {
    let most = share(percent, TASKS);
    ensure!((1..=most).contains(&stolen.len()), "{} of {TASKS} tasks were stolen, not 1 to {most}", stolen.len());
    ensure!(stolen.iter().copied().eq(0..stolen.len()), "the stolen tasks were not the oldest, in order");
    ensure!(left.iter().copied().eq((stolen.len()..TASKS).rev()), "the tasks left were not all others, each once");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::contenders::tests::{Faulty, DOUBLES, LOSES, SWAPS};
    use super::super::contenders::{Bulk, Crossbeam, MutexDeque};
    use super::super::published::Published;
    use super::*;

    fn can_be_measured<Q: StealShare>() {
        for fill in Fill::ALL {
            for busy in [false, true] {
                if busy && !Q::ALLOWS_BUSY_OWNER {
                    let refusal = Theft { percent: 30, fill, busy }.sample::<Q>(3, Cores::choose()).unwrap_err();
                    assert!(refusal.to_string().contains("has to wait"), "{refusal}");
                    continue;
                }
                let sample = Theft { percent: 30, fill, busy }.sample::<Q>(3, Cores::choose()).unwrap();
                assert!(sample.nanos > 0.0 && (1.0..=3_000.0).contains(&sample.tasks), "{}: {sample:?}", Q::NAME);
            }
        }
    }

    #[test]
    fn shares_are_stolen_from_waiting_and_from_busy_owners() {
        can_be_measured::<Bulk>();
        can_be_measured::<Crossbeam>();
        can_be_measured::<MutexDeque>();
        can_be_measured::<Published<false>>();
        can_be_measured::<Published<true>>();
    }

    fn is_rejected<const FAULT: u8>() {
        for (fill, busy) in [(Fill::Batch, false), (Fill::Singles, true)] {
            let error = Theft { percent: 30, fill, busy }.sample::<Faulty<FAULT>>(3, Cores::choose()).unwrap_err();
            assert!(error.to_string().contains("tasks were"), "{error}");
        }
    }

    #[test]
    fn a_queue_that_loses_doubles_or_swaps_tasks_fails_the_case() {
        is_rejected::<LOSES>();
        is_rejected::<DOUBLES>();
        is_rejected::<SWAPS>();
    }

    #[test]
    fn a_task_that_is_lost_doubled_or_out_of_order_is_noticed() {
        let stolen: Vec<usize> = (0..100).collect();
        let left: Vec<usize> = (100..TASKS).rev().collect();
        assert!(check_tasks(1, &stolen, &left).is_ok());
        assert!(check_tasks(1, &stolen, &left[1..]).is_err());
        assert!(check_tasks(1, &stolen, &[&left[..], &[99]].concat()).is_err());
        assert!(check_tasks(1, &stolen[1..], &left).is_err());
        assert!(check_tasks(1, &[], &(0..TASKS).rev().collect::<Vec<_>>()).is_err());
        let too_many: Vec<usize> = (0..101).collect();
        assert!(check_tasks(1, &too_many, &left[..left.len() - 1]).is_err());
    }
}
