//! The picture: what the master knows of all workers.

use super::region::Region;

/// The state of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// It has enough tasks.
    Working,
    /// It works, and its queue is nearly drained.
    Hungry,
    /// It has been brought tasks and has not begun.
    Called,
    /// It has nothing to do.
    Idle,
}

/// What the master knows of one worker. All of it may have changed already.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Standing {
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
pub struct Picture<'a> {
    /// One standing for each worker, by its index.
    pub workers: &'a [Standing],
    /// The greatest number of tasks at which a worker that works is hungry.
    pub hungry_at: usize,
}

impl Picture<'_> {
    /// Returns how many tasks `from` has that could be of use to `to`.
    ///
    /// An idle worker can use all tasks that wait at another worker. A worker that still works gets
    /// tasks only from workers that have plenty, so that they need not be moved back soon. A worker
    /// that has been called and has not begun keeps a task; otherwise the call would be in vain.
    pub fn spare(&self, from: usize, to: usize) -> usize {
        if from == to {
            return 0;
        }
        let giver = &self.workers[from];
        let queued = giver.queued - usize::from(giver.state == State::Called && giver.queued > 0);
        match self.workers[to].state {
            State::Idle => queued,
            _ if queued > 2 * self.hungry_at + 1 => queued,
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

    fn standing(state: State, queued: usize) -> Standing {
        Standing { state, queued, region: None, tasks: 0 }
    }

    #[test]
    fn the_idle_can_use_anything_and_the_hungry_only_what_is_plenty() {
        let workers = [
            standing(State::Idle, 0),
            standing(State::Hungry, 1),
            standing(State::Working, 3),
            standing(State::Working, 4),
            standing(State::Called, 1),
        ];
        let picture = Picture { workers: &workers, hungry_at: 1 };
        let spare = |to| (0..5).map(|from| picture.spare(from, to)).collect::<Vec<_>>();
        assert_eq!(spare(0), [0, 1, 3, 4, 0]);
        assert_eq!(spare(1), [0, 0, 0, 4, 0]);
    }
}
