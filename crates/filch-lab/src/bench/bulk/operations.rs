//! The cost of a push and a pop for the owner, without thieves.

use std::hint::black_box;
use std::ops::Range;
use std::time::Instant;

use anyhow::{ensure, Context, Result};

use super::contenders::Queue;
use crate::stats;

/// The number of batches pushed while the clock runs. A single push is too short.
const BATCHES: usize = 32;

/// How tasks are pushed into a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// All tasks in one batch.
    Batch,
    /// One by one.
    Singles,
    /// Small batches of four.
    BatchesOfFour,
    /// Batches of a hundred, which keep their memory in the queue.
    BatchesOfHundred,
}

impl Fill {
    /// The ways to fill a queue for an owner, or for one thief.
    pub(crate) const ALL: [Fill; 3] = [Fill::Batch, Fill::Singles, Fill::BatchesOfFour];

    /// The suffix of the name of a case with this fill.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Fill::Batch => "",
            Fill::Singles => "/singles",
            Fill::BatchesOfFour => "/batches-of-4",
            Fill::BatchesOfHundred => "/batches-of-100",
        }
    }

    /// A description of the fill.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Fill::Batch => "as one batch",
            Fill::Singles => "one by one",
            Fill::BatchesOfFour => "as batches of 4",
            Fill::BatchesOfHundred => "as batches of 100",
        }
    }

    /// Pushes the tasks, in order.
    pub(crate) fn fill<Q: Queue>(self, owner: &Q::Owner, tasks: Range<usize>) {
        let push_batches_of = |size| {
            for first in tasks.clone().step_by(size) {
                Q::push_batch(owner, Q::batch(first..tasks.end.min(first + size)));
            }
        };
        match self {
            Fill::Batch => Q::push_batch(owner, Q::batch(tasks)),
            Fill::Singles => tasks.for_each(|task| Q::push(owner, task)),
            Fill::BatchesOfFour => push_batches_of(4),
            Fill::BatchesOfHundred => push_batches_of(100),
        }
    }
}

/// Nanoseconds per push of a batch that was built before.
pub(crate) fn push_batch<Q: Queue>(size: usize, repeats: usize) -> Result<f64> {
    let (owner, _thief) = Q::new();
    let mut nanos = Vec::with_capacity(repeats);
    // The first repeat warms up the caches and lets the queue grow.
    for repeat in 0..=repeats {
        let batches: Vec<Q::Batch> = (0..BATCHES).map(|index| Q::batch(index * size..(index + 1) * size)).collect();
        let start = Instant::now();
        for batch in batches {
            Q::push_batch(black_box(&owner), batch);
        }
        let took = start.elapsed();
        if repeat > 0 {
            nanos.push(took.as_nanos() as f64);
        }
        drain::<Q>(&owner, BATCHES * size)?;
    }
    median(&nanos, BATCHES)
}

/// Nanoseconds per push of one task.
pub(crate) fn push_single<Q: Queue>(tasks: usize, repeats: usize) -> Result<f64> {
    let (owner, _thief) = Q::new();
    let mut nanos = Vec::with_capacity(repeats);
    for repeat in 0..=repeats {
        let start = Instant::now();
        (0..tasks).for_each(|task| Q::push(black_box(&owner), task));
        let took = start.elapsed();
        if repeat > 0 {
            nanos.push(took.as_nanos() as f64);
        }
        drain::<Q>(&owner, tasks)?;
    }
    median(&nanos, tasks)
}

/// Nanoseconds per pop that finds a task.
pub(crate) fn pop<Q: Queue>(fill: Fill, tasks: usize, repeats: usize) -> Result<f64> {
    let (owner, _thief) = Q::new();
    let mut nanos = Vec::with_capacity(repeats);
    for repeat in 0..=repeats {
        fill.fill::<Q>(&owner, 0..tasks);
        let mut as_pushed = true;
        let start = Instant::now();
        for expected in (0..tasks).rev() {
            as_pushed &= Q::pop(black_box(&owner)) == Some(expected);
        }
        let took = start.elapsed();
        if repeat > 0 {
            nanos.push(took.as_nanos() as f64);
        }
        ensure!(as_pushed && Q::pop(&owner).is_none(), "the popped tasks are not the pushed tasks, youngest first");
    }
    median(&nanos, tasks)
}

/// The median of the repeats, divided by the number of operations in each.
///
/// A median keeps a repeat that the system interrupted from counting more than others.
fn median(nanos: &[f64], operations: usize) -> Result<f64> {
    let middle = stats::median(nanos).context("there were no repeats")?;
    Ok(middle / operations as f64)
}

/// Pops all tasks and checks that they are those that were pushed.
fn drain<Q: Queue>(owner: &Q::Owner, tasks: usize) -> Result<()> {
    for expected in (0..tasks).rev() {
        let task = Q::pop(owner);
        ensure!(task == Some(expected), "expected to pop task {expected}, got {task:?}");
    }
    ensure!(Q::pop(owner).is_none(), "more tasks were popped than were pushed");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::contenders::tests::{Faulty, DOUBLES, LOSES, SWAPS};
    use super::super::contenders::{Bulk, ChaseLev, Crossbeam, MutexDeque};
    use super::super::published::Published;
    use super::*;

    fn keeps_every_task<Q: Queue>() {
        for fill in Fill::ALL.into_iter().chain([Fill::BatchesOfHundred]) {
            let (owner, _thief) = Q::new();
            for tasks in [10, 250] {
                fill.fill::<Q>(&owner, 0..tasks);
                drain::<Q>(&owner, tasks).unwrap();
            }
            pop::<Q>(fill, 10, 2).unwrap();
        }
        push_batch::<Q>(3, 2).unwrap();
        push_single::<Q>(10, 2).unwrap();
    }

    #[test]
    fn every_way_to_fill_a_queue_keeps_all_tasks() {
        keeps_every_task::<Bulk>();
        keeps_every_task::<ChaseLev>();
        keeps_every_task::<Crossbeam>();
        keeps_every_task::<MutexDeque>();
        keeps_every_task::<Published<false>>();
    }

    fn is_rejected<const FAULT: u8>() {
        assert!(push_batch::<Faulty<FAULT>>(3, 2).is_err());
        assert!(push_single::<Faulty<FAULT>>(10, 2).is_err());
        for fill in Fill::ALL {
            assert!(pop::<Faulty<FAULT>>(fill, 10, 2).is_err());
        }
    }

    #[test]
    fn a_queue_that_loses_doubles_or_swaps_tasks_fails_every_case() {
        is_rejected::<LOSES>();
        is_rejected::<DOUBLES>();
        is_rejected::<SWAPS>();
    }

    #[test]
    fn one_interrupted_repeat_does_not_change_the_median() {
        assert_eq!(median(&[20.0, 900.0, 22.0], 10).unwrap(), 2.2);
        assert!(median(&[], 10).is_err());
    }

    #[test]
    fn a_task_too_many_or_too_few_is_noticed() {
        let (owner, _thief) = MutexDeque::new();
        Fill::Singles.fill::<MutexDeque>(&owner, 0..10);
        assert!(drain::<MutexDeque>(&owner, 9).is_err());
        Fill::Singles.fill::<MutexDeque>(&owner, 0..10);
        assert!(drain::<MutexDeque>(&owner, 11).is_err());
    }
}
