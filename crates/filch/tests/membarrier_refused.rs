//! Pools whose barriers the kernel refuses later, as after a seccomp filter.
#![cfg(all(target_os = "linux", target_arch = "x86_64", not(filch_no_membarrier)))]

mod common;
#[path = "../../filch-queue/tests/seccomp/mod.rs"]
mod seccomp;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{mpsc, Arc};
use std::thread;
use std::time::Duration;

use common::{
    assert_all_seats_can_be_lent, assert_child_passed, build, call_in_place, fib, flag, in_place_builder, is_set, pool,
    run_in_child, set, spin_until, SpinBarrier,
};
use filch::explore::Explore;
use filch::{Fences, Pool};
use seccomp::forbid_membarrier;

/// Spins until the flag is set, or until there were more than `max_raids` raids meanwhile. Returns
/// whether the flag is set.
fn wait_for(flag: &AtomicBool, pool: &Pool, max_raids: u64) -> bool {
    let raids = || pool.stats().total().raids;
    let before = raids();
    spin_until(|| is_set(flag) || raids() > before + max_raids);
    is_set(flag)
}

/// Forks until the flag is set. These forks publish the older job that sets it. The last ones
/// answer the alarm, so that the next push finds none, unless the owner is fenced.
fn answer_alarms_until(flag: &AtomicBool) {
    spin_until(|| {
        fib(2);
        is_set(flag)
    });
    fib(5);
}

/// Forks a job that its owner waits for by computing. Returns whether another worker ran it before
/// the owner gave up.
fn forks_and_waits(pool: &Pool, forked: &AtomicBool, ran: &AtomicBool) -> bool {
    let wait = || {
        set(forked);
        wait_for(ran, pool, 20)
    };
    filch::join(wait, || set(ran)).0
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
        answer_alarms_until(&begun);
        forks_and_waits(pool, &forked, &ran)
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
        answer_alarms_until(&begun);
        filch::scope(|scope| {
            scope.spawn(|_| set(&ran));
            let owner = filch::current_thread_index();
            let refused = || {
                set(&spawned);
                wait_for(&ran, pool, 1);
            };
            filch::join(refused, || filch::current_thread_index() != owner || wait_for(&ran, pool, 20)).1
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

/// Installs the filter, and lets another pool learn of it. The calling worker passes no wait.
fn refuse_elsewhere(raided: &Pool) {
    forbid_membarrier();
    thread::scope(|scope| _ = scope.spawn(|| exhaust_registration(raided)));
}

/// Another pool is refused a barrier while a closure runs on a worker of this one. What the closure
/// then calls forks a job that must be raided. The other worker is busy until then.
fn refused_meanwhile(test: &str, call: fn(&Pool, &AtomicBool, &AtomicBool) -> bool) {
    assert_child_passed(run_in_child(test, &[], || {
        let (raided, pool) = (pool(2), pool(2));
        let (begun, forked, ran) = (flag(), flag(), flag());
        let first = || {
            answer_alarms_until(&begun);
            refuse_elsewhere(&raided);
            call(&pool, &forked, &ran)
        };
        let second = || {
            set(&begun);
            spin_until(|| is_set(&forked));
        };
        assert!(pool.join(first, second).0, "not raided");
    }));
}

#[test]
fn a_closure_that_began_before_the_refusal_calls_fenced_owners() {
    refused_meanwhile("a_closure_that_began_before_the_refusal_calls_fenced_owners", |pool, forked, ran| {
        pool.install(|| forks_and_waits(pool, forked, ran))
    });
}

#[test]
fn a_scope_in_place_that_began_before_the_refusal_has_fenced_owners() {
    refused_meanwhile("a_scope_in_place_that_began_before_the_refusal_has_fenced_owners", |pool, forked, ran| {
        pool.in_place_scope(|_| forks_and_waits(pool, forked, ran))
    });
}

#[test]
fn a_job_after_one_that_began_before_the_refusal_has_a_fenced_owner() {
    assert_child_passed(run_in_child("a_job_after_one_that_began_before_the_refusal_has_a_fenced_owner", &[], || {
        static FLAGS: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];
        let [begun, forked, ran] = &FLAGS;
        let pool = Arc::new(pool(2));
        let (done, is_done) = mpsc::channel();
        let same = pool.clone();
        pool.spawn(move || {
            // Keeps the other worker busy until the next job has forked. This worker pushes nothing
            // meanwhile: so the other finds nothing else, and raids. Under the default waiting this
            // worker does not run the job on top of itself.
            filch::spawn(|| {
                set(begun);
                spin_until(|| is_set(forked));
            });
            spin_until(|| is_set(begun));
            filch::spawn(move || done.send(forks_and_waits(&same, forked, ran)).unwrap());
            fib(5);
            refuse_elsewhere(&common::pool(2));
        });
        assert!(is_done.recv().unwrap(), "not raided");
    }));
}

#[test]
fn a_worker_that_runs_tasks_of_a_scope_notices_that_its_spawned_job_could_not_be_raided() {
    let test = "a_worker_that_runs_tasks_of_a_scope_notices_that_its_spawned_job_could_not_be_raided";
    assert_child_passed(run_in_child(test, &[], || {
        static RAN: AtomicBool = AtomicBool::new(false);
        let pool = pool(2);
        let (begun, free, notices) = (flag(), flag(), flag());
        let first = || {
            answer_alarms_until(&begun);
            forbid_membarrier();
            filch::spawn(|| set(&RAN));
            let owner = filch::current_thread_index();
            filch::scope(|scope| {
                // The second to run.
                scope.spawn(|_| {
                    if filch::current_thread_index() != owner || wait_for(&RAN, &pool, 20) {
                        set(&notices);
                    }
                });
                // The first. The other worker is refused meanwhile.
                scope.spawn(|_| {
                    set(&free);
                    wait_for(&flag(), &pool, 3);
                });
            });
        };
        let second = || {
            set(&begun);
            spin_until(|| is_set(&free));
        };
        pool.join(first, second);
        assert!(is_set(&notices), "the spawned job was not raided");
    }));
}

#[test]
fn a_pool_that_is_built_with_fences_does_not_ask_the_kernel() {
    assert_child_passed(run_in_child("a_pool_that_is_built_with_fences_does_not_ask_the_kernel", &[], || {
        let pool = build(Pool::builder().threads(2).fences(Fences::Owner));
        assert_eq!(pool.install(|| fib(10)), 55);
        forbid_membarrier();
        // The first answer of the kernel stays until it refuses a barrier.
        assert!(!filch_queue::barrier::register());
    }));
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

/// Explores a tree of `2 * tasks + 1` tasks. Returns how many have run.
fn explore_tree(pool: &Pool, tasks: u32) -> u64 {
    let explored = Explore::exactly_once().pool(pool).run([0], |task: u32, worker| {
        if task < tasks {
            worker.push_all([2 * task + 1, 2 * task + 2]);
        }
    });
    explored.total().tasks
}

#[test]
fn explorations_go_on_although_the_kernel_refuses_barriers() {
    assert_child_passed(run_in_child("explorations_go_on_although_the_kernel_refuses_barriers", &[], || {
        let pool = pool(3);
        assert_eq!(explore_tree(&pool, 50_000), 100_001);
        let explored = Explore::exactly_once().pool(&pool).run([0], |task: u32, worker| {
            if task == 1000 {
                forbid_membarrier();
            }
            if task < 50_000 {
                worker.push_all([2 * task + 1, 2 * task + 2]);
            }
        });
        assert_eq!(explored.total().tasks, 100_001);
        exhaust_registration(&pool);
        assert_eq!(explore_tree(&pool, 50_000), 100_001);
        // The owner fences: another worker can take what it has pushed, whatever it does.
        for _ in 0..100 {
            let ran = AtomicBool::new(false);
            let explored = Explore::exactly_once().pool(&pool).run([0], |task: u32, worker| match task {
                0 => {
                    worker.push(1);
                    spin_until(|| is_set(&ran));
                }
                _ => set(&ran),
            });
            assert_eq!(explored.total().tasks, 2);
        }
    }));
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
