//! The overview: what the master knows of all workers.

use super::region::Region;

/// The state of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// It has enough tasks.
    Working,
    /// It works, and its queue is nearly drained.
    RunningLow,
    /// It has been brought tasks and has not begun.
    Starting,
    /// It has nothing to do.
    Idle,
}

/// What the master knows of one worker. All of it may have changed already.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorkerStatus {
    /// Its state.
    pub state: State,
    /// The number of tasks that it has not begun, including those in its mail.
    pub queued: usize,
    /// Where it works, or worked last; `None` if it had no task yet.
    ///
    /// A region that is read while it changes may be neither the one before nor the one after.
    pub region: Option<Region>,
    /// The number of tasks that it has begun.
    pub tasks: u64,
}

/// What the master knows of all workers.
#[derive(Clone, Copy, Debug)]
pub struct Overview<'a> {
    /// One status for each worker, by its index.
    pub workers: &'a [WorkerStatus],
    /// The greatest number of tasks at which a worker that works runs low.
    pub low_watermark: usize,
}

impl Overview<'_> {
    /// Returns how many tasks `from` has that could be of use to `to`.
    ///
    /// An idle worker can use all tasks that wait at another worker. A worker that still works gets
    /// tasks only from workers that have plenty, so that they need not be moved back soon. A worker
    /// that starts keeps a task; otherwise it would have been woken in vain.
    pub fn spare(&self, from: usize, to: usize) -> usize {
        if from == to {
            return 0;
        }
        let giver = &self.workers[from];
        let queued = giver.queued - usize::from(giver.state == State::Starting && giver.queued > 0);
        match self.workers[to].state {
            State::Idle => queued,
            _ if queued > 2 * self.low_watermark + 1 => queued,
            _ => 0,
        }
    }

    /// Returns how near a region is to where a worker works.
    pub fn nearness(&self, worker: usize, region: Option<&Region>) -> u32 {
        match (&self.workers[worker].region, region) {
            (Some(own), Some(region)) => own.nearness(region),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(state: State, queued: usize) -> WorkerStatus {
        WorkerStatus { state, queued, region: None, tasks: 0 }
    }

    #[test]
    fn an_idle_worker_can_use_any_task_and_one_that_runs_low_only_those_of_long_queues() {
        let workers = [
            status(State::Idle, 0),
            status(State::RunningLow, 1),
            status(State::Working, 3),
            status(State::Working, 4),
            status(State::Starting, 1),
        ];
        let overview = Overview { workers: &workers, low_watermark: 1 };
        let spare = |to| (0..5).map(|from| overview.spare(from, to)).collect::<Vec<_>>();
        assert_eq!(spare(0), [0, 1, 3, 4, 0]);
        assert_eq!(spare(1), [0, 0, 0, 4, 0]);
    }
}
