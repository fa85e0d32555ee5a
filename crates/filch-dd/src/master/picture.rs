//! What the master knows of all workers.

use super::region::Region;

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// It has tasks enough.
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
    /// What it does.
    pub state: State,
    /// How many tasks it has that it has not begun, those under way to it included.
    pub queued: usize,
    /// Where it works, or worked last; nowhere yet if it had no task. A region that is read while it changes may be neither the one before nor the one after.
    pub region: Option<Region>,
    /// How many tasks it has begun.
    pub tasks: u64,
}

/// What the master knows of all workers.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    /// One for each worker, by its index.
    pub workers: &'a [Standing],
    /// A worker that works is hungry if it has so many tasks or fewer.
    pub hungry_at: usize,
}

impl Picture<'_> {
    /// How many tasks `from` has that could be of use to `to`.
    ///
    /// Whoever has nothing to do can use all that waits for somebody else. One that still works is brought something only by those who have plenty, so that it
    /// need not be brought back soon. Who has been called and has not begun keeps a task, or it would have been called for nothing.
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

    /// How near a region is to where a worker works.
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
