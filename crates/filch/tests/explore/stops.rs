//! Each way to stop an exploration, and what happens to the tasks that are left.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::pool;
use filch::explore::{Cancel, Ending, Explore};
use filch::queue::Bulk;

/// Tasks that a thief has put into its own queue are dropped with it, once. That holds however the
/// exploration ends.
#[test]
fn a_stopped_exploration_drops_every_task_of_a_bulk_queue_once() {
    for stop_at in [1, 10, 500, 5000] {
        let shared = std::sync::Arc::new(());
        let (pool, run) = (pool(4), AtomicUsize::new(0));
        let _ =
            Explore::exactly_once().pool(&pool).queue(Bulk).run([(0u32, shared.clone())], |(depth, shared), worker| {
                if depth < 12 {
                    worker.push_all([0, 1].map(|_| (depth + 1, shared.clone())));
                }
                if run.fetch_add(1, Ordering::Relaxed) == stop_at {
                    worker.stop();
                }
            });
        assert_eq!(std::sync::Arc::strong_count(&shared), 1);
    }
}

#[test]
fn after_a_task_stops_an_exploration_no_worker_begins_another_task() {
    let pool = pool(2);
    let after = AtomicU64::new(0);
    let stopped = AtomicBool::new(false);
    let explored = Explore::exactly_once().pool(&pool).run([0u64], |n, worker| {
        if stopped.load(Ordering::SeqCst) {
            after.fetch_add(1, Ordering::Relaxed);
        }
        // It would go on forever.
        worker.push_all([n + 1, n + 2]);
        if n == 5000 {
            worker.stop();
            stopped.store(true, Ordering::SeqCst);
        }
    });
    assert_eq!(explored.ending(), Ending::Stopped);
    assert!(after.load(Ordering::Relaxed) <= 2, "{after:?} tasks began after the stop");
}

#[test]
fn an_exploration_can_be_cancelled_from_outside() {
    let (pool, cancel, begun) = (pool(2), Cancel::new(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !begun.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            cancel.cancel();
        });
        let explored = Explore::at_least_once().pool(&pool).cancel(&cancel).run([0u64], |n, worker| {
            begun.store(true, Ordering::Release);
            worker.push(n + 1);
        });
        assert_eq!(explored.ending(), Ending::Cancelled);
    });
}

#[test]
fn an_exploration_stops_at_its_deadline() {
    let pool = pool(2);
    let deadline = Instant::now() + Duration::from_millis(5);
    let explored = Explore::exactly_once().pool(&pool).deadline(deadline).run([0u64], |n, worker| worker.push(n + 1));
    assert_eq!(explored.ending(), Ending::TimedOut);
    assert!(Instant::now() >= deadline);
}

#[test]
fn tasks_that_are_not_run_are_dropped() {
    struct Counted<'a>(&'a AtomicUsize);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let (pool, dropped) = (pool(2), AtomicUsize::new(0));
    let roots = (0..100).map(|_| Counted(&dropped));
    let explored = Explore::exactly_once().pool(&pool).run(roots, |_, worker| worker.stop());
    assert_eq!(explored.ending(), Ending::Stopped);
    assert_eq!(dropped.load(Ordering::Relaxed), 100);
}

#[test]
fn an_exploration_that_is_stopped_before_it_begins_runs_no_task() {
    let cancel = Cancel::new();
    cancel.cancel();
    let explored = Explore::exactly_once().cancel(&cancel).run(0..100, |_, _| unreachable!());
    assert_eq!(explored.ending(), Ending::Cancelled);
    let explored = Explore::exactly_once().deadline(Instant::now()).run(0..100, |_, _| unreachable!());
    assert_eq!(explored.ending(), Ending::TimedOut);
    let explored = Explore::exactly_once().time_limit(Duration::MAX).run(0..100, |_, _| {});
    assert_eq!(explored.ending(), Ending::Complete);
}

#[test]
fn after_a_cancel_each_worker_begins_at_most_sixteen_tasks() {
    for threads in [1, 2, 4] {
        let (pool, cancel, after) = (pool(threads), Cancel::new(), AtomicU64::new(0));
        let explored = Explore::exactly_once().pool(&pool).cancel(&cancel).run([0u64], |n, worker| {
            if cancel.is_cancelled() {
                after.fetch_add(1, Ordering::Relaxed);
            }
            worker.push_all([n + 1, n + 2]);
            if n == 3000 {
                cancel.cancel();
            }
        });
        assert_eq!(explored.ending(), Ending::Cancelled);
        assert!(after.load(Ordering::Relaxed) <= 16 * threads as u64, "{after:?} tasks began after the cancel");
    }
}

#[test]
fn a_long_task_sees_the_end_of_the_time_limit() {
    let explored = Explore::exactly_once().time_limit(Duration::from_millis(5)).run([0], |_, worker| {
        while !worker.is_stopped() {
            std::thread::yield_now();
        }
    });
    assert_eq!(explored.ending(), Ending::TimedOut);
}

#[test]
fn an_exploration_that_is_stopped_before_it_begins_creates_no_state() {
    let cancel = Cancel::new();
    cancel.cancel();
    let explored = Explore::exactly_once().cancel(&cancel).state(|_| -> u32 { unreachable!() }).run([0], |_, _| {});
    assert!(explored.states().is_empty());
}

#[test]
fn the_first_result_of_find_stops_the_exploration() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let (found, explored) = Explore::at_least_once().pool(&pool).find([1u64], |n, worker| {
            worker.push_all([2 * n % 10_007, 3 * n % 10_007]);
            (n == 5000).then_some("five thousand")
        });
        assert_eq!(found, Some("five thousand"));
        assert_eq!(explored.ending(), Ending::Stopped);
        let (found, explored) = Explore::at_least_once().pool(&pool).find(0..10, |_, _| None::<()>);
        assert_eq!((found, explored.ending()), (None, Ending::Complete));
    }
}
