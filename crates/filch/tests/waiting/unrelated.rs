//! Work that a wait does not need: the waiting worker leaves it alone.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use crate::common::{build, flag, is_set, pool, set, spin_until, watchdog, SpinBarrier, POOL_KINDS};
use crate::{for_each_strict_pool, inside, is_inside, leak, spin_briefly_until, tree, INSIDE};
use filch::{Pool, Waiting};

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
