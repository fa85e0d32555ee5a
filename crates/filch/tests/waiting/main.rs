//! What a worker runs while it waits. Under the strict policy, it runs only what its wait needs.

#[path = "../common/mod.rs"]
mod common;
mod locks;
mod stack;
mod unrelated;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{build, spin_until, spin_until_or_timeout, watchdog, SpinBarrier, POOL_KINDS};
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
fn for_each_strict_pool(threads: usize, f: impl Fn(&Pool)) {
    for (fences, waiting) in POOL_KINDS.into_iter().filter(|kind| kind.1 != Waiting::Any) {
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

/// Waits long enough for a worker to fall asleep, or for the test to fail.
fn spin_briefly_until(condition: impl Fn() -> bool) -> bool {
    spin_until_or_timeout(Duration::from_millis(20), condition)
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

#[test]
fn the_strict_policy_is_the_default() {
    assert_eq!(Waiting::default(), Waiting::Strict);
}

#[test]
fn under_the_any_policy_a_waiting_worker_runs_any_job() {
    let _watchdog = watchdog();
    let pool = build(Pool::builder().threads(2).waiting(Waiting::Any));
    for _ in 0..50 {
        let (ran, barrier) = (leak(AtomicBool::new(false)), SpinBarrier::new(2));
        pool.install(|| {
            filch::join(
                || {
                    barrier.wait();
                    filch::spawn(|| ran.store(true, Ordering::Release));
                },
                || {
                    barrier.wait();
                    // Only the worker that waits for this can run it.
                    spin_until(|| ran.load(Ordering::Acquire));
                },
            );
        });
    }
}
