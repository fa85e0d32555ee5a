//! Every task is counted: none is lost or torn, and exactly-once queues double none.

use std::sync::atomic::AtomicBool;
use std::thread;

use crate::common::{claim, delta, for_every_exact_queue, for_every_relaxed_queue, Queue, Setup};
use crate::threads::{join, run_alone, tasks_per_queue, until_stolen, Dice, Done};
use crate::workload::{drain, push_and_pop, steal_until_done};
use crate::{pin_to_core, too_small_delta};
use filch_queue::bound::Delta;

/// A task of three words that detect a mixture of two tasks.
///
/// They are whole words: reading back a part of a word from the stack, or two words at once, waits
/// for all earlier stores. That would be the fence that the owner does not have.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Task {
    id: u64,
    check: u64,
    mirror: u64,
}

impl Task {
    fn new(id: usize) -> Task {
        let id = id as u64;
        let check = (id ^ 0xA5A5_5A5A_C3C3_3C3C).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        Task { id, check, mirror: !id }
    }

    /// Returns the number of the task, after checking that it is whole.
    fn id(self) -> usize {
        let whole = Task::new(self.id as usize);
        let fields = |task: Task| (task.id, task.check, task.mirror);
        assert_eq!(fields(self), fields(whole), "a task came out torn");
        self.id as usize
    }
}

/// The tasks that a thread has taken.
///
/// Each thread counts for itself, without an atomic instruction, which would be the fence that the
/// owner does not have.
struct TaskCounts {
    times: Vec<u8>,
    taken: usize,
}

impl TaskCounts {
    fn new(tasks: usize) -> TaskCounts {
        TaskCounts { times: vec![0; tasks], taken: 0 }
    }

    fn count(&mut self, task: Task) {
        let times = &mut self.times[task.id()];
        *times = times.saturating_add(1);
        self.taken += 1;
    }

    fn add(&mut self, other: &TaskCounts) {
        self.taken += other.taken;
        for (sum, times) in self.times.iter_mut().zip(&other.times) {
            *sum = sum.saturating_add(*times);
        }
    }

    /// Returns how many tasks came out this often, and the first of them.
    fn tasks(&self, often: impl Fn(u8) -> bool) -> (usize, Option<usize>) {
        let mut ids = (0..self.times.len()).filter(|id| often(self.times[*id]));
        let first = ids.next();
        (usize::from(first.is_some()) + ids.count(), first)
    }
}

/// Runs tasks through a small queue whose indices wrap on the way.
///
/// Its owner moves from one thread to another in the middle.
fn run_tasks<Q: Queue>(tasks: usize, thieves: usize, delta: Delta) -> TaskCounts {
    until_stolen(tasks, || run_tasks_once::<Q>(tasks, thieves, delta))
}

/// Returns the tasks that came out, and how many of them were stolen.
fn run_tasks_once<Q: Queue>(tasks: usize, thieves: usize, delta: Delta) -> (TaskCounts, usize) {
    let (owner, thief) = Q::make::<Task>(Setup { delta, ..Setup::wrapping_after(tasks / 8) }).unwrap();
    // One or three thieves share a handle by reference. Of two or four thieves, every second has a
    // clone.
    let handles = match thieves % 2 {
        0 => vec![thief.clone(), thief],
        _ => vec![thief],
    };
    let done = AtomicBool::new(false);
    let (sum, popped) = thread::scope(|scope| {
        let mut thief_threads = Vec::new();
        for n in 0..thieves {
            let (handle, done) = (&handles[n % handles.len()], &done);
            thief_threads.push(scope.spawn(move || {
                pin_to_core(n + 1);
                let mut counts = TaskCounts::new(tasks);
                steal_until_done::<Q, _>(handle, done, |task| counts.count(task));
                counts
            }));
        }
        let done = Done(&done);
        let mut mine = (owner, TaskCounts::new(tasks), Dice::new(thieves as u64));
        for half in [0..tasks / 2, tasks / 2..tasks] {
            mine = join(scope.spawn(move || {
                pin_to_core(0);
                let (owner, mut counts, mut dice) = mine;
                push_and_pop(&owner, half, Task::new, &mut dice, |task| counts.count(task));
                (owner, counts, dice)
            }));
        }
        let (owner, mut counts, _) = mine;
        // The remaining tasks are for an even number of thieves. An odd number finds none.
        if thieves % 2 != 0 {
            drain(&owner, |task| counts.count(task));
        }
        drop(owner);
        drop(done);
        let popped = counts.taken;
        thief_threads.into_iter().for_each(|thief_thread| counts.add(&join(thief_thread)));
        (counts, popped)
    });
    let stolen = sum.taken - popped;
    let redundant = 100.0 * sum.taken.saturating_sub(tasks) as f64 / tasks as f64;
    eprintln!("{}, thieves: {thieves}, tasks: {tasks}, stolen: {stolen}, redundant: {redundant:.4} %", Q::NAME);
    (sum, stolen)
}

fn loses_and_doubles_nothing<Q: Queue>() {
    let _alone = run_alone();
    for thieves in 1..=4 {
        let counts = run_tasks::<Q>(tasks_per_queue() / 4, thieves, delta(1));
        assert_eq!(counts.tasks(|times| times == 0), (0, None), "tasks were lost (number, first)");
        assert_eq!(counts.tasks(|times| times > 1), (0, None), "tasks came out twice (number, first)");
    }
}

fn loses_nothing<Q: Queue>() {
    let _alone = run_alone();
    for thieves in 1..=4 {
        let counts = run_tasks::<Q>(tasks_per_queue() / 4, thieves, delta(1));
        assert_eq!(counts.tasks(|times| times == 0), (0, None), "tasks were lost (number, first)");
    }
}

for_every_exact_queue!(no_task_is_lost_doubled_or_torn, loses_and_doubles_nothing);
for_every_relaxed_queue!(no_task_is_lost_or_torn, loses_nothing);

/// Checks that no task is lost. Tasks may come out twice.
fn loses_nothing_if_delta_is_too_small<Q: Queue>() {
    let _alone = run_alone();
    for thieves in 1..=4 {
        let counts = run_tasks::<Q>(tasks_per_queue() / 4, thieves, too_small_delta());
        assert_eq!(counts.tasks(|times| times == 0), (0, None), "tasks were lost (number, first)");
    }
}

claim!(no_task_is_lost_or_torn_if_delta_is_too_small, loses_nothing_if_delta_is_too_small, ff_cl FfCl, ff_the FfThe,
    thep Thep);
