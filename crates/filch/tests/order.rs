//! The order in which one worker runs what it has spawned.

mod common;

use std::sync::mpsc::{channel, Sender};
use std::sync::Mutex;

use common::{for_each_kind, watchdog};
use filch::{Pool, Scope};

type Spawn = fn(Box<dyn FnOnce() + Send>);

/// Spawns ten jobs one way, each of which spawns ten another way. Returns the order in which these
/// run on one worker.
fn spawned(pool: &Pool, outer: Spawn, inner: Spawn) -> Vec<usize> {
    let (sender, receiver) = channel();
    pool.install(|| {
        for i in 0..10 {
            let sender: Sender<usize> = sender.clone();
            outer(Box::new(move || {
                for j in 0..10 {
                    let sender = sender.clone();
                    inner(Box::new(move || sender.send(10 * i + j).unwrap()));
                }
            }));
        }
    });
    drop(sender);
    receiver.iter().collect()
}

/// Returns the numbers below a hundred, in the order of their tens. Within those, they are in the
/// order of their ones.
fn hundred(tens_rise: bool, ones_rise: bool) -> Vec<usize> {
    let along = |rise: bool, i: usize| if rise { i } else { 9 - i };
    (0..100).map(|n| 10 * along(tens_rise, n / 10) + along(ones_rise, n % 10)).collect()
}

#[test]
fn spawns_run_youngest_first_and_fifo_ones_in_turn() {
    let _watchdog = watchdog();
    for_each_kind(1, |pool| {
        assert_eq!(spawned(pool, filch::spawn, filch::spawn), hundred(false, false));
        assert_eq!(spawned(pool, filch::spawn_fifo, filch::spawn_fifo), hundred(true, true));
        assert_eq!(spawned(pool, filch::spawn, filch::spawn_fifo), hundred(false, true));
        assert_eq!(spawned(pool, filch::spawn_fifo, filch::spawn), hundred(true, false));
    });
}

#[test]
fn spawns_of_both_kinds_keep_their_places_and_the_fifo_ones_their_turns() {
    let _watchdog = watchdog();
    for_each_kind(1, |pool| {
        let (sender, receiver) = channel();
        pool.install(|| {
            for i in 0..4 {
                let sender = [sender.clone(), sender.clone()];
                let [young, old] = sender;
                filch::spawn(move || young.send(i).unwrap());
                filch::spawn_fifo(move || old.send(100 + i).unwrap());
            }
        });
        drop(sender);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [100, 3, 101, 2, 102, 1, 103, 0]);
    });
}

#[test]
fn fifo_spawns_from_outside_run_in_turn() {
    let _watchdog = watchdog();
    for_each_kind(1, |pool| {
        let (sender, receiver) = channel();
        for i in 0..50 {
            let sender = sender.clone();
            pool.spawn_fifo(move || sender.send(i).unwrap());
        }
        drop(sender);
        assert!(receiver.iter().eq(0..50));
    });
}

/// Does the same as `spawned`, for the tasks of a scope.
fn tasks(
    run: impl FnOnce(&(dyn for<'a> Fn(&Scope<'a>, &'a Mutex<Vec<usize>>) + Sync), &Mutex<Vec<usize>>),
) -> Vec<usize> {
    let order = Mutex::new(Vec::new());
    fn ten_times_ten<'a>(scope: &Scope<'a>, order: &'a Mutex<Vec<usize>>) {
        for i in 0..10 {
            scope.spawn(move |scope| {
                for j in 0..10 {
                    scope.spawn(move |_| order.lock().unwrap().push(10 * i + j));
                }
            });
        }
    }
    run(&ten_times_ten, &order);
    order.into_inner().unwrap()
}

#[test]
fn a_worker_runs_its_own_tasks_in_the_order_of_the_scope() {
    let _watchdog = watchdog();
    for_each_kind(1, |pool| {
        assert_eq!(tasks(|body, order| pool.scope(|scope| body(scope, order))), hundred(false, false));
        assert_eq!(tasks(|body, order| pool.scope_fifo(|scope| body(scope, order))), hundred(true, true));
    });
}

#[test]
fn tasks_from_outside_are_taken_in_the_order_in_which_they_came() {
    let _watchdog = watchdog();
    for_each_kind(1, |pool| {
        let order = Mutex::new(Vec::new());
        pool.in_place_scope_fifo(|scope| {
            for i in 0..50 {
                let order = &order;
                scope.spawn(move |_| order.lock().unwrap().push(i));
            }
        });
        assert!(order.into_inner().unwrap().into_iter().eq(0..50));
    });
}

#[test]
fn every_worker_gets_all_broadcasts_in_the_same_order() {
    let _watchdog = watchdog();
    for_each_kind(3, |pool| {
        let seen: [Mutex<Vec<usize>>; 3] = Default::default();
        std::thread::scope(|threads| {
            for thread in 0..4 {
                let seen = &seen;
                threads.spawn(move || {
                    for turn in 0..25 {
                        pool.broadcast(|part| seen[part.index()].lock().unwrap().push(100 * thread + turn));
                    }
                });
            }
        });
        let seen = seen.map(|order| order.into_inner().unwrap());
        assert_eq!(seen[0].len(), 100);
        assert!(seen[0] == seen[1] && seen[1] == seen[2], "{seen:?}");
    });
}

#[test]
fn a_broadcast_comes_after_what_its_workers_had_spawned() {
    let _watchdog = watchdog();
    for_each_kind(1, |pool| {
        let (sender, receiver) = channel();
        pool.install(|| {
            let before = sender.clone();
            filch::spawn(move || before.send("before").unwrap());
            let after = sender.clone();
            filch::spawn_broadcast(move |_| after.send("after").unwrap());
            let before = sender.clone();
            filch::spawn(move || before.send("before").unwrap());
        });
        drop(sender);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), ["before", "before", "after"]);
    });
}

#[test]
fn what_a_stolen_half_spawns_into_a_fifo_scope_runs_in_turn() {
    let _watchdog = watchdog();
    for_each_kind(2, |pool| {
        for _ in 0..20 {
            let order = Mutex::new(Vec::new());
            let push = |number| order.lock().expect("no panic").push(number);
            let push = &push;
            pool.scope_fifo(|scope| {
                let spawn = || {
                    for number in 0..2 {
                        scope.spawn(move |scope| {
                            push(number);
                            // Mail does not come in between.
                            filch::spawn_broadcast(|_| ());
                            scope.spawn(move |_| push(10 + number));
                        });
                    }
                };
                // Its own worker does nothing else, so the other one runs all tasks.
                let is_over = || order.lock().expect("no panic").len() == 4;
                filch::join(|| common::spin_until(is_over), spawn);
            });
            assert_eq!(order.into_inner().expect("no panic"), [0, 1, 10, 11]);
        }
    });
}
