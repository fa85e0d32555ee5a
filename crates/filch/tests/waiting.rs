//! What a worker runs while it waits. Under the strict policy, it runs only what its wait needs.

mod common;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use common::{build, flag, is_set, pool, set, spin_until, spins_until, watchdog, Meeting, KINDS};
use filch::{Pool, Waiting};

thread_local! {
    /// The number of frames of this thread that must not be entered again above them.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// Runs `f`, during which this thread must not run code that calls [`is_inside`].
fn inside<R>(f: impl FnOnce() -> R) -> R {
    INSIDE.set(INSIDE.get() + 1);
    let result = f();
    INSIDE.set(INSIDE.get() - 1);
    result
}

fn is_inside() -> bool {
    INSIDE.get() > 0
}

/// Runs `f` on pools of each kind that is strict inside.
fn for_each_strict(threads: usize, f: impl Fn(&Pool)) {
    for (fences, waiting) in KINDS.into_iter().filter(|kind| kind.1 != Waiting::Any) {
        f(&build(Pool::builder().threads(threads).fences(fences).waiting(waiting)));
    }
}

fn tree(depth: u32, leaf: &(dyn Fn() + Sync)) {
    if depth == 0 {
        leaf();
    } else {
        filch::join(|| tree(depth - 1, leaf), || tree(depth - 1, leaf));
    }
}

#[test]
fn the_strict_policy_is_the_default() {
    assert_eq!(Waiting::default(), Waiting::Strict);
}

#[test]
fn a_mutex_held_across_a_join_never_meets_itself() {
    let _watchdog = watchdog();
    for threads in [2, 4] {
        for_each_strict(threads, |pool| {
            let total = Mutex::new(0u64);
            let rounds = 20;
            for _ in 0..rounds {
                pool.install(|| {
                    // Each of the leaves wants the lock, and forks while it has it.
                    tree(6, &|| {
                        let mut total = total.lock().unwrap();
                        let (a, b) = filch::join(
                            || {
                                let sum = AtomicUsize::new(0);
                                tree(4, &|| {
                                    sum.fetch_add(1, Ordering::Relaxed);
                                });
                                sum.into_inner() as u64
                            },
                            || 1,
                        );
                        *total += a + b;
                    });
                });
            }
            assert_eq!(total.into_inner().unwrap(), rounds * 64 * 17);
        });
    }
}

#[test]
fn a_mutex_held_across_a_scope_never_meets_itself() {
    let _watchdog = watchdog();
    for_each_strict(3, |pool| {
        let total = Mutex::new(0usize);
        for _ in 0..20 {
            pool.scope(|outer| {
                for _ in 0..16 {
                    outer.spawn(|_| {
                        let mut total = total.lock().unwrap();
                        let inner_total = AtomicUsize::new(0);
                        filch::scope(|inner| {
                            for _ in 0..4 {
                                inner.spawn(|_| {
                                    tree(3, &|| {
                                        inner_total.fetch_add(1, Ordering::Relaxed);
                                    });
                                });
                            }
                        });
                        *total += inner_total.into_inner();
                    });
                }
            });
        }
        assert_eq!(total.into_inner().unwrap(), 20 * 16 * 4 * 8);
    });
}

#[test]
fn a_mutex_held_across_an_install_never_meets_itself() {
    let _watchdog = watchdog();
    let (here, there) = (pool(2), pool(1));
    let total = Mutex::new(0usize);
    for _ in 0..50 {
        here.scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|_| {
                    let mut total = total.lock().unwrap();
                    // To the other pool, back, and joins on both sides.
                    *total += there.install(|| {
                        let (a, b) = filch::join(|| here.install(|| filch::join(|| 1, || 2)), || 3);
                        a.0 + a.1 + b
                    });
                });
            }
        });
    }
    assert_eq!(total.into_inner().unwrap(), 50 * 8 * 6);
}

/// Waits long enough for a worker to fall asleep, or for the test to fail.
fn patience(so: impl Fn() -> bool) -> bool {
    spins_until(Duration::from_millis(20), so)
}

#[test]
fn a_worker_that_waits_for_a_stolen_job_leaves_unrelated_spawns_alone() {
    let _watchdog = watchdog();
    for_each_strict(2, |pool| {
        for _ in 0..20 {
            let (ran, meeting) = (leak(AtomicUsize::new(0)), Meeting::of(2));
            pool.install(|| {
                inside(|| {
                    filch::join(
                        || {
                            meeting.attend();
                            // On this worker's own queue.
                            filch::spawn(|| {
                                ran.fetch_add(if is_inside() { 1000 } else { 1 }, Ordering::AcqRel);
                            });
                        },
                        || {
                            meeting.attend();
                            patience(|| ran.load(Ordering::Acquire) != 0);
                        },
                    );
                });
            });
            spin_until(|| ran.load(Ordering::Acquire) != 0);
            assert_eq!(ran.load(Ordering::Acquire), 1);
        }
    });
}

#[test]
fn a_join_does_not_wait_for_unrelated_spawned_work() {
    let _watchdog = watchdog();
    for_each_strict(2, |pool| {
        for _ in 0..100 {
            let (open, over) = (leak(AtomicBool::new(false)), leak(AtomicBool::new(false)));
            let meeting = Meeting::of(2);
            pool.install(|| {
                filch::join(
                    || {
                        meeting.attend();
                        filch::spawn(|| {
                            spin_until(|| open.load(Ordering::Acquire));
                            over.store(true, Ordering::Release);
                        });
                    },
                    || {
                        meeting.attend();
                        // Its owner waits now, or soon.
                        tree(6, &|| ());
                    },
                );
            });
            // Whichever worker runs the spawned job, it was not the join.
            assert!(!over.load(Ordering::Acquire));
            open.store(true, Ordering::Release);
            spin_until(|| over.load(Ordering::Acquire));
        }
    });
}

#[test]
fn a_worker_that_waits_for_a_stolen_job_leaves_unrelated_installs_and_tasks_alone() {
    let _watchdog = watchdog();
    for_each_strict(2, |pool| {
        for _ in 0..20 {
            let (met, waits) = (AtomicBool::new(false), AtomicBool::new(false));
            let meeting = Meeting::of(2);
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    spin_until(|| waits.load(Ordering::Acquire));
                    pool.scope(|scope| {
                        met.fetch_or(is_inside(), Ordering::AcqRel);
                        scope.spawn(|_| {
                            met.fetch_or(is_inside(), Ordering::AcqRel);
                        });
                    });
                });
                pool.install(|| {
                    inside(|| {
                        filch::join(
                            || meeting.attend(),
                            || {
                                meeting.attend();
                                waits.store(true, Ordering::Release);
                                patience(|| met.load(Ordering::Acquire));
                            },
                        );
                    });
                });
            });
            assert!(!met.into_inner());
        }
    });
}

#[test]
fn the_end_of_a_scope_runs_only_its_own_tasks() {
    let _watchdog = watchdog();
    for_each_strict(2, |pool| {
        for _ in 0..20 {
            let (met, ran, taken, open) =
                (AtomicBool::new(false), leak(AtomicUsize::new(0)), AtomicBool::new(false), AtomicBool::new(false));
            let unrelated = || {
                met.fetch_or(is_inside(), Ordering::AcqRel);
                ran.fetch_add(1, Ordering::AcqRel);
            };
            pool.scope(|outer| {
                // The other worker is busy with the inner scope's task until the end.
                filch::scope(|inner| {
                    inner.spawn(|_| {
                        taken.store(true, Ordering::Release);
                        spin_until(|| open.load(Ordering::Acquire));
                    });
                    spin_until(|| taken.load(Ordering::Acquire));
                    for _ in 0..3 {
                        outer.spawn(|_| unrelated());
                        filch::spawn(|| {
                            ran.fetch_add(if is_inside() { 1000 } else { 1 }, Ordering::AcqRel);
                        });
                    }
                    inner.spawn(|_| {
                        // On the scope's own worker, because the other is not free.
                        assert!(is_inside());
                        patience(|| ran.load(Ordering::Acquire) != 0);
                        open.store(true, Ordering::Release);
                    });
                    INSIDE.set(1);
                });
                INSIDE.set(0);
            });
            assert!(!met.into_inner());
            spin_until(|| ran.load(Ordering::Acquire) >= 6);
            assert_eq!(ran.load(Ordering::Acquire), 6);
        }
    });
}

#[test]
fn a_worker_that_waits_for_another_pool_leaves_its_own_pools_work_alone_unless_told_otherwise() {
    let _watchdog = watchdog();
    for (fences, waiting) in KINDS {
        let here = build(Pool::builder().threads(1).fences(fences).waiting(waiting));
        let there = pool(1);
        for _ in 0..20 {
            let ran = leak(AtomicUsize::new(0));
            here.install(|| {
                inside(|| {
                    filch::spawn(|| {
                        ran.fetch_add(if is_inside() { 1000 } else { 1 }, Ordering::AcqRel);
                    });
                    let has_run = || ran.load(Ordering::Acquire) != 0;
                    // Under the strict policy it must not come. Otherwise it comes, however late.
                    there.install(|| match waiting {
                        Waiting::Strict => drop(patience(has_run)),
                        _ => spin_until(has_run),
                    });
                });
            });
            spin_until(|| ran.load(Ordering::Acquire) != 0);
            assert_eq!(ran.load(Ordering::Acquire), if waiting == Waiting::Strict { 1 } else { 1000 });
        }
    }
}

#[test]
fn a_worker_at_a_scopes_end_lends_nothing_older_to_those_it_helps() {
    // One worker forks `older`, opens a scope, and at its end helps the task of that scope. The
    // other worker runs that task, which has forked `helped`. When the other worker then waits for
    // `helped`, it may take from the helper what descends from `helped`, but not `older`, which
    // does not.
    let _watchdog = watchdog();
    for_each_strict(2, |pool| {
        for _ in 0..20 {
            let (busy, open) = (AtomicBool::new(false), AtomicBool::new(false));
            let (started, helping) = (AtomicBool::new(false), AtomicBool::new(false));
            let met = AtomicBool::new(false);
            pool.scope(|outermost| {
                outermost.spawn(|_| {
                    busy.store(true, Ordering::Release);
                    spin_until(|| open.load(Ordering::Acquire));
                });
                spin_until(|| busy.load(Ordering::Acquire));
                // Answers the demands that the other worker has left while it was idle, so that
                // `older` is private.
                filch::join(|| (), || ());
                let task = || {
                    started.store(true, Ordering::Release);
                    inside(|| {
                        filch::join(
                            || spin_until(|| helping.load(Ordering::Acquire)),
                            || {
                                helping.store(true, Ordering::Release);
                                patience(|| met.load(Ordering::Acquire));
                            },
                        );
                    });
                };
                let older = || {
                    met.fetch_or(is_inside(), Ordering::AcqRel);
                };
                filch::join(
                    || {
                        filch::scope(|scope| {
                            scope.spawn(|_| task());
                            open.store(true, Ordering::Release);
                            spin_until(|| started.load(Ordering::Acquire));
                        });
                    },
                    older,
                );
            });
            assert!(!met.into_inner(), "a worker that waited for a job ran one that is older than it");
        }
    });
}

#[test]
fn a_worker_that_yields_lends_nothing_older_to_those_it_helps() {
    // As above, but the helper has come to `helped` by yielding in the middle of a program of its
    // own, to which `older` belongs.
    let _watchdog = watchdog();
    for_each_strict(2, |pool| {
        for _ in 0..20 {
            let (both, helping) = (Meeting::of(2), AtomicBool::new(false));
            let met = AtomicBool::new(false);
            let waiter = || {
                both.attend();
                inside(|| {
                    filch::join(
                        || {
                            // Forks, so that it notices that another worker wants work.
                            while !helping.load(Ordering::Acquire) {
                                filch::join(|| (), || ());
                            }
                        },
                        || {
                            helping.store(true, Ordering::Release);
                            patience(|| met.load(Ordering::Acquire));
                        },
                    );
                });
            };
            let helper = || {
                both.attend();
                filch::join(
                    || {
                        while !helping.load(Ordering::Acquire) {
                            filch::yield_now();
                        }
                    },
                    || met.fetch_or(is_inside(), Ordering::AcqRel),
                );
            };
            std::thread::scope(|threads| {
                threads.spawn(|| pool.install(waiter));
                threads.spawn(|| pool.install(helper));
            });
            assert!(!met.into_inner(), "a worker that waited for a job ran one that is older than it");
        }
    });
}

/// Returns the position of the calling thread's stack.
fn here() -> usize {
    let local = 0u8;
    std::ptr::from_ref(std::hint::black_box(&local)).addr()
}

thread_local! {
    /// The highest address seen on this thread.
    static HIGHEST: Cell<usize> = const { Cell::new(0) };
}

/// Returns the most stack that a skewed tree takes on any of the pool's threads. The result is in
/// bytes.
fn deepest(pool: &Pool, depth: u32) -> usize {
    fn note(most: &AtomicUsize) {
        HIGHEST.set(HIGHEST.get().max(here()));
        most.fetch_max(HIGHEST.get() - here(), Ordering::Relaxed);
    }
    fn grow(depth: u32, seed: u64, most: &AtomicUsize) {
        note(most);
        if depth == 0 {
            return;
        }
        let next = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        // One side is short, so that waits are frequent.
        let short = (depth - 1).min((next >> 60) as u32);
        if next >> 40 & 1 == 0 {
            filch::join(|| grow(depth - 1, next, most), || grow(short, !next, most));
        } else {
            filch::join(|| grow(short, !next, most), || grow(depth - 1, next, most));
        }
    }
    let most = AtomicUsize::new(0);
    pool.broadcast(|_| HIGHEST.set(here()));
    for seed in 0..30 {
        pool.install(|| grow(depth, seed, &most));
    }
    most.into_inner()
}

#[test]
fn the_stack_stays_within_what_the_depth_of_the_program_needs() {
    let _watchdog = watchdog();
    let depth = 60;
    let alone = deepest(&pool(1), depth);
    for threads in [2, 4, 8] {
        for_each_strict(threads, |pool| {
            let most = deepest(pool, depth);
            // Each level of the program is at most once on a stack. A stolen one stands on the
            // frames of a wait, which may be larger than those of the level itself: hence the
            // factor.
            assert!(most <= 4 * alone, "{most} bytes over {threads} workers, {alone} alone");
        });
    }
}

#[test]
fn waiting_workers_do_not_pile_up_tasks() {
    // Every task waits for a stolen job while there are many more tasks. A worker that ran those
    // meanwhile would nest them without bound.
    let _watchdog = watchdog();
    for_each_strict(3, |pool| {
        let nested = AtomicUsize::new(0);
        pool.scope(|scope| {
            for _ in 0..2000 {
                scope.spawn(|_| {
                    nested.fetch_max(INSIDE.get(), Ordering::Relaxed);
                    inside(|| tree(4, &|| ()));
                });
            }
        });
        assert_eq!(nested.into_inner(), 0);
    });
}

#[test]
fn under_the_other_policy_a_waiting_worker_runs_whatever_there_is() {
    let _watchdog = watchdog();
    let pool = build(Pool::builder().threads(2).waiting(Waiting::Any));
    for _ in 0..50 {
        let (ran, meeting) = (leak(AtomicBool::new(false)), Meeting::of(2));
        pool.install(|| {
            filch::join(
                || {
                    meeting.attend();
                    filch::spawn(|| ran.store(true, Ordering::Release));
                },
                || {
                    meeting.attend();
                    // Only the worker that waits for this can run it.
                    spin_until(|| ran.load(Ordering::Acquire));
                },
            );
        });
    }
}

/// A worker waits for an inner install of its own. Another worker waits for a job of an outer
/// install. Only the second may run what that job forks.
fn forks_beside_a_nested_install(here: &Pool, there: &Pool) {
    let (begun, is_nested, done) = (flag(), flag(), flag());
    let awaited = || {
        set(&begun);
        // Time for the others to fall asleep.
        thread::sleep(Duration::from_millis(10));
        filch::join(|| spin_until(|| is_set(&done)), || set(&done));
    };
    let outer = || {
        spin_until(|| is_set(&is_nested));
        here.install(|| filch::join(|| spin_until(|| is_set(&begun)), awaited));
    };
    let nested = || {
        here.install(|| {
            there.install(|| {
                set(&is_nested);
                spin_until(|| is_set(&done));
            });
        });
    };
    here.install(|| there.install(|| filch::join(outer, nested)));
}

#[test]
fn a_worker_in_a_nested_install_does_not_take_the_wake_up_of_another() {
    let _watchdog = watchdog();
    let (here, there) = (pool(3), pool(4));
    (0..60).for_each(|_| forks_beside_a_nested_install(&here, &there));
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

#[test]
fn a_task_that_a_part_of_a_broadcast_spawns_does_not_run_in_an_unrelated_wait() {
    let _watchdog = watchdog();
    for_each_strict(2, |pool| {
        let lock = Mutex::new(());
        let begun = flag();
        pool.scope(|scope| {
            let (me, lock) = (filch::index().expect("a worker"), &lock);
            let held = lock.lock().expect("no panic");
            scope.spawn_broadcast(move |scope, part| {
                if part.index() == me {
                    scope.spawn(move |_| drop(lock.lock()));
                }
            });
            let other = || {
                set(&begun);
                // Time for the wait to look at the mail.
                std::thread::sleep(std::time::Duration::from_millis(10));
            };
            filch::join(|| spin_until(|| is_set(&begun)), other);
            drop(held);
        });
    });
}
