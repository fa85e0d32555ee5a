//! Scopes whose closure stays on the calling thread, which need not be a worker.

mod common;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::Barrier;
use std::thread;

use common::{build, for_each_kind, panic_of, panic_with, pool, watchdog, Drops};
use filch::{Pool, Waiting};

#[test]
fn the_closure_stays_on_its_thread_and_the_tasks_go_to_the_pool() {
    let _watchdog = watchdog();
    for_each_kind(2, |pool| {
        let here = thread::current().id();
        let local = Rc::new(Cell::new(0));
        let workers = AtomicUsize::new(0);
        let result = pool.in_place_scope(|scope| {
            assert_eq!(thread::current().id(), here);
            for _ in 0..100 {
                scope.spawn(|_| {
                    assert_eq!(filch::threads(), 2);
                    assert!(filch::index().is_some());
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
fn without_a_pool_they_use_the_global_one_and_inside_of_one_that() {
    let _watchdog = watchdog();
    let count = |over: &mut usize| *over += 1;
    let mut over = 0;
    filch::in_place_scope(|scope| scope.spawn(|_| count(&mut over)));
    filch::in_place_scope_fifo(|scope| scope.spawn(|_| count(&mut over)));
    pool(1).install(|| filch::in_place_scope(|scope| scope.spawn(|_| count(&mut over))));
    assert_eq!(over, 3);
}

#[test]
fn the_closure_may_wait_for_its_tasks_even_on_a_pool_of_one() {
    let _watchdog = watchdog();
    for_each_kind(1, |pool| {
        let (sender, receiver) = channel();
        pool.in_place_scope(|scope| {
            scope.spawn(move |_| sender.send(5).unwrap());
            assert_eq!(receiver.recv(), Ok(5));
        });
    });
}

#[test]
fn the_closure_may_use_the_pool_while_the_scope_is_open() {
    let _watchdog = watchdog();
    for_each_kind(2, |pool| {
        for _ in 0..200 {
            let over = AtomicUsize::new(0);
            pool.in_place_scope(|scope| {
                scope.spawn(|_| {
                    over.fetch_add(1, Ordering::Relaxed);
                });
                // The end of that task must not be mistaken for the end of this install.
                assert_eq!(pool.install(|| filch::join(|| 1, || 2)), (1, 2));
                pool.in_place_scope(|inner| {
                    inner.spawn(|_| {
                        over.fetch_add(1, Ordering::Relaxed);
                    });
                });
            });
            assert_eq!(over.into_inner(), 2);
        }
    });
}

#[test]
fn a_worker_of_another_pool_waits_for_the_tasks_and_takes_back_what_comes_home() {
    let _watchdog = watchdog();
    for waiting in [Waiting::Strict, Waiting::StrictInPool, Waiting::Any] {
        let new = || build(Pool::builder().threads(1).waiting(waiting));
        let (here, there) = (new(), new());
        let over = AtomicUsize::new(0);
        here.install(|| {
            there.in_place_scope(|scope| {
                for _ in 0..50 {
                    scope.spawn(|_| {
                        // The only worker of that pool waits at the end of the scope.
                        here.install(|| over.fetch_add(1, Ordering::Relaxed));
                    });
                }
            });
        });
        assert_eq!(over.into_inner(), 50);
    }
}

#[test]
fn all_tasks_run_whatever_panics_and_the_first_panic_goes_on() {
    let _watchdog = watchdog();
    for_each_kind(2, |pool| {
        let over = AtomicUsize::new(0);
        let body = panic_of::<&str, _>(|| {
            pool.in_place_scope(|scope| {
                scope.spawn(|_| {
                    over.fetch_add(1, Ordering::Relaxed);
                });
                panic_with("body");
            });
        });
        let task = panic_of::<&str, _>(|| pool.in_place_scope(|scope| scope.spawn(|_| panic_with("task"))));
        assert_eq!((body, task, over.into_inner()), ("body", "task", 1));
    });
}

#[test]
fn a_broadcast_in_a_scope_runs_on_each_worker_and_its_closure_is_gone_with_the_scope() {
    let _watchdog = watchdog();
    for_each_kind(3, |pool| {
        let drops = Drops::default();
        let parts = AtomicUsize::new(0);
        let meeting = Barrier::new(4);
        let counted = drops.one();
        pool.in_place_scope(|scope| {
            scope.spawn_broadcast(|scope, part| {
                let _ = &counted;
                assert_eq!(filch::index(), Some(part.index()));
                parts.fetch_add(1 << (8 * part.index()), Ordering::Relaxed);
                // All parts at once, and the thread of the scope as well.
                meeting.wait();
                scope.spawn(|_| {
                    parts.fetch_add(1 << 24, Ordering::Relaxed);
                });
            });
            meeting.wait();
        });
        assert_eq!(parts.into_inner(), 0x0301_0101);
        drop(counted);
        assert_eq!(drops.count(), 1);

        let owned = drops.one();
        pool.scope(|scope| scope.spawn_broadcast(move |_, _| _ = &owned));
        assert_eq!(drops.count(), 2);
    });
}

#[test]
fn broadcasts_in_scopes_nest_and_their_panics_come_out() {
    let _watchdog = watchdog();
    for_each_kind(3, |pool| {
        let parts = AtomicUsize::new(0);
        let panic = panic_of::<usize, _>(|| {
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
