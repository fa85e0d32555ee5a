//! The fork stack: an owner forks and returns, thieves steal, and a thief raids. Every job is run
//! once, as it was forked.

use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::check_orders;
use crate::defect::{self, Defect};
use crate::split::Mode;
use crate::stack::{Slot, Stack, Theft, STRIDE};
use crate::worker::Worker;

/// A stack, its slots, and how often each job was run.
struct World {
    stack: Stack,
    slots: Vec<Slot>,
    runs: Vec<AtomicUsize>,
}

unsafe fn never(_: *const (), _: &mut Worker, _: bool) {
    unreachable!("models look at the job and do not run it")
}

impl World {
    fn new(jobs: usize, mode: Mode) -> Arc<World> {
        let slots: Vec<Slot> = (0..4).map(|_| Slot::new()).collect();
        let base = slots.as_ptr().expose_provenance();
        // SAFETY: the slots live in the same world.
        let stack = unsafe { Stack::new(base, slots.len(), mode) };
        Arc::new(World { stack, slots, runs: (0..jobs).map(|_| AtomicUsize::new(0)).collect() })
    }

    /// Forks job `job` into slot `depth`. The pointer is its number plus one, so that it differs
    /// from a slot that was never filled.
    fn fork(&self, depth: usize, job: usize) -> bool {
        self.stack.push(&self.slots[depth], std::ptr::without_provenance(job + 1), never)
    }

    fn run(&self, job: usize) {
        self.runs[job].fetch_add(1, Ordering::Relaxed);
    }

    fn run_slot(&self, slot: &Slot) {
        let number = slot.job_data().addr();
        assert_ne!(number, 0, "a slot was stolen that was never filled");
        self.run(number - 1);
        slot.complete();
    }

    /// Returns to job `job` in slot `depth`, as the owner. Returns whether it had to wait.
    fn finish(&self, depth: usize, job: usize) -> bool {
        let slot = &self.slots[depth];
        if self.stack.pop(slot) || self.stack.settle(slot) {
            self.run(job);
            return false;
        }
        while !slot.is_done() {
            thread::yield_now();
        }
        self.stack.reset(slot);
        true
    }

    fn steal(&self) {
        if let Theft::Job(slot) = self.stack.steal() {
            self.run_slot(slot);
        }
    }

    fn check(&self) {
        for (job, runs) in self.runs.iter().enumerate() {
            assert_eq!(runs.load(Ordering::Relaxed), 1, "runs of job {job}");
        }
    }
}

/// The owner forks two jobs and shares; there are one or two thieves.
fn shares(mode: Mode, thieves: usize) {
    check_orders(3 - thieves.min(2) + 1, move || {
        let world = World::new(2, mode);
        let thieves: Vec<_> = (0..thieves)
            .map(|_| {
                let world = world.clone();
                thread::spawn(move || world.steal())
            })
            .collect();
        world.fork(0, 0);
        world.fork(1, 1);
        world.stack.share();
        world.finish(1, 1);
        world.finish(0, 0);
        thieves.into_iter().for_each(|thief| thief.join().unwrap());
        world.check();
    });
}

/// The owner uses a slot again after its first job was stolen, or not.
fn reuses(mode: Mode) {
    check_orders(2, move || {
        let world = World::new(2, mode);
        let thief = {
            let world = world.clone();
            thread::spawn(move || {
                world.steal();
                world.steal();
            })
        };
        for job in 0..2 {
            world.fork(0, job);
            world.stack.share();
            world.finish(0, job);
        }
        thief.join().unwrap();
        world.check();
    });
}

/// The owner forks, returns and forks again, and shares nothing. A thief raids and steals, and
/// perhaps another one does.
fn raids(mode: Mode, raiders: usize) {
    check_orders(if raiders > 1 { 2 } else { 3 }, move || {
        let world = World::new(3, mode);
        let raiders: Vec<_> = (0..raiders)
            .map(|_| {
                let world = world.clone();
                thread::spawn(move || {
                    world.stack.raid(|| false);
                    world.steal();
                })
            })
            .collect();
        world.fork(0, 0);
        world.fork(1, 1);
        world.finish(1, 1);
        world.fork(1, 2);
        world.finish(1, 2);
        world.finish(0, 0);
        raiders.into_iter().for_each(|raider| raider.join().unwrap());
        world.check();
    });
}

/// A thief raids while the owner shares and takes back.
fn raids_and_shares(mode: Mode) {
    check_orders(2, move || {
        let world = World::new(2, mode);
        let raider = {
            let world = world.clone();
            thread::spawn(move || {
                world.stack.raid(|| false);
                world.steal();
            })
        };
        let thief = {
            let world = world.clone();
            thread::spawn(move || world.steal())
        };
        world.fork(0, 0);
        world.fork(1, 1);
        world.stack.share();
        world.finish(1, 1);
        world.finish(0, 0);
        raider.join().unwrap();
        thief.join().unwrap();
        world.check();
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
fn a_slot_can_be_used_again_when_its_stolen_job_is_done() {
    for mode in MODES {
        assert!(defect::with(None, move || reuses(mode)));
    }
}

#[test]
fn a_raid_takes_nothing_that_the_owner_has_taken() {
    for mode in MODES {
        for raiders in 1..=2 {
            assert!(defect::with(None, move || raids(mode, raiders)));
        }
    }
}

#[test]
fn a_raid_and_a_share_do_not_offer_a_job_twice() {
    for mode in MODES {
        assert!(defect::with(None, move || raids_and_shares(mode)));
    }
}

#[test]
fn a_share_that_does_not_release_is_caught() {
    assert!(defect::with(Some(Defect::NoLightBarrier), || shares(Mode::Asymmetric, 1)));
    assert!(!defect::with(Some(Defect::ShareWithoutRelease), || shares(Mode::Asymmetric, 1)));
}

#[test]
fn a_raid_without_the_barrier_is_caught() {
    assert!(!defect::with(Some(Defect::NoBarrier), || raids(Mode::Asymmetric, 1)));
    assert!(!defect::with(Some(Defect::NoLightBarrier), || raids(Mode::Asymmetric, 1)));
}

#[test]
fn a_raid_that_goes_on_after_a_settlement_is_caught() {
    assert!(!defect::with(Some(Defect::RaidAfterSettle), || raids(Mode::Asymmetric, 1)));
}

#[test]
fn slots_lie_in_a_row() {
    assert_eq!(std::mem::size_of::<[Slot; 3]>(), 3 * STRIDE);
}

#[test]
fn a_refused_raid_takes_nothing_until_the_owner_fences() {
    for raiders in 1..=2 {
        assert!(defect::with(Some(Defect::BarrierRefused), move || raids(Mode::Asymmetric, raiders)));
    }
}

/// A raid is refused. The owner then forks and returns, and another raid takes what it may.
fn raids_again_after_a_refusal() {
    check_orders(3, || {
        let world = World::new(3, Mode::Asymmetric);
        world.fork(0, 0);
        assert_eq!(world.stack.raid(|| false), None);
        assert!(!world.stack.has_public());
        let raider = {
            let world = world.clone();
            thread::spawn(move || {
                world.stack.raid(|| false);
                world.steal();
            })
        };
        if world.fork(1, 1) {
            world.stack.answer();
        }
        assert!(world.stack.is_fenced(), "the raid has raised the alarm");
        world.finish(1, 1);
        world.fork(1, 2);
        world.finish(1, 2);
        world.finish(0, 0);
        raider.join().unwrap();
        world.check();
    });
}

#[test]
fn an_owner_that_was_asked_for_fences_can_be_raided() {
    assert!(defect::with(Some(Defect::BarrierRefused), raids_again_after_a_refusal));
    // A return has the same effect as a fork, and the raid then publishes the job.
    assert!(defect::with(Some(Defect::BarrierRefused), || check_orders(1, || {
        let world = World::new(3, Mode::Asymmetric);
        world.fork(0, 0);
        world.fork(1, 1);
        assert_eq!(world.stack.raid(|| false), None);
        world.finish(1, 1);
        assert!(world.stack.is_fenced());
        assert_eq!(world.stack.raid(|| false), Some(1));
        world.steal();
        world.finish(0, 0);
        world.run(2);
        world.check();
    })));
}

/// The owner returns from a fork, switches to fences by itself, and forks again. Meanwhile another
/// worker raids.
fn switches_by_itself() {
    check_orders(3, || {
        let world = World::new(2, Mode::Asymmetric);
        world.fork(0, 0);
        let raider = {
            let world = world.clone();
            thread::spawn(move || {
                world.stack.raid(|| false);
                world.steal();
            })
        };
        world.finish(0, 0);
        world.stack.request_fences();
        world.stack.handle_fence_request();
        assert!(world.stack.is_fenced());
        if world.fork(0, 1) {
            world.stack.answer();
        }
        world.finish(0, 1);
        raider.join().unwrap();
        world.check();
    });
}

/// The owner switches to fences by itself while it has a job that another worker may have raided.
fn switches_above_a_job() {
    check_orders(3, || {
        let world = World::new(1, Mode::Asymmetric);
        world.fork(0, 0);
        let raider = {
            let world = world.clone();
            thread::spawn(move || {
                world.stack.raid(|| false);
                world.steal();
            })
        };
        world.stack.request_fences();
        world.stack.handle_fence_request();
        world.finish(0, 0);
        raider.join().unwrap();
        world.check();
    });
}

#[test]
fn an_owner_may_switch_to_fences_by_itself_during_a_raid() {
    for refusal in [None, Some(Defect::BarrierRefused)] {
        assert!(defect::with(refusal, switches_above_a_job));
    }
    assert!(!defect::with(Some(Defect::SwitchKeepsRaids), switches_above_a_job));
    assert!(defect::with(None, switches_by_itself));
    assert!(defect::with(Some(Defect::BarrierRefused), switches_by_itself));
    assert!(!defect::with(Some(Defect::RefusalIgnored), switches_by_itself));
}

#[test]
fn a_raid_that_ignores_the_refusal_is_caught() {
    assert!(!defect::with(Some(Defect::RefusalIgnored), || raids(Mode::Asymmetric, 1)));
}
