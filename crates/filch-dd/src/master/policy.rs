//! Policies: which worker to steal from, what share, and which worker gets it.

use core::cmp::Reverse;

use super::picture::{Picture, State};
use super::region::Region;

/// A choice of a policy: what to take, and from which worker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// The worker whose tasks are taken.
    pub from: usize,
    /// The share of its tasks: more than 0, at most 1. The oldest are taken, and at least one.
    pub share: f64,
}

/// How the master decides. Only the master calls it, so calls never overlap.
pub trait Policy: Send {
    /// Returns the greatest length at which a queue counts as nearly drained.
    ///
    /// The queue's owner signals so before it begins the next task, so that more tasks can arrive
    /// meanwhile.
    ///
    /// Called once, before the run.
    fn hungry_at(&self) -> usize {
        1
    }

    /// Returns what to take for the hungry or idle worker `hungry`; `None` for nothing.
    ///
    /// [`Picture::spare`] says which workers have tasks to spare.
    fn choose(&mut self, picture: &Picture<'_>, hungry: usize) -> Option<Move>;

    /// Returns which of the workers in want gets tasks that lie in `region`.
    ///
    /// `hungry` is not empty, and its first element is the worker that the tasks were
    /// [chosen](Policy::choose) for.
    ///
    /// By default it is the worker nearest to the tasks. Among equals, an idle worker comes before
    /// one that has work, then the first in the list.
    fn give(&mut self, picture: &Picture<'_>, region: &Region, hungry: &[usize]) -> usize {
        let idle = |worker: usize| picture.workers[worker].state == State::Idle;
        let nearest = hungry.iter().rev().max_by_key(|&&worker| (picture.nearness(worker, Some(region)), idle(worker)));
        *nearest.unwrap_or(&hungry[0])
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn hungry_at(&self) -> usize {
        (**self).hungry_at()
    }

    fn choose(&mut self, picture: &Picture<'_>, hungry: usize) -> Option<Move> {
        (**self).choose(picture, hungry)
    }

    fn give(&mut self, picture: &Picture<'_>, region: &Region, hungry: &[usize]) -> usize {
        (**self).give(picture, region, hungry)
    }
}

/// Takes half of the longest queue, and prefers workers that are near.
///
/// Among queues that are about as long, it takes the one whose owner works nearest to the worker in
/// want. The tasks go to the worker in want that works nearest to them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    share: f64,
    as_long: f64,
    hungry_at: usize,
}

impl Nearest {
    /// Returns the default policy.
    ///
    /// It takes half of a queue. Queues at least half as long as the longest count as about as
    /// long. A queue with one task left is nearly drained.
    pub fn new() -> Self {
        Nearest { share: 0.5, as_long: 0.5, hungry_at: 1 }
    }

    /// Sets what share of a queue is taken: more than 0, at most 1.
    pub fn share(self, share: f64) -> Self {
        Nearest { share, ..self }
    }

    /// Sets the length from which a queue counts as about as long as the longest.
    ///
    /// `part` is a share of the longest queue, from 0 to 1. 0 chooses by nearness alone. 1 chooses
    /// by length alone, except for ties.
    pub fn as_long(self, part: f64) -> Self {
        Nearest { as_long: part, ..self }
    }

    /// Sets the greatest length at which a queue is nearly drained.
    pub fn hungry_at(self, tasks: usize) -> Self {
        Nearest { hungry_at: tasks, ..self }
    }
}

impl Default for Nearest {
    fn default() -> Self {
        Nearest::new()
    }
}

impl Policy for Nearest {
    fn hungry_at(&self) -> usize {
        self.hungry_at
    }

    fn choose(&mut self, picture: &Picture<'_>, hungry: usize) -> Option<Move> {
        let givers =
            || (0..picture.workers.len()).map(|from| (from, picture.spare(from, hungry))).filter(|(_, n)| *n > 0);
        let longest = givers().map(|(_, spare)| spare).max()?;
        let long = givers().filter(|(_, spare)| *spare as f64 >= self.as_long * longest as f64);
        let near = |from: usize| picture.nearness(hungry, picture.workers[from].region.as_ref());
        let (from, _) = long.max_by_key(|&(from, spare)| (near(from), spare, Reverse(from)))?;
        Some(Move { from, share: self.share })
    }
}

/// Takes half of the longest queue for the worker in want, wherever that works. For comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Longest;

impl Policy for Longest {
    fn choose(&mut self, picture: &Picture<'_>, hungry: usize) -> Option<Move> {
        let givers = (0..picture.workers.len()).map(|from| (picture.spare(from, hungry), Reverse(from)));
        let (_, Reverse(from)) = givers.filter(|(spare, _)| *spare > 0).max()?;
        Some(Move { from, share: 0.5 })
    }

    fn give(&mut self, _: &Picture<'_>, _: &Region, hungry: &[usize]) -> usize {
        hungry[0]
    }
}

/// Takes half of a queue, of one worker after another, for the worker in want. For comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundRobin {
    next: usize,
}

impl Policy for RoundRobin {
    fn choose(&mut self, picture: &Picture<'_>, hungry: usize) -> Option<Move> {
        let count = picture.workers.len();
        let from = (self.next..self.next + count).map(|n| n % count).find(|from| picture.spare(*from, hungry) > 0)?;
        self.next = (from + 1) % count;
        Some(Move { from, share: 0.5 })
    }

    fn give(&mut self, _: &Picture<'_>, _: &Region, hungry: &[usize]) -> usize {
        hungry[0]
    }
}

#[cfg(test)]
mod tests {
    use super::super::picture::Standing;
    use super::*;

    fn working(queued: usize, region: &[u32]) -> Standing {
        Standing { state: State::Working, queued, region: Some(Region::at(region)), tasks: 1 }
    }

    fn idle(region: &[u32]) -> Standing {
        Standing { state: State::Idle, ..working(0, region) }
    }

    fn from(policy: &mut impl Policy, workers: &[Standing], hungry: usize) -> Option<usize> {
        policy.choose(&Picture { workers, hungry_at: 1 }, hungry).map(|chosen| chosen.from)
    }

    #[test]
    fn nearest_takes_from_the_longest_and_of_those_from_the_nearest() {
        let mut workers = vec![idle(&[1, 1]), working(9, &[2]), working(10, &[1]), working(4, &[1, 1])];
        assert_eq!(from(&mut Nearest::new(), &workers, 0), Some(2), "the last is nearer, but too short");
        assert_eq!(from(&mut Nearest::new().as_long(0.0), &workers, 0), Some(3));
        workers[1].queued = 30;
        assert_eq!(from(&mut Nearest::new(), &workers, 0), Some(1));
        workers[2].queued = 30;
        assert_eq!(from(&mut Nearest::new().as_long(1.0), &workers, 0), Some(2), "a tie goes to the nearer");
    }

    #[test]
    fn what_is_taken_goes_to_who_works_nearest_to_it() {
        let workers = vec![idle(&[1, 1]), idle(&[2, 1]), working(9, &[2, 2]), idle(&[2, 1])];
        let picture = Picture { workers: &workers, hungry_at: 1 };
        let give = |policy: &mut dyn Policy, region: &[u32]| policy.give(&picture, &Region::at(region), &[0, 1, 3]);
        assert_eq!(give(&mut Nearest::new(), &[2, 2, 7]), 1);
        assert_eq!(give(&mut Nearest::new(), &[1, 2]), 0);
        assert_eq!(give(&mut Nearest::new(), &[3]), 0, "far from all: the one in front");
        assert_eq!(give(&mut Longest, &[2, 2, 7]), 0);
    }

    #[test]
    fn longest_minds_length_alone_and_round_robin_turns_alone() {
        let workers = vec![idle(&[1]), working(3, &[1]), working(5, &[2]), working(5, &[1])];
        assert_eq!(from(&mut Longest, &workers, 0), Some(2));
        let mut turn = RoundRobin::default();
        let turns: Vec<_> = (0..4).map(|_| from(&mut turn, &workers, 0)).collect();
        assert_eq!(turns, [Some(1), Some(2), Some(3), Some(1)]);
    }

    #[test]
    fn nobody_takes_where_nothing_is() {
        let workers = vec![idle(&[1]), idle(&[1]), working(0, &[1])];
        assert_eq!(from(&mut Nearest::new(), &workers, 0), None);
        assert_eq!(from(&mut Longest, &workers, 0), None);
        assert_eq!(from(&mut RoundRobin::default(), &workers, 0), None);
    }
}
