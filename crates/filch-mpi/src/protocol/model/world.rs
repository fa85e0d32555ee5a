//! Ranks, the messages between them, and the invariants of every state.

use std::collections::VecDeque;

use filch_dd::Cost;

use super::super::coordinator::{Coordinator, Gathered};
use super::super::defect::{Defect, Flaw};
use super::super::member::{Effect, Member};
use super::super::message::{Destination, EncodedSolution, Message, RankStatistics, ToCoordinator, ToMember, Totals};
use super::super::policy::Policy;
use super::search::{below, each, pack, unpack, Nodes, Report, Search, ALL, TREE};

/// An event that may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// The oldest message from one rank to another arrives.
    Arrive { from: usize, to: usize },
    /// A rank handles the oldest report of its search.
    HandleReport(usize),
    /// A search processes a node.
    Process { rank: usize, node: usize },
    /// A rank checks how much is open, and reports it.
    ReportLoad(usize),
    /// A checkpoint is due.
    Checkpoint,
    /// A rank is told to stop.
    Quit(usize),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) coordinator: Coordinator,
    pub(super) members: Vec<Member>,
    pub(super) searches: Vec<Search>,
    /// The channel from `from` to `to` is at `from * ranks + to`. Rank 0 has no delay to itself.
    channels: Vec<VecDeque<Message>>,
    checkpoints: u8,
    quits: u8,
    /// The nodes done by ranks that have answered for a checkpoint. The next field is the best
    /// solution for which they had dropped a node. Both are of the time of the answer.
    done_before: Nodes,
    dropped_for_before: Option<Cost>,
    defect: Option<Defect>,
    /// The first fault on the way to this state.
    fault: Option<&'static str>,
}

impl World {
    /// Creates a run of `ranks` ranks that starts with the nodes `open`.
    ///
    /// All nodes not below them are done. Rank `home` has the open nodes; without it they are dealt
    /// to all.
    pub(super) fn new(
        (ranks, home): (usize, Option<usize>),
        open: Nodes,
        (checkpoints, quits): (u8, u8),
        defect: Option<Defect>,
    ) -> Self {
        let policy = Policy { hungry: 1, ..Policy::default() };
        let mut coordinator = Coordinator::new(ranks, 1, policy);
        coordinator.flaw = Flaw(defect);
        let mut world = World {
            coordinator,
            members: Vec::new(),
            searches: (0..ranks).map(|rank| Search::new(if Some(rank) == home { open } else { 0 }, defect)).collect(),
            channels: vec![VecDeque::new(); ranks * ranks],
            checkpoints,
            quits,
            done_before: 0,
            dropped_for_before: None,
            defect,
            fault: None,
        };
        world.searches[0].done = ALL & !below(open);
        let mut hellos = Vec::new();
        for _ in 0..ranks {
            let mut effects = Vec::new();
            let mut member = Member::new(1, 1, policy, &mut effects);
            member.flaw = Flaw(defect);
            world.members.push(member);
            hellos.push(effects);
        }
        for (rank, effects) in hellos.into_iter().enumerate() {
            world.perform(rank, effects);
            if rank > 0 {
                // The time of the hello does not matter: it is the first message of each rank.
                world.apply(Step::Arrive { from: rank, to: 0 });
            }
        }
        if home.is_none() {
            let mut out = Vec::new();
            world.coordinator.deal(pack(open), None, &mut out);
            world.send(out);
        }
        world
    }

    fn ranks(&self) -> usize {
        self.searches.len()
    }

    pub(super) fn steps(&self, steps: &mut Vec<Step>) {
        let ranks = self.ranks();
        for (rank, search) in self.searches.iter().enumerate() {
            if !search.reports.is_empty() {
                steps.push(Step::HandleReport(rank));
            }
            if !search.ended {
                steps.extend(each(search.open).map(|node| Step::Process { rank, node }));
                let mut effects = Vec::new();
                self.members[rank].clone().report_load(search.status(), false, &mut effects);
                if !effects.is_empty() {
                    steps.push(Step::ReportLoad(rank));
                }
            }
        }
        if self.checkpoints > 0 && !self.coordinator.is_done() && !self.coordinator.has_stopped() {
            steps.push(Step::Checkpoint);
        }
        if self.quits > 0 {
            let working = (0..ranks).filter(|&rank| !self.members[rank].is_leaving());
            steps.extend(working.map(Step::Quit));
        }
        for (index, channel) in self.channels.iter().enumerate() {
            if !channel.is_empty() {
                steps.push(Step::Arrive { from: index / ranks, to: index % ranks });
            }
        }
    }

    pub(super) fn apply(&mut self, step: Step) {
        let mut effects = Vec::new();
        match step {
            Step::Arrive { from, to } => {
                let channel = from * self.ranks() + to;
                match self.channels[channel].pop_front() {
                    Some(Message::ToCoordinator(message)) => self.coordinate(from, message),
                    Some(Message::ToMember(message)) => {
                        self.members[to].handle(message, &mut effects);
                        self.perform(to, effects);
                    }
                    None => {}
                }
            }
            Step::HandleReport(rank) => {
                let status = self.searches[rank].status();
                let member = &mut self.members[rank];
                let totals = Totals { explored: status.explored, ..Totals::default() };
                match self.searches[rank].reports.pop_front() {
                    Some(Report::Given(nodes)) => member.given(pack(nodes), status, &mut effects),
                    Some(Report::Snapshot(nodes)) => member.snapshot(pack(nodes), totals, &mut effects),
                    Some(Report::Found(worth)) => {
                        member.found(EncodedSolution { worth, bytes: Vec::new() }, &mut effects)
                    }
                    Some(Report::Idle { delivered }) => {
                        member.searched_all(delivered, status.explored, &mut effects);
                    }
                    Some(Report::Ended(left)) => {
                        member.ended(pack(left), totals, RankStatistics::default(), &mut effects);
                    }
                    None => {}
                }
                self.perform(rank, effects);
            }
            Step::Process { rank, node } => self.searches[rank].process(node),
            Step::ReportLoad(rank) => {
                self.members[rank].report_load(self.searches[rank].status(), false, &mut effects);
                self.perform(rank, effects);
            }
            Step::Checkpoint => {
                self.checkpoints -= 1;
                let mut out = Vec::new();
                self.coordinator.checkpoint(&mut out);
                self.send(out);
            }
            Step::Quit(rank) => {
                self.quits -= 1;
                self.members[rank].quit(&mut effects);
                self.perform(rank, effects);
            }
        }
    }

    fn coordinate(&mut self, from: usize, message: ToCoordinator) {
        let mut out = Vec::new();
        self.coordinator.handle(from, message, &mut out);
        if let Some(gathered) = self.coordinator.take_gathered() {
            self.fault = self.fault.or_else(|| self.check_checkpoint(&gathered));
            self.done_before = 0;
            self.dropped_for_before = None;
        }
        self.send(out);
    }

    fn send(&mut self, out: Vec<(Destination, ToMember)>) {
        for (to, message) in out {
            for to in to.ranks(self.ranks()) {
                if to == 0 {
                    let mut effects = Vec::new();
                    self.members[0].handle(message.clone(), &mut effects);
                    self.perform(0, effects);
                } else {
                    self.channels[to].push_back(Message::ToMember(message.clone()));
                }
            }
        }
    }

    fn perform(&mut self, rank: usize, effects: Vec<Effect>) {
        let mut reports = Vec::new();
        for effect in effects {
            match effect {
                Effect::Report(message) if rank == 0 && self.defect != Some(Defect::AnsweredBeforeAllEffects) => {
                    reports.push(message);
                }
                Effect::Report(message) if rank == 0 => self.coordinate(0, message),
                Effect::Report(message) => {
                    let channel = rank * self.ranks();
                    self.channels[channel].push_back(Message::ToCoordinator(message));
                }
                Effect::Send(to, message) => {
                    let channel = rank * self.ranks() + to;
                    self.channels[channel].push_back(Message::ToMember(message));
                }
                Effect::Deliver(packages) => match unpack(&packages) {
                    Some(nodes) if nodes & self.searches[rank].open == 0 => self.searches[rank].deliver(nodes),
                    _ => self.fault = Some("a node was delivered to the rank that has it"),
                },
                Effect::Ask(_) => self.searches[rank].ask(),
                Effect::Tell(solution) => self.searches[rank].tell(solution.worth),
                Effect::Snapshot => {
                    self.searches[rank].snapshot();
                    self.record_answer(rank);
                }
                Effect::Stop => {
                    self.searches[rank].end();
                    self.record_answer(rank);
                }
                Effect::End => self.searches[rank].end(),
            }
        }
        for message in reports {
            self.coordinate(0, message);
        }
    }

    fn record_answer(&mut self, rank: usize) {
        self.done_before |= self.searches[rank].done;
        self.dropped_for_before = self.dropped_for_before.max(self.searches[rank].dropped_for);
    }

    /// Returns a fault if the checkpoint is not exactly what a resumed run needs.
    fn check_checkpoint(&self, gathered: &Gathered) -> Option<&'static str> {
        let Some(open) = unpack(&gathered.packages) else { return Some("a checkpoint has a node twice") };
        let left = below(open);
        if each(open).any(|node| below(TREE[node].children) & open != 0) || left & self.done_before != 0 {
            return Some("a checkpoint has a node that is done, or is below another");
        }
        if left | self.done_before != ALL {
            return Some("a checkpoint lacks a node");
        }
        let best = gathered.best.as_ref().map(|best| best.worth);
        (best < self.dropped_for_before).then_some("a checkpoint lacks a solution for which a node was dropped")
    }

    /// Returns what is wrong in this state.
    pub(super) fn fault(&self) -> Option<&'static str> {
        if self.fault.is_some() {
            return self.fault;
        }
        if self.coordinator.failure().is_some() {
            return Some("the run failed");
        }
        let mut held = 0;
        for nodes in self.held() {
            let Some(nodes) = nodes.filter(|nodes| nodes & held == 0) else { return Some("a node is in two places") };
            held |= nodes;
        }
        let done = self.searches.iter().fold(0, |done, search| done | search.done);
        if held & done != 0 {
            return Some("a done node is open");
        }
        if below(held) | done != ALL {
            return Some("a node is lost");
        }
        if self.coordinator.is_done() && held != 0 {
            return Some("the end was declared before all nodes were done");
        }
        // Nodes that left with the last checkpoint are open nowhere.
        let working = !self.coordinator.is_done() && !self.coordinator.has_stopped();
        let most = each(held).map(|node| TREE[node].bound).max();
        if working && most > self.coordinator.bound() {
            return Some("the bound does not hold for an open node");
        }
        let mut steps = Vec::new();
        self.steps(&mut steps);
        if steps.is_empty() && !(self.coordinator.is_over() && self.members.iter().all(Member::is_over)) {
            return Some("no step is possible, and the run is not over");
        }
        let best = self.coordinator.best().map(|best| best.worth);
        (steps.is_empty() && self.coordinator.is_done() && best != Some(6)).then_some("the best solution was lost")
    }

    /// Returns the nodes of all searches, and the nodes in transit.
    fn held(&self) -> impl Iterator<Item = Option<Nodes>> + '_ {
        let open = self.searches.iter().map(|search| Some(search.open));
        let given = self.searches.iter().flat_map(|search| &search.reports).map(|report| match report {
            Report::Given(nodes) => Some(*nodes),
            _ => Some(0),
        });
        let moving = self.channels.iter().flatten().map(|message| match message {
            Message::ToMember(ToMember::Nodes { packages, .. }) => unpack(packages),
            _ => Some(0),
        });
        open.chain(given).chain(moving)
    }
}
