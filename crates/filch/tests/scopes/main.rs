//! Scopes: all tasks end before the scope ends, also if some panic. It does not matter which worker
//! runs them.

#[path = "../common/mod.rs"]
mod common;
mod from_outside;
mod nested;
mod panics;
mod steals;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Barrier;
use std::thread;

use common::{build, for_each_pool_kind, pool, spin_until, watchdog, Drops};
use filch::{Pool, Scope};

#[test]
fn a_scope_returns_the_result_of_its_closure() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        assert_eq!(pool.scope(|_| "result"), "result");
        assert_eq!(pool.install(|| filch::scope(|scope| scope.spawn(|_| ()))), ());
    });
    assert_eq!(filch::scope(|_| 1), 1);
}

#[test]
fn every_task_ends_before_the_scope_ends() {
    let _watchdog = watchdog();
    for threads in [1, 2, 5] {
        for_each_pool_kind(threads, |pool| {
            for tasks in [0, 1, 2, 100, 3000] {
                let finished = AtomicUsize::new(0);
                pool.scope(|scope| {
                    for _ in 0..tasks {
                        scope.spawn(|_| {
                            finished.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
                assert_eq!(finished.into_inner(), tasks);
            }
        });
    }
}

#[test]
fn tasks_can_borrow_and_change_values_that_outlive_the_scope() {
    let _watchdog = watchdog();
    let mut numbers: Vec<usize> = vec![0; 500];
    pool(2).scope(|scope| {
        for (index, number) in numbers.iter_mut().enumerate() {
            scope.spawn(move |_| *number = index);
        }
    });
    assert_eq!(numbers, (0..500).collect::<Vec<_>>());
}

fn spawn_tree<'scope>(scope: &Scope<'scope>, depth: u32, finished: &'scope AtomicUsize) {
    finished.fetch_add(1, Ordering::Relaxed);
    if depth > 0 {
        for _ in 0..2 {
            scope.spawn(move |scope| spawn_tree(scope, depth - 1, finished));
        }
    }
}

#[test]
fn tasks_can_spawn_tasks() {
    let _watchdog = watchdog();
    for threads in [1, 2, 5] {
        for_each_pool_kind(threads, |pool| {
            let finished = AtomicUsize::new(0);
            pool.scope(|scope| spawn_tree(scope, 10, &finished));
            assert_eq!(finished.into_inner(), 2047);
        });
    }
}

#[test]
fn tasks_can_wait_for_each_other_on_enough_workers() {
    let _watchdog = watchdog();
    for_each_pool_kind(3, |pool| {
        let barrier = Barrier::new(3);
        for _ in 0..300 {
            pool.scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|_| {
                        barrier.wait();
                    });
                }
                barrier.wait();
            });
        }
    });
}

#[test]
fn a_task_spawned_while_the_owner_of_the_scope_waits_runs() {
    // The last free worker is the one at the scope's end, asleep.
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..200 {
            let (taken, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
            pool.scope(|scope| {
                scope.spawn(|scope| {
                    taken.store(1, Ordering::Release);
                    scope.spawn(|_| finished.store(1, Ordering::Release));
                    spin_until(|| finished.load(Ordering::Acquire) == 1);
                });
                spin_until(|| taken.load(Ordering::Acquire) == 1);
            });
        }
    });
}

#[test]
fn many_scopes_can_be_open_at_once() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        let finished = AtomicUsize::new(0);
        thread::scope(|threads| {
            for _ in 0..6 {
                threads.spawn(|| {
                    for _ in 0..100 {
                        pool.scope(|scope| spawn_tree(scope, 4, &finished));
                    }
                });
            }
        });
        assert_eq!(finished.into_inner(), 6 * 100 * 31);
    });
}

#[test]
fn tasks_can_join_beyond_the_end_of_the_fork_stack() {
    fn tree(depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let (a, b) = filch::join(|| tree(depth - 1), || tree(depth - 1));
        a + b
    }
    let _watchdog = watchdog();
    for (fences, waiting) in common::POOL_KINDS {
        let pool = build(Pool::builder().threads(3).fences(fences).waiting(waiting).fork_depth(3));
        let sum = AtomicUsize::new(0);
        pool.scope(|scope| {
            for _ in 0..50 {
                scope.spawn(|_| {
                    sum.fetch_add(tree(8) as usize, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(sum.into_inner(), 50 * 256);
    }
}

#[test]
fn tasks_of_all_sizes_and_alignments_run_with_their_values() {
    #[repr(align(64))]
    struct Aligned(u8);

    fn own<const WORDS: usize>(pool: &Pool, drops: &Drops) -> usize {
        let sum = AtomicUsize::new(0);
        pool.scope(|scope| {
            for index in 0..100 {
                let (sum, words, owned) = (&sum, [index; WORDS], drops.new_value());
                scope.spawn(move |_| {
                    let _owned = owned;
                    sum.fetch_add(words.iter().sum::<usize>(), Ordering::Relaxed);
                });
            }
        });
        sum.into_inner()
    }
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        let drops = Drops::default();
        assert_eq!(own::<0>(pool, &drops), 0);
        assert_eq!(own::<1>(pool, &drops), 4950);
        assert_eq!(own::<3>(pool, &drops), 3 * 4950);
        assert_eq!(own::<4>(pool, &drops), 4 * 4950);
        assert_eq!(own::<100>(pool, &drops), 100 * 4950);
        assert_eq!(drops.count(), 500);
        let sum = AtomicUsize::new(0);
        pool.scope(|scope| {
            for index in 0..100 {
                let (sum, aligned) = (&sum, Aligned(index));
                scope.spawn(move |_| {
                    let aligned = aligned;
                    assert_eq!(std::ptr::from_ref(&aligned).addr() % 64, 0);
                    sum.fetch_add(aligned.0.into(), Ordering::Relaxed);
                });
                scope.spawn(|_| ());
            }
        });
        assert_eq!(sum.into_inner(), 4950);
    });
}

#[test]
fn both_closures_of_a_join_can_spawn_into_the_scope_around_it() {
    fn spawn_in_both<'scope>(scope: &Scope<'scope>, depth: u32, finished: &'scope AtomicUsize) {
        if depth == 0 {
            scope.spawn(move |_| {
                finished.fetch_add(1, Ordering::Relaxed);
            });
            return;
        }
        filch::join(|| spawn_in_both(scope, depth - 1, finished), || spawn_in_both(scope, depth - 1, finished));
    }
    let _watchdog = watchdog();
    for threads in [1, 2, 5] {
        for_each_pool_kind(threads, |pool| {
            for _ in 0..20 {
                let finished = AtomicUsize::new(0);
                pool.scope(|scope| spawn_in_both(scope, 6, &finished));
                assert_eq!(finished.into_inner(), 64);
            }
        });
    }
}
