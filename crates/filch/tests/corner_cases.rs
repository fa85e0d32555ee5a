//! Corner cases in which a wait, a panic or a thread's identity could go wrong. Each was found by
//! reading the code rather than by running it.

mod common;

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use common::{for_each_pool_kind, pool, spin_until, watchdog};
use filch::{Pool, Worker};

fn wait_for(flag: &AtomicBool) {
    spin_until(|| flag.load(Ordering::SeqCst));
}

/// Joins two closures that wait for each other, on top of what runs here.
fn join_waiting_closures() {
    let barrier = Barrier::new(2);
    filch::join(
        || {
            barrier.wait();
        },
        || {
            barrier.wait();
        },
    );
}

/// The payload of a panic, whose drop panics in turn.
struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("panic in the drop of a payload");
    }
}

#[test]
fn a_payload_that_panics_when_dropped_does_not_end_a_scope_early() {
    let _watchdog = watchdog();
    let pool = pool(2);
    let (started, finished, panicked) = (AtomicBool::new(false), AtomicBool::new(false), AtomicUsize::new(0));
    pool.install(|| {
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
            let (started, finished, panicked) = (&started, &finished, &panicked);
            filch::scope(|scope| {
                scope.spawn(move |_| {
                    started.store(true, Ordering::SeqCst);
                    spin_until(|| panicked.load(Ordering::SeqCst) == 2);
                    // Gives the second panic time to end the scope early, if it can.
                    thread::sleep(Duration::from_millis(20));
                    finished.store(true, Ordering::SeqCst);
                });
                wait_for(started);
                // This thread runs the youngest first: a panic that is kept, then one that is not.
                scope.spawn(move |_| {
                    panicked.fetch_add(1, Ordering::SeqCst);
                    panic::panic_any(PanicsOnDrop)
                });
                scope.spawn(move |_| {
                    panicked.fetch_add(1, Ordering::SeqCst);
                    panic::panic_any("the first")
                });
            });
        }));
        assert!(finished.load(Ordering::SeqCst), "the scope ended before its task");
        assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"the first"));
    });
}

#[test]
fn a_scope_inside_a_task_does_not_hide_forks_of_the_task_from_the_outer_scope() {
    let _watchdog = watchdog();
    let pool = pool(2);
    let started = AtomicBool::new(false);
    pool.install(|| {
        let started = &started;
        filch::scope(|outer| {
            outer.spawn(move |_| {
                started.store(true, Ordering::SeqCst);
                filch::scope(|inner| {
                    inner.spawn(|_| {
                        // Long enough for the other worker to sleep in its wait. If it does not,
                        // the claim still holds.
                        thread::sleep(Duration::from_millis(20));
                        filch::join(|| (), || ());
                        filch::join(|| (), || ());
                    });
                });
                join_waiting_closures();
            });
            wait_for(started);
        });
    });
}

#[test]
fn older_jobs_do_not_block_the_jobs_that_a_waiting_worker_needs() {
    let _watchdog = watchdog();
    let pool = pool(2);
    let (busy, release) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (task, job) = (AtomicBool::new(false), AtomicBool::new(false));
    pool.install(|| {
        let (busy_in_job, release_in_job) = (busy.clone(), release.clone());
        filch::spawn(move || {
            busy_in_job.store(true, Ordering::SeqCst);
            wait_for(&release_in_job);
        });
        wait_for(&busy);
        let older_job = || ();
        filch::join(
            || {
                let (task, job) = (&task, &job);
                filch::scope(|scope| {
                    scope.spawn(move |_| {
                        task.store(true, Ordering::SeqCst);
                        filch::join(
                            || wait_for(job),
                            move || {
                                job.store(true, Ordering::SeqCst);
                                join_waiting_closures();
                            },
                        );
                    });
                    release.store(true, Ordering::SeqCst);
                    wait_for(task);
                });
            },
            older_job,
        );
    });
}

#[test]
fn closures_in_one_part_of_a_broadcast_can_wait_for_each_other() {
    let _watchdog = watchdog();
    let pool = pool(2);
    for _ in 0..100 {
        pool.install(|| {
            let caller = filch::current_thread_index();
            filch::broadcast(|part| {
                if Some(part.index()) != caller {
                    join_waiting_closures();
                }
            });
        });
    }
}

#[test]
fn jobs_stolen_back_and_forth_inside_a_part_of_a_broadcast_run() {
    let _watchdog = watchdog();
    let pool = pool(2);
    for _ in 0..100 {
        let (first, second) = (AtomicBool::new(false), AtomicBool::new(false));
        pool.install(|| {
            let caller = filch::current_thread_index();
            filch::broadcast(|part| {
                if Some(part.index()) != caller {
                    return;
                }
                // The other worker takes the outer second closure, this one takes the second
                // closure of that, and the other one takes a part of that.
                filch::join(
                    || wait_for(&first),
                    || {
                        first.store(true, Ordering::SeqCst);
                        filch::join(
                            || wait_for(&second),
                            || {
                                second.store(true, Ordering::SeqCst);
                                join_waiting_closures();
                            },
                        );
                    },
                );
            });
        });
    }
}

#[test]
fn closures_in_an_install_back_from_another_pool_can_wait_for_each_other() {
    let _watchdog = watchdog();
    let (here, there) = (pool(2), pool(1));
    for _ in 0..100 {
        here.install(|| there.install(|| here.install(join_waiting_closures)));
    }
}

#[test]
fn jobs_forked_inside_a_yield_are_not_taken_by_a_worker_that_waits_for_the_yielding_one() {
    let _watchdog = watchdog();
    let pool = pool(2);
    let lock: &'static Mutex<()> = Box::leak(Box::new(Mutex::new(())));
    let taken = Arc::new(AtomicBool::new(false));
    let started = AtomicBool::new(false);
    let (holder, runner) = (AtomicUsize::new(usize::MAX), Arc::new(AtomicUsize::new(usize::MAX)));
    pool.install(|| {
        let _guard = lock.lock().unwrap();
        holder.store(filch::current_thread_index().unwrap(), Ordering::SeqCst);
        filch::join(
            || wait_for(&started),
            || {
                let (taken, runner) = (taken.clone(), runner.clone());
                filch::spawn(move || {
                    let wait_up_to_20_ms = || {
                        (0..20).any(|_| {
                            thread::sleep(Duration::from_millis(1));
                            taken.load(Ordering::SeqCst)
                        })
                    };
                    filch::join(wait_up_to_20_ms, || {
                        taken.store(true, Ordering::SeqCst);
                        runner.store(filch::current_thread_index().unwrap(), Ordering::SeqCst);
                    });
                });
                started.store(true, Ordering::SeqCst);
                filch::yield_now();
            },
        );
    });
    drop(pool);
    assert!(taken.load(Ordering::SeqCst));
    assert_ne!(runner.load(Ordering::SeqCst), holder.load(Ordering::SeqCst));
}

#[test]
fn a_thread_that_leaves_an_inner_pool_is_a_worker_of_the_outer_pool_again() {
    let _watchdog = watchdog();
    let outer = Arc::new(pool(1));
    let host = outer.clone();
    let spawner = move |thread: filch::Thread| {
        host.spawn(move || thread.run());
        Ok(())
    };
    let inner = Pool::builder().threads(1).spawner(spawner).build().unwrap();
    assert_eq!(inner.install(|| 1), 1);
    drop(inner);
    assert_eq!(outer.install(|| outer.current_thread_index()), Some(0));
    outer.install(|| outer.install(|| ()));
}

#[test]
fn a_worker_can_drop_its_pool_while_it_is_a_worker_of_nested_pools() {
    let _watchdog = watchdog();
    for depth in 1..=3 {
        let (exit_sender, exit_receiver) = mpsc::channel();
        let builder = Pool::builder().threads(1).on_exit(move |_| exit_sender.send(()).unwrap());
        let outer = Arc::new(builder.build().unwrap());
        // The single thread of `outer` becomes the worker of each of these, one inside the other.
        let mut inner = vec![];
        for _ in 0..depth {
            let host = inner.last().unwrap_or(&outer).clone();
            let spawner = move |thread: filch::Thread| {
                host.spawn(move || thread.run());
                Ok(())
            };
            inner.push(Arc::new(Pool::builder().threads(1).spawner(spawner).build().unwrap()));
        }
        let (drop_sender, drop_receiver) = mpsc::channel();
        inner.last().unwrap().spawn(move || {
            drop(Arc::into_inner(outer).expect("this must be the last handle"));
            drop_sender.send(()).unwrap();
        });
        drop_receiver.recv().unwrap();
        // The thread leaves from the inside out, and then its first pool too.
        inner.into_iter().rev().for_each(drop);
        exit_receiver.recv().unwrap();
    }
}

thread_local! {
    static LENT: Cell<*mut Worker> = const { Cell::new(ptr::null_mut()) };
}

/// Lends a worker to the code on this thread. Crates for scoped thread-local variables do the same.
fn lend<R>(worker: &mut Worker, f: impl FnOnce() -> R) -> R {
    LENT.set(worker);
    let result = f();
    LENT.set(ptr::null_mut());
    result
}

fn borrow<R>(f: impl FnOnce(&mut Worker) -> R) -> R {
    // SAFETY: lent by a frame below, and to no other code.
    f(unsafe { &mut *LENT.get() })
}

#[test]
fn using_an_outer_worker_inside_a_forked_closure_panics() {
    let _watchdog = watchdog();
    let pool = pool(2);
    let outcome = pool.with_worker(|worker| {
        lend(worker, || {
            filch::with_worker(|inner| {
                let use_outer_worker = || panic::catch_unwind(|| borrow(|outer| outer.join(|_| 1, |_| 2)));
                inner.join(|_| use_outer_worker(), |_| ()).0
            })
        })
    });
    let payload = outcome.unwrap_err();
    let message = payload.downcast_ref::<&str>().expect("the payload is not a message");
    assert!(message.contains("a worker was used inside a closure that it has forked"), "{message}");
}

#[test]
fn tasks_of_an_in_place_scope_in_the_waiting_workers_own_pool_run() {
    let _watchdog = watchdog();
    for_each_pool_kind(1, |here| {
        for_each_pool_kind(1, |there| {
            let finished = AtomicUsize::new(0);
            here.install(|| {
                there.install(|| {
                    here.in_place_scope(|scope| {
                        for _ in 0..3 {
                            scope.spawn(|scope| {
                                scope.spawn(|_| {
                                    finished.fetch_add(1, Ordering::Relaxed);
                                });
                            });
                        }
                    });
                });
            });
            assert_eq!(finished.into_inner(), 3);
        });
    });
}

#[test]
fn the_owner_of_a_scope_runs_jobs_that_its_broadcast_forks() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..20 {
            pool.scope(|scope| {
                let owner = filch::current_thread_index();
                scope.spawn_broadcast(move |_, part| {
                    if Some(part.index()) != owner {
                        join_waiting_closures();
                    }
                });
            });
        }
    });
}

#[test]
fn a_worker_that_waits_for_a_yielding_closure_runs_jobs_forked_in_the_yield() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..20 {
            let (taken, done) = (AtomicBool::new(false), AtomicBool::new(false));
            pool.join(
                || spin_until(|| taken.load(Ordering::Acquire)),
                || {
                    taken.store(true, Ordering::Release);
                    filch::join(
                        || {
                            while !done.load(Ordering::Acquire) {
                                // Not only to its own jobs: the other worker may have taken the job
                                // below, and wait for this worker.
                                filch::yield_now();
                            }
                        },
                        || {
                            join_waiting_closures();
                            done.store(true, Ordering::Release);
                        },
                    );
                },
            );
        }
    });
}

#[test]
fn the_owner_of_a_scope_runs_jobs_of_its_task_in_a_yield_of_another_worker() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..20 {
            let (polls, finished) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
            let (polls_in_job, finished_in_job) = (polls.clone(), finished.clone());
            pool.spawn(move || {
                let poll = || {
                    polls_in_job.store(true, Ordering::Release);
                    while !finished_in_job.load(Ordering::Acquire) {
                        filch::yield_now();
                    }
                };
                filch::join(poll, || ());
            });
            spin_until(|| polls.load(Ordering::Acquire));
            let taken = AtomicBool::new(false);
            pool.scope(|scope| {
                scope.spawn(|_| {
                    taken.store(true, Ordering::Release);
                    join_waiting_closures();
                });
                spin_until(|| taken.load(Ordering::Acquire));
            });
            finished.store(true, Ordering::Release);
        }
    });
}

#[test]
fn the_owner_of_a_scope_runs_tasks_of_scopes_inside_its_tasks() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..20 {
            let taken = AtomicBool::new(false);
            pool.scope(|scope| {
                scope.spawn(|_| {
                    taken.store(true, Ordering::Release);
                    filch::scope(|inner| inner.spawn(|_| join_waiting_closures()));
                });
                spin_until(|| taken.load(Ordering::Acquire));
            });
        }
    });
}

#[test]
fn a_worker_at_the_end_of_a_scope_loses_no_tasks_of_other_scopes() {
    let _watchdog = watchdog();
    for threads in [1, 2, 3] {
        for_each_pool_kind(threads, |pool| {
            for _ in 0..20 {
                let (outside, inside) = (AtomicUsize::new(0), AtomicUsize::new(0));
                pool.scope(|outer| {
                    for _ in 0..8 {
                        filch::scope(|inner| {
                            for _ in 0..8 {
                                inner.spawn(|_| {
                                    inside.fetch_add(1, Ordering::Relaxed);
                                });
                                // On top of the tasks of the inner scope, in the same deque.
                                outer.spawn(|_| {
                                    outside.fetch_add(1, Ordering::Relaxed);
                                });
                            }
                        });
                        assert_eq!(inside.load(Ordering::Relaxed) % 8, 0);
                    }
                });
                assert_eq!((outside.into_inner(), inside.into_inner()), (64, 64));
            }
        });
    }
}

#[test]
fn a_scope_inside_a_broadcast_of_a_scope_that_no_worker_waits_for_ends() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        let finished = AtomicUsize::new(0);
        pool.in_place_scope(|scope| {
            scope.spawn_broadcast(|_, _| {
                filch::scope(|inner| {
                    inner.spawn(|_| {
                        finished.fetch_add(1, Ordering::Relaxed);
                    });
                });
            });
        });
        assert_eq!(finished.into_inner(), 2);
    });
}
