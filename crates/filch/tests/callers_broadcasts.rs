//! Broadcasts while callers have seats. A part for a lent seat runs if the caller's wait needs it.
//! Then the wait cannot end without that part.
#![cfg(target_os = "linux")]

mod common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use filch::Pool;

use common::{
    build, call_in_place, flag, in_place_builder, is_set, set, spin_until, watchdog_for, SpinBarrier, Watchdog,
};

/// Each of these tests takes less than a second if it does not hang.
fn watchdog() -> Watchdog {
    watchdog_for(Duration::from_secs(60))
}

fn wait_for(flag: &AtomicBool) {
    spin_until(|| is_set(flag));
}

/// Sets the flag, and runs a broadcast.
fn broadcast(begun: &AtomicBool) {
    set(begun);
    filch::broadcast(|part| part.index());
}

#[test]
fn callers_in_place_can_broadcast_at_the_same_time() {
    let _watchdog = watchdog();
    for seats in [2, 3, 8] {
        let pool = build(in_place_builder(seats));
        for _ in 0..100 {
            let barrier = SpinBarrier::new(2);
            let call = || {
                let indices = call_in_place(&pool, || {
                    barrier.wait();
                    filch::broadcast(|part| part.index())
                });
                assert_eq!(indices, (0..seats).collect::<Vec<_>>());
            };
            thread::scope(|scope| (0..2).for_each(|_| _ = scope.spawn(call)));
        }
    }
}

#[test]
fn a_broadcast_in_a_task_of_a_stolen_half_completes() {
    let _watchdog = watchdog();
    for seats in [3, 8] {
        let pool = build(in_place_builder(seats));
        for _ in 0..100 {
            let begun = flag();
            let half = || {
                filch::scope(|scope| {
                    scope.spawn(|_| broadcast(&begun));
                    wait_for(&begun);
                });
            };
            call_in_place(&pool, || filch::join(|| wait_for(&begun), half));
        }
    }
}

#[test]
fn a_broadcast_that_was_stolen_from_a_task_of_a_stolen_half_completes() {
    let _watchdog = watchdog();
    for seats in [4, 8] {
        let pool = build(in_place_builder(seats));
        for _ in 0..100 {
            let begun = flag();
            let half = || {
                filch::scope(|scope| {
                    scope.spawn(|_| _ = filch::join(|| wait_for(&begun), || broadcast(&begun)));
                    wait_for(&begun);
                });
            };
            call_in_place(&pool, || filch::join(|| wait_for(&begun), half));
        }
    }
}

#[test]
fn a_broadcast_in_a_scope_in_a_task_of_a_scope_completes() {
    let _watchdog = watchdog();
    for seats in [3, 8] {
        let pool = build(in_place_builder(seats));
        for _ in 0..100 {
            let begun = flag();
            let task = || {
                filch::scope(|scope| {
                    scope.spawn(|_| broadcast(&begun));
                    wait_for(&begun);
                });
            };
            let call = || {
                filch::scope(|scope| {
                    scope.spawn(|_| task());
                    wait_for(&begun);
                });
            };
            call_in_place(&pool, call);
        }
    }
}

#[test]
fn a_broadcast_beyond_the_end_of_a_thiefs_fork_stack_completes() {
    let _watchdog = watchdog();
    for seats in [3, 8] {
        let pool = build(in_place_builder(seats).fork_depth(1));
        for _ in 0..100 {
            let begun = flag();
            let wait = || wait_for(&begun);
            let deepest = || filch::join(wait, || broadcast(&begun));
            let half = || filch::join(|| filch::join(deepest, || ()), || ());
            call_in_place(&pool, || filch::join(wait, half));
        }
    }
}

#[test]
fn a_caller_that_broadcasts_runs_its_part_of_an_earlier_broadcast_from_outside() {
    let _watchdog = watchdog();
    for seats in [2, 3, 8] {
        let pool = build(in_place_builder(seats));
        for _ in 0..100 {
            let (inside, begun, barrier) = (flag(), flag(), SpinBarrier::new(seats));
            thread::scope(|scope| {
                scope.spawn(|| {
                    wait_for(&inside);
                    // The parts wait for each other, as the parts of a broadcast may.
                    pool.broadcast(|_| {
                        set(&begun);
                        barrier.wait();
                    });
                });
                call_in_place(&pool, || {
                    set(&inside);
                    wait_for(&begun);
                    filch::broadcast(|_| ());
                });
            });
        }
    }
}

#[test]
fn a_broadcast_that_no_worker_waits_for_reaches_the_seat_of_a_caller_that_waits() {
    let _watchdog = watchdog();
    let pool = build(in_place_builder(2));
    for _ in 0..100 {
        let (begun, parts) = (flag(), Arc::new(AtomicUsize::new(0)));
        let half = || {
            set(&begun);
            let ran = parts.clone();
            filch::spawn_broadcast(move |_| _ = ran.fetch_add(1, Ordering::Relaxed));
            while parts.load(Ordering::Relaxed) < 2 {
                filch::yield_now();
            }
        };
        call_in_place(&pool, || filch::join(|| wait_for(&begun), half));
    }
}

#[test]
fn a_caller_that_waits_runs_no_part_of_a_broadcast_from_outside() {
    let _watchdog = watchdog();
    let pool = build(in_place_builder(2));
    for round in 0..200 {
        let (begun, sent, caller_ran) = (flag(), flag(), flag());
        let caller = thread::current().id();
        let part = || {
            if thread::current().id() == caller {
                set(&caller_ran);
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                wait_for(&begun);
                pool.in_place_scope(|scope| {
                    scope.spawn_broadcast(|_, _| part());
                    set(&sent);
                });
            });
            let half = || {
                set(&begun);
                wait_for(&sent);
                // The caller has time to look at what was sent.
                (0..round).for_each(|_| thread::yield_now());
            };
            call_in_place(&pool, || filch::join(|| wait_for(&begun), half));
        });
        assert!(!is_set(&caller_ran));
    }
}

#[test]
fn callers_of_two_pools_can_broadcast_into_each_others_pool() {
    let _watchdog = watchdog();
    for seats in [1, 2, 3] {
        let (first, second) = (build(in_place_builder(seats)), build(in_place_builder(seats)));
        for _ in 0..100 {
            let barrier = SpinBarrier::new(2);
            let call = |own: &Pool, other: &Pool| {
                call_in_place(own, || {
                    barrier.wait();
                    assert_eq!(other.broadcast(|part| part.index()).len(), seats);
                });
            };
            thread::scope(|scope| {
                scope.spawn(|| call(&second, &first));
                call(&first, &second);
            });
        }
    }
}

#[test]
fn a_job_that_another_pool_spawned_reaches_the_seat_of_a_caller_that_waits() {
    let _watchdog = watchdog();
    let (pool, other) = (Arc::new(build(in_place_builder(2))), build(in_place_builder(2)));
    for _ in 0..100 {
        let call = || {
            let (done, pool_in_job) = (Arc::new(flag()), pool.clone());
            let done_in_job = done.clone();
            filch::spawn(move || {
                pool_in_job.broadcast(|_| ());
                set(&done_in_job);
            });
            wait_for(&done);
        };
        call_in_place(&pool, || other.install(call));
    }
}
