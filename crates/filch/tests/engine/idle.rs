//! Pools that sleep by the event counter: no wake-up is lost on any queue, and idle pools sleep.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use filch::engine::{EventCounter, Pool};
use filch::queue::{Asymmetric, Bulk, ChaseLev, FfCl, FfThe, The, Thep};

use crate::{abort_if_hanging, fib, for_all_kinds, serial_fib, Kind, Node};

fn pool<Q: Kind>(threads: usize) -> Pool<Q, EventCounter> {
    Pool::with_idle(threads, Q::kind(), None).unwrap()
}

#[test]
fn sums_of_random_trees_are_those_of_a_serial_run() {
    fn check<Q: Kind>() {
        for threads in [1, 2, 3] {
            let pool = pool::<Q>(threads);
            for seed in 0..60 {
                let root = Node(seed).next();
                let sum = pool.install(|worker| root.sum(worker, 14));
                assert_eq!(sum, root.serial_sum(14), "{} on {threads}, seed {seed}", Q::NAME);
            }
        }
    }
    abort_if_hanging(|| for_all_kinds!(check));
}

/// The first closure waits for the second, which only another worker can run. Whatever the other
/// workers do when it is forked: search, become sleepy, fall asleep, sleep. A lost wake-up is a
/// deadlock.
#[test]
fn a_forked_job_wakes_a_worker_in_each_stage_of_its_sleep() {
    fn check<Q: Kind>() {
        if !Q::ALWAYS_STEALABLE {
            return;
        }
        for threads in [2, 3] {
            let pool = pool::<Q>(threads);
            pool.install(|worker| {
                for round in 0..4_000_u32 {
                    // From no work at all to more than the whole search for work takes.
                    let work = (0..round % 400 * 50).fold(u64::from(round), |x, _| Node(x).next().0);
                    std::hint::black_box(work);
                    let both = Barrier::new(2);
                    worker.join(|_| both.wait().is_leader(), |_| both.wait().is_leader());
                }
            });
        }
    }
    abort_if_hanging(|| for_all_kinds!(check));
}

#[test]
fn three_closures_can_wait_for_each_other_after_any_pause() {
    fn check<Q: Kind>() {
        if !Q::ALWAYS_STEALABLE {
            return;
        }
        let pool = pool::<Q>(3);
        for round in 0..600 {
            thread::sleep(Duration::from_micros(round % 6 * 30));
            let all = Barrier::new(3);
            pool.install(|worker| {
                worker.join(
                    |worker| worker.join(|_| all.wait().is_leader(), |_| all.wait().is_leader()),
                    |_| all.wait().is_leader(),
                )
            });
        }
    }
    abort_if_hanging(|| for_all_kinds!(check));
}

#[test]
fn a_sleeping_pool_wakes_for_installs_of_several_threads() {
    fn check<Q: Kind>() {
        let pool = pool::<Q>(2);
        thread::scope(|scope| {
            for n in 0..3 {
                let pool = &pool;
                scope.spawn(move || {
                    for round in 0..200 {
                        thread::sleep(Duration::from_micros(round % 7 * 50));
                        assert_eq!(pool.install(|worker| fib(worker, n + 5)), serial_fib(n + 5));
                    }
                });
            }
        });
    }
    abort_if_hanging(|| for_all_kinds!(check));
}

#[test]
fn dropping_a_pool_ends_workers_in_each_stage_of_their_sleep() {
    fn check<Q: Kind>() {
        for round in 0..60 {
            let pool = pool::<Q>(3);
            thread::sleep(Duration::from_micros(round % 6 * 40));
            if round % 2 == 0 {
                pool.install(|worker| fib(worker, 8));
            }
        }
    }
    abort_if_hanging(|| for_all_kinds!(check));
}

/// In a child, because other tests of this program have workers with the same names.
#[test]
#[cfg(target_os = "linux")]
fn an_idle_pool_makes_no_context_switch() {
    use crate::common::{assert_child_passed, run_in_child};

    fn switches() -> Vec<String> {
        let status =
            |entry: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(entry.ok()?.path().join("status")).ok();
        let of_worker = |status: String| {
            let is_switches = |line: &&str| line.contains("ctxt_switches");
            let of_worker = status.starts_with("Name:\tfilch-engine");
            of_worker.then(|| status.lines().filter(is_switches).collect::<Vec<_>>().join(" "))
        };
        let tasks = std::fs::read_dir("/proc/self/task").expect("cannot list the threads of this process");
        let mut switches: Vec<String> = tasks.filter_map(status).filter_map(of_worker).collect();
        switches.sort();
        switches
    }
    let child = run_in_child("idle::an_idle_pool_makes_no_context_switch", &[], || {
        let pool = pool::<Asymmetric>(2);
        assert_eq!(pool.install(|worker| fib(worker, 18)), serial_fib(18));
        // Not to make a race likely: nothing must happen in this time. A worker that has not begun
        // yet has no name.
        let is_quiet = |_| {
            let before = switches();
            thread::sleep(Duration::from_millis(200));
            before.len() == 2 && switches() == before
        };
        assert!((0..10).any(is_quiet), "the workers do not sleep for 200 ms");
    });
    assert_child_passed(child);
}
