//! Workers that yield.

mod common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::Arc;

use common::{for_each_pool_kind, watchdog};
use filch::Yield;

#[test]
fn yield_local_outside_of_a_pool_does_nothing() {
    let _watchdog = watchdog();
    assert_eq!((filch::yield_local(), filch::has_pending()), (None, None));
}

#[test]
fn a_closure_that_yields_until_the_other_has_run_ends_on_one_worker() {
    let _watchdog = watchdog();
    for yield_fn in [filch::yield_now, filch::yield_local] {
        for_each_pool_kind(1, |pool| {
            let ready = AtomicBool::new(false);
            let (polls, other) = pool.join(
                || {
                    let mut polls = 0;
                    while !ready.load(Ordering::Relaxed) {
                        assert_eq!(filch::has_pending(), Some(true));
                        assert_eq!(yield_fn(), Some(Yield::Executed));
                        polls += 1;
                    }
                    assert_eq!((filch::has_pending(), yield_fn()), (Some(false), Some(Yield::Idle)));
                    polls
                },
                || {
                    ready.store(true, Ordering::Relaxed);
                    "other"
                },
            );
            assert_eq!((polls, other), (1, "other"));
        });
    }
}

/// Spawns a job that spawns itself again until it is told to stop.
fn spawn_job_again(stop: Arc<AtomicBool>) {
    if !stop.load(Ordering::Relaxed) {
        filch::spawn(move || spawn_job_again(stop));
    }
}

#[test]
fn a_broadcast_does_not_wait_for_ever_for_work_that_spawns_itself_again() {
    let _watchdog = watchdog();
    for yield_fn in [filch::yield_now, filch::yield_local] {
        for_each_pool_kind(1, |pool| {
            for is_stray in [true, false] {
                let (stop, seen) = (AtomicBool::new(false), Arc::new(AtomicBool::new(false)));
                let told = Arc::clone(&seen);
                pool.scope(|outer| {
                    filch::scope(|inner| {
                        spawn_again(if is_stray { outer } else { inner }, &stop);
                        filch::spawn_broadcast(move |_| told.store(true, Ordering::Relaxed));
                        while !seen.load(Ordering::Relaxed) {
                            yield_fn();
                        }
                        stop.store(true, Ordering::Relaxed);
                    });
                });
            }
        });
    }
}

#[test]
fn a_broadcast_in_a_wait_for_any_work_does_not_wait_for_ever_either() {
    fn spawn_below<'scope>(scope: &filch::Scope<'scope>, stop: &'scope AtomicBool) {
        if !stop.load(Ordering::Relaxed) {
            filch::scope(|_| scope.spawn(move |scope| spawn_below(scope, stop)));
        }
    }
    let _watchdog = watchdog();
    for_each_pool_kind(1, |pool| {
        let stop = Arc::new(AtomicBool::new(false));
        pool.install(|| {
            spawn_job_again(Arc::clone(&stop));
            filch::broadcast(|_| ());
            stop.store(true, Ordering::Relaxed);
        });
        // Each task is a stray that the wait for the scope needs.
        let (stop, stopper) = (AtomicBool::new(false), Arc::new(AtomicBool::new(false)));
        let told = Arc::clone(&stopper);
        pool.scope(|scope| {
            filch::spawn_broadcast(move |_| told.store(true, Ordering::Relaxed));
            let stop = &stop;
            scope.spawn(move |scope| spawn_below(scope, stop));
            scope.spawn(move |scope| relay(scope, stop, stopper));
        });
    });
}

/// Sets `stop` when `stopper` is set, and spawns itself again until then.
fn relay<'scope>(scope: &filch::Scope<'scope>, stop: &'scope AtomicBool, stopper: Arc<AtomicBool>) {
    match stopper.load(Ordering::Relaxed) {
        true => stop.store(true, Ordering::Relaxed),
        false => filch::scope(|_| scope.spawn(move |scope| relay(scope, stop, stopper))),
    }
}

#[test]
fn a_worker_that_yields_runs_mail_after_its_own_work() {
    let _watchdog = watchdog();
    for yield_fn in [filch::yield_now, filch::yield_local] {
        for_each_pool_kind(1, |pool| {
            let (sender, order) = channel();
            let send = |what: &'static str| {
                let sender = sender.clone();
                move || sender.send(what).unwrap()
            };
            pool.scope(|outer| {
                filch::scope(|inner| {
                    let [mail, stray, task, job] = ["mail", "own", "own", "own"].map(send);
                    filch::spawn_broadcast(move |_| mail());
                    outer.spawn(move |_| stray());
                    inner.spawn(move |_| task());
                    filch::spawn(job);
                    while yield_fn() == Some(Yield::Executed) {}
                });
            });
            drop(sender);
            assert_eq!(order.iter().collect::<Vec<_>>(), ["own", "own", "own", "mail"]);
        });
    }
}

#[test]
fn yield_local_runs_every_forked_job_of_outer_joins() {
    fn nest(depth: u32, finished: &AtomicUsize) -> u64 {
        if depth == 0 {
            while filch::yield_local() == Some(Yield::Executed) {}
            return 1;
        }
        let (a, b) = filch::join(
            || nest(depth - 1, finished),
            || {
                finished.fetch_add(1, Ordering::Relaxed);
                // What a yielded job forks is a join like any other.
                filch::join(|| 1, || 1).0
            },
        );
        a + b
    }
    let _watchdog = watchdog();
    for threads in [1, 2, 3] {
        for_each_pool_kind(threads, |pool| {
            for depth in [1, 2, 3, 50] {
                let finished = AtomicUsize::new(0);
                assert_eq!(pool.install(|| nest(depth, &finished)), u64::from(depth) + 1);
                assert_eq!(finished.into_inner(), depth as usize);
            }
        });
    }
}

#[test]
fn yield_local_runs_only_jobs_and_tasks_of_the_worker() {
    let _watchdog = watchdog();
    for_each_pool_kind(1, |pool| {
        let (sender, receiver) = channel();
        pool.install(|| {
            // From outside: not for a worker that looks only at its own jobs.
            std::thread::scope(|threads| {
                let from_outside = sender.clone();
                threads.spawn(move || pool.spawn(move || from_outside.send("outside").unwrap()));
            });
            assert_eq!(filch::yield_local(), Some(Yield::Idle));
            let spawned = sender.clone();
            filch::spawn(move || spawned.send("spawned").unwrap());
            let task = sender.clone();
            filch::scope(|scope| {
                scope.spawn(move |_| task.send("task").unwrap());
                assert_eq!(filch::has_pending(), Some(true));
                assert_eq!(
                    (filch::yield_local(), filch::yield_local()),
                    (Some(Yield::Executed), Some(Yield::Executed))
                );
            });
            assert_eq!(filch::yield_local(), Some(Yield::Idle));
        });
        drop(sender);
        let mut order: Vec<_> = receiver.iter().collect();
        order.sort_unstable();
        assert_eq!(order, ["outside", "spawned", "task"]);
    });
}

#[test]
fn workers_that_yield_until_all_tasks_have_begun_end() {
    let _watchdog = watchdog();
    for threads in [1, 2, 3] {
        for_each_pool_kind(threads, |pool| {
            for _ in 0..50 {
                let arrived = AtomicUsize::new(0);
                let yield_until = |count: usize| {
                    arrived.fetch_add(1, Ordering::AcqRel);
                    while arrived.load(Ordering::Acquire) < count {
                        filch::yield_now();
                    }
                };
                pool.scope(|scope| {
                    for _ in 0..6 {
                        scope.spawn(|_| yield_until(6));
                    }
                });
                assert_eq!(arrived.into_inner(), 6);
            }
        });
    }
}

#[test]
fn yield_local_runs_a_task_for_an_outer_scope() {
    let _watchdog = watchdog();
    for (fences, waiting) in common::POOL_KINDS {
        let pool = common::build(filch::Pool::builder().threads(1).fences(fences).waiting(waiting));
        let ready = AtomicBool::new(false);
        pool.scope(|outer| {
            filch::scope(|_| {
                outer.spawn(|_| ready.store(true, Ordering::Release));
                assert_eq!(filch::has_pending(), Some(true));
                while !ready.load(Ordering::Acquire) {
                    filch::yield_local();
                }
            });
        });
    }
}

#[test]
fn a_task_for_an_outer_scope_does_not_wait_for_a_job_that_spawns_itself_again() {
    fn spawn_again(stop: std::sync::Arc<AtomicBool>) {
        if !stop.load(Ordering::Acquire) {
            filch::spawn(move || spawn_again(stop));
        }
    }
    let _watchdog = watchdog();
    for yield_fn in [filch::yield_now, filch::yield_local] {
        let pool = common::build(filch::Pool::builder().threads(1));
        let (ready, stop) = (AtomicBool::new(false), std::sync::Arc::new(AtomicBool::new(false)));
        pool.scope(|outer| {
            filch::scope(|_| {
                spawn_again(stop.clone());
                outer.spawn(|_| ready.store(true, Ordering::Release));
                while !ready.load(Ordering::Acquire) {
                    yield_fn();
                }
            });
        });
        stop.store(true, Ordering::Release);
    }
}

/// Spawns itself again until `stop` is set.
fn spawn_again<'scope>(scope: &filch::Scope<'scope>, stop: &'scope AtomicBool) {
    if !stop.load(Ordering::Acquire) {
        scope.spawn(move |scope| spawn_again(scope, stop));
    }
}

#[test]
fn a_yield_runs_one_task_and_not_the_tasks_that_it_spawns() {
    let _watchdog = watchdog();
    for yield_fn in [filch::yield_now, filch::yield_local] {
        for (fences, waiting) in common::POOL_KINDS {
            let pool = common::build(filch::Pool::builder().threads(1).fences(fences).waiting(waiting));
            let stop = AtomicBool::new(false);
            pool.scope(|outer| {
                filch::scope(|_| {
                    outer.spawn(|scope| spawn_again(scope, &stop));
                    (0..5).for_each(|_| assert_eq!(yield_fn(), Some(Yield::Executed)));
                    stop.store(true, Ordering::Release);
                });
            });
        }
    }
}

#[test]
fn a_task_for_an_outer_scope_does_not_wait_for_a_task_that_spawns_itself_again() {
    let _watchdog = watchdog();
    for yield_fn in [filch::yield_now, filch::yield_local] {
        let pool = common::build(filch::Pool::builder().threads(1));
        let (ready, stop) = (AtomicBool::new(false), AtomicBool::new(false));
        pool.scope(|outer| {
            filch::scope(|inner| {
                inner.spawn(|scope| spawn_again(scope, &stop));
                outer.spawn(|_| ready.store(true, Ordering::Release));
                while !ready.load(Ordering::Acquire) {
                    yield_fn();
                }
                stop.store(true, Ordering::Release);
            });
        });
    }
}

#[test]
fn yield_local_runs_a_task_that_a_stolen_closure_spawned_into_the_outer_scope() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        let (ready, done) = (AtomicBool::new(false), AtomicBool::new(false));
        pool.scope(|scope| {
            filch::join(
                || common::spin_until(|| done.load(Ordering::Acquire)),
                || {
                    scope.spawn(|_| ready.store(true, Ordering::Release));
                    assert_eq!(filch::has_pending(), Some(true));
                    while !ready.load(Ordering::Acquire) {
                        filch::yield_local();
                    }
                    done.store(true, Ordering::Release);
                },
            );
        });
    });
}

/// Spawns itself again, as [`spawn_again`] does, and each time spawns a stray of another scope.
fn spawn_again_with_a_stray<'scope>(scope: &filch::Scope<'scope>, stop: &'scope AtomicBool) {
    if !stop.load(Ordering::Acquire) {
        scope.spawn(move |scope| spawn_again_with_a_stray(scope, stop));
        filch::scope(|inner| filch::scope(|_| inner.spawn(|_| ())));
    }
}

#[test]
fn a_task_for_an_outer_scope_does_not_wait_for_a_task_of_another_scope_that_spawns_itself_again() {
    type SpawnAgain = for<'a, 'scope> fn(&'a filch::Scope<'scope>, &'scope AtomicBool);
    let _watchdog = watchdog();
    for spawns_again in [spawn_again as SpawnAgain, spawn_again_with_a_stray] {
        for yield_fn in [filch::yield_now, filch::yield_local] {
            let pool = common::build(filch::Pool::builder().threads(1));
            let stop = AtomicBool::new(false);
            pool.scope(|first| {
                filch::scope(|second| {
                    filch::scope(|_| {
                        first.spawn(|scope| spawns_again(scope, &stop));
                        second.spawn(|_| stop.store(true, Ordering::Release));
                        while !stop.load(Ordering::Acquire) {
                            yield_fn();
                        }
                    });
                });
            });
        }
    }
}

#[test]
fn a_spawned_job_does_not_wait_for_a_task_that_spawns_itself_again() {
    let _watchdog = watchdog();
    for yield_fn in [filch::yield_now, filch::yield_local] {
        let pool = common::build(filch::Pool::builder().threads(1));
        let stop = std::sync::Arc::new(AtomicBool::new(false));
        pool.scope(|outer| {
            filch::scope(|_| {
                outer.spawn(|scope| spawn_again(scope, &stop));
                let stop_in_job = stop.clone();
                filch::spawn(move || stop_in_job.store(true, Ordering::Release));
                while !stop.load(Ordering::Acquire) {
                    yield_fn();
                }
            });
        });
    }
}
