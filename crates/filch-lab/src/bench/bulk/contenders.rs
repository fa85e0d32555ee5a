//! The queues that take part, in one shape: what comes in batches goes in and out as each of them does that best.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_deque::{Steal, Stealer, Worker};
use filch_queue::bulk::{self, Batch};
use filch_queue::chase_lev;

/// Our queue for batches, and the name of its module.
pub(crate) const BULK: &str = "bulk";
/// Ours for single tasks.
pub(crate) const CHASE_LEV: &str = "chase_lev";
/// The peer.
pub(crate) const CROSSBEAM: &str = "crossbeam-lifo";
/// What one writes without a queue for it.
pub(crate) const MUTEX: &str = "mutex-deque";

/// A queue with an owner, who pushes and pops.
pub(crate) trait Queue {
    /// The name that plots know it by.
    const NAME: &'static str;
    /// The owner's side.
    type Owner: Send;
    /// The other side.
    type Thief: Send;
    /// Several tasks that can be pushed at once.
    type Batch: Send;

    /// An empty queue.
    fn new() -> (Self::Owner, Self::Thief);

    /// A batch that is ready to be pushed, the oldest first.
    fn batch(tasks: Range<usize>) -> Self::Batch;

    /// Pushes one.
    fn push_batch(owner: &Self::Owner, batch: Self::Batch);

    /// Pushes one task.
    fn push(owner: &Self::Owner, task: usize);

    /// Takes the youngest.
    fn pop(owner: &Self::Owner) -> Option<usize>;
}

/// A queue of which a share can be stolen.
pub(crate) trait Shares: Queue {
    /// Where stolen tasks go, made before the clock runs.
    type Loot: Default;

    /// Takes so many hundredths of the tasks, the oldest. There is nobody else who steals.
    fn steal(thief: &mut Self::Thief, percent: usize, loot: &mut Self::Loot);

    /// What was stolen, the oldest first.
    fn tasks(loot: Self::Loot) -> Vec<usize>;
}

/// So many hundredths of a number, rounded up.
pub(crate) fn share(percent: usize, of: usize) -> usize {
    (percent * of).div_ceil(100)
}

/// `bulk`.
pub(crate) enum Bulk {}

impl Queue for Bulk {
    const NAME: &'static str = BULK;
    type Owner = bulk::Owner<usize>;
    type Thief = bulk::Thief<usize>;
    type Batch = Batch<usize>;

    fn new() -> (Self::Owner, Self::Thief) {
        bulk::new()
    }

    fn batch(tasks: Range<usize>) -> Batch<usize> {
        tasks.collect()
    }

    #[inline(always)]
    fn push_batch(owner: &Self::Owner, batch: Batch<usize>) {
        owner.push_batch(batch);
    }

    #[inline(always)]
    fn push(owner: &Self::Owner, task: usize) {
        owner.push(task);
    }

    #[inline(always)]
    fn pop(owner: &Self::Owner) -> Option<usize> {
        owner.pop()
    }
}

impl Shares for Bulk {
    type Loot = Batch<usize>;

    #[inline(always)]
    fn steal(thief: &mut Self::Thief, percent: usize, loot: &mut Batch<usize>) {
        // The shares of this suite are all between nothing and everything, so there is one to be had.
        if let Ok(stolen) = thief.steal(percent as f64 / 100.0) {
            *loot = stolen;
        }
    }

    fn tasks(loot: Batch<usize>) -> Vec<usize> {
        loot.into_iter().collect()
    }
}

/// `chase_lev`, which has no batches: they are pushed one by one.
pub(crate) enum ChaseLev {}

impl Queue for ChaseLev {
    const NAME: &'static str = CHASE_LEV;
    type Owner = chase_lev::Owner<usize>;
    type Thief = chase_lev::Thief<usize>;
    type Batch = Vec<usize>;

    fn new() -> (Self::Owner, Self::Thief) {
        chase_lev::new()
    }

    fn batch(tasks: Range<usize>) -> Vec<usize> {
        tasks.collect()
    }

    #[inline(always)]
    fn push_batch(owner: &Self::Owner, batch: Vec<usize>) {
        batch.into_iter().for_each(|task| owner.push(task));
    }

    #[inline(always)]
    fn push(owner: &Self::Owner, task: usize) {
        owner.push(task);
    }

    #[inline(always)]
    fn pop(owner: &Self::Owner) -> Option<usize> {
        owner.pop()
    }
}

/// crossbeam-deque, which pushes one by one and steals several at a time, but not many.
pub(crate) enum Crossbeam {}

impl Queue for Crossbeam {
    const NAME: &'static str = CROSSBEAM;
    type Owner = Worker<usize>;
    type Thief = Stealer<usize>;
    type Batch = Vec<usize>;

    fn new() -> (Self::Owner, Self::Thief) {
        let worker = Worker::new_lifo();
        let stealer = worker.stealer();
        (worker, stealer)
    }

    fn batch(tasks: Range<usize>) -> Vec<usize> {
        tasks.collect()
    }

    #[inline(always)]
    fn push_batch(owner: &Self::Owner, batch: Vec<usize>) {
        batch.into_iter().for_each(|task| owner.push(task));
    }

    #[inline(always)]
    fn push(owner: &Self::Owner, task: usize) {
        owner.push(task);
    }

    #[inline(always)]
    fn pop(owner: &Self::Owner) -> Option<usize> {
        owner.pop()
    }
}

/// A queue of its own for what crossbeam stole.
pub(crate) struct CrossbeamLoot(Worker<usize>);

impl Default for CrossbeamLoot {
    fn default() -> Self {
        // One that pops the oldest would have every batch turned round.
        CrossbeamLoot(Worker::new_lifo())
    }
}

impl Shares for Crossbeam {
    type Loot = CrossbeamLoot;

    #[inline(always)]
    fn steal(thief: &mut Self::Thief, percent: usize, CrossbeamLoot(loot): &mut CrossbeamLoot) {
        let wanted = share(percent, thief.len());
        let mut stolen = 0;
        while stolen < wanted {
            match thief.steal_batch_with_limit(loot, wanted - stolen) {
                Steal::Success(()) => stolen = loot.len(),
                Steal::Retry => {}
                Steal::Empty => break,
            }
        }
    }

    fn tasks(CrossbeamLoot(loot): CrossbeamLoot) -> Vec<usize> {
        let mut tasks: Vec<usize> = std::iter::from_fn(|| loot.pop()).collect();
        tasks.reverse();
        tasks
    }
}

/// A deque behind a lock.
pub(crate) enum MutexDeque {}

/// A side of it: both are the same.
pub(crate) type Locked = Arc<Mutex<VecDeque<usize>>>;

/// Nothing is left half done by whoever panics: there is nothing to be done in halves.
pub(crate) fn lock(deque: &Mutex<VecDeque<usize>>) -> MutexGuard<'_, VecDeque<usize>> {
    deque.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue for MutexDeque {
    const NAME: &'static str = MUTEX;
    type Owner = Locked;
    type Thief = Locked;
    type Batch = Vec<usize>;

    fn new() -> (Self::Owner, Self::Thief) {
        let deque = Locked::default();
        (deque.clone(), deque)
    }

    fn batch(tasks: Range<usize>) -> Vec<usize> {
        tasks.collect()
    }

    #[inline(always)]
    fn push_batch(owner: &Self::Owner, batch: Vec<usize>) {
        lock(owner).extend(batch);
    }

    #[inline(always)]
    fn push(owner: &Self::Owner, task: usize) {
        lock(owner).push_back(task);
    }

    #[inline(always)]
    fn pop(owner: &Self::Owner) -> Option<usize> {
        lock(owner).pop_back()
    }
}

impl Shares for MutexDeque {
    type Loot = Vec<usize>;

    #[inline(always)]
    fn steal(thief: &mut Self::Thief, percent: usize, loot: &mut Vec<usize>) {
        let mut deque = lock(thief);
        let wanted = share(percent, deque.len());
        loot.extend(deque.drain(..wanted));
    }

    fn tasks(loot: Vec<usize>) -> Vec<usize> {
        loot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes_the_oldest_and_leaves_the_youngest<Q: Shares>() {
        let (owner, mut thief) = Q::new();
        Q::push_batch(&owner, Q::batch(0..60));
        (60..100).for_each(|task| Q::push(&owner, task));
        let mut loot = Q::Loot::default();
        Q::steal(&mut thief, 30, &mut loot);
        let stolen = Q::tasks(loot);
        assert!((1..=30).contains(&stolen.len()), "{}: {stolen:?}", Q::NAME);
        assert!(stolen.iter().copied().eq(0..stolen.len()), "{}: {stolen:?}", Q::NAME);
        let left: Vec<usize> = std::iter::from_fn(|| Q::pop(&owner)).collect();
        assert!(left.iter().copied().eq((stolen.len()..100).rev()), "{}: {left:?}", Q::NAME);
    }

    #[test]
    fn a_thief_takes_the_oldest_and_the_owner_the_youngest() {
        takes_the_oldest_and_leaves_the_youngest::<Bulk>();
        takes_the_oldest_and_leaves_the_youngest::<Crossbeam>();
        takes_the_oldest_and_leaves_the_youngest::<MutexDeque>();
    }

    #[test]
    fn a_share_is_rounded_up() {
        assert_eq!(share(10, 10_000), 1_000);
        assert_eq!(share(10, 1), 1);
        assert_eq!(share(10, 0), 0);
    }
}
