//! Panics of tasks and of the closure, and the values that tasks own.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{catch_payload, for_each_pool_kind, panic_with, pool, watchdog, Drops};

#[test]
fn a_panic_in_a_task_resumes_after_every_task_has_run() {
    let _watchdog = watchdog();
    for threads in [1, 3] {
        for_each_pool_kind(threads, |pool| {
            for _ in 0..50 {
                let (finished, tasks) = (AtomicUsize::new(0), 50);
                let payload: &str = catch_payload(|| {
                    pool.scope(|scope| {
                        for index in 0..tasks {
                            let finished = &finished;
                            scope.spawn(move |_| {
                                finished.fetch_add(1, Ordering::Relaxed);
                                if index == 20 {
                                    panic_with("task");
                                }
                            });
                        }
                    })
                });
                assert_eq!(payload, "task");
                assert_eq!(finished.into_inner(), tasks);
            }
        });
    }
}

#[test]
fn a_panic_in_the_closure_resumes_after_every_task_has_run() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..50 {
            let finished = AtomicUsize::new(0);
            let payload: &str = catch_payload(|| {
                pool.scope(|scope| {
                    for _ in 0..20 {
                        scope.spawn(|_| {
                            finished.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                    panic_with("closure")
                })
            });
            assert_eq!(payload, "closure");
            assert_eq!(finished.into_inner(), 20);
        }
    });
}

#[test]
fn one_panic_resumes_when_all_tasks_panic() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        let finished = AtomicUsize::new(0);
        let payload: usize = catch_payload(|| {
            pool.scope(|scope| {
                for index in 0..50usize {
                    let finished = &finished;
                    scope.spawn(move |_| {
                        finished.fetch_add(1, Ordering::Relaxed);
                        panic_with(index)
                    });
                }
            })
        });
        assert!(payload < 50);
        assert_eq!(finished.into_inner(), 50);
    });
}

#[test]
fn on_a_single_worker_the_panic_of_the_youngest_task_resumes() {
    // The youngest is run first, and so panics first.
    let _watchdog = watchdog();
    let payload: usize = catch_payload(|| {
        pool(1).scope(|scope| {
            for index in 0..10usize {
                scope.spawn(move |_| panic_with(index));
            }
        })
    });
    assert_eq!(payload, 9);
}

#[test]
fn values_owned_by_tasks_are_dropped_once_before_the_scope_ends() {
    let _watchdog = watchdog();
    for threads in [1, 3] {
        for_each_pool_kind(threads, |pool| {
            let drops = Drops::default();
            for round in 1..=100 {
                pool.scope(|scope| {
                    for _ in 0..10 {
                        let owned = drops.new_value();
                        scope.spawn(move |_| drop(owned));
                    }
                    for _ in 0..10 {
                        let owned = drops.new_value();
                        scope.spawn(move |_| {
                            let _owned = owned;
                        });
                    }
                });
                assert_eq!(drops.count(), 20 * round);
            }
        });
    }
}

#[test]
fn values_owned_by_a_panicking_task_are_dropped_once() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        let drops = Drops::default();
        for round in 1..=100 {
            let payload: &str = catch_payload(|| {
                pool.scope(|scope| {
                    for _ in 0..10 {
                        let owned = drops.new_value();
                        scope.spawn(move |_| {
                            let _owned = owned;
                            panic_with("task")
                        });
                    }
                })
            });
            assert_eq!((payload, drops.count()), ("task", 10 * round));
        }
    });
}
