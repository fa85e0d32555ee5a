//! Explorations: over exactly when no task is queued or running. No explorer stays idle that is
//! needed.

use std::sync::Arc;

use filch_queue::{barrier, chase_lev, Steal};
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::check_orders;
use crate::explore::{IdleList, Termination};

/// The first task pushes the two others.
const TASKS: usize = 3;

struct World {
    termination: Termination,
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
    fn run_worker(&self, owner: &chase_lev::Owner<usize>, index: usize, counts: bool) {
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
                        self.termination.leave();
                    }
                    if self.termination.is_over() {
                        assert_eq!(self.done.load(Ordering::Relaxed), TASKS, "it was over too early");
                        return;
                    }
                    if thief.is_empty() {
                        return;
                    }
                    if counts {
                        self.termination.enter();
                    }
                }
            }
        }
    }
}

fn ends(thief_counts: bool) {
    check_orders(2, move || {
        let queue = || chase_lev::with_capacity(2).expect("memory for a model");
        let ((first, first_thief), (second, second_thief)) = (queue(), queue());
        first.push(0);
        let thieves = [first_thief, second_thief];
        let world = Arc::new(World { termination: Termination::new(), thieves, done: AtomicUsize::new(0) });
        let other = thread::spawn({
            let world = Arc::clone(&world);
            move || {
                if thief_counts {
                    world.termination.enter();
                }
                world.run_worker(&second, 1, thief_counts);
            }
        });
        world.run_worker(&first, 0, true);
        other.join().unwrap();
        assert!(world.termination.is_over());
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

/// The defect in a model of the idle list.
#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    None,
    /// An explorer that becomes idle does not look once more.
    NoLastLook,
    /// The last searching explorer does not wake another for the next task.
    NoWake,
}

/// The end of an explorer that searched.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// The explorer has a task.
    Busy,
    /// The explorer is on the idle list, or was woken since.
    Idle,
    /// The explorer was woken before it was on the idle list, and keeps searching.
    Woken,
}

/// A worker pushes tasks that it will never pop. Explorers search for one task each, and become
/// idle if there is none.
fn idle_explorers(tasks: usize, explorers: usize, flaw: Flaw) {
    check_orders(3, move || {
        let (owner, thief) = chase_lev::with_capacity(2).expect("memory for a model");
        let list = Arc::new(IdleList::new(Vec::new()));
        let steal = |thief: &chase_lev::Thief<usize>| loop {
            match thief.steal() {
                Steal::Success(_) => return true,
                Steal::Retry => {}
                Steal::Empty | Steal::Abort => return false,
            }
        };
        // An explorer that was woken stays awake, and that is all the model needs.
        let wake = |list: &IdleList<usize>, woken: &AtomicUsize| {
            if list.wake_one().is_some() {
                woken.fetch_add(1, Ordering::Relaxed);
            }
        };
        let woken = Arc::new(AtomicUsize::new(0));
        for _ in 0..explorers {
            list.counts().begin_search();
        }
        let search = move |explorer, list: &IdleList<usize>, woken: &AtomicUsize, thief: &chase_lev::Thief<usize>| {
            if !steal(thief) {
                list.begin_add();
                barrier::heavy().expect("loom makes barriers");
                if flaw == Flaw::NoLastLook || !steal(thief) {
                    return if list.finish_add(explorer).is_some() { End::Woken } else { End::Idle };
                }
                list.cancel_add();
            }
            if list.counts().end_search() && flaw != Flaw::NoWake {
                wake(list, woken);
            }
            End::Busy
        };
        let others: Vec<_> = (0..explorers)
            .map(|explorer| {
                let (list, woken, thief) = (Arc::clone(&list), Arc::clone(&woken), thief.clone());
                thread::spawn(move || search(explorer, &list, &woken, &thief))
            })
            .collect();
        for task in 0..tasks {
            owner.push(task);
            barrier::light();
            if list.counts().should_wake() {
                wake(&list, &woken);
            }
        }
        let ends: Vec<End> = others.into_iter().map(|other| other.join().unwrap()).collect();
        let count = |end| ends.iter().filter(|&&other| other == end).count();
        let woken = woken.load(Ordering::Relaxed);
        let searching = woken + count(End::Woken);
        assert_eq!(list.counts().searching(), searching, "the number of searching explorers");
        let listed = Arc::into_inner(list).expect("all explorers have ended").into_explorers().len();
        assert_eq!(listed + woken, count(End::Idle), "an explorer is lost");
        assert!(thief.is_empty() || listed == 0 || searching > 0, "a task is left alone");
    });
}

#[test]
fn no_explorer_stays_idle_while_a_task_is_left_alone() {
    idle_explorers(1, 1, Flaw::None);
}

#[test]
fn of_two_explorers_none_stays_idle_while_a_task_is_left_alone() {
    idle_explorers(2, 2, Flaw::None);
}

#[test]
fn an_explorer_that_does_not_look_once_more_is_caught() {
    let passed = std::panic::catch_unwind(|| idle_explorers(1, 1, Flaw::NoLastLook));
    assert!(passed.is_err(), "the model does not notice");
}

#[test]
fn a_last_searcher_that_wakes_no_explorer_is_caught() {
    let passed = std::panic::catch_unwind(|| idle_explorers(2, 2, Flaw::NoWake));
    assert!(passed.is_err(), "the model does not notice");
}
