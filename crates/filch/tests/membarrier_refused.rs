//! Pools whose barriers the kernel refuses later, as after a seccomp filter.
#![cfg(all(target_os = "linux", target_arch = "x86_64", not(filch_no_membarrier)))]

mod common;
#[path = "../../filch-queue/tests/seccomp/mod.rs"]
mod seccomp;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use common::{
    assert_all_seats_can_be_lent, assert_child_passed, build, call_in_place, fib, flag, in_place_builder, is_set, pool,
    run_in_child, set, spin_until, SpinBarrier,
};
use filch::Pool;
use seccomp::forbid_membarrier;

/// Spins until the flag is set, or until there were more than `max_raids` raids meanwhile. Returns
/// whether the flag is set.
fn wait_for(flag: &AtomicBool, pool: &Pool, max_raids: u64) -> bool {
    let raids = || pool.stats().total().raids;
    let before = raids();
    spin_until(|| is_set(flag) || raids() > before + max_raids);
    is_set(flag)
}

fn is_raided(pool: &Pool) -> bool {
    pool.install(|| is_raided_here(pool))
}

/// Forks a job that its owner waits for by computing. The other worker is busy. The owner finds no
/// alarm at the fork, and looks at nothing afterwards. Only a raid can take the job. Returns
/// whether it ran; after many raids the owner gives up. The caller is a worker of the pool.
fn is_raided_here(pool: &Pool) -> bool {
    let (begun, forked, ran) = (flag(), flag(), flag());
    let first = || {
        let keeps_busy = wait_for(&begun, pool, 20);
        // Answers the alarm, so that the next fork finds none.
        fib(5);
        let wait = || {
            set(&forked);
            wait_for(&ran, pool, 20)
        };
        filch::join(wait, || set(&ran)).0 && keeps_busy
    };
    let second = || {
        set(&begun);
        spin_until(|| is_set(&forked));
    };
    filch::join(first, second).0
}

#[test]
fn owners_use_fences_after_the_kernel_refuses_barriers() {
    assert_child_passed(run_in_child("owners_use_fences_after_the_kernel_refuses_barriers", &[], || {
        let pool = pool(2);
        assert!((0..20).all(|_| is_raided(&pool)), "not raided although barriers are allowed");
        forbid_membarrier();
        // An owner whose job could not be taken fences from its next fork or return on.
        let refused = (0..200).filter(|_| !is_raided(&pool)).count();
        assert!(refused <= pool.current_num_threads(), "{refused} jobs were not stolen");
        assert_eq!(pool.install(|| fib(20)), 6765);
    }));
}

/// Does the same as `is_raided`, for a task that was spawned before a join. The second closure of
/// the join waits for the task if it is not stolen.
fn is_task_stolen(pool: &Pool) -> bool {
    let (begun, spawned, ran) = (flag(), flag(), flag());
    let first = || {
        let keeps_busy = wait_for(&begun, pool, 20);
        // Answers the alarm, so that the next push finds none.
        fib(5);
        filch::scope(|scope| {
            scope.spawn(|_| set(&ran));
            let owner = filch::current_thread_index();
            let refused = || {
                set(&spawned);
                wait_for(&ran, pool, 1);
            };
            filch::join(refused, || filch::current_thread_index() != owner || wait_for(&ran, pool, 20)).1 && keeps_busy
        })
    };
    let second = || {
        set(&begun);
        spin_until(|| is_set(&spawned));
    };
    pool.join(first, second).0
}

#[test]
fn owners_use_fences_for_tasks_after_the_next_return() {
    assert_child_passed(run_in_child("owners_use_fences_for_tasks_after_the_next_return", &[], || {
        let pool = pool(2);
        assert!((0..20).all(|_| is_task_stolen(&pool)), "not stolen although barriers are allowed");
        forbid_membarrier();
        let refused = (0..50).filter(|_| !is_task_stolen(&pool)).count();
        assert_eq!(refused, 0, "some tasks were not stolen");
    }));
}

/// Raids until the kernel has refused a barrier. Until then, the process relies on its registration.
fn exhaust_registration(pool: &Pool) {
    while filch_queue::barrier::register() {
        is_raided(pool);
    }
}

#[test]
fn all_pools_have_fenced_owners_after_the_refusal() {
    assert_child_passed(run_in_child("all_pools_have_fenced_owners_after_the_refusal", &[], || {
        let (raided, other) = (pool(2), pool(2));
        assert!(is_raided(&other), "not raided although barriers are allowed");
        forbid_membarrier();
        exhaust_registration(&raided);
        // No worker has asked the owners of the other pool for fences: they look when they begin.
        assert!((0..200).all(|_| is_raided(&other)));
        let after = pool(2);
        assert!((0..200).all(|_| is_raided(&after)));
    }));
}

/// Another pool is refused a barrier while a closure runs on a worker of this one. What the closure
/// then calls has a job that must be raided.
fn refused_meanwhile(test: &str, call: fn(&Pool)) {
    assert_child_passed(run_in_child(test, &[], || {
        let (raided, pool) = (pool(2), pool(2));
        assert!(is_raided(&pool), "not raided although barriers are allowed");
        pool.install(|| {
            forbid_membarrier();
            exhaust_registration(&raided);
            (0..200).for_each(|_| call(&pool));
        });
    }));
}

#[test]
fn a_closure_that_began_before_the_refusal_calls_fenced_owners() {
    let call = |pool: &Pool| assert!(is_raided(pool));
    refused_meanwhile("a_closure_that_began_before_the_refusal_calls_fenced_owners", call);
}

#[test]
fn a_scope_in_place_that_began_before_the_refusal_has_fenced_owners() {
    let call = |pool: &Pool| assert!(pool.in_place_scope(|_| is_raided_here(pool)));
    refused_meanwhile("a_scope_in_place_that_began_before_the_refusal_has_fenced_owners", call);
}

/// The owner of a private job sleeps in a wait for another pool. That wait needs the job.
fn steals_from_sleeping_owner(here: &Pool, there: &Pool, refuse: bool) {
    let (is_busy, is_free, ran) = (flag(), flag(), flag());
    let sleep = || {
        there.install(|| {
            // Time for the owner to fall asleep.
            thread::sleep(Duration::from_millis(10));
            if refuse {
                forbid_membarrier();
            }
            set(&is_free);
            spin_until(|| is_set(&ran));
        });
    };
    let owner = || {
        spin_until(|| is_set(&is_busy));
        // Answers the alarm, so that the next fork finds none.
        fib(3);
        filch::join(sleep, || set(&ran));
    };
    let other = || {
        set(&is_busy);
        spin_until(|| is_set(&is_free));
    };
    here.join(owner, other);
}

#[test]
fn a_job_of_a_sleeping_owner_is_stolen_although_the_kernel_refuses_barriers() {
    assert_child_passed(run_in_child(
        "a_job_of_a_sleeping_owner_is_stolen_although_the_kernel_refuses_barriers",
        &[],
        || {
            let (here, there) = (pool(2), pool(1));
            (0..10).for_each(|_| steals_from_sleeping_owner(&here, &there, false));
            steals_from_sleeping_owner(&here, &there, true);
        },
    ));
}

#[test]
fn calls_in_place_work_although_the_kernel_refuses_barriers() {
    assert_child_passed(run_in_child("calls_in_place_work_although_the_kernel_refuses_barriers", &[], || {
        let pools = [1, 2, 8].map(|seats| build(in_place_builder(seats)));
        pools.iter().for_each(|pool| assert_eq!(call_in_place(pool, || fib(10)), 55));
        forbid_membarrier();
        for pool in &pools {
            let tasks = AtomicUsize::new(0);
            let count = || _ = tasks.fetch_add(1, Ordering::Relaxed);
            let count = &count;
            let call = || {
                for _ in 0..200 {
                    assert_eq!(pool.join(|| fib(5), || fib(6)), (5, 8));
                    pool.scope(|scope| (0..5).for_each(|_| scope.spawn(move |_| count())));
                }
            };
            thread::scope(|scope| (0..16).for_each(|_| _ = scope.spawn(call)));
            assert_eq!(tasks.load(Ordering::Relaxed), 16 * 200 * 5);
            assert_eq!(pool.broadcast(|part| part.index()).len(), pool.current_num_threads());
        }
        exhaust_registration(&pools[1]);
        // Once each owner fences, workers are certain again, sleep, and lend their seats.
        for pool in &pools[1..] {
            for _ in 0..200 {
                let barrier = SpinBarrier::new(2);
                pool.join(|| barrier.wait(), || barrier.wait());
            }
            assert_all_seats_can_be_lent(pool);
        }
    }));
}
