//! Many threads call into a pool with few seats. Every job of every call is accounted for.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

use filch::{Builder, Fences, Pool, Waiting};

use crate::common::{build, in_place_builder, panic_with, watchdog, SpinBarrier};
use crate::{catch, joins_per_pool, mix, Pools, Tree};

/// The number of threads that call at the same time.
const CALLERS: usize = 64;

/// Returns the number of calls that a pool gets for the number of joins.
fn calls() -> u64 {
    joins_per_pool() / 200
}

/// Two pools, and the sums of what was done in them.
struct TestPools {
    first: Pool,
    second: Pool,
    /// The sum of the spawned jobs, and what it should be.
    spawned: Arc<AtomicU64>,
    expected: AtomicU64,
}

impl TestPools {
    fn new(builder: impl Fn(usize) -> Builder<'static>, seats: usize) -> TestPools {
        let (first, second) = (build(builder(seats)), build(builder(1 + seats % 3)));
        TestPools { first, second, spawned: Arc::new(AtomicU64::new(0)), expected: AtomicU64::new(0) }
    }

    /// Returns a job that adds to the sum of the spawned ones.
    fn job(&self, value: u64) -> impl Fn() + Send + Sync + 'static {
        let spawned = self.spawned.clone();
        move || _ = spawned.fetch_add(value, Ordering::Relaxed)
    }

    fn expect_spawned(&self, value: u64) {
        self.expected.fetch_add(value, Ordering::Relaxed);
    }

    /// Makes one call, as the seed says, and checks its results.
    fn call(&self, seed: u64) {
        let (pool, seats, value) = (&self.first, self.first.current_num_threads(), mix(seed ^ 1));
        match mix(seed) % 16 {
            0 | 1 => assert_eq!(pool.join(|| 1, || 2), (1, 2)),
            2 => assert_eq!(pool.install(|| count(6)), 1 << 6),
            3 => assert_eq!(pool.with_worker(|worker| count_on(worker, 8)), 1 << 8),
            4 | 5 => self.tree(seed),
            6 => {
                let sum = AtomicU64::new(0);
                let add = |value| _ = sum.fetch_add(value, Ordering::Relaxed);
                let add = &add;
                pool.scope(|scope| {
                    for value in 1..=10 {
                        scope.spawn(move |scope| scope.spawn(move |_| add(value)));
                    }
                });
                assert_eq!(sum.into_inner(), 55);
            }
            7 => {
                self.expect_spawned(value);
                pool.spawn(self.job(value));
            }
            8 => {
                self.expect_spawned(value.wrapping_mul(3));
                pool.install(|| {
                    filch::spawn(self.job(value));
                    filch::join(|| filch::spawn_fifo(self.job(value)), || filch::spawn(self.job(value)));
                });
            }
            9 => {
                self.expect_spawned(value.wrapping_mul(seats as u64));
                let job = self.job(value);
                pool.install(|| filch::spawn_broadcast(move |_| job()));
            }
            10 => assert!(pool.broadcast(|part| part.index()).into_iter().eq(0..seats)),
            11 => {
                let there = || self.second.install(|| (count(3), pool.install(|| count(4))));
                assert_eq!(pool.install(there), (1 << 3, 1 << 4));
            }
            12 => assert_eq!(self.second.install(|| count(5)), 1 << 5),
            13 => assert_eq!(catch(|| pool.install(|| -> u64 { panic_with(value) })), Err(value)),
            14 => {
                let first = || filch::join(|| -> u64 { panic_with(value) }, || count(3));
                let second = || filch::join(|| count(3), || -> u64 { panic_with(value) });
                let join = || if value % 2 == 0 { first() } else { second() };
                assert_eq!(catch(|| pool.install(join)), Err(value));
            }
            _ => {
                let finished = AtomicUsize::new(0);
                let finished = &finished;
                let result = catch(|| {
                    pool.scope(|scope| {
                        scope.spawn(|_| panic_with(value));
                        (0..3).for_each(|_| scope.spawn(|_| _ = finished.fetch_add(1, Ordering::Relaxed)));
                    });
                });
                assert_eq!((result, finished.load(Ordering::Relaxed)), (Err(value), 3));
            }
        }
    }

    /// Runs a random tree, which goes to the second pool and back at times.
    fn tree(&self, seed: u64) {
        let tree = Tree { seed, size: 1 + mix(seed ^ 2) % 60 };
        let pools = Pools { pools: [&self.first, &self.second], spawned: &self.spawned };
        let mut expected = 0;
        let result = catch(|| self.first.install(|| pools.run(tree, 0)));
        assert_eq!(result, tree.run_serially(&mut expected));
        self.expect_spawned(expected);
    }

    /// Waits for all that was spawned, and checks the sum.
    fn finish(self) {
        let TestPools { first, second, spawned, expected } = self;
        drop((first, second));
        assert_eq!(spawned.load(Ordering::Relaxed), expected.into_inner(), "the sum of the spawned jobs");
    }
}

fn count(depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let (a, b) = filch::join(|| count(depth - 1), || count(depth - 1));
    a + b
}

fn count_on(worker: &mut filch::Worker, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let (a, b) = worker.join(|worker| count_on(worker, depth - 1), |worker| count_on(worker, depth - 1));
    a + b
}

/// Runs a closure on `threads` threads, and joins each. The end of a scope of threads does not
/// suffice: the sanitizer does not see how the standard library counts them.
fn on_threads(threads: usize, work: impl Fn(usize) + Sync) {
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|index| scope.spawn(move || work(index))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Makes many threads call into pools of 1, 2 and 8 seats.
fn stress(builder: impl Fn(usize) -> Builder<'static>) {
    for seats in [1, 2, 8] {
        let test_pools = TestPools::new(&builder, seats);
        let next_call = AtomicU64::new(0);
        on_threads(CALLERS, |_| loop {
            let call = next_call.fetch_add(1, Ordering::Relaxed);
            if call >= calls() {
                break;
            }
            test_pools.call(mix(call << 8 | seats as u64));
        });
        test_pools.finish();
    }
}

#[test]
fn every_job_of_many_callers_in_place_runs_once() {
    let _watchdog = watchdog();
    stress(in_place_builder);
}

#[test]
fn every_job_of_many_callers_in_place_runs_once_with_fenced_owners() {
    let _watchdog = watchdog();
    stress(|seats| in_place_builder(seats).fences(Fences::Owner));
}

#[test]
fn every_job_of_many_callers_in_place_runs_once_with_waiting_any() {
    let _watchdog = watchdog();
    stress(|seats| in_place_builder(seats).waiting(Waiting::Any));
}

#[test]
fn every_job_of_many_callers_in_place_runs_once_with_waiting_strict_in_pool() {
    let _watchdog = watchdog();
    stress(|seats| in_place_builder(seats).waiting(Waiting::StrictInPool));
}

#[test]
fn every_job_of_few_callers_in_place_runs_once() {
    // Most of these calls get a seat.
    let _watchdog = watchdog();
    for callers in [1, 2, 3] {
        let test_pools = TestPools::new(in_place_builder, 3);
        on_threads(callers, |caller| {
            (0..calls()).for_each(|call| test_pools.call(mix(call << 8 | (callers << 4 | caller) as u64)));
        });
        test_pools.finish();
    }
}

/// Makes `callers` callers join closures that wait for each other, each in its turn.
fn join_waiting_closures(pool: &Pool, callers: usize, rounds: u64) {
    on_threads(callers, |_| {
        for _ in 0..rounds {
            let barrier = SpinBarrier::new(2);
            pool.join(|| barrier.wait(), || barrier.wait());
        }
    });
}

#[test]
fn closures_of_a_call_in_place_can_wait_for_each_other() {
    let _watchdog = watchdog();
    // A seat for each closure, and one more at times.
    for (callers, seats) in [(1, 2), (1, 3), (2, 4), (2, 5), (4, 8)] {
        for fences in [Fences::Automatic, Fences::Owner] {
            let pool = build(in_place_builder(seats).fences(fences));
            join_waiting_closures(&pool, callers, calls() / callers as u64);
        }
    }
}

#[test]
fn closures_can_wait_for_each_other_right_after_many_brief_calls() {
    // A seat with brief calls does not offer each of its jobs. The first job of a longer call is
    // taken anyway.
    let _watchdog = watchdog();
    for (callers, seats) in [(1, 2), (1, 3), (2, 4)] {
        for fences in [Fences::Automatic, Fences::Owner] {
            let pool = build(in_place_builder(seats).fences(fences));
            on_threads(callers, |_| {
                for _ in 0..calls() / 200 {
                    (0..1000).for_each(|_| assert_eq!(pool.join(|| 1, || 2), (1, 2)));
                    join_waiting_closures(&pool, 1, 1);
                    let barrier = SpinBarrier::new(2);
                    pool.join(|| barrier.wait(), || barrier.wait());
                }
            });
        }
    }
}
