//! Installs: into a pool, and from pool to pool.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::common::{build, catch_payload, fib, for_each_pool_kind, panic_with, pool, watchdog, Drops, POOL_KINDS};
use filch::{Pool, Waiting};

#[test]
fn install_runs_on_a_worker_and_returns_the_result() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        assert_eq!(pool.current_thread_index(), None);
        let (index, threads, own) =
            pool.install(|| (filch::current_thread_index(), filch::current_num_threads(), pool.current_thread_index()));
        assert!(index.is_some_and(|index| index < 2));
        assert_eq!((threads, own), (2, index));
    });
}

#[test]
fn install_on_the_pools_own_worker_runs_in_place() {
    let _watchdog = watchdog();
    let pool = pool(2);
    pool.install(|| {
        let home = thread::current().id();
        assert_eq!(pool.install(|| thread::current().id()), home);
        assert_eq!(filch::join(|| pool.install(|| thread::current().id()), || ()).0, home);
    });
}

#[test]
fn a_panic_propagates_through_install_with_its_payload() {
    let _watchdog = watchdog();
    let (here, there) = (pool(1), pool(1));
    assert_eq!(catch_payload::<u8, _>(|| here.install(|| panic_with(1u8))), 1);
    assert_eq!(catch_payload::<u8, _>(|| here.install(|| there.install(|| panic_with(2u8)))), 2);
    assert_eq!(catch_payload::<u8, _>(|| here.install(|| there.install(|| here.install(|| panic_with(3u8))))), 3);
    assert_eq!(here.install(|| there.install(|| 4)), 4);
}

#[test]
fn values_that_install_moves_in_and_out_are_dropped_once() {
    let _watchdog = watchdog();
    let (here, there) = (pool(1), pool(1));
    let drops = Drops::default();
    for round in 1..=100 {
        let (owned, other) = (drops.new_value(), drops.new_value());
        let back = here.install(move || {
            drop(owned);
            identity(other)
        });
        assert_eq!(drops.count(), 2 * round - 1);
        drop(back);
        assert_eq!(drops.count(), 2 * round);
    }
    fn identity<T>(value: T) -> T {
        value
    }
    let owned = drops.new_value();
    let payload: u8 = catch_payload(|| {
        here.install(|| {
            there.install(move || {
                let _owned = owned;
                panic_with(1u8)
            })
        })
    });
    assert_eq!((payload, drops.count()), (1, 201));
}

#[test]
fn functions_inside_an_install_use_that_pool() {
    let _watchdog = watchdog();
    let (here, there) = (pool(1), pool(3));
    here.install(|| {
        assert_eq!(filch::current_num_threads(), 1);
        there.install(|| {
            assert_eq!(filch::current_num_threads(), 3);
            assert_eq!(filch::broadcast(|part| part.num_threads()), [3, 3, 3]);
            here.install(|| assert_eq!(filch::current_num_threads(), 1));
        });
        assert_eq!(filch::current_num_threads(), 1);
    });
}

#[test]
fn a_pool_can_be_built_used_and_dropped_inside_another() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |outer| {
        for _ in 0..20 {
            let sums = outer.join(|| pool(2).install(|| fib(10)), || pool(1).install(|| fib(11)));
            assert_eq!(sums, (55, 89));
        }
    });
}

#[test]
fn installing_back_and_forth_does_not_deadlock() {
    let _watchdog = watchdog();
    for (fences, waiting) in POOL_KINDS {
        let new = || build(Pool::builder().threads(1).fences(fences).waiting(waiting));
        let (here, there) = (new(), new());
        for _ in 0..200 {
            let result = here.install(|| there.install(|| here.install(|| there.install(|| here.install(|| 42)))));
            assert_eq!(result, 42);
        }
    }
}

/// Installs from pool to pool in a ring, with a join in each.
fn install_around(pools: &[&Pool], turns: usize) -> usize {
    if turns == 0 {
        return 1;
    }
    pools[turns % pools.len()].install(|| {
        let (a, b) = filch::join(|| install_around(pools, turns - 1), || install_around(pools, turns - 1));
        a + b
    })
}

#[test]
fn three_pools_in_a_ring_do_not_deadlock() {
    let _watchdog = watchdog();
    for threads in [1, 2] {
        for (fences, waiting) in POOL_KINDS {
            let new = || build(Pool::builder().threads(threads).fences(fences).waiting(waiting));
            let pools = [new(), new(), new()];
            let pools = [&pools[0], &pools[1], &pools[2]];
            for _ in 0..5 {
                assert_eq!(install_around(&pools, 7), 128);
            }
        }
    }
}

#[test]
fn two_pools_that_install_into_each_other_do_not_deadlock_unless_waits_are_strict() {
    // Under the strict policy they deadlock: each waits for a worker of the other, and none may run
    // what does not descend from its own wait.
    let _watchdog = watchdog();
    for threads in [1, 2] {
        for (fences, waiting) in POOL_KINDS.into_iter().filter(|kind| kind.1 != Waiting::Strict) {
            let new = || build(Pool::builder().threads(threads).fences(fences).waiting(waiting));
            let (here, there) = (new(), new());
            thread::scope(|scope| {
                for turn in 0..4 {
                    let pools = if turn % 2 == 0 { [&here, &there] } else { [&there, &here] };
                    scope.spawn(move || {
                        for _ in 0..20 {
                            assert_eq!(install_around(&pools, 5), 32);
                        }
                    });
                }
            });
        }
    }
}

#[test]
fn scopes_and_jobs_beyond_the_end_of_the_fork_stack_work_across_pools() {
    fn nest(depth: usize, pools: &[&Pool]) -> usize {
        if depth == 0 {
            return pools[0].install(|| pools[1].install(|| 1));
        }
        let finished = AtomicUsize::new(0);
        filch::scope(|scope| {
            scope.spawn(|_| {
                finished.fetch_add(pools[depth % 2].install(|| nest(depth - 1, pools)), Ordering::Relaxed);
            });
            let (a, b) = filch::join(|| nest(depth - 1, pools), || pools[depth % 2].install(|| 1));
            finished.fetch_add(a + b, Ordering::Relaxed);
        });
        finished.into_inner()
    }
    let _watchdog = watchdog();
    for threads in [1, 2] {
        for (fences, waiting) in POOL_KINDS {
            let new = || build(Pool::builder().threads(threads).fences(fences).waiting(waiting).fork_depth(2));
            let (here, there) = (new(), new());
            for _ in 0..5 {
                assert_eq!(here.install(|| nest(6, &[&here, &there])), 127);
            }
        }
    }
}
