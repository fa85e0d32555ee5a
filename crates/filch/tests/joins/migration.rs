//! Where the closures of a join run: whether they migrate, and on which worker.

use std::thread;

use crate::common::{build, for_each_pool_kind, pool, watchdog, SpinBarrier};
use filch::Pool;

#[test]
fn a_join_from_outside_migrates_both_closures() {
    let _watchdog = watchdog();
    assert_eq!(filch::join_context(|context| context.migrated(), |context| context.migrated()), (true, true));
}

#[test]
fn a_closure_migrates_if_and_only_if_it_runs_on_another_thread() {
    let _watchdog = watchdog();
    for_each_pool_kind(2, |pool| {
        for round in 0..200 {
            let (taken, barrier) = (round % 2 == 0, SpinBarrier::new(2));
            pool.install(|| {
                let home = thread::current().id();
                let ((), stolen) = filch::join_context(
                    |context| {
                        assert!(!context.migrated());
                        assert_eq!(thread::current().id(), home);
                        if taken {
                            barrier.wait();
                        }
                    },
                    |context| {
                        if taken {
                            barrier.wait();
                        }
                        assert_eq!(context.migrated(), thread::current().id() != home);
                        context.migrated()
                    },
                );
                assert!(stolen || !taken);
            });
        }
    });
}

#[test]
fn a_closure_gets_the_worker_that_runs_it() {
    let _watchdog = watchdog();
    let pool = pool(2);
    for _ in 0..200 {
        let barrier = SpinBarrier::new(2);
        let ((), ()) = pool.with_worker(|worker| {
            let home = worker.index();
            worker.join_context(
                |worker, context| {
                    barrier.wait();
                    assert_eq!((worker.index(), context.migrated()), (home, false));
                    assert_eq!(Some(worker.index()), filch::current_thread_index());
                },
                |worker, context| {
                    barrier.wait();
                    assert_eq!((worker.index(), context.migrated()), (1 - home, true));
                    assert_eq!(Some(worker.index()), filch::current_thread_index());
                },
            )
        });
    }
}

#[test]
fn no_closure_migrates_on_a_single_worker_even_beyond_the_end_of_its_fork_stack() {
    fn nest(depth: u32) {
        if depth > 0 {
            let home = thread::current().id();
            filch::join_context(
                |context| {
                    assert!(!context.migrated());
                    nest(depth - 1);
                },
                |context| {
                    assert_eq!(thread::current().id(), home);
                    assert!(!context.migrated(), "migrated at depth {depth}");
                },
            );
        }
    }
    let _watchdog = watchdog();
    build(Pool::builder().threads(1).fork_depth(8)).install(|| nest(20));
}
