//! Pools: how they are built and dropped, and how they work with one another.

mod common;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use common::{
    assert_child_passed, build, catch_message, catch_payload, fib, for_each_pool_kind, panic_with, pool, run_in_child,
    spin_until, watchdog, Drops, SpinBarrier, POOL_KINDS,
};
use filch::{BuildError, Builder, Pool, Waiting};

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

#[test]
fn a_broadcast_runs_once_on_each_worker_and_returns_results_in_their_order() {
    let _watchdog = watchdog();
    for threads in [1, 2, 5] {
        for_each_pool_kind(threads, |pool| {
            for _ in 0..50 {
                let runs = AtomicUsize::new(0);
                let indices = pool.broadcast(|part| {
                    runs.fetch_add(1, Ordering::Relaxed);
                    assert_eq!((Some(part.index()), part.num_threads()), (filch::current_thread_index(), threads));
                    part.index()
                });
                assert_eq!(indices, (0..threads).collect::<Vec<_>>());
                assert_eq!(runs.into_inner(), threads);
            }
        });
    }
}

#[test]
fn the_parts_of_a_broadcast_can_wait_for_each_other() {
    let _watchdog = watchdog();
    for_each_pool_kind(3, |pool| {
        let barrier = Barrier::new(3);
        for _ in 0..100 {
            pool.broadcast(|_| barrier.wait());
            pool.install(|| filch::broadcast(|_| barrier.wait()));
        }
    });
}

#[test]
fn broadcasts_can_be_nested_and_run_at_the_same_time() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..100 {
            // Both workers broadcast to both at once, from a broadcast.
            let barrier = SpinBarrier::new(2);
            let sums = pool.broadcast(|part| {
                barrier.wait();
                filch::broadcast(|inner| 10 * part.index() + inner.index()).iter().sum::<usize>()
            });
            assert_eq!(sums, [1, 21]);
            // And from two closures of a join.
            let barrier = SpinBarrier::new(2);
            let all = || {
                barrier.wait();
                filch::broadcast(|part| part.index())
            };
            assert_eq!(pool.join(all, all), (vec![0, 1], vec![0, 1]));
        }
    });
}

#[test]
fn a_broadcast_reaches_workers_that_wait() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..100 {
            let barrier = SpinBarrier::new(2);
            // The second closure is stolen, and broadcasts to the worker that waits for it.
            let ((), indices) = pool.join(
                || barrier.wait(),
                || {
                    barrier.wait();
                    filch::broadcast(|part| part.index())
                },
            );
            assert_eq!(indices, [0, 1]);
            let other = common::pool(1);
            let indices = pool.install(|| other.install(|| pool.broadcast(|part| part.index())));
            assert_eq!(indices, [0, 1]);
        }
    });
}

#[test]
fn a_broadcast_into_another_pool_can_install_back() {
    let _watchdog = watchdog();
    for (fences, waiting) in POOL_KINDS {
        let new = |threads| build(Pool::builder().threads(threads).fences(fences).waiting(waiting));
        let (here, there) = (new(1), new(2));
        for _ in 0..50 {
            let indices = here.install(|| there.broadcast(|part| here.install(|| part.index())));
            assert_eq!(indices, [0, 1]);
        }
    }
}

#[test]
fn a_panic_in_a_broadcast_resumes_after_all_parts_have_run() {
    let _watchdog = watchdog();
    for_each_pool_kind(3, |pool| {
        let runs = AtomicUsize::new(0);
        let payload: &str = catch_payload(|| {
            pool.broadcast(|part| {
                runs.fetch_add(1, Ordering::SeqCst);
                if part.index() == 1 {
                    panic_with("part");
                }
            })
        });
        assert_eq!((payload, runs.into_inner()), ("part", 3));
        assert_eq!(pool.broadcast(|part| part.index()), [0, 1, 2]);
    });
}

#[test]
fn results_of_a_broadcast_are_dropped_once() {
    let _watchdog = watchdog();
    let (pool, drops) = (pool(3), Drops::default());
    let results = pool.broadcast(|_| drops.new_value());
    assert_eq!(drops.count(), 0);
    drop(results);
    assert_eq!(drops.count(), 3);
}

#[test]
fn handlers_are_called_once_on_each_workers_thread() {
    let _watchdog = watchdog();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (starts, exits) = (seen.clone(), seen.clone());
    let pool = build(
        Pool::builder()
            .threads(3)
            .on_start(move |index| {
                assert_eq!(filch::current_thread_index(), Some(index));
                starts.lock().unwrap().push((0, index, thread::current().id()));
            })
            .on_exit(move |index| {
                assert_eq!(filch::current_thread_index(), Some(index));
                exits.lock().unwrap().push((1, index, thread::current().id()));
            }),
    );
    let ids = pool.broadcast(|_| thread::current().id());
    drop(pool);
    let mut seen = std::mem::take(&mut *seen.lock().unwrap());
    seen.sort_unstable_by_key(|&(which, index, _)| (which, index));
    let expected: Vec<_> = (0..2).flat_map(|which| (0..3).map(move |index| (which, index))).collect();
    let expected: Vec<_> = expected.into_iter().map(|(which, index)| (which, index, ids[index])).collect();
    assert_eq!(seen, expected);
}

#[test]
fn panics_of_the_start_and_exit_handlers_go_to_the_panic_handler() {
    let _watchdog = watchdog();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = seen.clone();
    let pool = build(
        Pool::builder()
            .threads(2)
            .on_start(|index| panic_with(("start", index)))
            .on_exit(|index| panic_with(("exit", index)))
            .on_panic(move |payload| list.lock().unwrap().push(*payload.downcast::<(&str, usize)>().unwrap())),
    );
    assert_eq!(pool.install(|| fib(10)), 55);
    drop(pool);
    let mut seen = std::mem::take(&mut *seen.lock().unwrap());
    seen.sort_unstable();
    assert_eq!(seen, [("exit", 0), ("exit", 1), ("start", 0), ("start", 1)]);
}

#[test]
fn threads_have_the_names_that_the_builder_sets() {
    let _watchdog = watchdog();
    let name = |_| thread::current().name().map(str::to_string);
    let pool = build(Pool::builder().threads(2).name(|index| format!("custom-{index}")));
    assert_eq!(pool.broadcast(name), [Some("custom-0".into()), Some("custom-1".into())]);
    assert_eq!(common::pool(2).broadcast(name), [Some("filch-0".into()), Some("filch-1".into())]);
}

#[test]
fn threads_have_the_stack_size_that_the_builder_sets() {
    fn use_stack(depth: usize) -> usize {
        let frame = std::hint::black_box([depth; 128]);
        if depth == 0 {
            0
        } else {
            frame[0] - depth + 1 + use_stack(depth - 1)
        }
    }
    let _watchdog = watchdog();
    // 20 MiB of frames at least.
    assert_eq!(build(Pool::builder().threads(1).stack_size(64 << 20)).install(|| use_stack(20_000)), 20_000);
    // The least size that is allowed.
    assert_eq!(build(Pool::builder().threads(1).stack_size(64 << 10)).install(|| 1), 1);
}

#[test]
fn a_pool_can_be_pinned() {
    let _watchdog = watchdog();
    let pool = build(Pool::builder().threads(3).pin(true));
    assert_eq!(pool.install(|| fib(15)), 610);
    #[cfg(target_os = "linux")]
    for cpus in pool.broadcast(|_| thread::available_parallelism().map(usize::from).unwrap()) {
        assert_eq!(cpus, 1);
    }
}

#[test]
fn a_custom_spawner_can_start_the_threads() {
    let _watchdog = watchdog();
    let (handles, seen) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let (handles_in_spawner, seen_in_spawner) = (handles.clone(), seen.clone());
    let builder = Pool::builder().threads(3).name(|index| format!("requested-{index}")).stack_size(1 << 20);
    let pool = build(builder.spawner(move |worker| {
        seen_in_spawner.lock().unwrap().push((worker.index(), worker.name().map(str::to_string), worker.stack_size()));
        let thread = thread::Builder::new().name(format!("actual-{}", worker.index()));
        handles_in_spawner.lock().unwrap().push(thread.spawn(|| worker.run())?);
        Ok(())
    }));
    let names = pool.broadcast(|_| thread::current().name().map(str::to_string));
    assert_eq!(names, [0, 1, 2].map(|index| Some(format!("actual-{index}"))));
    let requested = [0, 1, 2].map(|index| (index, Some(format!("requested-{index}")), Some(1 << 20)));
    assert_eq!(*seen.lock().unwrap(), requested);
    assert_eq!(pool.install(|| fib(15)), 610);
    drop(pool);
    // The threads have returned from `run`.
    for handle in std::mem::take(&mut *handles.lock().unwrap()) {
        handle.join().unwrap();
    }
}

#[test]
fn if_a_thread_cannot_be_started_the_threads_before_it_end() {
    let _watchdog = watchdog();
    for fails_at in 0..4 {
        let (started, exited) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (start, exit) = (started.clone(), exited.clone());
        let mut threads = Vec::new();
        let result = Pool::builder()
            .threads(4)
            .on_start(move |_| {
                start.fetch_add(1, Ordering::SeqCst);
            })
            .on_exit(move |_| {
                exit.fetch_add(1, Ordering::SeqCst);
            })
            .spawner(|worker| {
                if worker.index() == fails_at {
                    return Err(io::Error::new(io::ErrorKind::OutOfMemory, "no more threads"));
                }
                threads.push(thread::spawn(|| worker.run()));
                Ok(())
            })
            .build();
        match result {
            Err(BuildError::Thread { index, error }) => {
                assert_eq!((index, error.to_string().as_str()), (fails_at, "no more threads"));
            }
            other => panic!("{other:?}"),
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!((started.load(Ordering::SeqCst), exited.load(Ordering::SeqCst)), (fails_at, fails_at));
    }
}

#[test]
fn an_error_of_the_system_when_a_thread_starts_is_returned() {
    let _watchdog = watchdog();
    // Larger than any address space.
    match Pool::builder().threads(2).stack_size(1 << 60).build() {
        Err(BuildError::Thread { index: 0, .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_pool_of_no_threads_is_an_error() {
    let error = Pool::builder().threads(0).build().unwrap_err();
    assert!(matches!(error, BuildError::NoThreads));
    assert_eq!(error.to_string(), "a pool needs at least one thread; 0 were asked for");
}

#[test]
fn a_pool_of_too_many_threads_is_an_error() {
    let error = Pool::builder().threads(1_000_000).build().unwrap_err();
    assert!(matches!(error, BuildError::TooManyThreads { asked: 1_000_000, .. }));
}

#[test]
fn a_stack_too_small_is_an_error() {
    let error = Pool::builder().threads(1).stack_size(1000).build().unwrap_err();
    assert!(matches!(error, BuildError::StackTooSmall { asked: 1000, least: 65536 }));
    assert!(error.to_string().contains("65536") && error.to_string().contains("1000"));
}

#[test]
fn the_environment_variable_sets_the_number_of_threads() {
    let child =
        run_in_child("the_environment_variable_sets_the_number_of_threads", &[("FILCH_NUM_THREADS", "3")], || {
            assert_eq!(Pool::new().unwrap().current_num_threads(), 3);
            assert_eq!(filch::current_num_threads(), 3);
            assert_eq!(Pool::builder().threads(2).build().unwrap().current_num_threads(), 2);
        });
    assert_child_passed(child);
}

#[test]
fn without_the_variable_there_is_a_worker_for_each_cpu() {
    let _watchdog = watchdog();
    if std::env::var_os("FILCH_NUM_THREADS").is_none() {
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(Pool::new().unwrap().current_num_threads(), cpus);
    }
}

/// The environment variable is not a number above 0.
fn assert_invalid_variable(test: &str, value: &str) {
    let child = run_in_child(test, &[("FILCH_NUM_THREADS", value)], || {
        let value = std::env::var("FILCH_NUM_THREADS").unwrap();
        let error = Pool::new().unwrap_err();
        assert!(
            matches!(&error, BuildError::Variable { name: "FILCH_NUM_THREADS", value: found } if **found == *value)
        );
        assert!(error.to_string().contains(&format!("{value:?}")));
        assert!(matches!(Builder::new().build_global(), Err(BuildError::Variable { .. })));
        // The global pool cannot return an error, so it panics with it.
        let message = catch_message(|| filch::join(|| (), || ()));
        assert!(message.contains("the global pool could not be started: FILCH_NUM_THREADS is"), "{message}");
    });
    assert_child_passed(child);
}

#[test]
fn an_environment_variable_that_is_not_a_number_is_an_error() {
    assert_invalid_variable("an_environment_variable_that_is_not_a_number_is_an_error", "many");
}

#[test]
fn an_environment_variable_of_0_threads_is_an_error() {
    assert_invalid_variable("an_environment_variable_of_0_threads_is_an_error", "0");
}

#[test]
fn an_environment_variable_with_a_negative_number_of_threads_is_an_error() {
    assert_invalid_variable("an_environment_variable_with_a_negative_number_of_threads_is_an_error", "-1");
}

#[test]
fn the_global_pool_is_built_once() {
    let child = run_in_child("the_global_pool_is_built_once", &[], || {
        Pool::builder().threads(3).build_global().unwrap();
        assert_eq!(filch::current_num_threads(), 3);
        assert!(matches!(Pool::builder().threads(2).build_global(), Err(BuildError::GlobalIsRunning)));
        assert_eq!(filch::current_num_threads(), 3);
        assert_eq!(filch::join(filch::current_num_threads, || fib(10)), (3, 55));
    });
    assert_child_passed(child);
}

#[test]
fn a_global_pool_that_is_in_use_cannot_be_built() {
    let child = run_in_child("a_global_pool_that_is_in_use_cannot_be_built", &[], || {
        assert_eq!(filch::join(|| 1, || 2), (1, 2));
        let error = Pool::builder().build_global().unwrap_err();
        assert_eq!(error.to_string(), "the global pool is already running and cannot be built anew");
    });
    assert_child_passed(child);
}

#[test]
fn stats_count_jobs_steals_and_sleeps() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        assert_eq!(pool.stats().workers().len(), 2);
        let before = pool.stats().total();
        for _ in 0..100 {
            let barrier = SpinBarrier::new(2);
            pool.join(|| barrier.wait(), || barrier.wait());
        }
        let after = pool.stats().total();
        // Each join was installed, and its second closure stolen.
        assert_eq!((after.jobs - before.jobs, after.steals - before.steals), (200, 100));
        assert!(after.shares + after.raids >= before.shares + before.raids);
        spin_until(|| {
            let total = pool.stats().total();
            total.sleeps == total.wakes + 2
        });
        assert!(pool.stats().to_string().lines().count() == 3);
    });
}

#[test]
fn pools_can_be_built_and_dropped_many_times() {
    let _watchdog = watchdog();
    for round in 0..200 {
        let pool = pool(1 + round % 4);
        if round % 3 != 0 {
            assert_eq!(pool.install(|| fib(5)), 5);
        }
    }
}

#[test]
fn the_threads_of_a_pool_end_before_its_drop_returns() {
    let _watchdog = watchdog();
    for threads in [1, 2, 8] {
        let exited = Arc::new(AtomicUsize::new(0));
        let count = exited.clone();
        let pool = build(Pool::builder().threads(threads).on_exit(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        }));
        drop(pool);
        assert_eq!(exited.load(Ordering::SeqCst), threads);
        assert_eq!(Arc::strong_count(&exited), 1, "a handler must not outlive its pool");
    }
}

#[test]
fn a_dismissed_pool_runs_all_spawned_jobs_and_then_ends() {
    let _watchdog = watchdog();
    let (sender, receiver) = channel::<usize>();
    let (go, wait) = channel::<()>();
    let (exits, ended) = channel::<usize>();
    let pool = build(Pool::builder().threads(2).on_exit(move |index| exits.send(index).unwrap()));
    pool.spawn(move || {
        // Only after the pool is gone.
        wait.recv().unwrap();
        filch::spawn(move || sender.send(filch::current_num_threads()).unwrap());
    });
    pool.detach();
    go.send(()).unwrap();
    assert_eq!(receiver.recv(), Ok(2));
    let mut ended: Vec<_> = ended.iter().collect();
    ended.sort_unstable();
    assert_eq!(ended, [0, 1]);
}

#[test]
fn a_pool_dropped_by_another_pools_worker_ends() {
    let _watchdog = watchdog();
    let here = pool(2);
    for _ in 0..50 {
        let (there, finished) = (pool(2), Arc::new(AtomicBool::new(false)));
        let done = finished.clone();
        there.spawn(move || {
            assert_eq!(fib(10), 55);
            done.store(true, Ordering::SeqCst);
        });
        here.install(move || drop(there));
        assert!(finished.load(Ordering::SeqCst));
    }
}

/// Forks the process. Returns whether the child has ended well.
#[cfg(target_os = "linux")]
fn child_succeeds_after_fork(child: impl FnOnce()) -> bool {
    // SAFETY: the child runs the closure and ends. No thread that is missing in the child has left
    // a lock that it uses locked (the tests below fork only when the pool is asleep).
    match unsafe { libc::fork() } {
        -1 => panic!("{}", io::Error::last_os_error()),
        0 => {
            // A hang would last forever: the watchdog's thread is not in the child.
            // SAFETY: ends the process after 200 seconds.
            unsafe { libc::alarm(200) };
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
            // SAFETY: ends the child, without the destructors that only the parent may run.
            unsafe { libc::_exit(if ended.is_ok() { 0 } else { 1 }) }
        }
        process => {
            let mut status = 0;
            // SAFETY: waits for the child.
            assert_eq!(unsafe { libc::waitpid(process, &mut status, 0) }, process);
            libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
        }
    }
}

#[cfg(target_os = "linux")]
fn wait_until_asleep(pool: &Pool) {
    spin_until(|| {
        let total = pool.stats().total();
        total.sleeps == total.wakes + pool.current_num_threads() as u64
    });
}

#[cfg(target_os = "linux")]
const AFTER_FORK: &str =
    "this pool was started before fork(2), and the child process has none of its threads: build a new pool there";

#[cfg(target_os = "linux")]
#[test]
fn after_a_fork_calls_into_the_pool_panic_in_the_child() {
    let child = run_in_child("after_a_fork_calls_into_the_pool_panic_in_the_child", &[], || {
        let pool = pool(2);
        assert_eq!(pool.install(|| fib(10)), 55);
        wait_until_asleep(&pool);
        assert!(child_succeeds_after_fork(|| {
            assert_eq!(catch_message(|| pool.install(|| ())), AFTER_FORK);
            assert_eq!(catch_message(|| pool.join(|| (), || ())), AFTER_FORK);
            assert_eq!(catch_message(|| pool.scope(|_| ())), AFTER_FORK);
            assert_eq!(catch_message(|| pool.spawn(|| ())), AFTER_FORK);
            assert_eq!(catch_message(|| pool.broadcast(|_| ())), AFTER_FORK);
        }));
        // The parent's pool is as before.
        assert_eq!(pool.install(|| fib(10)), 55);
    });
    assert_child_passed(child);
}

#[cfg(target_os = "linux")]
#[test]
fn after_a_fork_the_child_can_drop_the_pool_and_build_another() {
    let child = run_in_child("after_a_fork_the_child_can_drop_the_pool_and_build_another", &[], || {
        let old = pool(2);
        assert_eq!(old.install(|| fib(10)), 55);
        wait_until_asleep(&old);
        let mut old = Some(old);
        assert!(child_succeeds_after_fork(|| {
            drop(old.take());
            let new = pool(2);
            let barrier = Barrier::new(2);
            for _ in 0..100 {
                new.join(|| barrier.wait(), || barrier.wait());
            }
            assert_eq!(new.install(|| fib(15)), 610);
        }));
        assert_eq!(old.take().map(|old| old.install(|| fib(10))), Some(55));
    });
    assert_child_passed(child);
}

#[cfg(target_os = "linux")]
#[test]
fn after_a_fork_on_a_worker_calls_into_other_pools_panic_in_the_child() {
    let child = run_in_child("after_a_fork_on_a_worker_calls_into_other_pools_panic_in_the_child", &[], || {
        let (here, there) = (pool(1), pool(1));
        there.install(|| ());
        wait_until_asleep(&there);
        here.install(|| {
            assert!(child_succeeds_after_fork(|| {
                assert_eq!(catch_message(|| there.install(|| ())), AFTER_FORK);
            }));
        });
    });
    assert_child_passed(child);
}
