//! Broadcasts: one closure on every worker.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Barrier;

use crate::common::{
    self, build, catch_payload, for_each_pool_kind, panic_with, pool, watchdog, Drops, SpinBarrier, POOL_KINDS,
};
use filch::Pool;

#[test]
fn a_broadcast_runs_once_on_each_worker_and_returns_results_in_their_order() {
    let _watchdog = watchdog();
    for threads in [1, 2, 5] {
        for_each_pool_kind(threads, |pool| {
            for _ in 0..50 {
                let runs = AtomicUsize::new(0);
                let indices = pool.broadcast(|part| {
                    runs.fetch_add(1, Ordering::Relaxed);
                    assert_eq!((Some(part.index()), part.num_threads()), (filch::current_thread_index(), threads));
                    part.index()
                });
                assert_eq!(indices, (0..threads).collect::<Vec<_>>());
                assert_eq!(runs.into_inner(), threads);
            }
        });
    }
}

#[test]
fn the_parts_of_a_broadcast_can_wait_for_each_other() {
    let _watchdog = watchdog();
    for_each_pool_kind(3, |pool| {
        let barrier = Barrier::new(3);
        for _ in 0..100 {
            pool.broadcast(|_| barrier.wait());
            pool.install(|| filch::broadcast(|_| barrier.wait()));
        }
    });
}

#[test]
fn broadcasts_can_be_nested_and_run_at_the_same_time() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..100 {
            // Both workers broadcast to both at once, from a broadcast.
            let barrier = SpinBarrier::new(2);
            let sums = pool.broadcast(|part| {
                barrier.wait();
                filch::broadcast(|inner| 10 * part.index() + inner.index()).iter().sum::<usize>()
            });
            assert_eq!(sums, [1, 21]);
            // And from two closures of a join.
            let barrier = SpinBarrier::new(2);
            let all = || {
                barrier.wait();
                filch::broadcast(|part| part.index())
            };
            assert_eq!(pool.join(all, all), (vec![0, 1], vec![0, 1]));
        }
    });
}

#[test]
fn a_broadcast_reaches_workers_that_wait() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..100 {
            let barrier = SpinBarrier::new(2);
            // The second closure is stolen, and broadcasts to the worker that waits for it.
            let ((), indices) = pool.join(
                || barrier.wait(),
                || {
                    barrier.wait();
                    filch::broadcast(|part| part.index())
                },
            );
            assert_eq!(indices, [0, 1]);
            let other = common::pool(1);
            let indices = pool.install(|| other.install(|| pool.broadcast(|part| part.index())));
            assert_eq!(indices, [0, 1]);
        }
    });
}

#[test]
fn a_broadcast_into_another_pool_can_install_back() {
    let _watchdog = watchdog();
    for (fences, waiting) in POOL_KINDS {
        let new = |threads| build(Pool::builder().threads(threads).fences(fences).waiting(waiting));
        let (here, there) = (new(1), new(2));
        for _ in 0..50 {
            let indices = here.install(|| there.broadcast(|part| here.install(|| part.index())));
            assert_eq!(indices, [0, 1]);
        }
    }
}

#[test]
fn a_panic_in_a_broadcast_resumes_after_all_parts_have_run() {
    let _watchdog = watchdog();
    for_each_pool_kind(3, |pool| {
        let runs = AtomicUsize::new(0);
        let payload: &str = catch_payload(|| {
            pool.broadcast(|part| {
                runs.fetch_add(1, Ordering::SeqCst);
                if part.index() == 1 {
                    panic_with("part");
                }
            })
        });
        assert_eq!((payload, runs.into_inner()), ("part", 3));
        assert_eq!(pool.broadcast(|part| part.index()), [0, 1, 2]);
    });
}

#[test]
fn results_of_a_broadcast_are_dropped_once() {
    let _watchdog = watchdog();
    let (pool, drops) = (pool(3), Drops::default());
    let results = pool.broadcast(|_| drops.new_value());
    assert_eq!(drops.count(), 0);
    drop(results);
    assert_eq!(drops.count(), 3);
}
