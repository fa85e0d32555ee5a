//! No thief reports a queue with a task as empty.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::common::{claim, steal, Queue, Setup};
use crate::pin_to_core;
use crate::threads::{join, run_alone, tasks_per_queue};
use filch_queue::bound::FENCE_FREE;
use filch_queue::{Owner, Steal};

/// Checks that no thief reports a queue with a single task as empty.
///
/// The task is always there, too near to the tail for any thief.
fn is_not_reported_empty<Q: Queue>() {
    let steals = tasks_per_queue().min(1_000_000);
    if !FENCE_FREE {
        return;
    }
    let _alone = run_alone();
    let (owner, thief) = Q::make::<usize>(Setup::small()).unwrap();
    owner.push(1);
    let empty = AtomicUsize::new(0);
    thread::scope(|scope| {
        let thief_threads = [0, 1].map(|n| {
            let (thief, empty) = (&thief, &empty);
            scope.spawn(move || {
                pin_to_core(n);
                for _ in 0..steals {
                    match steal(thief) {
                        Steal::Abort => {}
                        Steal::Empty => drop(empty.fetch_add(1, Ordering::Relaxed)),
                        other => panic!("the thief must abort, but returned {other:?}"),
                    }
                }
            })
        });
        thief_threads.into_iter().for_each(join);
    });
    assert_eq!(empty.into_inner(), 0, "a thief reported a queue with a task as empty (number)");
    assert_eq!(owner.pop(), Some(1));
}

claim!(a_queue_with_a_task_near_the_tail_is_not_reported_empty, is_not_reported_empty, ff_cl FfCl, ff_the FfThe,
    ff_cl_trusted FfClTrusted, ff_the_trusted FfTheTrusted);

/// Checks that no thief reports the queue as empty while a task is in it.
///
/// The task stays there until the owner is dropped, and thieves wait for it.
fn is_not_reported_empty_while_thieves_wait<Q: Queue>() {
    const ROUNDS: usize = 300;
    if !FENCE_FREE {
        return;
    }
    let _alone = run_alone();
    for _ in 0..ROUNDS {
        let (owner, thief) = Q::make::<usize>(Setup::small()).unwrap();
        owner.push(1);
        let (begun, gone) = (AtomicUsize::new(0), AtomicBool::new(false));
        let outcomes = thread::scope(|scope| {
            let waiting = [(); 2].map(|()| {
                scope.spawn(|| {
                    begun.fetch_add(1, Ordering::Relaxed);
                    let outcome = steal(&thief);
                    (outcome, gone.load(Ordering::Acquire))
                })
            });
            // Both thieves are about to steal and get some time slices for it. More slices would
            // take minutes beside other programs.
            while begun.load(Ordering::Relaxed) < 2 {
                thread::yield_now();
            }
            (0..10).for_each(|_| thread::yield_now());
            gone.store(true, Ordering::Release);
            drop(owner);
            waiting.map(join)
        });
        let mut stolen = 0;
        for (outcome, gone) in outcomes {
            stolen += usize::from(outcome.is_success());
            assert!(gone || !outcome.is_empty(), "a thief reported a queue with a task as empty");
        }
        assert_eq!(stolen, 1);
    }
}

claim!(a_queue_with_a_task_that_a_thief_waits_for_is_not_reported_empty, is_not_reported_empty_while_thieves_wait, thep Thep,
    thep_trusted ThepTrusted);
