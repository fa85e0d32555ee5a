//! Runs a search, with one worker or with several.
//!
//! One worker has a stack; a master and workers have bulk queues, or others for comparison.
//!
//! The order is last in, first out, and a cutset is pushed with its best bound last. So a worker
//! goes down where the bound is best, and few nodes are open at a time: hundreds, compared with
//! tens of thousands in a best-first search. Best-first search makes up to a sixth fewer diagram
//! nodes on independent sets, and no fewer if a good solution is found early.
//!
//! With a port, both continue until the outside says that no more nodes will come. A run of the
//! master is over when no node is left, or when a snapshot of all open nodes is wanted. The next
//! run begins with the nodes that are left, and those that have arrived meanwhile.

use std::time::Instant;

use crossbeam_utils::CachePadded;

use super::node::OpenNode;
use super::outcome::{ExploredNode, Outcome};
use super::search::{Local, Search};
use super::{finish, OnExplored, SolveError};
use crate::master::queue::Queue;
use crate::master::{Batch, Master, Region, Transfer, Work, Worker};
use crate::port::{Totals, ASKED, DELIVERED, SNAPSHOT};
use crate::problem::Relaxation;
use crate::sync::{advice::AtomicBool, lock, unpoisoned, Mutex, Ordering};

/// Searches with one worker, its open nodes on a stack.
pub(super) fn sequential<P: Relaxation>(
    search: Search<'_, P>,
    root: Option<OpenNode<P::State>>,
    mut on_explored: Option<OnExplored<'_>>,
) -> Result<Outcome, SolveError> {
    let mut local = Local::new();
    let mut open = Vec::from_iter(root);
    search.add_open(&open);
    while !search.should_stop() {
        answer_requests(&search, &mut open, || local.totals());
        let Some(node) = open.pop() else {
            if wait_for_work(&search) {
                continue;
            }
            break;
        };
        let (depth, began) = (node.depth as usize, on_explored.as_ref().map(|_| Instant::now()));
        let unfinished = search.explore(node, &mut local, || {
            if search.is_requested(ASKED) {
                search.give_away(|share| Some(take_share(&mut open, share, usize::MAX)));
            }
            false
        });
        if let (Some(callback), Some(began), None) = (&mut on_explored, began, &unfinished) {
            callback(&ExploredNode { took: began.elapsed(), left_open: local.batch.len(), depth });
        }
        open.extend(unfinished);
        open.append(&mut local.batch);
    }
    take_remaining_nodes(&search, &mut open);
    finish(search, &open, &[local], (0, Vec::new()))
}

/// Answers the requests of the outside, while no worker is running.
fn answer_requests<P: Relaxation>(
    search: &Search<'_, P>,
    open: &mut Vec<OpenNode<P::State>>,
    totals: impl FnOnce() -> Totals,
) {
    // First: nodes that were delivered before the request for a snapshot must be in the snapshot.
    let requests = if search.is_requested(SNAPSHOT) { search.take_snapshot_requests() } else { 0 };
    if search.is_requested(DELIVERED) {
        search.take_nodes(open);
    }
    if search.is_requested(ASKED) {
        // None of these nodes is begun yet. The last one is not given away.
        let most = open.len().saturating_sub(1);
        search.give_away(|share| Some(take_share(open, share, most)));
    }
    // Not if delivered nodes were rejected: the snapshot would be incomplete.
    if requests > 0 && !search.has_failed() {
        search.send_snapshots(requests, open, totals());
    }
}

/// Takes in delivered nodes after the search was stopped.
///
/// They are still open. Without them the result would look proven.
fn take_remaining_nodes<P: Relaxation>(search: &Search<'_, P>, open: &mut Vec<OpenNode<P::State>>) {
    if search.is_requested(DELIVERED) {
        search.take_nodes(open);
    }
}

/// Takes a share of the open nodes, spread evenly, but at most `most`.
///
/// So both sides have equally good nodes, and find good solutions equally early. The oldest nodes
/// have the least bounds: a search that begins with those is late to find solutions that prune the
/// others.
fn take_share<S>(open: &mut Vec<OpenNode<S>>, share: f64, most: usize) -> Vec<OpenNode<S>> {
    let total = open.len();
    let count = ((total as f64 * share).ceil() as usize).min(total).min(most);
    let mut given = Vec::with_capacity(count);
    for (at, node) in core::mem::take(open).into_iter().enumerate() {
        if (at + 1) * count / total > at * count / total {
            given.push(node);
        } else {
            open.push(node);
        }
    }
    given
}

/// Returns whether a search that has nothing left continues.
///
/// If so, it returns after a while or when something has arrived.
fn wait_for_work<P: Relaxation>(search: &Search<'_, P>) -> bool {
    // `should_stop` comes first: a search that failed on delivered nodes has nothing left either,
    // but must not report that.
    search.should_stop() || search.connection.as_ref().is_some_and(|connection| connection.port.wait_for_request())
}

/// Searches with a master and workers, each with a bulk queue.
///
/// A cutset is pushed as one batch. A worker that has nothing left is brought a share of another
/// worker's nodes.
pub(super) fn parallel<P: Relaxation, Q: Queue>(
    search: Search<'_, P>,
    root: Option<OpenNode<P::State>>,
    pool: Option<&filch::Pool>,
    workers: usize,
) -> Result<Outcome, SolveError> {
    let locals = (0..workers).map(|_| CachePadded::new(Mutex::new(Local::new()))).collect();
    let parallel = ParallelSearch { search, locals, fresh: AtomicBool::new(true) };
    let mut open = Vec::from_iter(root);
    parallel.search.add_open(&open);
    let (mut transfers, mut last_transfers) = (0, Vec::new());
    // One pool for all runs. Without a port there is one run, which finds its own pool. If this
    // pool cannot be built, each run looks for its own pool and reports the error.
    let needs_pool = pool.is_none() && parallel.search.connection.is_some();
    let own_pool = needs_pool.then(|| filch::Pool::builder().threads(workers).build().ok()).flatten();
    while !parallel.search.should_stop() {
        answer_requests(&parallel.search, &mut open, || parallel.totals());
        if open.is_empty() {
            if wait_for_work(&parallel.search) {
                continue;
            }
            break;
        }
        let master = Master::new().threads(workers);
        let roots = core::mem::take(&mut open);
        parallel.fresh.store(true, Ordering::Relaxed);
        let before = parallel.search.start.elapsed();
        let report = match pool.or(own_pool.as_ref()) {
            Some(pool) => master.pool(pool).run_on::<Q, _>(roots, &parallel),
            None => master.run_on::<Q, _>(roots, &parallel),
        };
        open.extend(report.left);
        // The nodes of each worker come youngest first, and the last one is taken first.
        open.reverse();
        transfers += report.moved.batches;
        if !report.transfers.is_empty() {
            // Converts the time since the start of the run to the time since the start of the
            // search.
            let at = |transfer: &mut Transfer| transfer.at += before;
            last_transfers = report.transfers;
            last_transfers.iter_mut().for_each(at);
        }
    }
    take_remaining_nodes(&parallel.search, &mut open);
    let inner = |local: CachePadded<Mutex<_>>| unpoisoned(local.into_inner().into_inner());
    let locals: Vec<_> = parallel.locals.into_iter().map(inner).collect();
    finish(parallel.search, &open, &locals, (transfers, last_transfers))
}

struct ParallelSearch<'a, P: Relaxation> {
    search: Search<'a, P>,
    /// The data of each worker, by its index. These locks are never contended: a worker is on one
    /// thread at a time.
    locals: Vec<CachePadded<Mutex<Local<P::State>>>>,
    /// Whether no worker has yet seen a request for a snapshot in this run. Relaxed: it is advice.
    fresh: AtomicBool,
}

impl<P: Relaxation> ParallelSearch<'_, P> {
    /// Returns the totals of all workers. No worker is running.
    fn totals(&self) -> Totals {
        self.locals.iter().map(|local| lock(local).totals()).fold(Totals::default(), |all, one| all + one)
    }

    /// Gives nodes away, out of the longest queue.
    fn give_away<Q: Queue>(&self, worker: &mut Worker<'_, Self, Q>) {
        self.search.give_away(|share| Some(worker.withdraw(share)?.into_iter().collect()));
    }
}

impl<P: Relaxation, Q: Queue> Work<Q> for ParallelSearch<'_, P> {
    type Task = OpenNode<P::State>;
    type Learnt = ();

    fn region(&self, open: &OpenNode<P::State>) -> Region {
        open.trail.region_of(open.step)
    }

    fn process(&self, open: OpenNode<P::State>, worker: &mut Worker<'_, Self, Q>) {
        let mut local = lock(&self.locals[worker.index()]);
        // A snapshot is taken between two runs. Each run does some work first, however often
        // snapshots are requested.
        let pause = self.search.is_requested(SNAPSHOT) && !self.fresh.swap(false, Ordering::Relaxed);
        if self.search.should_stop() || pause {
            worker.stop();
            worker.push(open);
            return;
        }
        if self.search.is_requested(DELIVERED) {
            let mut delivered = Vec::new();
            self.search.take_nodes(&mut delivered);
            worker.push_batch(delivered.into());
        }
        let unfinished = self.search.explore(open, &mut local, || {
            if self.search.is_requested(ASKED) {
                self.give_away(worker);
            }
            // A run that ends for a snapshot is followed by another, and the node that was begun is
            // finished: a search with a cache would otherwise consider it done. So only the search
            // decides whether to stop.
            let _is_over = worker.poll();
            false
        });
        if !local.batch.is_empty() {
            let batch: Batch<_> = local.batch.drain(..).collect();
            worker.push_batch(batch);
        }
        if let Some(unfinished) = unfinished {
            worker.stop();
            worker.push(unfinished);
        }
    }
}
