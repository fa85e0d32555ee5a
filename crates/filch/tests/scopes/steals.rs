//! Tasks that another worker steals or raids, and tasks that stolen closures spawn.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{self, build, for_each_pool_kind, spin_until, watchdog};
use filch::Pool;

#[test]
fn a_task_is_stolen_from_a_worker_that_blocks_in_the_closure_of_the_scope() {
    // Whatever the worker has forked and spawned before, and though it pushes nothing more.
    let _watchdog = watchdog();
    for (fences, waiting) in common::POOL_KINDS {
        let pool = build(Pool::builder().threads(2).fences(fences).waiting(waiting));
        for round in 0..200 {
            let finished = AtomicUsize::new(0);
            pool.scope(|scope| {
                (0..round % 7).for_each(|_| filch::scope(|inner| inner.spawn(|_| ())));
                scope.spawn(|_| finished.store(1, Ordering::Release));
                spin_until(|| finished.load(Ordering::Acquire) == 1);
            });
            pool.scope_fifo(|scope| {
                scope.spawn(|_| finished.store(2, Ordering::Release));
                spin_until(|| finished.load(Ordering::Acquire) == 2);
            });
            let finished: &'static AtomicUsize = Box::leak(Box::new(finished));
            pool.install(|| {
                filch::spawn(|| finished.store(3, Ordering::Release));
                spin_until(|| finished.load(Ordering::Acquire) == 3);
            });
        }
    }
}

#[test]
fn a_fifo_scope_ends_after_the_task_that_a_raid_has_just_published() {
    // Many ends with one task, while another worker is about to raid.
    let _watchdog = watchdog();
    for (fences, waiting) in common::POOL_KINDS {
        let pool = build(Pool::builder().threads(3).fences(fences).waiting(waiting));
        pool.install(|| {
            for round in 0..3000u32 {
                let finished = AtomicUsize::new(0);
                filch::scope_fifo(|scope| {
                    scope.spawn(|scope| {
                        scope.spawn(|_| _ = finished.fetch_add(1, Ordering::Relaxed));
                        (0..round % 200).for_each(|_| std::hint::spin_loop());
                        finished.fetch_add(1, Ordering::Relaxed);
                    });
                    (0..round % 300).for_each(|_| std::hint::spin_loop());
                });
                assert_eq!(finished.into_inner(), 2);
            }
        });
    }
}

#[test]
fn a_task_that_a_stolen_closure_spawns_can_run_on_the_worker_that_waits_for_the_scope() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for _ in 0..20 {
            let (begun, ran) = (AtomicUsize::new(0), AtomicUsize::new(0));
            pool.scope(|scope| {
                let leave = || {
                    begun.fetch_add(1, Ordering::Relaxed);
                    // The second of these tasks blocks until the first was run: by the owner of the
                    // scope, if this worker takes the second.
                    scope.spawn(|_| spin_until(|| ran.load(Ordering::Relaxed) > 0));
                    scope.spawn(|_| {
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                };
                filch::join(|| spin_until(|| begun.load(Ordering::Relaxed) > 0), leave);
            });
        }
    });
}
