//! Every task is processed exactly once.

use filch::Pool;
use filch_dd::master::{Ending, Longest, Master, Nearest, Policy, Report, RoundRobin};

use super::common::{Node, ProcessTree, Shape, Tree};
use super::Q;
use crate::one_at_a_time;

const SHAPES: [Shape; 3] = [Shape::Bushy, Shape::Chain, Shape::Skewed];

fn policy(number: u64) -> Box<dyn Policy> {
    match number % 4 {
        0 => Box::new(Nearest::new()),
        1 => Box::new(Longest),
        2 => Box::new(RoundRobin::default()),
        _ => Box::new(Nearest::new().low_watermark(4).share(0.9).min_relative_length(0.0)),
    }
}

/// Checks that the report says what happened.
fn check(tree: &Tree, report: &Report<Node<'_>>) {
    assert_eq!(report.ending, Ending::Complete);
    assert!(report.left.is_empty());
    let total = report.total();
    assert_eq!(total.tasks, tree.made(), "{tree:?}");
    assert_eq!((total.given, total.got), (report.moved.tasks, report.moved.tasks));
    assert_eq!(report.transfers.len() as u64, report.moved.batches.min(1024));
    for transfer in &report.transfers {
        assert!(transfer.from != transfer.to && transfer.tasks > 0);
    }
}

#[test]
fn every_task_is_processed_once_in_thousands_of_tiny_runs() {
    let _one = one_at_a_time();
    let pools: Vec<Pool> = (1..=4).map(|threads| Pool::builder().threads(threads).build().expect("a pool")).collect();
    for seed in 0..3000 {
        let tree = Tree::new(seed, SHAPES[seed as usize % 3], 1 + seed as usize % 60);
        let pool = &pools[(seed / 3) as usize % 4];
        let master = Master::new().pool(pool).policy(policy(seed / 12));
        let report = master.run_on::<Q, _>(tree.roots(1 + (seed % 5) as u32), &ProcessTree(&tree));
        check(&tree, &report);
        tree.check();
    }
}

#[test]
fn every_task_is_processed_once_in_large_runs() {
    let _one = one_at_a_time();
    for threads in 1..=4 {
        for (seed, shape) in (0..).zip(SHAPES) {
            let tree = Tree::new(seed, shape, 50_000);
            let report = Master::new().threads(threads).policy(policy(seed)).run_on::<Q, _>(tree.roots(40), &ProcessTree(&tree));
            assert_eq!(report.workers.len(), threads);
            check(&tree, &report);
            tree.check();
        }
    }
}

#[test]
fn a_run_without_roots_is_over_at_once() {
    for threads in [1, 2, 4] {
        let tree = Tree::new(0, Shape::Bushy, 0);
        let report = Master::new().threads(threads).run_on::<Q, _>(tree.roots(1), &ProcessTree(&tree));
        check(&tree, &report);
    }
}

#[test]
fn a_deterministic_run_is_the_same_every_time_down_to_the_transfers() {
    for seed in 0..60 {
        let workers = 1 + (seed % 6) as usize;
        let run = || {
            let tree = Tree::new(seed, SHAPES[seed as usize % 3], 400);
            let master = Master::new().threads(workers).deterministic().policy(policy(seed));
            let report = master.run_on::<Q, _>(tree.roots(3), &ProcessTree(&tree));
            check(&tree, &report);
            tree.check();
            (report.workers, report.transfers, report.moved, report.elapsed)
        };
        let first = run();
        assert_eq!(first, run());
        if workers > 1 && first.0.iter().map(|counts| counts.tasks).sum::<u64>() > 100 {
            assert!(first.2.batches > 0, "no batch was moved");
            assert!(first.0.iter().all(|counts| counts.tasks > 0), "a worker processed no task: {:?}", first.0);
        }
    }
}

#[test]
fn in_a_deterministic_run_all_workers_process_tasks() {
    let tree = Tree::new(7, Shape::Bushy, 2000);
    let report = Master::new().threads(4).deterministic().run_on::<Q, _>(tree.roots(8), &ProcessTree(&tree));
    check(&tree, &report);
    let least = report.workers.iter().map(|counts| counts.tasks).min().expect("there are workers");
    assert!(least * 8 > tree.made(), "{:?}", report.workers);
}
