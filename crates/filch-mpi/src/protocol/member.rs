//! The state machine of one rank, between the coordinator and the search.

use std::collections::{BTreeMap, VecDeque};

use filch_dd::Cost;

use super::defect::{Defect, Flaw};
use super::message::{
    parts, EncodedSolution, Hello, Package, RankStatistics, Share, Status, ToCoordinator, ToMember, Totals, VERSION,
};
use super::policy::Policy;

/// An action that a member requests: a message, or a call of its search. Performed in order.
///
/// All effects of one call are performed before the next message is handled. On rank 0 this
/// includes messages to the coordinator: they are handed over after the other effects. The
/// coordinator may answer at once, and ask for a frontier before the search has what was received.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Send this to the coordinator.
    Report(ToCoordinator),
    /// Send this to another member.
    Send(usize, ToMember),
    /// Give these nodes to the search. Its idle report says how many deliveries it has taken in.
    Deliver(Vec<Package>),
    /// Ask the search for a share of its open nodes. It answers once: [`Member::given`].
    Ask(Share),
    /// Tell the search about a solution.
    Tell(EncodedSolution),
    /// Ask the search for all its open nodes while it goes on. It answers once:
    /// [`Member::snapshot`].
    Snapshot,
    /// Stop the search at once: [`Member::ended`].
    Stop,
    /// End the search, which has nothing left: [`Member::ended`].
    End,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Working,
    /// The search was told to stop, for this checkpoint.
    Stopping(u64),
    /// The search was told to end.
    Ending,
    /// The search has ended, and the coordinator knows.
    Left,
    /// The run failed, and why.
    Failed(String),
}

/// The state machine of one rank: see [the protocol](super).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    threads: u64,
    policy: Policy,
    phase: Phase,
    /// The number of open nodes that the coordinator believes this rank to have.
    reported: u64,
    /// Whether the last report was that nothing is open.
    idle: bool,
    /// The number of deliveries to the search.
    delivered: u64,
    /// Orders for which the search was asked, in order.
    asked: VecDeque<(u64, usize)>,
    /// The nodes and the greatest bound so far, for orders that have arrived in part.
    arriving: BTreeMap<u64, (u64, Option<Cost>)>,
    /// The checkpoint for which the search was asked.
    round: Option<u64>,
    statistics: RankStatistics,
    pub(crate) flaw: Flaw,
}

impl Member {
    /// Returns a member with `threads` threads and requests its `Hello` message.
    ///
    /// `identity` stands for the problem to be solved.
    pub fn new(identity: u64, threads: u64, policy: Policy, out: &mut Vec<Effect>) -> Self {
        out.push(Effect::Report(ToCoordinator::Hello(Hello { version: VERSION, identity, threads })));
        Member {
            threads,
            policy,
            phase: Phase::Working,
            reported: 0,
            idle: false,
            delivered: 0,
            asked: VecDeque::new(),
            arriving: BTreeMap::new(),
            round: None,
            statistics: RankStatistics { threads, ..RankStatistics::default() },
            flaw: Flaw::default(),
        }
    }

    /// Handles a message.
    pub fn handle(&mut self, message: ToMember, out: &mut Vec<Effect>) {
        if self.is_over() {
            return;
        }
        match message {
            ToMember::Give { order, to, share } => {
                self.asked.push_back((order, to));
                out.push(Effect::Ask(share));
            }
            ToMember::Nodes { order, packages, last } => self.receive(order, packages, last, out),
            ToMember::Found(solution) => out.push(Effect::Tell(solution)),
            ToMember::Snapshot { round } => {
                self.round = Some(round);
                out.push(Effect::Snapshot);
            }
            ToMember::Stop { round } => {
                self.phase = Phase::Stopping(round);
                out.push(Effect::Stop);
            }
            ToMember::End => {
                self.phase = Phase::Ending;
                out.push(Effect::End);
            }
            ToMember::Failed(why) => {
                self.phase = Phase::Failed(why);
                out.push(Effect::Stop);
            }
            ToMember::Alive => {}
        }
    }

    /// Reports how much is open if the coordinator should know. The caller calls it regularly.
    ///
    /// With `heartbeat` it always reports something, so that the coordinator hears from this rank.
    pub fn report_load(&mut self, now: Status, heartbeat: bool, out: &mut Vec<Effect>) {
        if self.is_over() {
        } else if self.idle {
            if heartbeat {
                out.push(Effect::Report(ToCoordinator::Idle { explored: now.explored }));
            }
        } else if now.open == 0 {
            // The search has not started, or is about to report that it is idle.
            if heartbeat {
                out.push(Effect::Report(ToCoordinator::Alive));
            }
        } else if heartbeat || self.policy.is_worth_reporting(self.reported, now.open, self.threads) {
            self.send_status(now, out);
        }
    }

    /// Handles the nodes that the search gives when asked. `now` is what it has left.
    pub fn given(&mut self, packages: Vec<Package>, now: Status, out: &mut Vec<Effect>) {
        let Some((order, to)) = self.asked.pop_front() else { return };
        if packages.is_empty() {
            self.statistics.refusals += 1;
            if !self.flaw.is(Defect::RefusalIsNotReported) {
                out.push(Effect::Report(ToCoordinator::Refused { order }));
            }
            // The coordinator asks again after the next status, which comes when the load has
            // changed.
            if !self.idle {
                self.reported = now.open;
            }
            return;
        }
        self.statistics.gifts += 1;
        self.statistics.nodes_given += nodes(&packages);
        self.statistics.bytes_given += bytes(&packages);
        let mut parts = parts(packages).peekable();
        while let Some(packages) = parts.next() {
            out.push(Effect::Send(to, ToMember::Nodes { order, packages, last: parts.peek().is_none() }));
        }
        if !self.idle && now.open > 0 {
            self.send_status(now, out);
        }
    }

    /// Handles the open nodes that the search reports when asked.
    pub fn snapshot(&mut self, packages: Vec<Package>, totals: Totals, out: &mut Vec<Effect>) {
        if let Some(round) = self.round.take() {
            self.frontier(round, packages, totals, out);
        }
    }

    /// Reports a solution of the search that is better than all it knew.
    pub fn found(&mut self, solution: EncodedSolution, out: &mut Vec<Effect>) {
        if !self.is_over() {
            out.push(Effect::Report(ToCoordinator::Found(solution)));
        }
    }

    /// Handles the search's report that it has nothing left, after `delivered` deliveries.
    pub fn searched_all(&mut self, delivered: u64, explored: u64, out: &mut Vec<Effect>) {
        let is_current = delivered == self.delivered || self.flaw.is(Defect::StaleIdleIsBelieved);
        if is_current && !self.idle && !self.is_over() {
            self.idle = true;
            self.reported = 0;
            out.push(Effect::Report(ToCoordinator::Idle { explored }));
        }
    }

    /// Handles the end of the search, which left these nodes open.
    ///
    /// `measured` has the other statistics of this rank. The member fills in what it has counted.
    pub fn ended(&mut self, left: Vec<Package>, totals: Totals, measured: RankStatistics, out: &mut Vec<Effect>) {
        match self.phase {
            Phase::Stopping(round) => self.frontier(round, left, totals, out),
            Phase::Ending if left.is_empty() => {}
            Phase::Ending | Phase::Working => {
                return self.fail("the search ended before everything was done".to_owned(), out)
            }
            Phase::Left | Phase::Failed(_) => return,
        }
        self.phase = Phase::Left;
        let RankStatistics { threads, gifts, nodes_given, bytes_given, refusals, .. } = self.statistics;
        let RankStatistics { receipts, nodes_received, bytes_received, .. } = self.statistics;
        self.statistics = RankStatistics {
            threads,
            gifts,
            nodes_given,
            bytes_given,
            refusals,
            receipts,
            nodes_received,
            bytes_received,
            totals,
            ..measured
        };
        out.push(Effect::Report(ToCoordinator::Finished(self.statistics.clone())));
    }

    /// Asks the coordinator to stop the run on all ranks.
    pub fn quit(&mut self, out: &mut Vec<Effect>) {
        if self.phase == Phase::Working {
            out.push(Effect::Report(ToCoordinator::Quit));
        }
    }

    /// Reports that this rank cannot go on.
    pub fn fail(&mut self, why: String, out: &mut Vec<Effect>) {
        if !self.is_over() {
            out.push(Effect::Report(ToCoordinator::Failed(why.clone())));
            out.push(Effect::Stop);
            self.phase = Phase::Failed(why);
        }
    }

    /// Returns whether this rank has left or the run failed. Then it has nothing more to send.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Left | Phase::Failed(_))
    }

    /// Returns whether the last report of this rank was that it is idle.
    pub fn is_idle(&self) -> bool {
        self.idle
    }

    /// Returns whether the search was told to stop or to end.
    pub fn is_leaving(&self) -> bool {
        self.phase != Phase::Working
    }

    /// Returns why the run failed.
    pub fn failure(&self) -> Option<&str> {
        match &self.phase {
            Phase::Failed(why) => Some(why),
            _ => None,
        }
    }

    /// Returns the statistics of this rank. They are complete when the search has ended.
    pub fn statistics(&self) -> &RankStatistics {
        &self.statistics
    }

    fn receive(&mut self, order: u64, packages: Vec<Package>, last: bool, out: &mut Vec<Effect>) {
        let count = nodes(&packages);
        self.statistics.nodes_received = self.statistics.nodes_received.saturating_add(count);
        self.statistics.bytes_received += bytes(&packages);
        let (nodes, bound) = self.arriving.entry(order).or_default();
        *nodes = nodes.saturating_add(count);
        *bound = (*bound).max(packages.iter().map(Package::bound).max());
        if last {
            let (nodes, bound) = self.arriving.remove(&order).unwrap_or_default();
            self.statistics.receipts += 1;
            // Reported before the search has the nodes, and so before it can be idle again.
            if !self.flaw.is(Defect::ReceiptIsNotReported) {
                out.push(Effect::Report(ToCoordinator::Received { order, nodes, bound }));
            }
            self.reported = self.reported.saturating_add(nodes);
            self.idle = false;
        }
        self.delivered += 1;
        out.push(Effect::Deliver(packages));
    }

    fn send_status(&mut self, now: Status, out: &mut Vec<Effect>) {
        self.reported = now.open;
        out.push(Effect::Report(ToCoordinator::Status(now)));
    }

    fn frontier(&mut self, round: u64, packages: Vec<Package>, totals: Totals, out: &mut Vec<Effect>) {
        let mut parts = parts(packages).peekable();
        while let Some(packages) = parts.next() {
            let last = parts.peek().is_none().then_some(totals);
            out.push(Effect::Report(ToCoordinator::Frontier { round, packages, last }));
        }
    }
}

/// Sums what the packages claim, which may be any number, so the sum saturates.
fn nodes(packages: &[Package]) -> u64 {
    packages.iter().fold(0, |nodes, package| package.nodes().saturating_add(nodes))
}

fn bytes(packages: &[Package]) -> u64 {
    packages.iter().map(|package| package.bytes().len() as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(bound: Cost) -> Package {
        Package::new(2, bound, vec![0; 3])
    }

    #[test]
    fn nodes_in_parts_count_as_received_with_the_last_part() {
        let mut out = Vec::new();
        let mut member = Member::new(1, 1, Policy::default(), &mut out);
        member.searched_all(0, 0, &mut out);
        out.clear();
        member.handle(ToMember::Nodes { order: 4, packages: vec![package(8)], last: false }, &mut out);
        assert_eq!(out, [Effect::Deliver(vec![package(8)])]);
        assert!(member.is_idle(), "the order is outstanding until its last part");
        member.searched_all(1, 5, &mut out);
        member.handle(ToMember::Nodes { order: 4, packages: vec![package(6)], last: true }, &mut out);
        let received = ToCoordinator::Received { order: 4, nodes: 4, bound: Some(8) };
        assert_eq!(out[1..], [Effect::Report(received), Effect::Deliver(vec![package(6)])]);
        out.clear();
        member.searched_all(1, 5, &mut out);
        assert_eq!(out, [], "the search had not taken in the second part");
        member.searched_all(2, 6, &mut out);
        assert_eq!(out, [Effect::Report(ToCoordinator::Idle { explored: 6 })]);
    }

    #[test]
    fn large_transfers_and_frontiers_are_split_and_the_last_part_is_marked() {
        let mut out = Vec::new();
        let mut member = Member::new(1, 1, Policy::default(), &mut out);
        member.handle(ToMember::Give { order: 1, to: 3, share: Share::HALF }, &mut out);
        member.handle(ToMember::Snapshot { round: 2 }, &mut out);
        out.clear();
        let large: Vec<Package> = (0..3).map(|bound| Package::new(1, bound, vec![0; 3 << 20])).collect();
        member.given(large.clone(), Status::default(), &mut out);
        member.snapshot(large.clone(), Totals::default(), &mut out);
        let lasts: Vec<bool> = out
            .iter()
            .map(|effect| match effect {
                Effect::Send(3, ToMember::Nodes { order: 1, packages, last }) if packages.len() == 1 => *last,
                Effect::Report(ToCoordinator::Frontier { round: 2, packages, last }) if packages.len() == 1 => {
                    last.is_some()
                }
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(lasts, [false, false, true, false, false, true]);
    }

    #[test]
    fn a_sum_of_nodes_that_overflows_saturates() {
        let mut out = Vec::new();
        let mut member = Member::new(1, 1, Policy::default(), &mut out);
        let packages = vec![Package::new(u64::MAX, 1, Vec::new()), Package::new(u64::MAX, 1, Vec::new())];
        for last in [false, true] {
            out.clear();
            member.handle(ToMember::Nodes { order: 1, packages: packages.clone(), last }, &mut out);
        }
        assert_eq!(out[0], Effect::Report(ToCoordinator::Received { order: 1, nodes: u64::MAX, bound: Some(1) }));
    }

    #[test]
    fn a_heartbeat_before_the_search_starts_reports_no_load() {
        let mut out = Vec::new();
        let mut member = Member::new(1, 1, Policy::default(), &mut out);
        out.clear();
        member.report_load(Status::default(), false, &mut out);
        assert_eq!(out, []);
        member.report_load(Status::default(), true, &mut out);
        assert_eq!(out, [Effect::Report(ToCoordinator::Alive)], "a search that has not started is not idle");
    }
}
