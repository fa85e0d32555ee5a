//! What a waiting worker finds and is woken for: distant descendants.
//!
//! In the models of waits, worker 0 waits for a job that worker 1 runs. Worker 1 has forked another
//! job, and worker 2 runs that one. Only worker 0 can take what worker 2 forks.

use std::sync::Arc;

use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use super::check_orders;
use super::sleep::{plan, set_running, set_running_stolen, slot_at, stolen_from};
use crate::defect::{self, Defect};
use crate::job::Job;
use crate::lineage::{node_of, Lineage};
use crate::pool::Shared;
use crate::search::{self, Purpose, Work};
use crate::seat::Seat;
use crate::sleep;
use crate::split::Mode;
use crate::stack::{Execute, Slot, Theft};
use crate::wait;
use crate::worker::Worker;

/// The state that the jobs of a model share.
struct World {
    awaited: usize,
    has_run: AtomicBool,
}

unsafe fn nothing(_: *const (), _: &mut Worker, _: bool) {}

/// The job that only the waiter can run. It ends the wait.
unsafe fn end_wait(data: *const (), worker: &mut Worker, _: bool) {
    // SAFETY: the world outlives the model's threads.
    let world = unsafe { &*data.cast::<World>() };
    world.has_run.store(true, Ordering::Release);
    if slot_at(world.awaited).complete() {
        worker.seat().pool().seat(0).sleep.notify();
    }
}

/// Forks a job on the worker of `seat`.
fn fork(seat: &Seat, data: *const (), execute: Execute) -> &Slot {
    // SAFETY: the calling thread is the worker of the model.
    let slot = unsafe { Worker::at(seat.stack.bottom()) }.slot();
    if seat.stack.push(slot, data, execute) {
        sleep::answer(seat, slot);
    }
    slot
}

/// Whether worker 2 runs worker 1's job before worker 0 begins to wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Runs,
    Waits,
}

/// Makes worker 0 wait, while `work` runs on a thread that is worker 2. `work` gets the slot of
/// worker 1's job.
fn waits(part: Part, work: impl Fn(&Shared, &Slot, *const World) + Copy + Send + Sync + 'static) {
    check_orders(2, move || {
        let pool = Shared::new(3, 4, plan(Mode::Asymmetric)).expect("memory for a model");
        let (waiter, runner) = (pool.seat(0), pool.seat(1));
        set_running(waiter);
        let awaited = stolen_from(waiter, std::ptr::null(), nothing);
        set_running_stolen(runner, waiter, awaited);
        let world = Arc::new(World { awaited: node_of(awaited), has_run: AtomicBool::new(false) });
        let slot = stolen_from(runner, Arc::as_ptr(&world).cast(), nothing);
        if part == Part::Runs {
            set_running_stolen(pool.seat(2), runner, slot);
        }
        let slot = node_of(slot);
        let thief = {
            let (pool, world) = (pool.clone(), world.clone());
            thread::spawn(move || {
                Seat::set_current(Some(pool.seat(2)));
                work(&pool, slot_at(slot), Arc::as_ptr(&world));
                Seat::set_current(None);
            })
        };
        Seat::set_current(Some(waiter));
        wait::for_stolen(waiter, awaited);
        Seat::set_current(None);
        thief.join().unwrap();
        assert!(world.has_run.load(Ordering::Acquire));
    });
}

/// Worker 2 runs worker 1's job since before worker 0 went to sleep, and forks.
fn forks_at_a_distance() {
    waits(Part::Runs, |pool, _, world| _ = fork(pool.seat(2), world.cast(), end_wait));
}

/// Worker 2 begins to run worker 1's job, and forks in it.
fn begins_at_a_distance() {
    waits(Part::Waits, |pool, slot, world| {
        let seat = pool.seat(2);
        // As `search::run` does; but the job stays on the stack.
        seat.runs.begin(seat, pool.seat(1).lineage_of(slot), 0);
        seat.begin_work();
        fork(seat, world.cast(), end_wait);
    });
}

/// Worker 2 runs worker 1's job, and above it something else that forks. A part of a broadcast may
/// do that. Then it forks in worker 1's job.
fn forks_after_something_else() {
    unsafe fn fork_elsewhere(_: *const (), worker: &mut Worker, _: bool) {
        let stack = &worker.seat().stack;
        let slot = fork(worker.seat(), std::ptr::null(), nothing);
        assert!(stack.pop(slot) || stack.settle(slot), "no worker may take it");
    }
    waits(Part::Runs, |pool, _, world| {
        let seat = pool.seat(2);
        // SAFETY: run once.
        let other = unsafe { Job::from_parts(std::ptr::null(), fork_elsewhere, Lineage::ROOT) };
        search::run(seat, Work::Job(other), Purpose::Other);
        fork(seat, world.cast(), end_wait);
    });
}

/// A worker runs something, and forks a job after that. It begins something else above the job
/// while a thief takes the job and looks up which run has forked it.
fn looks_at_the_run_of_a_stolen_job() {
    check_orders(3, || {
        let pool = Shared::new(2, 4, plan(Mode::Asymmetric)).expect("memory for a model");
        let owner = pool.seat(0);
        set_running(owner);
        owner.runs.begin(owner, Lineage::from_parts(64, std::ptr::null()), 0);
        owner.runs.end();
        // SAFETY: this thread is worker 0 of the model.
        let slot = unsafe { Worker::at(owner.stack.bottom()) }.slot();
        owner.stack.push(slot, std::ptr::null(), nothing);
        owner.stack.share();
        let thief = {
            let pool = pool.clone();
            thread::spawn(move || {
                let victim = pool.seat(0);
                if let Theft::Job(stolen) = victim.stack.steal() {
                    let (_, run) = victim.lineage_of(stolen).into_parts();
                    assert!(std::ptr::eq(run, victim.runs.bottom()), "the run that forked it");
                }
            })
        };
        owner.runs.begin(owner, Lineage::from_parts(128, std::ptr::null()), 1);
        owner.runs.end();
        owner.runs.begin(owner, Lineage::from_parts(192, std::ptr::null()), 1);
        thief.join().unwrap();
        owner.runs.end();
    });
}

#[test]
fn a_waiter_is_woken_for_a_fork_at_a_distance() {
    assert!(defect::with(None, forks_at_a_distance));
}

#[test]
fn a_fork_that_wakes_direct_waits_only_is_caught() {
    assert!(!defect::with(Some(Defect::WakesDirectWaitsOnly), forks_at_a_distance));
}

#[test]
fn a_waiter_is_woken_for_a_fork_in_a_run_that_has_just_begun() {
    assert!(defect::with(None, begins_at_a_distance));
}

#[test]
fn a_run_that_begins_without_an_alarm_is_caught() {
    assert!(!defect::with(Some(Defect::BeginRaisesNoAlarm), begins_at_a_distance));
}

#[test]
fn a_waiter_is_woken_for_a_fork_after_something_else() {
    assert!(defect::with(None, forks_after_something_else));
}

#[test]
fn a_run_that_ends_without_an_alarm_is_caught() {
    assert!(!defect::with(Some(Defect::EndRaisesNoAlarm), forks_after_something_else));
}

#[test]
fn a_thief_finds_the_run_that_forked_a_stolen_job() {
    assert!(defect::with(None, looks_at_the_run_of_a_stolen_job));
}

#[test]
fn an_ended_run_that_keeps_its_entry_is_caught() {
    assert!(!defect::with(Some(Defect::KeepsEndedRuns), looks_at_the_run_of_a_stolen_job));
}
