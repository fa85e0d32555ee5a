//! A waiting worker runs all that descends from what it waits for.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{self, build, flag, in_place_builder, is_set, set, spin_until, SpinBarrier};
use crate::{rounds, watchdog};
use filch::{Fences, Pool, Waiting};

/// Runs a program many times on pools with `threads` workers. There is a pool of each kind that
/// waits strictly, and one with a fork stack of one place.
fn repeat_inside_strict_pools(threads: usize, program: impl Fn() + Send + Sync) {
    let strict = || Pool::builder().threads(threads).waiting(Waiting::Strict);
    let builders = [
        strict(),
        strict().fences(Fences::Owner),
        strict().fork_depth(1),
        strict().fork_depth(2),
        in_place_builder(threads),
    ];
    for builder in builders {
        let pool = build(builder);
        (0..rounds()).for_each(|_| pool.install(&program));
    }
}

#[test]
fn a_waiting_worker_runs_a_job_that_a_third_worker_forked() {
    let _watchdog = watchdog();
    repeat_inside_strict_pools(3, || {
        let (barrier, begun) = (SpinBarrier::new(3), flag());
        let inner = || filch::join(|| barrier.wait(), || barrier.wait());
        let outer = || {
            set(&begun);
            filch::join(|| barrier.wait(), inner)
        };
        filch::join(|| spin_until(|| is_set(&begun)), outer);
    });
}

#[test]
fn a_waiting_worker_runs_a_job_that_a_fourth_worker_forked() {
    let _watchdog = watchdog();
    repeat_inside_strict_pools(4, || {
        let (barrier, begun) = (SpinBarrier::new(4), flag());
        let innermost = || filch::join(|| barrier.wait(), || barrier.wait());
        let inner = || filch::join(|| barrier.wait(), innermost);
        let outer = || {
            set(&begun);
            filch::join(|| barrier.wait(), inner)
        };
        filch::join(|| spin_until(|| is_set(&begun)), outer);
    });
}

#[test]
fn a_waiting_worker_runs_tasks_of_a_scope_inside_the_awaited_job() {
    let _watchdog = watchdog();
    repeat_inside_strict_pools(2, || {
        let (ran, begun) = (flag(), flag());
        let scope = || {
            set(&begun);
            filch::scope(|scope| {
                scope.spawn(|_| set(&ran));
                spin_until(|| is_set(&ran));
            });
        };
        filch::join(|| spin_until(|| is_set(&begun)), scope);
    });
}

#[test]
fn the_end_of_a_scope_runs_the_tasks_of_a_scope_inside_a_task() {
    let _watchdog = watchdog();
    repeat_inside_strict_pools(2, || {
        let begun = flag();
        filch::scope(|scope| {
            scope.spawn(|_| {
                set(&begun);
                let barrier = SpinBarrier::new(2);
                filch::scope(|inner| {
                    inner.spawn(|_| barrier.wait());
                    inner.spawn(|_| barrier.wait());
                });
            });
            spin_until(|| is_set(&begun));
        });
    });
}

#[test]
fn a_waiting_worker_runs_tasks_of_an_exploration_inside_the_awaited_job() {
    let _watchdog = watchdog();
    repeat_inside_strict_pools(2, || {
        let (barrier, begun) = (SpinBarrier::new(2), flag());
        let explore = || {
            set(&begun);
            filch::explore([0, 1], |_: usize, _| barrier.wait());
        };
        filch::join(|| spin_until(|| is_set(&begun)), explore);
    });
}

#[test]
fn a_waiting_worker_runs_a_job_that_a_task_on_a_third_worker_forked() {
    let _watchdog = watchdog();
    repeat_inside_strict_pools(3, || {
        let (barrier, begun) = (SpinBarrier::new(3), flag());
        let scope = || {
            set(&begun);
            filch::scope(|scope| {
                scope.spawn(|_| _ = filch::join(|| barrier.wait(), || barrier.wait()));
                barrier.wait();
            });
        };
        filch::join(|| spin_until(|| is_set(&begun)), scope);
    });
}

#[test]
fn a_worker_that_waits_for_another_pool_runs_all_descendants_in_its_own_pool() {
    let _watchdog = watchdog();
    let (here, there) = (common::pool(3), common::pool(2));
    for _ in 0..rounds() {
        let barrier = SpinBarrier::new(3);
        let inner = || filch::join(|| barrier.wait(), || barrier.wait());
        here.install(|| there.install(|| here.install(|| filch::join(|| barrier.wait(), inner))));
    }
}

#[test]
fn a_long_comb_of_joins_ends() {
    let _watchdog = watchdog();
    fn comb(length: usize, count: &AtomicUsize) {
        if length == 0 {
            return;
        }
        filch::join(
            || comb(length - 1, count),
            || {
                std::thread::yield_now();
                count.fetch_add(1, Ordering::Relaxed);
            },
        );
    }
    repeat_inside_strict_pools(4, || {
        let count = AtomicUsize::new(0);
        comb(300, &count);
        assert_eq!(count.into_inner(), 300);
    });
}
