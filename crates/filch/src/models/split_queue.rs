//! The split queue. An owner pushes and pops, thieves ask, steal several tasks and raid. Every task
//! is run once, as it was pushed. No worker sleeps that a task needs.

use std::sync::{atomic as plain, Arc};

use filch_queue::{barrier, Owner as _, Steal, Thief as _};
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;

use super::check_orders;
use crate::defect::{self, Defect};
use crate::explore::IdleList;
use crate::split::Mode;
use crate::split_queue::{with_mode, Claimed, Owner, Thief};

/// Whether a thief has claimed several tasks at once in any execution.
static HAS_CLAIMED_SEVERAL: plain::AtomicBool = plain::AtomicBool::new(false);

/// The content of each task, and how often it was run.
struct World {
    /// Written before the task is pushed. Loom reports a thread that reads it and has not acquired
    /// it.
    contents: Vec<UnsafeCell<usize>>,
    runs: Vec<AtomicUsize>,
}

// SAFETY: loom checks the accesses.
unsafe impl Sync for World {}
// SAFETY: as above.
unsafe impl Send for World {}

impl World {
    fn new(tasks: usize) -> Arc<World> {
        Arc::new(World {
            contents: (0..tasks).map(|_| UnsafeCell::new(0)).collect(),
            runs: (0..tasks).map(|_| AtomicUsize::new(0)).collect(),
        })
    }

    /// Pushes a task. Returns whether the client should look.
    fn push(&self, owner: &Owner<usize>, task: usize) -> bool {
        // SAFETY: loom checks it.
        self.contents[task].with_mut(|content| unsafe { *content = task });
        owner.try_push_and_look(task).expect("memory for a model")
    }

    fn run(&self, task: usize) {
        // SAFETY: loom checks it.
        self.contents[task].with(|content| assert_eq!(unsafe { *content }, task));
        self.runs[task].fetch_add(1, Ordering::Relaxed);
    }

    fn pop_all(&self, owner: &Owner<usize>) {
        while let Some(task) = owner.pop() {
            self.run(task);
        }
    }

    fn steal(&self, claim: impl Fn() -> Steal<Vec<usize>>) {
        if let Steal::Success(tasks) = claim() {
            HAS_CLAIMED_SEVERAL.fetch_or(tasks.len() > 1, plain::Ordering::Relaxed);
            tasks.into_iter().for_each(|task| self.run(task));
        }
    }

    fn check(&self) {
        for (task, runs) in self.runs.iter().enumerate() {
            assert_eq!(runs.load(Ordering::Relaxed), 1, "runs of task {task}");
        }
    }
}

fn collected(claimed: Steal<Claimed<'_, usize>>) -> Steal<Vec<usize>> {
    claimed.map(Iterator::collect)
}

/// Asks for up to two tasks, and looks once more if the owner has only private ones.
fn asks(thief: &Thief<usize>) -> Steal<Vec<usize>> {
    let claim = || loop {
        match thief.claim(2) {
            Steal::Retry => {}
            result => return collected(result),
        }
    };
    match claim() {
        Steal::Abort => {
            thread::yield_now();
            claim()
        }
        result => result,
    }
}

/// Raids once, if it finds only private tasks.
fn raids(thief: &Thief<usize>) -> Steal<Vec<usize>> {
    collected(thief.claim_or_raid(2))
}

/// Raids without having asked the owner. Nothing but the raid's own checks protects its tasks.
fn raids_unasked(thief: &Thief<usize>) -> Steal<Vec<usize>> {
    thief.raid();
    collected(thief.claim(2))
}

type Claims = fn(&Thief<usize>) -> Steal<Vec<usize>>;

fn thieves(claims: &[Claims], world: &Arc<World>, thief: &Thief<usize>) -> Vec<thread::JoinHandle<()>> {
    let steal = |claim: &Claims| {
        let (world, thief, claim) = (world.clone(), thief.clone(), *claim);
        thread::spawn(move || world.steal(|| claim(&thief)))
    };
    claims.iter().map(steal).collect()
}

fn end(world: &World, thieves: Vec<thread::JoinHandle<()>>) {
    thieves.into_iter().for_each(|thief| thief.join().unwrap());
    world.check();
}

/// Creates a queue whose alarm is off.
fn quiet_queue(mode: Mode) -> (Owner<usize>, Thief<usize>) {
    let (owner, thief) = with_mode(mode);
    owner.push(0);
    assert_eq!(owner.pop(), Some(0));
    (owner, thief)
}

/// The owner pushes two tasks, pops one, pushes another and pops the rest.
fn steals(mode: Mode, claims: &'static [Claims]) {
    check_orders(3 - claims.len(), move || {
        let world = World::new(3);
        let (owner, thief) = quiet_queue(mode);
        let thieves = thieves(claims, &world, &thief);
        world.push(&owner, 0);
        world.push(&owner, 1);
        if let Some(task) = owner.pop() {
            world.run(task);
        }
        world.push(&owner, 2);
        world.pop_all(&owner);
        end(&world, thieves);
    });
}

/// The alarm is on, so the owner's push publishes. Two thieves claim.
fn publishes(mode: Mode) {
    check_orders(2, move || {
        let world = World::new(1);
        let (owner, thief) = with_mode(mode);
        let claim: Claims = |thief| collected(thief.claim(1));
        let thieves = thieves(&[claim, claim], &world, &thief);
        world.push(&owner, 0);
        world.pop_all(&owner);
        end(&world, thieves);
    });
}

/// Pushes three tasks, all of them public.
fn push_public(world: &World, owner: &Owner<usize>, thief: &Thief<usize>) {
    (0..3).for_each(|task| _ = world.push(owner, task));
    // The first raid publishes two.
    assert!(thief.raid() && thief.raid());
}

/// Two thieves claim two tasks and one, which the owner pops.
fn several(mode: Mode) {
    check_orders(2, move || {
        let world = World::new(4);
        let (owner, thief) = quiet_queue(mode);
        push_public(&world, &owner, &thief);
        let thieves = thieves(&[asks, asks], &world, &thief);
        if let Some(task) = owner.pop() {
            world.run(task);
        }
        world.push(&owner, 3);
        world.pop_all(&owner);
        end(&world, thieves);
    });
}

/// Two thieves claim two tasks and one, and then the owner keeps pushing. A chunk has room for two
/// tasks.
fn reuses(mode: Mode) {
    check_orders(2, move || {
        let world = World::new(5);
        let (owner, thief) = quiet_queue(mode);
        push_public(&world, &owner, &thief);
        let thieves = thieves(&[asks, asks], &world, &thief);
        while thief.has_public() {
            thread::yield_now();
        }
        (3..5).for_each(|task| _ = world.push(&owner, task));
        world.pop_all(&owner);
        end(&world, thieves);
    });
}

/// The owner finds its task stolen, and pushes another one.
fn pushes_after_theft() {
    check_orders(2, || {
        let world = World::new(2);
        let (owner, thief) = with_mode(Mode::Asymmetric);
        let thieves = thieves(&[asks], &world, &thief);
        for task in 0..2 {
            world.push(&owner, task);
            thief.raise_alarm();
            world.pop_all(&owner);
        }
        end(&world, thieves);
    });
}

/// A thread raises the alarm while the owner pushes. The owner's next pop looks, whatever its pushes
/// and other thieves have done meanwhile. So does its next push, if none has looked since.
fn looks_after_alarm(mode: Mode, claims: &'static [Claims]) {
    check_orders(2, move || {
        let world = World::new(3);
        let (owner, thief) = quiet_queue(mode);
        let over = Arc::new(AtomicBool::new(false));
        let thieves = thieves(claims, &world, &thief);
        let stops = {
            let (over, thief) = (over.clone(), thief.clone());
            thread::spawn(move || {
                over.store(true, Ordering::Relaxed);
                thief.raise_alarm();
            })
        };
        let looks: Vec<bool> = (0..2).map(|task| world.push(&owner, task) && over.load(Ordering::Relaxed)).collect();
        stops.join().unwrap();
        let (task, pop_looks) = owner.pop_and_look();
        assert!(pop_looks || task.is_none(), "the pop does not look");
        task.into_iter().for_each(|task| world.run(task));
        let look = world.push(&owner, 2);
        assert!(look || looks.contains(&true), "no push looks");
        if !pop_looks {
            let (task, look) = owner.pop_and_look();
            assert!(look || task.is_none(), "the pop after one that found nothing does not look");
            task.into_iter().for_each(|task| world.run(task));
        }
        world.pop_all(&owner);
        end(&world, thieves);
    });
}

const MODES: [Mode; 2] = [Mode::Asymmetric, Mode::Fenced];

#[test]
fn a_task_that_the_owner_publishes_is_run_once() {
    for mode in MODES {
        assert!(defect::with(None, move || steals(mode, &[asks])));
        assert!(defect::with(None, move || publishes(mode)));
    }
    assert!(defect::with(None, || steals(Mode::Asymmetric, &[asks, asks])));
    assert!(!defect::with(Some(Defect::ShareWithoutRelease), || publishes(Mode::Asymmetric)));
}

#[test]
fn a_task_that_a_raid_publishes_is_run_once() {
    for mode in MODES {
        assert!(defect::with(None, move || steals(mode, &[raids])));
        assert!(defect::with(None, move || steals(mode, &[raids_unasked])));
    }
    assert!(defect::with(None, || steals(Mode::Asymmetric, &[asks, raids])));
    for mode in MODES {
        assert!(defect::with(Some(Defect::BarrierRefused), move || steals(mode, &[raids])));
    }
    assert!(!defect::with(Some(Defect::RaidsWithoutFence), || steals(Mode::Fenced, &[raids])));
    for defect in [Defect::NoBarrier, Defect::RaidAfterSettle, Defect::RefusalIgnored] {
        assert!(!defect::with(Some(defect), || steals(Mode::Asymmetric, &[raids_unasked])), "{defect:?}");
    }
}

#[test]
fn each_of_several_tasks_that_are_claimed_at_once_is_run_once() {
    for mode in MODES {
        assert!(defect::with(None, move || {
            HAS_CLAIMED_SEVERAL.store(false, plain::Ordering::Relaxed);
            several(mode);
            assert!(HAS_CLAIMED_SEVERAL.load(plain::Ordering::Relaxed), "no thief has claimed several tasks");
        }));
    }
}

#[test]
fn a_slot_is_used_again_when_its_task_was_moved_out() {
    for mode in MODES {
        assert!(defect::with(None, move || reuses(mode)));
    }
    assert!(!defect::with(Some(Defect::ReusesSlotsEarly), || reuses(Mode::Asymmetric)));
    assert!(defect::with(None, pushes_after_theft));
}

#[test]
fn an_alarm_is_not_lost() {
    for claims in [&[] as &[Claims], &[asks], &[raids]] {
        for mode in MODES {
            assert!(defect::with(None, move || looks_after_alarm(mode, claims)));
        }
        let model = move || looks_after_alarm(Mode::Asymmetric, claims);
        assert!(defect::with(Some(Defect::BarrierRefused), model));
        assert!(!defect::with(Some(Defect::LowersLimitOfAlarm), model));
    }
}

/// The defect in a model of the idle list.
#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    None,
    /// An explorer that becomes idle raises no alarm.
    NoAlarm,
    /// It raises the alarm before it announces that it becomes idle.
    EarlyAlarm,
}

/// A worker pushes a task that it will never pop, perhaps after another one that it pops. An
/// explorer searches for one task, and becomes idle if there is none.
fn idle_explorer(mode: Mode, pops_another: bool, flaw: Flaw) {
    check_orders(3, move || {
        let (owner, thief) = quiet_queue(mode);
        let list = Arc::new(IdleList::new(Vec::new()));
        let woken = Arc::new(AtomicUsize::new(0));
        list.counts().begin_search();
        let explorer = {
            let (list, woken, thief) = (list.clone(), woken.clone(), thief.clone());
            thread::spawn(move || search(mode, flaw, &list, &woken, &thief))
        };
        let push = || {
            if owner.try_push_and_look(0).expect("memory for a model") {
                barrier::light();
                if list.counts().should_wake() {
                    wake(&list, &woken);
                }
            }
        };
        if pops_another {
            push();
            owner.pop();
        }
        push();
        explorer.join().unwrap();
        let searching = list.counts().searching();
        let listed = Arc::into_inner(list).expect("the explorer has ended").into_explorers().len();
        assert!(thief.is_empty() || listed == 0 || searching > 0, "a task is left alone");
    });
}

/// An explorer that was woken stays awake, and that is all the model needs.
fn wake(list: &IdleList<usize>, woken: &AtomicUsize) {
    if list.wake_one().is_some() {
        woken.fetch_add(1, Ordering::Relaxed);
    }
}

fn search(mode: Mode, flaw: Flaw, list: &IdleList<usize>, woken: &AtomicUsize, thief: &Thief<usize>) {
    let finds = |raids: bool| loop {
        match if raids { thief.steal() } else { thief.steal_or_abort() } {
            Steal::Success(_) => return true,
            Steal::Retry => {}
            Steal::Empty | Steal::Abort => return false,
        }
    };
    if !finds(false) {
        if flaw == Flaw::EarlyAlarm {
            thief.raise_alarm();
        }
        list.begin_add();
        if flaw == Flaw::None {
            thief.raise_alarm();
        }
        if mode == Mode::Fenced {
            loom::sync::atomic::fence(Ordering::SeqCst);
        } else {
            barrier::heavy().expect("loom makes barriers");
        }
        if !finds(true) {
            list.finish_add(0);
            return;
        }
        list.cancel_add();
    }
    if list.counts().end_search() {
        wake(list, woken);
    }
}

#[test]
fn no_explorer_stays_idle_while_a_task_is_left_alone() {
    for pops_another in [false, true] {
        for mode in MODES {
            assert!(defect::with(None, move || idle_explorer(mode, pops_another, Flaw::None)));
        }
    }
    for (pops_another, flaw) in [(false, Flaw::NoAlarm), (true, Flaw::EarlyAlarm)] {
        let model = move || defect::with(None, move || idle_explorer(Mode::Asymmetric, pops_another, flaw));
        assert!(std::panic::catch_unwind(model).is_err(), "an alarm that is missing or early is not caught");
    }
}
