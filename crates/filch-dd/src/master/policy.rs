//! Policies: which worker to steal from, what share, and which worker gets it.

use core::cmp::Reverse;

use super::overview::{Overview, State};
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
    /// Starting once, before the run.
    fn low_watermark(&self) -> usize {
        1
    }

    /// Returns what to take for worker `to`, which is idle or runs low; `None` for nothing.
    ///
    /// [`Overview::spare`] says which workers have tasks to spare.
    fn choose(&mut self, overview: &Overview<'_>, to: usize) -> Option<Move>;

    /// Returns which of the workers that want work gets tasks that lie in `region`.
    ///
    /// `candidates` is not empty, and its first element is the worker that the tasks were
    /// [chosen](Policy::choose) for.
    ///
    /// By default it is the worker nearest to the tasks. Among equals, an idle worker comes before
    /// one that has work, then the first in the list.
    fn choose_receiver(&mut self, overview: &Overview<'_>, region: &Region, candidates: &[usize]) -> usize {
        let idle = |worker: usize| overview.workers[worker].state == State::Idle;
        let nearest =
            candidates.iter().rev().max_by_key(|&&worker| (overview.nearness(worker, Some(region)), idle(worker)));
        *nearest.unwrap_or(&candidates[0])
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn low_watermark(&self) -> usize {
        (**self).low_watermark()
    }

    fn choose(&mut self, overview: &Overview<'_>, to: usize) -> Option<Move> {
        (**self).choose(overview, to)
    }

    fn choose_receiver(&mut self, overview: &Overview<'_>, region: &Region, candidates: &[usize]) -> usize {
        (**self).choose_receiver(overview, region, candidates)
    }
}

/// Takes half of the longest queue, and prefers workers that are near.
///
/// Among queues that are about as long, it takes the one whose owner works nearest to the
/// receiver. The tasks go to the worker nearest to them, of all workers that want work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    share: f64,
    min_relative_length: f64,
    low_watermark: usize,
}

impl Nearest {
    /// Returns the default policy.
    ///
    /// It takes half of a queue. Queues at least half as long as the longest count as about as
    /// long. A queue with one task left is nearly drained.
    pub fn new() -> Self {
        Nearest { share: 0.5, min_relative_length: 0.5, low_watermark: 1 }
    }

    /// Sets what share of a queue is taken: more than 0, at most 1.
    pub fn share(self, share: f64) -> Self {
        Nearest { share, ..self }
    }

    /// Sets the length from which a queue counts as about as long as the longest.
    ///
    /// `part` is a share of the longest queue, from 0 to 1. 0 chooses by nearness alone. 1 chooses
    /// by length alone, except for ties.
    pub fn min_relative_length(self, part: f64) -> Self {
        Nearest { min_relative_length: part, ..self }
    }

    /// Sets the greatest length at which a queue is nearly drained.
    pub fn low_watermark(self, tasks: usize) -> Self {
        Nearest { low_watermark: tasks, ..self }
    }
}

impl Default for Nearest {
    fn default() -> Self {
        Nearest::new()
    }
}

impl Policy for Nearest {
    fn low_watermark(&self) -> usize {
        self.low_watermark
    }

    fn choose(&mut self, overview: &Overview<'_>, to: usize) -> Option<Move> {
        let givers =
            || (0..overview.workers.len()).map(|from| (from, overview.spare(from, to))).filter(|(_, n)| *n > 0);
        let longest = givers().map(|(_, spare)| spare).max()?;
        let long = givers().filter(|(_, spare)| *spare as f64 >= self.min_relative_length * longest as f64);
        let near = |from: usize| overview.nearness(to, overview.workers[from].region.as_ref());
        let (from, _) = long.max_by_key(|&(from, spare)| (near(from), spare, Reverse(from)))?;
        Some(Move { from, share: self.share })
    }
}

/// Takes half of the longest queue, wherever the receiver works. For comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Longest;

impl Policy for Longest {
    fn choose(&mut self, overview: &Overview<'_>, to: usize) -> Option<Move> {
        let givers = (0..overview.workers.len()).map(|from| (overview.spare(from, to), Reverse(from)));
        let (_, Reverse(from)) = givers.filter(|(spare, _)| *spare > 0).max()?;
        Some(Move { from, share: 0.5 })
    }

    fn choose_receiver(&mut self, _: &Overview<'_>, _: &Region, candidates: &[usize]) -> usize {
        candidates[0]
    }
}

/// Takes half of a queue, of one worker after another. For comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundRobin {
    next: usize,
}

impl Policy for RoundRobin {
    fn choose(&mut self, overview: &Overview<'_>, to: usize) -> Option<Move> {
        let count = overview.workers.len();
        let from = (self.next..self.next + count).map(|n| n % count).find(|from| overview.spare(*from, to) > 0)?;
        self.next = (from + 1) % count;
        Some(Move { from, share: 0.5 })
    }

    fn choose_receiver(&mut self, _: &Overview<'_>, _: &Region, candidates: &[usize]) -> usize {
        candidates[0]
    }
}

#[cfg(test)]
mod tests {
    use super::super::overview::WorkerStatus;
    use super::*;

    fn working(queued: usize, region: &[u32]) -> WorkerStatus {
        WorkerStatus { state: State::Working, queued, region: Some(Region::at(region)), tasks: 1 }
    }

    fn idle(region: &[u32]) -> WorkerStatus {
        WorkerStatus { state: State::Idle, ..working(0, region) }
    }

    fn from(policy: &mut impl Policy, workers: &[WorkerStatus], to: usize) -> Option<usize> {
        policy.choose(&Overview { workers, low_watermark: 1 }, to).map(|chosen| chosen.from)
    }

    #[test]
    fn nearest_takes_from_the_nearest_of_the_long_queues() {
        let mut workers = vec![idle(&[1, 1]), working(9, &[2]), working(10, &[1]), working(4, &[1, 1])];
        assert_eq!(from(&mut Nearest::new(), &workers, 0), Some(2), "the last is nearer, but too short");
        assert_eq!(from(&mut Nearest::new().min_relative_length(0.0), &workers, 0), Some(3));
        workers[1].queued = 30;
        assert_eq!(from(&mut Nearest::new(), &workers, 0), Some(1));
        workers[2].queued = 30;
        assert_eq!(
            from(&mut Nearest::new().min_relative_length(1.0), &workers, 0),
            Some(2),
            "a tie goes to the nearer"
        );
    }

    #[test]
    fn tasks_go_to_the_worker_nearest_to_them() {
        let workers = vec![idle(&[1, 1]), idle(&[2, 1]), working(9, &[2, 2]), idle(&[2, 1])];
        let overview = Overview { workers: &workers, low_watermark: 1 };
        let receiver = |policy: &mut dyn Policy, region: &[u32]| {
            policy.choose_receiver(&overview, &Region::at(region), &[0, 1, 3])
        };
        assert_eq!(receiver(&mut Nearest::new(), &[2, 2, 7]), 1);
        assert_eq!(receiver(&mut Nearest::new(), &[1, 2]), 0);
        assert_eq!(receiver(&mut Nearest::new(), &[3]), 0, "far from all candidates: the first gets them");
        assert_eq!(receiver(&mut Longest, &[2, 2, 7]), 0);
    }

    #[test]
    fn longest_considers_only_length_and_round_robin_only_turns() {
        let workers = vec![idle(&[1]), working(3, &[1]), working(5, &[2]), working(5, &[1])];
        assert_eq!(from(&mut Longest, &workers, 0), Some(2));
        let mut turn = RoundRobin::default();
        let turns: Vec<_> = (0..4).map(|_| from(&mut turn, &workers, 0)).collect();
        assert_eq!(turns, [Some(1), Some(2), Some(3), Some(1)]);
    }

    #[test]
    fn no_policy_takes_from_empty_queues() {
        let workers = vec![idle(&[1]), idle(&[1]), working(0, &[1])];
        assert_eq!(from(&mut Nearest::new(), &workers, 0), None);
        assert_eq!(from(&mut Longest, &workers, 0), None);
        assert_eq!(from(&mut RoundRobin::default(), &workers, 0), None);
    }
}
