//! Whole pools, in random orders: shuttle picks the thread that runs next.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use shuttle::sync::mpsc::channel;
use shuttle::sync::Barrier;
use shuttle::thread;

use crate::defect::{self, Defect};
use crate::{Builder, Callers, Fences, Pool, Waiting, Worker};

/// Returns the number of random orders: `FILCH_SHUTTLE_ORDERS`, or `usual`.
fn orders(usual: usize) -> usize {
    std::env::var("FILCH_SHUTTLE_ORDERS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn check_orders(usual: usize, model: impl Fn() + Sync + Send + 'static) {
    check_exactly(orders(usual), model);
}

fn check_exactly(orders: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut config = shuttle::Config::new();
    config.stack_size = 256 * 1024;
    config.max_steps = shuttle::MaxSteps::FailAfter(200_000);
    let scheduler = shuttle::scheduler::RandomScheduler::new(orders);
    shuttle::Runner::new(scheduler, config).run(model);
}

fn pool(threads: usize, waiting: Waiting, fences: Fences) -> Pool {
    Builder::new().threads(threads).waiting(waiting).fences(fences).build().expect("a pool in a model")
}

fn fib(worker: &mut Worker, n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    let (a, b) = worker.join(|worker| fib(worker, n - 1), |worker| fib(worker, n - 2));
    a + b
}

fn meet(barrier: &Barrier) {
    barrier.wait();
}

const KINDS: [(Waiting, Fences); 4] = [
    (Waiting::Strict, Fences::Automatic),
    (Waiting::Strict, Fences::Owner),
    (Waiting::Any, Fences::Automatic),
    (Waiting::Any, Fences::Owner),
];

fn joins(threads: usize, waiting: Waiting, fences: Fences) {
    check_orders(150, move || {
        let pool = pool(threads, waiting, fences);
        assert_eq!(pool.with_worker(|worker| fib(worker, 6)), 8);
        // Once more, when all workers may have gone to sleep.
        assert_eq!(pool.with_worker(|worker| fib(worker, 4)), 3);
    });
}

/// Two closures that wait for each other.
fn meets(waiting: Waiting, fences: Fences) {
    check_orders(300, move || {
        let pool = pool(2, waiting, fences);
        let barrier = Arc::new(Barrier::new(2));
        for _ in 0..2 {
            let (first, second) = (barrier.clone(), barrier.clone());
            pool.join(move || meet(&first), move || meet(&second));
        }
    });
}

#[test]
fn joins_return_the_right_result() {
    for (waiting, fences) in KINDS {
        for threads in 1..=3 {
            assert!(defect::with(None, move || joins(threads, waiting, fences)));
        }
    }
}

#[test]
fn closures_that_wait_for_each_other_meet() {
    for (waiting, fences) in KINDS {
        assert!(defect::with(None, move || meets(waiting, fences)));
    }
}

#[test]
fn scopes_end_after_their_tasks() {
    for (waiting, fences) in KINDS {
        assert!(defect::with(None, move || {
            check_orders(150, move || {
                let pool = pool(2, waiting, fences);
                let count = AtomicUsize::new(0);
                pool.scope(|scope| {
                    for _ in 0..2 {
                        scope.spawn(|scope| {
                            count.fetch_add(1, Ordering::Relaxed);
                            scope.spawn(|_| {
                                crate::join(
                                    || count.fetch_add(1, Ordering::Relaxed),
                                    || count.fetch_add(1, Ordering::Relaxed),
                                );
                            });
                        });
                    }
                });
                assert_eq!(count.load(Ordering::Relaxed), 6);
            });
        }));
    }
}

#[test]
fn a_pool_finishes_what_was_spawned_before_it_ends() {
    assert!(defect::with(None, || {
        check_orders(300, || {
            let count = Arc::new(AtomicUsize::new(0));
            {
                let pool = pool(2, Waiting::Strict, Fences::Automatic);
                for _ in 0..3 {
                    let count = count.clone();
                    pool.spawn(move || {
                        let inner = count.clone();
                        crate::spawn(move || {
                            inner.fetch_add(1, Ordering::Relaxed);
                        });
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                }
            }
            assert_eq!(count.load(Ordering::Relaxed), 6);
        });
    }));
}

#[test]
fn installs_nest_across_two_pools() {
    for waiting in [Waiting::Strict, Waiting::Any] {
        assert!(defect::with(None, move || {
            check_orders(200, move || {
                let (first, second) = (pool(1, waiting, Fences::Automatic), pool(1, waiting, Fences::Automatic));
                let answer = first.install(|| second.install(|| first.install(|| second.install(|| 42))));
                assert_eq!(answer, 42);
            });
        }));
    }
}

#[test]
fn broadcasts_reach_every_worker() {
    assert!(defect::with(None, || {
        check_orders(200, || {
            let pool = pool(3, Waiting::Strict, Fences::Automatic);
            let (one, two) =
                pool.join(|| crate::broadcast(|part| part.index()), || crate::broadcast(|part| part.index()));
            assert_eq!((one, two), (vec![0, 1, 2], vec![0, 1, 2]));
        });
    }));
}

#[test]
fn a_sleeper_that_does_not_look_again_is_caught() {
    assert!(!defect::with(Some(Defect::SleepWithoutLook), || {
        // As many orders as it takes, whatever was asked for: it ends at the first that fails.
        check_exactly(20_000, || {
            let pool = pool(2, Waiting::Strict, Fences::Automatic);
            let barrier = Arc::new(Barrier::new(2));
            let (first, second) = (barrier.clone(), barrier);
            pool.join(move || meet(&first), move || meet(&second));
        });
    }));
}

/// Creates a pool that lends its seats.
fn lending_pool(threads: usize, fences: Fences) -> Arc<Pool> {
    let builder = Builder::new().threads(threads).fences(fences).callers(Callers::InPlace);
    Arc::new(builder.build().expect("a pool in a model"))
}

/// Gives a worker `chances` chances to fall asleep.
fn let_workers_sleep(chances: usize) {
    (0..chances * 200).for_each(|_| thread::yield_now());
}

/// Calls `f` from `count` threads at the same time. Most of them come so late that a worker is
/// likely to be asleep.
fn callers(count: usize, f: impl Fn() + Send + Sync + 'static) {
    let f = Arc::new(f);
    let threads: Vec<_> = (0..count)
        .map(|index| {
            let f = Arc::clone(&f);
            thread::spawn(move || {
                let_workers_sleep(index);
                f();
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("a caller"));
}

#[test]
fn callers_share_the_seats() {
    for fences in [Fences::Automatic, Fences::Owner] {
        for threads in 1..=3 {
            assert!(defect::with(None, move || {
                check_orders(150, move || {
                    let pool = lending_pool(threads, fences);
                    callers(3, move || {
                        for n in [0, 3] {
                            assert_eq!(pool.with_worker(|worker| fib(worker, n)), [0, 1, 1, 2][n as usize]);
                        }
                    });
                });
            }));
        }
    }
}

/// Callers leave spawned jobs in the seats that they return. Each of the jobs is run.
fn spawns_in_place() {
    check_orders(300, || {
        let count = Arc::new(AtomicUsize::new(0));
        {
            let (pool, count) = (lending_pool(1, Fences::Automatic), Arc::clone(&count));
            callers(2, move || {
                let has_run = Arc::new(Barrier::new(2));
                pool.install(|| {
                    let (count, has_run) = (Arc::clone(&count), Arc::clone(&has_run));
                    crate::spawn(move || {
                        count.fetch_add(1, Ordering::Relaxed);
                        has_run.wait();
                    });
                });
                has_run.wait();
            });
        }
        assert_eq!(count.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn what_a_caller_spawns_is_run() {
    assert!(defect::with(None, spawns_in_place));
}

#[test]
fn a_return_that_forgets_what_was_spawned_is_caught() {
    assert!(!defect::with(Some(Defect::ReturnForgetsSpawned), spawns_in_place));
}

/// A call waits for what an earlier call has spawned. Another job occupies the other worker.
fn waits_for_spawned(orders: usize) {
    check_orders(orders, || {
        let pool = lending_pool(2, Fences::Automatic);
        let (done, is_done) = channel();
        let (over, is_over) = channel::<()>();
        let other = {
            let pool = pool.clone();
            thread::spawn(move || {
                let_workers_sleep(2);
                pool.spawn(move || _ = is_over.recv());
            })
        };
        let_workers_sleep(2);
        pool.install(|| crate::spawn(move || _ = done.send(())));
        pool.install(move || is_done.recv()).expect("the spawned job has run");
        drop(over);
        other.join().expect("a caller");
    });
}

#[test]
fn a_call_may_wait_for_what_an_earlier_one_has_spawned() {
    assert!(defect::with(None, || waits_for_spawned(1_000)));
}

#[test]
fn a_caller_that_does_not_look_at_the_seat_it_borrows_is_caught() {
    assert!(!defect::with(Some(Defect::BorrowDoesNotLook), || waits_for_spawned(100_000)));
}

#[test]
fn broadcasts_reach_lent_seats() {
    assert!(defect::with(None, || {
        check_orders(200, || {
            let pool = lending_pool(2, Fences::Automatic);
            let broadcasts = pool.clone();
            let other = thread::spawn(move || assert_eq!(broadcasts.broadcast(|part| part.index()), [0, 1]));
            let_workers_sleep(1);
            let (one, ()) = pool.join(|| crate::broadcast(|part| part.index()), || ());
            assert_eq!(one, [0, 1]);
            let ((), two) = pool.join(|| (), || crate::broadcast(|part| part.index()));
            assert_eq!(two, [0, 1]);
            other.join().expect("a caller");
        });
    }));
}

#[test]
fn closures_of_several_callers_meet() {
    for fences in [Fences::Automatic, Fences::Owner] {
        assert!(defect::with(None, move || {
            check_orders(300, move || {
                let pool = lending_pool(2, fences);
                // One after the other: a pool of two workers has room for one meeting.
                let turn = Arc::new(shuttle::sync::Mutex::new(()));
                callers(2, move || {
                    let _turn = turn.lock().expect("no panic");
                    let barrier = Arc::new(Barrier::new(2));
                    let (first, second) = (barrier.clone(), barrier);
                    pool.join(move || meet(&first), move || meet(&second));
                });
            });
        }));
    }
}
