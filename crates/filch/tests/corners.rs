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

use common::{for_each_kind, pool, spin_until, watchdog};
use filch::{Pool, Worker};

fn wait_for(flag: &AtomicBool) {
    spin_until(|| flag.load(Ordering::SeqCst));
}

/// Joins two closures that wait for each other, on top of what runs here.
fn meet() {
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
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the payload of a panic panicked when it was dropped");
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
                    // The second panic is on its way. A scope that it ends early ends meanwhile.
                    thread::sleep(Duration::from_millis(20));
                    finished.store(true, Ordering::SeqCst);
                });
                wait_for(started);
                // This thread runs the youngest first: a panic that is kept, then one that is not.
                scope.spawn(move |_| {
                    panicked.fetch_add(1, Ordering::SeqCst);
                    panic::panic_any(Bomb)
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
fn a_scope_inside_a_task_does_not_hide_the_tasks_forks_from_the_outer_scope() {
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
                meet();
            });
            wait_for(started);
        });
    });
}

#[test]
fn older_jobs_of_the_runner_do_not_bar_the_way_to_what_a_waiter_needs() {
    let _watchdog = watchdog();
    let pool = pool(2);
    let (busy, release) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (task, job) = (AtomicBool::new(false), AtomicBool::new(false));
    pool.install(|| {
        let (is_busy, may_go) = (busy.clone(), release.clone());
        filch::spawn(move || {
            is_busy.store(true, Ordering::SeqCst);
            wait_for(&may_go);
        });
        wait_for(&busy);
        let in_the_way = || ();
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
                                meet();
                            },
                        );
                    });
                    release.store(true, Ordering::SeqCst);
                    wait_for(task);
                });
            },
            in_the_way,
        );
    });
}

#[test]
fn closures_in_one_part_of_a_broadcast_can_wait_for_each_other() {
    let _watchdog = watchdog();
    let pool = pool(2);
    for _ in 0..100 {
        pool.install(|| {
            let caller = filch::index();
            filch::broadcast(|part| {
                if Some(part.index()) != caller {
                    meet();
                }
            });
        });
    }
}

#[test]
fn what_is_lent_inside_a_part_of_a_broadcast_is_lent_back() {
    let _watchdog = watchdog();
    let pool = pool(2);
    for _ in 0..100 {
        let (first, second) = (AtomicBool::new(false), AtomicBool::new(false));
        pool.install(|| {
            let caller = filch::index();
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
                                meet();
                            },
                        );
                    },
                );
            });
        });
    }
}

#[test]
fn closures_in_what_comes_back_from_another_pool_can_wait_for_each_other() {
    let _watchdog = watchdog();
    let (here, there) = (pool(2), pool(1));
    for _ in 0..100 {
        here.install(|| there.install(|| here.install(meet)));
    }
}

#[test]
fn what_a_yield_runs_is_not_lent_to_those_who_wait_for_the_yielder() {
    let _watchdog = watchdog();
    let pool = pool(2);
    let lock: &'static Mutex<()> = Box::leak(Box::new(Mutex::new(())));
    let taken = Arc::new(AtomicBool::new(false));
    let started = AtomicBool::new(false);
    let (holder, runner) = (AtomicUsize::new(usize::MAX), Arc::new(AtomicUsize::new(usize::MAX)));
    pool.install(|| {
        let _held = lock.lock().unwrap();
        holder.store(filch::index().unwrap(), Ordering::SeqCst);
        filch::join(
            || wait_for(&started),
            || {
                let (taken, runner) = (taken.clone(), runner.clone());
                filch::spawn(move || {
                    let wait_a_little = || {
                        (0..20).any(|_| {
                            thread::sleep(Duration::from_millis(1));
                            taken.load(Ordering::SeqCst)
                        })
                    };
                    filch::join(wait_a_little, || {
                        taken.store(true, Ordering::SeqCst);
                        runner.store(filch::index().unwrap(), Ordering::SeqCst);
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
fn a_thread_that_was_a_worker_of_two_pools_is_that_of_the_outer_one_again() {
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
    assert_eq!(outer.install(|| outer.index()), Some(0));
    outer.install(|| outer.install(|| ()));
}

#[test]
fn a_worker_drops_its_pool_while_it_runs_as_a_worker_of_pools_further_in() {
    let _watchdog = watchdog();
    for depth in 1..=3 {
        let (ended, has_ended) = mpsc::channel();
        let builder = Pool::builder().threads(1).on_exit(move |_| ended.send(()).unwrap());
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
        let (dropped, is_dropped) = mpsc::channel();
        inner.last().unwrap().spawn(move || {
            drop(Arc::into_inner(outer).expect("the last handle"));
            dropped.send(()).unwrap();
        });
        is_dropped.recv().unwrap();
        // The thread leaves from the inside out, and then its first pool too.
        inner.into_iter().rev().for_each(drop);
        has_ended.recv().unwrap();
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
fn an_outer_worker_that_finds_its_way_into_a_forked_closure_is_refused() {
    let _watchdog = watchdog();
    let pool = pool(2);
    let outcome = pool.with_worker(|worker| {
        lend(worker, || {
            filch::with_worker(|inner| {
                let misuse = || panic::catch_unwind(|| borrow(|outer| outer.join(|_| 1, |_| 2)));
                inner.join(|_| misuse(), |_| ()).0
            })
        })
    });
    let payload = outcome.unwrap_err();
    let message = payload.downcast_ref::<&str>().expect("a sentence");
    assert!(message.contains("a worker was used inside a closure that it has forked"), "{message}");
}

#[test]
fn tasks_of_an_in_place_scope_that_come_back_are_run_by_the_worker_that_waits_for_them() {
    let _watchdog = watchdog();
    for_each_kind(1, |here| {
        for_each_kind(1, |there| {
            let over = AtomicUsize::new(0);
            here.install(|| {
                there.install(|| {
                    here.in_place_scope(|scope| {
                        for _ in 0..3 {
                            scope.spawn(|scope| {
                                scope.spawn(|_| {
                                    over.fetch_add(1, Ordering::Relaxed);
                                });
                            });
                        }
                    });
                });
            });
            assert_eq!(over.into_inner(), 3);
        });
    });
}

#[test]
fn the_owner_of_a_scope_helps_with_what_its_broadcast_forks() {
    let _watchdog = watchdog();
    for_each_kind(2, |pool| {
        for _ in 0..20 {
            pool.scope(|scope| {
                let owner = filch::index();
                scope.spawn_broadcast(move |_, part| {
                    if Some(part.index()) != owner {
                        meet();
                    }
                });
            });
        }
    });
}

#[test]
fn who_waits_for_a_closure_that_yields_helps_with_what_the_yield_runs() {
    let _watchdog = watchdog();
    for_each_kind(2, |pool| {
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
                            meet();
                            done.store(true, Ordering::Release);
                        },
                    );
                },
            );
        }
    });
}

#[test]
fn the_owner_of_a_scope_helps_with_a_task_that_a_yield_runs_elsewhere() {
    let _watchdog = watchdog();
    for_each_kind(2, |pool| {
        for _ in 0..20 {
            let (up, over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
            let (is_up, is_over) = (up.clone(), over.clone());
            pool.spawn(move || {
                let poll = || {
                    is_up.store(true, Ordering::Release);
                    while !is_over.load(Ordering::Acquire) {
                        filch::yield_now();
                    }
                };
                filch::join(poll, || ());
            });
            spin_until(|| up.load(Ordering::Acquire));
            let taken = AtomicBool::new(false);
            pool.scope(|scope| {
                scope.spawn(|_| {
                    taken.store(true, Ordering::Release);
                    meet();
                });
                spin_until(|| taken.load(Ordering::Acquire));
            });
            over.store(true, Ordering::Release);
        }
    });
}

#[test]
fn the_owner_of_a_scope_helps_with_scopes_inside_of_its_tasks() {
    let _watchdog = watchdog();
    for_each_kind(2, |pool| {
        for _ in 0..20 {
            let taken = AtomicBool::new(false);
            pool.scope(|scope| {
                scope.spawn(|_| {
                    taken.store(true, Ordering::Release);
                    filch::scope(|inner| inner.spawn(|_| meet()));
                });
                spin_until(|| taken.load(Ordering::Acquire));
            });
        }
    });
}

#[test]
fn a_worker_at_a_scopes_end_sets_tasks_of_others_aside_and_none_is_lost() {
    let _watchdog = watchdog();
    for threads in [1, 2, 3] {
        for_each_kind(threads, |pool| {
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
fn what_a_part_of_a_broadcast_opens_finds_nobody_to_call_where_the_scope_is_waited_for_outside() {
    let _watchdog = watchdog();
    for_each_kind(2, |pool| {
        let over = AtomicUsize::new(0);
        pool.in_place_scope(|scope| {
            scope.spawn_broadcast(|_, _| {
                filch::scope(|inner| {
                    inner.spawn(|_| {
                        over.fetch_add(1, Ordering::Relaxed);
                    });
                });
            });
        });
        assert_eq!(over.into_inner(), 2);
    });
}
