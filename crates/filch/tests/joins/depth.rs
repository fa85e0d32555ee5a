//! Joins nest, also beyond the end of the fork stack.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Barrier;

use crate::common::{self, build, catch_payload, panic_with, watchdog};
use crate::{fib, maybe_fib};
use filch::Pool;

/// Returns the number of joins in a nested chain. It is nested in the first closure, the second, or
/// both in turn.
fn chain(depth: usize, first: impl Fn(usize) -> bool + Copy + Sync + Send) -> usize {
    if depth == 0 {
        return 0;
    }
    let (a, b) = if first(depth) {
        filch::join(|| chain(depth - 1, first), || 1)
    } else {
        filch::join(|| 1, || chain(depth - 1, first))
    };
    a + b
}

#[test]
fn joins_nest_deeper_than_the_fork_stack() {
    let _watchdog = watchdog();
    for threads in [1, 2, 3] {
        for (fences, waiting) in common::POOL_KINDS {
            for fork_depth in [0, 1, 2, 8] {
                let pool =
                    build(Pool::builder().threads(threads).fences(fences).waiting(waiting).fork_depth(fork_depth));
                for depth in [7, 8, 9, 10, 100, 500] {
                    assert_eq!(pool.install(|| chain(depth, |_| true)), depth);
                    assert_eq!(pool.install(|| chain(depth, |_| false)), depth);
                    assert_eq!(pool.install(|| chain(depth, |depth| depth % 2 == 0)), depth);
                }
                assert_eq!(pool.with_worker(|worker| fib(worker, 15)), 610);
                assert_eq!(pool.with_worker(|worker| maybe_fib(worker, 15)), 610);
            }
        }
    }
}

#[test]
fn a_job_beyond_the_end_of_the_fork_stack_can_be_stolen() {
    fn nest(depth: usize, barrier: &Barrier) {
        if depth > 0 {
            filch::join(|| nest(depth - 1, barrier), || ());
        } else {
            filch::join(|| barrier.wait(), || barrier.wait());
        }
    }
    let _watchdog = watchdog();
    let barrier = Barrier::new(2);
    for (fences, waiting) in common::POOL_KINDS {
        let pool = build(Pool::builder().threads(2).fences(fences).waiting(waiting).fork_depth(8));
        for round in 0..200 {
            pool.install(|| nest(6 + round % 6, &barrier));
        }
    }
}

#[test]
fn a_job_beyond_the_end_of_the_fork_stack_runs_once_during_raids() {
    fn nest(depth: usize, runs: &AtomicUsize) {
        if depth > 0 {
            filch::join(|| nest(depth - 1, runs), || runs.fetch_add(1, Ordering::Relaxed));
        }
    }
    let _watchdog = watchdog();
    for (fences, waiting) in common::POOL_KINDS {
        let pool = build(Pool::builder().threads(4).fences(fences).waiting(waiting).fork_depth(1));
        for _ in 0..5000 {
            let runs = AtomicUsize::new(0);
            pool.install(|| nest(6, &runs));
            assert_eq!(runs.into_inner(), 6);
        }
    }
}

#[test]
fn both_closures_finish_if_a_job_beyond_the_end_of_the_fork_stack_panics() {
    fn nest(depth: usize, runs: &AtomicUsize, second: bool) {
        if depth == 0 {
            if second {
                filch::join(|| (), || panic_with("leaf"));
            }
            panic_with("leaf");
        }
        filch::join(|| nest(depth - 1, runs, second), || runs.fetch_add(1, Ordering::SeqCst));
    }
    let _watchdog = watchdog();
    for threads in [1, 2] {
        let pool = build(Pool::builder().threads(threads).fork_depth(8));
        for second in [false, true] {
            for _ in 0..200 {
                let runs = AtomicUsize::new(0);
                assert_eq!(catch_payload::<&str, _>(|| pool.install(|| nest(20, &runs, second))), "leaf");
                assert_eq!(runs.into_inner(), 20);
            }
        }
    }
}

#[test]
fn a_deep_chain_fits_the_default_fork_stack() {
    let _watchdog = watchdog();
    let pool = build(Pool::builder().threads(2).stack_size(256 << 20));
    assert_eq!(pool.install(|| chain(100_000, |_| true)), 100_000);
}
