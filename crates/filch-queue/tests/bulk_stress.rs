//! The bulk queue on real threads, with a count of every task.
//!
//! The owner pushes and pops, and thieves steal shares.
//!
//! `stress/` shows, as for every queue, that single tasks are stolen exactly once, also by
//! several thieves.
#![cfg(not(loom))]

mod threads;

use std::hint;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use filch_queue::bulk::{self, Batch, Owner, Thief};
use threads::{join, run_alone, tasks_per_queue, until_stolen, Dice, Done};

/// A task on the heap: if it comes out twice, it is freed twice.
///
/// The second word detects a mixture of two tasks.
struct Task(Box<usize>, usize);

impl Task {
    fn new(id: usize) -> Task {
        Task(Box::new(id), !id)
    }

    fn id(&self) -> usize {
        assert_eq!(*self.0, !self.1, "a task came out torn");
        *self.0
    }
}

/// The number of times that each task came out.
struct TaskCounts(Vec<u8>);

impl TaskCounts {
    fn count(&mut self, task: &Task) {
        self.0[task.id()] += 1;
    }

    fn add(&mut self, other: &TaskCounts) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, times)| *sum += times);
    }

    fn check(&self) {
        let lost = self.0.iter().filter(|times| **times == 0).count();
        let doubled = self.0.iter().filter(|times| **times > 1).count();
        assert_eq!((lost, doubled), (0, 0), "tasks lost, and tasks that came out twice");
    }
}

/// Pushes the tasks of these numbers, singly and in batches, and pops many of them.
fn push_and_pop(owner: &Owner<Task>, ids: Range<usize>, dice: &mut Dice, mut take: impl FnMut(Task)) {
    let mut next = ids.start;
    while next < ids.end {
        let rhythm = dice.roll(0..100);
        let turns = dice.roll(1..200);
        for _ in 0..turns {
            let most = match rhythm {
                0..=39 => 4,
                40..=69 => 40,
                70..=89 => 400,
                _ => 20_000,
            };
            let end = ids.end.min(next + dice.roll(1..most));
            if dice.roll(0..2) == 0 {
                (next..end).for_each(|id| owner.push(Task::new(id)));
            } else {
                owner.push_batch((next..end).map(Task::new).collect());
            }
            next = end;
            // Pops all tasks, so that both threads want the last tasks; or a part, so that there
            // are always tasks left.
            let pops = if dice.roll(0..3) == 0 { usize::MAX } else { dice.roll(1..most) };
            if rhythm % 2 == 0 {
                (0..dice.roll(0..60)).for_each(|_| hint::spin_loop());
            }
            let mut popped = 0;
            while popped < pops {
                let Some(task) = owner.pop() else { break };
                take(task);
                popped += 1;
            }
            if next == ids.end {
                break;
            }
        }
    }
}

const SHARES: [f64; 7] = [f64::MIN_POSITIVE, 0.1, 0.25, 0.5, 0.5, 0.75, 1.0];

/// Steals shares until the owner is done and the queue is empty.
///
/// Returns the number of stolen tasks.
fn steal_until_done(thief: &Thief<Task>, done: &AtomicBool, mut take: impl FnMut(Batch<Task>)) -> usize {
    let (mut stolen, mut tries) = (0, 0);
    loop {
        let over = done.load(Ordering::Acquire);
        let batch = if tries % 8 == 7 {
            thief.steal_one().into_iter().collect()
        } else {
            thief.steal(SHARES[tries % SHARES.len()]).unwrap()
        };
        tries += 1;
        if !batch.is_empty() {
            stolen += batch.len();
            take(batch);
        } else if over {
            return stolen;
        } else if tries % 64 == 0 {
            thread::yield_now();
        }
    }
}

/// The thief pushes its batches into a queue of its own. A second thief steals from there.
#[test]
fn no_task_is_lost_or_doubled_in_two_queues() {
    let _alone = run_alone();
    let tasks = tasks_per_queue() / 5;
    until_stolen(tasks, || ((), run_through_two_queues(tasks)));
}

/// Returns the number of tasks stolen from the first queue.
fn run_through_two_queues(tasks: usize) -> usize {
    let (first, first_thief) = bulk::starting_at(u32::MAX - tasks as u32 / 4, u32::MAX - tasks as u32 / 8).unwrap();
    let (second, second_thief) = bulk::new();
    let (first_done, second_done) = (AtomicBool::new(false), AtomicBool::new(false));
    let new_counts = || TaskCounts(vec![0; tasks]);
    let (mut counts, stolen) = thread::scope(|scope| {
        let last = scope.spawn(|| {
            let mut counts = new_counts();
            steal_until_done(&second_thief, &second_done, |batch| {
                batch.into_iter().for_each(|task| counts.count(&task))
            });
            counts
        });
        let done = Done(&second_done);
        let first_done = &first_done;
        let middle = scope.spawn(move || {
            let _done = done;
            let (mut counts, mut dice) = (new_counts(), Dice::new(2));
            let stolen = steal_until_done(&first_thief, first_done, |batch| {
                let ids: Vec<usize> = batch.iter().map(Task::id).collect();
                assert!(ids.windows(2).all(|two| two[0] <= two[1]), "a batch changed its order");
                second.push_batch(batch);
                for _ in 0..dice.roll(0..ids.len() + 1) {
                    second.pop().inspect(|task| counts.count(task));
                }
            });
            while let Some(task) = second.pop() {
                counts.count(&task);
            }
            (counts, stolen)
        });
        let done = Done(first_done);
        let owner = scope.spawn(move || {
            let _done = done;
            let mut counts = new_counts();
            push_and_pop(&first, 0..tasks, &mut Dice::new(1), |task| counts.count(&task));
            (counts, first)
        });
        // The queue is dropped here, after the joins: a fence orders its last handle, and a
        // sanitizer does not see that fence.
        let (mut counts, _first) = join(owner);
        let (middle, stolen) = join(middle);
        counts.add(&middle);
        counts.add(&join(last));
        (counts, stolen)
    });
    counts.check();
    counts.0.clear();
    eprintln!("{tasks} tasks, {stolen} stolen from the first queue");
    stolen
}

/// Thieves steal shares of one queue at the same time, and drop the batches in any order.
#[test]
fn thieves_of_one_queue_get_different_tasks() {
    let _alone = run_alone();
    let tasks = tasks_per_queue() / 5;
    until_stolen(tasks, || ((), run_with_thieves(tasks, 3)));
}

/// Returns the number of stolen tasks.
fn run_with_thieves(tasks: usize, thieves: usize) -> usize {
    let (owner, thief) = bulk::starting_at(u32::MAX - tasks as u32 / 4, u32::MAX - tasks as u32 / 8).unwrap();
    let done = AtomicBool::new(false);
    let new_counts = || TaskCounts(vec![0; tasks]);
    let (mut counts, stolen) = thread::scope(|scope| {
        let thieves: Vec<_> = (0..thieves)
            .map(|number| {
                let (thief, done) = (thief.clone(), &done);
                scope.spawn(move || {
                    let (mut counts, mut dice) = (new_counts(), Dice::new(10 + number as u64));
                    // The batches live on, so that their segments have many holders.
                    let mut kept: Vec<Batch<Task>> = Vec::new();
                    let stolen = steal_until_done(&thief, done, |batch| {
                        let ids: Vec<usize> = batch.iter().map(Task::id).collect();
                        assert!(ids.windows(2).all(|two| two[0] < two[1]), "a batch is not in order");
                        kept.push(batch);
                        while kept.len() > dice.roll(0..20) {
                            let batch = kept.swap_remove(dice.roll(0..kept.len()));
                            batch.into_iter().for_each(|task| counts.count(&task));
                        }
                    });
                    kept.into_iter().flatten().for_each(|task| counts.count(&task));
                    (counts, stolen)
                })
            })
            .collect();
        let end = Done(&done);
        let mut counts = new_counts();
        push_and_pop(&owner, 0..tasks, &mut Dice::new(5), |task| counts.count(&task));
        drop(end);
        let mut stolen = 0;
        for thief in thieves {
            let (theirs, count) = join(thief);
            counts.add(&theirs);
            stolen += count;
        }
        (counts, stolen)
    });
    drop((owner, thief));
    counts.check();
    counts.0.clear();
    eprintln!("{tasks} tasks, {stolen} stolen by {thieves} thieves");
    stolen
}

/// A steal takes the oldest tasks. If the owner only pushes, each batch continues the previous
/// batch.
#[test]
fn shares_are_the_oldest_tasks_in_order_while_the_owner_pushes() {
    let _alone = run_alone();
    let tasks = tasks_per_queue() / 5;
    let (owner, thief) = bulk::new();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let done = &done;
        let thief_thread = scope.spawn(move || {
            let mut next = 0;
            steal_until_done(&thief, done, |batch| {
                for task in batch {
                    assert_eq!(task.id(), next, "not the oldest");
                    next += 1;
                }
            });
            assert_eq!(next, tasks);
        });
        let end = Done(done);
        let mut dice = Dice::new(3);
        let mut next = 0;
        while next < tasks {
            let most = if dice.roll(0..50) == 0 { 30_000 } else { 60 };
            let end = tasks.min(next + dice.roll(1..most));
            if dice.roll(0..3) == 0 {
                (next..end).for_each(|id| owner.push(Task::new(id)));
            } else {
                owner.push_batch((next..end).map(Task::new).collect());
            }
            next = end;
        }
        drop(owner);
        drop(end);
        join(thief_thread);
    });
}

/// A round is so short that both threads want the same tasks. This is the race that the published
/// queue loses.
#[test]
fn a_steal_of_half_never_returns_a_task_that_the_owner_popped() {
    let _alone = run_alone();
    let rounds = tasks_per_queue() / 20;
    let (owner, thief) = bulk::new();
    let done = AtomicBool::new(false);
    let (pushed, popped, stolen) = thread::scope(|scope| {
        let over = &done;
        let thief_thread = scope.spawn(move || {
            let (mut count, mut sum) = (0_usize, 0_usize);
            while !over.load(Ordering::Acquire) {
                for task in thief.steal(0.5).unwrap() {
                    count += 1;
                    sum = sum.wrapping_add(task);
                }
            }
            (count, sum)
        });
        let done = Done(&done);
        let winner = scope.spawn(move || {
            let _done = done;
            let mut dice = Dice::new(4);
            let (mut pushed, mut popped) = ((0_usize, 0_usize), (0_usize, 0_usize));
            let add = |sum: &mut (usize, usize), task: usize| *sum = (sum.0 + 1, sum.1.wrapping_add(task));
            for _ in 0..rounds {
                let from = pushed.0;
                let batch: Batch<usize> = (from..from + dice.roll(2..9)).collect();
                batch.iter().for_each(|task| add(&mut pushed, *task));
                owner.push_batch(batch);
                (0..dice.roll(0..20)).for_each(|_| hint::spin_loop());
                while let Some(task) = owner.pop() {
                    add(&mut popped, task);
                }
            }
            (pushed, popped)
        });
        let (pushed, popped) = join(winner);
        (pushed, popped, join(thief_thread))
    });
    eprintln!("{} pushed, {} popped, {} stolen", pushed.0, popped.0, stolen.0);
    assert_eq!((popped.0 + stolen.0, popped.1.wrapping_add(stolen.1)), pushed, "each task must come out once");
}

struct CountsDrop<'a>(Box<usize>, &'a AtomicUsize);

impl Drop for CountsDrop<'_> {
    fn drop(&mut self) {
        self.1.fetch_add(1 + *self.0 % 2 * 1000, Ordering::Relaxed);
    }
}

/// Owners, thieves and batches are dropped in any order on two threads, with tasks left.
#[test]
#[cfg_attr(
    filch_tsan,
    ignore = "the last handle of a queue is an Arc's, ordered by a fence that the sanitizer does not see"
)]
fn handles_dropped_at_the_same_time_drop_each_task_once() {
    let _alone = run_alone();
    for round in 0..3000 {
        let dropped = AtomicUsize::new(0);
        let (owner, thief) = bulk::new();
        owner.push_batch((0..100).map(|id| CountsDrop(Box::new(id), &dropped)).collect());
        (100..140).for_each(|id| owner.push(CountsDrop(Box::new(id), &dropped)));
        thread::scope(|scope| {
            let thief_thread = scope.spawn(move || {
                let stolen = thief.steal(SHARES[round % SHARES.len()]).unwrap();
                drop(thief);
                drop(stolen);
            });
            (0..round % 100).for_each(|_| drop(owner.pop()));
            drop(owner);
            join(thief_thread);
        });
        assert_eq!(dropped.into_inner(), 140 + 70 * 1000);
    }
}
