//! Explorations by level, with a look at the gate.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::pace::Pace;
use super::run_loop::{self, is_worth_sharing, Local, Place};
use super::shared::Shared;
use super::LevelExplorer;
use crate::explore::explored::Ending;
use crate::explore::shared::Limits;
use crate::explore::{Ahead, Cancel};
use crate::Pool;

const ROOTS: usize = 1_000_000;

/// Cancels an exploration of many roots at one of them. Returns how often the gate was opened, and
/// how many roots began after the cancel.
fn cancel_at(threads: usize, at: usize) -> (u64, usize) {
    let pool = Pool::builder().threads(threads).build().unwrap();
    let (cancel, runs, at_cancel) = (Cancel::new(), AtomicUsize::new(0), AtomicUsize::new(0));
    if at == 0 {
        cancel.cancel();
    }
    let limits = Limits { cancel: Some(cancel.clone()), deadline: None };
    let visit = |_: usize, _: &mut LevelExplorer<'_, usize>| {
        if runs.fetch_add(1, Ordering::Relaxed) + 1 == at {
            cancel.cancel();
            // An exchange, so that it comes after the cancel.
            at_cancel.store(runs.fetch_add(0, Ordering::SeqCst), Ordering::Relaxed);
        }
    };
    let shared = Shared::new((0..ROOTS).collect(), threads, limits, |_| (), |_: &usize, _| {}, visit);
    pool.install(|| crate::scope(|scope| run_loop::run(&shared, scope, Local::first(ROOTS), Place::Owner)));
    let openings = shared.gate.openings();
    assert_eq!(shared.into_explored().ending(), Ending::Cancelled);
    (openings, runs.into_inner() - at_cancel.into_inner())
}

#[test]
fn after_a_stop_the_gate_stays_closed() {
    for threads in [1, 2, 4] {
        for at in [0, 1, 2, 100, 5000] {
            let (openings, late) = cancel_at(threads, at);
            assert!(openings <= if at == 0 { 0 } else { 1 }, "{openings} openings, {threads} threads, at {at}");
            assert!(late <= 16 * threads, "{late} tasks after the cancel, {threads} threads, at {at}");
        }
    }
}

#[test]
fn after_a_stop_no_level_is_worth_sharing() {
    let visit = |_: usize, _: &mut LevelExplorer<'_, usize>| {};
    let state = |_: usize| ();
    let shared = Shared::<usize, (), _, _, _>::new(
        (0..100).collect(),
        2,
        Limits::default(),
        state,
        |_: &usize, _: Ahead| {},
        visit,
    );
    assert!(is_worth_sharing(&shared, &Pace::new(), 100));
    shared.stop(Ending::Stopped);
    assert!(!is_worth_sharing(&shared, &Pace::new(), 100));
    assert_eq!(shared.into_explored().ending(), Ending::Stopped);
}

#[test]
fn levels_of_one_long_task_are_not_shared() {
    let pool = Pool::builder().threads(2).build().unwrap();
    let visit = |n: usize, worker: &mut LevelExplorer<'_, usize>| {
        let start = std::time::Instant::now();
        while start.elapsed().as_micros() < 20 {}
        if n > 0 {
            worker.push(n - 1);
        }
    };
    let shared = Shared::new(vec![300, 0], 2, Limits::default(), |_| (), |_: &usize, _| {}, visit);
    pool.install(|| crate::scope(|scope| run_loop::run(&shared, scope, Local::first(2), Place::Owner)));
    // The two roots are shared, because they may take long. All later levels have one task.
    assert_eq!(shared.gate.openings(), 1);
    assert_eq!(shared.into_explored().total().tasks, 302);
}
