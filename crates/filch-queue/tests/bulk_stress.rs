//! The bulk queue on two real threads, with a count of every task.
//!
//! The owner pushes and pops, and the thief steals shares.
//!
//! `stress.rs` shows, as for every queue, that single tasks are stolen exactly once, also by
//! several thieves.
#![cfg(not(loom))]

mod threads;

use std::hint;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use filch_queue::bulk::{self, Batch, Owner, Thief};
use threads::{alone, join, tasks_per_queue, until_stolen, Dice, Done};

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
struct Account(Vec<u8>);

impl Account {
    fn enter(&mut self, task: &Task) {
        self.0[task.id()] += 1;
    }

    fn add(&mut self, other: &Account) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, times)| *sum += times);
    }

    fn check(&self) {
        let lost = self.0.iter().filter(|times| **times == 0).count();
        let doubled = self.0.iter().filter(|times| **times > 1).count();
        assert_eq!((lost, doubled), (0, 0), "tasks lost, and tasks that came out twice");
    }
}

/// Pushes the tasks of these numbers, singly and in batches, and pops many of them.
fn own(owner: &Owner<Task>, ids: Range<usize>, dice: &mut Dice, mut take: impl FnMut(Task)) {
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
fn rob(thief: &mut Thief<Task>, done: &AtomicBool, mut take: impl FnMut(Batch<Task>)) -> usize {
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
fn no_task_is_lost_or_doubled_on_its_way_through_two_queues() {
    let _alone = alone();
    let tasks = tasks_per_queue() / 5;
    until_stolen(tasks, || ((), carry_through_two_queues(tasks)));
}

/// Returns the number of tasks stolen from the first queue.
fn carry_through_two_queues(tasks: usize) -> usize {
    let (first, mut first_thief) = bulk::starting_at(u32::MAX - tasks as u32 / 4, u32::MAX - tasks as u32 / 8).unwrap();
    let (second, mut second_thief) = bulk::new();
    let (first_done, second_done) = (AtomicBool::new(false), AtomicBool::new(false));
    let new_account = || Account(vec![0; tasks]);
    let (mut account, stolen) = thread::scope(|scope| {
        let last = scope.spawn(|| {
            let mut account = new_account();
            rob(&mut second_thief, &second_done, |batch| batch.into_iter().for_each(|task| account.enter(&task)));
            account
        });
        let done = Done(&second_done);
        let first_done = &first_done;
        let middle = scope.spawn(move || {
            let _done = done;
            let (mut account, mut dice) = (new_account(), Dice::new(2));
            let stolen = rob(&mut first_thief, first_done, |batch| {
                let ids: Vec<usize> = batch.iter().map(Task::id).collect();
                assert!(
                    ids.windows(2).all(|two| two[0] <= two[1]),
                    "a batch came out in another order than it went in"
                );
                second.push_batch(batch);
                for _ in 0..dice.roll(0..ids.len() + 1) {
                    second.pop().inspect(|task| account.enter(task));
                }
            });
            while let Some(task) = second.pop() {
                account.enter(&task);
            }
            (account, stolen)
        });
        let done = Done(first_done);
        let owner = scope.spawn(move || {
            let _done = done;
            let mut account = new_account();
            own(&first, 0..tasks, &mut Dice::new(1), |task| account.enter(&task));
            (account, first)
        });
        // The queue is dropped here, after the joins: a fence orders its last handle, and a
        // sanitizer does not see that fence.
        let (mut account, _first) = join(owner);
        let (middle, stolen) = join(middle);
        account.add(&middle);
        account.add(&join(last));
        (account, stolen)
    });
    account.check();
    account.0.clear();
    eprintln!("{tasks} tasks, {stolen} stolen from the first queue");
    stolen
}

/// A steal takes the oldest tasks. If the owner only pushes, each batch continues the previous
/// batch.
#[test]
fn shares_of_a_queue_whose_owner_pushes_are_the_oldest_in_order() {
    let _alone = alone();
    let tasks = tasks_per_queue() / 5;
    let (owner, mut thief) = bulk::new();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let done = &done;
        let robber = scope.spawn(move || {
            let mut next = 0;
            rob(&mut thief, done, |batch| {
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
        join(robber);
    });
}

/// A round is so short that both threads want the same tasks. This is the race that the published
/// queue loses.
#[test]
fn a_steal_of_half_never_returns_what_the_owner_popped() {
    let _alone = alone();
    let rounds = tasks_per_queue() / 20;
    let (owner, mut thief) = bulk::new();
    let done = AtomicBool::new(false);
    let (pushed, popped, stolen) = thread::scope(|scope| {
        let over = &done;
        let robber = scope.spawn(move || {
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
        (pushed, popped, join(robber))
    });
    eprintln!("{} pushed, {} popped, {} stolen", pushed.0, popped.0, stolen.0);
    assert_eq!((popped.0 + stolen.0, popped.1.wrapping_add(stolen.1)), pushed, "each task once");
}

struct Parcel<'a>(Box<usize>, &'a AtomicUsize);

impl Drop for Parcel<'_> {
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
fn handles_that_end_at_the_same_time_drop_each_task_once() {
    let _alone = alone();
    for round in 0..3000 {
        let dropped = AtomicUsize::new(0);
        let (owner, mut thief) = bulk::new();
        owner.push_batch((0..100).map(|id| Parcel(Box::new(id), &dropped)).collect());
        (100..140).for_each(|id| owner.push(Parcel(Box::new(id), &dropped)));
        thread::scope(|scope| {
            let robber = scope.spawn(move || {
                let stolen = thief.steal(SHARES[round % SHARES.len()]).unwrap();
                drop(thief);
                drop(stolen);
            });
            (0..round % 100).for_each(|_| drop(owner.pop()));
            drop(owner);
            join(robber);
        });
        assert_eq!(dropped.into_inner(), 140 + 70 * 1000);
    }
}
