//! The order in which one worker runs the jobs and tasks that it spawned.

mod common;

use std::sync::mpsc::{channel, Sender};
use std::sync::Mutex;

use common::{for_each_pool_kind, watchdog};
use filch::{Pool, Scope};

type Spawn = fn(Box<dyn FnOnce() + Send>);

/// Spawns ten jobs one way, each of which spawns ten another way. Returns the order in which these
/// run on one worker.
fn order_of_jobs(pool: &Pool, outer: Spawn, inner: Spawn) -> Vec<usize> {
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
fn expected_order(tens_ascend: bool, ones_ascend: bool) -> Vec<usize> {
    let digit = |ascend: bool, i: usize| if ascend { i } else { 9 - i };
    (0..100).map(|n| 10 * digit(tens_ascend, n / 10) + digit(ones_ascend, n % 10)).collect()
}

#[test]
fn spawned_jobs_run_in_lifo_order_and_fifo_jobs_in_fifo_order() {
    let _watchdog = watchdog();
    for_each_pool_kind(1, |pool| {
        assert_eq!(order_of_jobs(pool, filch::spawn, filch::spawn), expected_order(false, false));
        assert_eq!(order_of_jobs(pool, filch::spawn_fifo, filch::spawn_fifo), expected_order(true, true));
        assert_eq!(order_of_jobs(pool, filch::spawn, filch::spawn_fifo), expected_order(false, true));
        assert_eq!(order_of_jobs(pool, filch::spawn_fifo, filch::spawn), expected_order(true, false));
    });
}

#[test]
fn mixed_lifo_and_fifo_jobs_alternate_and_the_fifo_jobs_keep_their_order() {
    let _watchdog = watchdog();
    for_each_pool_kind(1, |pool| {
        let (sender, receiver) = channel();
        pool.install(|| {
            for i in 0..4 {
                let (lifo, fifo) = (sender.clone(), sender.clone());
                filch::spawn(move || lifo.send(i).unwrap());
                filch::spawn_fifo(move || fifo.send(100 + i).unwrap());
            }
        });
        drop(sender);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [100, 3, 101, 2, 102, 1, 103, 0]);
    });
}

#[test]
fn fifo_jobs_from_outside_run_in_fifo_order() {
    let _watchdog = watchdog();
    for_each_pool_kind(1, |pool| {
        let (sender, receiver) = channel();
        for i in 0..50 {
            let sender = sender.clone();
            pool.spawn_fifo(move || sender.send(i).unwrap());
        }
        drop(sender);
        assert!(receiver.iter().eq(0..50));
    });
}

/// Does the same as `order_of_jobs`, for the tasks of a scope.
fn order_of_tasks(
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
    for_each_pool_kind(1, |pool| {
        assert_eq!(order_of_tasks(|body, order| pool.scope(|scope| body(scope, order))), expected_order(false, false));
        assert_eq!(
            order_of_tasks(|body, order| pool.scope_fifo(|scope| body(scope, order))),
            expected_order(true, true)
        );
    });
}

#[test]
fn tasks_from_outside_run_in_spawn_order() {
    let _watchdog = watchdog();
    for_each_pool_kind(1, |pool| {
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
fn every_worker_runs_all_broadcasts_in_the_same_order() {
    let _watchdog = watchdog();
    for_each_pool_kind(3, |pool| {
        let seen: [Mutex<Vec<usize>>; 3] = Default::default();
        std::thread::scope(|threads| {
            for thread in 0..4 {
                let seen = &seen;
                threads.spawn(move || {
                    for round in 0..25 {
                        pool.broadcast(|part| seen[part.index()].lock().unwrap().push(100 * thread + round));
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
fn a_broadcast_runs_after_jobs_that_its_workers_spawned() {
    let _watchdog = watchdog();
    for_each_pool_kind(1, |pool| {
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
fn tasks_that_a_stolen_closure_spawns_into_a_fifo_scope_run_in_fifo_order() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        // With a yield, a task runs on top of an older one, but still in FIFO order.
        for yield_fn in [|| None, filch::yield_now, filch::yield_local].repeat(20) {
            let order = Mutex::new(Vec::new());
            let push = |number| order.lock().expect("a task panicked").push(number);
            let push = &push;
            pool.scope_fifo(|scope| {
                let spawn = || {
                    for number in 0..2 {
                        scope.spawn(move |scope| {
                            push(number);
                            // Mail does not run in between.
                            filch::spawn_broadcast(|_| ());
                            scope.spawn(move |_| push(10 + number));
                            yield_fn();
                        });
                    }
                };
                // Its own worker does nothing else, so the other one runs all tasks.
                let all_ran = || order.lock().expect("a task panicked").len() == 4;
                filch::join(|| common::spin_until(all_ran), spawn);
            });
            assert_eq!(order.into_inner().expect("a task panicked"), [0, 1, 10, 11]);
        }
    });
}
