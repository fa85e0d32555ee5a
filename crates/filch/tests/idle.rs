//! An idle pool costs nothing: no CPU time, and not one context switch.
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::thread;
use std::time::Duration;

use common::{build, call_in_place, in_place_builder, pool, spin_until, watchdog};
use filch::{Fences, Pool, Waiting};

/// The kernel's statistics of one thread.
#[derive(Debug, PartialEq, Eq)]
struct ThreadStats {
    name: String,
    state: String,
    voluntary: u64,
    involuntary: u64,
    /// In ticks of the kernel's clock, for user and system together.
    ticks: u64,
}

/// Returns the statistics of all threads of this process whose name begins with `prefix`. They
/// are sorted by name.
fn thread_stats(prefix: &str) -> Vec<ThreadStats> {
    let mut thread_stats: Vec<ThreadStats> = fs::read_dir("/proc/self/task")
        .expect("cannot list the threads of this process")
        .filter_map(|entry| {
            let folder = entry.ok()?.path();
            let status = fs::read_to_string(folder.join("status")).ok()?;
            let field = |name: &str| Some(status.lines().find_map(|line| line.strip_prefix(name))?.trim().to_string());
            let name = field("Name:")?;
            if !name.starts_with(prefix) {
                return None;
            }
            let stat = fs::read_to_string(folder.join("stat")).ok()?;
            // The fields behind the name, which is in brackets: state, and eleven further on the
            // times.
            let mut times = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
            let mut time = || times.next()?.parse::<u64>().ok();
            Some(ThreadStats {
                state: field("State:")?,
                voluntary: field("voluntary_ctxt_switches:")?.parse().ok()?,
                involuntary: field("nonvoluntary_ctxt_switches:")?.parse().ok()?,
                ticks: time()? + time()?,
                name,
            })
        })
        .collect();
    thread_stats.sort_by(|a, b| a.name.cmp(&b.name));
    thread_stats
}

/// Waits until `workers` workers of the pool sleep. They sleep by the pool's counts and, as far as
/// `asleep` says, by the kernel's. Not only for a moment: a worker may doze before it sleeps for
/// longer.
fn wait_until_asleep(pool: &Pool, workers: usize, asleep: impl Fn() -> bool) {
    for pause in [Duration::from_millis(50), Duration::ZERO] {
        spin_until(|| {
            let total = pool.stats().total();
            total.sleeps == total.wakes + workers as u64
        });
        spin_until(&asleep);
        thread::sleep(pause);
    }
}

fn all_asleep(thread_stats: &[ThreadStats]) -> bool {
    thread_stats.iter().all(|thread| thread.state.starts_with('S'))
}

/// Asserts that `workers` workers sleep for a time in which nothing happens to them. `thread_stats`
/// returns their statistics. If another machine has the processors, it may take a while until they
/// all sleep.
fn assert_idle_by(pool: &Pool, workers: usize, thread_stats: impl Fn() -> Vec<ThreadStats>) {
    let is_quiet = |_| {
        wait_until_asleep(pool, workers, || all_asleep(&thread_stats()));
        let before = thread_stats();
        assert_eq!(before.len(), workers);
        // Not to make a race likely: nothing must happen in this time.
        thread::sleep(Duration::from_millis(200));
        thread_stats() == before
    };
    assert!((0..10).any(is_quiet), "the workers do not sleep for 200 ms: {:?}", thread_stats());
}

fn assert_idle(pool: &Pool, prefix: &str) {
    assert_idle_by(pool, pool.current_num_threads(), || thread_stats(prefix));
}

fn tree(depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let (a, b) = filch::join(|| tree(depth - 1), || tree(depth - 1));
    a + b
}

#[test]
fn a_new_pool_is_idle() {
    let _watchdog = watchdog();
    for (round, fences) in [Fences::Automatic, Fences::Owner].into_iter().enumerate() {
        let prefix = format!("new{round}-");
        let name = prefix.clone();
        let pool = build(Pool::builder().threads(8).fences(fences).name(move |index| format!("{name}{index}")));
        assert_idle(&pool, &prefix);
    }
}

#[test]
fn a_pool_is_idle_after_its_work() {
    let _watchdog = watchdog();
    for (round, (fences, waiting)) in common::POOL_KINDS.into_iter().enumerate() {
        let prefix = format!("work{round}-");
        let name = prefix.clone();
        let builder = Pool::builder().threads(8).fences(fences).waiting(waiting);
        let pool = build(builder.name(move |index| format!("{name}{index}")));
        assert_eq!(pool.install(|| tree(16)), 1 << 16);
        pool.scope(|scope| {
            for _ in 0..100 {
                scope.spawn(|_| assert_eq!(tree(4), 16));
            }
        });
        pool.broadcast(|_| ());
        assert_idle(&pool, &prefix);
    }
}

#[test]
fn workers_without_work_are_idle_while_one_waits_for_another_pool() {
    // The worker that waits, and those beside it.
    let _watchdog = watchdog();
    for (round, waiting) in [Waiting::Strict, Waiting::Any].into_iter().enumerate() {
        let prefix = format!("wait{round}-");
        let name = prefix.clone();
        let here = build(Pool::builder().threads(4).waiting(waiting).name(move |index| format!("{name}{index}")));
        let there = pool(1);
        here.install(|| there.install(|| assert_idle(&here, &prefix)));
    }
}

#[test]
fn workers_without_work_are_idle_while_one_computes() {
    let _watchdog = watchdog();
    for (round, (fences, waiting)) in common::POOL_KINDS.into_iter().enumerate() {
        let prefix = format!("busy{round}-");
        let name = prefix.clone();
        let builder = Pool::builder().threads(4).fences(fences).waiting(waiting);
        let pool = build(builder.name(move |index| format!("{name}{index}")));
        pool.install(|| {
            // No other worker can take anything from it any more.
            assert_eq!(tree(10), 1 << 10);
            let own = thread::current().name().map(str::to_string);
            let others = || {
                let mut thread_stats = thread_stats(&prefix);
                thread_stats.retain(|thread| Some(&thread.name) != own.as_ref());
                thread_stats
            };
            assert_idle_by(&pool, 3, others);
        });
    }
}

#[test]
fn a_pool_is_idle_after_calls_in_place() {
    let _watchdog = watchdog();
    for (round, (fences, waiting)) in common::POOL_KINDS.into_iter().enumerate() {
        let prefix = format!("lent{round}-");
        let name = prefix.clone();
        let builder = in_place_builder(4).fences(fences).waiting(waiting);
        let pool = build(builder.name(move |index| format!("{name}{index}")));
        for _ in 0..100 {
            call_in_place(&pool, || ());
            assert_eq!(call_in_place(&pool, || tree(6)), 1 << 6);
            call_in_place(&pool, || filch::spawn(|| ()));
        }
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..100).for_each(|_| assert_eq!(pool.install(|| tree(4)), 16)));
            }
        });
        assert_idle(&pool, &prefix);
    }
}

#[test]
fn the_threads_of_a_pool_are_idle_while_a_caller_computes_in_place() {
    let _watchdog = watchdog();
    for (round, fences) in [Fences::Automatic, Fences::Owner].into_iter().enumerate() {
        let prefix = format!("seat{round}-");
        let name = prefix.clone();
        let pool = build(in_place_builder(4).fences(fences).name(move |index| format!("{name}{index}")));
        call_in_place(&pool, || {
            // No other worker can take anything from it any more.
            assert_eq!(tree(10), 1 << 10);
            let own = format!("{prefix}{}", filch::current_thread_index().expect("the call must run on a worker"));
            let others = || {
                let mut thread_stats = thread_stats(&prefix);
                thread_stats.retain(|thread| thread.name != own);
                thread_stats
            };
            assert_idle_by(&pool, 3, others);
            // The thread whose seat is lent sleeps as well.
            let is_quiet = |_| {
                let before = thread_stats(&own);
                // Not to make a race likely: nothing must happen in this time.
                thread::sleep(Duration::from_millis(100));
                all_asleep(&before) && thread_stats(&own) == before
            };
            assert!((0..10).any(is_quiet), "the thread does not sleep for 100 ms: {:?}", thread_stats(&own));
        });
    }
}
