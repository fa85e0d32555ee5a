//! Scopes whose closure stays on the calling thread, which need not be a worker.

mod common;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::Barrier;
use std::thread;

use common::{build, catch_payload, for_each_pool_kind, panic_with, pool, watchdog, Drops};
use filch::{Pool, Waiting};

#[test]
fn the_closure_runs_on_its_thread_and_the_tasks_run_in_the_pool() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        let here = thread::current().id();
        let local = Rc::new(Cell::new(0));
        let workers = AtomicUsize::new(0);
        let result = pool.in_place_scope(|scope| {
            assert_eq!(thread::current().id(), here);
            for _ in 0..100 {
                scope.spawn(|_| {
                    assert_eq!(filch::current_num_threads(), 2);
                    assert!(filch::current_thread_index().is_some());
                    workers.fetch_add(1, Ordering::Relaxed);
                });
            }
            local.set(7);
            Rc::clone(&local)
        });
        assert_eq!((result.get(), workers.into_inner()), (7, 100));
    });
}

#[test]
fn in_place_scopes_use_the_current_pool_or_the_global_pool() {
    let _watchdog = watchdog();
    let count = |finished: &mut usize| *finished += 1;
    let mut finished = 0;
    filch::in_place_scope(|scope| scope.spawn(|_| count(&mut finished)));
    filch::in_place_scope_fifo(|scope| scope.spawn(|_| count(&mut finished)));
    pool(1).install(|| filch::in_place_scope(|scope| scope.spawn(|_| count(&mut finished))));
    assert_eq!(finished, 3);
}

#[test]
fn the_closure_can_wait_for_its_tasks_even_in_a_pool_of_one() {
    let _watchdog = watchdog();
    for_each_pool_kind(1, |pool| {
        let (sender, receiver) = channel();
        pool.in_place_scope(|scope| {
            scope.spawn(move |_| sender.send(5).unwrap());
            assert_eq!(receiver.recv(), Ok(5));
        });
    });
}

#[test]
fn the_closure_can_use_the_pool_while_the_scope_is_open() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..200 {
            let finished = AtomicUsize::new(0);
            pool.in_place_scope(|scope| {
                scope.spawn(|_| {
                    finished.fetch_add(1, Ordering::Relaxed);
                });
                // The end of that task must not be mistaken for the end of this install.
                assert_eq!(pool.install(|| filch::join(|| 1, || 2)), (1, 2));
                pool.in_place_scope(|inner| {
                    inner.spawn(|_| {
                        finished.fetch_add(1, Ordering::Relaxed);
                    });
                });
            });
            assert_eq!(finished.into_inner(), 2);
        }
    });
}

#[test]
fn a_worker_of_another_pool_that_waits_for_the_tasks_runs_their_installs_into_its_own_pool() {
    let _watchdog = watchdog();
    for waiting in [Waiting::Strict, Waiting::StrictInPool, Waiting::Any] {
        let new = || build(Pool::builder().threads(1).waiting(waiting));
        let (here, there) = (new(), new());
        let finished = AtomicUsize::new(0);
        here.install(|| {
            there.in_place_scope(|scope| {
                for _ in 0..50 {
                    scope.spawn(|_| {
                        // The only worker of that pool waits at the end of the scope.
                        here.install(|| finished.fetch_add(1, Ordering::Relaxed));
                    });
                }
            });
        });
        assert_eq!(finished.into_inner(), 50);
    }
}

#[test]
fn all_tasks_run_despite_panics_and_the_first_panic_resumes() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        let finished = AtomicUsize::new(0);
        let body = catch_payload::<&str, _>(|| {
            pool.in_place_scope(|scope| {
                scope.spawn(|_| {
                    finished.fetch_add(1, Ordering::Relaxed);
                });
                panic_with("body");
            });
        });
        let task = catch_payload::<&str, _>(|| pool.in_place_scope(|scope| scope.spawn(|_| panic_with("task"))));
        assert_eq!((body, task, finished.into_inner()), ("body", "task", 1));
    });
}

#[test]
fn a_broadcast_in_a_scope_runs_on_each_worker_and_its_closure_is_dropped_with_the_scope() {
    let _watchdog = watchdog();
    for_each_pool_kind(3, |pool| {
        let drops = Drops::default();
        let parts = AtomicUsize::new(0);
        let barrier = Barrier::new(4);
        let counted = drops.new_value();
        pool.in_place_scope(|scope| {
            scope.spawn_broadcast(|scope, part| {
                let _ = &counted;
                assert_eq!(filch::current_thread_index(), Some(part.index()));
                parts.fetch_add(1 << (8 * part.index()), Ordering::Relaxed);
                // All parts at once, and the thread of the scope as well.
                barrier.wait();
                scope.spawn(|_| {
                    parts.fetch_add(1 << 24, Ordering::Relaxed);
                });
            });
            barrier.wait();
        });
        assert_eq!(parts.into_inner(), 0x0301_0101);
        drop(counted);
        assert_eq!(drops.count(), 1);

        let owned = drops.new_value();
        pool.scope(|scope| scope.spawn_broadcast(move |_, _| _ = &owned));
        assert_eq!(drops.count(), 2);
    });
}

#[test]
fn broadcasts_in_scopes_can_be_nested_and_their_panics_reach_the_caller() {
    let _watchdog = watchdog();
    for_each_pool_kind(3, |pool| {
        let parts = AtomicUsize::new(0);
        let panic = catch_payload::<usize, _>(|| {
            pool.scope(|scope| {
                scope.spawn_broadcast(|scope, _| {
                    scope.spawn_broadcast(|_, part| {
                        parts.fetch_add(1, Ordering::Relaxed);
                        if part.index() == 1 {
                            panic_with(part.index());
                        }
                    });
                });
            });
        });
        assert_eq!((panic, parts.into_inner()), (1, 9));
    });
}
