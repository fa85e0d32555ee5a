//! The loop of a worker on a thread of the pool.
//!
//! It runs from the worker's first task until the worker has nothing left and parks, or the run is
//! over.

use std::panic::{catch_unwind, AssertUnwindSafe};

use filch::Scope;

use super::shared::{Shared, Waker};
use super::worker::{Step, Worker};
use super::worker_data::WorkerData;
use super::Work;

/// Makes the pool run the workers that are woken.
struct PoolWaker<'a, 'scope, W: Work> {
    shared: &'scope Shared<'scope, W>,
    scope: &'a Scope<'scope>,
}

impl<W: Work> Waker<W> for PoolWaker<'_, '_, W> {
    fn wake(&self, data: WorkerData<W>) {
        let shared = self.shared;
        self.scope.spawn(move |scope| in_pool(shared, scope, data));
    }
}

/// Runs a worker on a thread of the pool.
pub(super) fn in_pool<'scope, W: Work>(shared: &'scope Shared<'scope, W>, scope: &Scope<'scope>, data: WorkerData<W>) {
    run_loop(shared, &PoolWaker { shared, scope }, data);
}

/// The waker of a single worker: there is no other to wake.
struct NoWaker;

impl<W: Work> Waker<W> for NoWaker {
    fn wake(&self, _: WorkerData<W>) {
        unreachable!("a single worker has no other worker to wake");
    }
}

/// Runs the only worker, on this thread.
pub(super) fn on_this_thread<W: Work>(shared: &Shared<'_, W>, data: WorkerData<W>) {
    run_loop(shared, &NoWaker, data);
}

/// Runs a worker until it parks or the run is over. A panic ends the run, and is kept.
pub(super) fn run_loop<W: Work>(shared: &Shared<'_, W>, waker: &dyn Waker<W>, data: WorkerData<W>) {
    let result = catch_unwind(AssertUnwindSafe(|| {
        let mut worker = Worker::begin(shared, waker, data);
        loop {
            match worker.step() {
                Step::Worked => {}
                Step::Over => return shared.retire(worker.data),
                Step::Idle => match shared.idle(worker.data, waker) {
                    Some(data) => worker = Worker::begin(shared, waker, data),
                    None => return,
                },
            }
        }
    }));
    if let Err(panic) = result {
        shared.fail(panic);
    }
}
