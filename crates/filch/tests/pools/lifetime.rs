//! The life of a pool: what it counts, and how it ends.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::Arc;

use crate::common::{build, fib, for_each_pool_kind, pool, spin_until, watchdog, SpinBarrier};
use filch::Pool;

#[test]
fn stats_count_jobs_steals_and_sleeps() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        assert_eq!(pool.stats().workers().len(), 2);
        let before = pool.stats().total();
        for _ in 0..100 {
            let barrier = SpinBarrier::new(2);
            pool.join(|| barrier.wait(), || barrier.wait());
        }
        let after = pool.stats().total();
        // Each join was installed, and its second closure stolen.
        assert_eq!((after.jobs - before.jobs, after.steals - before.steals), (200, 100));
        assert!(after.shares + after.raids >= before.shares + before.raids);
        spin_until(|| {
            let total = pool.stats().total();
            total.sleeps == total.wakes + 2
        });
        assert!(pool.stats().to_string().lines().count() == 3);
    });
}

#[test]
fn pools_can_be_built_and_dropped_many_times() {
    let _watchdog = watchdog();
    for round in 0..200 {
        let pool = pool(1 + round % 4);
        if round % 3 != 0 {
            assert_eq!(pool.install(|| fib(5)), 5);
        }
    }
}

#[test]
fn the_threads_of_a_pool_end_before_its_drop_returns() {
    let _watchdog = watchdog();
    for threads in [1, 2, 8] {
        let exited = Arc::new(AtomicUsize::new(0));
        let count = exited.clone();
        let pool = build(Pool::builder().threads(threads).on_exit(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        }));
        drop(pool);
        assert_eq!(exited.load(Ordering::SeqCst), threads);
        assert_eq!(Arc::strong_count(&exited), 1, "a handler must not outlive its pool");
    }
}

#[test]
fn a_dismissed_pool_runs_all_spawned_jobs_and_then_ends() {
    let _watchdog = watchdog();
    let (sender, receiver) = channel::<usize>();
    let (go, wait) = channel::<()>();
    let (exits, ended) = channel::<usize>();
    let pool = build(Pool::builder().threads(2).on_exit(move |index| exits.send(index).unwrap()));
    pool.spawn(move || {
        // Only after the pool is gone.
        wait.recv().unwrap();
        filch::spawn(move || sender.send(filch::current_num_threads()).unwrap());
    });
    pool.detach();
    go.send(()).unwrap();
    assert_eq!(receiver.recv(), Ok(2));
    let mut ended: Vec<_> = ended.iter().collect();
    ended.sort_unstable();
    assert_eq!(ended, [0, 1]);
}

#[test]
fn a_pool_dropped_by_another_pools_worker_ends() {
    let _watchdog = watchdog();
    let here = pool(2);
    for _ in 0..50 {
        let (there, finished) = (pool(2), Arc::new(AtomicBool::new(false)));
        let done = finished.clone();
        there.spawn(move || {
            assert_eq!(fib(10), 55);
            done.store(true, Ordering::SeqCst);
        });
        here.install(move || drop(there));
        assert!(finished.load(Ordering::SeqCst));
    }
}
