//! Joins: results, drops, panics of closures, and how deep they nest.

mod common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Barrier;
use std::thread;

use common::{
    build, catch_payload, for_each_pool_kind, panic_with, pool, spin_until, watchdog, CountsDrop, Drops, SpinBarrier,
};
use filch::{Pool, Worker};

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
fn a_join_from_outside_migrates_both_closures() {
    let _watchdog = watchdog();
    assert_eq!(filch::join_context(|context| context.migrated(), |context| context.migrated()), (true, true));
}

#[test]
fn a_closure_migrates_if_and_only_if_it_runs_on_another_thread() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for round in 0..200 {
            let (taken, barrier) = (round % 2 == 0, SpinBarrier::new(2));
            pool.install(|| {
                let home = thread::current().id();
                let ((), stolen) = filch::join_context(
                    |context| {
                        assert!(!context.migrated());
                        assert_eq!(thread::current().id(), home);
                        if taken {
                            barrier.wait();
                        }
                    },
                    |context| {
                        if taken {
                            barrier.wait();
                        }
                        assert_eq!(context.migrated(), thread::current().id() != home);
                        context.migrated()
                    },
                );
                assert!(stolen || !taken);
            });
        }
    });
}

#[test]
fn a_closure_gets_the_worker_that_runs_it() {
    let _watchdog = watchdog();
    let pool = pool(2);
    for _ in 0..200 {
        let barrier = SpinBarrier::new(2);
        let ((), ()) = pool.with_worker(|worker| {
            let home = worker.index();
            worker.join_context(
                |worker, context| {
                    barrier.wait();
                    assert_eq!((worker.index(), context.migrated()), (home, false));
                    assert_eq!(Some(worker.index()), filch::current_thread_index());
                },
                |worker, context| {
                    barrier.wait();
                    assert_eq!((worker.index(), context.migrated()), (1 - home, true));
                    assert_eq!(Some(worker.index()), filch::current_thread_index());
                },
            )
        });
    }
}

#[test]
fn no_closure_migrates_on_a_single_worker_even_beyond_the_end_of_its_fork_stack() {
    fn nest(depth: u32) {
        if depth > 0 {
            let home = thread::current().id();
            filch::join_context(
                |context| {
                    assert!(!context.migrated());
                    nest(depth - 1);
                },
                |context| {
                    assert_eq!(thread::current().id(), home);
                    assert!(!context.migrated(), "migrated at depth {depth}");
                },
            );
        }
    }
    let _watchdog = watchdog();
    build(Pool::builder().threads(1).fork_depth(8)).install(|| nest(20));
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

/// Each closure owns something and returns something. All are dropped once, the former when the
/// closure runs, the latter when the caller says.
fn assert_exact_drops(pool: &Pool, stolen: bool) {
    let (owned, returned) = (Drops::default(), Drops::default());
    for round in 1..=500 {
        let (a, b, barrier) = (owned.new_value(), owned.new_value(), SpinBarrier::new(2));
        let end = |own: CountsDrop| {
            if stolen {
                barrier.wait();
            }
            drop(own);
            returned.new_value()
        };
        let end = &end;
        let results = pool.install(|| filch::join(move || end(a), move || end(b)));
        assert_eq!((owned.count(), returned.count()), (2 * round, 2 * (round - 1)));
        drop(results);
        assert_eq!((owned.count(), returned.count()), (2 * round, 2 * round));
    }
}

#[test]
fn closures_and_results_are_dropped_once_in_place() {
    let _watchdog = watchdog();
    for threads in [1, 2] {
        for_each_pool_kind(threads, |pool| assert_exact_drops(pool, false));
    }
}

#[test]
fn closures_and_results_are_dropped_once_when_stolen() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| assert_exact_drops(pool, true));
}

/// Both closures finish, the right panic resumes, and nothing is leaked or dropped twice.
fn assert_both_finish(pool: &Pool, stolen: bool, first_panics: bool, second_panics: bool) {
    let (owned, results) = (Drops::default(), Drops::default());
    for round in 1..=200 {
        let (a, b) = (owned.new_value(), owned.new_value());
        let finished = AtomicUsize::new(0);
        let barrier = SpinBarrier::new(2);
        let end = |own: CountsDrop, panics: bool, name: &'static str| {
            if stolen {
                barrier.wait();
            }
            let result = results.new_value();
            finished.fetch_add(1, Ordering::SeqCst);
            drop(own);
            if panics {
                panic_with(name);
            }
            result
        };
        let end = &end;
        let payload: &str = catch_payload(|| {
            pool.install(|| filch::join(move || end(a, first_panics, "first"), move || end(b, second_panics, "second")))
        });
        assert_eq!(payload, if first_panics { "first" } else { "second" });
        assert_eq!(finished.load(Ordering::SeqCst), 2);
        assert_eq!((owned.count(), results.count()), (2 * round, 2 * round));
    }
}

#[test]
fn both_closures_of_a_join_finish_when_the_first_panics() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        assert_both_finish(pool, false, true, false);
        assert_both_finish(pool, true, true, false);
    });
}

#[test]
fn both_closures_of_a_join_finish_when_the_second_panics() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        assert_both_finish(pool, false, false, true);
        assert_both_finish(pool, true, false, true);
    });
}

#[test]
fn the_panic_of_the_first_closure_resumes_when_both_panic() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        assert_both_finish(pool, false, true, true);
        assert_both_finish(pool, true, true, true);
    });
}

#[test]
fn panics_keep_their_payload_through_every_kind_of_join() {
    let _watchdog = watchdog();
    let pool = pool(2);
    assert_eq!(catch_payload::<u64, _>(|| pool.join(|| panic_with(7u64), || ())), 7);
    assert_eq!(catch_payload::<u64, _>(|| pool.join(|| (), || panic_with(8u64))), 8);
    assert_eq!(catch_payload::<u64, _>(|| pool.with_worker(|worker| worker.join(|_| panic_with(9u64), |_| ()))), 9);
    assert_eq!(catch_payload::<u64, _>(|| pool.install(|| filch::maybe_join(|| (), || panic_with(10u64)))), 10);
    assert_eq!(catch_payload::<u64, _>(|| pool.install(|| filch::join!(|| (), || (), || panic_with(11u64)))), 11);
    assert_eq!(catch_payload::<u64, _>(|| filch::join(|| panic_with(12u64), || ())), 12);
    assert_eq!(catch_payload::<u64, _>(|| filch::join_context(|_| (), |_| panic_with(13u64))), 13);
    assert_eq!(catch_payload::<&str, _>(|| pool.join(|| (), || panic!("a message"))), "a message");
}

#[test]
fn maybe_join_runs_the_second_closure_when_the_first_panics_in_place() {
    fn nest(depth: u32, runs: &AtomicUsize) {
        if depth == 0 {
            panic_with("leaf");
        }
        filch::maybe_join(
            || nest(depth - 1, runs),
            || {
                runs.fetch_add(1, Ordering::SeqCst);
                panic_with("second");
            },
        );
    }
    let _watchdog = watchdog();
    for_each_pool_kind(1, |pool| {
        let runs = AtomicUsize::new(0);
        assert_eq!(catch_payload::<&str, _>(|| pool.install(|| nest(20, &runs))), "leaf");
        assert_eq!(runs.into_inner(), 20);
    });
}

#[test]
fn a_panic_through_many_joins_runs_every_second_closure() {
    fn nest(depth: usize, runs: &AtomicUsize) {
        if depth == 0 {
            panic_with("leaf");
        }
        filch::join(|| nest(depth - 1, runs), || runs.fetch_add(1, Ordering::SeqCst));
    }
    let _watchdog = watchdog();
    for_each_pool_kind(3, |pool| {
        for depth in 1..200 {
            let runs = AtomicUsize::new(0);
            assert_eq!(catch_payload::<&str, _>(|| pool.install(|| nest(depth, &runs))), "leaf");
            assert_eq!(runs.into_inner(), depth);
        }
    });
}

#[test]
fn a_pool_still_works_after_panics() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for round in 0..200u32 {
            assert_eq!(catch_payload::<u32, _>(|| pool.install(|| join_stolen(|| (), || panic_with(round)))), round);
            assert_eq!(pool.with_worker(|worker| fib(worker, 10)), 55);
        }
    });
}

#[test]
fn a_thread_that_catches_a_panic_of_a_join_is_not_panicking() {
    let _watchdog = watchdog();
    let pool = pool(2);
    pool.install(|| {
        let caught: u32 = catch_payload(|| filch::join(|| panic_with(1u32), || assert!(!thread::panicking())));
        assert_eq!(caught, 1);
        assert!(!thread::panicking());
        assert_eq!(filch::join(|| 1, || 2), (1, 2));
    });
}

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
