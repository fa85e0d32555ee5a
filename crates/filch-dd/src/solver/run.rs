//! Who searches: one worker with a stack, or a master and workers over bulk queues.
//!
//! What is pushed last is popped first, and a cutset is pushed with its best bound last. So a worker goes down where the bound is best, and few nodes are open at a time: hundreds where a search that
//! always takes the best bound of all has tens of thousands. That one makes up to a sixth fewer diagram nodes on independent sets, and none fewer where a good solution is found early.
//!
//! With a port, either goes on until the outside says that nothing more will come. A master's run is over when nothing is left, or when all open nodes are to be shown; what is left, and what has come
//! meanwhile, is what the next one begins with.

use std::sync::PoisonError;
use std::time::Instant;

use crossbeam_utils::CachePadded;

use super::node::Open;
use super::outcome::{Explored, Outcome};
use super::search::{Local, Search};
use super::{finish, OnExplored, SolveError};
use crate::master::{Batch, Master, Region, Transfer, Work, Worker};
use crate::port::{Totals, ASKED, DELIVERED, SNAPSHOT};
use crate::problem::Relaxation;
use crate::sync::{advice::AtomicBool, lock, Mutex, Ordering};

/// One worker, its open nodes on a stack.
pub(super) fn alone<P: Relaxation>(
    search: Search<'_, P>,
    root: Option<Open<P::State>>,
    mut on_explored: Option<OnExplored<'_>>,
) -> Result<Outcome, SolveError> {
    let mut local = Local::new();
    let mut open = Vec::from_iter(root);
    search.enter(&open);
    while !search.look() {
        attend(&search, &mut open, || local.totals());
        let Some(node) = open.pop() else {
            if goes_on(&search) {
                continue;
            }
            break;
        };
        let (depth, began) = (node.depth as usize, on_explored.as_ref().map(|_| Instant::now()));
        let unfinished = search.explore(node, &mut local, || {
            if search.is_wanted(ASKED) {
                search.give(|share| Some(spare(&mut open, share, usize::MAX)));
            }
            false
        });
        if let (Some(tell), Some(began), None) = (&mut on_explored, began, &unfinished) {
            tell(&Explored { took: began.elapsed(), left_open: local.batch.len(), depth });
        }
        open.extend(unfinished);
        open.append(&mut local.batch);
    }
    take_in_the_rest(&search, &mut open);
    finish(search, &open, &[local], (0, Vec::new()))
}

/// Does what the outside wants, while nobody is at work on the nodes.
fn attend<P: Relaxation>(search: &Search<'_, P>, open: &mut Vec<Open<P::State>>, totals: impl FnOnce() -> Totals) {
    // First: what was delivered before somebody wanted to see all is taken in before it is shown.
    let viewers = if search.is_wanted(SNAPSHOT) { search.viewers() } else { 0 };
    if search.is_wanted(DELIVERED) {
        search.take_in(open);
    }
    if search.is_wanted(ASKED) {
        // Nobody has begun any of them, and the last is not given away.
        let most = open.len().saturating_sub(1);
        search.give(|share| Some(spare(open, share, most)));
    }
    // Not if something was delivered that does not belong here: what is there would not be all.
    if viewers > 0 && !search.has_failed() {
        search.show(viewers, open, totals());
    }
}

/// What a search that was stopped has not looked at is open all the same, or it would be taken for proven.
fn take_in_the_rest<P: Relaxation>(search: &Search<'_, P>, open: &mut Vec<Open<P::State>>) {
    if search.is_wanted(DELIVERED) {
        search.take_in(open);
    }
}

/// A share of them, but no more than so many: spread over all, so that who gets them and who keeps the others have as good ones, and find good solutions as early. The oldest have the least bounds, and whoever begins with those is
/// late with what prunes the others.
fn spare<S>(open: &mut Vec<Open<S>>, share: f64, most: usize) -> Vec<Open<S>> {
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

/// Whether a search that has nothing left is to go on; if so, after a while or when something has come.
fn goes_on<P: Relaxation>(search: &Search<'_, P>) -> bool {
    // One that failed on what it was brought has nothing left either, but is not to say so.
    search.look() || search.harbour.as_ref().is_some_and(|harbour| harbour.port.rest())
}

/// A master and workers, each with a bulk queue: a cutset is pushed as one batch, and who has nothing left is brought a share of what another has.
pub(super) fn together<P: Relaxation>(
    search: Search<'_, P>,
    root: Option<Open<P::State>>,
    pool: Option<&filch::Pool>,
    workers: usize,
) -> Result<Outcome, SolveError> {
    let locals = (0..workers).map(|_| CachePadded::new(Mutex::new(Local::new()))).collect();
    let team = Team { search, locals, fresh: AtomicBool::new(true) };
    let mut open = Vec::from_iter(root);
    team.search.enter(&open);
    let (mut transfers, mut last_transfers) = (0, Vec::new());
    // One pool for all runs. Without a port there is one run, which finds its own; as it does, with a word, if this one cannot be had.
    let alone = pool.is_none() && team.search.harbour.is_some();
    let own_pool = alone.then(|| filch::Pool::builder().threads(workers).build().ok()).flatten();
    while !team.search.look() {
        attend(&team.search, &mut open, || team.totals());
        if open.is_empty() {
            if goes_on(&team.search) {
                continue;
            }
            break;
        }
        let master = Master::new().threads(workers);
        let roots = core::mem::take(&mut open);
        team.fresh.store(true, Ordering::Relaxed);
        let before = team.search.start.elapsed();
        let report = match pool.or(own_pool.as_ref()) {
            Some(pool) => master.pool(pool).run(roots, &team),
            None => master.run(roots, &team),
        };
        open.extend(report.left);
        // Of each worker they come youngest first; what lies last is taken first.
        open.reverse();
        transfers += report.moved.batches;
        if !report.transfers.is_empty() {
            // Of the search, not of the run.
            let at = |transfer: &mut Transfer| transfer.at += before;
            last_transfers = report.transfers;
            last_transfers.iter_mut().for_each(at);
        }
    }
    take_in_the_rest(&team.search, &mut open);
    let inner = |local: CachePadded<Mutex<_>>| local.into_inner().into_inner().unwrap_or_else(PoisonError::into_inner);
    let locals: Vec<_> = team.locals.into_iter().map(inner).collect();
    finish(team.search, &open, &locals, (transfers, last_transfers))
}

struct Team<'a, P: Relaxation> {
    search: Search<'a, P>,
    /// What each worker has to itself, by its index. Nobody waits for these locks: a worker is on one thread at a time.
    locals: Vec<CachePadded<Mutex<Local<P::State>>>>,
    /// Whether this run has done nothing yet, as far as anybody looked. Relaxed: it is advice.
    fresh: AtomicBool,
}

impl<P: Relaxation> Team<'_, P> {
    /// What all have done; while none is at work.
    fn totals(&self) -> Totals {
        self.locals.iter().map(|local| lock(local).totals()).fold(Totals::default(), |all, one| all + one)
    }

    /// Gives nodes away, out of whichever queue has most.
    fn give(&self, worker: &mut Worker<'_, Self>) {
        self.search.give(|share| Some(worker.withdraw(share)?.into_iter().collect()));
    }
}

impl<P: Relaxation> Work for Team<'_, P> {
    type Task = Open<P::State>;
    type Learnt = ();

    fn region(&self, open: &Open<P::State>) -> Region {
        open.trail.region_of(open.step)
    }

    fn process(&self, open: Open<P::State>, worker: &mut Worker<'_, Self>) {
        let mut local = lock(&self.locals[worker.index()]);
        // All that is open is to be shown: between two runs, of which each does something, however often somebody looks.
        let pause = self.search.is_wanted(SNAPSHOT) && !self.fresh.swap(false, Ordering::Relaxed);
        if self.search.look() || pause {
            worker.stop();
            worker.push(open);
            return;
        }
        if self.search.is_wanted(DELIVERED) {
            let mut delivered = Vec::new();
            self.search.take_in(&mut delivered);
            worker.push_batch(delivered.into());
        }
        let unfinished = self.search.explore(open, &mut local, || {
            if self.search.is_wanted(ASKED) {
                self.give(worker);
            }
            // A run that is over only for all to be shown goes on after that, and what was begun is finished: a search that remembers states would take it for done. So it is the search alone that says whether to stop.
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
