//! Branch and bound on decision diagrams.
//!
//! - [`search`]: how an open node is explored, and what workers share
//! - [`run`]: one worker, or a master and workers
//! - [`checkpoints`]: a search with checkpoints in a file
//! - [`connection`], [`pack`]: nodes that come from outside and go there
//! - [`node`], [`trail`]: open nodes, and how they were reached
//! - [`incumbent`], [`replay`]: the best solution, and the proof that it is valid
//! - [`metrics`], [`progress`]: the progress of a search
//! - [`outcome`], [`error`]: the results of a search

mod checkpoints;
mod connection;
mod error;
mod incumbent;
mod metrics;
mod node;
mod outcome;
mod pack;
mod progress;
mod replay;
mod run;
mod search;
mod trail;

use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

use filch::explore::Cancel;
use serde::de::DeserializeOwned;
use serde::Serialize;

pub use error::SolveError;
pub use incumbent::Incumbent;
pub(crate) use metrics::Metrics;
pub(crate) use node::OpenNode;
pub use outcome::{ExploredNode, Outcome, Solution, SolveStatus, Statistics, WorkerStatistics};
pub use progress::Progress;
pub(crate) use trail::{Step, Trail};

use crate::diagram::Halt;
use crate::dominance::{DominanceCheck, DominanceTable};
use crate::master::queue::{Bulk, Queue};
use crate::master::Transfer;
use crate::model::Model;
use crate::port::{Port, Totals};
use crate::problem::{Cost, Dominance, Relaxation};
use crate::width::Width;
use connection::Connection;
use incumbent::{BestSolution, OnIncumbent};
use pack::Codec;
use progress::OnProgress;
use search::{Limits, Local, Search};

/// The callback for each explored node.
pub(crate) type OnExplored<'a> = Box<dyn FnMut(&ExploredNode) + Send + 'a>;

/// Which nodes of a relaxed diagram are explored next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cutset {
    /// The last layer before nodes were merged. The nodes are few and high up.
    #[default]
    LastExactLayer,
    /// The last exact node on every path. The nodes are many and deep.
    Frontier,
}

/// A search for the best solution of a problem.
///
/// ```
/// use filch_dd::{Cost, Decision, SolveStatus, Problem, Relaxation, Solver, Value, Variable};
///
/// /// Coins of 1 and 2, of which at most three fit: the most that they are worth.
/// struct Coins;
///
/// impl Problem for Coins {
///     type State = u32;
///     fn variables(&self) -> usize {
///         5
///     }
///     fn initial_state(&self) -> u32 {
///         3
///     }
///     fn cost_limit(&self) -> Option<Cost> {
///         Some(10)
///     }
///     fn domain(&self, _: Variable, left: &u32, mut decide: impl FnMut(Value)) {
///         decide(0);
///         if *left > 0 {
///             decide(1);
///         }
///     }
///     fn transition(&self, left: &u32, decision: Decision) -> u32 {
///         left - decision.value as u32
///     }
///     fn cost(&self, _: &u32, _: &u32, decision: Decision) -> Cost {
///         decision.value * if decision.variable.0 < 2 { 2 } else { 1 }
///     }
/// }
///
/// impl Relaxation for Coins {
///     fn merge<'a>(&self, states: impl Iterator<Item = &'a u32>) -> u32 {
///         states.copied().max().unwrap_or(0)
///     }
/// }
///
/// let outcome = Solver::new(&Coins).solve()?;
/// assert_eq!(outcome.status, SolveStatus::Optimal);
/// assert_eq!(outcome.best.map(|best| best.cost), Some(5));
/// # Ok::<(), filch_dd::SolveError>(())
/// ```
pub struct Solver<'a, P: Relaxation> {
    problem: &'a P,
    width: Width,
    cutset: Cutset,
    threads: usize,
    pool: Option<&'a filch::Pool>,
    cache: Option<bool>,
    dominance: Option<Box<dyn DominanceCheck<P::State> + 'a>>,
    known: Option<Solution>,
    limits: Limits,
    time_limit: Option<Duration>,
    on_incumbent: Option<OnIncumbent<'a>>,
    on_progress: Option<(Duration, OnProgress<'a>)>,
    on_explored: Option<OnExplored<'a>>,
    connection: Option<Connection<'a, P::State>>,
    root: bool,
}

impl<'a, P: Relaxation> Solver<'a, P> {
    /// Returns a search with one thread and no limits.
    pub fn new(problem: &'a P) -> Self {
        Solver {
            problem,
            width: Width::default(),
            cutset: Cutset::default(),
            threads: 1,
            pool: None,
            cache: None,
            dominance: None,
            known: None,
            limits: Limits::default(),
            time_limit: None,
            on_incumbent: None,
            on_progress: None,
            on_explored: None,
            connection: None,
            root: true,
        }
    }

    /// Sets the width of the diagrams.
    #[must_use]
    pub fn width(mut self, width: Width) -> Self {
        self.width = width;
        self
    }

    /// Sets which nodes are explored next.
    #[must_use]
    pub fn cutset(mut self, cutset: Cutset) -> Self {
        self.cutset = cutset;
        self
    }

    /// Sets the number of threads.
    ///
    /// They belong to the current or global pool if it is running and large enough, and otherwise
    /// to a pool of this search. With one thread, searches are repeatable.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Runs on an existing pool, with all of its threads.
    #[must_use]
    pub fn pool(mut self, pool: &'a filch::Pool) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Enables or disables the state cache.
    ///
    /// The cache remembers up to which cost it is useless to reach a state again.
    ///
    /// It pays if many paths lead to the same states. By default a search starts with the cache,
    /// and disables it if it turns out to be of little use.
    #[must_use]
    pub fn cache(mut self, cache: bool) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Drops states that are dominated, as defined by the problem's [`Dominance`].
    ///
    /// Use it only if the number of decisions alone determines which variable is next. Otherwise,
    /// if the choice depends on the states of a layer, a state may be dropped for another one that
    /// a later diagram, with its variables in another order, does not reach.
    #[must_use]
    pub fn dominance(mut self) -> Self
    where
        P: Dominance,
    {
        self.dominance = Some(Box::new(DominanceTable::new(self.problem)));
        self
    }

    /// Starts from a known solution. It is checked, and its cost is computed again.
    #[must_use]
    pub fn start_from(mut self, solution: Solution) -> Self {
        self.known = Some(solution);
        self
    }

    /// Stops the search after `limit`.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// Stops the search at `deadline`.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.limits.deadline = Some(deadline);
        self
    }

    /// Stops the search after `limit` nodes.
    #[must_use]
    pub fn node_limit(mut self, limit: u64) -> Self {
        self.limits.nodes = Some(limit);
        self
    }

    /// Stops the search when `cancel` is cancelled.
    #[must_use]
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.limits.cancel = Some(cancel.clone());
        self
    }

    /// Calls `callback` with each solution that is better than those before.
    ///
    /// Meanwhile no other solution is reported, and no better solution is taken. Do not wait in the
    /// callback for work on the same pool.
    #[must_use]
    pub fn on_incumbent(mut self, callback: impl FnMut(&Incumbent) + Send + 'a) -> Self {
        self.on_incumbent = Some(Box::new(callback));
        self
    }

    /// Calls `callback` with the progress of the search, about once in `every`.
    #[must_use]
    pub fn on_progress(mut self, every: Duration, callback: impl FnMut(&Progress) + Send + 'a) -> Self {
        self.on_progress = Some((every, Box::new(callback)));
        self
    }

    /// Calls `callback` with each explored node, in the order of exploration: youngest first.
    ///
    /// With the number of nodes that each left open, this gives the whole tree of the search. Only
    /// searches with one thread report it.
    #[must_use]
    pub fn on_explored(mut self, callback: impl FnMut(&ExploredNode) + Send + 'a) -> Self {
        self.on_explored = Some(Box::new(callback));
        self
    }

    /// Connects the search with the outside; see [`port`](crate::port).
    ///
    /// The search then ends only when the outside says so, or at a limit.
    ///
    /// # Panics
    ///
    /// [`solve`](Self::solve) panics if the port was used already.
    #[must_use]
    pub fn port(mut self, port: &'a Port) -> Self
    where
        P::State: Serialize + DeserializeOwned,
    {
        self.connection = Some(Connection { port, codec: Codec::new() });
        self
    }

    /// Starts without nodes: all nodes come through the [`port`](Self::port).
    #[must_use]
    pub fn without_root(mut self) -> Self {
        self.root = false;
        self
    }

    /// Runs the search.
    ///
    /// # Errors
    ///
    /// If the width or the number of threads is 0, costs could overflow, the problem contradicts
    /// itself, or what comes through a port does not belong to it.
    pub fn solve(self) -> Result<Outcome, SolveError> {
        self.solve_on::<Bulk>()
    }

    /// Like [`solve`](Self::solve), with another kind of queue for several workers.
    #[doc(hidden)]
    pub fn solve_on<Q: Queue>(self) -> Result<Outcome, SolveError> {
        let start = Instant::now();
        let port = self.connection.as_ref().map(|connection| connection.port);
        let metrics = Arc::default();
        if let Some(port) = port {
            port.begin(&metrics);
        }
        // The outside is told of the end in every case.
        let _report_failure = ReportFailureOnDrop(port);
        if self.width.is_zero() {
            return Err(SolveError::NoWidth);
        }
        if self.threads == 0 {
            return Err(SolveError::NoThreads);
        }
        let limit = self.problem.cost_limit().ok_or(SolveError::CostTooGreat)?;
        if limit.unsigned_abs() > 1 << 62 {
            return Err(SolveError::CostTooGreat);
        }
        let mut limits = self.limits;
        if let Some(deadline) = self.time_limit.and_then(|limit| start.checked_add(limit)) {
            limits.deadline = Some(limits.deadline.map_or(deadline, |earlier| earlier.min(deadline)));
        }
        let model = Model::new(self.problem);
        let best = BestSolution::new(start, self.on_incumbent, port);
        if let Some(known) = self.known {
            let solution = replay::replay_unordered(&model, &known.decisions)?;
            best.start_with(model.convert_sense(solution.cost).map_err(Halt::from)?, solution);
        }
        let root = OpenNode {
            state: self.problem.initial_state(),
            cost: model.convert_sense(self.problem.initial_cost()).map_err(Halt::from)?,
            bound: Cost::MAX,
            depth: 0,
            step: Step::ROOT,
            trail: Trail::root(),
        };
        let search = Search::new(
            model,
            self.width,
            self.cutset,
            self.cache,
            self.dominance.as_deref(),
            best,
            self.connection,
            metrics,
            limits,
            start,
            self.on_progress,
        );
        // Without a port, nodes cannot come from elsewhere.
        let root = (self.root || port.is_none()).then_some(root);
        let workers = self.pool.map_or(self.threads, filch::Pool::current_num_threads);
        if workers == 1 {
            run::sequential(search, root, self.on_explored)
        } else {
            run::parallel::<P, Q>(search, root, self.pool, workers)
        }
    }
}

/// Reports that a search has failed or panicked, unless its end was reported.
struct ReportFailureOnDrop<'a>(Option<&'a Port>);

impl Drop for ReportFailureOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(port) = self.0 {
            port.fail();
        }
    }
}

/// Returns the outcome of a search that has `open` left.
fn finish<P: Relaxation>(
    search: Search<'_, P>,
    open: &[OpenNode<P::State>],
    locals: &[Local<P::State>],
    (transfers, last_transfers): (u64, Vec<Transfer>),
) -> Result<Outcome, SolveError> {
    let totals = locals.iter().map(Local::totals).fold(Totals::default(), |all, one| all + one);
    let untaken_bound = search.close_port(open, totals);
    let stopped = search.stopped_by()?;
    let floor = search.best.floor();
    let left = open.iter().map(|open| open.bound).chain(untaken_bound).filter(|&bound| bound > floor).max();
    let model = search.model;
    let statistics = Statistics {
        explored: totals.explored,
        closed: totals.closed,
        diagram_nodes: totals.diagram_nodes,
        pruned: totals.pruned,
        most_open: search.metrics.most_open(),
        bytes_of_an_open_node: core::mem::size_of::<OpenNode<P::State>>(),
        transfers,
        last_transfers,
        elapsed: search.start.elapsed(),
        workers: locals.iter().map(Local::statistics).collect(),
    };
    let best = search.best.into_solution();
    let (status, bound) = match (left, stopped) {
        // Nothing better can be left. So a search that was stopped at the last moment has proven as
        // much as one that was not.
        (None, _) if best.is_some() => (SolveStatus::Optimal, Some(floor)),
        (None, _) => (SolveStatus::Infeasible, None),
        (Some(bound), Some(status)) => (status, (bound != Cost::MAX).then_some(bound)),
        // A search that is not stopped continues until nothing is left.
        (Some(_), None) => {
            let how = "nodes were delivered after `Port::end`, which says that no more come".to_owned();
            return Err(SolveError::InvalidDelivery(how));
        }
    };
    let bound = bound.map(|bound| model.convert_sense(bound).map_err(Halt::from)).transpose()?;
    Ok(Outcome { status, best, bound, statistics })
}

impl From<Halt> for SolveError {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Overflow => SolveError::Overflow,
            Halt::Contradiction(how) => SolveError::Contradiction(how),
            Halt::Stopped => SolveError::Contradiction("a search was stopped before it started".to_owned()),
        }
    }
}
