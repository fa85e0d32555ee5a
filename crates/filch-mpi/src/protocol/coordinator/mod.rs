//! The state machine of the coordinator, on rank 0.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use filch_dd::Cost;

use super::bounds::Bounds;
use super::defect::{Defect, Flaw};
use super::message::{
    parts, Destination, EncodedSolution, Hello, Package, RankStatistics, Share, Status, ToCoordinator, ToMember,
    Totals, VERSION,
};
use super::policy::{Balance, Policy};

/// What all ranks had open at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gathered {
    /// The number of the checkpoint, from 1.
    pub round: u64,
    /// All open nodes.
    pub packages: Vec<Package>,
    /// The best solution.
    pub best: Option<EncodedSolution>,
    /// What was done since the ranks started.
    pub totals: Totals,
    /// Whether the ranks have stopped, so that this is the last checkpoint.
    pub last: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Order {
    /// `None` if the nodes were dealt at the start of the run.
    from: Option<usize>,
    to: usize,
    /// The bound on the nodes that it moves.
    bound: Option<Cost>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Rank {
    hello_received: bool,
    idle: bool,
    explored: u64,
    /// The bound on the nodes of the rank. It covers its last status and all that it received
    /// since.
    bound: Option<Cost>,
    finished: Option<RankStatistics>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// Orders are sent, unless a checkpoint or a stop is wanted. Then the coordinator waits for
    /// outstanding orders.
    Working,
    /// All ranks were asked for their frontiers, and work on.
    Gathering,
    /// All ranks were told to stop.
    Stopping,
    /// All ranks were told that all work is done.
    Ending,
    /// All ranks have left, after a stop or because all work is done.
    Over { stopped: bool },
    /// The run failed.
    Failed,
}

/// The state machine of the coordinator: see [the protocol](super).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Coordinator {
    identity: u64,
    share: Share,
    ranks: Vec<Rank>,
    balance: Balance,
    orders: BTreeMap<u64, Order>,
    /// The number of orders sent.
    orders_sent: u64,
    bounds: Bounds,
    idle: usize,
    explored: u64,
    best: Option<EncodedSolution>,
    phase: Phase,
    wants_checkpoint: bool,
    wants_stop: bool,
    round: u64,
    /// How many ranks have sent their whole frontiers for this round.
    answers: usize,
    /// How many ranks have left.
    finished: usize,
    gathering: Option<Gathered>,
    gathered: Option<Gathered>,
    failure: Option<String>,
    pub(crate) flaw: Flaw,
}

impl Coordinator {
    /// Returns the coordinator of `ranks` ranks.
    ///
    /// `identity` stands for the problem to be solved.
    ///
    /// # Panics
    ///
    /// If there are no ranks.
    pub fn new(ranks: usize, identity: u64, policy: Policy) -> Self {
        assert!(ranks > 0, "a run needs at least one rank");
        // Nothing is known about the nodes of a rank before its first report.
        let rank = Rank { hello_received: false, idle: false, explored: 0, bound: Some(Cost::MAX), finished: None };
        let mut bounds = Bounds::default();
        (0..ranks).for_each(|_| bounds.add(rank.bound));
        Coordinator {
            identity,
            share: policy.share,
            ranks: vec![rank; ranks],
            balance: Balance::new(ranks, policy),
            orders: BTreeMap::new(),
            orders_sent: 0,
            bounds,
            idle: 0,
            explored: 0,
            best: None,
            phase: Phase::Working,
            wants_checkpoint: false,
            wants_stop: false,
            round: 0,
            answers: 0,
            finished: 0,
            gathering: None,
            gathered: None,
            failure: None,
            flaw: Flaw::default(),
        }
    }

    /// Deals the open nodes of an earlier run to all ranks.
    ///
    /// Must come before any other call.
    pub fn deal(
        &mut self,
        mut packages: Vec<Package>,
        best: Option<EncodedSolution>,
        out: &mut Vec<(Destination, ToMember)>,
    ) {
        if let Some(best) = best {
            out.push((Destination::All, ToMember::Found(best.clone())));
            self.best = Some(best);
        }
        // Each rank gets its part of the most promising packages.
        packages.sort_by_key(|package| core::cmp::Reverse(package.bound()));
        let ranks = self.ranks.len();
        let mut per_rank: Vec<Vec<Package>> = vec![Vec::new(); ranks.min(packages.len())];
        for (index, package) in packages.into_iter().enumerate() {
            per_rank[index % ranks].push(package);
        }
        for (to, packages) in per_rank.into_iter().enumerate() {
            let bound = packages.iter().map(Package::bound).max();
            let order = self.order(None, to, bound);
            let mut parts = parts(packages).peekable();
            while let Some(packages) = parts.next() {
                out.push((Destination::Rank(to), ToMember::Nodes { order, packages, last: parts.peek().is_none() }));
            }
        }
    }

    /// Handles a message.
    pub fn handle(&mut self, from: usize, message: ToCoordinator, out: &mut Vec<(Destination, ToMember)>) {
        if self.failure.is_some() {
            return;
        }
        match message {
            ToCoordinator::Hello(hello) => self.hello(from, hello, out),
            _ if !self.ranks[from].hello_received => self.fail(
                format!(
                    "the first message of rank {from} is not a hello; run the same build of the program on all ranks"
                ),
                out,
            ),
            ToCoordinator::Status(Status { open, explored, bound }) => {
                self.set_idle(from, false);
                self.set_explored(from, explored);
                self.set_bound(from, bound);
                self.balance.report(from, open);
            }
            ToCoordinator::Alive => {}
            ToCoordinator::Idle { explored } => {
                self.set_idle(from, true);
                self.set_explored(from, explored);
                self.set_bound(from, None);
                self.balance.report(from, 0);
            }
            ToCoordinator::Refused { order } => match self.orders.remove(&order) {
                Some(Order { from: Some(giver), to, bound }) if giver == from => {
                    self.remove_order_bound(bound);
                    self.balance.refused(giver, to);
                }
                _ => self.fail(format!("rank {from} refused order {order}, which was not sent to it"), out),
            },
            ToCoordinator::Received { order, nodes, bound } => match self.orders.remove(&order) {
                Some(Order { from: giver, to, bound: ordered }) if to == from => {
                    self.remove_order_bound(ordered);
                    if !self.flaw.is(Defect::ReceiptLeavesIdle) {
                        self.set_idle(from, false);
                    }
                    if !self.flaw.is(Defect::BoundForgetsReceipts) {
                        self.set_bound(from, self.ranks[from].bound.max(bound));
                    }
                    self.balance.received(giver, to, nodes);
                }
                _ => self.fail(format!("rank {from} received order {order}, which is not for it"), out),
            },
            ToCoordinator::Found(solution) => self.found(from, solution, out),
            ToCoordinator::Frontier { round, packages, last } => self.frontier(from, round, packages, last, out),
            ToCoordinator::Quit => self.wants_stop = true,
            ToCoordinator::Failed(why) => self.fail(format!("rank {from}: {why}"), out),
            ToCoordinator::Finished(statistics) => {
                if self.ranks[from].finished.replace(statistics).is_none() {
                    self.finished += 1;
                }
            }
        }
        self.advance(out);
    }

    /// Requests a checkpoint as soon as no order is outstanding.
    ///
    /// Does nothing if a checkpoint is being gathered or the run is about to end.
    pub fn checkpoint(&mut self, out: &mut Vec<(Destination, ToMember)>) {
        if self.phase == Phase::Working {
            self.wants_checkpoint = true;
            self.advance(out);
        }
    }

    /// Requests that all ranks stop as soon as no order is outstanding.
    pub fn stop(&mut self, out: &mut Vec<(Destination, ToMember)>) {
        self.wants_stop = true;
        self.advance(out);
    }

    /// Ends the run for all ranks, with the reason `why`. Does not wait for any rank.
    pub fn fail(&mut self, why: String, out: &mut Vec<(Destination, ToMember)>) {
        if !self.is_over() {
            out.push((Destination::All, ToMember::Failed(why.clone())));
            self.failure = Some(why);
            self.phase = Phase::Failed;
        }
    }

    /// Returns a bound on all open nodes of all ranks.
    ///
    /// No open node leads to a solution that is better than this bound. `None` if nothing is open.
    /// The greatest cost if the bound is not known yet.
    pub fn bound(&self) -> Option<Cost> {
        self.bounds.greatest()
    }

    /// Returns the best solution.
    pub fn best(&self) -> Option<&EncodedSolution> {
        self.best.as_ref()
    }

    /// Returns the number of open nodes, as far as known.
    pub fn open(&self) -> u64 {
        self.balance.open()
    }

    /// Returns the number of processed nodes, as far as known.
    pub fn explored(&self) -> u64 {
        self.explored
    }

    /// Returns the number of idle ranks, as far as known.
    pub fn idle(&self) -> usize {
        self.idle
    }

    /// Returns the number of orders sent so far.
    pub fn orders(&self) -> u64 {
        self.orders_sent
    }

    /// Returns the number of outstanding orders.
    pub fn outstanding(&self) -> usize {
        self.orders.len()
    }

    /// Takes the gathered checkpoint, if there is one.
    pub fn take_gathered(&mut self) -> Option<Gathered> {
        self.gathered.take()
    }

    /// Returns whether a checkpoint is wanted or being gathered.
    pub fn is_gathering(&self) -> bool {
        self.wants_checkpoint || self.phase == Phase::Gathering
    }

    /// Returns whether all ranks have been told that all work is done.
    pub fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Ending | Phase::Over { stopped: false })
    }

    /// Returns whether all ranks were told to stop before all work was done.
    pub fn has_stopped(&self) -> bool {
        matches!(self.phase, Phase::Stopping | Phase::Over { stopped: true })
    }

    /// Returns whether the run is over: all ranks have left, or it failed.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over { .. } | Phase::Failed)
    }

    /// Returns why the run failed.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Returns whether a rank has left.
    pub fn has_finished(&self, rank: usize) -> bool {
        self.ranks[rank].finished.is_some()
    }

    /// Returns the statistics of each rank that has left.
    pub fn statistics(&self) -> Vec<Option<RankStatistics>> {
        self.ranks.iter().map(|rank| rank.finished.clone()).collect()
    }

    fn hello(&mut self, from: usize, hello: Hello, out: &mut Vec<(Destination, ToMember)>) {
        if hello.version != VERSION {
            let theirs = hello.version;
            self.fail(
                format!("rank {from} uses version {theirs} of the protocol, and rank 0 version {VERSION}; run the same build of the program on all ranks"),
                out,
            );
        } else if hello.identity != self.identity {
            self.fail(
                format!("rank {from} is to solve something else than rank 0; give all ranks the same instance and the same options"),
                out,
            );
        } else {
            self.ranks[from].hello_received = true;
            self.balance.set_threads(from, hello.threads);
        }
    }

    fn found(&mut self, from: usize, solution: EncodedSolution, out: &mut Vec<(Destination, ToMember)>) {
        if self.best.as_ref().is_some_and(|best| best.worth >= solution.worth) {
            return;
        }
        // A rank that was told to stop may have left already.
        if matches!(self.phase, Phase::Working | Phase::Gathering) {
            out.push((Destination::AllBut(from), ToMember::Found(solution.clone())));
        }
        if !self.flaw.is(Defect::FoundIsNotKept) {
            self.best = Some(solution);
        }
    }

    fn frontier(
        &mut self,
        from: usize,
        round: u64,
        packages: Vec<Package>,
        last: Option<Totals>,
        out: &mut Vec<(Destination, ToMember)>,
    ) {
        let Some(gathering) = self.gathering.as_mut().filter(|gathering| gathering.round == round) else {
            return self.fail(format!("rank {from} answered for checkpoint {round}, which was not requested"), out);
        };
        gathering.packages.extend(packages);
        if let Some(totals) = last {
            gathering.totals += totals;
            self.answers += 1;
        }
    }

    /// Takes the next steps that the phase allows.
    fn advance(&mut self, out: &mut Vec<(Destination, ToMember)>) {
        let drained = self.orders.is_empty();
        match self.phase {
            Phase::Working => {
                if (drained || self.flaw.is(Defect::OutstandingOrdersAreForgotten)) && self.idle == self.ranks.len() {
                    self.phase = Phase::Ending;
                    out.push((Destination::All, ToMember::End));
                } else if !(self.wants_stop || self.wants_checkpoint) {
                    self.send_orders(out);
                } else if drained || self.flaw.is(Defect::GatherWithoutDraining) {
                    self.gather(out);
                }
            }
            Phase::Gathering => {
                if self.flaw.is(Defect::OrdersWhileGathering) {
                    self.send_orders(out);
                }
                if self.answers == self.ranks.len() {
                    self.finish_gathering();
                    self.phase = Phase::Working;
                    self.advance(out);
                }
            }
            Phase::Stopping => {
                if self.answers == self.ranks.len() && self.finished == self.ranks.len() {
                    self.finish_gathering();
                    self.phase = Phase::Over { stopped: true };
                }
            }
            Phase::Ending => {
                if self.finished == self.ranks.len() {
                    self.phase = Phase::Over { stopped: false };
                }
            }
            Phase::Over { .. } | Phase::Failed => {}
        }
    }

    fn send_orders(&mut self, out: &mut Vec<(Destination, ToMember)>) {
        while let Some((from, to)) = self.balance.next() {
            let order = self.order(Some(from), to, self.bound());
            out.push((Destination::Rank(from), ToMember::Give { order, to, share: self.share }));
        }
    }

    fn order(&mut self, from: Option<usize>, to: usize, bound: Option<Cost>) -> u64 {
        self.orders_sent += 1;
        self.balance.ordered(from, to);
        if !self.flaw.is(Defect::BoundForgetsOrders) {
            self.bounds.add(bound);
        }
        self.orders.insert(self.orders_sent, Order { from, to, bound });
        self.orders_sent
    }

    /// Removes the bound of an order that is no longer outstanding.
    fn remove_order_bound(&mut self, bound: Option<Cost>) {
        if !self.flaw.is(Defect::BoundForgetsOrders) {
            self.bounds.remove(bound);
        }
    }

    fn gather(&mut self, out: &mut Vec<(Destination, ToMember)>) {
        self.round += 1;
        self.answers = 0;
        let (round, last) = (self.round, self.wants_stop);
        self.gathering = Some(Gathered { round, packages: Vec::new(), best: None, totals: Totals::default(), last });
        self.wants_checkpoint = false;
        if last {
            self.phase = Phase::Stopping;
            out.push((Destination::All, ToMember::Stop { round }));
        } else {
            self.phase = Phase::Gathering;
            out.push((Destination::All, ToMember::Snapshot { round }));
        }
    }

    fn finish_gathering(&mut self) {
        self.gathered = self.gathering.take().map(|gathered| Gathered { best: self.best.clone(), ..gathered });
    }

    fn set_idle(&mut self, rank: usize, idle: bool) {
        let rank = &mut self.ranks[rank];
        self.idle = self.idle + usize::from(idle) - usize::from(rank.idle);
        rank.idle = idle;
    }

    fn set_explored(&mut self, rank: usize, explored: u64) {
        let rank = &mut self.ranks[rank];
        self.explored = self.explored.wrapping_sub(rank.explored).wrapping_add(explored);
        rank.explored = explored;
    }

    fn set_bound(&mut self, rank: usize, bound: Option<Cost>) {
        let rank = &mut self.ranks[rank];
        self.bounds.remove(rank.bound);
        self.bounds.add(bound);
        rank.bound = bound;
    }
}
