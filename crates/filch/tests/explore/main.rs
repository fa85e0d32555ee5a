//! Explorations: each task is run, none is left, and each way to stop works.

mod each_task;
mod levels;
mod panicky;
mod panics;
mod stops;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use filch::explore::{Ending, Explore};
use filch::queue::{Asymmetric, Bound, Bulk, ChaseLev, Delta, Kind, Split, The};
use filch::queue::{DoubleEnded, Fifo, Lifo, UntrustedFfCl, UntrustedFfThe, UntrustedThep};
use filch::{Pool, Waiting};

fn pool(threads: usize) -> Pool {
    Pool::builder().threads(threads).build().unwrap()
}

fn delta() -> Delta {
    Delta::new(Bound::GENEROUS, 15).unwrap()
}

#[test]
fn tasks_may_own_and_borrow() {
    let names = Mutex::new(HashSet::new());
    filch::explore([String::from("a")], |name, worker| {
        if name.len() < 6 {
            worker.push(name.clone() + "a");
            worker.push(name.clone() + "b");
        }
        assert!(names.lock().unwrap().insert(name));
    });
    assert_eq!(names.into_inner().unwrap().len(), 63);
}

#[test]
fn an_exploration_without_roots_is_complete() {
    let explored = Explore::exactly_once().run([0u32; 0], |_, _| unreachable!());
    assert_eq!(explored.ending(), Ending::Complete);
}

#[test]
fn each_worker_has_its_own_state_and_the_result_has_all_states() {
    let pool = pool(4);
    let made = AtomicUsize::new(0);
    let explored = Explore::exactly_once()
        .pool(&pool)
        .state(|index| {
            made.fetch_add(1, Ordering::Relaxed);
            (index, 0u64)
        })
        .run(0..1000u64, |n, worker| worker.state().1 += n);
    assert_eq!(explored.states().iter().map(|(_, sum)| sum).sum::<u64>(), 499_500);
    assert_eq!(explored.states().len(), made.load(Ordering::Relaxed));
    let workers: HashSet<usize> = explored.states().iter().map(|(index, _)| *index).collect();
    assert_eq!(workers.len(), explored.states().len());
}

#[test]
fn no_more_than_the_given_number_of_workers_take_part() {
    let pool = pool(4);
    let explored = Explore::exactly_once().pool(&pool).workers(2).state(|index| index).run(0..1000, |_: i32, _| {});
    assert!(explored.states().iter().all(|index| *index < 2));
    assert_eq!(Explore::exactly_once().pool(&pool).workers(0).run(0..10, |_: i32, _| {}).states().len(), 1);
}

#[test]
fn explorations_can_be_nested_and_combined_with_joins() {
    let pool = pool(3);
    let total = AtomicU64::new(0);
    let count = |roots: u64| {
        filch::explore(0..roots, |n: u64, worker| {
            total.fetch_add(1, Ordering::Relaxed);
            if n > 100 {
                worker.push(n / 2);
            }
        });
    };
    pool.install(|| {
        filch::join(|| count(1000), || count(1000));
        filch::explore(0..4u64, |_, _| count(10));
    });
    let chain = |n: u64| 1 + (0..).scan(n, |n, _| (*n > 100).then(|| *n /= 2)).count() as u64;
    let expected = 2 * (0..1000).map(chain).sum::<u64>() + 4 * (0..10).map(chain).sum::<u64>();
    assert_eq!(total.load(Ordering::Relaxed), expected);
}

#[test]
fn an_exploration_with_one_task_at_a_time_ends() {
    // A chain: all workers but one are idle all the time, and search.
    for threads in [2, 4, 8] {
        let pool = pool(threads);
        for _ in 0..50 {
            let last = AtomicU64::new(0);
            let _ = Explore::exactly_once().pool(&pool).run([0u64], |n, worker| {
                last.fetch_max(n, Ordering::Relaxed);
                if n < 1000 {
                    worker.push(n + 1);
                }
            });
            assert_eq!(last.load(Ordering::Relaxed), 1000);
        }
    }
}

fn run_tasks_that_use_the_pool<K: Kind<u32> + Copy>(kind: K, waiting: Waiting, threads: usize) {
    let pool = Pool::builder().threads(threads).waiting(waiting).build().unwrap();
    let seen: Vec<AtomicBool> = (0..1100).map(|_| AtomicBool::new(false)).collect();
    let count = AtomicU64::new(0);
    let add = || {
        count.fetch_add(1, Ordering::Relaxed);
    };
    let explored = Explore::at_least_once().pool(&pool).queue(kind).run(0..200, |n, worker| {
        if seen[n as usize].swap(true, Ordering::Relaxed) {
            return;
        }
        if n % 2 == 0 && n < 100 {
            worker.push(1000 + n);
        }
        match n % 5 {
            0 => drop(filch::join(add, add)),
            1 => drop(filch::broadcast(|_| add())),
            2 => drop(filch::yield_now()),
            3 => filch::scope(|scope| scope.spawn(|_| add())),
            _ => filch::explore([n], |_, _| add()),
        }
    });
    assert_eq!(explored.ending(), Ending::Complete);
    // Of each kind there are 40 among the roots and 10 among the tasks that they push.
    assert_eq!(count.load(Ordering::Relaxed), 50 * (2 + threads as u64 + 1 + 1));
}

#[test]
fn tasks_can_use_the_pool_with_every_waiting_policy_and_queue() {
    for waiting in [Waiting::Strict, Waiting::StrictInPool, Waiting::Any] {
        for threads in [1, 2, 3] {
            run_tasks_that_use_the_pool(ChaseLev, waiting, threads);
            run_tasks_that_use_the_pool(The, waiting, threads);
            run_tasks_that_use_the_pool(Asymmetric, waiting, threads);
            run_tasks_that_use_the_pool(Bulk, waiting, threads);
            run_tasks_that_use_the_pool(Split, waiting, threads);
            run_tasks_that_use_the_pool(Lifo, waiting, threads);
            run_tasks_that_use_the_pool(Fifo, waiting, threads);
            run_tasks_that_use_the_pool(DoubleEnded, waiting, threads);
            run_tasks_that_use_the_pool(UntrustedFfThe(delta()), waiting, threads);
            run_tasks_that_use_the_pool(UntrustedFfCl(delta()), waiting, threads);
            run_tasks_that_use_the_pool(UntrustedThep(delta()), waiting, threads);
        }
    }
}

/// A task pushes another, and waits for it by computing: only another worker can run that one.
fn wait_for_pushed_tasks<K: Kind<u32> + Copy>(kind: K) {
    for threads in [2, 4] {
        let pool = pool(threads);
        for round in 0..100 {
            let ran = AtomicBool::new(false);
            let explored = Explore::at_least_once().pool(&pool).queue(kind).run([0], |task: u32, worker| {
                if task == 1 {
                    return ran.store(true, Ordering::Relaxed);
                }
                // Time for the other workers to fall asleep, in some of the rounds.
                if round % 10 == 0 {
                    thread::sleep(Duration::from_millis(2));
                }
                worker.push(1);
                while !ran.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            assert_eq!(explored.total().tasks, 2);
        }
    }
}

#[test]
fn a_task_can_wait_for_a_task_that_it_has_pushed() {
    wait_for_pushed_tasks(ChaseLev);
    wait_for_pushed_tasks(Split);
    wait_for_pushed_tasks(Asymmetric);
    wait_for_pushed_tasks(Bulk);
}

/// A worker that only pops is told to stop.
#[test]
fn a_worker_with_many_tasks_stops_when_another_stops() {
    let pool = pool(2);
    for _ in 0..20 {
        let begun = AtomicUsize::new(0);
        let explored = Explore::exactly_once().pool(&pool).queue(Split).run([0u32], |task, worker| match task {
            0 => {
                worker.push(1);
                worker.push_all(2..100_000);
            }
            // Another worker has it, or the worker that has run all others.
            1 => worker.stop(),
            _ => {
                begun.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_micros(10));
            }
        });
        assert_eq!(explored.ending(), Ending::Stopped);
        assert!(begun.into_inner() < 90_000, "a worker did not stop");
    }
}

#[test]
fn the_counts_include_all_workers_and_the_longest_queue() {
    for threads in [1, 3] {
        let pool = pool(threads);
        let explored = Explore::exactly_once().pool(&pool).state(|_| ()).run([0u32], |n, worker| {
            if n == 0 {
                worker.push_all(1..=1000);
            }
        });
        assert_eq!(explored.counts().len(), threads);
        assert_eq!(explored.total().tasks, 1001);
        assert_eq!(explored.states().len(), explored.counts().iter().filter(|counts| counts.tasks > 0).count());
        // Thieves may have emptied the queue before its length is read.
        assert!(threads > 1 || explored.total().longest > 900, "{:?}", explored.total());
    }
}

#[test]
fn an_exploration_ends_while_a_worker_is_busy_with_other_work() {
    let pool = pool(2);
    let (begun, finished) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            pool.install(|| {
                begun.store(true, Ordering::Release);
                while !finished.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
            });
        });
        while !begun.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        // One worker is busy all the time.
        let explored = Explore::exactly_once().pool(&pool).run(0..1000u32, |n, worker| {
            if n % 10 == 0 && n > 0 {
                worker.push(n / 10);
            }
        });
        finished.store(true, Ordering::Release);
        assert_eq!(
            explored.total().tasks,
            (0..1000u32)
                .map(|n| {
                    let mut tasks = 1;
                    let mut n = n;
                    while n % 10 == 0 && n > 0 {
                        n /= 10;
                        tasks += 1;
                    }
                    tasks
                })
                .sum::<u64>()
        );
    });
}

#[test]
fn another_worker_runs_a_pushed_task_that_its_pusher_waits_for() {
    let pool = pool(2);
    for _ in 0..200 {
        let done = AtomicBool::new(false);
        let explored = Explore::exactly_once().pool(&pool).run([0], |task, worker| {
            if task == 1 {
                return done.store(true, Ordering::Release);
            }
            worker.push(1);
            // The other worker is in the list of idle workers, or about to be, and is woken.
            while !done.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
        });
        assert_eq!(explored.total().tasks, 2);
    }
}
