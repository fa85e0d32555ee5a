//! The queues that are measured, behind one trait.
//!
//! Each queue pushes and steals batches in the way that suits it best.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use crossbeam_deque::{Steal, Stealer, Worker};
use filch_queue::bulk::{self, Batch};
use filch_queue::chase_lev;

use crate::sync::lock;

/// The name of filch's queue for batches, which is its module's name.
pub(crate) const BULK: &str = "bulk";
/// The name of filch's queue for single tasks.
pub(crate) const CHASE_LEV: &str = "chase_lev";
/// The name of the peer, crossbeam-deque.
pub(crate) const CROSSBEAM: &str = "crossbeam-lifo";
/// The name of a deque behind a lock.
pub(crate) const MUTEX: &str = "mutex-deque";

/// A queue with an owner that pushes and pops.
pub(crate) trait Queue {
    /// Its name in plots.
    const NAME: &'static str;
    /// The owner's side.
    type Owner: Send;
    /// The thief's side.
    type Thief: Send;
    /// Several tasks that can be pushed at once.
    type Batch: Send;

    /// Makes an empty queue.
    fn new() -> (Self::Owner, Self::Thief);

    /// Makes a batch that is ready to be pushed, the oldest task first.
    fn batch(tasks: Range<usize>) -> Self::Batch;

    /// Pushes a batch.
    fn push_batch(owner: &Self::Owner, batch: Self::Batch);

    /// Pushes one task.
    fn push(owner: &Self::Owner, task: usize);

    /// Takes the youngest task.
    fn pop(owner: &Self::Owner) -> Option<usize>;
}

/// A queue that allows stealing a share of its tasks.
pub(crate) trait StealShare: Queue {
    /// Whether the owner may push and pop during a steal. If not, the two sides take turns.
    const ALLOWS_BUSY_OWNER: bool = true;

    /// The container for stolen tasks. It is made before the clock starts.
    type Stolen: Default;

    /// Steals the oldest `percent` hundredths of the tasks. No other thief steals meanwhile: the
    /// published queue allows only one.
    fn steal(thief: &Self::Thief, percent: usize, taken: &mut Self::Stolen);

    /// The stolen tasks, the oldest first.
    fn tasks(taken: Self::Stolen) -> Vec<usize>;
}

/// `percent` hundredths of `of`, rounded up.
pub(crate) fn share(percent: usize, of: usize) -> usize {
    (percent * of).div_ceil(100)
}

/// filch's `bulk`.
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

impl StealShare for Bulk {
    type Stolen = Batch<usize>;

    #[inline(always)]
    fn steal(thief: &Self::Thief, percent: usize, taken: &mut Batch<usize>) {
        // All shares of this suite are between nothing and everything, so the steal succeeds.
        if let Ok(stolen) = thief.steal(percent as f64 / 100.0) {
            *taken = stolen;
        }
    }

    fn tasks(taken: Batch<usize>) -> Vec<usize> {
        taken.into_iter().collect()
    }
}

/// filch's `chase_lev`. It has no batches: tasks are pushed one by one.
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

/// crossbeam-deque. It pushes tasks one by one and steals a few at a time.
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

/// A separate queue for the tasks that crossbeam stole.
pub(crate) struct CrossbeamStolen(Worker<usize>);

impl Default for CrossbeamStolen {
    fn default() -> Self {
        // A FIFO queue would reverse every batch.
        CrossbeamStolen(Worker::new_lifo())
    }
}

impl StealShare for Crossbeam {
    type Stolen = CrossbeamStolen;

    #[inline(always)]
    fn steal(thief: &Self::Thief, percent: usize, CrossbeamStolen(taken): &mut CrossbeamStolen) {
        let wanted = share(percent, thief.len());
        let mut stolen = 0;
        while stolen < wanted {
            match thief.steal_batch_with_limit(taken, wanted - stolen) {
                Steal::Success(()) => stolen = taken.len(),
                Steal::Retry => {}
                Steal::Empty => break,
            }
        }
    }

    fn tasks(CrossbeamStolen(taken): CrossbeamStolen) -> Vec<usize> {
        let mut tasks: Vec<usize> = std::iter::from_fn(|| taken.pop()).collect();
        tasks.reverse();
        tasks
    }
}

/// A deque behind a lock.
pub(crate) enum MutexDeque {}

/// A side of the deque: both are the same.
pub(crate) type Locked = Arc<Mutex<VecDeque<usize>>>;

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

impl StealShare for MutexDeque {
    type Stolen = Vec<usize>;

    #[inline(always)]
    fn steal(thief: &Self::Thief, percent: usize, taken: &mut Vec<usize>) {
        let mut deque = lock(thief);
        let wanted = share(percent, deque.len());
        taken.extend(deque.drain(..wanted));
    }

    fn tasks(taken: Vec<usize>) -> Vec<usize> {
        taken
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::published::Published;
    use super::*;

    /// Fault: a task is lost.
    pub(in super::super) const LOSES: u8 = 0;
    /// Fault: a task is returned twice.
    pub(in super::super) const DOUBLES: u8 = 1;
    /// Fault: two tasks are swapped, so that all sums stay the same.
    pub(in super::super) const SWAPS: u8 = 2;

    /// A [`MutexDeque`] with a fault at every seventh task.
    pub(in super::super) enum Faulty<const FAULT: u8> {}

    impl<const FAULT: u8> Queue for Faulty<FAULT> {
        const NAME: &'static str = "faulty";
        type Owner = Locked;
        type Thief = Locked;
        type Batch = Vec<usize>;

        fn new() -> (Locked, Locked) {
            MutexDeque::new()
        }

        fn batch(tasks: Range<usize>) -> Vec<usize> {
            MutexDeque::batch(tasks)
        }

        fn push_batch(owner: &Locked, batch: Vec<usize>) {
            batch.into_iter().for_each(|task| Self::push(owner, task));
        }

        fn push(owner: &Locked, task: usize) {
            let mut deque = lock(owner);
            let end = deque.len();
            match FAULT {
                _ if task % 7 != 5 => deque.push_back(task),
                LOSES => {}
                SWAPS => deque.insert(end.saturating_sub(1), task),
                _ => deque.extend([task; 2]),
            }
        }

        fn pop(owner: &Locked) -> Option<usize> {
            MutexDeque::pop(owner)
        }
    }

    impl<const FAULT: u8> StealShare for Faulty<FAULT> {
        type Stolen = Vec<usize>;

        fn steal(thief: &Locked, percent: usize, taken: &mut Vec<usize>) {
            MutexDeque::steal(thief, percent, taken);
        }

        fn tasks(taken: Vec<usize>) -> Vec<usize> {
            taken
        }
    }

    fn takes_the_oldest_and_leaves_the_youngest<Q: StealShare>() {
        let (owner, thief) = Q::new();
        Q::push_batch(&owner, Q::batch(0..60));
        (60..100).for_each(|task| Q::push(&owner, task));
        let mut taken = Q::Stolen::default();
        Q::steal(&thief, 30, &mut taken);
        let stolen = Q::tasks(taken);
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
        takes_the_oldest_and_leaves_the_youngest::<Published<false>>();
        takes_the_oldest_and_leaves_the_youngest::<Published<true>>();
    }

    #[test]
    fn a_share_is_rounded_up() {
        assert_eq!(share(10, 10_000), 1_000);
        assert_eq!(share(10, 1), 1);
        assert_eq!(share(10, 0), 0);
    }
}
