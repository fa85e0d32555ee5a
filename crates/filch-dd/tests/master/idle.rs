//! Tasks that wait for each other.
//!
//! They end only if an idle worker is brought the other task.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use filch_dd::master::Master;

use super::common::work;
use super::Q;
use crate::one_at_a_time;

const ROUNDS: usize = 200;

fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}

#[test]
fn tasks_of_a_task_that_never_polls_are_brought_to_a_waiting_worker() {
    let _one = one_at_a_time();
    let pool = filch::Pool::builder().threads(2).build().expect("the pool is built");
    for _ in 0..ROUNDS {
        let done = AtomicBool::new(false);
        let waits = work(|task, worker| match task {
            0 => {
                worker.push(1);
                worker.push(2);
                wait_for(&done);
            }
            1 => done.store(true, Ordering::Release),
            _ => {}
        });
        let report = Master::new().pool(&pool).run_on::<Q, _>(vec![0], &waits);
        assert_eq!(report.total().tasks, 3);
        assert!(report.moved.batches >= 1);
    }
}

#[test]
fn a_task_that_polls_gives_its_only_other_task_away() {
    let _one = one_at_a_time();
    let pool = filch::Pool::builder().threads(2).build().expect("the pool is built");
    for _ in 0..ROUNDS {
        let done = AtomicBool::new(false);
        let waits = work(|task, worker| match task {
            0 => {
                worker.push(1);
                while !done.load(Ordering::Acquire) {
                    let _ = worker.poll();
                    std::thread::yield_now();
                }
            }
            _ => done.store(true, Ordering::Release),
        });
        assert_eq!(Master::new().pool(&pool).run_on::<Q, _>(vec![0], &waits).total().tasks, 2);
    }
}

#[test]
fn a_worker_without_tasks_takes_from_owners_in_tasks_that_never_poll() {
    let _one = one_at_a_time();
    let pool = filch::Pool::builder().threads(3).build().expect("the pool is built");
    for _ in 0..ROUNDS {
        // Each of the first two workers waits until all other tasks are done. Only the third worker
        // can do them, and it has to take them.
        let (waiting, others) = (AtomicU64::new(0), AtomicU64::new(0));
        let waits = work(|task, worker| {
            if task == 0 {
                worker.push_batch((0..10).map(|_| 2).collect());
                worker.push(1);
                worker.push(1);
                return;
            }
            if task == 1 {
                waiting.fetch_add(1, Ordering::Relaxed);
                while others.load(Ordering::Acquire) < 10 {
                    std::thread::yield_now();
                }
            } else {
                others.fetch_add(1, Ordering::Release);
            }
        });
        let report = Master::new().pool(&pool).run_on::<Q, _>(vec![0], &waits);
        assert_eq!((report.total().tasks, waiting.load(Ordering::Relaxed)), (13, 2));
    }
}

#[test]
fn mail_for_a_worker_in_a_long_task_is_taken_back_for_an_idle_worker() {
    let _one = one_at_a_time();
    let pool = filch::Pool::builder().threads(3).build().expect("the pool is built");
    for _ in 0..ROUNDS {
        let (long, small) = (AtomicU64::new(0), AtomicU64::new(0));
        let waits = work(|task, worker| match task {
            0 => worker.push_batch([1, 1].into_iter().collect()),
            1 if long.fetch_add(1, Ordering::Relaxed) == 0 => {
                // By now other workers may have nothing, and this one may run low. Whichever
                // worker gets these tasks, all are done before this one is.
                worker.push_batch((0..20).map(|_| 2).collect());
                while small.load(Ordering::Acquire) < 20 {
                    std::thread::yield_now();
                }
            }
            1 => {}
            _ => {
                small.fetch_add(1, Ordering::Release);
            }
        });
        assert_eq!(Master::new().pool(&pool).run_on::<Q, _>(vec![0], &waits).total().tasks, 23);
    }
}

#[test]
fn a_nearly_drained_worker_is_served_before_it_has_nothing() {
    // Deterministic: worker 1 begins with the half that pushes nothing, and is brought more while
    // it still has some.
    let small = work(|task, worker| {
        for child in (0..task.min(3)).rev() {
            worker.push(child);
        }
        let _ = worker.poll();
    });
    let roots: Vec<u64> = (0..200).map(|task| if task < 100 { 0 } else { 3 }).collect();
    let report = Master::new().threads(2).deterministic().run_on::<Q, _>(roots, &small);
    let brought = report.transfers.iter().filter(|transfer| transfer.to == 1).count() as u64;
    let (first, second) = (report.workers[0], report.workers[1]);
    assert!(first.served > 1 && second.served == 0, "the first worker did not serve, or the second did: {report:?}");
    // It waited at the beginning and at the end. A worker that waits is brought one batch each
    // time.
    assert!(
        second.ran_low > 0 && brought > second.waits,
        "the second worker was not served before it had nothing: {report:?}"
    );
}
