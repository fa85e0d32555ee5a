//! Explorations by level: each task runs once, in its level, whatever ends the exploration.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::pool;
use filch::explore::{Ahead, Cancel, Ending, Explore};
use filch::queue::Lifo;
use filch::{Pool, Waiting};

/// Takes some time, so that levels of few tasks are worth sharing.
fn compute(micros: u64) {
    let end = Instant::now() + Duration::from_micros(micros);
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

/// A task that counts how many there are.
struct Counted<'a>(u32, &'a Tally);

#[derive(Default)]
struct Tally {
    made: AtomicUsize,
    dropped: AtomicUsize,
}

impl<'a> Counted<'a> {
    fn new(content: u32, tally: &'a Tally) -> Self {
        tally.made.fetch_add(1, Ordering::Relaxed);
        Counted(content, tally)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.1.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

impl Tally {
    #[track_caller]
    fn check(&self) {
        let count = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        assert_eq!(count(&self.made), count(&self.dropped), "tasks made and dropped");
    }
}

#[test]
fn each_task_of_a_tree_runs_once_in_the_level_of_its_depth() {
    const NODES: u32 = 200_000;
    for threads in [1, 2, 3, 8] {
        let (pool, runs) = (pool(threads), (0..NODES).map(|_| AtomicU32::new(0)).collect::<Vec<_>>());
        let explored = Explore::exactly_once().pool(&pool).run_by_level([0], |node: u32, worker| {
            assert_eq!(worker.level(), (node + 1).ilog2() as usize);
            runs[node as usize].fetch_add(1, Ordering::Relaxed);
            worker.push_all([2 * node + 1, 2 * node + 2].into_iter().filter(|child| *child < NODES));
        });
        assert!(runs.iter().all(|runs| runs.load(Ordering::Relaxed) == 1));
        assert_eq!(explored.total().tasks, u64::from(NODES));
        assert_eq!(explored.ending(), Ending::Complete);
        assert_eq!(explored.counts().len(), threads);
    }
}

/// The tasks of all levels take long enough to be shared, or not, as a seed says.
#[test]
fn no_task_runs_before_all_tasks_of_the_level_before_have_ended() {
    for threads in [2, 4, 8] {
        let pool = pool(threads);
        for seed in 0..10u64 {
            let width = |level: usize| 1 + (seed.wrapping_mul(2654435761) >> (level % 24)) as usize % 200;
            let ended: Vec<AtomicUsize> = (0..50).map(|_| AtomicUsize::new(0)).collect();
            let roots = (0..width(0)).collect::<Vec<_>>();
            let explored = Explore::exactly_once().pool(&pool).run_by_level(roots, |number, worker| {
                let level = worker.level();
                if level > 0 {
                    assert_eq!(ended[level - 1].load(Ordering::Relaxed), width(level - 1), "level {level}");
                }
                if (number as u64 + seed) % 7 == 0 {
                    compute(20);
                }
                // The tasks of a level push those of the next between them.
                let (own, next) = (width(level), width(level + 1));
                if level < 49 {
                    worker.push_all((number..next).step_by(own));
                }
                ended[level].fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(explored.total().tasks, (0..50).map(width).sum::<usize>() as u64);
        }
    }
}

#[test]
fn what_a_level_has_written_is_visible_to_the_next() {
    struct Shared(std::cell::UnsafeCell<Vec<u32>>);
    // SAFETY: each level writes its own elements and reads those of the level before.
    unsafe impl Sync for Shared {}
    impl Shared {
        fn at(&self, at: usize) -> *mut u32 {
            // SAFETY: the vector itself is not changed.
            unsafe { (*self.0.get()).as_ptr().cast_mut().wrapping_add(at) }
        }
    }
    const WIDTH: usize = 64;
    let (pool, sums) = (pool(4), Shared(vec![0; 100 * WIDTH].into()));
    let _ = Explore::exactly_once().pool(&pool).run_by_level(0..WIDTH, |at, worker| {
        let (sums, level) = (&sums, worker.level());
        compute(if level % 10 < 5 { 2 } else { 0 });
        let below = |at: usize| match level {
            0 => 1,
            // SAFETY: this was written by a task of the level before.
            _ => unsafe { *sums.at((level - 1) * WIDTH + at) },
        };
        let sum = below(at).max(below((at + 1) % WIDTH)) + 1;
        // SAFETY: this task alone writes it, and no other of its level reads it.
        unsafe { *sums.at(level * WIDTH + at) = sum };
        if level < 99 {
            worker.push(at);
        }
    });
    // SAFETY: the exploration is over.
    assert!((0..WIDTH).all(|at| unsafe { *sums.at(99 * WIDTH + at) } == 101));
}

#[test]
fn a_million_levels_of_one_task_run_on_one_worker() {
    let pool = pool(2);
    let explored = Explore::exactly_once().pool(&pool).run_by_level([0u32], |n, worker| {
        assert_eq!(worker.level(), n as usize);
        if n < 1_000_000 {
            worker.push(n + 1);
        }
    });
    assert_eq!((explored.total().tasks, explored.total().longest), (1_000_001, 1));
}

#[test]
fn several_workers_run_a_level_of_long_tasks() {
    let (pool, most) = (pool(3), AtomicUsize::new(0));
    let here = AtomicUsize::new(0);
    // Each level of three tasks is shared at once. Whether all workers come in time is up to the
    // system, so there are many levels.
    let explored = Explore::exactly_once().pool(&pool).run_by_level(0..3, |_, worker| {
        most.fetch_max(1 + here.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        compute(1000);
        here.fetch_sub(1, Ordering::Relaxed);
        worker.push_all((most.load(Ordering::Relaxed) < 3 && worker.level() < 2000).then_some(0));
    });
    assert_eq!((explored.states().len(), most.into_inner()), (3, 3));
    assert!(explored.total().steals > 0);
}

#[test]
fn no_more_than_the_given_number_of_workers_take_part() {
    let pool = pool(4);
    let explore = Explore::exactly_once().pool(&pool).state(|index| index);
    let run = |workers| {
        explore.clone().workers(workers).run_by_level(0..100, |n: i32, worker| {
            compute(20);
            assert!(worker.index() < workers.max(1));
            let index = worker.index();
            assert_eq!(*worker.state(), index);
            worker.push_all((n > 50).then_some(n - 1));
        })
    };
    assert!(run(2).states().iter().all(|index| *index < 2));
    assert_eq!(run(0).into_states(), [0]);
}

#[test]
fn an_exploration_by_level_without_roots_is_complete() {
    let explored = Explore::exactly_once().run_by_level([0u32; 0], |_, _| unreachable!());
    assert_eq!((explored.ending(), explored.states().len()), (Ending::Complete, 0));
}

#[test]
fn tasks_without_a_size_run_once() {
    let runs = AtomicUsize::new(0);
    let _ = Explore::at_least_once().queue(Lifo).run_by_level([(); 1000], |(), worker| {
        runs.fetch_add(1, Ordering::Relaxed);
        worker.push_all((worker.level() < 9).then_some(()));
    });
    assert_eq!(runs.into_inner(), 10_000);
}

#[test]
fn states_and_counts_include_all_workers() {
    let pool = pool(4);
    let explored = Explore::exactly_once().pool(&pool).state(|_| 0u64).run_by_level(0..1000u64, |n, worker| {
        let (sum, mut tasks) = worker.split();
        *sum += n;
        if n % 2 == 0 && n > 0 {
            tasks.push(n / 2);
        } else {
            worker.count_redundant();
        }
    });
    let chain = |n: u64| std::iter::successors(Some(n), |n| (n % 2 == 0 && *n > 0).then_some(n / 2));
    assert_eq!(explored.states().iter().sum::<u64>(), (0..1000).flat_map(chain).sum::<u64>());
    assert_eq!(explored.total().tasks, (0..1000).flat_map(chain).count() as u64);
    assert_eq!(explored.total().redundant, 1000);
    assert!((1000..=2000).contains(&explored.total().longest));
}

#[test]
fn steals_are_tasks_that_another_worker_has_pushed() {
    for threads in [1, 2, 3, 8] {
        let pool = pool(threads);
        // Some tasks of the level of 2,000 take long, so that several workers take part.
        let explored = Explore::exactly_once().pool(&pool).run_by_level([0u32], |n, worker| match worker.level() {
            0 => worker.push_all(1..=2000),
            1 => compute(if n % 100 == 0 { 200 } else { 0 }),
            _ => unreachable!(),
        });
        assert_eq!(explored.total().tasks, 2001);
        for counts in explored.counts() {
            assert!(counts.steals <= counts.tasks, "{counts:?}");
        }
        // The first worker has pushed all tasks.
        assert_eq!(explored.counts()[0].steals, 0);
        assert!(explored.counts()[1..].iter().all(|counts| counts.steals == counts.tasks));
        assert_eq!(explored.total().longest, 2000);
    }
}

#[test]
fn a_stop_ends_an_exploration_by_level_and_every_task_is_dropped_once() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for stop_at in [0, 1, 2, 10, 500, 5000] {
            let (tally, runs, after) = (Tally::default(), AtomicUsize::new(0), AtomicUsize::new(0));
            let stopped = AtomicBool::new(false);
            let roots = (0..3).map(|_| Counted::new(0, &tally));
            let explored = Explore::exactly_once().pool(&pool).run_by_level(roots, |task, worker| {
                after.fetch_add(usize::from(stopped.load(Ordering::SeqCst)), Ordering::Relaxed);
                compute(u64::from(task.0 % 3));
                worker.push_all([0, 1].map(|more| Counted::new(task.0 + more, &tally)));
                if runs.fetch_add(1, Ordering::SeqCst) == stop_at {
                    worker.stop();
                    assert!(worker.is_stopped());
                    stopped.store(true, Ordering::SeqCst);
                }
            });
            assert_eq!(explored.ending(), Ending::Stopped);
            assert!(after.into_inner() <= threads, "tasks begin after the stop");
            tally.check();
        }
    }
}

#[test]
fn the_first_panic_resumes_and_every_task_is_dropped_once() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for panic_at in [0, 1, 2, 10, 500, 5000] {
            let (tally, runs, inside) = (Tally::default(), AtomicUsize::new(0), AtomicUsize::new(0));
            let roots = (0..3).map(|_| Counted::new(0, &tally));
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let _ = Explore::exactly_once().pool(&pool).run_by_level(roots, |task, worker| {
                    inside.fetch_add(1, Ordering::SeqCst);
                    compute(u64::from(task.0 % 3));
                    worker.push_all([0, 1].map(|more| Counted::new(task.0 + more, &tally)));
                    assert!(runs.fetch_add(1, Ordering::SeqCst) != panic_at, "the task");
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }));
            assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "the task");
            // Only the task that panicked is still counted.
            assert_eq!(inside.into_inner(), 1);
            tally.check();
            assert_eq!(pool.install(|| 7), 7);
        }
    }
}

#[test]
fn a_panic_in_the_creation_of_a_state_stops_an_exploration_by_level() {
    for threads in [1, 2, 4] {
        let (pool, tally) = (pool(threads), Tally::default());
        let (begun, runs) = (AtomicBool::new(false), AtomicUsize::new(0));
        let roots = (0..100).map(|_| Counted::new(0, &tally));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let explore = Explore::exactly_once().pool(&pool).state(|index| {
                if index == threads - 1 {
                    begun.store(true, Ordering::Release);
                    panic!("the state");
                }
            });
            // The first levels last until the last worker has a task.
            let _ = explore.run_by_level(roots, |task, worker| {
                compute(20);
                runs.fetch_add(1, Ordering::Relaxed);
                if !begun.load(Ordering::Acquire) {
                    worker.push(task);
                }
            });
        }));
        assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "the state");
        assert!(threads > 1 || runs.into_inner() == 0);
        tally.check();
    }
}

#[test]
fn tasks_of_a_level_that_panic_when_dropped_do_not_abort_the_process() {
    struct PanicsOnDrop<'a>(&'a AtomicUsize);
    impl Drop for PanicsOnDrop<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            if !thread::panicking() {
                panic!("dropped");
            }
        }
    }
    for threads in [1, 2] {
        for panics in [false, true] {
            let (pool, dropped) = (pool(threads), AtomicUsize::new(0));
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let roots = (0..100).map(|_| PanicsOnDrop(&dropped));
                let _ = Explore::exactly_once().pool(&pool).run_by_level(roots, |task, worker| {
                    worker.push(PanicsOnDrop(&dropped));
                    worker.stop();
                    std::mem::forget(task);
                    dropped.fetch_add(1, Ordering::Relaxed);
                    assert!(!panics, "dropped");
                });
            }));
            assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "dropped");
            let dropped = dropped.into_inner();
            assert!((101..=100 + threads).contains(&dropped), "{dropped} tasks were dropped");
        }
    }
}

#[test]
fn a_cancel_or_a_deadline_ends_an_exploration_by_level() {
    for threads in [1, 2, 4] {
        let (pool, cancel, after) = (pool(threads), Cancel::new(), AtomicUsize::new(0));
        let endless = Explore::exactly_once().pool(&pool);
        let explored = endless.clone().cancel(&cancel).run_by_level(0..4u64, |n, worker| {
            after.fetch_add(usize::from(cancel.is_cancelled()), Ordering::Relaxed);
            worker.push(n + 1);
            if n == 3000 {
                cancel.cancel();
            }
        });
        assert_eq!(explored.ending(), Ending::Cancelled);
        assert!(after.load(Ordering::Relaxed) <= 16 * threads, "{after:?} tasks began after the cancel");
        let deadline = Instant::now() + Duration::from_millis(5);
        let explored = endless.clone().deadline(deadline).run_by_level([0u64], |n, worker| worker.push(n + 1));
        assert_eq!(explored.ending(), Ending::TimedOut);
        assert!(Instant::now() >= deadline);
        let explored = endless.clone().cancel(&cancel).run_by_level([0], |_, _| unreachable!());
        assert_eq!((explored.ending(), explored.states().len()), (Ending::Cancelled, 0));
        let explored = endless.deadline(Instant::now()).run_by_level([0], |_, _| unreachable!());
        assert_eq!(explored.ending(), Ending::TimedOut);
    }
}

#[test]
fn tasks_of_a_level_can_use_the_pool_with_every_waiting_policy() {
    for waiting in [Waiting::Strict, Waiting::StrictInPool, Waiting::Any] {
        for threads in [1, 2, 3] {
            let pool = Pool::builder().threads(threads).waiting(waiting).build().unwrap();
            let count = AtomicUsize::new(0);
            let add = || {
                count.fetch_add(1, Ordering::Relaxed);
            };
            let _ = Explore::exactly_once().pool(&pool).run_by_level(0..200u32, |n, worker| {
                if worker.level() < 4 {
                    worker.push(n + 1);
                }
                match n % 6 {
                    0 => drop(filch::join(add, add)),
                    1 => drop(filch::broadcast(|_| add())),
                    2 => drop(filch::yield_now()),
                    3 => filch::scope(|scope| scope.spawn(|_| add())),
                    4 => filch::explore([n], |_, _| add()),
                    _ => drop(Explore::exactly_once().run_by_level(0..8, |_, _| add())),
                }
            });
            let of = |kind: u32| (0..200u32).flat_map(|n| n..n + 5).filter(|n| n % 6 == kind).count();
            let expected = 2 * of(0) + threads * of(1) + of(3) + of(4) + 8 * of(5);
            assert_eq!(count.into_inner(), expected, "{waiting:?} on {threads}");
        }
    }
}

#[test]
fn a_level_ends_while_the_other_worker_of_the_pool_is_busy() {
    let (pool, begun, finished) = (pool(2), AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|threads| {
        threads.spawn(|| {
            pool.install(|| {
                begun.store(true, Ordering::Release);
                while !finished.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            });
        });
        while !begun.load(Ordering::Acquire) {
            thread::yield_now();
        }
        let explored = Explore::exactly_once().pool(&pool).run_by_level(0..1000u32, |n, worker| {
            worker.push_all((worker.level() < 3).then_some(n));
        });
        finished.store(true, Ordering::Release);
        assert_eq!(explored.total().tasks, 4000);
    });
}

/// Levels of every size between pauses in which the workers fall asleep.
#[test]
fn workers_that_fell_asleep_are_woken_for_a_large_level() {
    let (pool, names) = (pool(3), Mutex::new(std::collections::HashSet::new()));
    let explored = Explore::exactly_once().pool(&pool).run_by_level([0u32], |n, worker| {
        let level = worker.level();
        if level < 60 {
            if level % 6 == 5 {
                thread::sleep(Duration::from_millis(2));
            }
            // One task, then 100, and then one again.
            match level % 3 {
                0 => worker.push_all(0..100),
                1 if n > 0 => compute(50),
                _ if n > 0 => {}
                _ => worker.push(0),
            }
        }
        // The workers are asleep since a pause long before.
        if level > 30 {
            names.lock().unwrap().insert(worker.index());
        }
    });
    assert_eq!(explored.total().tasks, 1 + 20 * 102);
    assert!(names.into_inner().unwrap().len() > 1);
}

#[test]
fn most_tasks_of_a_large_level_are_fetched_for_twice() {
    const TASKS: usize = 10_000;
    for threads in [1, 3] {
        let (pool, tally) = (pool(threads), Tally::default());
        let calls: Vec<[AtomicUsize; 2]> = (0..TASKS).map(|_| Default::default()).collect();
        let roots: Vec<_> = (0..TASKS as u32).map(|n| Counted::new(n, &tally)).collect();
        let count = |of: &AtomicUsize| of.load(Ordering::Relaxed);
        let explored = Explore::exactly_once().pool(&pool).run_by_level_with_prefetch(
            roots,
            |task, ahead| {
                let [far, near] = &calls[task.0 as usize];
                let call = match ahead {
                    Ahead::Far => far,
                    Ahead::Near => near,
                };
                call.fetch_add(1, Ordering::Relaxed);
            },
            |task, _| {
                let [far, near] = &calls[task.0 as usize];
                // The first tasks of a claim are fetched for once, or not at all. A level that is
                // shared after some tasks fetches again for those that follow.
                assert!(count(far) <= 2 && count(near) <= 2);
            },
        );
        let fetched = calls.iter().filter(|[far, near]| count(far) > 0 && count(near) > 0).count();
        assert!(fetched > TASKS / 2, "{fetched} tasks are fetched for");
        assert_eq!(explored.total().tasks, TASKS as u64);
        tally.check();
    }
}

#[test]
fn a_panic_in_the_prefetch_stops_the_exploration_and_every_task_is_dropped_once() {
    for threads in [1, 2] {
        let (pool, tally, calls) = (pool(threads), Tally::default(), AtomicUsize::new(0));
        let roots: Vec<_> = (0..1000).map(|n| Counted::new(n, &tally)).collect();
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _ = Explore::exactly_once().pool(&pool).run_by_level_with_prefetch(
                roots,
                |_, _| assert!(calls.fetch_add(1, Ordering::Relaxed) != 100, "prefetch"),
                |task, worker| worker.push(task),
            );
        }));
        assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "prefetch");
        tally.check();
    }
}

#[test]
fn stolen_tasks_that_a_stop_drops_do_not_count_as_steals() {
    let pool = pool(2);
    let explored = Explore::exactly_once().pool(&pool).state(|_| 0).run_by_level(0..20_000, |_, worker| {
        compute(1);
        *worker.state() += 1;
        // The other worker has stolen all of its tasks.
        if worker.index() == 1 && *worker.state() == 50 {
            worker.stop();
        }
    });
    assert!(explored.counts().iter().all(|counts| counts.steals <= counts.tasks), "{explored:?}");
}
