//! Fork and join on every exactly-once queue. The tests check results against plain recursion,
//! panics, sleep, and the end of a pool.
#![cfg(not(any(loom, shuttle)))]

#[path = "../common/mod.rs"]
mod common;
mod faulty_queue;
mod idle;

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use filch::engine::{EventCounter, Idle, Pool, Queue, Worker};
use filch::queue::{Asymmetric, Bound, Bulk, ChaseLev, Delta, FfCl, FfThe, The, Thep};
use filch::BuildError;

/// A delta above every known store buffer. It has as many extra stores as possible: thieves are
/// refused only the last two jobs, so they also steal from short queues.
fn delta() -> Delta {
    Delta::new(Bound::GENEROUS, Delta::MAX_EXTRA_STORES).unwrap()
}

/// A kind of queue, with a name and a constructor.
trait Kind: Queue + Queue<EventCounter> {
    const NAME: &'static str;
    /// Whether a thief is never refused.
    const ALWAYS_STEALABLE: bool;
    fn kind() -> Self;
}

macro_rules! kinds {
    ($($queue:ty, $stealable:literal, $kind:expr;)*) => {
        $(impl Kind for $queue {
            const NAME: &'static str = stringify!($queue);
            const ALWAYS_STEALABLE: bool = $stealable;
            fn kind() -> $queue {
                $kind
            }
        })*

        /// Calls a function, generic over the kind, for all kinds.
        macro_rules! for_all_kinds {
            ($check:ident) => {{ $($check::<$queue>();)* }};
        }
        use for_all_kinds;
    };
}

kinds! {
    Asymmetric, true, Asymmetric;
    ChaseLev, true, ChaseLev;
    The, true, The;
    Bulk, true, Bulk;
    // SAFETY: no x86 CPU is known whose store buffer holds as many as 128 stores; on other CPUs the
    // queue has a fence.
    FfThe, false, unsafe { FfThe::trusting(delta()) };
    // SAFETY: as above.
    FfCl, false, unsafe { FfCl::trusting(delta()) };
    // SAFETY: as above.
    Thep, false, unsafe { Thep::trusting(delta()) };
}

/// Fails, and ends the whole test run, if the claim takes 10 minutes. A lost wake-up or a lost
/// job would otherwise hang it.
fn abort_if_hanging(check: impl FnOnce() + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    let test = thread::spawn(move || {
        check();
        let _ = sender.send(());
    });
    if receiver.recv_timeout(Duration::from_secs(600)) == Err(RecvTimeoutError::Timeout) {
        eprintln!("a test of the engine has not ended after 10 minutes; aborting the process");
        std::process::abort();
    }
    if let Err(panic) = test.join() {
        panic::resume_unwind(panic);
    }
}

fn fib<Q: Queue<I>, I: Idle>(worker: &Worker<Q, I>, n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = worker.join(|worker| fib(worker, n - 1), |worker| fib(worker, n - 2));
    a + b
}

fn serial_fib(n: u32) -> u64 {
    match n {
        0 | 1 => n.into(),
        _ => serial_fib(n - 1) + serial_fib(n - 2),
    }
}

/// A node of a random tree: a number that determines its children.
#[derive(Clone, Copy)]
struct Node(u64);

impl Node {
    fn next(self) -> Node {
        // SplitMix64.
        let mut z = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Node(z ^ (z >> 31))
    }

    fn children(self, depth: u32) -> Option<(Node, Node)> {
        // Four of five nodes branch: trees of all shapes, with an end.
        (depth > 0 && self.0 % 5 != 0).then(|| (self.next(), Node(!self.0).next()))
    }

    /// Does a little work, more for some nodes.
    fn value(self) -> u64 {
        (0..self.0 % 64).fold(self.0, |x, _| Node(x).next().0)
    }

    fn serial_sum(self, depth: u32) -> u64 {
        let below = self
            .children(depth)
            .map_or(0, |(left, right)| left.serial_sum(depth - 1).wrapping_add(right.serial_sum(depth - 1)));
        self.value().wrapping_add(below)
    }

    fn sum<Q: Queue<I>, I: Idle>(self, worker: &Worker<Q, I>, depth: u32) -> u64 {
        let below = self.children(depth).map_or(0, |(left, right)| {
            let (left, right) =
                worker.join(|worker| left.sum(worker, depth - 1), |worker| right.sum(worker, depth - 1));
            left.wrapping_add(right)
        });
        self.value().wrapping_add(below)
    }
}

#[test]
fn fib_is_correct_on_every_queue() {
    fn check<Q: Kind>() {
        for threads in [1, 2, 3] {
            let pool = Pool::with_queue(threads, Q::kind()).unwrap();
            for n in [0, 1, 2, 10, 23] {
                assert_eq!(pool.install(|worker| fib(worker, n)), serial_fib(n), "{} on {threads}", Q::NAME);
            }
        }
    }
    abort_if_hanging(|| for_all_kinds!(check));
}

#[test]
fn sums_of_random_trees_are_those_of_a_serial_run() {
    fn check<Q: Kind>() {
        for threads in [1, 2, 3] {
            let pool = Pool::with_queue(threads, Q::kind()).unwrap();
            for seed in 0..60 {
                let root = Node(seed).next();
                let sum = pool.install(|worker| root.sum(worker, 14));
                assert_eq!(sum, root.serial_sum(14), "{} on {threads}, seed {seed}", Q::NAME);
            }
        }
    }
    abort_if_hanging(|| for_all_kinds!(check));
}

#[test]
fn every_closure_runs_once() {
    fn touch<Q: Queue>(worker: &Worker<Q>, cells: &[AtomicU64]) {
        match cells {
            [] => {}
            [cell] => {
                // Relaxed: read after all joins.
                cell.fetch_add(1, Ordering::Relaxed);
            }
            _ => {
                // Lopsided, so that the queue gets long enough to be stolen from.
                let (left, right) = cells.split_at(cells.len().div_ceil(8));
                worker.join(|worker| touch(worker, right), |worker| touch(worker, left));
            }
        }
    }
    fn check<Q: Kind>() {
        for threads in [2, 3] {
            let pool = Pool::with_queue(threads, Q::kind()).unwrap();
            for _ in 0..20 {
                let cells: Vec<_> = (0..3000).map(|_| AtomicU64::new(0)).collect();
                pool.install(|worker| touch(worker, &cells));
                assert!(cells.iter().all(|cell| cell.load(Ordering::Relaxed) == 1), "{} on {threads}", Q::NAME);
            }
        }
    }
    abort_if_hanging(|| for_all_kinds!(check));
}

#[test]
fn work_is_stolen_on_every_queue() {
    fn check<Q: Kind>() {
        let pool = Pool::with_queue(2, Q::kind()).unwrap();
        // A queue that refuses thieves its last jobs gives the others away in time.
        while pool.thefts().steals == 0 {
            pool.install(|worker| fib(worker, 20));
        }
    }
    abort_if_hanging(|| for_all_kinds!(check));
}

#[test]
fn closures_can_wait_for_each_other_if_jobs_are_always_stealable() {
    fn check<Q: Kind>() {
        if !Q::ALWAYS_STEALABLE {
            return;
        }
        let pool = Pool::with_queue(3, Q::kind()).unwrap();
        for _ in 0..200 {
            let barrier = Barrier::new(3);
            pool.install(|worker| {
                worker.join(
                    |worker| worker.join(|_| barrier.wait().is_leader(), |_| barrier.wait().is_leader()),
                    |_| barrier.wait().is_leader(),
                )
            });
        }
    }
    abort_if_hanging(|| for_all_kinds!(check));
}

#[test]
fn a_sleeping_pool_wakes_for_every_install() {
    fn check<Q: Kind>() {
        let pool = Pool::with_queue(2, Q::kind()).unwrap();
        for round in 0..300 {
            // Long enough for both workers to fall asleep, at times.
            thread::sleep(Duration::from_micros(round % 7 * 50));
            assert_eq!(pool.install(|worker| worker.join(|_| round, |_| round + 1)), (round, round + 1));
        }
    }
    abort_if_hanging(|| for_all_kinds!(check));
}

#[test]
fn many_threads_can_install_at_once() {
    fn check<Q: Kind>() {
        let pool = Pool::with_queue(2, Q::kind()).unwrap();
        thread::scope(|scope| {
            for n in 10..14 {
                let pool = &pool;
                scope.spawn(move || {
                    for _ in 0..50 {
                        assert_eq!(pool.install(|worker| fib(worker, n)), serial_fib(n));
                    }
                });
            }
        });
    }
    abort_if_hanging(|| for_all_kinds!(check));
}

#[test]
fn an_install_on_a_worker_runs_in_place() {
    fn check<Q: Kind>() {
        let pool = Pool::with_queue(1, Q::kind()).unwrap();
        let inner = pool.install(|outer| {
            let outer = outer.index();
            pool.install(|inner| (inner.index() == outer, inner.num_threads(), inner.join(|_| 1, |_| 2)))
        });
        assert_eq!(inner, (true, 1, (1, 2)));
    }
    abort_if_hanging(|| for_all_kinds!(check));
}

fn catch_u32_payload(run: impl FnOnce()) -> u32 {
    let panic = panic::catch_unwind(AssertUnwindSafe(run)).expect_err("the closure did not panic");
    *panic.downcast::<u32>().expect("the payload must be a u32")
}

#[test]
fn a_panic_resumes_with_its_payload_after_both_closures_have_ended() {
    fn check<Q: Kind>() {
        for threads in [1, 2, 3] {
            let pool = Pool::with_queue(threads, Q::kind()).unwrap();
            for (first, second, expected) in [(true, false, 1), (false, true, 2), (true, true, 1)] {
                let finished = [AtomicBool::new(false), AtomicBool::new(false)];
                let end = |which: usize, panics: bool| {
                    finished[which].store(true, Ordering::SeqCst);
                    if panics {
                        panic::panic_any(which as u32 + 1);
                    }
                };
                let got = catch_u32_payload(|| {
                    pool.install(|worker| {
                        worker.join(
                            |worker| {
                                // Deep enough for the other closure to be stolen, at times.
                                fib(worker, 12);
                                end(0, first);
                            },
                            |_| end(1, second),
                        )
                    });
                });
                assert_eq!(got, expected, "{} on {threads}", Q::NAME);
                assert!(finished.iter().all(|finished| finished.load(Ordering::SeqCst)));
            }
            assert_eq!(pool.install(|worker| fib(worker, 15)), serial_fib(15), "the pool must still work");
        }
    }
    panic::set_hook(Box::new(|info| {
        if !info.payload().is::<u32>() {
            eprintln!("{info}");
        }
    }));
    abort_if_hanging(|| for_all_kinds!(check));
}

#[test]
fn panics_in_a_tree_reach_the_caller_and_the_pool_still_works() {
    fn tree<Q: Queue>(worker: &Worker<Q>, depth: u32, node: Node) -> u64 {
        if depth == 0 {
            if node.0 % 97 == 0 {
                panic::panic_any(7_u32);
            }
            return 1;
        }
        let (left, right) = (node.next(), Node(!node.0).next());
        let (a, b) = worker.join(|worker| tree(worker, depth - 1, left), |worker| tree(worker, depth - 1, right));
        a + b
    }
    fn check<Q: Kind>() {
        let pool = Pool::with_queue(3, Q::kind()).unwrap();
        let mut panicked = 0;
        for seed in 0..100 {
            let run = || pool.install(|worker| tree(worker, 6, Node(seed).next()));
            match panic::catch_unwind(AssertUnwindSafe(run)) {
                Ok(leaves) => assert_eq!(leaves, 64, "{}", Q::NAME),
                Err(panic) => {
                    assert_eq!(*panic.downcast::<u32>().unwrap(), 7);
                    panicked += 1;
                }
            }
        }
        assert!(panicked > 10 && panicked < 90);
    }
    abort_if_hanging(|| for_all_kinds!(check));
}

#[test]
fn dropping_a_pool_ends_its_threads() {
    fn check<Q: Kind>() {
        for threads in [1, 2, 3] {
            for round in 0..30 {
                let pool = Pool::with_queue(threads, Q::kind()).unwrap();
                if round % 2 == 0 {
                    pool.install(|worker| fib(worker, 8));
                }
            }
        }
    }
    abort_if_hanging(|| for_all_kinds!(check));
}

#[test]
fn impossible_numbers_of_threads_are_errors() {
    assert!(matches!(Pool::<Asymmetric>::new(0), Err(BuildError::NoThreads)));
    assert!(matches!(Pool::<The>::new(1 << 20), Err(BuildError::TooManyThreads { asked: 0x10_0000, .. })));
}

#[test]
fn a_worker_has_the_requested_stack_size() {
    /// Recurses through `frames` frames of 16 KiB.
    fn deep(worker: &Worker<The>, frames: u32) -> u32 {
        let frame = std::hint::black_box([1_u8; 16 << 10]);
        let below = if frames == 0 { 0 } else { worker.join(|worker| deep(worker, frames - 1), |_| 0).0 };
        below + u32::from(std::hint::black_box(&frame)[frames as usize])
    }
    let pool = Pool::with_stacks(1, The, 64 << 20).unwrap();
    // 16 MiB, eight times the usual stack of a thread.
    assert_eq!(pool.install(|worker| deep(worker, 999)), 1_000);
    let error = Pool::with_stacks(1, The, 1_000);
    assert!(matches!(error, Err(BuildError::StackTooSmall { asked: 1_000, .. })));
}
