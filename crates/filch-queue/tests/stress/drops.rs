//! Every task is dropped once.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread;

use crate::common::{for_every_exact_queue, steal, ExactQueue, Setup};
use crate::threads::{join, run_alone, Dice, Done};
use crate::workload::push_and_pop;
use filch_queue::{Owner, Thief};

/// A task that exists once, and counts its drop.
struct CountsDrop<'a> {
    id: Box<usize>,
    dropped: &'a [AtomicU8],
}

impl Drop for CountsDrop<'_> {
    fn drop(&mut self) {
        self.dropped[*self.id].fetch_add(1, Ordering::Relaxed);
    }
}

fn drop_counts(tasks: usize) -> Vec<AtomicU8> {
    (0..tasks).map(|_| AtomicU8::new(0)).collect()
}

fn count(drop_counts: &[AtomicU8], times: u8) -> usize {
    drop_counts.iter().filter(|drops| drops.load(Ordering::Relaxed) == times).count()
}

/// Checks drops with thieves that outlive the owner and that come and go.
///
/// The last thief stops early, and some tasks are left for the drop of the queue.
fn drops_each_task_once<Q: ExactQueue>() {
    const TASKS: usize = 200_000;
    const LEFT: usize = 5_000;
    let _alone = run_alone();
    for thieves in 1..=4 {
        let dropped = drop_counts(TASKS + LEFT);
        let new = |id| CountsDrop { id: Box::new(id), dropped: &dropped };
        let (owner, thief) = Q::make_exact(Setup::wrapping_after(TASKS / 2)).unwrap();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let mut thief_threads = Vec::new();
            for n in 0..thieves {
                let (mut own, thief, done) = (thief.clone(), &thief, &done);
                thief_threads.push(scope.spawn(move || {
                    let mut stolen = 0;
                    while !done.load(Ordering::Acquire) {
                        stolen += usize::from(steal(&own).is_success());
                        if stolen % (100 * (n + 1)) == 0 {
                            own = thief.clone();
                        }
                        if stolen % 64 == 0 {
                            thread::yield_now();
                        }
                    }
                }));
            }
            let end = Done(&done);
            push_and_pop(&owner, 0..TASKS, new, &mut Dice::new(thieves as u64), drop);
            (TASKS..TASKS + LEFT).for_each(|id| owner.push(new(id)));
            drop(owner);
            drop(end);
            thief_threads.into_iter().for_each(join);
        });
        // The owner is dropped, and the last thief takes half of the remaining tasks.
        let left = thief.len();
        for _ in 0..left / 2 {
            assert!(steal(&thief).is_success());
        }
        assert_eq!(count(&dropped, 0), left - left / 2, "the tasks in the queue are not dropped yet");
        drop(thief);
        assert_eq!(count(&dropped, 1), TASKS + LEFT, "every task is dropped once");
    }
}

for_every_exact_queue!(every_task_is_dropped_once, drops_each_task_once);
