//! The bulk queue against a sequential model, on a single thread.
//!
//! There are two queues and their thieves, and batches move between the queues.
#![cfg(not(loom))]

mod common;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRunner};

use common::{Padded, Sample, Uneven};
use filch_queue::bulk::{self, Batch, Owner, Thief};

/// A way to make a batch.
#[derive(Clone, Copy, Debug)]
enum Make {
    Collected,
    /// Pushed task by task, so that it grows.
    Pushed,
    FromVec,
    /// Two batches, appended.
    Joined,
    /// With spare room, and with some tasks popped and pushed again.
    Popped,
}

#[derive(Clone, Debug)]
enum Step {
    Push(usize),
    PushBatch(usize, Make),
    PushBatches(usize, usize),
    Pop(usize),
    Steal(f64),
    StealOne(usize),
    /// Steals a share and pushes it into the other queue.
    Move(f64),
    /// The two queues swap roles.
    Turn,
}

fn count() -> impl Strategy<Value = usize> {
    prop_oneof![20 => 0_usize..=5, 8 => 5_usize..=70, 2 => 1000_usize..=3000]
}

fn fraction() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), Just(0.5), Just(f64::MIN_POSITIVE), 0.0..=1.0]
}

fn step() -> impl Strategy<Value = Step> {
    let make = prop_oneof![
        Just(Make::Collected),
        Just(Make::Pushed),
        Just(Make::FromVec),
        Just(Make::Joined),
        Just(Make::Popped)
    ];
    prop_oneof![
        6 => count().prop_map(Step::Push),
        4 => (count(), make).prop_map(|(count, make)| Step::PushBatch(count, make)),
        1 => (1_usize..40, 1_usize..60).prop_map(|(count, each)| Step::PushBatches(count, each)),
        6 => count().prop_map(Step::Pop),
        3 => fraction().prop_map(Step::Steal),
        2 => count().prop_map(Step::StealOne),
        4 => fraction().prop_map(Step::Move),
        2 => Just(Step::Turn),
    ]
}

fn share(fraction: f64, length: usize) -> usize {
    if fraction == 0.0 || length == 0 {
        0
    } else {
        ((fraction * length as f64).ceil() as usize).max(1)
    }
}

struct Side<T> {
    owner: Owner<T>,
    thief: Thief<T>,
    /// The numbers of the tasks, oldest first.
    model: VecDeque<usize>,
}

impl<T: Send> Side<T> {
    fn new((stolen, popped): (u32, u32)) -> Self {
        let (owner, thief) = bulk::starting_at(stolen, popped).unwrap();
        Side { owner, thief, model: VecDeque::new() }
    }
}

fn batch<T>(make: Make, from: usize, count: usize, task: &dyn Fn(usize) -> T) -> Batch<T> {
    let ids = from..from + count;
    match make {
        Make::Collected => ids.map(task).collect(),
        Make::Pushed => {
            let mut batch = Batch::new();
            ids.for_each(|id| batch.push(task(id)));
            batch
        }
        Make::FromVec => Batch::from(ids.map(task).collect::<Vec<_>>()),
        Make::Joined => {
            let middle = from + count / 3;
            let mut batch: Batch<T> = (from..middle).map(task).collect();
            batch.append((middle..ids.end).map(task).collect());
            batch.append(Batch::new());
            batch
        }
        Make::Popped => {
            let mut batch = Batch::with_capacity(count + 3);
            batch.extend(ids.map(task));
            (0..count / 2).for_each(|_| drop(batch.pop()));
            batch.extend((from + count - count / 2..from + count).map(task));
            batch
        }
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(
    found: Batch<T>,
    expected: impl Iterator<Item = usize>,
    task: &dyn Fn(usize) -> T,
) -> TestCaseResult {
    let expected: Vec<T> = expected.map(task).collect();
    prop_assert_eq!(found.len(), expected.len());
    prop_assert_eq!(found.is_empty(), expected.is_empty());
    prop_assert!(found.iter().eq(&expected));
    prop_assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    Ok(())
}

fn follow<T>(steps: &[Step], start: (u32, u32), task: &dyn Fn(usize) -> T) -> TestCaseResult
where
    T: PartialEq + std::fmt::Debug + Send,
{
    let (mut here, mut there) = (Side::new(start), Side::new((start.1, start.0)));
    let mut made = 0;
    for step in steps {
        match *step {
            Step::Push(count) => {
                for _ in 0..count {
                    here.owner.push(task(made));
                    here.model.push_back(made);
                    made += 1;
                }
            }
            Step::PushBatch(count, make) => {
                here.owner.push_batch(batch(make, made, count, task));
                here.model.extend(made..made + count);
                made += count;
            }
            Step::PushBatches(count, each) => {
                for _ in 0..count {
                    here.owner.push_batch(batch(Make::Collected, made, each, task));
                    here.model.extend(made..made + each);
                    made += each;
                }
            }
            Step::Pop(count) => {
                for _ in 0..count {
                    prop_assert_eq!(here.owner.pop(), here.model.pop_back().map(task));
                }
            }
            Step::Steal(fraction) => {
                let count = share(fraction, here.model.len());
                expect(here.thief.steal(fraction).unwrap(), here.model.drain(..count), task)?;
            }
            Step::StealOne(count) => {
                for _ in 0..count {
                    prop_assert_eq!(here.thief.steal_one(), here.model.pop_front().map(task));
                }
            }
            Step::Move(fraction) => {
                let count = share(fraction, here.model.len());
                let stolen = here.thief.steal(fraction).unwrap();
                prop_assert_eq!(stolen.len(), count);
                there.owner.push_batch(stolen);
                there.model.extend(here.model.drain(..count));
            }
            Step::Turn => std::mem::swap(&mut here, &mut there),
        }
        for side in [&here, &there] {
            prop_assert_eq!(side.owner.len(), side.model.len());
            prop_assert_eq!(side.thief.len(), side.model.len());
            prop_assert_eq!(side.owner.is_empty(), side.model.is_empty());
            prop_assert_eq!(side.thief.is_empty(), side.model.is_empty());
        }
    }
    // One thief outlives its owner, and the other queue is dropped with its tasks.
    drop(here.owner);
    let left = here.thief.steal(1.0).unwrap();
    expect(left, here.model.drain(..), task)?;
    prop_assert_eq!(here.thief.steal_one(), None);
    drop(there.thief);
    Ok(())
}

fn check(run: &dyn Fn(&[Step], (u32, u32)) -> TestCaseResult) {
    let config = ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() };
    let near = || prop_oneof![Just(0_u32), (0_u32..200).prop_map(|below| u32::MAX - below), Just(u32::MAX / 2)];
    let scripts = (prop::collection::vec(step(), 1..100), (near(), near()));
    let outcome = TestRunner::new(config).run(&scripts, |(steps, start)| run(&steps, start));
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

fn follows_the_model<T: Sample>() {
    check(&|steps, start| follow(steps, start, &T::sample));
}

/// Larger than any batch that is copied (4 KiB).
#[derive(Clone, Copy, PartialEq, Debug)]
struct Large([usize; 700]);

impl Sample for Large {
    fn sample(n: usize) -> Self {
        Large([n; 700])
    }
}

/// A task with a larger alignment than the header of a segment.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(64))]
struct Aligned(usize);

impl Sample for Aligned {
    fn sample(n: usize) -> Self {
        Aligned(n)
    }
}

#[test]
fn a_bulk_queue_of_words_follows_its_model() {
    follows_the_model::<usize>();
}

#[test]
fn a_bulk_queue_of_boxes_follows_its_model() {
    follows_the_model::<Box<usize>>();
}

#[test]
fn a_bulk_queue_of_bytes_follows_its_model() {
    follows_the_model::<u8>();
}

#[test]
fn a_bulk_queue_of_tasks_with_padding_follows_its_model() {
    follows_the_model::<Padded>();
}

#[test]
fn a_bulk_queue_of_tasks_of_uneven_size_follows_its_model() {
    follows_the_model::<Uneven>();
}

#[test]
fn a_bulk_queue_of_tasks_without_size_follows_its_model() {
    follows_the_model::<()>();
}

#[test]
fn a_bulk_queue_of_aligned_tasks_follows_its_model() {
    follows_the_model::<Aligned>();
}

#[test]
fn a_bulk_queue_of_large_tasks_follows_its_model() {
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    let scripts = prop::collection::vec(step(), 1..40);
    let outcome = TestRunner::new(config).run(&scripts, |steps| follow(&steps, (0, 0), &Large::sample));
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

/// A task that is counted while it lives.
struct Counted {
    id: usize,
    alive: Arc<AtomicUsize>,
}

impl Counted {
    fn new(id: usize, alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Counted { id, alive: Arc::clone(alive) }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let before = self.alive.fetch_sub(1, Ordering::Relaxed);
        assert!(before > 0, "a task was dropped twice");
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl std::fmt::Debug for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.id)
    }
}

#[test]
fn every_task_of_a_bulk_queue_is_dropped_once() {
    check(&|steps, start| {
        let alive = Arc::new(AtomicUsize::new(0));
        let outcome = follow(steps, start, &|id| Counted::new(id, &alive));
        if outcome.is_ok() {
            prop_assert_eq!(alive.load(Ordering::Relaxed), 0);
        }
        outcome
    });
}
