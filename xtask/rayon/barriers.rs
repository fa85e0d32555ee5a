//! Closures that wait for each other. The tests hang on a pool that does not start the second
//! closure of a join before the first returns. They also hang if waiting threads of a pool run too
//! little.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Barrier;

use rayon_core::{join, join_context, scope, ThreadPoolBuilder};

/// Must be called on a worker of a pool with other free workers.
fn both_closures_run_at_once() {
    let barrier = &Barrier::new(2);
    join(|| barrier.wait(), || barrier.wait());

    let migrated = |context: rayon_core::FnContext| {
        barrier.wait();
        context.migrated()
    };
    assert_eq!(join_context(migrated, migrated), (false, true));
}

/// Must be called on the only worker of a pool. No other worker can take a closure.
fn neither_closure_migrates() {
    assert_eq!(join_context(|a| a.migrated(), |b| b.migrated()), (false, false));
}

// One test covers the whole global pool: two tests at once would wait for each other's workers.
#[test]
fn closures_wait_for_each_other_in_the_global_pool() {
    match rayon_core::current_num_threads() {
        1 => scope(|_| neither_closure_migrates()),
        _ => {
            let barrier = &Barrier::new(2);
            join(|| barrier.wait(), || barrier.wait());
            scope(|_| both_closures_run_at_once());
        }
    }
}

#[test]
fn closures_wait_for_each_other_in_pools_of_two_and_of_eight() {
    for threads in [2, 8] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(both_closures_run_at_once);
        let barrier = &Barrier::new(2);
        pool.join(|| barrier.wait(), || barrier.wait());
    }
}

#[test]
fn neither_closure_migrates_in_a_pool_of_one() {
    ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(neither_closure_migrates);
}

/// Runs a program in a pool with this many threads.
fn in_pool(threads: usize, program: impl FnOnce() + Send) {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(program);
}

/// Spins until the condition is true.
fn wait_until(condition: impl Fn() -> bool) {
    while !condition() {
        std::thread::yield_now();
    }
}

#[test]
fn closures_on_three_threads_wait_for_each_other() {
    in_pool(3, || {
        let (barrier, begun) = (&Barrier::new(3), &AtomicBool::new(false));
        let inner = || join(|| barrier.wait(), || barrier.wait());
        let outer = || {
            begun.store(true, Ordering::Release);
            join(|| barrier.wait(), inner)
        };
        join(|| wait_until(|| begun.load(Ordering::Acquire)), outer);
    });
}

#[test]
fn a_thread_that_waits_in_a_join_runs_tasks_of_a_scope_in_it() {
    in_pool(2, || {
        let (begun, ran) = (&AtomicBool::new(false), &AtomicBool::new(false));
        let second = || {
            begun.store(true, Ordering::Release);
            scope(|scope| {
                scope.spawn(|_| ran.store(true, Ordering::Release));
                wait_until(|| ran.load(Ordering::Acquire));
            });
        };
        join(|| wait_until(|| begun.load(Ordering::Acquire)), second);
    });
}
