//! A search's connection with the outside: open nodes that come and go as bytes, solutions from elsewhere, a look at all that is open.
//!
//! A search with a port may be one of several of the same problem, in other processes or on other machines, or one that is written down from time to time. What is outside knows nothing of the problem's types: nodes are
//! [`Parcel`]s. One thread is the outside; the workers look at one word, once for each layer of a diagram, and do the rest between two nodes.
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
//!         second.deliver(left).expect("it has not ended");
//!     }
//! }
//! second.end();
//! let outcome = Solver::new(&problem).port(&second).without_root().solve()?;
//! assert_eq!(outcome.best.map(|best| best.cost), Some(15));
//! # Ok::<(), filch_dd::SolveError>(())
//! ```
//!
//! # What is promised
//!
//! - **No node is lost, none doubled.** At any time a node is open in one search or in one parcel. What is [`Given`](Event::Given) or [`left`](Event::Ended) is the outside's from then on, and a search never gives a node that it has begun.
//! - **A snapshot is complete.** The workers pause between two nodes, all open nodes are written down, and they go on; the diagrams that are being built are finished first, so nothing is done twice. A snapshot and
//!   the best solution that is known when it is taken are all that it takes to go on: what a search drops, it drops for a solution, or for a node that is open or done.
//! - **What is delivered is checked**: the decisions of each node are taken again, and must lead to its state at its cost. That is little beside the diagram that is built from it.

mod parcel;

use core::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use crossbeam_utils::CachePadded;

pub(crate) use parcel::nodes;
pub use parcel::{Parcel, Totals};

use crate::problem::Cost;
use crate::solver::{Gauge, Solution};

/// What a search tells the outside.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The answer to [`Port::ask`]: nodes that are the outside's from now on; none if the search has none to spare.
    Given(Vec<Parcel>),
    /// The answer to [`Port::snapshot`]: copies of all open nodes, and what was done so far.
    Snapshot(Vec<Parcel>, Totals),
    /// The search found a better solution than it knew.
    Found(Solution),
    /// It has nothing left.
    Idle {
        /// So many calls of [`Port::deliver`] had been taken in by then. If there were more, the search is about to go on.
        delivered: u64,
    },
    /// It failed, or panicked, as [`solve`](crate::Solver::solve) says: the last event. Whoever asked for something gets no other answer. What it had open is not to be had, as perhaps it would not be all.
    Failed,
    /// It is over: the last event.
    Ended {
        /// All that is still open.
        left: Vec<Parcel>,
        /// What was done.
        totals: Totals,
    },
}

/// How far a search is. Costs are counted so that more is better: those of a problem to be minimised are negated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Open nodes.
    pub open: u64,
    /// Nodes looked at.
    pub explored: u64,
    /// No solution that this search can still find is better; [`Cost::MAX`] if there is no telling. `None` if nothing is open.
    pub bound: Option<Cost>,
    /// The cost of the best solution that it knows.
    pub best: Option<Cost>,
}

/// A search's connection with the outside; see [the module](self).
#[derive(Default)]
pub struct Port {
    /// What the outside wants: the bits below. Looked at all the time, written seldom.
    wants: CachePadded<AtomicU32>,
    inbox: Mutex<Inbox>,
    /// There is something for a search that has nothing left.
    arrived: Condvar,
    outbox: Mutex<VecDeque<Event>>,
    /// There is something for the outside.
    happened: Condvar,
    gauge: OnceLock<Arc<Gauge>>,
    best: AtomicI64,
}

/// Solutions wait to be taken in.
pub(crate) const TOLD: u32 = 1;
/// Somebody asks for nodes.
pub(crate) const ASKED: u32 = 2;
/// Nodes wait to be taken in.
pub(crate) const DELIVERED: u32 = 4;
/// Somebody wants to see all that is open.
pub(crate) const SNAPSHOT: u32 = 8;
/// Somebody wants it to end at once.
pub(crate) const STOP: u32 = 16;
/// Nothing more will come.
const END: u32 = 32;

#[derive(Default)]
struct Inbox {
    told: Vec<Solution>,
    asked: VecDeque<f64>,
    parcels: Vec<Parcel>,
    /// How many nodes were delivered that the search's counts do not have yet, and the greatest bound of these.
    waiting: u64,
    waiting_bound: Option<Cost>,
    /// How many deliveries there were, and how many of them were taken in.
    deliveries: u64,
    taken: u64,
    snapshots: u64,
    /// Whether it was said that nothing is left, and nothing has come since.
    idle: bool,
    ended: bool,
}

impl Port {
    /// A port of a search to be.
    pub fn new() -> Port {
        let port = Port::default();
        port.best.store(Cost::MIN, Ordering::Relaxed);
        port
    }

    /// Gives open nodes to the search.
    ///
    /// # Errors
    ///
    /// If it has ended: then it hands them back.
    pub fn deliver(&self, mut parcels: Vec<Parcel>) -> Result<(), Vec<Parcel>> {
        let taken = self.put(DELIVERED, |inbox| {
            inbox.deliveries += 1;
            inbox.waiting = inbox.waiting.saturating_add(nodes(&parcels));
            inbox.waiting_bound = inbox.waiting_bound.max(parcels.iter().map(Parcel::bound).max());
            inbox.parcels.append(&mut parcels);
        });
        if taken {
            Ok(())
        } else {
            Err(parcels)
        }
    }

    /// Asks for a share of the open nodes. One [`Event::Given`] answers. With one thread they are taken evenly from all, with several they are the oldest of the worker that has most.
    ///
    /// # Panics
    ///
    /// If the share is not above 0 and at most 1.
    pub fn ask(&self, share: f64) {
        assert!(share > 0.0 && share <= 1.0, "a share of {share} was asked for; it must be above 0 and at most 1");
        self.put(ASKED, |inbox| inbox.asked.push_back(share));
    }

    /// Tells the search a solution that was found elsewhere. It is checked; its cost is not believed but computed.
    pub fn tell(&self, solution: Solution) {
        self.put(TOLD, |inbox| inbox.told.push(solution));
    }

    /// Asks for copies of all open nodes. One [`Event::Snapshot`] answers, and the search goes on.
    pub fn snapshot(&self) {
        self.put(SNAPSHOT, |inbox| inbox.snapshots += 1);
    }

    /// Ends the search at once; what is open is handed out by [`Event::Ended`].
    pub fn stop(&self) {
        self.put(STOP, |_| {});
    }

    /// Says that nothing more will come: the search ends when it has nothing left.
    pub fn end(&self) {
        self.put(END, |_| {});
    }

    /// What has happened. Waits for something to happen, but no longer than this.
    pub fn events(&self, wait: Duration) -> Vec<Event> {
        let mut outbox = lock(&self.outbox);
        if outbox.is_empty() && !wait.is_zero() {
            let waited = self.happened.wait_timeout_while(outbox, wait, |outbox| outbox.is_empty());
            outbox = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        outbox.drain(..).collect()
    }

    /// How far the search is. What was delivered counts as open at once, and for a moment twice; nothing else is open in a search that has not begun.
    pub fn standing(&self) -> Standing {
        // What waits first: it is counted by the search before it waits no longer, so that it is missed by neither.
        let (waiting, waiting_bound) = {
            let inbox = lock(&self.inbox);
            (inbox.waiting, inbox.waiting_bound)
        };
        let Some(gauge) = self.gauge.get() else {
            return Standing { open: waiting, bound: waiting_bound, ..Standing::default() };
        };
        // The bound before the best: a solution that is found meanwhile makes the two closer, never the wrong way round.
        let bound = gauge.bounds.greatest().max(waiting_bound);
        // Relaxed: nothing is read because of it.
        let best = self.best.load(Ordering::Relaxed);
        let (open, explored) = gauge.counts();
        Standing { open: open.saturating_add(waiting), explored, bound, best: (best != Cost::MIN).then_some(best) }
    }

    /// Puts something in, unless the search has ended: then nobody is there to answer.
    fn put(&self, want: u32, change: impl FnOnce(&mut Inbox)) -> bool {
        let mut inbox = lock(&self.inbox);
        if inbox.ended {
            return false;
        }
        change(&mut inbox);
        // Relaxed: it is a hint; who sees it takes the lock.
        self.wants.fetch_or(want, Ordering::Relaxed);
        drop(inbox);
        self.arrived.notify_all();
        true
    }

    /// Whether the outside wants any of these. One load.
    #[inline]
    pub(crate) fn wants(&self, any_of: u32) -> bool {
        // Relaxed: what it leads to is looked at under the lock.
        self.wants.load(Ordering::Relaxed) & any_of != 0
    }

    /// A search begins.
    pub(crate) fn begin(&self, gauge: &Arc<Gauge>) {
        // A port is for one search; a second one would be seen through the first one's gauge.
        assert!(self.gauge.set(Arc::clone(gauge)).is_ok(), "a port is for one search, and this one was used already");
    }

    /// Solutions from elsewhere.
    pub(crate) fn take_told(&self) -> Vec<Solution> {
        let mut inbox = lock(&self.inbox);
        self.wants.fetch_and(!TOLD, Ordering::Relaxed);
        core::mem::take(&mut inbox.told)
    }

    /// Nodes from elsewhere.
    pub(crate) fn take_parcels(&self) -> Vec<Parcel> {
        let mut inbox = lock(&self.inbox);
        self.wants.fetch_and(!DELIVERED, Ordering::Relaxed);
        // Also if it brought nothing: the outside is told once more, with the new count.
        inbox.idle = false;
        inbox.taken = inbox.deliveries;
        core::mem::take(&mut inbox.parcels)
    }

    /// So many that were delivered are counted by the search from now on.
    pub(crate) fn taken_in(&self, nodes: u64) {
        let mut inbox = lock(&self.inbox);
        inbox.waiting = inbox.waiting.saturating_sub(nodes);
        if inbox.waiting == 0 {
            inbox.waiting_bound = None;
        }
    }

    /// What somebody asks for; who takes this answers, or puts it back.
    pub(crate) fn take_asked(&self) -> Option<f64> {
        let mut inbox = lock(&self.inbox);
        let share = inbox.asked.pop_front();
        if inbox.asked.is_empty() {
            self.wants.fetch_and(!ASKED, Ordering::Relaxed);
        }
        share
    }

    /// It could not be answered just now.
    pub(crate) fn ask_again(&self, share: f64) {
        self.put(ASKED, |inbox| inbox.asked.push_front(share));
    }

    /// How many want to see all that is open.
    pub(crate) fn take_snapshots(&self) -> u64 {
        let mut inbox = lock(&self.inbox);
        self.wants.fetch_and(!SNAPSHOT, Ordering::Relaxed);
        core::mem::take(&mut inbox.snapshots)
    }

    /// Waits, for a search that has nothing left, until the outside wants something, but not for long. `false` if nothing will come any more.
    pub(crate) fn rest(&self) -> bool {
        let mut inbox = lock(&self.inbox);
        let anything = || self.wants(!END);
        if anything() {
            return true;
        }
        if !inbox.idle {
            inbox.idle = true;
            let delivered = inbox.taken;
            self.say(Event::Idle { delivered });
        }
        if self.wants(END) {
            return false;
        }
        // The search looks at its clock and at who cancels it now and then, also while it rests.
        let waited = self.arrived.wait_timeout_while(inbox, REST, |_| !anything() && !self.wants(END));
        drop(waited);
        true
    }

    pub(crate) fn say(&self, event: Event) {
        lock(&self.outbox).push_back(event);
        self.happened.notify_all();
    }

    /// The search knows a solution of this cost.
    pub(crate) fn known(&self, cost: Cost) {
        // Relaxed: see `standing`.
        self.best.fetch_max(cost, Ordering::Relaxed);
    }

    /// The search has failed. Nothing, if it is over already.
    pub(crate) fn fail(&self) {
        if !core::mem::replace(&mut lock(&self.inbox).ended, true) {
            self.say(Event::Failed);
        }
    }

    /// The search is over. Questions that nobody has answered are answered, and what was not taken in is left: a bound on that is returned.
    pub(crate) fn close(&self, mut left: Vec<Parcel>, totals: Totals) -> Option<Cost> {
        let mut inbox = lock(&self.inbox);
        inbox.ended = true;
        let late = inbox.parcels.iter().map(Parcel::bound).max();
        left.append(&mut inbox.parcels);
        let mut events: Vec<Event> = inbox.asked.drain(..).map(|_| Event::Given(Vec::new())).collect();
        for _ in 0..core::mem::take(&mut inbox.snapshots) {
            events.push(Event::Snapshot(left.clone(), totals));
        }
        drop(inbox);
        events.push(Event::Ended { left, totals });
        lock(&self.outbox).extend(events);
        self.happened.notify_all();
        late
    }
}

/// How long a search with nothing to do rests at most before it looks around.
const REST: Duration = Duration::from_millis(20);

/// Locks, also after a panic: no section here leaves its data in a state that a later one could not use.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl core::fmt::Debug for Port {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Port").field("standing", &self.standing()).finish_non_exhaustive()
    }
}
