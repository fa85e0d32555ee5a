//! Several thieves that empty queues at the same time.
//!
//! A sample has many queues, filled in advance. The thieves start together and go from queue to
//! queue. Each steals an eighth of the queue's tasks and goes through them, until few are left.
//! They need no signal between two queues, and so meet at most queues. The owner is idle, or goes
//! along and pops and pushes at the queue that the thieves are at.

mod contenders;

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use anyhow::{anyhow, ensure, Result};
use crossbeam_utils::CachePadded;

pub(crate) use contenders::{BulkTryLock, ManyThieves, BULK_TRY_LOCK, FEW, ONE_IN};

use super::operations::Fill;
use super::theft::TASKS;
use crate::bench::at_once::{on_threads, Span};
use crate::figures::grouped;
use contenders::Attempt;

/// A thief gives its core away after so many attempts in vain: the lock's holder may need it.
const PATIENCE: u32 = 64;

/// The parameters of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Emptying {
    /// The number of thieves.
    pub(crate) thieves: usize,
    /// How the tasks were pushed.
    pub(crate) fill: Fill,
    /// Whether the owner pops and pushes meanwhile.
    pub(crate) busy: bool,
}

/// The result of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// The time from the start of the first thief to the end of the last, per task.
    pub(crate) nanos: f64,
    /// The attempts for each success.
    pub(crate) attempts: f64,
    /// The attempts that returned without tasks, although there were enough and no other thief was
    /// faster.
    pub(crate) refused: f64,
}

/// The counts of a thief.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    steals: usize,
    lost: usize,
    refused: usize,
}

impl Emptying {
    /// The number of threads that run at the same time.
    pub(crate) fn threads(self) -> usize {
        self.thieves + usize::from(self.busy)
    }

    /// Empties so many queues once.
    pub(crate) fn sample<Q: ManyThieves>(self, queues: usize) -> Result<Sample> {
        let fill = |queue| {
            let (owner, thief) = Q::new();
            self.fill.fill::<Q>(&owner, queue * TASKS..(queue + 1) * TASKS);
            (owner, CachePadded::new(thief))
        };
        let (owners, thieves): (Vec<Q::Owner>, Vec<_>) = (0..queues).map(fill).unzip();
        let marks: Vec<AtomicU8> = (0..queues * TASKS).map(|_| AtomicU8::new(0)).collect();
        let barrier = Barrier::new(self.threads());
        let (thieves, marks, barrier) = (&thieves[..], &marks[..], &barrier);

        let (done, owners) = thread::scope(|scope| {
            let owner = scope.spawn(move || {
                if self.busy {
                    barrier.wait();
                    owners.iter().zip(thieves).for_each(|(owner, thief)| pop_and_push::<Q>(owner, thief));
                }
                owners
            });
            let done = on_threads("a thief", 0..self.thieves, |_| {
                barrier.wait();
                let start = Instant::now();
                let tally = steal_from_all::<Q>(thieves, marks);
                (Span { start, end: Instant::now() }, tally)
            });
            (done, owner.join().map_err(|_| anyhow!("the owner's thread panicked")))
        });
        let (spans, tallies): (Vec<Span>, Vec<Tally>) = done?.into_iter().unzip();
        for owner in &owners? {
            std::iter::from_fn(|| Q::pop(owner)).for_each(|task| mark(marks, task));
        }
        check_marks(marks)?;

        let sum = |count: fn(&Tally) -> usize| tallies.iter().map(count).sum::<usize>() as f64;
        let (steals, refused) = (sum(|tally| tally.steals), sum(|tally| tally.refused));
        let attempts = steals + refused + sum(|tally| tally.lost);
        let nanos = Span::of_all(&spans)?.elapsed().as_nanos() as f64;
        Ok(Sample { nanos: nanos / marks.len() as f64, attempts: attempts / steals, refused })
    }
}

/// The part of a busy owner at a queue.
fn pop_and_push<Q: ManyThieves>(owner: &Q::Owner, thief: &Q::Thief) {
    // One more than `FEW`: a thief that leaves may have missed the task in the owner's hands.
    while Q::len(thief) > FEW {
        for _ in 0..8 {
            if let Some(task) = Q::pop(owner) {
                Q::push(owner, task);
            }
        }
    }
}

/// The part of a thief.
fn steal_from_all<Q: ManyThieves>(thieves: &[CachePadded<Q::Thief>], marks: &[AtomicU8]) -> Tally {
    let mut tally = Tally::default();
    let mut taken = Q::Taken::default();
    for thief in thieves {
        let mut in_vain = 0;
        loop {
            match Q::attempt(thief, &mut taken) {
                Attempt::Stolen => {
                    Q::each(&mut taken, |task| mark(marks, task));
                    tally.steals += 1;
                    in_vain = 0;
                    continue;
                }
                Attempt::Lost => tally.lost += 1,
                Attempt::Refused => tally.refused += 1,
                Attempt::Few => break,
            }
            in_vain += 1;
            if in_vain < PATIENCE {
                spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }
    tally
}

/// Does the work of a task: counts that it came out.
#[inline(always)]
fn mark(marks: &[AtomicU8], task: usize) {
    // Relaxed: the counts are read after the threads have ended.
    marks[task].fetch_add(1, Ordering::Relaxed);
}

/// Checks that every task came out exactly once.
fn check_marks(marks: &[AtomicU8]) -> Result<()> {
    let count = |is_wrong: fn(u8) -> bool| marks.iter().filter(|mark| is_wrong(mark.load(Ordering::Relaxed))).count();
    let (lost, doubled) = (count(|times| times == 0), count(|times| times > 1));
    let all = grouped(marks.len());
    ensure!(lost + doubled == 0, "of {all} tasks, {lost} were lost and {doubled} were returned more than once");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use filch_queue::bulk::{Batch, Owner, Thief};

    use super::super::contenders::{Bulk, Crossbeam, MutexDeque, Queue};
    use super::*;

    const FILLS: [Fill; 2] = [Fill::Batch, Fill::BatchesOfHundred];

    fn can_be_measured<Q: ManyThieves>() {
        for (thieves, busy) in [(2, false), (2, true), (4, false), (4, true)] {
            for fill in FILLS {
                let sample = Emptying { thieves, fill, busy }.sample::<Q>(5).unwrap();
                assert!(sample.nanos > 0.0 && sample.attempts >= 1.0, "{}: {sample:?}", Q::NAME);
            }
        }
    }

    #[test]
    fn several_thieves_empty_queues_of_idle_and_of_busy_owners() {
        can_be_measured::<Bulk>();
        can_be_measured::<BulkTryLock>();
        can_be_measured::<Crossbeam>();
        can_be_measured::<MutexDeque>();
    }

    #[test]
    fn bulk_never_refuses_a_thief() {
        for busy in [false, true] {
            let sample = Emptying { thieves: 4, fill: Fill::BatchesOfHundred, busy }.sample::<Bulk>(50).unwrap();
            assert_eq!(sample.refused, 0.0, "{sample:?}");
        }
    }

    /// Fault: a thief loses a task.
    const LOSES: u8 = 0;
    /// Fault: a thief returns a task twice.
    const DOUBLES: u8 = 1;
    /// Fault: every steal is refused once.
    const REFUSES: u8 = 2;

    /// A bulk queue with a fault in its thief.
    enum Faulty<const FAULT: u8> {}

    impl<const FAULT: u8> Queue for Faulty<FAULT> {
        const NAME: &'static str = "faulty";
        type Owner = Owner<usize>;
        type Thief = Thief<usize>;
        type Batch = Batch<usize>;

        fn new() -> (Owner<usize>, Thief<usize>) {
            Bulk::new()
        }

        fn batch(tasks: Range<usize>) -> Batch<usize> {
            Bulk::batch(tasks)
        }

        fn push_batch(owner: &Owner<usize>, batch: Batch<usize>) {
            Bulk::push_batch(owner, batch);
        }

        fn push(owner: &Owner<usize>, task: usize) {
            Bulk::push(owner, task);
        }

        fn pop(owner: &Owner<usize>) -> Option<usize> {
            Bulk::pop(owner)
        }
    }

    impl<const FAULT: u8> ManyThieves for Faulty<FAULT> {
        /// Whether the thief was refused, and what it has stolen.
        type Taken = (bool, Batch<usize>);

        fn attempt(thief: &Thief<usize>, (was_refused, taken): &mut Self::Taken) -> Attempt {
            if FAULT == REFUSES && thief.len() >= FEW {
                *was_refused = !*was_refused;
                if *was_refused {
                    return Attempt::Refused;
                }
            }
            Bulk::attempt(thief, taken)
        }

        fn each((_, taken): &mut Self::Taken, mut visit: impl FnMut(usize)) {
            Bulk::each(taken, |task| match FAULT {
                LOSES if task == 777 => {}
                DOUBLES if task == 777 => [task; 2].into_iter().for_each(&mut visit),
                _ => visit(task),
            });
        }

        fn len(thief: &Thief<usize>) -> usize {
            thief.len()
        }
    }

    #[test]
    fn a_thief_that_loses_or_doubles_a_task_fails_the_case() {
        for (fill, busy) in FILLS.into_iter().zip([false, true]) {
            let emptying = Emptying { thieves: 3, fill, busy };
            let error = emptying.sample::<Faulty<LOSES>>(2).unwrap_err().to_string();
            assert_eq!(error, "of 20,000 tasks, 1 were lost and 0 were returned more than once");
            let error = emptying.sample::<Faulty<DOUBLES>>(2).unwrap_err().to_string();
            assert_eq!(error, "of 20,000 tasks, 0 were lost and 1 were returned more than once");
        }
    }

    #[test]
    fn a_refused_attempt_is_counted() {
        let alone = Emptying { thieves: 1, fill: Fill::Batch, busy: false };
        let sample = alone.sample::<Faulty<REFUSES>>(2).unwrap();
        assert!(sample.attempts == 2.0 && sample.refused > 2.0, "{sample:?}");
        let sample = alone.sample::<Bulk>(2).unwrap();
        assert_eq!((sample.attempts, sample.refused), (1.0, 0.0));
    }
}
