//! One simulated rank: its member of the protocol, its threads and its communicating thread.
//!
//! The communicating thread checks for messages now and then.

use std::collections::VecDeque;

use super::backoff::Backoff;
use super::outcome::Histogram;
use super::queue::Time;
use super::settings::Settings;
use super::tree::{Node, Tree};
use super::wire::OutgoingLink;
use super::workers::Workers;
use crate::protocol::{
    Effect, EncodedSolution, Member, Package, RankStatistics, Status, ToCoordinator, ToMember, Totals,
};
use crate::random::{below, mix, mix_two};

/// An outgoing message of a rank.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// A message for the coordinator.
    Report(ToCoordinator),
    /// A message for another member. The packages have no bytes: the nodes are beside the message.
    Send(usize, ToMember, Vec<Node>),
}

/// A simulated rank.
#[derive(Debug)]
pub(super) struct Rank {
    member: Member,
    workers: Workers,
    pub(super) link: OutgoingLink,
    inbox: VecDeque<(ToMember, Vec<Node>)>,
    /// When its communicating thread wakes next; `None` if only a message will wake it.
    pub(super) next_poll: Option<Time>,
    backoff: Backoff,
    /// Shares that the search was asked for and has not given.
    asked: VecDeque<f64>,
    deliveries: u64,
    /// Whether the search has reported that it is idle, since it last got nodes.
    idle_reported: bool,
    /// Since when it has had no nodes.
    hungry_since: Option<Time>,
    /// When it last checked its status, and when it last sent a heartbeat.
    last_status_check: Time,
    last_heartbeat: Time,
    bound_seed: u64,
}

impl Rank {
    pub(super) fn new(rank: usize, settings: &Settings, out: &mut Vec<Outgoing>) -> Rank {
        let random = mix_two(settings.seed, rank as u64);
        let mut effects = Vec::new();
        let member = Member::new(0, settings.threads as u64, settings.policy, &mut effects);
        let rank = Rank {
            member,
            workers: Workers::new(settings.threads),
            link: OutgoingLink::default(),
            inbox: VecDeque::new(),
            next_poll: None,
            backoff: settings.backoff(),
            asked: VecDeque::new(),
            deliveries: 0,
            idle_reported: false,
            hungry_since: None,
            last_status_check: 0,
            // Spread over the interval, so that not all ranks report at the same time.
            last_heartbeat: below(mix(random), (settings.heartbeat.as_nanos() as u64).max(1)),
            bound_seed: random,
        };
        out.extend(effects.into_iter().map(|effect| match effect {
            Effect::Report(message) => Outgoing::Report(message),
            effect => unreachable!("the first effect of a rank is its hello, not {effect:?}"),
        }));
        rank
    }

    /// Starts with the whole tree.
    pub(super) fn start_with_root(&mut self, tree: &Tree) {
        self.workers.add_nodes(0, vec![tree.root()], tree);
    }

    pub(super) fn workers(&self) -> &Workers {
        &self.workers
    }

    pub(super) fn failure(&self) -> Option<&str> {
        self.member.failure()
    }

    /// Adds a message that has arrived. Returns when the rank sees it, if nothing else wakes it
    /// before.
    pub(super) fn arrive(&mut self, now: Time, message: ToMember, nodes: Vec<Node>) -> Option<Time> {
        self.inbox.push_back((message, nodes));
        if self.next_poll.is_some() {
            return None;
        }
        self.next_poll = Some(self.backoff.next_check_after(now));
        self.next_poll
    }

    /// Reports a better solution of this rank.
    pub(super) fn report_solution(&mut self, worth: i64, out: &mut Vec<Outgoing>) {
        let mut effects = Vec::new();
        self.member.found(EncodedSolution { worth, bytes: vec![0; 200] }, &mut effects);
        for effect in effects {
            if let Effect::Report(message) = effect {
                out.push(Outgoing::Report(message));
            }
        }
    }

    /// Runs the communicating thread. Returns when it wakes next, if no message wakes it.
    pub(super) fn poll(
        &mut self,
        now: Time,
        tree: &Tree,
        settings: &Settings,
        hunger: &mut Histogram,
        out: &mut Vec<Outgoing>,
    ) -> Option<Time> {
        let mut effects = Vec::new();
        let mut happened = !self.inbox.is_empty();
        if self.workers.is_between_nodes(now) {
            while let Some(share) = self.asked.pop_front() {
                happened = true;
                let nodes = self.workers.give(share);
                let packages = packages(nodes.len() as u64, self.bound(now));
                let status = self.status(now);
                self.member.given(packages, status, &mut effects);
                self.perform(now, &mut effects, nodes, tree, out);
            }
        }
        if self.workers.load() == 0 && !self.idle_reported {
            self.idle_reported = true;
            happened = true;
            self.hungry_since = Some(now);
            self.member.searched_all(self.deliveries, self.workers.done().nodes, &mut effects);
            self.perform(now, &mut effects, Vec::new(), tree, out);
        }
        while let Some((message, nodes)) = self.inbox.pop_front() {
            if !nodes.is_empty() {
                if let Some(since) = self.hungry_since.take() {
                    hunger.add(now - since);
                }
            }
            self.member.handle(message, &mut effects);
            self.perform(now, &mut effects, nodes, tree, out);
        }
        let heartbeat = now.saturating_sub(self.last_heartbeat) >= settings.heartbeat.as_nanos() as u64;
        if heartbeat
            || now - self.last_status_check >= settings.policy.report_interval(settings.ranks).as_nanos() as u64
        {
            self.last_status_check = now;
            if heartbeat {
                self.last_heartbeat = now;
            }
            let status = self.status(now);
            self.member.report_load(status, heartbeat, &mut effects);
            self.perform(now, &mut effects, Vec::new(), tree, out);
        }
        let next = self.backoff.record_check(now, happened);
        self.next_poll = self.run_threads(now, next, tree);
        self.next_poll
    }

    /// Lets the threads work until the communicating thread wakes again. A message that arrives
    /// meanwhile is not seen before, so this may be computed ahead.
    fn run_threads(&mut self, now: Time, next: Time, tree: &Tree) -> Option<Time> {
        if !self.asked.is_empty() && self.workers.load() == 0 {
            return Some(now);
        }
        let finish = self.workers.next_finish()?;
        let until = if self.asked.is_empty() { next } else { next.min(finish.max(now)) };
        Some(self.workers.work_until(until, tree).unwrap_or(until))
    }

    fn perform(
        &mut self,
        now: Time,
        effects: &mut Vec<Effect>,
        nodes: Vec<Node>,
        tree: &Tree,
        out: &mut Vec<Outgoing>,
    ) {
        let mut nodes = Some(nodes);
        let mut more = Vec::new();
        for effect in effects.drain(..) {
            match effect {
                Effect::Report(message) => {
                    out.push(Outgoing::Report(message));
                }
                Effect::Send(to, message) => out.push(Outgoing::Send(to, message, nodes.take().unwrap_or_default())),
                Effect::Deliver(_) => {
                    self.deliveries += 1;
                    self.idle_reported = false;
                    self.workers.add_nodes(now, nodes.take().unwrap_or_default(), tree);
                }
                Effect::Ask(share) => self.asked.push_back(share.fraction()),
                Effect::Tell(_) => {}
                Effect::End => {
                    self.member.ended(Vec::new(), self.totals(), RankStatistics::default(), &mut more);
                }
                Effect::Snapshot | Effect::Stop => {}
            }
        }
        if !more.is_empty() {
            *effects = more;
            self.perform(now, effects, Vec::new(), tree, out);
        }
    }

    fn totals(&self) -> Totals {
        Totals { explored: self.workers.done().nodes, ..Totals::default() }
    }

    fn status(&self, now: Time) -> Status {
        let open = self.workers.load() as u64;
        Status { open, explored: self.workers.done().nodes, bound: (open > 0).then(|| self.bound(now)) }
    }

    /// Returns an arbitrary bound, so that the coordinator has many bounds to keep in order.
    fn bound(&self, now: Time) -> i64 {
        below(mix_two(self.bound_seed, now), 64) as i64
    }
}

/// Makes a package without bytes for nodes that travel beside their message.
fn packages(nodes: u64, bound: i64) -> Vec<Package> {
    if nodes == 0 {
        Vec::new()
    } else {
        vec![Package::new(nodes, bound, Vec::new())]
    }
}
