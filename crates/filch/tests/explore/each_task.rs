//! Each task runs once, or at least once, on every queue.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use crate::{delta, pool};
use filch::explore::{Ending, Explore};
use filch::queue::{Asymmetric, Bulk, ChaseLev, FfCl, FfThe, Split, The, Thep};
use filch::queue::{DoubleEnded, Fifo, Lifo, UntrustedFfCl, UntrustedFfThe, UntrustedThep};

/// The number of nodes of the trees in these tests.
const NODES: u32 = 100_000;

/// Returns the children of a node in a binary tree stored as a heap.
fn children(node: u32) -> impl Iterator<Item = u32> {
    [2 * node + 1, 2 * node + 2].into_iter().filter(|child| *child < NODES)
}

fn visits() -> Vec<AtomicU32> {
    (0..NODES).map(|_| AtomicU32::new(0)).collect()
}

macro_rules! each_node_once {
    ($($test:ident: $queue:expr;)*) => { $(
        #[test]
        fn $test() {
            for threads in [1, 2, 4, 8] {
                let (pool, visits) = (pool(threads), visits());
                let explored = Explore::exactly_once().pool(&pool).queue($queue).run([0], |node: u32, worker| {
                    visits[node as usize].fetch_add(1, Ordering::Relaxed);
                    worker.push_all(children(node));
                });
                assert!(visits.iter().all(|count| count.load(Ordering::Relaxed) == 1));
                assert_eq!(explored.ending(), Ending::Complete);
                assert_eq!(explored.counts().iter().map(|counts| counts.tasks).sum::<u64>(), u64::from(NODES));
            }
        }
    )* };
}

each_node_once! {
    chase_lev_runs_each_task_once: ChaseLev;
    the_runs_each_task_once: The;
    asymmetric_runs_each_task_once: Asymmetric;
    bulk_runs_each_task_once: Bulk;
    split_runs_each_task_once: Split;
    // SAFETY: no x86 CPU is known whose store buffer holds as many as 128 stores; on other CPUs the
    // owner has a fence.
    ff_the_runs_each_task_once: unsafe { FfThe::trusting(delta()) };
    // SAFETY: as above.
    ff_cl_runs_each_task_once: unsafe { FfCl::trusting(delta()) };
    // SAFETY: as above.
    thep_runs_each_task_once: unsafe { Thep::trusting(delta()) };
}

macro_rules! each_node_at_least_once {
    ($($test:ident: $queue:expr;)*) => { $(
        #[test]
        fn $test() {
            for threads in [1, 2, 4, 8] {
                let (pool, visits) = (pool(threads), visits());
                let explored = Explore::at_least_once().pool(&pool).queue($queue).run([0], |node: u32, worker| {
                    if visits[node as usize].fetch_add(1, Ordering::Relaxed) > 0 {
                        return worker.count_redundant();
                    }
                    worker.push_all(children(node));
                });
                assert!(visits.iter().all(|count| count.load(Ordering::Relaxed) >= 1));
                let (tasks, redundant) = explored.counts().iter().fold((0, 0), |(tasks, redundant), counts| {
                    (tasks + counts.tasks, redundant + counts.redundant)
                });
                assert_eq!(tasks - redundant, u64::from(NODES));
            }
        }
    )* };
}

each_node_at_least_once! {
    lifo_runs_each_task: Lifo;
    fifo_runs_each_task: Fifo;
    double_ended_runs_each_task: DoubleEnded;
    untrusted_ff_the_runs_each_task: UntrustedFfThe(delta());
    untrusted_ff_cl_runs_each_task: UntrustedFfCl(delta());
    untrusted_thep_runs_each_task: UntrustedThep(delta());
    an_exactly_once_queue_can_run_an_at_least_once_exploration: ChaseLev;
}

/// A task has all the others in its worker's queue. It does not end before another worker has begun
/// two of them. That worker is a thief that took half of them, or one that the thief has called.
#[test]
fn a_thief_of_a_bulk_queue_steals_many_tasks_and_shares_them() {
    let (pool, begun, others) = (pool(3), AtomicBool::new(false), AtomicUsize::new(0));
    let explored = Explore::exactly_once().pool(&pool).queue(Bulk).run([0u32], |task, worker| {
        if task == 0 {
            begun.store(true, Ordering::Relaxed);
            worker.push_all(1..=1000);
            while others.load(Ordering::Relaxed) < 100 {
                std::thread::yield_now();
            }
        } else {
            others.fetch_add(1, Ordering::Relaxed);
        }
    });
    let total = explored.total();
    assert_eq!((explored.ending(), total.tasks), (Ending::Complete, 1001));
    assert!(begun.into_inner() && total.steals >= 100, "{} tasks were stolen", total.steals);
}
