//! What a call in place leaves behind, how it ends, and what it runs.
#![cfg(target_os = "linux")]

mod common;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use common::{
    assert_all_seats_can_be_lent, assert_child_passed, build, call_in_place, catch_message, catch_payload, fib, flag,
    in_place_builder, is_set, panic_with, run_in_child, set, spin_until, watchdog, Drops, POOL_KINDS,
};
use filch::{Pool, Waiting};

/// Runs `f` on a pool of each kind that lends its seats, in turn.
fn for_each_pool_kind(threads: usize, f: impl Fn(&Pool)) {
    for (fences, waiting) in POOL_KINDS {
        f(&build(in_place_builder(threads).fences(fences).waiting(waiting)));
    }
}

#[test]
fn jobs_that_a_call_spawns_run_after_the_caller_has_left() {
    let _watchdog = watchdog();
    for threads in [1, 2, 3] {
        for_each_pool_kind(threads, |pool| {
            for _ in 0..50 {
                let (sender, receiver) = channel();
                call_in_place(pool, || {
                    let send = |value: usize| {
                        let sender = sender.clone();
                        move || sender.send(value).expect("the receiver is gone")
                    };
                    filch::spawn(send(1));
                    filch::spawn_fifo(send(2));
                    let send_all = sender.clone();
                    filch::spawn_broadcast(move |part| send_all.send(10 + part.index()).expect("the receiver is gone"));
                });
                drop(sender);
                let mut values: Vec<_> = receiver.iter().collect();
                values.sort_unstable();
                assert_eq!(values, [1, 2].into_iter().chain(10..10 + threads).collect::<Vec<_>>());
            }
        });
    }
}

#[test]
fn a_call_can_wait_for_a_job_that_an_earlier_call_spawned() {
    let _watchdog = watchdog();
    let pool = build(in_place_builder(2));
    for _ in 0..2_000 {
        let (done, finished) = (Arc::new(flag()), Arc::new(flag()));
        thread::scope(|scope| {
            // Occupies one of the two workers, early or late, until the second call is over.
            let until = finished.clone();
            scope.spawn(|| pool.spawn(move || spin_until(|| is_set(&until))));
            let spawned = done.clone();
            pool.install(|| filch::spawn(move || set(&spawned)));
            pool.install(|| spin_until(|| is_set(&done)));
            set(&finished);
        });
    }
}

#[test]
fn fifo_jobs_that_a_call_spawns_run_in_fifo_order() {
    let _watchdog = watchdog();
    let pool = build(in_place_builder(1));
    for _ in 0..100 {
        let (sender, receiver) = channel();
        call_in_place(&pool, || {
            for number in 0..5 {
                let sender = sender.clone();
                filch::spawn_fifo(move || sender.send(number).expect("the receiver is gone"));
            }
        });
        drop(sender);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    }
}

#[test]
fn a_task_that_a_call_spawns_into_an_outer_scope_runs_after_the_caller_has_left() {
    let _watchdog = watchdog();
    for threads in [1, 2] {
        for_each_pool_kind(threads, |pool| {
            for _ in 0..50 {
                let finished = AtomicUsize::new(0);
                let count = || _ = finished.fetch_add(1, Ordering::Relaxed);
                let count = &count;
                pool.in_place_scope(|scope| call_in_place(pool, || (0..3).for_each(|_| scope.spawn(move |_| count()))));
                pool.in_place_scope_fifo(|scope| call_in_place(pool, || scope.spawn(move |_| count())));
                pool.in_place_scope(|scope| call_in_place(pool, || scope.spawn_broadcast(move |_, _| count())));
                assert_eq!(finished.into_inner(), 4 + threads);
            }
        });
    }
}

#[test]
fn a_broadcast_from_outside_waits_until_the_lent_seat_is_returned() {
    let _watchdog = watchdog();
    for threads in [1, 2, 3, 8] {
        let pool = build(in_place_builder(threads));
        for _ in 0..50 {
            let (inside, parts) = (flag(), AtomicUsize::new(0));
            thread::scope(|scope| {
                let broadcast = || {
                    spin_until(|| is_set(&inside));
                    pool.broadcast(|part| {
                        parts.fetch_add(1, Ordering::SeqCst);
                        assert_eq!(filch::current_thread_index(), Some(part.index()));
                        part.index()
                    })
                };
                let broadcast = scope.spawn(broadcast);
                call_in_place(&pool, || {
                    set(&inside);
                    spin_until(|| parts.load(Ordering::SeqCst) == threads - 1);
                    assert!(!broadcast.is_finished(), "the broadcast must wait for the part of this seat");
                });
                let results = broadcast.join().expect("the thread panicked");
                assert_eq!(results, (0..threads).collect::<Vec<_>>());
            });
        }
    }
}

#[test]
fn a_broadcast_inside_of_a_call_in_place_completes() {
    let _watchdog = watchdog();
    for threads in [1, 2, 3, 8] {
        for_each_pool_kind(threads, |pool| {
            for _ in 0..20 {
                let here = thread::current().id();
                let results =
                    call_in_place(pool, || filch::broadcast(|part| (part.index(), thread::current().id() == here)));
                assert!(results.iter().map(|(index, _)| *index).eq(0..threads));
                assert_eq!(
                    results.iter().filter(|(_, is_here)| *is_here).count(),
                    1,
                    "the caller must run exactly its own part"
                );
            }
        });
    }
}

#[test]
fn a_broadcast_in_the_stolen_closure_of_a_join_in_place_completes() {
    let _watchdog = watchdog();
    for threads in [2, 3, 8] {
        for_each_pool_kind(threads, |pool| {
            for _ in 0..20 {
                let begun = flag();
                let wait = || spin_until(|| is_set(&begun));
                let broadcast = || {
                    set(&begun);
                    filch::broadcast(|part| part.index())
                };
                let (_, results) = call_in_place(pool, || filch::join(wait, broadcast));
                assert_eq!(results, (0..threads).collect::<Vec<_>>());
            }
        });
    }
}

#[test]
fn a_broadcast_inside_two_nested_stolen_closures_completes() {
    let _watchdog = watchdog();
    for threads in [3, 8] {
        for_each_pool_kind(threads, |pool| {
            for _ in 0..20 {
                let begun = flag();
                let wait = || spin_until(|| is_set(&begun));
                let broadcast = || {
                    set(&begun);
                    filch::broadcast(|part| part.index())
                };
                let (_, (_, results)) = call_in_place(pool, || filch::join(wait, || filch::join(wait, broadcast)));
                assert_eq!(results, (0..threads).collect::<Vec<_>>());
            }
        });
    }
}

#[test]
fn a_panic_resumes_in_the_caller_and_the_seat_is_returned() {
    let _watchdog = watchdog();
    for threads in [1, 2, 3] {
        for_each_pool_kind(threads, |pool| {
            for _ in 0..5 {
                assert_eq!(catch_payload::<&str, ()>(|| call_in_place(pool, || panic_with("closure"))), "closure");
                assert_eq!(filch::current_thread_index(), None);
                let first = || filch::join(|| panic_with("first"), || fib(5));
                assert_eq!(catch_payload::<&str, (u64, u64)>(|| call_in_place(pool, first)), "first");
                let second = || filch::join(|| fib(5), || panic_with("second"));
                assert_eq!(catch_payload::<&str, (u64, u64)>(|| call_in_place(pool, second)), "second");
                let task = || filch::scope(|scope| scope.spawn(|_| panic_with("task")));
                assert_eq!(catch_payload::<&str, ()>(|| call_in_place(pool, task)), "task");
                let part = || filch::broadcast(|_| panic_with("part"));
                assert_eq!(catch_payload::<&str, Vec<()>>(|| call_in_place(pool, part)), "part");
                assert_eq!(call_in_place(pool, || fib(10)), 55);
            }
            assert_all_seats_can_be_lent(pool);
        });
    }
}

#[test]
fn the_panic_of_a_stolen_closure_resumes_in_the_caller() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..50 {
            let begun = flag();
            let stolen = || {
                set(&begun);
                panic_with("stolen")
            };
            let join = || filch::join(|| spin_until(|| is_set(&begun)), stolen);
            assert_eq!(catch_payload::<&str, ((), ())>(|| call_in_place(pool, join)), "stolen");
        }
        assert_all_seats_can_be_lent(pool);
    });
}

#[test]
fn values_owned_by_a_call_are_dropped_once_even_if_it_panics() {
    let _watchdog = watchdog();
    let (pool, drops) = (build(in_place_builder(2)), Drops::default());
    for _ in 0..50 {
        let owned = drops.new_value();
        call_in_place(&pool, move || drop(owned));
        let owned = drops.new_value();
        let join = move || filch::join(|| (), move || panic_with(owned));
        drop(catch_payload::<common::CountsDrop, ((), ())>(|| call_in_place(&pool, join)));
    }
    assert_eq!(drops.count(), 100);
}

#[test]
fn a_caller_can_install_into_another_pool_and_back() {
    let _watchdog = watchdog();
    for threads in [1, 2] {
        for (fences, waiting) in POOL_KINDS {
            let new = || build(in_place_builder(threads).fences(fences).waiting(waiting));
            let (here, there) = (new(), new());
            for _ in 0..50 {
                let own = thread::current().id();
                let result = call_in_place(&here, || {
                    let outer = here.current_thread_index();
                    let result = there.install(|| {
                        assert_eq!((here.current_thread_index(), there.current_thread_index().is_some()), (None, true));
                        assert_ne!(
                            thread::current().id(),
                            own,
                            "a worker of one pool must not borrow a seat of another"
                        );
                        here.install(|| (fib(8), there.install(|| fib(5))))
                    });
                    // Calls again from inside.
                    assert_eq!(here.install(|| here.current_thread_index()), outer);
                    assert_eq!(here.join(|| 1, || here.install(|| 2)), (1, 2));
                    result
                });
                assert_eq!(result, (21, 5));
            }
            assert_all_seats_can_be_lent(&here);
            assert_all_seats_can_be_lent(&there);
        }
    }
}

#[test]
fn a_caller_in_place_can_drop_another_pool() {
    let _watchdog = watchdog();
    let pool = build(in_place_builder(2));
    for _ in 0..50 {
        let (other, finished) = (build(in_place_builder(2)), Arc::new(AtomicBool::new(false)));
        let done = finished.clone();
        call_in_place(&other, || ());
        other.spawn(move || {
            assert_eq!(fib(10), 55);
            set(&done);
        });
        call_in_place(&pool, move || drop(other));
        assert!(is_set(&finished));
    }
}

#[test]
fn a_pool_can_be_dropped_right_after_a_call() {
    let _watchdog = watchdog();
    for threads in [1, 2, 8] {
        for _ in 0..50 {
            let finished = Arc::new(AtomicUsize::new(0));
            let (pool, counted) = (build(in_place_builder(threads)), finished.clone());
            call_in_place(&pool, move || {
                for _ in 0..4 {
                    let counted = counted.clone();
                    filch::spawn(move || _ = counted.fetch_add(1, Ordering::SeqCst));
                }
            });
            drop(pool);
            assert_eq!(finished.load(Ordering::SeqCst), 4, "the drop must wait for jobs that a call spawned");

            let pool = build(in_place_builder(threads));
            call_in_place(&pool, || filch::join(|| (), || ()));
            drop(pool);
        }
    }
}

#[test]
fn the_last_of_many_callers_can_drop_the_pool() {
    let _watchdog = watchdog();
    for threads in [1, 2, 3] {
        for _ in 0..50 {
            let pool = Arc::new(build(in_place_builder(threads)));
            let callers: Vec<_> = (0..4)
                .map(|_| {
                    let pool = pool.clone();
                    thread::spawn(move || assert_eq!(pool.join(|| fib(5), || fib(6)), (5, 8)))
                })
                .collect();
            drop(pool);
            callers.into_iter().for_each(|caller| caller.join().expect("the thread panicked"));
        }
    }
}

#[test]
fn a_thread_that_holds_a_lock_across_a_call_runs_no_job_that_needs_the_lock() {
    std::thread_local! {
        static HOLDS_LOCK: Cell<bool> = const { Cell::new(false) };
    }
    let _watchdog = watchdog();
    for waiting in [Waiting::Any, Waiting::StrictInPool, Waiting::Strict] {
        let (pool, other) = (build(in_place_builder(3).waiting(waiting)), build(in_place_builder(1)));
        let (lock, ran_on_holder, finished) = (Arc::new(Mutex::new(0)), Arc::new(AtomicBool::new(false)), flag());
        let spawn = |spawned: &Arc<AtomicUsize>| {
            let (lock, ran_on_holder, spawned) = (lock.clone(), ran_on_holder.clone(), spawned.clone());
            spawned.fetch_add(1, Ordering::SeqCst);
            pool.spawn(move || {
                match lock.try_lock() {
                    Ok(mut count) => *count += 1,
                    // On the thread that holds it, a job that waits for the lock would wait
                    // forever.
                    Err(_) if HOLDS_LOCK.get() => set(&ran_on_holder),
                    Err(_) => {}
                }
                spawned.fetch_sub(1, Ordering::SeqCst);
            });
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                let spawned = Arc::new(AtomicUsize::new(0));
                while !is_set(&finished) {
                    (0..20).for_each(|_| spawn(&spawned));
                    spin_until(|| spawned.load(Ordering::SeqCst) == 0);
                }
            });
            for _ in 0..300 {
                let guard = lock.lock().expect("a job panicked");
                HOLDS_LOCK.set(true);
                let begun = flag();
                let wait = || spin_until(|| is_set(&begun));
                let work = || {
                    set(&begun);
                    fib(8)
                };
                assert_eq!(pool.join(wait, work).1, 21);
                pool.scope(|scope| (0..4).for_each(|_| scope.spawn(|_| _ = fib(5))));
                pool.install(|| other.install(|| fib(5)));
                HOLDS_LOCK.set(false);
                drop(guard);
            }
            set(&finished);
        });
        assert!(!is_set(&ran_on_holder), "{waiting:?}");
    }
}

#[test]
fn a_child_of_fork_returns_from_a_call_in_place() {
    const AFTER_FORK: &str =
        "this pool was started before fork(2), and the child process has none of its threads: build a new pool there";
    assert_child_passed(run_in_child("a_child_of_fork_returns_from_a_call_in_place", &[], || {
        let pool = build(in_place_builder(2));
        for _ in 0..10 {
            // SAFETY: the child returns from the call and ends.
            let process = call_in_place(&pool, || unsafe { libc::fork() });
            if process == 0 {
                // A hang would last forever: the watchdog's thread is not in the child.
                // SAFETY: ends the process after 200 seconds.
                unsafe { libc::alarm(200) };
                let is_correct =
                    filch::current_thread_index().is_none() && catch_message(|| pool.install(|| ())) == AFTER_FORK;
                // SAFETY: ends the child, without the destructors that only the parent may run.
                unsafe { libc::_exit(if is_correct { 0 } else { 1 }) }
            }
            assert!(process > 0, "{}", std::io::Error::last_os_error());
            let mut status = 0;
            // SAFETY: waits for the child.
            assert_eq!(unsafe { libc::waitpid(process, &mut status, 0) }, process);
            assert!(
                libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
                "the child ended with status {status:#x}"
            );
            assert_eq!(call_in_place(&pool, || fib(10)), 55);
        }
        let barrier = Barrier::new(2);
        (0..100).for_each(|_| _ = pool.join(|| barrier.wait(), || barrier.wait()));
        assert_all_seats_can_be_lent(&pool);
    }));
}
