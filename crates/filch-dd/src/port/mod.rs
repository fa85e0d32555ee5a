//! Connects a search with the outside.
//!
//! Open nodes come and go as bytes, solutions come from elsewhere, and a snapshot shows all open
//! nodes.
//!
//! A search with a port may be one of several searches of the same problem, in other processes or
//! on other machines. Or it may be saved from time to time. The outside knows nothing of the
//! problem's types: nodes are [`Package`]s. The outside is one thread. The workers read one word for
//! each layer of a diagram, and do the rest between two nodes.
//!
//! ```
//! use filch_dd::port::{Event, Port};
//! use filch_dd::problems::knapsack;
//! use filch_dd::Solver;
//! use std::time::Duration;
//!
//! // Two searches of one problem: the second begins with nothing, and gets what the first leaves when it is stopped.
//! let problem = knapsack::paper();
//! let (first, second) = (Port::new(), Port::new());
//! first.stop();
//! Solver::new(&problem).port(&first).solve()?;
//! for event in first.events(Duration::ZERO) {
//!     if let Event::Ended { left, .. } = event {
//!         second.deliver(left).expect("the second search has not ended");
//!     }
//! }
//! second.end();
//! let outcome = Solver::new(&problem).port(&second).without_root().solve()?;
//! assert_eq!(outcome.best.map(|best| best.cost), Some(15));
//! # Ok::<(), filch_dd::SolveError>(())
//! ```
//!
//! # Guarantees
//!
//! - **No node is lost or duplicated.** At any time a node is open in one search or in one package.
//!   Nodes that are [`Given`](Event::Given) or [`left`](Event::Ended) belong to the outside from
//!   then on. A search never gives away a node that it has begun.
//! - **A snapshot is complete.** The workers finish their current diagrams, so nothing is done
//!   twice. They pause between two nodes, all open nodes are copied, and they continue. A snapshot
//!   and the best solution known at that time are enough to resume: a search drops a node only
//!   because of a solution, or because of a node that is open or done.
//! - **Delivered nodes are checked.** The decisions of each node are replayed, and must lead to its
//!   state at its cost. That costs little compared with the diagram that is built from the node.

mod package;

use core::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, OnceLock};

use crossbeam_utils::CachePadded;

pub(crate) use package::nodes;
pub use package::{Package, Totals};

use crate::problem::Cost;
use crate::solver::{Metrics, Solution};
use crate::sync::unpoisoned;

/// An event that a search reports to the outside.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The answer to [`Port::ask`]: nodes that belong to the outside from now on.
    ///
    /// There are none if the search has none to spare.
    Given(Vec<Package>),
    /// The answer to [`Port::snapshot`]: copies of all open nodes, and the totals so far.
    Snapshot(Vec<Package>, Totals),
    /// The search found a better solution than it knew.
    Found(Solution),
    /// The search has nothing left.
    Idle {
        /// The number of calls of [`Port::deliver`] that were taken in by then.
        ///
        /// If there were more calls, the search is about to continue.
        delivered: u64,
    },
    /// The search failed or panicked, as [`solve`](crate::Solver::solve) says: the last event.
    ///
    /// Open requests get no other answer. The open nodes are not returned, as they may be
    /// incomplete.
    Failed,
    /// The search is over: the last event.
    Ended {
        /// All nodes that are still open.
        left: Vec<Package>,
        /// The totals of the search.
        totals: Totals,
    },
}

/// The progress of a search.
///
/// Costs are counted so that more is better: those of a problem to be minimised are negated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchStatus {
    /// The number of open nodes.
    pub open: u64,
    /// The number of explored nodes.
    pub explored: u64,
    /// No solution that this search can still find is better.
    ///
    /// [`Cost::MAX`] if no bound is known. `None` if nothing is open.
    pub bound: Option<Cost>,
    /// The cost of the best solution that it knows.
    pub best: Option<Cost>,
}

/// A search's connection with the outside; see [the module](self).
#[derive(Default)]
pub struct Port {
    /// What the outside wants: the bits below. Read all the time, written seldom.
    requests: CachePadded<AtomicU32>,
    inbox: Mutex<Inbox>,
    /// Notified when something arrives for a search that has nothing left.
    arrived: Condvar,
    outbox: Mutex<VecDeque<Event>>,
    /// Notified when there is an event for the outside.
    reported: Condvar,
    metrics: OnceLock<Arc<Metrics>>,
    best: AtomicI64,
}

/// Solutions wait to be taken in.
pub(crate) const SOLUTIONS: u32 = 1;
/// The outside asks for nodes.
pub(crate) const ASKED: u32 = 2;
/// Nodes wait to be taken in.
pub(crate) const DELIVERED: u32 = 4;
/// The outside wants a snapshot of all open nodes.
pub(crate) const SNAPSHOT: u32 = 8;
/// The outside wants the search to end at once.
pub(crate) const STOP: u32 = 16;
/// Nothing more will come.
const END: u32 = 32;

#[derive(Default)]
struct Inbox {
    solutions: Vec<Solution>,
    asks: VecDeque<f64>,
    packages: Vec<Package>,
    /// The delivered nodes that the search has not counted yet, and their greatest bound.
    waiting: u64,
    waiting_bound: Option<Cost>,
    /// The number of deliveries, and how many of them were taken in.
    deliveries: u64,
    taken_deliveries: u64,
    snapshots: u64,
    /// Whether `Idle` was reported, and nothing has arrived since.
    idle: bool,
    ended: bool,
}

impl Port {
    /// Returns a port for one search.
    pub fn new() -> Port {
        let port = Port::default();
        port.best.store(Cost::MIN, Ordering::Relaxed);
        port
    }

    /// Gives open nodes to the search.
    ///
    /// # Errors
    ///
    /// If the search has ended. The error returns the nodes.
    pub fn deliver(&self, mut packages: Vec<Package>) -> Result<(), Vec<Package>> {
        let accepted = self.put(DELIVERED, |inbox| {
            inbox.deliveries += 1;
            inbox.waiting = inbox.waiting.saturating_add(nodes(&packages));
            inbox.waiting_bound = inbox.waiting_bound.max(packages.iter().map(Package::bound).max());
            inbox.packages.append(&mut packages);
        });
        if accepted {
            Ok(())
        } else {
            Err(packages)
        }
    }

    /// Asks for a share of the open nodes. The answer is one [`Event::Given`].
    ///
    /// With one thread they are taken evenly from all nodes. With several threads they are the
    /// oldest of the longest queue.
    ///
    /// # Panics
    ///
    /// If the share is not above 0 and at most 1.
    pub fn ask(&self, share: f64) {
        assert!(share > 0.0 && share <= 1.0, "invalid share {share}: it must be above 0 and at most 1");
        self.put(ASKED, |inbox| inbox.asks.push_back(share));
    }

    /// Tells the search a solution that was found elsewhere.
    ///
    /// The solution is checked, and its cost is computed again.
    pub fn tell(&self, solution: Solution) {
        self.put(SOLUTIONS, |inbox| inbox.solutions.push(solution));
    }

    /// Asks for copies of all open nodes; the search continues. The answer is one
    /// [`Event::Snapshot`].
    pub fn snapshot(&self) {
        self.put(SNAPSHOT, |inbox| inbox.snapshots += 1);
    }

    /// Ends the search at once; [`Event::Ended`] returns the open nodes.
    pub fn stop(&self) {
        self.put(STOP, |_| {});
    }

    /// Says that nothing more will come: the search ends when it has nothing left.
    pub fn end(&self) {
        self.put(END, |_| {});
    }

    /// Returns the events since the last call. Waits for one, but at most for `wait`.
    pub fn events(&self, wait: Duration) -> Vec<Event> {
        let mut outbox = unpoisoned(self.outbox.lock());
        if outbox.is_empty() && !wait.is_zero() {
            let waited = self.reported.wait_timeout_while(outbox, wait, |outbox| outbox.is_empty());
            outbox = unpoisoned(waited).0;
        }
        outbox.drain(..).collect()
    }

    /// Returns the progress of the search.
    ///
    /// Delivered nodes count as open at once, and for a moment twice. In a search that has not
    /// begun, only delivered nodes are open.
    pub fn standing(&self) -> SearchStatus {
        // Reads the waiting nodes first. The search counts nodes before they stop waiting, so at
        // least one of the two counts has them.
        let (waiting, waiting_bound) = {
            let inbox = unpoisoned(self.inbox.lock());
            (inbox.waiting, inbox.waiting_bound)
        };
        let Some(metrics) = self.metrics.get() else {
            return SearchStatus { open: waiting, bound: waiting_bound, ..SearchStatus::default() };
        };
        // Reads the bound before the best cost: a solution found meanwhile only makes the gap
        // smaller, never negative.
        let bound = metrics.bounds.greatest().max(waiting_bound);
        // Relaxed: no other data depends on it.
        let best = self.best.load(Ordering::Relaxed);
        let (open, explored) = metrics.counts();
        SearchStatus { open: open.saturating_add(waiting), explored, bound, best: (best != Cost::MIN).then_some(best) }
    }

    /// Changes the inbox, unless the search has ended: then there would be no answer.
    fn put(&self, request: u32, change: impl FnOnce(&mut Inbox)) -> bool {
        let mut inbox = unpoisoned(self.inbox.lock());
        if inbox.ended {
            return false;
        }
        change(&mut inbox);
        // Relaxed: it is a hint; a worker that sees it takes the lock.
        self.requests.fetch_or(request, Ordering::Relaxed);
        drop(inbox);
        self.arrived.notify_all();
        true
    }

    /// Returns whether the outside wants any of these. One load.
    #[inline]
    pub(crate) fn is_requested(&self, any_of: u32) -> bool {
        // Relaxed: the request itself is read under the lock.
        self.requests.load(Ordering::Relaxed) & any_of != 0
    }

    /// Starts a search.
    pub(crate) fn begin(&self, metrics: &Arc<Metrics>) {
        // A port is for one search; a second one would be seen through the metrics of the first.
        assert!(
            self.metrics.set(Arc::clone(metrics)).is_ok(),
            "this port was used before: create a port for each search"
        );
    }

    /// Takes the solutions from outside.
    pub(crate) fn take_solutions(&self) -> Vec<Solution> {
        let mut inbox = unpoisoned(self.inbox.lock());
        self.requests.fetch_and(!SOLUTIONS, Ordering::Relaxed);
        core::mem::take(&mut inbox.solutions)
    }

    /// Takes the nodes from outside.
    pub(crate) fn take_packages(&self) -> Vec<Package> {
        let mut inbox = unpoisoned(self.inbox.lock());
        self.requests.fetch_and(!DELIVERED, Ordering::Relaxed);
        // Also if the delivery was empty: `Idle` is reported once more, with the new count.
        inbox.idle = false;
        inbox.taken_deliveries = inbox.deliveries;
        core::mem::take(&mut inbox.packages)
    }

    /// Records that the search now counts `nodes` of the delivered nodes itself.
    pub(crate) fn mark_counted(&self, nodes: u64) {
        let mut inbox = unpoisoned(self.inbox.lock());
        inbox.waiting = inbox.waiting.saturating_sub(nodes);
        if inbox.waiting == 0 {
            inbox.waiting_bound = None;
        }
    }

    /// Takes a request for nodes. The caller answers it, or puts it back.
    pub(crate) fn take_ask(&self) -> Option<f64> {
        let mut inbox = unpoisoned(self.inbox.lock());
        let share = inbox.asks.pop_front();
        if inbox.asks.is_empty() {
            self.requests.fetch_and(!ASKED, Ordering::Relaxed);
        }
        share
    }

    /// Puts back a request that cannot be answered right now.
    pub(crate) fn put_back_ask(&self, share: f64) {
        self.put(ASKED, |inbox| inbox.asks.push_front(share));
    }

    /// Takes the number of requests for a snapshot.
    pub(crate) fn take_snapshots(&self) -> u64 {
        let mut inbox = unpoisoned(self.inbox.lock());
        self.requests.fetch_and(!SNAPSHOT, Ordering::Relaxed);
        core::mem::take(&mut inbox.snapshots)
    }

    /// Waits until the outside wants something, but not for long.
    ///
    /// Called by a search that has nothing left. Returns `false` if nothing more will come.
    pub(crate) fn wait_for_request(&self) -> bool {
        let mut inbox = unpoisoned(self.inbox.lock());
        let any_request = || self.is_requested(!END);
        if any_request() {
            return true;
        }
        if !inbox.idle {
            inbox.idle = true;
            let delivered = inbox.taken_deliveries;
            self.report(Event::Idle { delivered });
        }
        if self.is_requested(END) {
            return false;
        }
        // With a timeout, so that the search also checks its deadline and its cancellation while it
        // waits.
        let waited =
            self.arrived.wait_timeout_while(inbox, LONGEST_WAIT, |_| !any_request() && !self.is_requested(END));
        drop(waited);
        true
    }

    pub(crate) fn report(&self, event: Event) {
        unpoisoned(self.outbox.lock()).push_back(event);
        self.reported.notify_all();
    }

    /// Records that the search knows a solution of this cost.
    pub(crate) fn record_best(&self, cost: Cost) {
        // Relaxed: see `standing`.
        self.best.fetch_max(cost, Ordering::Relaxed);
    }

    /// Reports that the search has failed. Does nothing if it is over already.
    pub(crate) fn fail(&self) {
        if !core::mem::replace(&mut unpoisoned(self.inbox.lock()).ended, true) {
            self.report(Event::Failed);
        }
    }

    /// Ends the search and answers all open requests.
    ///
    /// Nodes that were not taken in are added to `left`. Returns a bound on those.
    pub(crate) fn close(&self, mut left: Vec<Package>, totals: Totals) -> Option<Cost> {
        let mut inbox = unpoisoned(self.inbox.lock());
        inbox.ended = true;
        let bound = inbox.packages.iter().map(Package::bound).max();
        left.append(&mut inbox.packages);
        let mut events: Vec<Event> = inbox.asks.drain(..).map(|_| Event::Given(Vec::new())).collect();
        for _ in 0..core::mem::take(&mut inbox.snapshots) {
            events.push(Event::Snapshot(left.clone(), totals));
        }
        drop(inbox);
        events.push(Event::Ended { left, totals });
        unpoisoned(self.outbox.lock()).extend(events);
        self.reported.notify_all();
        bound
    }
}

/// The longest time that a search with nothing to do waits before it checks again.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

impl core::fmt::Debug for Port {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Port").field("standing", &self.standing()).finish_non_exhaustive()
    }
}
