//! Task deques, and the end of scopes. An owner pushes and pops, thieves steal, and a thief raids.
//! Every task is run once, as it was pushed, and before its scope is over.

use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;

use super::sleep::{plan, set_running};
use super::{check_orders, with_deques};
use crate::defect::{self, Defect};
use crate::job::Job;
use crate::lineage::Lineage;
use crate::pool::Shared;
use crate::scope::{Order, Scope};
use crate::search::{self, Purpose, Work};
use crate::seat::Seat;
use crate::sleep::SleepState;
use crate::split::Mode;
use crate::tasks::{Counted, Deque, Pop, Theft};
use crate::worker::Worker;

/// A deque, the content of each task, and how often it was run.
struct World {
    tasks: Deque,
    /// Written before the task is pushed. Loom reports a thread that reads it and has not acquired
    /// it.
    contents: Vec<UnsafeCell<usize>>,
    runs: Vec<AtomicUsize>,
}

// SAFETY: the model's threads use the owner's side of the deque on one thread.
unsafe impl Sync for World {}
// SAFETY: as above.
unsafe impl Send for World {}

unsafe fn never(_: *const (), _: &mut Worker, _: bool) {
    unreachable!("models look at the task and do not run it")
}

impl World {
    fn new(tasks: usize, mode: Mode) -> Arc<World> {
        Arc::new(World {
            tasks: Deque::new(mode, 1, Counted::WhenStolen),
            contents: (0..tasks).map(|_| UnsafeCell::new(0)).collect(),
            runs: (0..tasks).map(|_| AtomicUsize::new(0)).collect(),
        })
    }

    fn push(&self, task: usize) {
        // SAFETY: loom checks it.
        self.contents[task].with_mut(|content| unsafe { *content = task });
        // SAFETY: called on the owner's thread; the slot can be written.
        unsafe { self.tasks.push(|slot| Job::write(slot, task, never, Lineage::ROOT)) };
    }

    fn run(&self, job: &Job) {
        // SAFETY: written by `push`, and taken once, or the count below shows it.
        let (task, _) = unsafe { Job::take_closure::<usize>(std::ptr::from_ref(job).cast()) };
        // SAFETY: loom checks it.
        self.contents[task].with(|content| assert_eq!(unsafe { *content }, task));
        self.runs[task].fetch_add(1, Ordering::Relaxed);
    }

    /// Pops and runs the youngest task, as long as there is one. Called by the owner.
    fn pop_all(&self) {
        // SAFETY: called on the owner's thread.
        while let Pop::Task(job) = unsafe { self.tasks.pop(0) } {
            // SAFETY: popped.
            self.run(&unsafe { job.read() });
        }
    }

    fn steal(&self) {
        loop {
            match self.tasks.steal_if(|_| true, |_| ()) {
                Theft::Task(job) => return self.run(&job),
                Theft::Lost => {}
                Theft::Nothing => return,
            }
        }
    }

    fn check(&self) {
        for (task, runs) in self.runs.iter().enumerate() {
            assert_eq!(runs.load(Ordering::Relaxed), 1, "runs of task {task}");
        }
    }
}

fn threads(
    count: usize,
    world: &Arc<World>,
    run: impl Fn(&World) + Copy + Send + 'static,
) -> Vec<thread::JoinHandle<()>> {
    (0..count)
        .map(|_| {
            let world = world.clone();
            thread::spawn(move || run(&world))
        })
        .collect()
}

fn end(world: &World, threads: Vec<thread::JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    world.check();
}

/// The owner switches to fences by itself between two pushes. Meanwhile a thief raids.
fn switches_by_itself() {
    check_orders(3, || {
        let world = World::new(2, Mode::Asymmetric);
        let raiders = threads(1, &world, |world| {
            world.tasks.raid(|| false);
            world.steal();
        });
        world.push(0);
        world.tasks.request_fences();
        world.tasks.handle_fence_request();
        world.push(1);
        world.pop_all();
        end(&world, raiders);
    });
}

#[test]
fn an_owner_may_switch_to_fences_by_itself_during_a_raid() {
    for refusal in [None, Some(Defect::BarrierRefused)] {
        assert!(defect::with(refusal, switches_by_itself));
    }
    assert!(!defect::with(Some(Defect::SwitchKeepsRaids), switches_by_itself));
}

/// The owner pushes two tasks and shares; there are one or two thieves.
fn shares(mode: Mode, thieves: usize) {
    check_orders(3 - thieves.min(2) + 1, move || {
        let world = World::new(2, mode);
        let thieves = threads(thieves, &world, World::steal);
        world.push(0);
        world.push(1);
        world.tasks.share(false);
        world.pop_all();
        end(&world, thieves);
    });
}

/// The owner pushes, pops and pushes again, and shares nothing; a thief raids and steals.
fn raids(mode: Mode) {
    check_orders(3, move || {
        let world = World::new(3, mode);
        let raiders = threads(1, &world, |world| {
            world.tasks.raid(|| false);
            world.steal();
        });
        world.push(0);
        world.push(1);
        // SAFETY: this is the owner's thread.
        if let Pop::Task(job) = unsafe { world.tasks.pop(1) } {
            // SAFETY: popped.
            world.run(&unsafe { job.read() });
        }
        world.push(2);
        world.pop_all();
        end(&world, raiders);
    });
}

/// Two thieves claim what the owner has pushed, and the owner keeps pushing. A chunk has room for
/// two tasks.
fn reuses(mode: Mode) {
    check_orders(2, move || {
        let world = World::new(4, mode);
        world.push(0);
        world.push(1);
        assert_eq!(world.tasks.share(true) + world.tasks.share(true), 2);
        let thieves = threads(2, &world, World::steal);
        while world.tasks.has_public() {
            thread::yield_now();
        }
        world.push(2);
        world.push(3);
        world.pop_all();
        end(&world, thieves);
    });
}

/// The owner finds its task stolen, and pushes another one.
fn pushes_after_theft() {
    check_orders(2, || {
        let world = World::new(2, Mode::Asymmetric);
        let thieves = threads(1, &world, World::steal);
        for task in 0..2 {
            world.push(task);
            world.tasks.share(true);
            world.pop_all();
        }
        end(&world, thieves);
    });
}

/// The owner takes its oldest task, and so does a thief, perhaps after a raid.
fn takes_oldest(mode: Mode, raids: bool) {
    check_orders(2, move || {
        let count = if raids { 1 } else { 3 };
        let world = World::new(count, mode);
        let thieves = threads(1, &world, move |world| {
            if raids {
                world.tasks.raid(|| false);
            }
            world.steal();
        });
        for task in 0..count {
            world.push(task);
        }
        // SAFETY: this is the owner's thread.
        while let Some(job) = unsafe { world.tasks.take_oldest() } {
            world.run(&job);
        }
        assert!(!world.tasks.has_tasks(), "the owner says that there are no more");
        end(&world, thieves);
    });
}

const MODES: [Mode; 2] = [Mode::Asymmetric, Mode::Fenced];

#[test]
fn what_is_shared_is_run_once() {
    for mode in MODES {
        for thieves in 1..=2 {
            assert!(defect::with(None, move || shares(mode, thieves)));
        }
    }
}

#[test]
fn a_raid_takes_nothing_that_the_owner_has_taken() {
    for mode in MODES {
        assert!(defect::with(None, move || raids(mode)));
    }
}

#[test]
fn a_slot_is_used_again_when_its_task_was_moved_out() {
    for mode in MODES {
        assert!(defect::with(None, move || reuses(mode)));
    }
    assert!(defect::with(None, pushes_after_theft));
}

#[test]
fn an_owner_that_takes_its_oldest_takes_what_no_thief_has() {
    for mode in MODES {
        for raids in [false, true] {
            assert!(defect::with(None, move || takes_oldest(mode, raids)));
        }
    }
    assert!(!defect::with(Some(Defect::TakeOldestIgnoresPublic), || takes_oldest(Mode::Asymmetric, true)));
}

#[test]
fn a_share_that_does_not_release_is_caught() {
    assert!(defect::with(Some(Defect::NoLightBarrier), || shares(Mode::Asymmetric, 1)));
    assert!(!defect::with(Some(Defect::ShareWithoutRelease), || shares(Mode::Asymmetric, 1)));
}

#[test]
fn a_raid_without_the_barrier_is_caught() {
    assert!(!defect::with(Some(Defect::NoBarrier), || raids(Mode::Asymmetric)));
    assert!(!defect::with(Some(Defect::NoLightBarrier), || raids(Mode::Asymmetric)));
    assert!(!defect::with(Some(Defect::RaidAfterSettle), || raids(Mode::Asymmetric)));
}

#[test]
fn slots_that_are_used_again_too_early_are_caught() {
    assert!(!defect::with(Some(Defect::ReusesSlotsEarly), || reuses(Mode::Asymmetric)));
    assert!(!defect::with(Some(Defect::LeavesBottomBelowTop), pushes_after_theft));
}

/// Which tasks of a scope are over. Outlives the model's threads, not the scope.
struct Over {
    tasks: Vec<AtomicBool>,
}

/// Steals a task of worker `victim` and runs it on worker `thief`.
fn steal_and_run(pool: &Shared, thief: usize, victim: usize) {
    let seat = pool.seat(thief);
    if let Some(task) = pool.seat(victim).steal_task(|_, _| true) {
        search::run(seat, Work::Task(task), Purpose::Other);
    }
}

/// Runs a scope on worker 0. Its first task, if it is stolen, spawns another one, which may be
/// stolen again.
fn scopes(order: Order) {
    scopes_whose_task_spawns(order, |scope, task| scope.spawn(task));
}

/// Does the same as `scopes`, but another scope is the innermost when the task spawns.
fn scopes_with_strays() {
    scopes_whose_task_spawns(Order::Youngest, |scope, task| {
        let seat = Seat::current().expect("a worker");
        // So that the task is public as soon as it is pushed.
        seat.stack.demand();
        Scope::run(seat.worker(), Order::Youngest, |_| scope.spawn(task));
    });
}

type Task<'scope> = Box<dyn FnOnce(&Scope<'scope>) + Send + 'scope>;

fn scopes_whose_task_spawns(
    order: Order,
    spawn: impl for<'scope> Fn(&Scope<'scope>, Task<'scope>) + Copy + Send + Sync + 'static,
) {
    with_deques(|| {
        check_orders(2, move || {
            let pool = Shared::new(3, 4, plan(Mode::Asymmetric)).expect("memory for a model");
            let seat = pool.seat(0);
            set_running(seat);
            let over = Arc::new(Over { tasks: (0..3).map(|_| AtomicBool::new(false)).collect() });
            let thieves: Vec<_> = [(1, 0), (2, 1)]
                .map(|(thief, victim)| {
                    let pool = pool.clone();
                    thread::spawn(move || {
                        Seat::set_current(Some(pool.seat(thief)));
                        steal_and_run(&pool, thief, victim);
                        Seat::set_current(None);
                    })
                })
                .into();
            Seat::set_current(Some(seat));
            let tasks = &over.tasks;
            Scope::run(seat.worker(), order, |scope| {
                scope.spawn(move |scope| {
                    spawn(scope, Box::new(move |_| tasks[1].store(true, Ordering::Relaxed)));
                    share_all(Seat::current().expect("a worker"));
                    tasks[0].store(true, Ordering::Relaxed);
                });
                share_all(seat);
                scope.spawn(move |_| tasks[2].store(true, Ordering::Relaxed));
            });
            for (index, task) in over.tasks.iter().enumerate() {
                assert!(task.load(Ordering::Relaxed), "the scope is over, and task {index} is not");
            }
            Seat::set_current(None);
            thieves.into_iter().for_each(|thief| thief.join().unwrap());
        });
    });
}

fn share_all(seat: &Seat) {
    seat.task_deques().for_each(|tasks| {
        tasks.share(true);
    });
}

#[test]
fn a_scope_is_over_when_all_its_tasks_are() {
    for order in [Order::Youngest, Order::Oldest] {
        assert!(defect::with(None, move || scopes(order)));
    }
}

#[test]
fn a_scope_is_over_when_its_stray_tasks_are() {
    assert!(defect::with(None, scopes_with_strays));
    assert!(!defect::with(Some(Defect::CountsStraysLate), scopes_with_strays));
}

#[test]
fn a_scope_that_ends_too_early_is_caught() {
    assert!(!defect::with(Some(Defect::ScopeIgnoresClaimed), || scopes(Order::Youngest)));
    assert!(!defect::with(Some(Defect::CountsAfterMoved), || scopes(Order::Youngest)));
    assert!(!defect::with(Some(Defect::FinishesBeforeItsTasks), || scopes(Order::Youngest)));
}

/// A worker falls asleep while another one spawns a job or a task. That worker then waits for it
/// without another push.
fn sleeps(push: impl Fn(&Seat, &Arc<AtomicBool>) + Copy + Send + Sync + 'static) {
    with_deques(|| {
        check_orders(2, move || {
            let pool = Shared::new(2, 4, plan(Mode::Asymmetric)).expect("memory for a model");
            let flag = Arc::new(AtomicBool::new(false));
            let seat = pool.seat(0);
            set_running(seat);
            let idle = {
                let (pool, flag) = (pool.clone(), flag.clone());
                thread::spawn(move || {
                    let seat = pool.seat(1);
                    Seat::set_current(Some(seat));
                    let is_over = &mut || flag.load(Ordering::Acquire);
                    search::until(seat, &pool, is_over, &mut || true, &mut || None, SleepState::Idle);
                    Seat::set_current(None);
                })
            };
            Seat::set_current(Some(seat));
            push(seat, &flag);
            idle.join().unwrap();
            Seat::set_current(None);
        });
    });
}

fn spawn_job(seat: &Seat, flag: &Arc<AtomicBool>) {
    unsafe fn execute(job: *const (), _: &mut Worker, _: bool) {
        // SAFETY: a job of such a closure, run once.
        let (flag, _) = unsafe { Job::take_closure::<Arc<AtomicBool>>(job) };
        flag.store(true, Ordering::Release);
    }
    // SAFETY: this is the worker of the seat.
    unsafe { seat.push_spawned(|slot| Job::write(slot, flag.clone(), execute, Lineage::ROOT)) };
}

fn push_task(seat: &Seat, flag: &Arc<AtomicBool>) {
    // Only the other worker runs the task: this one waits for it in the body.
    Scope::run(seat.worker(), Order::Youngest, |scope| {
        scope.spawn(|_| flag.store(true, Ordering::Release));
        while !flag.load(Ordering::Acquire) {
            thread::yield_now();
        }
    });
}

/// Does the same as `push_task`, for a scope that is not the innermost.
fn push_stray(seat: &Seat, flag: &Arc<AtomicBool>) {
    Scope::run(seat.worker(), Order::Youngest, |outer| {
        Scope::run(seat.worker(), Order::Youngest, |_| {
            outer.spawn(|_| flag.store(true, Ordering::Release));
            while !flag.load(Ordering::Acquire) {
                thread::yield_now();
            }
        });
    });
}

#[test]
fn a_worker_that_falls_asleep_finds_a_stray_task_that_is_pushed_meanwhile() {
    assert!(defect::with(None, || sleeps(push_stray)));
}

#[test]
fn a_worker_that_falls_asleep_finds_a_job_that_is_spawned_meanwhile() {
    assert!(defect::with(None, || sleeps(spawn_job)));
}

#[test]
fn a_worker_that_falls_asleep_finds_a_task_that_is_pushed_meanwhile() {
    assert!(defect::with(None, || sleeps(push_task)));
}

#[test]
fn a_worker_that_falls_asleep_without_a_barrier_or_a_look_is_caught() {
    for defect in [Defect::NoBarrier, Defect::SleepWithoutLook] {
        assert!(!defect::with(Some(defect), || sleeps(spawn_job)));
    }
}
