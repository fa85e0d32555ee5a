//! The paper's loop: each worker has a queue.
//!
//! A worker without work visits the queues of the other workers in order and steals half.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use crossbeam_deque::{Steal, Stealer, Worker};
use filch_queue::bulk::{self, Batch, Thief};
use filch_queue::Steal as BulkSteal;

use super::work::{Visits, Work};
use crate::bench::at_once::{timed_on_threads, ActiveWorkers};
use crate::bench::bulk::contenders::{self, Locked};
use crate::sync::lock;

/// The result of a theft from one other worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StealOutcome {
    /// The thief's own queue now has tasks.
    Success,
    /// The other queue was empty.
    Empty,
    /// Another thief was faster. More tasks may be left.
    Retry,
}

/// A worker's queue.
pub(crate) trait Worklist: Send + Sized {
    /// Its name in plots.
    const NAME: &'static str;
    /// The handle that other workers steal through.
    type Handle: Send + Sync;

    /// Makes an empty queue.
    fn new() -> (Self, Self::Handle);

    /// Visits a node and queues the nodes it discovers.
    fn visit(&self, work: &Work<'_>, node: usize, visits: &mut Visits);

    /// Adds the first node.
    fn push_first(&self, node: usize);

    /// Takes the youngest node.
    fn pop(&self) -> Option<usize>;

    /// Steals half of another worker's nodes.
    fn steal_half(&self, other: &Self::Handle) -> StealOutcome;

    /// Whether there seems to be nothing to steal.
    fn is_empty(other: &Self::Handle) -> bool;
}

/// Visits all nodes. Returns the time that took.
pub(crate) fn explore<W: Worklist>(work: &Work<'_>, threads: usize) -> Result<Duration> {
    let (lists, handles): (Vec<W>, Vec<W::Handle>) = (0..threads).map(|_| W::new()).unzip();
    if let Some(first) = lists.first() {
        first.push_first(0);
    }
    let shared = Shared { work, handles, active: ActiveWorkers::new(threads) };
    let (elapsed, visits) =
        timed_on_threads("a worker", lists.into_iter().enumerate(), |(index, list)| shared.run(index, &list))?;
    work.check(visits.into_iter().fold(Visits::default(), Visits::and))?;
    Ok(elapsed)
}

/// The state that the workers share.
struct Shared<'a, W: Worklist> {
    work: &'a Work<'a>,
    handles: Vec<W::Handle>,
    active: ActiveWorkers,
}

impl<W: Worklist> Shared<'_, W> {
    fn run(&self, index: usize, list: &W) -> Visits {
        let mut visits = Visits::default();
        loop {
            while let Some(node) = list.pop() {
                list.visit(self.work, node, &mut visits);
            }
            let may_find_work = || self.handles.iter().any(|handle| !W::is_empty(handle));
            if !self.steal(index, list) && !self.active.wait_for_work(may_find_work) {
                return visits;
            }
        }
    }

    fn others(&self, index: usize) -> impl Iterator<Item = &W::Handle> {
        self.handles.iter().enumerate().filter(move |(other, _)| *other != index).map(|(_, handle)| handle)
    }

    /// Tries the other workers in order until a theft succeeds or all are empty.
    fn steal(&self, index: usize, list: &W) -> bool {
        loop {
            let mut again = false;
            for other in self.others(index) {
                match list.steal_half(other) {
                    StealOutcome::Success => return true,
                    StealOutcome::Empty => {}
                    StealOutcome::Retry => again = true,
                }
            }
            if !again {
                return false;
            }
        }
    }
}

/// filch's bulk queue.
///
/// Discovered nodes are pushed one by one. Stolen nodes are pushed as a batch.
pub(crate) struct BulkList(bulk::Owner<usize>);

impl Worklist for BulkList {
    const NAME: &'static str = contenders::BULK;
    type Handle = Thief<usize>;

    fn new() -> (Self, Self::Handle) {
        let (owner, thief) = bulk::new();
        (BulkList(owner), thief)
    }

    #[inline(always)]
    fn visit(&self, work: &Work<'_>, node: usize, visits: &mut Visits) {
        work.visit(node, visits, |next| self.0.push(next));
    }

    fn push_first(&self, node: usize) {
        self.0.push(node);
    }

    #[inline(always)]
    fn pop(&self) -> Option<usize> {
        self.0.pop()
    }

    fn steal_half(&self, other: &Self::Handle) -> StealOutcome {
        match other.try_steal(0.5) {
            Ok(BulkSteal::Success(batch)) => {
                self.0.push_batch(batch);
                StealOutcome::Success
            }
            Ok(BulkSteal::Empty) => StealOutcome::Empty,
            Ok(_) | Err(_) => StealOutcome::Retry,
        }
    }

    fn is_empty(other: &Self::Handle) -> bool {
        other.is_empty()
    }
}

/// Like [`BulkList`], but the nodes that a visit discovers are pushed as one batch.
pub(crate) struct BatchList(BulkList);

impl Worklist for BatchList {
    const NAME: &'static str = "bulk-batches";
    type Handle = Thief<usize>;

    fn new() -> (Self, Self::Handle) {
        let (list, handle) = BulkList::new();
        (BatchList(list), handle)
    }

    #[inline(always)]
    fn visit(&self, work: &Work<'_>, node: usize, visits: &mut Visits) {
        let mut batch = Batch::new();
        work.visit(node, visits, |next| batch.push(next));
        if !batch.is_empty() {
            self.0 .0.push_batch(batch);
        }
    }

    fn push_first(&self, node: usize) {
        self.0.push_first(node);
    }

    #[inline(always)]
    fn pop(&self) -> Option<usize> {
        self.0.pop()
    }

    fn steal_half(&self, other: &Self::Handle) -> StealOutcome {
        self.0.steal_half(other)
    }

    fn is_empty(other: &Self::Handle) -> bool {
        BulkList::is_empty(other)
    }
}

/// crossbeam-deque. It steals half, but at most 32 nodes.
pub(crate) struct CrossbeamList(Worker<usize>);

impl Worklist for CrossbeamList {
    const NAME: &'static str = contenders::CROSSBEAM;
    type Handle = Stealer<usize>;

    fn new() -> (Self, Self::Handle) {
        let worker = Worker::new_lifo();
        let stealer = worker.stealer();
        (CrossbeamList(worker), stealer)
    }

    #[inline(always)]
    fn visit(&self, work: &Work<'_>, node: usize, visits: &mut Visits) {
        work.visit(node, visits, |next| self.0.push(next));
    }

    fn push_first(&self, node: usize) {
        self.0.push(node);
    }

    #[inline(always)]
    fn pop(&self) -> Option<usize> {
        self.0.pop()
    }

    fn steal_half(&self, other: &Self::Handle) -> StealOutcome {
        match other.steal_batch(&self.0) {
            Steal::Success(()) => StealOutcome::Success,
            Steal::Empty => StealOutcome::Empty,
            Steal::Retry => StealOutcome::Retry,
        }
    }

    fn is_empty(other: &Self::Handle) -> bool {
        other.is_empty()
    }
}

/// A deque behind a lock. The nodes that a visit discovers are pushed under one lock.
pub(crate) struct MutexList {
    deque: Locked,
    /// A buffer for discovered nodes, so that the lock is not held during a visit.
    discovered: Cell<Vec<usize>>,
}

impl Worklist for MutexList {
    const NAME: &'static str = contenders::MUTEX;
    type Handle = Locked;

    fn new() -> (Self, Self::Handle) {
        let deque = Locked::default();
        let list = MutexList { deque: Arc::clone(&deque), discovered: Cell::default() };
        (list, deque)
    }

    #[inline(always)]
    fn visit(&self, work: &Work<'_>, node: usize, visits: &mut Visits) {
        let mut discovered = self.discovered.take();
        work.visit(node, visits, |next| discovered.push(next));
        if !discovered.is_empty() {
            lock(&self.deque).extend(discovered.drain(..));
        }
        self.discovered.set(discovered);
    }

    fn push_first(&self, node: usize) {
        lock(&self.deque).push_back(node);
    }

    #[inline(always)]
    fn pop(&self) -> Option<usize> {
        lock(&self.deque).pop_back()
    }

    fn steal_half(&self, other: &Self::Handle) -> StealOutcome {
        let stolen: Vec<usize> = {
            let mut other = lock(other);
            let half = other.len().div_ceil(2);
            other.drain(..half).collect()
        };
        if stolen.is_empty() {
            return StealOutcome::Empty;
        }
        lock(&self.deque).extend(stolen);
        StealOutcome::Success
    }

    fn is_empty(other: &Self::Handle) -> bool {
        lock(other).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::super::graph::Dag;
    use super::super::work::{NodeCost, Steps};
    use super::*;
    use crate::bench::busy::Calibration;

    fn visits_all<W: Worklist>() {
        let dag = Dag::random(20_000, 3);
        let claimed: Vec<AtomicBool> = (0..dag.nodes()).map(|_| AtomicBool::new(false)).collect();
        for threads in [1, 2, 3] {
            let steps = Steps::of(NodeCost::Skewed, Calibration::measure());
            explore::<W>(&Work::new(&dag, steps, &claimed), threads).unwrap();
        }
    }

    #[test]
    fn every_node_is_visited_once_on_every_queue() {
        visits_all::<BulkList>();
        visits_all::<BatchList>();
        visits_all::<CrossbeamList>();
        visits_all::<MutexList>();
    }
}
