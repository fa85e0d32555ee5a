//! The queues that several thieves steal from at the same time.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Mutex;

use crossbeam_deque::Worker;
use crossbeam_utils::CachePadded;
use filch_queue::bulk::{self, Batch};
use filch_queue::Steal;

use crate::bench::bulk::contenders::{Bulk, Crossbeam, MutexDeque, Queue};
use crate::sync::lock;

/// The name of filch's queue with its thief behind a lock that is only tried.
pub(crate) const BULK_TRY_LOCK: &str = "bulk-try-lock";

/// Thieves leave a queue with fewer tasks alone.
pub(crate) const FEW: usize = 64;
/// A thief steals one task in so many: an eighth.
pub(crate) const ONE_IN: usize = 8;

/// The outcome of an attempt to steal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// The thief has tasks.
    Stolen,
    /// Another thief was faster, and has tasks.
    Lost,
    /// The thief has no tasks, for another reason, although there are enough.
    Refused,
    /// Fewer than [`FEW`] tasks are left.
    Few,
}

impl Attempt {
    /// An attempt without tasks that was not lost to another thief.
    fn in_vain(left: usize) -> Attempt {
        if left < FEW {
            Attempt::Few
        } else {
            Attempt::Refused
        }
    }

    /// An attempt that the queue reports as lost to another thief.
    ///
    /// The lengths before and after it prove that a thief was faster: they differ by more than the
    /// one task that a busy owner may have in its hands.
    fn reported_lost(before: usize, after: usize) -> Attempt {
        if after + 1 < before {
            Attempt::Lost
        } else {
            Attempt::in_vain(after)
        }
    }
}

/// A queue that several thieves may steal from at the same time.
pub(crate) trait ManyThieves: Queue<Thief: Sync> {
    /// A thief's container for stolen tasks.
    type Taken: Default;

    /// Tries once to steal one in [`ONE_IN`] of the tasks, the oldest.
    fn attempt(thief: &Self::Thief, taken: &mut Self::Taken) -> Attempt;

    /// Takes the stolen tasks out of the container, one by one.
    fn each(taken: &mut Self::Taken, visit: impl FnMut(usize));

    /// The number of tasks in the queue a moment ago.
    fn len(thief: &Self::Thief) -> usize;
}

/// Tries once to steal from filch's `bulk`.
#[inline(always)]
fn try_bulk(thief: &bulk::Thief<usize>, before: usize, taken: &mut Batch<usize>) -> Attempt {
    match thief.try_steal(1.0 / ONE_IN as f64) {
        Ok(Steal::Success(batch)) => {
            *taken = batch;
            Attempt::Stolen
        }
        Ok(Steal::Retry) => Attempt::reported_lost(before, thief.len()),
        Ok(Steal::Empty | Steal::Abort) | Err(_) => Attempt::in_vain(thief.len()),
    }
}

impl ManyThieves for Bulk {
    type Taken = Batch<usize>;

    #[inline(always)]
    fn attempt(thief: &Self::Thief, taken: &mut Batch<usize>) -> Attempt {
        match thief.len() {
            0..FEW => Attempt::Few,
            before => try_bulk(thief, before, taken),
        }
    }

    #[inline(always)]
    fn each(taken: &mut Batch<usize>, visit: impl FnMut(usize)) {
        std::mem::take(taken).into_iter().for_each(visit);
    }

    fn len(thief: &Self::Thief) -> usize {
        thief.len()
    }
}

/// filch's `bulk` with one thief at a time: the others find a lock taken, and are told so.
pub(crate) enum BulkTryLock {}

/// The thieves' side.
pub(crate) struct TryLocked {
    stealing: CachePadded<Mutex<bulk::Thief<usize>>>,
    /// For the length, which needs no lock.
    looking: bulk::Thief<usize>,
}

impl Queue for BulkTryLock {
    const NAME: &'static str = BULK_TRY_LOCK;
    type Owner = bulk::Owner<usize>;
    type Thief = TryLocked;
    type Batch = Batch<usize>;

    fn new() -> (Self::Owner, TryLocked) {
        let (owner, thief) = bulk::new();
        let looking = thief.clone();
        (owner, TryLocked { stealing: CachePadded::new(Mutex::new(thief)), looking })
    }

    fn batch(tasks: Range<usize>) -> Batch<usize> {
        Bulk::batch(tasks)
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

impl ManyThieves for BulkTryLock {
    type Taken = Batch<usize>;

    #[inline(always)]
    fn attempt(TryLocked { stealing, looking }: &TryLocked, taken: &mut Batch<usize>) -> Attempt {
        let before = looking.len();
        if before < FEW {
            return Attempt::Few;
        }
        match stealing.try_lock() {
            Ok(thief) => try_bulk(&thief, before, taken),
            Err(_) => Attempt::in_vain(looking.len()),
        }
    }

    #[inline(always)]
    fn each(taken: &mut Batch<usize>, visit: impl FnMut(usize)) {
        Bulk::each(taken, visit);
    }

    fn len(thief: &TryLocked) -> usize {
        thief.looking.len()
    }
}

/// A thief's own queue, for the tasks that crossbeam stole.
pub(crate) struct CrossbeamTaken(Worker<usize>);

impl Default for CrossbeamTaken {
    fn default() -> Self {
        CrossbeamTaken(Worker::new_lifo())
    }
}

/// crossbeam claims the tasks one by one, and ends a steal early if another thief takes one.
impl ManyThieves for Crossbeam {
    type Taken = CrossbeamTaken;

    #[inline(always)]
    fn attempt(thief: &Self::Thief, CrossbeamTaken(taken): &mut CrossbeamTaken) -> Attempt {
        let before = thief.len();
        if before < FEW {
            return Attempt::Few;
        }
        match thief.steal_batch_with_limit(taken, before.div_ceil(ONE_IN)) {
            crossbeam_deque::Steal::Success(()) => Attempt::Stolen,
            crossbeam_deque::Steal::Retry => Attempt::reported_lost(before, thief.len()),
            crossbeam_deque::Steal::Empty => Attempt::in_vain(thief.len()),
        }
    }

    #[inline(always)]
    fn each(CrossbeamTaken(taken): &mut CrossbeamTaken, visit: impl FnMut(usize)) {
        std::iter::from_fn(|| taken.pop()).for_each(visit);
    }

    fn len(thief: &Self::Thief) -> usize {
        thief.len()
    }
}

impl ManyThieves for MutexDeque {
    type Taken = VecDeque<usize>;

    #[inline(always)]
    fn attempt(thief: &Self::Thief, taken: &mut VecDeque<usize>) -> Attempt {
        let mut deque = lock(thief);
        if deque.len() < FEW {
            return Attempt::Few;
        }
        let wanted = deque.len().div_ceil(ONE_IN);
        taken.extend(deque.drain(..wanted));
        Attempt::Stolen
    }

    #[inline(always)]
    fn each(taken: &mut VecDeque<usize>, visit: impl FnMut(usize)) {
        taken.drain(..).for_each(visit);
    }

    fn len(thief: &Self::Thief) -> usize {
        lock(thief).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes_an_eighth<Q: ManyThieves>() {
        let (owner, thief) = Q::new();
        Q::push_batch(&owner, Q::batch(0..100));
        let (mut taken, mut stolen) = (Q::Taken::default(), Vec::new());
        assert_eq!((Q::len(&thief), Q::attempt(&thief, &mut taken)), (100, Attempt::Stolen), "{}", Q::NAME);
        Q::each(&mut taken, |task| stolen.push(task));
        stolen.sort_unstable();
        assert!(stolen.iter().copied().eq(0..13), "{}: {stolen:?}", Q::NAME);
        // 76, 66 and 57 are left.
        let more = [(); 4].map(|()| Q::attempt(&thief, &mut taken));
        assert_eq!(more, [Attempt::Stolen, Attempt::Stolen, Attempt::Stolen, Attempt::Few], "{}", Q::NAME);
        assert_eq!(Q::len(&thief), 57, "{}", Q::NAME);
    }

    #[test]
    fn a_thief_takes_an_eighth_and_leaves_few_tasks_alone() {
        takes_an_eighth::<Bulk>();
        takes_an_eighth::<BulkTryLock>();
        takes_an_eighth::<Crossbeam>();
        takes_an_eighth::<MutexDeque>();
    }

    #[test]
    fn a_thief_that_finds_the_lock_taken_is_refused() {
        let (owner, thief) = BulkTryLock::new();
        BulkTryLock::push_batch(&owner, BulkTryLock::batch(0..100));
        let other = thief.stealing.try_lock().unwrap();
        assert_eq!(BulkTryLock::attempt(&thief, &mut Batch::new()), Attempt::Refused);
        drop(other);
        assert_eq!(BulkTryLock::attempt(&thief, &mut Batch::new()), Attempt::Stolen);
    }

    #[test]
    fn an_attempt_is_lost_only_if_another_thief_has_tasks() {
        assert_eq!(Attempt::reported_lost(100, 87), Attempt::Lost);
        assert_eq!(Attempt::reported_lost(64, 56), Attempt::Lost);
        // The owner has popped a task, or pushed it back.
        for after in [99, 100, 101] {
            assert_eq!(Attempt::reported_lost(100, after), Attempt::Refused);
        }
        assert_eq!(Attempt::in_vain(63), Attempt::Few);
    }
}
