//! Spawned jobs: no caller waits for them, and yet they are all run.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;

use common::{build, for_each_pool_kind, panic_with, pool, run_in_child, spin_until, watchdog, Drops, POOL_KINDS};
use filch::{Pool, Yield};

#[test]
fn jobs_spawned_from_outside_and_inside_and_by_jobs_run() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        let (sender, receiver) = mpsc::channel();
        let (outside, inside, nested) = (sender.clone(), sender.clone(), sender);
        pool.spawn(move || outside.send(1).unwrap());
        pool.install(|| filch::spawn(move || inside.send(2).unwrap()));
        pool.spawn(move || filch::spawn(move || nested.send(3).unwrap()));
        let mut seen: Vec<i32> = receiver.iter().collect();
        seen.sort_unstable();
        assert_eq!(seen, [1, 2, 3]);
    });
    let (sender, receiver) = mpsc::channel();
    filch::spawn(move || sender.send(filch::current_thread_index().is_some()).unwrap());
    assert_eq!(receiver.recv(), Ok(true));
}

#[test]
fn a_spawned_job_runs_in_the_pool_it_was_spawned_into() {
    let _watchdog = watchdog();
    let (here, there) = (Arc::new(pool(1)), Arc::new(pool(1)));
    let (sender, receiver) = mpsc::channel();
    here.install(|| {
        let (there, also_there) = (there.clone(), there.clone());
        there.spawn(move || sender.send(also_there.current_thread_index()).unwrap());
    });
    assert_eq!(receiver.recv(), Ok(Some(0)));
}

#[test]
fn a_single_worker_runs_the_jobs_that_it_spawned() {
    let _watchdog = watchdog();
    let pool = pool(1);
    let finished = Arc::new(AtomicUsize::new(0));
    pool.install(|| {
        for _ in 0..1000 {
            let finished = finished.clone();
            filch::spawn(move || {
                finished.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    spin_until(|| finished.load(Ordering::Relaxed) == 1000);
}

#[test]
fn dropping_a_pool_runs_all_spawned_jobs_first() {
    let _watchdog = watchdog();
    for threads in [1, 2, 4] {
        for (fences, waiting) in POOL_KINDS {
            for _ in 0..20 {
                let finished = Arc::new(AtomicUsize::new(0));
                let pool = build(Pool::builder().threads(threads).fences(fences).waiting(waiting));
                for _ in 0..100 {
                    let finished = finished.clone();
                    pool.spawn(move || {
                        finished.fetch_add(1, Ordering::Relaxed);
                    });
                }
                drop(pool);
                assert_eq!(finished.load(Ordering::Relaxed), 100);
            }
        }
    }
}

#[test]
fn dropping_a_pool_runs_jobs_spawned_by_spawned_jobs_first() {
    fn spawn_tree(depth: u32, finished: &Arc<AtomicUsize>) {
        finished.fetch_add(1, Ordering::Relaxed);
        if depth > 0 {
            for _ in 0..2 {
                let finished = finished.clone();
                filch::spawn(move || spawn_tree(depth - 1, &finished));
            }
        }
    }
    let _watchdog = watchdog();
    for threads in [1, 2, 4] {
        for _ in 0..20 {
            let finished = Arc::new(AtomicUsize::new(0));
            let pool = pool(threads);
            let count = finished.clone();
            pool.spawn(move || spawn_tree(8, &count));
            drop(pool);
            assert_eq!(finished.load(Ordering::Relaxed), 511);
        }
    }
}

#[test]
fn dropping_a_pool_finishes_joins_and_scopes_of_spawned_jobs_first() {
    fn tree(depth: u32) -> usize {
        if depth == 0 {
            return 1;
        }
        let (a, b) = filch::join(|| tree(depth - 1), || tree(depth - 1));
        a + b
    }
    let _watchdog = watchdog();
    for _ in 0..50 {
        let finished = Arc::new(AtomicUsize::new(0));
        let pool = pool(3);
        for _ in 0..10 {
            let finished = finished.clone();
            pool.spawn(move || {
                filch::scope(|scope| {
                    scope.spawn(|_| {
                        finished.fetch_add(tree(6), Ordering::Relaxed);
                    });
                });
            });
        }
        drop(pool);
        assert_eq!(finished.load(Ordering::Relaxed), 640);
    }
}

#[test]
fn a_pool_dropped_by_its_own_worker_runs_all_jobs_and_ends() {
    let _watchdog = watchdog();
    for threads in [1, 2, 4] {
        for _ in 0..50 {
            let (exits, finished) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let count = exits.clone();
            let pool = Arc::new(build(Pool::builder().threads(threads).on_exit(move |_| {
                count.fetch_add(1, Ordering::SeqCst);
            })));
            let (inner, done, released) = (pool.clone(), finished.clone(), Arc::new(AtomicUsize::new(0)));
            let is_released = released.clone();
            pool.spawn(move || {
                spin_until(|| is_released.load(Ordering::Acquire) == 1);
                for _ in 0..10 {
                    let done = done.clone();
                    filch::spawn(move || {
                        done.fetch_add(1, Ordering::SeqCst);
                    });
                }
                // The last reference.
                drop(inner);
                assert_eq!(filch::join(|| 1, || 2), (1, 2));
            });
            drop(pool);
            released.store(1, Ordering::Release);
            spin_until(|| exits.load(Ordering::SeqCst) == threads);
            assert_eq!(finished.load(Ordering::SeqCst), 10);
        }
    }
}

#[test]
fn values_owned_by_a_spawned_job_are_dropped_once() {
    let _watchdog = watchdog();
    let drops = Drops::default();
    let pool = build(Pool::builder().threads(2).on_panic(drop));
    for panics in [false, true] {
        for _ in 0..100 {
            let owned = drops.new_value();
            pool.spawn(move || {
                let _owned = owned;
                if panics {
                    panic_with(());
                }
            });
        }
    }
    drop(pool);
    assert_eq!(drops.count(), 200);
}

#[test]
fn a_panic_in_a_spawned_job_goes_to_the_panic_handler() {
    let _watchdog = watchdog();
    for (fences, waiting) in POOL_KINDS {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let list = seen.clone();
        let pool = build(Pool::builder().threads(2).fences(fences).waiting(waiting).on_panic(move |payload| {
            list.lock().unwrap().push(*payload.downcast::<usize>().unwrap());
        }));
        for index in 0..50usize {
            pool.spawn(move || panic_with(index));
        }
        // No worker has died of it.
        assert_eq!(pool.broadcast(|part| part.index()), [0, 1]);
        drop(pool);
        let mut seen = std::mem::take(&mut *seen.lock().unwrap());
        seen.sort_unstable();
        assert_eq!(seen, (0..50).collect::<Vec<_>>());
    }
}

#[test]
fn without_a_panic_handler_a_panic_of_a_spawned_job_aborts_the_process() {
    let child = run_in_child("without_a_panic_handler_a_panic_of_a_spawned_job_aborts_the_process", &[], || {
        let pool = pool(1);
        pool.spawn(|| panic!("panic of a spawned job"));
        drop(pool);
        println!("not aborted");
    });
    let Some(output) = child else { return };
    assert!(!output.status.success());
    assert!(!String::from_utf8_lossy(&output.stdout).contains("not aborted"));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("no panic handler"), "{stderr}");
}

#[test]
fn a_panic_handler_that_panics_aborts_the_process() {
    let child = run_in_child("a_panic_handler_that_panics_aborts_the_process", &[], || {
        let pool = build(Pool::builder().threads(1).on_panic(|_| panic!("panic of the panic handler")));
        pool.spawn(|| panic!("first"));
        drop(pool);
        println!("not aborted");
    });
    let Some(output) = child else { return };
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("the panic handler of a pool panicked"));
}

/// Points stderr to a pipe that has no reader, so that each write fails.
#[cfg(unix)]
fn break_stderr() {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for both descriptors.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    // SAFETY: both descriptors are open and belong to this function.
    assert!(unsafe { libc::dup2(ends[1], libc::STDERR_FILENO) >= 0 && libc::close(ends[0]) == 0 });
}

#[cfg(unix)]
#[test]
fn a_panic_without_a_handler_aborts_the_process_even_if_stderr_is_broken() {
    use std::os::unix::process::ExitStatusExt;

    let test = "a_panic_without_a_handler_aborts_the_process_even_if_stderr_is_broken";
    for handler in ["start", "exit"] {
        let child = run_in_child(test, &[("HANDLER", handler)], || {
            break_stderr();
            let builder = Pool::builder().threads(1);
            let builder = match std::env::var("HANDLER").as_deref() {
                Ok("start") => builder.on_start(|_| panic!("a start handler")),
                _ => builder.on_exit(|_| panic!("an exit handler")),
            };
            drop(build(builder));
            println!("not aborted");
        });
        let Some(output) = child else { return };
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{handler}: {}", output.status);
        assert!(!String::from_utf8_lossy(&output.stdout).contains("not aborted"), "{handler}");
    }
}

#[test]
fn yield_now_outside_of_a_pool_does_nothing() {
    let _watchdog = watchdog();
    assert_eq!(filch::yield_now(), None);
}

#[test]
fn yield_now_runs_one_waiting_job() {
    let _watchdog = watchdog();
    let pool = pool(1);
    let finished = Arc::new(AtomicUsize::new(0));
    pool.install(|| {
        assert_eq!(filch::yield_now(), Some(Yield::Idle));
        for _ in 0..3 {
            let finished = finished.clone();
            filch::spawn(move || {
                finished.fetch_add(1, Ordering::Relaxed);
            });
        }
        for runs in 1..=3 {
            assert_eq!(filch::yield_now(), Some(Yield::Executed));
            assert_eq!(finished.load(Ordering::Relaxed), runs);
        }
        assert_eq!(filch::yield_now(), Some(Yield::Idle));
    });
}

#[test]
fn yield_now_inside_a_join_runs_a_spawned_job() {
    let _watchdog = watchdog();
    let pool = pool(1);
    let finished = Arc::new(AtomicUsize::new(0));
    let count = finished.clone();
    let both = pool.install(move || {
        filch::join(
            || {
                filch::spawn(move || {
                    assert_eq!(filch::join(|| 5, || 6), (5, 6));
                    count.fetch_add(1, Ordering::Relaxed);
                });
                assert_eq!(filch::yield_now(), Some(Yield::Executed));
                1
            },
            || 2,
        )
    });
    assert_eq!((both, finished.load(Ordering::Relaxed)), ((1, 2), 1));
}

#[test]
fn a_spawned_job_wakes_a_sleeping_pool() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..300 {
            let asleep = || {
                let total = pool.stats().total();
                total.sleeps == total.wakes + 2
            };
            spin_until(asleep);
            let (sender, receiver) = mpsc::channel();
            pool.spawn(move || sender.send(()).unwrap());
            receiver.recv().unwrap();
        }
    });
}

#[test]
fn many_threads_can_spawn_into_one_pool() {
    let _watchdog = watchdog();
    for _ in 0..10 {
        let finished = Arc::new(AtomicUsize::new(0));
        let pool = pool(2);
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..500 {
                        let finished = finished.clone();
                        pool.spawn(move || {
                            finished.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
            }
        });
        drop(pool);
        assert_eq!(finished.load(Ordering::Relaxed), 2000);
    }
}
