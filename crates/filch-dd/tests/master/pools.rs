//! Pools of different sizes, and callers on threads of different pools.

use std::sync::atomic::{AtomicU64, Ordering};

use filch::Pool;
use filch_dd::master::{Ending, Master};

use super::common::{work, ProcessTree, Shape, Tree};
use super::Q;
use crate::one_at_a_time;

fn pool(threads: usize) -> Pool {
    Pool::builder().threads(threads).build().expect("the pool is built")
}

#[test]
fn there_are_no_more_workers_than_the_pool_has_threads() {
    let _one = one_at_a_time();
    let pool = pool(2);
    for (asked, workers) in [(1, 1), (2, 2), (5, 2)] {
        let tree = Tree::new(3, Shape::Bushy, 500);
        let report = Master::new().pool(&pool).threads(asked).run_on::<Q, _>(tree.roots(4), &ProcessTree(&tree));
        assert_eq!(report.workers.len(), workers);
        tree.check();
    }
}

#[test]
fn a_run_may_be_called_on_a_worker_of_its_pool_or_of_another() {
    let _one = one_at_a_time();
    let (pool, other) = (pool(2), pool(2));
    for seed in 0..50 {
        for on in [&pool, &other] {
            let tree = Tree::new(seed, Shape::Bushy, 300);
            let report = on.install(|| Master::new().pool(&pool).run_on::<Q, _>(tree.roots(4), &ProcessTree(&tree)));
            assert_eq!(report.workers.len(), 2);
            tree.check();
        }
    }
}

#[test]
fn a_run_whose_pool_is_busy_is_completed_by_its_caller() {
    let _one = one_at_a_time();
    let pool = pool(2);
    let tree = Tree::new(5, Shape::Skewed, 2000);
    let (started, over) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
    pool.scope(|scope| {
        scope.spawn(|_| {
            started.wait();
            over.wait();
        });
        scope.spawn(|_| {
            started.wait();
            let report = Master::new().pool(&pool).run_on::<Q, _>(tree.roots(4), &ProcessTree(&tree));
            assert_eq!(report.total().tasks, tree.made());
            over.wait();
        });
    });
    tree.check();
}

#[test]
fn a_task_may_use_the_pool_in_any_way() {
    let _one = one_at_a_time();
    let pool = pool(3);
    let parts = AtomicU64::new(0);
    let uses = work(|task, worker| {
        if task < 3 {
            worker.push(task + 10);
            worker.push(task + 20);
        }
        // All threads of the pool have to answer, including those that have nothing to do.
        parts.fetch_add(filch::broadcast(|_| 1u64).into_iter().sum(), Ordering::Relaxed);
        let (a, b) = filch::join(|| task, || task + 1);
        assert_eq!(a + 1, b);
        let inner = Tree::new(task, Shape::Bushy, 30);
        assert_eq!(Master::new().run_on::<Q, _>(inner.roots(2), &ProcessTree(&inner)).ending, Ending::Complete);
        inner.check();
    });
    let report = Master::new().pool(&pool).run_on::<Q, _>(vec![0, 1, 2], &uses);
    assert_eq!(report.total().tasks, 9);
    assert_eq!(parts.load(Ordering::Relaxed), 27);
}

#[test]
fn several_runs_share_a_pool() {
    let _one = one_at_a_time();
    let pool = pool(2);
    std::thread::scope(|scope| {
        for caller in 0..3 {
            let pool = &pool;
            scope.spawn(move || {
                for seed in 0..50 {
                    let tree = Tree::new(seed * 3 + caller, Shape::Bushy, 200);
                    let report = Master::new().pool(pool).run_on::<Q, _>(tree.roots(3), &ProcessTree(&tree));
                    assert_eq!(report.total().tasks, tree.made());
                    tree.check();
                }
            });
        }
    });
}
