//! Joins: results, drops, panics of closures, and how deep they nest.

#[path = "../common/mod.rs"]
mod common;
mod depth;
mod migration;
mod panics;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Barrier;
use std::thread;

use common::{for_each_pool_kind, pool, spin_until, watchdog, SpinBarrier};
use filch::Worker;

/// Joins closures of which the second is certain to be stolen.
fn join_stolen<RA: Send, RB: Send>(a: impl FnOnce() -> RA + Send, b: impl FnOnce() -> RB + Send) -> (RA, RB) {
    let barrier = SpinBarrier::new(2);
    let first = || {
        barrier.wait();
        a()
    };
    let second = || {
        barrier.wait();
        b()
    };
    filch::join(first, second)
}

fn sum(numbers: &[u64]) -> u64 {
    if numbers.len() <= 2 {
        return numbers.iter().sum();
    }
    let (left, right) = numbers.split_at(numbers.len() / 2);
    let (a, b) = filch::join(|| sum(left), || sum(right));
    a + b
}

fn fib(worker: &mut Worker, n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = worker.join(|worker| fib(worker, n - 1), |worker| fib(worker, n - 2));
    a + b
}

fn maybe_fib(worker: &mut Worker, n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = worker.maybe_join(|worker| maybe_fib(worker, n - 1), |worker| maybe_fib(worker, n - 2));
    a + b
}

fn leaves(depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let (a, b) = filch::maybe_join(|| leaves(depth - 1), || leaves(depth - 1));
    a + b
}

#[test]
fn a_join_returns_both_results_in_order() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        assert_eq!(pool.join(|| 1, || "two"), (1, "two"));
        assert_eq!(pool.install(|| filch::join(|| 1, || "two")), (1, "two"));
        assert_eq!(pool.with_worker(|worker| worker.join(|_| 1, |_| "two")), (1, "two"));
        assert_eq!(pool.install(|| filch::maybe_join(|| 1, || "two")), (1, "two"));
        assert_eq!(pool.install(|| join_stolen(|| 1, || "two")), (1, "two"));
    });
}

#[test]
fn trees_of_joins_have_the_results_of_a_loop() {
    let _watchdog = watchdog();
    let numbers: Vec<u64> = (0..100_000).collect();
    for threads in [1, 2, 5] {
        for_each_pool_kind(threads, |pool| {
            assert_eq!(pool.install(|| sum(&numbers)), 4_999_950_000);
            assert_eq!(pool.with_worker(|worker| fib(worker, 20)), 6765);
            assert_eq!(pool.with_worker(|worker| maybe_fib(worker, 20)), 6765);
            assert_eq!(pool.install(|| leaves(14)), 1 << 14);
        });
    }
}

#[test]
fn closures_can_borrow_and_change_local_variables() {
    let _watchdog = watchdog();
    let pool = pool(2);
    for _ in 0..100 {
        let (mut left, mut right) = (vec![1], String::from("a"));
        pool.join(|| left.push(2), || right.push('b'));
        pool.install(|| join_stolen(|| left.push(3), || right.push('c')));
        assert_eq!((left, right.as_str()), (vec![1, 2, 3], "abc"));
    }
}

#[test]
fn joins_outside_of_any_pool_run_in_the_global_pool() {
    let _watchdog = watchdog();
    assert_eq!(filch::current_thread_index(), None);
    let (first, second) = filch::join(filch::current_thread_index, filch::current_thread_index);
    assert!(first.is_some() && second.is_some());
    let (first, second) = filch::maybe_join(filch::current_thread_index, filch::current_thread_index);
    assert!(first.is_some() && second.is_some());
    assert_eq!(filch::with_worker(|worker| fib(worker, 15)), 610);
    let numbers: Vec<u64> = (0..1000).collect();
    assert_eq!(sum(&numbers), 499_500);
}

#[test]
fn join_takes_one_to_eight_closures() {
    let _watchdog = watchdog();
    let pool = pool(2);
    let add = 10;
    pool.install(|| {
        assert_eq!(filch::join!(|| 1), (1,));
        assert_eq!(filch::join!(|| 1, || 2), (1, 2));
        assert_eq!(filch::join!(|| 1, || "2", || 3.0), (1, "2", 3.0));
        assert_eq!(filch::join!(|| 1, || 2, || 3, || 4), (1, 2, 3, 4));
        assert_eq!(filch::join!(|| 1, || 2, || 3, || 4, || 5), (1, 2, 3, 4, 5));
        assert_eq!(filch::join!(|| 1, || 2, || 3, || 4, || 5, || 6), (1, 2, 3, 4, 5, 6));
        assert_eq!(filch::join!(|| 1, || 2, || 3, || 4, || 5, || 6, || 7), (1, 2, 3, 4, 5, 6, 7));
        let all = filch::join!(|| 1, || 2, || 3, || 4, || 5, || 6, || add + 7, || add + 8,);
        assert_eq!(all, (1, 2, 3, 4, 5, 6, 17, 18));
    });
    assert_eq!(filch::join!(|| 1, || 2, || 3), (1, 2, 3));
}

#[test]
fn join_takes_closures_that_own_and_change_variables() {
    let _watchdog = watchdog();
    let (mut a, mut b, mut c) = (0, 0, 0);
    let (text, other) = (String::from("mine"), String::from("too"));
    let (_, back, _, again) = filch::join!(|| a = 1, move || text, || (b, c) = (2, 3), move || other);
    assert_eq!((a, b, c, back.as_str(), again.as_str()), (1, 2, 3, "mine", "too"));
}

#[test]
fn all_eight_closures_can_run_at_once() {
    let _watchdog = watchdog();
    let (pool, barrier) = (pool(8), Barrier::new(8));
    let leads = || usize::from(barrier.wait().is_leader());
    for _ in 0..50 {
        let (a, b, c, d, e, f, g, h) =
            pool.install(|| filch::join!(leads, leads, leads, leads, leads, leads, leads, leads));
        assert_eq!(a + b + c + d + e + f + g + h, 1);
    }
}

#[test]
fn the_first_closure_runs_on_the_thread_that_joins() {
    let _watchdog = watchdog();
    for_each_pool_kind(3, |pool| {
        for _ in 0..200 {
            pool.install(|| {
                let home = filch::current_thread_index();
                filch::join(|| assert_eq!(filch::current_thread_index(), home), || ());
                assert_eq!(filch::current_thread_index(), home);
            });
        }
    });
}

#[test]
fn many_outside_threads_can_join_in_one_pool_at_once() {
    let _watchdog = watchdog();
    let pool = pool(2);
    let start = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                spin_until(|| start.load(Ordering::Acquire));
                for n in 0..200 {
                    assert_eq!(pool.join(|| n, || n + 1), (n, n + 1));
                    assert_eq!(pool.with_worker(|worker| fib(worker, 8)), 21);
                }
            });
        }
        start.store(true, Ordering::Release);
    });
}
