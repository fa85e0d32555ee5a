//! Runs all workers on one thread, a step of each in turn.
//!
//! So every run is the same.

use std::cell::RefCell;
use std::panic::{catch_unwind, AssertUnwindSafe};

use super::queue::Queue;
use super::shared::{Clock, Shared, Waker};
use super::worker::{Step, Worker};
use super::worker_data::WorkerData;
use super::Work;
use crate::sync::Ordering;

/// The workers that do not wait, by index, without the one whose turn it is.
struct ActiveWorkers<W: Work<Q>, Q: Queue>(RefCell<Vec<Option<WorkerData<W, Q>>>>);

impl<W: Work<Q>, Q: Queue> Waker<W, Q> for ActiveWorkers<W, Q> {
    fn wake(&self, data: WorkerData<W, Q>) {
        let index = data.index;
        self.0.borrow_mut()[index] = Some(data);
    }
}

/// Runs all workers until the run is over. A panic ends the run, and is kept.
pub(super) fn run<W: Work<Q>, Q: Queue>(shared: &Shared<'_, W, Q>, first: WorkerData<W, Q>) {
    let active = ActiveWorkers(RefCell::new(shared.worker_infos.iter().map(|_| None).collect()));
    active.wake(first);
    let result = catch_unwind(AssertUnwindSafe(|| while run_round(shared, &active) {}));
    if let Err(panic) = result {
        shared.fail(panic);
    }
    for data in active.0.into_inner().into_iter().flatten() {
        shared.retire(data);
    }
}

/// Makes a step of each worker that does not wait. Returns whether any worker is left.
fn run_round<W: Work<Q>, Q: Queue>(shared: &Shared<'_, W, Q>, active: &ActiveWorkers<W, Q>) -> bool {
    let mut any_active = false;
    for index in 0..shared.worker_infos.len() {
        let data = active.0.borrow_mut()[index].take();
        let Some(data) = data else { continue };
        if let Clock::Steps(steps) = &shared.clock {
            steps.fetch_add(1, Ordering::Relaxed);
        }
        let mut worker = Worker::begin(shared, active, data);
        match worker.step() {
            Step::Worked => {
                active.wake(worker.data);
                any_active = true;
            }
            Step::Over => shared.retire(worker.data),
            Step::Idle => {
                if let Some(data) = shared.idle(worker.data, active) {
                    active.wake(data);
                    any_active = true;
                }
            }
        }
    }
    any_active
}
