//! Stops, limits and panics.

use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use filch::explore::Cancel;
use filch_dd::master::{Ending, Master, Move, Overview, Policy, Region, Work, Worker};

use super::common::{work, Node, ProcessTree, Shape, Tree};
use super::Q;
use crate::one_at_a_time;

/// Processes a tree until `last` tasks are begun, and then calls a function.
struct Until<'t> {
    process_tree: ProcessTree<'t>,
    left: AtomicUsize,
    then: fn(&mut Worker<'_, Until<'t>, Q>),
}

impl<'t> Work<Q> for Until<'t> {
    type Task = Node<'t>;
    type Learnt = ();

    fn region(&self, task: &Node<'t>) -> Region {
        task.region
    }

    fn process(&self, task: Node<'t>, worker: &mut Worker<'_, Self, Q>) {
        let tree = self.process_tree.0;
        tree.seen[task.number as usize].fetch_add(1, Ordering::Relaxed);
        for label in 0..3 {
            if let Some(child) = tree.node(task.region.child(label)) {
                worker.push(child);
            }
        }
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            (self.then)(worker);
        }
    }
}

fn until<'t>(tree: &'t Tree, tasks: usize, then: fn(&mut Worker<'_, Until<'t>, Q>)) -> Until<'t> {
    Until { process_tree: ProcessTree(tree), left: AtomicUsize::new(tasks), then }
}

#[test]
fn a_stopped_run_returns_exactly_the_tasks_that_were_not_begun() {
    let _one = one_at_a_time();
    for round in 0..200 {
        let threads = 1 + round % 4;
        let tree = Tree::new(round as u64, Shape::Bushy, 3000);
        let work = until(&tree, 1 + round * 5, |worker| worker.stop());
        let report = Master::new().threads(threads).run_on::<Q, _>(tree.roots(4), &work);
        assert_eq!(report.ending, Ending::Stopped);
        assert_eq!(report.total().tasks + report.left.len() as u64, tree.made());
        for task in report.left {
            assert_eq!(tree.seen[task.number as usize].fetch_add(1, Ordering::Relaxed), 0, "the task was begun");
        }
        tree.check();
    }
}

#[test]
fn a_stop_ends_a_deterministic_run_too() {
    let tree = Tree::new(1, Shape::Bushy, 3000);
    let work = until(&tree, 100, |worker| worker.stop());
    let report = Master::new().threads(3).deterministic().run_on::<Q, _>(tree.roots(4), &work);
    assert_eq!(report.ending, Ending::Stopped);
    assert_eq!(report.total().tasks, 100);
    assert_eq!(report.total().tasks + report.left.len() as u64, tree.made());
}

#[test]
fn a_panic_resumes_when_all_workers_have_ended_and_no_task_leaks() {
    let _one = one_at_a_time();
    for round in 0..200 {
        let tree = Tree::new(round as u64, Shape::Bushy, 3000);
        let work = until(&tree, 1 + round * 5, |_| resume_unwind(Box::new("on purpose")));
        let master = Master::new().threads(1 + round % 4);
        let master = if round % 7 == 0 { master.deterministic() } else { master };
        let run = catch_unwind(AssertUnwindSafe(|| master.run_on::<Q, _>(tree.roots(4), &work)));
        let panic = run.expect_err("the run panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
        assert_eq!(tree.alive.load(Ordering::Relaxed), 0);
        assert!(tree.seen.iter().all(|seen| seen.load(Ordering::Relaxed) <= 1));
    }
}

/// A policy that panics, or returns an impossible choice.
struct Bad(Option<f64>);

impl Policy for Bad {
    fn choose(&mut self, overview: &Overview<'_>, to: usize) -> Option<Move> {
        let from = (0..overview.workers.len()).find(|from| overview.spare(*from, to) > 0)?;
        Some(Move { from, share: self.0.expect("on purpose") })
    }
}

#[test]
fn a_policy_that_panics_or_returns_an_invalid_share_ends_the_run() {
    let _one = one_at_a_time();
    for (round, share) in [None, Some(f64::NAN), Some(2.0), Some(-1.0), Some(0.0)].into_iter().enumerate() {
        for threads in [2, 4] {
            let tree = Tree::new(round as u64, Shape::Chain, 3000);
            let master = Master::new().threads(threads).deterministic().policy(Bad(share));
            let run = catch_unwind(AssertUnwindSafe(|| master.run_on::<Q, _>(tree.roots(40), &ProcessTree(&tree))));
            assert!(run.is_err(), "{share:?}");
            assert_eq!(tree.alive.load(Ordering::Relaxed), 0);
        }
    }
}

#[test]
fn a_run_that_is_cancelled_or_past_its_deadline_begins_no_task() {
    for threads in [1, 2] {
        let cancel = Cancel::new();
        cancel.cancel();
        let none = work(|_, _| unreachable!("the run was cancelled before its first task"));
        let report = Master::new().threads(threads).cancel(&cancel).run_on::<Q, _>(vec![1, 2, 3], &none);
        assert_eq!((report.ending, report.left.len()), (Ending::Cancelled, 3));
        let report = Master::new().threads(threads).deadline(Instant::now()).run_on::<Q, _>(vec![1, 2, 3], &none);
        assert_eq!((report.ending, report.left.len()), (Ending::TimedOut, 3));
    }
}

#[test]
fn a_poll_returns_true_after_the_deadline_or_a_cancellation() {
    let _one = one_at_a_time();
    for threads in [1, 2] {
        let long = work(|_, worker| while !worker.poll() {});
        let report = Master::new().threads(threads).time_limit(Duration::from_millis(2)).run_on::<Q, _>(vec![1, 2, 3], &long);
        assert_eq!(report.ending, Ending::TimedOut);
        let cancel = Cancel::new();
        let cancelled = cancel.clone();
        let long = work(move |_, worker| {
            cancelled.cancel();
            while !worker.poll() {}
        });
        let report = Master::new().threads(threads).cancel(&cancel).run_on::<Q, _>(vec![1, 2, 3], &long);
        assert_eq!(report.ending, Ending::Cancelled);
    }
}

#[test]
fn endless_work_ends_at_its_deadline() {
    let _one = one_at_a_time();
    for threads in 1..=3 {
        let done = AtomicU64::new(0);
        let endless = work(|task, worker| {
            done.fetch_add(1, Ordering::Relaxed);
            worker.push(task + 1);
            if task % 3 == 0 {
                worker.push(task + 2);
            }
        });
        let report = Master::new().threads(threads).time_limit(Duration::from_millis(5)).run_on::<Q, _>(vec![0], &endless);
        assert_eq!(report.ending, Ending::TimedOut);
        assert_eq!(report.total().tasks, done.load(Ordering::Relaxed));
        assert_eq!(report.total().pushes + 1, report.total().tasks + report.left.len() as u64);
    }
}
