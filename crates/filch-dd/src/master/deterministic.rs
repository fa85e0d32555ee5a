//! Runs all workers on one thread, a step of each in turn.
//!
//! So every run is the same.

use std::cell::RefCell;
use std::panic::{catch_unwind, AssertUnwindSafe};

use super::crew::{Clock, Crew, Summon};
use super::member::Member;
use super::worker::{Step, Worker};
use super::Work;
use crate::sync::Ordering;

/// The members that do not wait, by index, without the one whose turn it is.
struct Stage<W: Work>(RefCell<Vec<Option<Member<W>>>>);

impl<W: Work> Summon<W> for Stage<W> {
    fn summon(&self, member: Member<W>) {
        let index = member.index;
        self.0.borrow_mut()[index] = Some(member);
    }
}

/// Runs all workers until the run is over. A panic ends the run, and is kept.
pub(super) fn play<W: Work>(crew: &Crew<'_, W>, first: Member<W>) {
    let stage = Stage(RefCell::new(crew.desks.iter().map(|_| None).collect()));
    stage.summon(first);
    let played = catch_unwind(AssertUnwindSafe(|| while rounds(crew, &stage) {}));
    if let Err(panic) = played {
        crew.fail(panic);
    }
    for member in stage.0.into_inner().into_iter().flatten() {
        crew.retire(member);
    }
}

/// Makes a step of each worker that does not wait. Returns whether any worker is left.
fn rounds<W: Work>(crew: &Crew<'_, W>, stage: &Stage<W>) -> bool {
    let mut anybody = false;
    for index in 0..crew.desks.len() {
        let member = stage.0.borrow_mut()[index].take();
        let Some(member) = member else { continue };
        if let Clock::Steps(steps) = &crew.clock {
            steps.fetch_add(1, Ordering::Relaxed);
        }
        let mut worker = Worker::begin(crew, stage, member);
        match worker.step() {
            Step::Worked => {
                stage.summon(worker.member);
                anybody = true;
            }
            Step::Over => crew.retire(worker.member),
            Step::Idle => {
                if let Some(member) = crew.idle(worker.member, stage) {
                    stage.summon(member);
                    anybody = true;
                }
            }
        }
    }
    anybody
}
