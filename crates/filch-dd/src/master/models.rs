//! The loom models: of the baton alone, and of two workers.
//!
//! The workers park, push, bring mail and end.
//!
//! The queues are small ones made for the models. There is no pool: the model itself runs the
//! workers that are called.

use std::sync::Arc;
use std::time::Instant;

use loom::sync::atomic::{AtomicBool, Ordering};
use loom::sync::{Condvar, Mutex};
use loom::thread;

use super::baton::Baton;
use super::crew::{Clock, Crew, Fencing, Limits, Plan, Summon};
use super::member::Member;
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

/// Each worker has a task to give; the holder of the baton checks all.
fn comers() {
    explore(3, || {
        struct World {
            has: [AtomicBool; 2],
            baton: Baton<[bool; 2]>,
        }
        let has = [AtomicBool::new(false), AtomicBool::new(false)];
        let world = Arc::new(World { has, baton: Baton::new([false; 2]) });
        let come = |world: &World, index: usize| {
            world.has[index].store(true, Ordering::Relaxed);
            world.baton.try_serve(|seen| {
                for (seen, has) in seen.iter_mut().zip(&world.has) {
                    *seen |= has.load(Ordering::Relaxed);
                }
            });
        };
        let other = thread::spawn({
            let world = Arc::clone(&world);
            move || come(&world, 1)
        });
        come(&world, 0);
        other.join().unwrap();
        assert_eq!(*world.baton.wait(), [true; 2], "somebody was overlooked");
    });
}

#[test]
fn who_comes_while_the_baton_is_taken_is_not_overlooked() {
    assert!(defect::with(None, comers));
}

#[test]
fn a_holder_that_reads_no_notes_is_caught() {
    assert!(!defect::with(Some(Defect::NotesAreNotRead), comers));
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

/// The workers that have been called.
#[derive(Default)]
struct Stage {
    called: Mutex<Vec<Member<Leaves>>>,
    changed: Condvar,
}

impl Summon<Leaves> for Stage {
    fn summon(&self, member: Member<Leaves>) {
        self.called.lock().unwrap().push(member);
        self.changed.notify_one();
    }
}

/// Returns two workers of which neither waits; the first has `tasks` tasks.
fn crew(work: &Leaves, tasks: usize) -> (Crew<'_, Leaves>, [Member<Leaves>; 2]) {
    let plan = Plan {
        workers: 2,
        policy: Box::new(Nearest::new().hungry_at(0)),
        limits: Limits::default(),
        notes: 0,
        log: 0,
        clock: Clock::Real(Instant::now()),
        fencing: Fencing::Sitter,
    };
    let (crew, first) = Crew::new(work, (0..tasks).map(|_| ()).collect(), plan);
    let second = crew.rise(1);
    (crew, [first, second])
}

/// One worker parks while the other pushes. The other then waits until the first has a task.
fn sits_down() {
    explore(4, || {
        let work: &'static Leaves = Box::leak(Box::default());
        let (crew, [first, second]) = crew(work, 0);
        let world = Arc::new((crew, Stage::default()));
        let other = thread::spawn({
            let world = Arc::clone(&world);
            move || {
                let (crew, stage) = &*world;
                let fed = crew.idle(second, stage).unwrap_or_else(|| {
                    let mut called = stage.called.lock().unwrap();
                    loop {
                        match called.pop() {
                            Some(member) => return member,
                            None => called = stage.changed.wait(called).unwrap(),
                        }
                    }
                });
                assert_eq!((fed.index, fed.owner.is_empty()), (1, false));
            }
        });
        let (crew, stage) = &*world;
        let mut worker = Worker::begin(crew, stage, first);
        worker.push(());
        worker.push(());
        // This stands for a long task without a poll.
        other.join().unwrap();
    });
}

/// Runs as a worker does, but checks nothing between two tasks.
fn live(crew: &Crew<'_, Leaves>, stage: &Stage, mut member: Member<Leaves>) {
    loop {
        while member.owner.pop().is_some() {
            crew.desks[member.index].called.store(false, Ordering::Relaxed);
            crew.work.0.fetch_add(1, Ordering::Relaxed);
        }
        match crew.idle(member, stage) {
            Some(fed) => member = fed,
            None => return,
        }
    }
}

/// A hungry worker runs out of tasks, with or without mail.
///
/// The other worker has tasks and polls once.
///
/// All tasks are done when both are parked.
fn ends() {
    explore(2, || {
        let work: &'static Leaves = Box::leak(Box::default());
        let (crew, [first, second]) = crew(work, 2);
        crew.hunger(1);
        let world = Arc::new((crew, Stage::default()));
        let other = thread::spawn({
            let world = Arc::clone(&world);
            move || live(&world.0, &world.1, second)
        });
        let (crew, stage) = &*world;
        let mut worker = Worker::begin(crew, stage, first);
        let _ = worker.poll();
        live(crew, stage, worker.member);
        other.join().unwrap();
        // Nothing waits for the workers that were called meanwhile, so they can run now.
        loop {
            let called = stage.called.lock().unwrap().pop();
            let Some(member) = called else { break };
            live(crew, stage, member);
        }
        assert!(crew.signal.look().is_over(), "nobody is left, and it is not over");
        assert_eq!(work.0.load(Ordering::Relaxed), 2, "it was over too early");
    });
}

#[test]
fn a_push_is_not_overlooked_by_who_sits_down() {
    assert!(defect::with(None, sits_down));
}

#[test]
fn who_sits_down_without_a_barrier_is_caught() {
    assert!(!defect::with(Some(Defect::SitWithoutBarrier), sits_down));
}

#[test]
fn who_sits_down_without_a_last_look_is_caught() {
    assert!(!defect::with(Some(Defect::SitWithoutLook), sits_down));
}

#[test]
fn it_is_over_when_all_is_done_and_not_before() {
    assert!(defect::with(None, ends));
}

#[test]
fn mail_that_nobody_looks_for_is_caught() {
    assert!(!defect::with(Some(Defect::MailIsForgotten), ends));
}
