//! Scopes within scopes, FIFO scopes too, also more of them than a worker has deques for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use crate::common::{self, build, for_each_pool_kind, watchdog};
use filch::{Pool, Scope};

#[test]
fn scopes_can_be_nested_in_tasks_joins_and_scopes() {
    fn nest(depth: u32, finished: &AtomicUsize) {
        if depth == 0 {
            finished.fetch_add(1, Ordering::Relaxed);
            return;
        }
        filch::scope(|scope| {
            scope.spawn(|_| nest(depth - 1, finished));
            scope.spawn(|_| {
                filch::join(|| nest(depth - 1, finished), || nest(depth - 1, finished));
            });
        });
    }
    let _watchdog = watchdog();
    for threads in [1, 2, 5] {
        for_each_pool_kind(threads, |pool| {
            let finished = AtomicUsize::new(0);
            pool.install(|| nest(6, &finished));
            assert_eq!(finished.into_inner(), 729);
        });
    }
}

#[test]
fn an_inner_scopes_task_can_spawn_into_the_outer_scope() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..100 {
            let finished = AtomicUsize::new(0);
            let count = &finished;
            pool.scope(|outer| {
                for _ in 0..4 {
                    filch::scope(|inner| {
                        inner.spawn(|_| {
                            outer.spawn(|outer| {
                                count.fetch_add(1, Ordering::Relaxed);
                                outer.spawn(|_| {
                                    count.fetch_add(1, Ordering::Relaxed);
                                });
                            });
                        });
                    });
                }
            });
            assert_eq!(finished.into_inner(), 8);
        }
    });
}

#[test]
fn scopes_can_be_nested_deeper_than_a_worker_has_segments() {
    fn nest(depth: usize, finished: &AtomicUsize) {
        finished.fetch_add(1, Ordering::Relaxed);
        if depth > 0 {
            filch::scope(|scope| {
                scope.spawn(|_| {
                    finished.fetch_add(1, Ordering::Relaxed);
                });
                nest(depth - 1, finished);
                scope.spawn(|_| {
                    finished.fetch_add(1, Ordering::Relaxed);
                });
            });
        }
    }
    let _watchdog = watchdog();
    for (fences, waiting) in common::POOL_KINDS {
        for threads in [1, 3] {
            let pool = build(Pool::builder().threads(threads).fences(fences).waiting(waiting).stack_size(16 << 20));
            let finished = AtomicUsize::new(0);
            pool.install(|| nest(400, &finished));
            assert_eq!(finished.into_inner(), 1201);
        }
    }
}

#[test]
fn fifo_scopes_nested_deeper_than_a_worker_has_lanes_keep_their_order() {
    fn nest(depth: usize, order: &Mutex<Vec<usize>>) {
        filch::scope_fifo(|scope| {
            for number in 0..3 {
                scope.spawn(move |_| order.lock().expect("a task panicked").push(10 * depth + number));
            }
            if depth > 0 {
                nest(depth - 1, order);
            }
            scope.spawn(move |_| order.lock().expect("a task panicked").push(10 * depth + 3));
        });
    }
    let _watchdog = watchdog();
    for (fences, waiting) in common::POOL_KINDS {
        let pool = build(Pool::builder().threads(1).fences(fences).waiting(waiting));
        let order = Mutex::new(Vec::new());
        pool.install(|| nest(20, &order));
        let order = order.into_inner().expect("a task panicked");
        for depth in 0..=20 {
            let of_depth: Vec<_> =
                order.iter().filter(|&&number| number / 10 == depth).map(|number| number % 10).collect();
            assert_eq!(of_depth, [0, 1, 2, 3], "depth {depth}");
        }
        let pool = build(Pool::builder().threads(3).fences(fences).waiting(waiting));
        let order = Mutex::new(Vec::new());
        (0..20).for_each(|_| pool.install(|| nest(20, &order)));
        assert_eq!(order.into_inner().expect("a task panicked").len(), 20 * 21 * 4);
    }
}

#[test]
fn a_task_for_an_outer_fifo_scope_runs_in_fifo_order() {
    let _watchdog = watchdog();
    for (fences, waiting) in common::POOL_KINDS {
        let pool = build(Pool::builder().threads(1).fences(fences).waiting(waiting));
        let order = Mutex::new(Vec::new());
        let push = |number: u32| order.lock().expect("a task panicked").push(number);
        pool.scope_fifo(|outer| {
            outer.spawn(|_| push(0));
            filch::scope(|_| outer.spawn(|_| push(1)));
            filch::scope_fifo(|_| outer.spawn(|_| push(2)));
            outer.spawn(|_| push(3));
        });
        assert_eq!(order.into_inner().expect("a task panicked"), [0, 1, 2, 3]);
    }
}

#[test]
fn stolen_closures_can_spawn_many_tasks_into_many_scopes() {
    /// Nests more scopes than a worker has deques for such tasks.
    fn nest(scopes: &mut Vec<&Scope<'_>>, depth: usize, finished: &AtomicUsize) {
        if depth > 0 {
            return filch::scope(|scope| {
                // SAFETY: the scope outlives the call, and the list is cut back before it ends.
                let scope: &Scope<'_> = unsafe { &*std::ptr::from_ref(scope).cast() };
                let mut scopes = scopes.clone();
                scopes.push(scope);
                nest(&mut scopes, depth - 1, finished);
            });
        }
        // SAFETY: all these scopes wait for their tasks, which use the count alone.
        let finished: &'static AtomicUsize = unsafe { &*std::ptr::from_ref(finished) };
        let spawn_all = || {
            for _ in 0..20 {
                for scope in scopes.iter() {
                    scope.spawn(move |_| {
                        finished.fetch_add(1, Ordering::Relaxed);
                    });
                }
            }
        };
        filch::join(|| filch::join(spawn_all, spawn_all), || filch::join(spawn_all, spawn_all));
    }
    let _watchdog = watchdog();
    for threads in [1, 2, 4] {
        for_each_pool_kind(threads, |pool| {
            for _ in 0..20 {
                let finished = AtomicUsize::new(0);
                pool.install(|| nest(&mut Vec::new(), 12, &finished));
                assert_eq!(finished.into_inner(), 4 * 20 * 12);
            }
        });
    }
}
