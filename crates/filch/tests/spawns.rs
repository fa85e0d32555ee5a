//! Spawned jobs: no caller waits for them, and yet they are all run.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;

use common::{build, for_each_kind, in_child, panic_with, pool, spin_until, watchdog, Drops, KINDS};
use filch::{Pool, Yield};

#[test]
fn spawned_jobs_run_wherever_they_are_spawned_from() {
    let _watchdog = watchdog();
    for_each_kind(2, |pool| {
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
    filch::spawn(move || sender.send(filch::index().is_some()).unwrap());
    assert_eq!(receiver.recv(), Ok(true));
}

#[test]
fn a_spawned_job_runs_in_the_pool_it_was_spawned_into() {
    let _watchdog = watchdog();
    let (here, there) = (Arc::new(pool(1)), Arc::new(pool(1)));
    let (sender, receiver) = mpsc::channel();
    here.install(|| {
        let (there, also_there) = (there.clone(), there.clone());
        there.spawn(move || sender.send(also_there.index()).unwrap());
    });
    assert_eq!(receiver.recv(), Ok(Some(0)));
}

#[test]
fn one_worker_runs_what_it_spawned_itself() {
    let _watchdog = watchdog();
    let pool = pool(1);
    let over = Arc::new(AtomicUsize::new(0));
    pool.install(|| {
        for _ in 0..1000 {
            let over = over.clone();
            filch::spawn(move || {
                over.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    spin_until(|| over.load(Ordering::Relaxed) == 1000);
}

#[test]
fn a_pool_that_is_dropped_finishes_what_was_spawned() {
    let _watchdog = watchdog();
    for threads in [1, 2, 4] {
        for (fences, waiting) in KINDS {
            for _ in 0..20 {
                let over = Arc::new(AtomicUsize::new(0));
                let pool = build(Pool::builder().threads(threads).fences(fences).waiting(waiting));
                for _ in 0..100 {
                    let over = over.clone();
                    pool.spawn(move || {
                        over.fetch_add(1, Ordering::Relaxed);
                    });
                }
                drop(pool);
                assert_eq!(over.load(Ordering::Relaxed), 100);
            }
        }
    }
}

#[test]
fn a_pool_that_is_dropped_finishes_what_spawned_jobs_spawn() {
    fn spread(depth: u32, over: &Arc<AtomicUsize>) {
        over.fetch_add(1, Ordering::Relaxed);
        if depth > 0 {
            for _ in 0..2 {
                let over = over.clone();
                filch::spawn(move || spread(depth - 1, &over));
            }
        }
    }
    let _watchdog = watchdog();
    for threads in [1, 2, 4] {
        for _ in 0..20 {
            let over = Arc::new(AtomicUsize::new(0));
            let pool = pool(threads);
            let count = over.clone();
            pool.spawn(move || spread(8, &count));
            drop(pool);
            assert_eq!(over.load(Ordering::Relaxed), 511);
        }
    }
}

#[test]
fn a_pool_that_is_dropped_finishes_joins_and_scopes_of_spawned_jobs() {
    fn tree(depth: u32) -> usize {
        if depth == 0 {
            return 1;
        }
        let (a, b) = filch::join(|| tree(depth - 1), || tree(depth - 1));
        a + b
    }
    let _watchdog = watchdog();
    for _ in 0..50 {
        let over = Arc::new(AtomicUsize::new(0));
        let pool = pool(3);
        for _ in 0..10 {
            let over = over.clone();
            pool.spawn(move || {
                filch::scope(|scope| {
                    scope.spawn(|_| {
                        over.fetch_add(tree(6), Ordering::Relaxed);
                    });
                });
            });
        }
        drop(pool);
        assert_eq!(over.load(Ordering::Relaxed), 640);
    }
}

#[test]
fn a_pool_dropped_by_its_own_worker_finishes_and_ends() {
    let _watchdog = watchdog();
    for threads in [1, 2, 4] {
        for _ in 0..50 {
            let (exits, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let count = exits.clone();
            let pool = Arc::new(build(Pool::builder().threads(threads).on_exit(move |_| {
                count.fetch_add(1, Ordering::SeqCst);
            })));
            let (inner, done, go) = (pool.clone(), over.clone(), Arc::new(AtomicUsize::new(0)));
            let gate = go.clone();
            pool.spawn(move || {
                spin_until(|| gate.load(Ordering::Acquire) == 1);
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
            go.store(1, Ordering::Release);
            spin_until(|| exits.load(Ordering::SeqCst) == threads);
            assert_eq!(over.load(Ordering::SeqCst), 10);
        }
    }
}

#[test]
fn what_a_spawned_job_owns_is_dropped_once() {
    let _watchdog = watchdog();
    let drops = Drops::default();
    let pool = build(Pool::builder().threads(2).on_panic(drop));
    for panics in [false, true] {
        for _ in 0..100 {
            let owned = drops.one();
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
    for (fences, waiting) in KINDS {
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
fn without_a_panic_handler_the_panic_of_a_spawned_job_ends_the_process() {
    let child = in_child("without_a_panic_handler_the_panic_of_a_spawned_job_ends_the_process", &[], || {
        let pool = pool(1);
        pool.spawn(|| panic!("nobody listens"));
        drop(pool);
        println!("still alive");
    });
    let Some(output) = child else { return };
    assert!(!output.status.success());
    assert!(!String::from_utf8_lossy(&output.stdout).contains("still alive"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("no panic handler"), "{said}");
}

#[test]
fn a_panic_handler_that_panics_ends_the_process() {
    let child = in_child("a_panic_handler_that_panics_ends_the_process", &[], || {
        let pool = build(Pool::builder().threads(1).on_panic(|_| panic!("me too")));
        pool.spawn(|| panic!("first"));
        drop(pool);
        println!("still alive");
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
fn a_panic_without_a_handler_ends_the_process_though_stderr_cannot_be_written_to() {
    use std::os::unix::process::ExitStatusExt;

    let test = "a_panic_without_a_handler_ends_the_process_though_stderr_cannot_be_written_to";
    for handler in ["start", "exit"] {
        let child = in_child(test, &[("HANDLER", handler)], || {
            break_stderr();
            let builder = Pool::builder().threads(1);
            let builder = match std::env::var("HANDLER").as_deref() {
                Ok("start") => builder.on_start(|_| panic!("a start handler")),
                _ => builder.on_exit(|_| panic!("an exit handler")),
            };
            drop(build(builder));
            println!("still alive");
        });
        let Some(output) = child else { return };
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{handler}: {}", output.status);
        assert!(!String::from_utf8_lossy(&output.stdout).contains("still alive"), "{handler}");
    }
}

#[test]
fn yield_now_is_for_workers() {
    let _watchdog = watchdog();
    assert_eq!(filch::yield_now(), None);
}

#[test]
fn yield_now_runs_one_waiting_job() {
    let _watchdog = watchdog();
    let pool = pool(1);
    let over = Arc::new(AtomicUsize::new(0));
    pool.install(|| {
        assert_eq!(filch::yield_now(), Some(Yield::Idle));
        for _ in 0..3 {
            let over = over.clone();
            filch::spawn(move || {
                over.fetch_add(1, Ordering::Relaxed);
            });
        }
        for runs in 1..=3 {
            assert_eq!(filch::yield_now(), Some(Yield::Ran));
            assert_eq!(over.load(Ordering::Relaxed), runs);
        }
        assert_eq!(filch::yield_now(), Some(Yield::Idle));
    });
}

#[test]
fn yield_now_inside_a_join_runs_jobs_above_it() {
    let _watchdog = watchdog();
    let pool = pool(1);
    let over = Arc::new(AtomicUsize::new(0));
    let count = over.clone();
    let both = pool.install(move || {
        filch::join(
            || {
                filch::spawn(move || {
                    assert_eq!(filch::join(|| 5, || 6), (5, 6));
                    count.fetch_add(1, Ordering::Relaxed);
                });
                assert_eq!(filch::yield_now(), Some(Yield::Ran));
                1
            },
            || 2,
        )
    });
    assert_eq!((both, over.load(Ordering::Relaxed)), ((1, 2), 1));
}

#[test]
fn a_spawned_job_wakes_a_sleeping_pool() {
    let _watchdog = watchdog();
    for_each_kind(2, |pool| {
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
fn many_threads_spawn_into_one_pool() {
    let _watchdog = watchdog();
    for _ in 0..10 {
        let over = Arc::new(AtomicUsize::new(0));
        let pool = pool(2);
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..500 {
                        let over = over.clone();
                        pool.spawn(move || {
                            over.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
            }
        });
        drop(pool);
        assert_eq!(over.load(Ordering::Relaxed), 2000);
    }
}
