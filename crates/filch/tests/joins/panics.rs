//! Drops and panics: both closures finish, and every value is dropped once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::common::{catch_payload, for_each_pool_kind, panic_with, pool, watchdog, CountsDrop, Drops, SpinBarrier};
use crate::{fib, join_stolen};
use filch::Pool;

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
