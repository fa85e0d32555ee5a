//! Explorations: over exactly when no task is queued or running. No explorer stays on the bench
//! that is needed.

use std::sync::Arc;

use filch_queue::{barrier, chase_lev, Steal};
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::explore;
use crate::explore::{Bench, Muster};

/// The first task pushes the two others.
const TASKS: usize = 3;

struct World {
    muster: Muster,
    thieves: [chase_lev::Thief<usize>; 2],
    done: AtomicUsize,
}

impl World {
    fn run(&self, task: usize, owner: &chase_lev::Owner<usize>) {
        if task == 0 {
            owner.push(1);
            owner.push(2);
        }
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Runs like a worker, but looks only once when it has found nothing.
    fn live(&self, owner: &chase_lev::Owner<usize>, index: usize, counts: bool) {
        let thief = &self.thieves[1 - index];
        loop {
            while let Some(task) = owner.pop() {
                self.run(task, owner);
            }
            match thief.steal() {
                Steal::Success(task) => self.run(task, owner),
                Steal::Retry => {}
                Steal::Empty | Steal::Abort => {
                    if counts {
                        self.muster.leave();
                    }
                    if self.muster.is_over() {
                        assert_eq!(self.done.load(Ordering::Relaxed), TASKS, "it was over too early");
                        return;
                    }
                    if thief.is_empty() {
                        return;
                    }
                    if counts {
                        self.muster.enter();
                    }
                }
            }
        }
    }
}

fn ends(thief_counts: bool) {
    explore(2, move || {
        let queue = || chase_lev::with_capacity(2).expect("memory for a model");
        let ((first, first_thief), (second, second_thief)) = (queue(), queue());
        first.push(0);
        let thieves = [first_thief, second_thief];
        let world = Arc::new(World { muster: Muster::new(), thieves, done: AtomicUsize::new(0) });
        let other = thread::spawn({
            let world = Arc::clone(&world);
            move || {
                if thief_counts {
                    world.muster.enter();
                }
                world.live(&second, 1, thief_counts);
            }
        });
        world.live(&first, 0, true);
        other.join().unwrap();
        assert!(world.muster.is_over());
        assert_eq!(world.done.load(Ordering::Relaxed), TASKS);
    });
}

#[test]
fn an_exploration_is_over_when_no_task_is_left_and_not_before() {
    ends(true);
}

#[test]
fn a_thief_that_does_not_count_is_caught() {
    let passed = std::panic::catch_unwind(|| ends(false));
    assert!(passed.is_err(), "the model does not notice");
}

/// The defect of the model of the bench.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    Nothing,
    /// An explorer that goes to the bench does not look once more.
    NoLastLook,
    /// The last searching explorer does not call another for the next task.
    NoCall,
}

/// The end of an explorer that searched.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// The explorer has a task.
    Busy,
    /// The explorer is on the bench, and may have been called since.
    Benched,
    /// The explorer was called before it was on the bench, and keeps searching.
    Called,
}

/// A worker pushes tasks that it will never pop. Explorers search for one task each, and go to the
/// bench if there is none.
fn bench(tasks: usize, explorers: usize, wrong: Wrong) {
    explore(3, move || {
        let (owner, thief) = chase_lev::with_capacity(2).expect("memory for a model");
        let bench = Arc::new(Bench::new(Vec::new()));
        let steal = |thief: &chase_lev::Thief<usize>| loop {
            match thief.steal() {
                Steal::Success(_) => return true,
                Steal::Retry => {}
                Steal::Empty | Steal::Abort => return false,
            }
        };
        // An explorer that was called stays awake, and that is all the model needs.
        let call = |bench: &Bench<usize>, called: &AtomicUsize| {
            if bench.call().is_some() {
                called.fetch_add(1, Ordering::Relaxed);
            }
        };
        let called = Arc::new(AtomicUsize::new(0));
        for _ in 0..explorers {
            bench.callable().begin_search();
        }
        let live = move |explorer, bench: &Bench<usize>, called: &AtomicUsize, thief: &chase_lev::Thief<usize>| {
            if !steal(thief) {
                bench.come();
                barrier::heavy().expect("loom makes barriers");
                if wrong == Wrong::NoLastLook || !steal(thief) {
                    return if bench.sit(explorer).is_some() { End::Called } else { End::Benched };
                }
                bench.turn_back();
            }
            if bench.callable().end_search() && wrong != Wrong::NoCall {
                call(bench, called);
            }
            End::Busy
        };
        let others: Vec<_> = (0..explorers)
            .map(|explorer| {
                let (bench, called, thief) = (Arc::clone(&bench), Arc::clone(&called), thief.clone());
                thread::spawn(move || live(explorer, &bench, &called, &thief))
            })
            .collect();
        for task in 0..tasks {
            owner.push(task);
            barrier::light();
            if bench.callable().is_anybody() {
                call(&bench, &called);
            }
        }
        let ends: Vec<End> = others.into_iter().map(|other| other.join().unwrap()).collect();
        let count = |end| ends.iter().filter(|&&other| other == end).count();
        let called = called.load(Ordering::Relaxed);
        let searching = called + count(End::Called);
        assert_eq!(bench.callable().searching(), searching, "who searches is counted");
        let sitting = Arc::into_inner(bench).expect("all have left").into_sitting().len();
        assert_eq!(sitting + called, count(End::Benched), "an explorer is lost");
        assert!(thief.is_empty() || sitting == 0 || searching > 0, "a task is left alone");
    });
}

#[test]
fn nobody_stays_on_the_bench_while_a_task_is_left_alone() {
    bench(1, 1, Wrong::Nothing);
}

#[test]
fn nor_with_two_who_search() {
    bench(2, 2, Wrong::Nothing);
}

#[test]
fn who_does_not_look_once_more_is_caught() {
    let passed = std::panic::catch_unwind(|| bench(1, 1, Wrong::NoLastLook));
    assert!(passed.is_err(), "the model does not notice");
}

#[test]
fn the_last_who_searches_and_calls_nobody_is_caught() {
    let passed = std::panic::catch_unwind(|| bench(2, 2, Wrong::NoCall));
    assert!(passed.is_err(), "the model does not notice");
}
