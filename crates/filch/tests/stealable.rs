//! Always stealable: an idle worker can steal a forked job, no matter what its owner does.

mod common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use common::{build, flag, for_each_pool_kind, is_set, set, spin_until, watchdog, SpinBarrier};
use filch::{Pool, Waiting};

/// Waits until all workers of the pool sleep, as seen from outside.
fn wait_until_asleep(pool: &Pool) {
    let threads = pool.current_num_threads() as u64;
    let asleep = || {
        let total = pool.stats().total();
        total.sleeps == total.wakes + threads
    };
    spin_until(asleep);
}

#[test]
fn two_closures_can_wait_for_each_other_on_two_workers() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        let barrier = Barrier::new(2);
        for _ in 0..1000 {
            pool.install(|| filch::join(|| barrier.wait(), || barrier.wait()));
        }
        for _ in 0..1000 {
            pool.with_worker(|worker| worker.join(|_| barrier.wait(), |_| barrier.wait()));
        }
    });
}

#[test]
fn two_spinning_closures_can_wait_for_each_other() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..1000 {
            let barrier = SpinBarrier::new(2);
            pool.join(|| barrier.wait(), || barrier.wait());
        }
    });
}

#[test]
fn a_job_forked_while_the_other_workers_sleep_is_stolen() {
    let _watchdog = watchdog();
    for_each_pool_kind(3, |pool| {
        let barrier = Barrier::new(3);
        for _ in 0..200 {
            wait_until_asleep(pool);
            pool.install(|| filch::join!(|| barrier.wait(), || barrier.wait(), || barrier.wait()));
        }
    });
}

#[test]
fn a_job_is_stolen_even_if_its_owner_never_forks_again() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..200 {
            // The other worker sleeps, or is about to, when the job is forked. Nothing happens
            // after that.
            wait_until_asleep(pool);
            let taken = AtomicBool::new(false);
            pool.join(|| spin_until(|| taken.load(Ordering::Acquire)), || taken.store(true, Ordering::Release));
        }
    });
}

/// Spawns jobs that keep workers busy until the gate opens.
fn keep_busy<'env>(scope: &filch::Scope<'env>, workers: usize, busy: &'env AtomicUsize, open: &'env AtomicBool) {
    for _ in 0..workers {
        scope.spawn(|_| {
            busy.fetch_add(1, Ordering::AcqRel);
            spin_until(|| open.load(Ordering::Acquire));
        });
    }
}

#[test]
fn jobs_forked_while_every_worker_is_busy_are_stolen_later() {
    let _watchdog = watchdog();
    for_each_pool_kind(3, |pool| {
        for _ in 0..200 {
            let (busy, open, barrier) = (AtomicUsize::new(0), AtomicBool::new(false), Barrier::new(3));
            pool.scope(|scope| {
                keep_busy(scope, 2, &busy, &open);
                spin_until(|| busy.load(Ordering::Acquire) == 2);
                // No worker is idle: the outer two are forked in private, and no worker forks after
                // that.
                filch::join(
                    || {
                        filch::join(
                            || {
                                open.store(true, Ordering::Release);
                                barrier.wait();
                            },
                            || barrier.wait(),
                        )
                    },
                    || barrier.wait(),
                );
            });
        }
    });
}

#[test]
fn deeply_nested_jobs_forked_while_every_worker_is_busy_are_stolen_later() {
    fn nest(depth: usize, leaf: &(dyn Fn() + Sync), wait_at_barrier: &(dyn Fn() + Sync)) {
        if depth == 0 {
            leaf();
        } else {
            filch::join(|| nest(depth - 1, leaf, wait_at_barrier), wait_at_barrier);
        }
    }
    let _watchdog = watchdog();
    for_each_pool_kind(4, |pool| {
        for _ in 0..100 {
            let (busy, open, barrier) = (AtomicUsize::new(0), AtomicBool::new(false), Barrier::new(4));
            let leaf = || {
                open.store(true, Ordering::Release);
                barrier.wait();
            };
            let wait_at_barrier = || {
                barrier.wait();
            };
            pool.scope(|scope| {
                keep_busy(scope, 3, &busy, &open);
                spin_until(|| busy.load(Ordering::Acquire) == 3);
                nest(3, &leaf, &wait_at_barrier);
            });
        }
    });
}

#[test]
fn all_jobs_of_several_blocked_owners_are_stolen() {
    let _watchdog = watchdog();
    for_each_pool_kind(6, |pool| {
        let barriers = [Barrier::new(3), Barrier::new(3)];
        let started = AtomicUsize::new(0);
        for round in 1..=100 {
            // Two owners, each with two jobs that wait for it; four workers to take them.
            thread::scope(|scope| {
                for barrier in &barriers {
                    let started = &started;
                    scope.spawn(move || {
                        pool.install(|| {
                            started.fetch_add(1, Ordering::AcqRel);
                            spin_until(|| started.load(Ordering::Acquire) == 2 * round);
                            filch::join!(|| barrier.wait(), || barrier.wait(), || barrier.wait());
                        });
                    });
                }
            });
        }
    });
}

#[test]
fn a_job_forked_by_a_thief_is_stolen() {
    let _watchdog = watchdog();
    for_each_pool_kind(3, |pool| {
        let barrier = Barrier::new(3);
        for _ in 0..300 {
            // The second closure forks on the worker that has stolen it.
            pool.join(|| barrier.wait(), || filch::join(|| barrier.wait(), || barrier.wait()));
        }
    });
}

#[test]
fn a_worker_that_waits_steals_a_job_forked_by_the_awaited_closure() {
    // The worker that waits at a join may run what descends from it, and forks there.
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..300 {
            let (taken, barrier) = (SpinBarrier::new(2), Barrier::new(2));
            pool.join(
                || taken.wait(),
                || {
                    taken.wait();
                    // Its owner waits now, and is the only worker that could take this.
                    filch::join(|| barrier.wait(), || barrier.wait());
                },
            );
        }
    });
}

#[test]
fn jobs_are_stolen_while_other_workers_run_short_jobs() {
    let _watchdog = watchdog();
    for_each_pool_kind(3, |pool| {
        let (stop, barrier) = (AtomicBool::new(false), Barrier::new(2));
        thread::scope(|scope| {
            // One worker at a time is busy with short jobs from outside.
            scope.spawn(|| {
                while !stop.load(Ordering::Acquire) {
                    pool.install(|| filch::join(|| (), || ()));
                }
            });
            for _ in 0..1000 {
                pool.join(|| barrier.wait(), || barrier.wait());
            }
            stop.store(true, Ordering::Release);
        });
    });
}

#[test]
fn without_raids_a_blocked_owner_keeps_its_job() {
    let _watchdog = watchdog();
    let pool = build(Pool::builder().threads(2).raid(false).waiting(Waiting::Strict));
    let (busy, open) = (AtomicUsize::new(0), AtomicBool::new(false));
    pool.scope(|scope| {
        // From outside: without raids a task of this worker could stay with it, too.
        thread::scope(|threads| _ = threads.spawn(|| keep_busy(scope, 1, &busy, &open)).join());
        spin_until(|| busy.load(Ordering::Acquire) == 1);
        let home = filch::current_thread_index();
        // Answers the demands that the other worker has left while it was idle.
        filch::join(|| (), || ());
        filch::join(
            || {
                open.store(true, Ordering::Release);
                // Long enough for a raid, if there were one.
                thread::sleep(Duration::from_millis(20));
            },
            || {
                assert_eq!(filch::current_thread_index(), home);
            },
        );
    });
    assert_eq!(pool.stats().total().raids, 0);
}

/// Four workers. `waiter` sleeps until `stolen` is done, `stolen` forks a job and blocks on it, and
/// the idle worker may take the blocking job of the fourth instead. Then the sleeping waiter is the
/// only worker left for what `stolen` has forked.
fn leaves_a_job_to_the_waiter(pool: &Pool) {
    let (begun, other_is_ready, forks_now, done) = (flag(), flag(), flag(), flag());
    let block = || spin_until(|| is_set(&done));
    let stolen = || {
        set(&begun);
        spin_until(|| is_set(&other_is_ready));
        // Time for the waiter and the idle worker to fall asleep.
        thread::sleep(Duration::from_millis(10));
        set(&forks_now);
        filch::join(block, || set(&done));
    };
    let waiter = || filch::join(|| spin_until(|| is_set(&begun)), stolen);
    let fourth = || {
        set(&other_is_ready);
        spin_until(|| is_set(&forks_now));
        filch::join(block, block);
    };
    pool.join(waiter, fourth);
}

#[test]
fn a_sleeping_waiter_is_woken_for_a_job_that_the_last_searcher_did_not_take() {
    let _watchdog = watchdog();
    for_each_pool_kind(4, |pool| (0..30).for_each(|_| leaves_a_job_to_the_waiter(pool)));
}

/// One of two workers waits for the second closure of a join. It is the only one left for what that
/// forks. `before` is what the closure does before it forks; it gets the length of a pause, and the
/// function that forks.
fn forks_for_the_waiter(before: impl Fn(u32, &(dyn Fn() + Sync)) + Sync) {
    let _watchdog = watchdog();
    for (fences, waiting) in common::POOL_KINDS {
        let pool = build(Pool::builder().threads(2).fences(fences).waiting(waiting));
        for pause in 0..300 {
            let (done, stolen) = (flag(), flag());
            let fork = || _ = filch::join(|| spin_until(|| is_set(&done)), || set(&done));
            let second = || {
                set(&stolen);
                before(pause, &fork);
            };
            pool.install(|| filch::join(|| spin_until(|| is_set(&stolen)), second));
        }
    }
}

#[test]
fn a_public_job_that_is_not_for_the_waiter_does_not_hide_private_forks() {
    forks_for_the_waiter(|pause, fork| {
        (0..pause).for_each(|_| std::hint::spin_loop());
        filch::spawn(|| ());
        fork();
    });
}

#[test]
fn public_tasks_do_not_hide_private_forks() {
    forks_for_the_waiter(|pause, fork| {
        filch::scope_fifo(|scope| {
            scope.spawn(|_| ());
            (0..pause).for_each(|_| std::hint::spin_loop());
            scope.spawn(|_| ());
            fork();
        });
    });
}
