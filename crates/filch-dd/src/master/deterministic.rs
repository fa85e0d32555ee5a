//! One thread plays all workers, a step of each in turn, so that a run is the same every time.

use std::cell::RefCell;
use std::panic::{catch_unwind, AssertUnwindSafe};

use super::crew::{Clock, Crew, Summon};
use super::seat::Seat;
use super::worker::{Step, Worker};
use super::Work;
use crate::sync::Ordering;

/// The seats of those who do not wait, by index. Whoever plays is not among them.
struct Stage<W: Work>(RefCell<Vec<Option<Seat<W>>>>);

impl<W: Work> Summon<W> for Stage<W> {
    fn summon(&self, seat: Seat<W>) {
        let index = seat.index;
        self.0.borrow_mut()[index] = Some(seat);
    }
}

/// Plays all workers until all is over. A panic ends the run, and is kept.
pub(super) fn play<W: Work>(crew: &Crew<'_, W>, first: Seat<W>) {
    let stage = Stage(RefCell::new(crew.desks.iter().map(|_| None).collect()));
    stage.summon(first);
    let played = catch_unwind(AssertUnwindSafe(|| while rounds(crew, &stage) {}));
    if let Err(panic) = played {
        crew.fail(panic);
    }
    for seat in stage.0.into_inner().into_iter().flatten() {
        crew.retire(seat);
    }
}

/// A step of each who does not wait. Whether anybody is left.
fn rounds<W: Work>(crew: &Crew<'_, W>, stage: &Stage<W>) -> bool {
    let mut anybody = false;
    for index in 0..crew.desks.len() {
        let seat = stage.0.borrow_mut()[index].take();
        let Some(seat) = seat else { continue };
        if let Clock::Steps(steps) = &crew.clock {
            steps.fetch_add(1, Ordering::Relaxed);
        }
        let mut worker = Worker::begin(crew, stage, seat);
        match worker.step() {
            Step::Worked => {
                stage.summon(worker.seat);
                anybody = true;
            }
            Step::Over => crew.retire(worker.seat),
            Step::Idle => {
                if let Some(seat) = crew.idle(worker.seat, stage) {
                    stage.summon(seat);
                    anybody = true;
                }
            }
        }
    }
    anybody
}
