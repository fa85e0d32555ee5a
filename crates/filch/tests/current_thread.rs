//! A pool that has the calling thread as a worker.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;

use common::{build, fib, watchdog, POOL_KINDS};
use filch::{BuildError, Pool, Yield};

/// Runs a test on a new thread. The thread is a worker for the rest of its life.
fn on_new_thread(test: impl FnOnce() + Send) {
    let _watchdog = watchdog();
    thread::scope(|scope| scope.spawn(test).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
}

/// Runs `test` with a pool of each kind, of which the thread is a worker.
fn for_each_pool_kind(threads: usize, test: impl Fn(Pool) + Sync) {
    for (fences, waiting) in POOL_KINDS {
        on_new_thread(|| {
            let builder = Pool::builder().threads(threads).fences(fences).waiting(waiting);
            test(build(builder.use_current_thread()));
        });
    }
}

#[test]
fn the_current_thread_is_worker_0_and_only_other_workers_get_threads() {
    on_new_thread(|| {
        let starts = Arc::new(AtomicUsize::new(0));
        let counted = starts.clone();
        let mut spawned = Vec::new();
        let pool = Pool::builder()
            .threads(3)
            .use_current_thread()
            .on_start(move |_| {
                counted.fetch_add(1, Ordering::SeqCst);
            })
            .spawner(|worker| {
                spawned.push(worker.index());
                thread::spawn(|| worker.run());
                Ok(())
            })
            .build()
            .unwrap();
        assert_eq!(
            (filch::current_thread_index(), pool.current_thread_index(), filch::current_num_threads()),
            (Some(0), Some(0), 3)
        );
        assert_eq!(spawned, [1, 2]);
        let here = thread::current().id();
        assert_eq!(pool.install(|| thread::current().id()), here);
        let mut indices = pool.broadcast(|part| part.index());
        indices.sort_unstable();
        assert_eq!((indices, starts.load(Ordering::SeqCst)), (vec![0, 1, 2], 2));
    });
}

#[test]
fn the_current_thread_cannot_be_in_two_pools() {
    on_new_thread(|| {
        let pool = build(Pool::builder().threads(1).use_current_thread());
        for threads in [1, 3] {
            let second = Pool::builder().threads(threads).use_current_thread().build();
            assert!(matches!(second, Err(BuildError::ThreadIsAWorker)), "{second:?}");
        }
        assert_eq!(pool.join(|| 1, || 2), (1, 2));
    });
}

#[test]
fn after_a_failed_build_the_current_thread_is_not_a_worker() {
    on_new_thread(|| {
        let fail = |_| Err(std::io::Error::other("no more threads"));
        assert!(Pool::builder().threads(2).use_current_thread().spawner(fail).build().is_err());
        assert_eq!(filch::current_thread_index(), None);
        build(Pool::builder().threads(2).use_current_thread());
        assert_eq!(filch::current_thread_index(), Some(0));
    });
}

#[test]
fn jobs_and_tasks_of_the_current_thread_can_be_stolen() {
    for_each_pool_kind(2, |pool| {
        assert_eq!(fib(20), 6765);
        let barrier = Barrier::new(2);
        filch::join(|| barrier.wait(), || barrier.wait());
        filch::scope(|scope| {
            scope.spawn(|_| {
                barrier.wait();
            });
            barrier.wait();
        });
        drop(pool);
    });
}

#[test]
fn other_workers_run_spawned_jobs_while_the_current_thread_is_busy() {
    for_each_pool_kind(2, |pool| {
        for _ in 0..20 {
            let (sender, receiver) = channel();
            pool.spawn(move || sender.send(filch::current_thread_index()).unwrap());
            assert_eq!(receiver.recv(), Ok(Some(1)));
        }
    });
}

#[test]
fn alone_in_its_pool_the_current_thread_runs_spawned_jobs_when_it_yields() {
    for_each_pool_kind(1, |pool| {
        let (sender, receiver) = channel();
        pool.spawn(move || sender.send(1).unwrap());
        assert_eq!(filch::has_pending(), Some(true));
        assert!(receiver.try_recv().is_err());
        assert_eq!(filch::yield_local(), Some(Yield::Executed));
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!((filch::yield_now(), filch::has_pending()), (Some(Yield::Idle), Some(false)));
    });
}

#[test]
fn after_the_pool_is_dropped_the_current_thread_can_still_join() {
    for_each_pool_kind(3, |pool| {
        drop(pool);
        assert_eq!(fib(15), 610);
        assert_eq!(filch::current_thread_index(), Some(0));
    });
}

#[test]
fn the_part_of_a_broadcast_for_the_current_thread_runs_when_it_yields() {
    for_each_pool_kind(2, |pool| {
        let parts = AtomicUsize::new(0);
        thread::scope(|scope| {
            let broadcast = scope.spawn(|| pool.broadcast(|_| parts.fetch_add(1, Ordering::SeqCst)));
            while !broadcast.is_finished() {
                filch::yield_local();
                thread::yield_now();
            }
        });
        assert_eq!(parts.into_inner(), 2);
    });
}
