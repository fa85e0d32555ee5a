//! Explorations by level: no task runs before its level or twice, and no worker stays idle that a
//! level needs.

use std::sync::atomic as plain;
use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;

use super::check_orders;
use crate::defect::{self, Defect};
use crate::explore::{Gate, IdleWorkers, Opening};

/// The number of levels, and of the tasks of each.
const LEVELS: usize = 2;
const TASKS: usize = 2;

/// Two workers, of which the first owns the first level.
struct World {
    gate: Gate,
    idle: IdleWorkers<usize>,
    over: AtomicBool,
    /// The number of the level, which only the owner changes. Loom reports a worker that reads it
    /// meanwhile.
    level: UnsafeCell<usize>,
    /// Whether each task of each level was run. Tasks of a level read those of the level before.
    done: Vec<UnsafeCell<bool>>,
    /// The number of workers that wait for a level, and are not in the list.
    searching: AtomicUsize,
    /// Workers that the owner has woken.
    woken: AtomicUsize,
    /// Whether two workers were inside of a level in any execution.
    were_two_inside: Arc<plain::AtomicBool>,
}

// SAFETY: loom checks the accesses.
unsafe impl Sync for World {}
// SAFETY: as above.
unsafe impl Send for World {}

impl World {
    fn new(searching: usize, were_two_inside: &Arc<plain::AtomicBool>) -> Arc<World> {
        Arc::new(World {
            gate: Gate::new(),
            idle: IdleWorkers::new(Vec::new()),
            over: AtomicBool::new(false),
            level: UnsafeCell::new(0),
            done: (0..LEVELS * TASKS).map(|_| UnsafeCell::new(false)).collect(),
            searching: AtomicUsize::new(searching),
            woken: AtomicUsize::new(0),
            were_two_inside: Arc::clone(were_two_inside),
        })
    }

    fn run(&self, level: usize, task: usize) {
        if level > 0 {
            for before in 0..TASKS {
                // SAFETY: loom checks it.
                self.done[(level - 1) * TASKS + before].with(|done| assert!(unsafe { *done }, "a task runs too early"));
            }
        }
        // SAFETY: loom checks it.
        self.done[level * TASKS + task].with_mut(|done| unsafe {
            assert!(!*done, "a task runs twice");
            *done = true;
        });
    }

    /// Runs the tasks of the level that the caller is inside of. Returns whether it is the owner
    /// then.
    fn run_level(&self) -> bool {
        // SAFETY: loom checks it.
        let level = self.level.with(|level| unsafe { *level });
        let mut tasks = 0;
        loop {
            let task = self.gate.claim(1);
            if task >= TASKS {
                break;
            }
            self.run(level, task);
            tasks += 1;
        }
        self.were_two_inside.fetch_or(tasks == 1, plain::Ordering::Relaxed);
        self.gate.leave()
    }

    /// Runs all levels that the caller becomes the owner of, from one that it opens.
    fn run_levels(&self, opens: bool) {
        let mut owns = if opens {
            self.open();
            self.run_level()
        } else {
            self.run_level()
        };
        while owns {
            // SAFETY: loom checks it.
            let level = self.level.with_mut(|level| unsafe {
                *level += 1;
                *level
            });
            if level == LEVELS {
                return self.over.store(true, Ordering::Release);
            }
            self.open();
            owns = self.run_level();
        }
    }

    fn open(&self) {
        let missing = || 1 - self.searching.load(Ordering::Relaxed);
        let (_, woken) = self.idle.open_and_take(&self.gate, 0, missing);
        self.woken.fetch_add(woken.len(), Ordering::Relaxed);
    }

    fn check(&self) {
        for done in &self.done {
            // SAFETY: loom checks it.
            done.with(|done| assert!(unsafe { *done }, "a task is left"));
        }
    }
}

/// One worker opens all levels unless the other was the last to leave. That one enters when it finds
/// the gate open.
fn levels(workers: usize, defect: Option<Defect>) -> bool {
    let were_two_inside = Arc::new(plain::AtomicBool::new(false));
    let two = Arc::clone(&were_two_inside);
    let passes = defect::with(defect, move || {
        check_orders(3, move || {
            let world = World::new(0, &two);
            let others: Vec<_> = (1..workers)
                .map(|_| {
                    let world = Arc::clone(&world);
                    thread::spawn(move || {
                        let mut seen = Opening::default();
                        // A look for each level, and not more: it need not find it.
                        for _ in 0..LEVELS {
                            if let Some(opening) = world.gate.enter(seen) {
                                seen = opening;
                                world.run_levels(false);
                            }
                        }
                    })
                })
                .collect();
            world.run_levels(true);
            others.into_iter().for_each(|other| other.join().unwrap());
            assert!(world.over.load(Ordering::Relaxed), "the exploration does not end");
            world.check();
        });
    });
    assert!(!passes || were_two_inside.load(plain::Ordering::Relaxed), "the model is too small");
    passes
}

#[test]
fn each_task_runs_once_after_all_of_the_level_before() {
    assert!(levels(2, None));
}

#[test]
fn with_three_workers_each_task_runs_once_after_all_of_the_level_before() {
    assert!(levels(3, None));
}

#[test]
fn a_worker_that_enters_a_closed_level_is_caught() {
    assert!(!levels(2, Some(Defect::EntersClosedLevels)), "the model does not notice");
}

#[test]
fn a_worker_that_leaves_without_release_is_caught() {
    assert!(!levels(2, Some(Defect::LeavesWithoutRelease)), "the model does not notice");
}

#[test]
fn an_owner_that_opens_without_release_is_caught() {
    assert!(!levels(2, Some(Defect::OpensWithoutRelease)), "the model does not notice");
}

#[test]
fn a_worker_that_enters_without_acquire_is_caught() {
    assert!(!levels(2, Some(Defect::EntersWithoutAcquire)), "the model does not notice");
}

/// A worker that searches becomes idle while the owner opens the gate.
fn idles(defect: Option<Defect>) -> bool {
    defect::with(defect, || {
        check_orders(3, || {
            let world = World::new(1, &Arc::default());
            let other = thread::spawn({
                let world = Arc::clone(&world);
                move || {
                    let seen = Opening::default();
                    world.searching.fetch_sub(1, Ordering::Relaxed);
                    world.idle.add(1, || world.gate.is_open_since(seen)).is_some()
                }
            });
            world.open();
            let stays_awake = other.join().unwrap();
            let woken = world.woken.load(Ordering::Relaxed) == 1;
            assert!(stays_awake != woken, "the worker stays idle, or runs twice");
        });
    })
}

#[test]
fn a_worker_that_becomes_idle_is_woken_or_finds_the_level() {
    assert!(idles(None));
}

#[test]
fn a_worker_that_becomes_idle_without_a_look_is_caught() {
    assert!(!idles(Some(Defect::IdlesWithoutLook)), "the model does not notice");
}

#[test]
fn an_owner_that_takes_workers_before_it_opens_is_caught() {
    assert!(!idles(Some(Defect::TakesBeforeItOpens)), "the model does not notice");
}

#[test]
fn an_owner_that_counts_before_it_locks_the_list_is_caught() {
    assert!(!idles(Some(Defect::CountsBeforeTheLock)), "the model does not notice");
}
