//! What the builder sets: handlers, names, stacks, CPUs and a spawner; and what it refuses.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::common::{self, build, fib, panic_with, watchdog};
use filch::{BuildError, Pool};

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
