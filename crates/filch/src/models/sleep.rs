//! The sleep protocol, as the pool uses it: a worker falls asleep while something happens.

use std::sync::Arc;

use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;

use super::check_orders;
use crate::defect::{self, Defect};
use crate::job::Job;
use crate::lineage::{node_of, Lineage};
use crate::pool::{Plan, Shared};
use crate::search;
use crate::seat::Seat;
use crate::sleep::{self, SleepState};
use crate::split::Mode;
use crate::stack::{Execute, Slot, Theft};
use crate::wait;
use crate::worker::Worker;

pub(super) fn plan(mode: Mode) -> Plan {
    Plan { mode, raids: true, ..Plan::default() }
}

fn pool(mode: Mode) -> Arc<Shared> {
    Shared::new(2, 4, plan(mode)).expect("memory for a model")
}

/// Starts worker 1, which searches for work until `flag` is set. It has to find the job that sets
/// the flag.
fn idle_worker(pool: &Arc<Shared>, flag: &Arc<AtomicBool>) -> thread::JoinHandle<()> {
    let (pool, flag) = (pool.clone(), flag.clone());
    thread::spawn(move || {
        let seat = pool.seat(1);
        Seat::set_current(Some(seat));
        search::until(seat, &pool, &mut || flag.load(Ordering::Acquire), &mut || true, &mut || None, SleepState::Idle);
        Seat::set_current(None);
    })
}

/// Makes the worker of `seat` run something since before the others slept. It forks without looking
/// at them.
pub(super) fn set_running(seat: &Seat) {
    seat.begin_work();
    seat.stack.answer();
}

/// Does the same as `set_running`, for a worker that runs a job stolen from `owner`.
pub(super) fn set_running_stolen(seat: &Seat, owner: &Seat, slot: &Slot) {
    slot.run_by(seat.index);
    seat.runs.begin(seat, owner.lineage_of(slot), 0);
    set_running(seat);
}

/// Returns the slot at an address that was made from a reference to it.
pub(super) fn slot_at<'a>(address: usize) -> &'a Slot {
    // SAFETY: a slot of the model's pool, whose provenance is exposed.
    unsafe { &*std::ptr::with_exposed_provenance::<Slot>(address) }
}

/// Forks a job on the worker of `seat`, and steals it. Called before other threads use the seat.
pub(super) fn stolen_from(seat: &Seat, data: *const (), execute: Execute) -> &Slot {
    // SAFETY: this thread is the worker of the seat until then.
    let slot = unsafe { Worker::at(seat.stack.bottom()) }.slot();
    seat.stack.push(slot, data, execute);
    seat.stack.share();
    match seat.stack.steal() {
        Theft::Job(stolen) => stolen,
        theft => panic!("a public job cannot be stolen: {theft:?}"),
    }
}

unsafe fn set_flag(data: *const (), _: &mut Worker, _: bool) {
    // SAFETY: the flag outlives the model's threads.
    unsafe { &*data.cast::<AtomicBool>() }.store(true, Ordering::Release);
}

/// Worker 0 forks one job and then does not look at it again. Without a wake-up, or a raid, worker
/// 1 sleeps forever and the model deadlocks.
fn forks(mode: Mode) {
    check_orders(2, move || {
        let (pool, flag) = (pool(mode), Arc::new(AtomicBool::new(false)));
        set_running(pool.seat(0));
        let sleeper = idle_worker(&pool, &flag);
        let seat = pool.seat(0);
        // SAFETY: this thread is worker 0 of the model.
        let slot = unsafe { Worker::at(seat.stack.bottom()) }.slot();
        if seat.stack.push(slot, Arc::as_ptr(&flag).cast(), set_flag) {
            sleep::answer(seat, slot);
        }
        sleeper.join().unwrap();
    });
}

/// A job comes from outside.
fn injects() {
    check_orders(2, || {
        let (pool, flag) = (pool(Mode::Asymmetric), Arc::new(AtomicBool::new(false)));
        let sleeper = idle_worker(&pool, &flag);
        // SAFETY: run once, while the flag is there.
        pool.inject(unsafe { Job::from_parts(Arc::as_ptr(&flag).cast(), set_flag, Lineage::ROOT) });
        sleeper.join().unwrap();
    });
}

/// A job comes that only this worker may run.
fn delivers() {
    check_orders(2, || {
        let (pool, flag) = (pool(Mode::Asymmetric), Arc::new(AtomicBool::new(false)));
        let sleeper = idle_worker(&pool, &flag);
        // SAFETY: run once, while the flag is there.
        pool.seat(1).deliver(unsafe { Job::from_parts(Arc::as_ptr(&flag).cast(), set_flag, Lineage::ROOT) });
        sleeper.join().unwrap();
    });
}

/// Worker 0 waits for a stolen job, strictly; worker 1 completes it.
fn completes() {
    check_orders(2, || {
        let pool = pool(Mode::Asymmetric);
        let flag = Arc::new(AtomicBool::new(false));
        set_running(pool.seat(0));
        let seat = pool.seat(0);
        // SAFETY: this thread is worker 0 of the model.
        let slot = unsafe { Worker::at(seat.stack.bottom()) }.slot();
        seat.stack.push(slot, Arc::as_ptr(&flag).cast(), set_flag);
        seat.stack.share();
        let sleeper = idle_worker(&pool, &flag);
        if seat.stack.pop(slot) || seat.stack.settle(slot) {
            flag.store(true, Ordering::Release);
            pool.seat(1).sleep.notify();
        } else {
            wait::for_stolen(seat, slot);
            assert!(flag.load(Ordering::Acquire));
        }
        sleeper.join().unwrap();
    });
}

#[test]
fn a_worker_that_falls_asleep_sees_a_fork() {
    for mode in [Mode::Asymmetric, Mode::Fenced] {
        assert!(defect::with(None, move || forks(mode)));
    }
}

#[test]
fn a_worker_that_falls_asleep_sees_an_injected_job() {
    assert!(defect::with(None, injects));
}

#[test]
fn an_injection_without_a_fence_is_caught() {
    assert!(!defect::with(Some(Defect::EventWithoutFence), injects));
}

#[test]
fn a_worker_that_falls_asleep_sees_a_delivered_job() {
    assert!(defect::with(None, delivers));
}

#[test]
fn an_owner_that_falls_asleep_sees_the_end_of_its_stolen_job() {
    assert!(defect::with(None, completes));
}

#[test]
fn a_sleeper_that_does_not_look_again_is_caught() {
    assert!(!defect::with(Some(Defect::SleepWithoutLook), || forks(Mode::Asymmetric)));
}

#[test]
fn a_sleeper_without_the_barrier_is_caught() {
    assert!(!defect::with(Some(Defect::NoBarrier), || forks(Mode::Asymmetric)));
}

/// A worker forks two jobs and looks at neither again. Each of two other workers must run one, as
/// if the two jobs waited for each other. The worker that takes the first must make sure that the
/// second is taken.
fn forks_two() {
    unsafe fn set_own_flag(data: *const (), worker: &mut Worker, _: bool) {
        // SAFETY: the flags outlive the model's threads.
        let flags = unsafe { &*data.cast::<[AtomicBool; 3]>() };
        flags[worker.index()].store(true, Ordering::Release);
    }
    check_orders(2, || {
        let pool = Shared::new(3, 4, plan(Mode::Asymmetric)).expect("memory");
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false)]);
        set_running(pool.seat(0));
        let idle: Vec<_> = [1, 2]
            .into_iter()
            .map(|index| {
                let (pool, flags) = (pool.clone(), flags.clone());
                thread::spawn(move || {
                    let seat = pool.seat(index);
                    Seat::set_current(Some(seat));
                    let mut done = || flags[index].load(Ordering::Acquire);
                    search::until(seat, &pool, &mut done, &mut || true, &mut || None, SleepState::Idle);
                    Seat::set_current(None);
                })
            })
            .collect();
        let seat = pool.seat(0);
        for _ in 0..2 {
            // SAFETY: this thread is worker 0 of the model.
            let slot = unsafe { Worker::at(seat.stack.bottom()) }.slot();
            if seat.stack.push(slot, Arc::as_ptr(&flags).cast(), set_own_flag) {
                sleep::answer(seat, slot);
            }
        }
        idle.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// A job from outside forks another and does not look at it again. Either worker runs the first
/// job. The other worker must run that. Both may sleep when the job comes, and then neither had a
/// barrier.
fn wakes_and_forks() {
    unsafe fn set_own_flag(data: *const (), worker: &mut Worker, _: bool) {
        // SAFETY: the flags outlive the model's threads.
        let flags = unsafe { &*data.cast::<[AtomicBool; 2]>() };
        flags[worker.index()].store(true, Ordering::Release);
    }
    unsafe fn fork(data: *const (), worker: &mut Worker, migrated: bool) {
        let (seat, slot) = (worker.seat(), worker.slot());
        if seat.stack.push(slot, data, set_own_flag) {
            sleep::answer(seat, slot);
        }
        // SAFETY: as above.
        unsafe { set_own_flag(data, worker, migrated) };
    }
    check_orders(2, || {
        let pool = pool(Mode::Asymmetric);
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let idle = |index: usize| {
            let (pool, flags) = (pool.clone(), flags.clone());
            move || {
                let seat = pool.seat(index);
                Seat::set_current(Some(seat));
                let mut done = || flags[index].load(Ordering::Acquire);
                search::until(seat, &pool, &mut done, &mut || true, &mut || None, SleepState::Idle);
                Seat::set_current(None);
            }
        };
        let workers = [thread::spawn(idle(0)), thread::spawn(idle(1))];
        // SAFETY: run once, while the flags are there.
        pool.inject(unsafe { Job::from_parts(Arc::as_ptr(&flags).cast(), fork, Lineage::ROOT) });
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

/// Worker 0 waits for a job that worker 3 runs. Worker 3 forks another job and does not look at it
/// again; worker 1 then forks an unrelated one. The idle worker 2 takes one of the two, mostly the
/// second, and leaves. Then only the waiter can run the first.
fn leaves_a_job_to_a_waiter() {
    /// The awaited job, and whether the idle worker has had something to do.
    struct World {
        awaited: usize,
        idle_is_done: AtomicBool,
    }
    unsafe fn unrelated(data: *const (), worker: &mut Worker, _: bool) {
        // SAFETY: the world outlives the model's threads.
        let world = unsafe { &*data.cast::<World>() };
        if worker.index() == 2 {
            world.idle_is_done.store(true, Ordering::Release);
        }
    }
    unsafe fn needed(data: *const (), worker: &mut Worker, migrated: bool) {
        // SAFETY: as above.
        unsafe { unrelated(data, worker, migrated) };
        // SAFETY: as above.
        let world = unsafe { &*data.cast::<World>() };
        let pool = worker.seat().pool();
        if slot_at(world.awaited).complete() {
            pool.seat(0).sleep.notify();
        }
    }
    check_orders(1, || {
        let pool = Shared::new(4, 4, plan(Mode::Asymmetric)).expect("memory");
        let waiter = pool.seat(0);
        [0, 1].into_iter().for_each(|index| set_running(pool.seat(index)));
        let awaited = stolen_from(waiter, std::ptr::null(), unrelated);
        let world =
            Arc::new(World { awaited: std::ptr::from_ref(awaited).addr(), idle_is_done: AtomicBool::new(false) });
        set_running_stolen(pool.seat(3), waiter, awaited);

        let idles = {
            let (pool, world) = (pool.clone(), world.clone());
            thread::spawn(move || {
                let seat = pool.seat(2);
                Seat::set_current(Some(seat));
                let mut done = || world.idle_is_done.load(Ordering::Acquire);
                search::until(seat, &pool, &mut done, &mut || true, &mut || None, SleepState::Idle);
                Seat::set_current(None);
            })
        };
        let forks = {
            let (pool, world) = (pool.clone(), world.clone());
            thread::spawn(move || {
                for (index, execute) in [(3, needed as Execute), (1, unrelated)] {
                    let seat = pool.seat(index);
                    // SAFETY: this thread is both workers of the model.
                    let slot = unsafe { Worker::at(seat.stack.bottom()) }.slot();
                    if seat.stack.push(slot, Arc::as_ptr(&world).cast(), execute) {
                        sleep::answer(seat, slot);
                    }
                }
            })
        };
        // The threads begin in this order if none is preempted: waiter, idle worker, the forks.
        Seat::set_current(Some(waiter));
        wait::for_stolen(waiter, awaited);
        Seat::set_current(None);
        idles.join().unwrap();
        forks.join().unwrap();
    });
}

/// Worker 0 forks a job, sleeps, wakes, and returns to its job. Worker 1 raids it meanwhile. The
/// job is run once.
fn raids_a_sleeper() {
    check_orders(3, || {
        let pool = pool(Mode::Asymmetric);
        let runs = Arc::new(AtomicUsize::new(0));
        let owner = pool.seat(0);
        set_running(owner);
        // SAFETY: this thread is worker 0 of the model.
        let slot = unsafe { Worker::at(owner.stack.bottom()) }.slot();
        let raider = {
            let (pool, runs) = (pool.clone(), runs.clone());
            thread::spawn(move || {
                pool.seat(1).raid(pool.seat(0));
                if let Theft::Job(slot) = pool.seat(0).stack.steal() {
                    runs.fetch_add(1, Ordering::Relaxed);
                    slot.complete();
                }
            })
        };
        owner.stack.push(slot, std::ptr::null(), set_flag);
        pool.sleep.mark_asleep(&owner.sleep, SleepState::WaitingFor(node_of(slot)));
        pool.sleep.mark_awake(&owner.sleep);
        if owner.stack.pop(slot) || owner.stack.settle(slot) {
            runs.fetch_add(1, Ordering::Relaxed);
        }
        raider.join().unwrap();
        assert_eq!(runs.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_sleeping_owner_is_raided_without_a_barrier() {
    assert!(defect::with(Some(Defect::BarrierRefused), raids_a_sleeper));
    assert!(defect::with(None, raids_a_sleeper));
}

#[test]
fn a_raid_of_a_sleeper_without_a_fence_is_caught() {
    assert!(!defect::with(Some(Defect::RaidsWithoutFence), raids_a_sleeper));
}

#[test]
fn an_owner_that_wakes_without_a_fence_is_caught() {
    assert!(!defect::with(Some(Defect::WakesWithoutFence), raids_a_sleeper));
}

/// Worker 0 waits for a job that worker 1 runs. That can end only after a job in the injector,
/// which stands on the stack of worker 1. Another waiter takes that job out and puts it back.
fn returns_to_the_injector() {
    unsafe fn complete(data: *const (), worker: &mut Worker, _: bool) {
        let pool = worker.seat().pool();
        if slot_at(data.addr()).complete() {
            pool.seat(0).sleep.notify();
        }
    }
    unsafe fn run_slot(data: *const (), worker: &mut Worker, _: bool) {
        // SAFETY: a slot of the pool, whose job was stolen.
        unsafe { search::run_forked(&*data.cast::<Slot>(), worker) };
    }
    check_orders(3, || {
        let pool = pool(Mode::Asymmetric);
        let (waiter, runner) = (pool.seat(0), pool.seat(1));
        set_running(waiter);
        let awaited = stolen_from(waiter, std::ptr::null(), complete);
        set_running_stolen(runner, waiter, awaited);
        let given_back = stolen_from(runner, std::ptr::from_ref(awaited).cast(), complete);
        let lineage = runner.lineage_of(given_back);
        // SAFETY: run once, while the pool is there.
        pool.injector.push(unsafe { Job::from_parts(std::ptr::from_ref(given_back).cast(), run_slot, lineage) });
        let other = {
            let pool = pool.clone();
            thread::spawn(move || {
                if let Some(job) = pool.injector.take() {
                    pool.inject(job);
                }
            })
        };
        Seat::set_current(Some(waiter));
        wait::for_stolen(waiter, awaited);
        Seat::set_current(None);
        other.join().unwrap();
    });
}

#[test]
fn a_waiter_sees_a_job_that_is_put_back() {
    assert!(defect::with(None, returns_to_the_injector));
}

#[test]
fn a_put_back_that_wakes_no_waiter_is_caught() {
    assert!(!defect::with(Some(Defect::PutBackWakesNoWaiter), returns_to_the_injector));
}

#[test]
fn the_last_searcher_wakes_a_waiter_for_what_it_leaves() {
    assert!(defect::with(None, leaves_a_job_to_a_waiter));
}

#[test]
fn a_last_searcher_that_wakes_no_waiters_is_caught() {
    assert!(!defect::with(Some(Defect::WakesNoWaiters), leaves_a_job_to_a_waiter));
}

#[test]
fn a_last_searcher_that_does_not_look_is_caught() {
    assert!(!defect::with(Some(Defect::LastSearcherDoesNotLook), forks_two));
}

#[test]
fn a_sleeper_is_woken_for_a_fork_of_a_woken_worker() {
    assert!(defect::with(None, wakes_and_forks));
}

#[test]
fn a_worker_that_takes_one_of_two_jobs_wakes_another_for_the_second() {
    assert!(defect::with(None, forks_two));
}
