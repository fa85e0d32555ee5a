//! What a worker runs while it waits. Under the strict policy, it runs only what its wait needs.

mod common;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use common::{build, flag, is_set, pool, set, spin_until, spin_until_or_timeout, watchdog, SpinBarrier, POOL_KINDS};
use filch::{Pool, Waiting};

thread_local! {
    /// The number of frames of this thread that must not be entered again above them.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// Runs `f`, during which this thread must not run code that calls [`is_inside`].
fn inside<R>(f: impl FnOnce() -> R) -> R {
    INSIDE.set(INSIDE.get() + 1);
    let result = f();
    INSIDE.set(INSIDE.get() - 1);
    result
}

fn is_inside() -> bool {
    INSIDE.get() > 0
}

/// Runs `f` on pools of each kind that is strict inside.
fn for_each_strict_pool(threads: usize, f: impl Fn(&Pool)) {
    for (fences, waiting) in POOL_KINDS.into_iter().filter(|kind| kind.1 != Waiting::Any) {
        f(&build(Pool::builder().threads(threads).fences(fences).waiting(waiting)));
    }
}

fn tree(depth: u32, leaf: &(dyn Fn() + Sync)) {
    if depth == 0 {
        leaf();
    } else {
        filch::join(|| tree(depth - 1, leaf), || tree(depth - 1, leaf));
    }
}

#[test]
fn the_strict_policy_is_the_default() {
    assert_eq!(Waiting::default(), Waiting::Strict);
}

#[test]
fn a_mutex_held_across_a_join_does_not_deadlock() {
    let _watchdog = watchdog();
    for threads in [2, 4] {
        for_each_strict_pool(threads, |pool| {
            let total = Mutex::new(0u64);
            let rounds = 20;
            for _ in 0..rounds {
                pool.install(|| {
                    // Each of the leaves wants the lock, and forks while it has it.
                    tree(6, &|| {
                        let mut total = total.lock().unwrap();
                        let (a, b) = filch::join(
                            || {
                                let sum = AtomicUsize::new(0);
                                tree(4, &|| {
                                    sum.fetch_add(1, Ordering::Relaxed);
                                });
                                sum.into_inner() as u64
                            },
                            || 1,
                        );
                        *total += a + b;
                    });
                });
            }
            assert_eq!(total.into_inner().unwrap(), rounds * 64 * 17);
        });
    }
}

#[test]
fn a_mutex_held_across_a_scope_does_not_deadlock() {
    let _watchdog = watchdog();
    for_each_strict_pool(3, |pool| {
        let total = Mutex::new(0usize);
        for _ in 0..20 {
            pool.scope(|outer| {
                for _ in 0..16 {
                    outer.spawn(|_| {
                        let mut total = total.lock().unwrap();
                        let inner_total = AtomicUsize::new(0);
                        filch::scope(|inner| {
                            for _ in 0..4 {
                                inner.spawn(|_| {
                                    tree(3, &|| {
                                        inner_total.fetch_add(1, Ordering::Relaxed);
                                    });
                                });
                            }
                        });
                        *total += inner_total.into_inner();
                    });
                }
            });
        }
        assert_eq!(total.into_inner().unwrap(), 20 * 16 * 4 * 8);
    });
}

#[test]
fn a_mutex_held_across_an_install_does_not_deadlock() {
    let _watchdog = watchdog();
    let (here, there) = (pool(2), pool(1));
    let total = Mutex::new(0usize);
    for _ in 0..50 {
        here.scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|_| {
                    let mut total = total.lock().unwrap();
                    // To the other pool, back, and joins on both sides.
                    *total += there.install(|| {
                        let (a, b) = filch::join(|| here.install(|| filch::join(|| 1, || 2)), || 3);
                        a.0 + a.1 + b
                    });
                });
            }
        });
    }
    assert_eq!(total.into_inner().unwrap(), 50 * 8 * 6);
}

/// Waits long enough for a worker to fall asleep, or for the test to fail.
fn spin_briefly_until(condition: impl Fn() -> bool) -> bool {
    spin_until_or_timeout(Duration::from_millis(20), condition)
}

#[test]
fn a_worker_that_waits_for_a_stolen_job_runs_no_unrelated_spawned_jobs() {
    let _watchdog = watchdog();
    for_each_strict_pool(2, |pool| {
        for _ in 0..20 {
            let (ran, barrier) = (leak(AtomicUsize::new(0)), SpinBarrier::new(2));
            pool.install(|| {
                inside(|| {
                    filch::join(
                        || {
                            barrier.wait();
                            // On this worker's own queue.
                            filch::spawn(|| {
                                ran.fetch_add(if is_inside() { 1000 } else { 1 }, Ordering::AcqRel);
                            });
                        },
                        || {
                            barrier.wait();
                            spin_briefly_until(|| ran.load(Ordering::Acquire) != 0);
                        },
                    );
                });
            });
            spin_until(|| ran.load(Ordering::Acquire) != 0);
            assert_eq!(ran.load(Ordering::Acquire), 1);
        }
    });
}

#[test]
fn a_join_does_not_wait_for_unrelated_spawned_work() {
    let _watchdog = watchdog();
    for_each_strict_pool(2, |pool| {
        for _ in 0..100 {
            let (open, finished) = (leak(AtomicBool::new(false)), leak(AtomicBool::new(false)));
            let barrier = SpinBarrier::new(2);
            pool.install(|| {
                filch::join(
                    || {
                        barrier.wait();
                        filch::spawn(|| {
                            spin_until(|| open.load(Ordering::Acquire));
                            finished.store(true, Ordering::Release);
                        });
                    },
                    || {
                        barrier.wait();
                        // Its owner waits now, or soon.
                        tree(6, &|| ());
                    },
                );
            });
            // Whichever worker runs the spawned job, it was not the join.
            assert!(!finished.load(Ordering::Acquire));
            open.store(true, Ordering::Release);
            spin_until(|| finished.load(Ordering::Acquire));
        }
    });
}

#[test]
fn a_worker_that_waits_for_a_stolen_job_runs_no_unrelated_installs_or_tasks() {
    let _watchdog = watchdog();
    for_each_strict_pool(2, |pool| {
        for _ in 0..20 {
            let (ran_inside, waits) = (AtomicBool::new(false), AtomicBool::new(false));
            let barrier = SpinBarrier::new(2);
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    spin_until(|| waits.load(Ordering::Acquire));
                    pool.scope(|scope| {
                        ran_inside.fetch_or(is_inside(), Ordering::AcqRel);
                        scope.spawn(|_| {
                            ran_inside.fetch_or(is_inside(), Ordering::AcqRel);
                        });
                    });
                });
                pool.install(|| {
                    inside(|| {
                        filch::join(
                            || barrier.wait(),
                            || {
                                barrier.wait();
                                waits.store(true, Ordering::Release);
                                spin_briefly_until(|| ran_inside.load(Ordering::Acquire));
                            },
                        );
                    });
                });
            });
            assert!(!ran_inside.into_inner());
        }
    });
}

#[test]
fn the_end_of_a_scope_runs_only_its_own_tasks() {
    let _watchdog = watchdog();
    for_each_strict_pool(2, |pool| {
        for _ in 0..20 {
            let (ran_inside, ran, taken, open) =
                (AtomicBool::new(false), leak(AtomicUsize::new(0)), AtomicBool::new(false), AtomicBool::new(false));
            let unrelated = || {
                ran_inside.fetch_or(is_inside(), Ordering::AcqRel);
                ran.fetch_add(1, Ordering::AcqRel);
            };
            pool.scope(|outer| {
                // The other worker is busy with the inner scope's task until the end.
                filch::scope(|inner| {
                    inner.spawn(|_| {
                        taken.store(true, Ordering::Release);
                        spin_until(|| open.load(Ordering::Acquire));
                    });
                    spin_until(|| taken.load(Ordering::Acquire));
                    for _ in 0..3 {
                        outer.spawn(|_| unrelated());
                        filch::spawn(|| {
                            ran.fetch_add(if is_inside() { 1000 } else { 1 }, Ordering::AcqRel);
                        });
                    }
                    inner.spawn(|_| {
                        // On the scope's own worker, because the other is not free.
                        assert!(is_inside());
                        spin_briefly_until(|| ran.load(Ordering::Acquire) != 0);
                        open.store(true, Ordering::Release);
                    });
                    INSIDE.set(1);
                });
                INSIDE.set(0);
            });
            assert!(!ran_inside.into_inner());
            spin_until(|| ran.load(Ordering::Acquire) >= 6);
            assert_eq!(ran.load(Ordering::Acquire), 6);
        }
    });
}

#[test]
fn a_worker_that_waits_for_another_pool_runs_unrelated_jobs_only_if_the_policy_allows() {
    let _watchdog = watchdog();
    for (fences, waiting) in POOL_KINDS {
        let here = build(Pool::builder().threads(1).fences(fences).waiting(waiting));
        let there = pool(1);
        for _ in 0..20 {
            let ran = leak(AtomicUsize::new(0));
            here.install(|| {
                inside(|| {
                    filch::spawn(|| {
                        ran.fetch_add(if is_inside() { 1000 } else { 1 }, Ordering::AcqRel);
                    });
                    let has_run = || ran.load(Ordering::Acquire) != 0;
                    // Under the strict policy it must not run. Otherwise it runs at some time.
                    there.install(|| match waiting {
                        Waiting::Strict => drop(spin_briefly_until(has_run)),
                        _ => spin_until(has_run),
                    });
                });
            });
            spin_until(|| ran.load(Ordering::Acquire) != 0);
            assert_eq!(ran.load(Ordering::Acquire), if waiting == Waiting::Strict { 1 } else { 1000 });
        }
    }
}

#[test]
fn at_the_end_of_a_scope_older_jobs_are_not_stolen_by_the_owner_of_a_helped_job() {
    // One worker forks `older`, opens a scope, and at its end helps the task of that scope. The
    // other worker runs that task, which has forked `helped`. When the other worker then waits for
    // `helped`, it may take from the helper what descends from `helped`, but not `older`, which
    // does not.
    let _watchdog = watchdog();
    for_each_strict_pool(2, |pool| {
        for _ in 0..20 {
            let (busy, open) = (AtomicBool::new(false), AtomicBool::new(false));
            let (started, helping) = (AtomicBool::new(false), AtomicBool::new(false));
            let ran_inside = AtomicBool::new(false);
            pool.scope(|outermost| {
                outermost.spawn(|_| {
                    busy.store(true, Ordering::Release);
                    spin_until(|| open.load(Ordering::Acquire));
                });
                spin_until(|| busy.load(Ordering::Acquire));
                // Answers the demands that the other worker has left while it was idle, so that
                // `older` is private.
                filch::join(|| (), || ());
                let task = || {
                    started.store(true, Ordering::Release);
                    inside(|| {
                        filch::join(
                            || spin_until(|| helping.load(Ordering::Acquire)),
                            || {
                                helping.store(true, Ordering::Release);
                                spin_briefly_until(|| ran_inside.load(Ordering::Acquire));
                            },
                        );
                    });
                };
                let older = || {
                    ran_inside.fetch_or(is_inside(), Ordering::AcqRel);
                };
                filch::join(
                    || {
                        filch::scope(|scope| {
                            scope.spawn(|_| task());
                            open.store(true, Ordering::Release);
                            spin_until(|| started.load(Ordering::Acquire));
                        });
                    },
                    older,
                );
            });
            assert!(!ran_inside.into_inner(), "a worker that waited for a job ran an older job");
        }
    });
}

#[test]
fn in_a_yield_older_jobs_are_not_stolen_by_the_owner_of_a_helped_job() {
    // As above, but the helper runs `helped` in a yield of its own program, to which `older`
    // belongs.
    let _watchdog = watchdog();
    for_each_strict_pool(2, |pool| {
        for _ in 0..20 {
            let (both, helping) = (SpinBarrier::new(2), AtomicBool::new(false));
            let ran_inside = AtomicBool::new(false);
            let waiter = || {
                both.wait();
                inside(|| {
                    filch::join(
                        || {
                            // Forks, so that it notices that another worker wants work.
                            while !helping.load(Ordering::Acquire) {
                                filch::join(|| (), || ());
                            }
                        },
                        || {
                            helping.store(true, Ordering::Release);
                            spin_briefly_until(|| ran_inside.load(Ordering::Acquire));
                        },
                    );
                });
            };
            let helper = || {
                both.wait();
                filch::join(
                    || {
                        while !helping.load(Ordering::Acquire) {
                            filch::yield_now();
                        }
                    },
                    || ran_inside.fetch_or(is_inside(), Ordering::AcqRel),
                );
            };
            std::thread::scope(|threads| {
                threads.spawn(|| pool.install(waiter));
                threads.spawn(|| pool.install(helper));
            });
            assert!(!ran_inside.into_inner(), "a worker that waited for a job ran an older job");
        }
    });
}

/// Returns the position of the calling thread's stack.
fn stack_address() -> usize {
    let local = 0u8;
    std::ptr::from_ref(std::hint::black_box(&local)).addr()
}

thread_local! {
    /// The highest address seen on this thread.
    static HIGHEST: Cell<usize> = const { Cell::new(0) };
}

/// Returns the most stack that a skewed tree takes on any of the pool's threads. The result is in
/// bytes.
fn most_stack(pool: &Pool, depth: u32) -> usize {
    fn measure(most: &AtomicUsize) {
        HIGHEST.set(HIGHEST.get().max(stack_address()));
        most.fetch_max(HIGHEST.get() - stack_address(), Ordering::Relaxed);
    }
    fn grow(depth: u32, seed: u64, most: &AtomicUsize) {
        measure(most);
        if depth == 0 {
            return;
        }
        let next = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        // One side is short, so that waits are frequent.
        let short = (depth - 1).min((next >> 60) as u32);
        if next >> 40 & 1 == 0 {
            filch::join(|| grow(depth - 1, next, most), || grow(short, !next, most));
        } else {
            filch::join(|| grow(short, !next, most), || grow(depth - 1, next, most));
        }
    }
    let most = AtomicUsize::new(0);
    pool.broadcast(|_| HIGHEST.set(stack_address()));
    for seed in 0..30 {
        pool.install(|| grow(depth, seed, &most));
    }
    most.into_inner()
}

#[test]
fn the_stack_is_bounded_by_the_depth_of_the_program() {
    let _watchdog = watchdog();
    let depth = 60;
    let alone = most_stack(&pool(1), depth);
    for threads in [2, 4, 8] {
        for_each_strict_pool(threads, |pool| {
            let most = most_stack(pool, depth);
            // Each level of the program is at most once on a stack. A stolen one stands on the
            // frames of a wait, which may be larger than those of the level itself: hence the
            // factor.
            assert!(most <= 4 * alone, "{most} bytes on {threads} workers, {alone} bytes on one");
        });
    }
}

#[test]
fn waiting_workers_do_not_nest_tasks() {
    // Every task waits for a stolen job while there are many more tasks. A worker that ran those
    // meanwhile would nest them without bound.
    let _watchdog = watchdog();
    for_each_strict_pool(3, |pool| {
        let nested = AtomicUsize::new(0);
        pool.scope(|scope| {
            for _ in 0..2000 {
                scope.spawn(|_| {
                    nested.fetch_max(INSIDE.get(), Ordering::Relaxed);
                    inside(|| tree(4, &|| ()));
                });
            }
        });
        assert_eq!(nested.into_inner(), 0);
    });
}

#[test]
fn under_the_any_policy_a_waiting_worker_runs_any_job() {
    let _watchdog = watchdog();
    let pool = build(Pool::builder().threads(2).waiting(Waiting::Any));
    for _ in 0..50 {
        let (ran, barrier) = (leak(AtomicBool::new(false)), SpinBarrier::new(2));
        pool.install(|| {
            filch::join(
                || {
                    barrier.wait();
                    filch::spawn(|| ran.store(true, Ordering::Release));
                },
                || {
                    barrier.wait();
                    // Only the worker that waits for this can run it.
                    spin_until(|| ran.load(Ordering::Acquire));
                },
            );
        });
    }
}

/// A worker waits for an inner install of its own. Another worker waits for a job of an outer
/// install. Only the second may run what that job forks.
fn forks_beside_a_nested_install(here: &Pool, there: &Pool) {
    let (begun, is_nested, done) = (flag(), flag(), flag());
    let awaited = || {
        set(&begun);
        // Time for the others to fall asleep.
        thread::sleep(Duration::from_millis(10));
        filch::join(|| spin_until(|| is_set(&done)), || set(&done));
    };
    let outer = || {
        spin_until(|| is_set(&is_nested));
        here.install(|| filch::join(|| spin_until(|| is_set(&begun)), awaited));
    };
    let nested = || {
        here.install(|| {
            there.install(|| {
                set(&is_nested);
                spin_until(|| is_set(&done));
            });
        });
    };
    here.install(|| there.install(|| filch::join(outer, nested)));
}

#[test]
fn a_worker_in_a_nested_install_does_not_take_the_wake_up_of_another() {
    let _watchdog = watchdog();
    let (here, there) = (pool(3), pool(4));
    (0..60).for_each(|_| forks_beside_a_nested_install(&here, &there));
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

#[test]
fn a_task_that_a_part_of_a_broadcast_spawns_does_not_run_in_an_unrelated_wait() {
    let _watchdog = watchdog();
    for_each_strict_pool(2, |pool| {
        let lock = Mutex::new(());
        let begun = flag();
        pool.scope(|scope| {
            let (owner, lock) = (filch::current_thread_index().expect("the scope must run on a worker"), &lock);
            let held = lock.lock().expect("a task panicked");
            scope.spawn_broadcast(move |scope, part| {
                if part.index() == owner {
                    scope.spawn(move |_| drop(lock.lock()));
                }
            });
            let other = || {
                set(&begun);
                // Time for the wait to look at the mail.
                std::thread::sleep(std::time::Duration::from_millis(10));
            };
            filch::join(|| spin_until(|| is_set(&begun)), other);
            drop(held);
        });
    });
}
