//! The search: how an open node is explored, and what all workers share.

use core::sync::atomic::{AtomicBool, AtomicU64, AtomicU8, Ordering};
use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

use filch::explore::Cancel;

use super::connection::Connection;
use super::incumbent::BestSolution;
use super::metrics::Metrics;
use super::node::{best_last, OpenNode};
use super::outcome::{gap, SolveStatus, WorkerStatistics};
use super::progress::{OnProgress, Progress};
use super::{Cutset, SolveError};
use crate::cache::Cache;
use crate::diagram::{Compiled, Diagram, Halt, Host, Task};
use crate::dominance::DominanceCheck;
use crate::model::{hash_of, Model};
use crate::port::{Totals, SOLUTIONS, STOP};
use crate::problem::{Cost, Decision, Relaxation};
use crate::sync::{lock, Mutex};
use crate::width::Width;

/// When to stop a search that is not complete.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) deadline: Option<Instant>,
    pub(crate) nodes: Option<u64>,
    pub(crate) cancel: Option<Cancel>,
}

/// What all workers share.
pub(crate) struct Search<'a, P: Relaxation> {
    pub(crate) model: Model<'a, P>,
    pub(crate) width: Width,
    pub(crate) cutset: Cutset,
    cache: Option<Cache<P::State>>,
    /// Whether the cache is disabled if it is of little use.
    adaptive: bool,
    /// Whether the cache was disabled.
    cache_disabled: AtomicBool,
    pub(crate) dominance: Option<&'a dyn DominanceCheck<P::State>>,
    pub(crate) best: BestSolution<'a>,
    /// Written with every node.
    ///
    /// It is apart from data that is only read, or read with every layer.
    pub(crate) metrics: Arc<Metrics>,
    /// Where nodes come from and go to.
    pub(crate) connection: Option<Connection<'a, P::State>>,
    pub(crate) limits: Limits,
    pub(crate) start: Instant,
    /// Why the search is to stop early: 0 if it is not.
    stopped: AtomicU8,
    failed: Mutex<Option<SolveError>>,
    progress: Option<Mutex<Report<'a>>>,
    /// When the next report is due, in milliseconds since the start.
    due: AtomicU64,
}

struct Report<'a> {
    every: Duration,
    callback: OnProgress<'a>,
}

/// The data of one worker.
pub(crate) struct Local<S> {
    diagram: Diagram<S>,
    /// The nodes that the last diagram left open, to be pushed: the best bound last.
    pub(crate) batch: Vec<OpenNode<S>>,
    path: Vec<Decision>,
    pub(crate) explored: u64,
    pub(crate) closed: u64,
    pub(crate) pruned: u64,
    /// The number of diagrams in a row whose restricted diagram found nothing.
    fruitless: u32,
    /// The lookups and hits of the cache when its use was last checked.
    last_cache_check: (u64, u64),
}

impl<S: Clone + Eq + core::hash::Hash> Local<S> {
    pub(crate) fn new() -> Self {
        Local {
            diagram: Diagram::new(),
            batch: Vec::new(),
            path: Vec::new(),
            explored: 0,
            closed: 0,
            pruned: 0,
            fruitless: 0,
            last_cache_check: (0, 0),
        }
    }

    /// Returns the counts of this worker.
    pub(crate) fn totals(&self) -> Totals {
        let Local { explored, closed, pruned, .. } = *self;
        Totals { explored, closed, diagram_nodes: self.diagram.nodes_made(), pruned }
    }

    pub(crate) fn statistics(&self) -> WorkerStatistics {
        WorkerStatistics { explored: self.explored, diagram_nodes: self.diagram.nodes_made() }
    }
}

/// The number of diagrams in a row without a solution before the order changes.
///
/// After that, a diagram computes its bound first, and looks for solutions only if the bound leaves
/// something open. Most diagrams are closed by their bound, and late in a search almost none finds
/// a solution.
const FRUITLESS_LIMIT: u32 = 16;

const TIMED_OUT: u8 = 1;
const CANCELLED: u8 = 2;
const NODE_LIMIT: u8 = 3;
const FAILED: u8 = 4;

impl<'a, P: Relaxation> Search<'a, P> {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        model: Model<'a, P>,
        width: Width,
        cutset: Cutset,
        cache: Option<bool>,
        dominance: Option<&'a dyn DominanceCheck<P::State>>,
        best: BestSolution<'a>,
        connection: Option<Connection<'a, P::State>>,
        metrics: Arc<Metrics>,
        limits: Limits,
        start: Instant,
        on_progress: Option<(Duration, OnProgress<'a>)>,
    ) -> Self {
        let due = on_progress.as_ref().map_or(u64::MAX, |(every, _)| every.as_millis() as u64);
        Search {
            model,
            width,
            cutset,
            cache: cache.unwrap_or(true).then(Cache::new),
            adaptive: cache.is_none(),
            cache_disabled: AtomicBool::new(false),
            dominance,
            best,
            metrics,
            connection,
            limits,
            start,
            stopped: AtomicU8::new(0),
            failed: Mutex::new(None),
            progress: on_progress.map(|(every, callback)| Mutex::new(Report { every, callback })),
            due: AtomicU64::new(due),
        }
    }

    /// Explores an open node.
    ///
    /// The nodes that it leaves open are in the worker's batch, sorted. If the search is to stop,
    /// an unfinished node is returned.
    ///
    /// `poll` is called once for each layer, so that the worker can serve others.
    pub(crate) fn explore(
        &self,
        node: OpenNode<P::State>,
        local: &mut Local<P::State>,
        poll: impl FnMut() -> bool,
    ) -> Option<OpenNode<P::State>> {
        let Local { diagram, batch, path, fruitless, last_cache_check, .. } = local;
        batch.clear();
        if node.bound <= self.best.floor() || !self.is_worth_exploring(&node) {
            local.pruned += 1;
            self.remove_open(&node);
            return None;
        }
        if !self.metrics.count_explored(self.limits.nodes) {
            self.stop(NODE_LIMIT);
            return Some(node);
        }
        local.explored += 1;
        let variables = self.model.problem.variables();
        let task = Task {
            model: self.model,
            root: &node,
            width: self.width.at(variables, node.depth as usize),
            cutset: self.cutset,
            cache: self.cache(),
            dominance: self.dominance,
            eager: *fruitless < FRUITLESS_LIMIT,
        };
        let mut host = Worker { search: self, root: &node, path, poll, found: false };
        let compiled = diagram.compile(&task, &mut host);
        if host.found {
            *fruitless = 0;
        } else {
            *fruitless += 1;
        }
        self.check_cache_use(local.explored, diagram.cache_counts(), last_cache_check);
        match compiled {
            Ok(Compiled::Done) => local.closed += 1,
            Ok(Compiled::Open) => {
                if diagram.drain_cutset(&task, self.best.floor(), batch).is_err() {
                    self.fail(SolveError::Overflow);
                    return Some(node);
                }
                if batch.is_empty() {
                    local.closed += 1;
                } else {
                    best_last(batch);
                    self.add_open(&batch[..]);
                }
            }
            Err(Halt::Stopped) => return Some(node),
            Err(Halt::Overflow) => {
                self.fail(SolveError::Overflow);
                return Some(node);
            }
            Err(Halt::Contradiction(how)) => {
                self.fail(SolveError::Contradiction(how));
                return Some(node);
            }
        }
        self.remove_open(&node);
        None
    }

    fn cache(&self) -> Option<&Cache<P::State>> {
        // Relaxed: a worker that sees it late only makes more lookups.
        self.cache.as_ref().filter(|_| !self.cache_disabled.load(Ordering::Relaxed))
    }

    /// Disables the cache if it is of little use.
    ///
    /// That is, if it dropped less than one in 64 of the nodes that were looked up, over the last
    /// 128 nodes that a worker explored. A lookup costs about as much as making a node. A dropped
    /// node saves everything below it, later and in other diagrams too, so a few are enough.
    fn check_cache_use(&self, explored: u64, (lookups, hits): (u64, u64), last_cache_check: &mut (u64, u64)) {
        if self.adaptive && explored % 128 == 0 {
            let (lookups_before, hits_before) = core::mem::replace(last_cache_check, (lookups, hits));
            if (hits - hits_before) * 64 < lookups - lookups_before {
                self.cache_disabled.store(true, Ordering::Relaxed);
            }
        }
    }

    fn is_worth_exploring(&self, node: &OpenNode<P::State>) -> bool {
        match self.cache() {
            Some(cache) if node.depth > 0 => {
                let hash = (hash_of(&node.state) >> 32) as u32;
                cache.claim(hash, node.depth as usize, &node.state, node.cost)
            }
            _ => true,
        }
    }

    /// Counts open nodes in.
    pub(crate) fn add_open(&self, batch: &[OpenNode<P::State>]) {
        if let (Some(least), Some(greatest)) = (batch.first(), batch.last()) {
            if least.depth > 0 {
                let floor = self.best.floor();
                self.metrics.bounds.set_range(if floor == Cost::MIN { least.bound } else { floor }, greatest.bound);
            }
        }
        self.metrics.bounds.add(batch.iter().map(|open| open.bound));
        self.metrics.add_open(batch.len() as u64);
    }

    /// Counts a node out: its children were counted in, or it was given away.
    pub(crate) fn remove_open(&self, node: &OpenNode<P::State>) {
        self.metrics.bounds.remove(node.bound);
        self.metrics.remove_open();
    }

    pub(crate) fn fail(&self, error: SolveError) {
        lock(&self.failed).get_or_insert(error);
        // This replaces any other reason: a failed search has no outcome. Relaxed, as in `stop`.
        self.stopped.store(FAILED, Ordering::Relaxed);
    }

    /// Stops the search. The first reason counts.
    fn stop(&self, why: u8) {
        // Relaxed: no other data depends on it.
        let _ = self.stopped.compare_exchange(0, why, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Returns whether the search was stopped by an error.
    pub(crate) fn has_failed(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) == FAILED
    }

    /// Returns whether the search is to stop now.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) != 0
    }

    /// Returns why the search stopped early, if it did.
    pub(crate) fn stopped_by(&self) -> Result<Option<SolveStatus>, SolveError> {
        Ok(match self.stopped.load(Ordering::Relaxed) {
            0 => None,
            TIMED_OUT => Some(SolveStatus::TimedOut),
            CANCELLED => Some(SolveStatus::Cancelled),
            NODE_LIMIT => Some(SolveStatus::NodeLimit),
            _ => {
                let failed = lock(&self.failed).clone();
                return Err(failed.unwrap_or(SolveError::Overflow));
            }
        })
    }

    /// Checks limits, cancellation and the port, and reports progress. Returns whether to stop.
    pub(crate) fn should_stop(&self) -> bool {
        if self.is_stopped() {
            return true;
        }
        if self.connection.as_ref().is_some_and(|connection| connection.port.is_requested(SOLUTIONS | STOP))
            && self.handle_requests()
        {
            return true;
        }
        if self.limits.cancel.as_ref().is_some_and(Cancel::is_cancelled) {
            self.stop(CANCELLED);
            return true;
        }
        if self.limits.deadline.is_none() && self.progress.is_none() {
            return false;
        }
        let now = Instant::now();
        if self.limits.deadline.is_some_and(|deadline| now >= deadline) {
            self.stop(TIMED_OUT);
            return true;
        }
        self.report(now.duration_since(self.start));
        false
    }

    /// Takes in solutions from outside. Returns whether the search is to stop.
    #[cold]
    fn handle_requests(&self) -> bool {
        let Some(connection) = &self.connection else { return false };
        for solution in connection.port.take_solutions() {
            match self.best.accept_external(&self.model, &solution) {
                Ok(()) => {}
                Err(Halt::Overflow) => self.fail(SolveError::Overflow),
                Err(Halt::Contradiction(how)) => self.fail(SolveError::InvalidDelivery(how)),
                Err(Halt::Stopped) => unreachable!("a replay cannot be stopped"),
            }
        }
        if connection.port.is_requested(STOP) {
            self.stop(CANCELLED);
        }
        self.is_stopped()
    }

    fn report(&self, elapsed: Duration) {
        let Some(progress) = &self.progress else { return };
        // Relaxed: the lock orders reports.
        if (elapsed.as_millis() as u64) < self.due.load(Ordering::Relaxed) {
            return;
        }
        let Ok(mut report) = progress.try_lock() else { return };
        self.due.store((elapsed + report.every).as_millis() as u64, Ordering::Relaxed);
        let progress = self.progress(elapsed);
        (report.callback)(&progress);
    }

    fn progress(&self, elapsed: Duration) -> Progress {
        // With a port, delivered nodes count as open before they are taken in.
        let standing = self.connection.as_ref().map(|connection| connection.port.standing());
        let (open, explored) = standing.map_or_else(|| self.metrics.counts(), |now| (now.open, now.explored));
        // Reads the bound first: a solution found meanwhile only makes the gap smaller, never
        // negative.
        let greatest = standing.map_or_else(|| self.metrics.bounds.greatest(), |now| now.bound);
        let floor = self.best.floor();
        let best = (floor != Cost::MIN).then_some(floor);
        let bound = match (greatest, best) {
            (Some(Cost::MAX), _) => None,
            (Some(greatest), best) => Some(best.map_or(greatest, |best| best.max(greatest))),
            (None, best) => best,
        };
        let convert = |cost: Cost| self.model.convert_sense(cost).unwrap_or(cost);
        let (best, bound) = (best.map(convert), bound.map(convert));
        Progress {
            open,
            explored,
            best,
            bound,
            gap: gap(best, bound),
            elapsed,
            memory: open * core::mem::size_of::<OpenNode<P::State>>() as u64,
        }
    }
}

/// A worker, as the diagram that it builds sees it.
struct Worker<'s, 'a, P: Relaxation, F> {
    search: &'s Search<'a, P>,
    root: &'s OpenNode<P::State>,
    path: &'s mut Vec<Decision>,
    poll: F,
    found: bool,
}

impl<P: Relaxation, F: FnMut() -> bool> Host for Worker<'_, '_, P, F> {
    #[inline]
    fn floor(&self) -> Cost {
        self.search.best.floor()
    }

    #[inline]
    fn stop(&mut self) -> bool {
        (self.poll)() || self.search.should_stop()
    }

    fn found(&mut self, cost: Cost, decisions: &[Decision]) -> Result<(), Halt> {
        self.found = true;
        self.path.clear();
        self.root.trail.walk_up(self.root.step, |decision| self.path.push(decision));
        self.path.reverse();
        self.path.extend_from_slice(decisions);
        self.search.best.offer(&self.search.model, cost, self.path)
    }
}
