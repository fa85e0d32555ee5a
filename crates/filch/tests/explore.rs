//! Explorations: each task is run, none is left, and each way to stop works.

use std::collections::HashSet;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};

use filch::explore::{Cancel, Ending, Explore};
use filch::queue::{Asymmetric, Bound, Bulk, ChaseLev, Delta, FfCl, FfThe, Kind, The, Thep};
use filch::queue::{DoubleEnded, Fifo, Lifo, UntrustedFfCl, UntrustedFfThe, UntrustedThep};
use filch::{Pool, Waiting};
use filch_queue::{chase_lev, AtLeastOnce, ExactlyOnce, Owner, PushError, Steal, Thief};

/// The number of nodes of the trees in these tests.
const NODES: u32 = 100_000;

fn pool(threads: usize) -> Pool {
    Pool::builder().threads(threads).build().unwrap()
}

fn delta() -> Delta {
    Delta::new(Bound::GENEROUS, 15).unwrap()
}

/// Returns the children of a node in a binary tree stored as a heap.
fn children(node: u32) -> impl Iterator<Item = u32> {
    [2 * node + 1, 2 * node + 2].into_iter().filter(|child| *child < NODES)
}

fn visits() -> Vec<AtomicU32> {
    (0..NODES).map(|_| AtomicU32::new(0)).collect()
}

macro_rules! each_node_once {
    ($($test:ident: $queue:expr;)*) => { $(
        #[test]
        fn $test() {
            for threads in [1, 2, 4, 8] {
                let (pool, visits) = (pool(threads), visits());
                let explored = Explore::exactly_once().pool(&pool).queue($queue).run([0], |node: u32, worker| {
                    visits[node as usize].fetch_add(1, Ordering::Relaxed);
                    worker.push_all(children(node));
                });
                assert!(visits.iter().all(|count| count.load(Ordering::Relaxed) == 1));
                assert_eq!(explored.ending(), Ending::Complete);
                assert_eq!(explored.counts().iter().map(|counts| counts.tasks).sum::<u64>(), u64::from(NODES));
            }
        }
    )* };
}

each_node_once! {
    chase_lev_runs_each_task_once: ChaseLev;
    the_runs_each_task_once: The;
    asymmetric_runs_each_task_once: Asymmetric;
    bulk_runs_each_task_once: Bulk;
    // SAFETY: no x86 CPU is known whose store buffer holds as many as 128 stores; on other CPUs the
    // owner has a fence.
    ff_the_runs_each_task_once: unsafe { FfThe::trusting(delta()) };
    // SAFETY: as above.
    ff_cl_runs_each_task_once: unsafe { FfCl::trusting(delta()) };
    // SAFETY: as above.
    thep_runs_each_task_once: unsafe { Thep::trusting(delta()) };
}

macro_rules! each_node_at_least_once {
    ($($test:ident: $queue:expr;)*) => { $(
        #[test]
        fn $test() {
            for threads in [1, 2, 4, 8] {
                let (pool, visits) = (pool(threads), visits());
                let explored = Explore::at_least_once().pool(&pool).queue($queue).run([0], |node: u32, worker| {
                    if visits[node as usize].fetch_add(1, Ordering::Relaxed) > 0 {
                        return worker.count_redundant();
                    }
                    worker.push_all(children(node));
                });
                assert!(visits.iter().all(|count| count.load(Ordering::Relaxed) >= 1));
                let (tasks, redundant) = explored.counts().iter().fold((0, 0), |(tasks, redundant), counts| {
                    (tasks + counts.tasks, redundant + counts.redundant)
                });
                assert_eq!(tasks - redundant, u64::from(NODES));
            }
        }
    )* };
}

each_node_at_least_once! {
    lifo_runs_each_task: Lifo;
    fifo_runs_each_task: Fifo;
    double_ended_runs_each_task: DoubleEnded;
    untrusted_ff_the_runs_each_task: UntrustedFfThe(delta());
    untrusted_ff_cl_runs_each_task: UntrustedFfCl(delta());
    untrusted_thep_runs_each_task: UntrustedThep(delta());
    an_exactly_once_queue_can_run_an_at_least_once_exploration: ChaseLev;
}

/// A task has all the others in its worker's queue. It does not end before another worker has begun
/// two of them. That worker is a thief that took half of them, or one that the thief has called.
#[test]
fn a_thief_of_a_bulk_queue_steals_many_tasks_and_shares_them() {
    let (pool, begun, others) = (pool(3), AtomicBool::new(false), AtomicUsize::new(0));
    let explored = Explore::exactly_once().pool(&pool).queue(Bulk).run([0u32], |task, worker| {
        if task == 0 {
            begun.store(true, Ordering::Relaxed);
            worker.push_all(1..=1000);
            while others.load(Ordering::Relaxed) < 100 {
                std::thread::yield_now();
            }
        } else {
            others.fetch_add(1, Ordering::Relaxed);
        }
    });
    let total = explored.total();
    assert_eq!((explored.ending(), total.tasks), (Ending::Complete, 1001));
    assert!(begun.into_inner() && total.steals >= 100, "{} tasks were stolen", total.steals);
}

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
fn a_panic_stops_an_exploration_and_resumes_when_all_workers_have_left() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let (inside, panicked) = (AtomicUsize::new(0), AtomicBool::new(false));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _ = Explore::exactly_once().pool(&pool).run([0u64], |n, worker| {
                inside.fetch_add(1, Ordering::SeqCst);
                worker.push_all([n + 1, n + 2]);
                // There are many ways to it, and two workers may be there at once.
                let panics = n == 3000 && !panicked.swap(true, Ordering::SeqCst);
                inside.fetch_sub(usize::from(!panics), Ordering::SeqCst);
                assert!(!panics, "task 3000");
            });
        }));
        let message = caught.unwrap_err().downcast::<&str>().unwrap();
        assert_eq!(*message, "task 3000");
        // Only the worker that panicked is still counted.
        assert_eq!(inside.load(Ordering::SeqCst), 1);
        assert_eq!(pool.install(|| 7), 7);
    }
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

/// Returns the message of a panic.
fn message(panic: Box<dyn std::any::Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast::<&str>().map_or_else(|_| String::from("not a message"), |text| text.to_string()),
    }
}

#[test]
fn a_panic_in_the_creation_of_a_state_stops_an_exploration() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _ = Explore::exactly_once()
                .pool(&pool)
                .state(|index| assert!(index != threads - 1, "panic in a state"))
                .run(0..10_000u32, |n, _| drop(std::hint::black_box(vec![n; 100])));
        }));
        // On several threads the last of them may have had nothing to do.
        if let Err(panic) = panicked {
            assert_eq!(message(panic), "panic in a state");
        } else {
            assert_ne!(threads, 1);
        }
    }
}

#[test]
fn after_a_panic_in_the_roots_no_task_runs() {
    let visited = AtomicBool::new(false);
    let roots = (0..10u32).map(|n| if n < 5 { n } else { panic!("no root") });
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        filch::explore(roots, |_, _| visited.store(true, Ordering::Relaxed));
    }));
    assert_eq!(message(panicked.unwrap_err()), "no root");
    assert!(!visited.load(Ordering::Relaxed));
}

#[test]
fn tasks_that_panic_when_dropped_do_not_abort_the_process() {
    struct PanicsOnDrop<'a>(&'a AtomicUsize);
    impl Drop for PanicsOnDrop<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            if !std::thread::panicking() {
                panic!("dropped");
            }
        }
    }
    for threads in [1, 2] {
        let (pool, dropped) = (pool(threads), AtomicUsize::new(0));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _ = Explore::exactly_once().pool(&pool).run((0..100).map(|_| PanicsOnDrop(&dropped)), |_, worker| {
                worker.stop();
            });
        }));
        assert_eq!(message(panicked.unwrap_err()), "dropped");
        assert_eq!(dropped.load(Ordering::Relaxed), 100);
    }
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
            run_tasks_that_use_the_pool(Lifo, waiting, threads);
            run_tasks_that_use_the_pool(Fifo, waiting, threads);
            run_tasks_that_use_the_pool(DoubleEnded, waiting, threads);
            run_tasks_that_use_the_pool(UntrustedFfThe(delta()), waiting, threads);
            run_tasks_that_use_the_pool(UntrustedFfCl(delta()), waiting, threads);
            run_tasks_that_use_the_pool(UntrustedThep(delta()), waiting, threads);
        }
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

#[test]
fn the_panic_of_a_full_queue_names_an_alternative() {
    /// Like `Lifo`, with room for a few tasks only.
    struct ShortLifo;
    impl<T: Copy + Send> filch::queue::Kind<T> for ShortLifo {
        type Owner = filch_queue::idempotent::lifo::Owner<T>;
        type Thief = filch_queue::idempotent::lifo::Thief<T>;
        fn make(&self) -> (Self::Owner, Self::Thief) {
            filch_queue::idempotent::lifo::limited_to(8, 2).unwrap()
        }
    }
    let pool = pool(1);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _ = Explore::at_least_once().pool(&pool).queue(ShortLifo).run([0u32], |n, worker| worker.push_all([n, n]));
    }));
    let text = message(panicked.unwrap_err());
    assert!(text.contains("at most 7 tasks") && text.contains("ChaseLev"), "{text}");
}

/// The shared state of queues that panic in one method, at its n-th call. They are the queues of
/// one exploration.
#[derive(Clone)]
struct Panicky(Arc<PanickyCalls>);

struct PanickyCalls {
    method: &'static str,
    nth: usize,
    calls: AtomicUsize,
}

impl Panicky {
    fn new(method: &'static str, nth: usize) -> Panicky {
        Panicky(Arc::new(PanickyCalls { method, nth, calls: AtomicUsize::new(0) }))
    }

    fn call(&self, method: &str) {
        if self.0.method == method && self.0.calls.fetch_add(1, Ordering::SeqCst) == self.0.nth {
            panic!("panic in a queue");
        }
    }

    fn has_panicked(&self) -> bool {
        self.0.calls.load(Ordering::SeqCst) > self.0.nth
    }
}

struct PanickyOwner<T>(chase_lev::Owner<T>, Panicky);
struct PanickyThief<T>(chase_lev::Thief<T>, Panicky);

impl<T: Send> Kind<T> for Panicky {
    type Owner = PanickyOwner<T>;
    type Thief = PanickyThief<T>;

    fn make(&self) -> (PanickyOwner<T>, PanickyThief<T>) {
        self.call("make");
        let (owner, thief) = chase_lev::new();
        (PanickyOwner(owner, self.clone()), PanickyThief(thief, self.clone()))
    }
}

impl<T: Send> Owner for PanickyOwner<T> {
    type Task = T;

    fn push(&self, task: T) {
        assert!(self.try_push(task).is_ok(), "the push failed");
    }

    fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        self.1.call("before push");
        self.0.try_push(task)?;
        self.1.call("after push");
        Ok(())
    }

    fn pop(&self) -> Option<T> {
        self.1.call("before pop");
        let task = self.0.pop();
        self.1.call("after pop");
        task
    }

    fn len(&self) -> usize {
        self.1.call("len of an owner");
        self.0.len()
    }
}

impl<T: Send> Thief for PanickyThief<T> {
    type Task = T;

    fn steal(&self) -> Steal<T> {
        self.1.call("before steal");
        let task = self.0.steal();
        self.1.call("after steal");
        task
    }

    fn len(&self) -> usize {
        self.1.call("len of a thief");
        self.0.len()
    }
}

impl<T> Clone for PanickyThief<T> {
    fn clone(&self) -> Self {
        PanickyThief(self.0.clone(), self.1.clone())
    }
}

impl<T> AtLeastOnce for PanickyOwner<T> {}
impl<T> AtLeastOnce for PanickyThief<T> {}
// SAFETY: the tasks are those of a Chase-Lev queue.
unsafe impl<T> ExactlyOnce for PanickyOwner<T> {}
// SAFETY: as above.
unsafe impl<T> ExactlyOnce for PanickyThief<T> {}

#[test]
fn a_queue_that_panics_stops_an_exploration_and_every_task_is_dropped_once() {
    /// A task that borrows, and counts that it was made and dropped.
    struct Task<'a>(u32, &'a AtomicUsize, &'a AtomicUsize);
    impl<'a> Task<'a> {
        fn new(height: u32, made: &'a AtomicUsize, dropped: &'a AtomicUsize) -> Self {
            made.fetch_add(1, Ordering::SeqCst);
            Task(height, made, dropped)
        }
    }
    impl Drop for Task<'_> {
        fn drop(&mut self) {
            self.2.fetch_add(1, Ordering::SeqCst);
        }
    }
    let methods = [
        "make",
        "before push",
        "after push",
        "before pop",
        "after pop",
        "len of an owner",
        "before steal",
        "after steal",
        "len of a thief",
    ];
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        for (method, nth) in methods.into_iter().flat_map(|method| [0, 1, 5, 40].map(|nth| (method, nth))) {
            let (made, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let queue = Panicky::new(method, nth);
            let roots = (0..4).map(|_| Task::new(6, &made, &dropped));
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                let explore = Explore::exactly_once().queue(queue.clone()).pool(&pool);
                let _ = explore.run(roots, |task, worker| {
                    if task.0 > 0 {
                        worker.push_all((0..2).map(|_| Task::new(task.0 - 1, task.1, task.2)));
                    }
                });
            }));
            match panicked {
                Ok(()) => assert!(!queue.has_panicked(), "{method}, {nth}"),
                Err(panic) => assert_eq!(message(panic), "panic in a queue"),
            }
            assert_eq!(made.into_inner(), dropped.into_inner(), "{method}, {nth}, on {threads}");
        }
        let visits = AtomicUsize::new(0);
        let visit = |_| visits.fetch_add(1, Ordering::SeqCst);
        pool.install(|| filch::explore(0..9, |n: u32, _| assert!(visit(n) < 9)));
        assert_eq!(visits.into_inner(), 9, "the pool must still work");
    }
}

#[test]
fn states_that_panic_when_dropped_do_not_hide_the_first_panic() {
    /// Panics when it is dropped, with its name.
    struct PanicsOnDrop(&'static str);
    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            panic!("{} was dropped", self.0);
        }
    }
    let pool = pool(2);
    let barrier = Barrier::new(2);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let explore = Explore::exactly_once().pool(&pool).state(|_| PanicsOnDrop("a state"));
        let _ = explore.run([None, None, Some(PanicsOnDrop("a task"))], |task, worker| match task {
            // Each worker runs one of these, and stops before the third.
            None => {
                barrier.wait();
                worker.stop();
            }
            Some(bomb) => std::mem::forget(bomb),
        });
    }));
    assert_eq!(message(panicked.unwrap_err()), "a task was dropped");
}
