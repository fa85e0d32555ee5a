//! Models of the event counter: workers of an engine fall asleep while jobs come.

use std::sync::{Arc, Mutex as StdMutex};

use filch_queue::{AtLeastOnce, ExactlyOnce, Owner, PushError, Steal, Thief};
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;

use super::idle::Protocol;
use super::job::{Forked, Job};
use super::pool::Shared;
use super::{EventCounter, Worker};
use crate::defect::{self, Defect};
use crate::models::check_orders;
use crate::queue::Kind;

/// A kind of queue for at most three jobs.
///
/// It has no fence, and orders nothing but a job before its bit. So all order between a job and a
/// sleeper is that of the idle protocol.
struct Bits;

struct Side<T>(Arc<Slots<T>>);

/// Slots, and a bit for each that is full.
struct Slots<T> {
    full: AtomicUsize,
    /// Not locks of the model: a bit guards each, so that no thread waits.
    tasks: [StdMutex<Option<T>>; 3],
    pushed: StdMutex<usize>,
}

impl<T: Send> Kind<T> for Bits {
    type Owner = Side<T>;
    type Thief = Side<T>;

    fn make(&self) -> (Side<T>, Side<T>) {
        let tasks = [(); 3].map(|()| StdMutex::new(None));
        let slots = Arc::new(Slots { full: AtomicUsize::new(0), tasks, pushed: StdMutex::new(0) });
        (Side(slots.clone()), Side(slots))
    }
}

impl<T> Clone for Side<T> {
    fn clone(&self) -> Self {
        Side(self.0.clone())
    }
}

impl<T> Owner for Side<T> {
    type Task = T;

    fn push(&self, task: T) {
        let mut pushed = self.0.pushed.lock().unwrap();
        *self.0.tasks[*pushed].lock().unwrap() = Some(task);
        // Release: the job is in its slot.
        self.0.full.fetch_or(1 << *pushed, Ordering::Release);
        *pushed += 1;
    }

    fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        self.push(task);
        Ok(())
    }

    fn pop(&self) -> Option<T> {
        match self.steal() {
            Steal::Success(task) => Some(task),
            _ => None,
        }
    }

    fn len(&self) -> usize {
        Thief::len(self)
    }
}

impl<T> Thief for Side<T> {
    type Task = T;

    fn steal(&self) -> Steal<T> {
        let full = self.0.full.load(Ordering::Relaxed);
        if full == 0 {
            return Steal::Empty;
        }
        let oldest = &self.0.tasks[full.trailing_zeros() as usize];
        // Acquire: pairs with the push.
        match self.0.full.compare_exchange(full, full & (full - 1), Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Steal::Success(oldest.lock().unwrap().take().expect("a full slot")),
            Err(_) => Steal::Retry,
        }
    }

    fn len(&self) -> usize {
        self.0.full.load(Ordering::Relaxed).count_ones() as usize
    }
}

impl<T> AtLeastOnce for Side<T> {}
// SAFETY: the exchange that clears a bit takes the job, and each bit is set once.
unsafe impl<T> ExactlyOnce for Side<T> {}

/// A pool without threads, and flags that its workers set.
struct World {
    shared: Arc<Shared<Bits, EventCounter>>,
    owners: Vec<StdMutex<Option<Side<Job<Bits, EventCounter>>>>>,
    has_run: Vec<AtomicBool>,
}

impl World {
    fn new(workers: usize) -> Arc<World> {
        let (owners, thieves): (Vec<_>, Vec<_>) = (0..workers).map(|_| Bits.make()).unzip();
        let owners = owners.into_iter().map(|owner| StdMutex::new(Some(owner))).collect();
        let has_run = (0..workers).map(|_| AtomicBool::new(false)).collect();
        Arc::new(World { shared: Arc::new(Shared::new(thieves)), owners, has_run })
    }

    /// Returns a worker. Called once for each.
    fn worker(&self, index: usize) -> Worker<Bits, EventCounter> {
        Worker::new(self.shared.clone(), index, self.owners[index].lock().unwrap().take().expect("its first call"))
    }

    fn has_run(&self, index: usize) -> bool {
        self.has_run[index].load(Ordering::Acquire)
    }

    /// Starts a worker that searches for jobs until it has run one.
    fn start_idle(self: &Arc<World>, index: usize) -> thread::JoinHandle<()> {
        let world = self.clone();
        thread::spawn(move || world.worker(index).until(&|| world.has_run(index), &|| true))
    }

    /// Returns a job that marks the worker that runs it.
    fn marking(self: &Arc<World>) -> Forked<Bits, EventCounter, impl FnOnce(&Worker<Bits, EventCounter>), ()> {
        let world = self.clone();
        let mark = move |worker: &Worker<_, _>| world.has_run[worker.index()].store(true, Ordering::Release);
        Forked::new(mark, &self.shared.seats[0])
    }
}

/// A worker forks a job and does not look at it again.
fn forks() {
    check_orders(2, || {
        let world = World::new(2);
        let idle = world.start_idle(1);
        let job = world.marking();
        // SAFETY: one job of it, which has run when the idle worker ends.
        world.worker(0).fork(unsafe { job.job() }).expect("room");
        idle.join().unwrap();
    });
}

/// A job comes from outside.
fn injects() {
    check_orders(2, || {
        let world = World::new(1);
        let idle = world.start_idle(0);
        let job = world.marking();
        // SAFETY: as above.
        world.shared.inject(unsafe { job.job() });
        idle.join().unwrap();
    });
}

/// A worker forks two jobs and looks at neither again. Each of two idle workers must run one.
fn forks_two() {
    check_orders(2, || {
        let world = World::new(3);
        let idle = [1, 2].map(|index| world.start_idle(index));
        let jobs = [world.marking(), world.marking()];
        let forks = world.worker(0);
        for job in &jobs {
            // SAFETY: as above, for both.
            forks.fork(unsafe { job.job() }).expect("room");
        }
        idle.into_iter().for_each(|idle| idle.join().unwrap());
    });
}

/// A job from outside forks another and does not look at it again. Either worker runs the first.
/// The other must run the second.
fn wakes_and_forks() {
    check_orders(2, || {
        let world = World::new(2);
        let idle = [0, 1].map(|index| world.start_idle(index));
        let second = world.marking();
        let first = {
            let (runs, second) = (world.clone(), &second);
            let fork = move |worker: &Worker<_, _>| {
                // SAFETY: as above.
                worker.fork(unsafe { second.job() }).expect("room");
                runs.has_run[worker.index()].store(true, Ordering::Release);
            };
            Forked::new(fork, &world.shared.seats[0])
        };
        // SAFETY: as above.
        world.shared.inject(unsafe { first.job() });
        idle.into_iter().for_each(|idle| idle.join().unwrap());
    });
}

/// A worker waits for a job that another has stolen, and sleeps.
fn joins() {
    check_orders(2, || {
        let world = World::new(2);
        let other = {
            let world = world.clone();
            thread::spawn(move || world.worker(1).until(&|| world.has_run(0), &|| true))
        };
        assert_eq!(world.worker(0).join(|_| 1, |_| 2), (1, 2));
        world.has_run[0].store(true, Ordering::Release);
        EventCounter::notify(&world.shared, 1);
        other.join().unwrap();
    });
}

#[test]
fn a_worker_that_falls_asleep_sees_a_fork() {
    assert!(defect::with(None, forks));
}

#[test]
fn a_worker_that_falls_asleep_sees_an_injected_job() {
    assert!(defect::with(None, injects));
}

#[test]
fn a_worker_that_takes_one_of_two_jobs_wakes_another_for_the_second() {
    assert!(defect::with(None, forks_two));
}

#[test]
fn a_sleeper_is_woken_for_a_fork_of_a_woken_worker() {
    assert!(defect::with(None, wakes_and_forks));
}

#[test]
fn an_owner_that_falls_asleep_sees_the_end_of_its_stolen_job() {
    assert!(defect::with(None, joins));
}

#[test]
fn every_step_without_which_a_wake_up_is_lost_is_needed() {
    for defect in
        [Defect::EventWithoutFence, Defect::PostDoesNotLook, Defect::SleepIgnoresEvents, Defect::SleepyWithoutFence]
    {
        assert!(!defect::with(Some(defect), forks), "{defect:?} in a fork");
        assert!(!defect::with(Some(defect), injects), "{defect:?} in an injection");
    }
    assert!(!defect::with(Some(Defect::StopWakesNobody), forks_two));
}
