//! Scopes: all tasks end before the scope ends, also if some panic. It does not matter which worker
//! runs them.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

use common::{build, catch_payload, for_each_pool_kind, panic_with, pool, spin_until, watchdog, Drops};
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
fn threads_outside_of_the_pool_can_spawn_into_a_scope() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        let finished = AtomicUsize::new(0);
        let count = &finished;
        pool.scope(|scope| {
            thread::scope(|threads| {
                for _ in 0..4 {
                    threads.spawn(|| {
                        for _ in 0..100 {
                            scope.spawn(|_| {
                                count.fetch_add(1, Ordering::Relaxed);
                            });
                        }
                    });
                }
            });
        });
        assert_eq!(finished.into_inner(), 400);
    });
}

#[test]
fn a_worker_of_another_pool_can_spawn_into_a_scope() {
    // The task outlives the call in which it was spawned. It must not need the frame of that call.
    #[inline(never)]
    fn use_stack(depth: usize, f: &mut (dyn FnMut() + Send)) {
        // Overwrites the stack that an earlier call has used.
        let frame = std::hint::black_box([usize::MAX / 5; 64]);
        if depth == 0 {
            f();
        } else {
            use_stack(depth - 1, f);
        }
        std::hint::black_box(frame);
    }
    let _watchdog = watchdog();
    for _ in 0..200 {
        let (here, there) = (pool(1), pool(1));
        let finished = AtomicUsize::new(0);
        let (count, there) = (&finished, &there);
        here.scope(|scope| {
            use_stack(8, &mut || {
                there.install(|| {
                    scope.spawn(move |_| {
                        count.fetch_add(there.install(|| 1), Ordering::Relaxed);
                    });
                });
            });
            use_stack(16, &mut || ());
        });
        assert_eq!(finished.into_inner(), 1);
    }
}

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

#[test]
fn a_task_is_stolen_from_a_worker_that_blocks_in_the_closure_of_the_scope() {
    // Whatever the worker has forked and spawned before, and though it pushes nothing more.
    let _watchdog = watchdog();
    for (fences, waiting) in common::POOL_KINDS {
        let pool = build(Pool::builder().threads(2).fences(fences).waiting(waiting));
        for round in 0..200 {
            let finished = AtomicUsize::new(0);
            pool.scope(|scope| {
                (0..round % 7).for_each(|_| filch::scope(|inner| inner.spawn(|_| ())));
                scope.spawn(|_| finished.store(1, Ordering::Release));
                spin_until(|| finished.load(Ordering::Acquire) == 1);
            });
            pool.scope_fifo(|scope| {
                scope.spawn(|_| finished.store(2, Ordering::Release));
                spin_until(|| finished.load(Ordering::Acquire) == 2);
            });
            let finished: &'static AtomicUsize = Box::leak(Box::new(finished));
            pool.install(|| {
                filch::spawn(|| finished.store(3, Ordering::Release));
                spin_until(|| finished.load(Ordering::Acquire) == 3);
            });
        }
    }
}

#[test]
fn a_fifo_scope_ends_after_the_task_that_a_raid_has_just_published() {
    // Many ends with one task, while another worker is about to raid.
    let _watchdog = watchdog();
    for (fences, waiting) in common::POOL_KINDS {
        let pool = build(Pool::builder().threads(3).fences(fences).waiting(waiting));
        pool.install(|| {
            for round in 0..3000u32 {
                let finished = AtomicUsize::new(0);
                filch::scope_fifo(|scope| {
                    scope.spawn(|scope| {
                        scope.spawn(|_| _ = finished.fetch_add(1, Ordering::Relaxed));
                        (0..round % 200).for_each(|_| std::hint::spin_loop());
                        finished.fetch_add(1, Ordering::Relaxed);
                    });
                    (0..round % 300).for_each(|_| std::hint::spin_loop());
                });
                assert_eq!(finished.into_inner(), 2);
            }
        });
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

#[test]
fn a_task_that_a_stolen_closure_spawns_can_run_on_the_worker_that_waits_for_the_scope() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..20 {
            let (begun, ran) = (AtomicUsize::new(0), AtomicUsize::new(0));
            pool.scope(|scope| {
                let leave = || {
                    begun.fetch_add(1, Ordering::Relaxed);
                    // The second of these tasks blocks until the first was run: by the owner of the
                    // scope, if this worker takes the second.
                    scope.spawn(|_| spin_until(|| ran.load(Ordering::Relaxed) > 0));
                    scope.spawn(|_| {
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                };
                filch::join(|| spin_until(|| begun.load(Ordering::Relaxed) > 0), leave);
            });
        }
    });
}
