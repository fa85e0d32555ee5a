//! The loom models: of the master lock alone, and of two workers.
//!
//! The workers park, push, bring mail and end.
//!
//! The queues are small ones made for the models. There is no pool: the model itself runs the
//! workers that are woken.

use std::sync::Arc;
use std::time::Instant;

use loom::sync::atomic::{AtomicBool, Ordering};
use loom::sync::{Condvar, Mutex};
use loom::thread;

use super::master_lock::MasterLock;
use super::queue::QueueOwner;
use super::shared::{Clock, Fencing, Limits, Plan, Shared, Waker};
use super::worker_data::WorkerData;
use super::{Nearest, Region, Work, Worker};
use crate::defect::{self, Defect};

/// Explores every order of a model's steps, with a bounded number of preemptions.
///
/// The bound is `LOOM_MAX_PREEMPTIONS`, or `preemptions`.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    builder.max_branches = 20_000;
    builder.check(model);
}

/// Each worker has a task to give; the holder of the master lock checks all.
fn offers_to_a_held_lock() {
    explore(3, || {
        struct World {
            has: [AtomicBool; 2],
            master_lock: MasterLock<[bool; 2]>,
        }
        let has = [AtomicBool::new(false), AtomicBool::new(false)];
        let world = Arc::new(World { has, master_lock: MasterLock::new([false; 2]) });
        let offer = |world: &World, index: usize| {
            world.has[index].store(true, Ordering::Relaxed);
            world.master_lock.try_serve(|seen| {
                for (seen, has) in seen.iter_mut().zip(&world.has) {
                    *seen |= has.load(Ordering::Relaxed);
                }
            });
        };
        let other = thread::spawn({
            let world = Arc::clone(&world);
            move || offer(&world, 1)
        });
        offer(&world, 0);
        other.join().unwrap();
        assert_eq!(*world.master_lock.lock(), [true; 2], "the task of a worker was overlooked");
    });
}

#[test]
fn a_worker_that_finds_the_master_lock_taken_is_served() {
    assert!(defect::with(None, offers_to_a_held_lock));
}

#[test]
fn a_master_that_ignores_requests_is_caught() {
    assert!(!defect::with(Some(Defect::RequestsAreIgnored), offers_to_a_held_lock));
}

/// Counts its tasks.
#[derive(Default)]
struct Leaves(std::sync::atomic::AtomicUsize);

impl Work for Leaves {
    type Task = ();
    type Learnt = ();

    fn region(&self, _: &()) -> Region {
        Region::ROOT
    }

    fn process(&self, _: (), _: &mut Worker<'_, Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The workers that have been woken.
#[derive(Default)]
struct Woken {
    workers: Mutex<Vec<WorkerData<Leaves>>>,
    changed: Condvar,
}

impl Waker<Leaves> for Woken {
    fn wake(&self, data: WorkerData<Leaves>) {
        self.workers.lock().unwrap().push(data);
        self.changed.notify_one();
    }
}

/// Returns two workers of which neither waits; the first has `tasks` tasks.
fn two_workers(work: &Leaves, tasks: usize) -> (Shared<'_, Leaves>, [WorkerData<Leaves>; 2]) {
    let plan = Plan {
        workers: 2,
        policy: Box::new(Nearest::new().low_watermark(0)),
        limits: Limits::default(),
        notes: 0,
        log: 0,
        clock: Clock::Real(Instant::now()),
        fencing: Fencing::Asymmetric,
    };
    let (shared, first) = Shared::new(work, (0..tasks).map(|_| ()).collect(), plan);
    let second = shared.unpark(1);
    (shared, [first, second])
}

/// One worker parks while the other pushes. The other then waits until the first has a task.
fn parks_during_a_push() {
    explore(4, || {
        let work: &'static Leaves = Box::leak(Box::default());
        let (shared, [first, second]) = two_workers(work, 0);
        let world = Arc::new((shared, Woken::default()));
        let other = thread::spawn({
            let world = Arc::clone(&world);
            move || {
                let (shared, woken) = &*world;
                let supplied = shared.idle(second, woken).unwrap_or_else(|| {
                    let mut workers = woken.workers.lock().unwrap();
                    loop {
                        match workers.pop() {
                            Some(data) => return data,
                            None => workers = woken.changed.wait(workers).unwrap(),
                        }
                    }
                });
                assert_eq!((supplied.index, supplied.owner.is_empty()), (1, false));
            }
        });
        let (shared, woken) = &*world;
        let mut worker = Worker::begin(shared, woken, first);
        worker.push(());
        worker.push(());
        // This stands for a long task without a poll.
        other.join().unwrap();
    });
}

/// Runs as a worker does, but checks nothing between two tasks.
fn run_worker(shared: &Shared<'_, Leaves>, woken: &Woken, mut data: WorkerData<Leaves>) {
    loop {
        while data.owner.pop().is_some() {
            shared.worker_infos[data.index].starting.store(false, Ordering::Relaxed);
            shared.work.0.fetch_add(1, Ordering::Relaxed);
        }
        match shared.idle(data, woken) {
            Some(supplied) => data = supplied,
            None => return,
        }
    }
}

/// A worker that runs low runs out of tasks, with or without mail.
///
/// The other worker has tasks and polls once.
///
/// All tasks are done when both are parked.
fn runs_to_the_end() {
    explore(2, || {
        let work: &'static Leaves = Box::leak(Box::default());
        let (shared, [first, second]) = two_workers(work, 2);
        shared.begin_running_low(1);
        let world = Arc::new((shared, Woken::default()));
        let other = thread::spawn({
            let world = Arc::clone(&world);
            move || run_worker(&world.0, &world.1, second)
        });
        let (shared, woken) = &*world;
        let mut worker = Worker::begin(shared, woken, first);
        let _ = worker.poll();
        run_worker(shared, woken, worker.data);
        other.join().unwrap();
        // Nothing waits for the workers that were woken meanwhile, so they can run now.
        loop {
            let next = woken.workers.lock().unwrap().pop();
            let Some(data) = next else { break };
            run_worker(shared, woken, data);
        }
        assert!(shared.signal.load().is_over(), "all workers are parked, but the run is not over");
        assert_eq!(work.0.load(Ordering::Relaxed), 2, "the run ended before all tasks were done");
    });
}

#[test]
fn a_worker_that_parks_does_not_miss_a_push() {
    assert!(defect::with(None, parks_during_a_push));
}

#[test]
fn a_worker_that_parks_without_a_barrier_is_caught() {
    assert!(!defect::with(Some(Defect::ParkWithoutBarrier), parks_during_a_push));
}

#[test]
fn a_worker_that_parks_without_a_last_look_is_caught() {
    assert!(!defect::with(Some(Defect::ParkWithoutLastLook), parks_during_a_push));
}

#[test]
fn the_run_is_over_when_all_tasks_are_done_and_not_before() {
    assert!(defect::with(None, runs_to_the_end));
}

#[test]
fn a_worker_that_ignores_mail_is_caught() {
    assert!(!defect::with(Some(Defect::MailIsForgotten), runs_to_the_end));
}
