//! The loop of a worker on a thread of the pool.
//!
//! It runs from the worker's first task until the worker has nothing left and parks, or the run is
//! over.

use std::panic::{catch_unwind, AssertUnwindSafe};

use filch::Scope;

use super::queue::Queue;
use super::shared::{Shared, Waker};
use super::worker::{Step, Worker};
use super::worker_data::WorkerData;
use super::Work;

/// Makes the pool run the workers that are woken.
struct PoolWaker<'a, 'scope, W: Work<Q>, Q: Queue> {
    shared: &'scope Shared<'scope, W, Q>,
    scope: &'a Scope<'scope>,
}

impl<W: Work<Q>, Q: Queue> Waker<W, Q> for PoolWaker<'_, '_, W, Q> {
    fn wake(&self, data: WorkerData<W, Q>) {
        let shared = self.shared;
        self.scope.spawn(move |scope| in_pool(shared, scope, data));
    }
}

/// Runs a worker on a thread of the pool.
pub(super) fn in_pool<'scope, W: Work<Q>, Q: Queue>(
    shared: &'scope Shared<'scope, W, Q>,
    scope: &Scope<'scope>,
    data: WorkerData<W, Q>,
) {
    run_loop(shared, &PoolWaker { shared, scope }, data);
}

/// The waker of a single worker: there is no other to wake.
struct NoWaker;

impl<W: Work<Q>, Q: Queue> Waker<W, Q> for NoWaker {
    fn wake(&self, _: WorkerData<W, Q>) {
        unreachable!("a single worker has no other worker to wake");
    }
}

/// Runs the only worker, on this thread.
pub(super) fn on_this_thread<W: Work<Q>, Q: Queue>(shared: &Shared<'_, W, Q>, data: WorkerData<W, Q>) {
    run_loop(shared, &NoWaker, data);
}

/// Runs a worker until it parks or the run is over. A panic ends the run, and is kept.
pub(super) fn run_loop<W: Work<Q>, Q: Queue>(
    shared: &Shared<'_, W, Q>,
    waker: &dyn Waker<W, Q>,
    data: WorkerData<W, Q>,
) {
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
