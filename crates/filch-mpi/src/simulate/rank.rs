//! One simulated rank: its member of the protocol, its threads and its communicating thread.
//!
//! The communicating thread checks for messages now and then.

use std::collections::VecDeque;

use super::crew::Crew;
use super::outcome::Times;
use super::patience::Patience;
use super::queue::Time;
use super::settings::Settings;
use super::tree::{Node, Tree};
use super::wire::Outlet;
use crate::protocol::{Answer, Effect, Member, Parcel, RankStatistics, Status, ToCoordinator, ToMember, Totals};
use crate::random::{below, mix, mix_two};

/// An outgoing message of a rank.
#[derive(Debug)]
pub(super) enum Leaving {
    /// A message for the coordinator.
    Report(ToCoordinator),
    /// A message for another member. The parcels have no bytes: the nodes are beside the message.
    Send(usize, ToMember, Vec<Node>),
}

/// A simulated rank.
#[derive(Debug)]
pub(super) struct Rank {
    member: Member,
    crew: Crew,
    pub(super) outlet: Outlet,
    inbox: VecDeque<(ToMember, Vec<Node>)>,
    /// When its communicating thread wakes next; `None` if only a message will wake it.
    pub(super) next_look: Option<Time>,
    patience: Patience,
    /// Shares that the search was asked for and has not given.
    asked: VecDeque<f64>,
    deliveries: u64,
    /// Whether the search has reported that it is idle, since it last got nodes.
    dry: bool,
    /// Since when it has had no nodes.
    hungry: Option<Time>,
    /// When it last considered a status, and when it last sent a sign of life.
    considered: Time,
    pulsed: Time,
    bound_seed: u64,
}

impl Rank {
    pub(super) fn new(rank: usize, settings: &Settings, out: &mut Vec<Leaving>) -> Rank {
        let random = mix_two(settings.seed, rank as u64);
        let mut effects = Vec::new();
        let member = Member::new(0, settings.threads as u64, settings.policy, &mut effects);
        let rank = Rank {
            member,
            crew: Crew::new(settings.threads),
            outlet: Outlet::default(),
            inbox: VecDeque::new(),
            next_look: None,
            patience: settings.patience(),
            asked: VecDeque::new(),
            deliveries: 0,
            dry: false,
            hungry: None,
            considered: 0,
            // Spread over the interval, so that not all ranks report at the same time.
            pulsed: below(mix(random), (settings.pulse.as_nanos() as u64).max(1)),
            bound_seed: random,
        };
        out.extend(effects.into_iter().map(|effect| match effect {
            Effect::Report(message) => Leaving::Report(message),
            effect => unreachable!("a rank begins with a greeting, and not with {effect:?}"),
        }));
        rank
    }

    /// Starts with the whole tree.
    pub(super) fn begin_with(&mut self, tree: &Tree) {
        self.crew.take_in(0, vec![tree.root()], tree);
    }

    pub(super) fn crew(&self) -> &Crew {
        &self.crew
    }

    pub(super) fn failure(&self) -> Option<&str> {
        self.member.failure()
    }

    /// Adds a message that has arrived. Returns when the rank sees it, if nothing else wakes it
    /// before.
    pub(super) fn arrive(&mut self, now: Time, message: ToMember, nodes: Vec<Node>) -> Option<Time> {
        self.inbox.push_back((message, nodes));
        if self.next_look.is_some() {
            return None;
        }
        self.next_look = Some(self.patience.notice(now));
        self.next_look
    }

    /// Reports a better solution of this rank.
    pub(super) fn find(&mut self, worth: i64, out: &mut Vec<Leaving>) {
        let mut effects = Vec::new();
        self.member.found(Answer { worth, bytes: vec![0; 200] }, &mut effects);
        for effect in effects {
            if let Effect::Report(message) = effect {
                out.push(Leaving::Report(message));
            }
        }
    }

    /// Runs the communicating thread. Returns when it wakes next, if no message wakes it.
    pub(super) fn look(
        &mut self,
        now: Time,
        tree: &Tree,
        settings: &Settings,
        hunger: &mut Times,
        out: &mut Vec<Leaving>,
    ) -> Option<Time> {
        let mut effects = Vec::new();
        let mut happened = !self.inbox.is_empty();
        if self.crew.is_between_nodes(now) {
            while let Some(share) = self.asked.pop_front() {
                happened = true;
                let nodes = self.crew.give(share);
                let parcels = parcels(nodes.len() as u64, self.bound(now));
                let status = self.status(now);
                self.member.given(parcels, status, &mut effects);
                self.apply(now, &mut effects, nodes, tree, out);
            }
        }
        if self.crew.load() == 0 && !self.dry {
            self.dry = true;
            happened = true;
            self.hungry = Some(now);
            self.member.searched_all(self.deliveries, self.crew.done().nodes, &mut effects);
            self.apply(now, &mut effects, Vec::new(), tree, out);
        }
        while let Some((message, nodes)) = self.inbox.pop_front() {
            if !nodes.is_empty() {
                if let Some(since) = self.hungry.take() {
                    hunger.add(now - since);
                }
            }
            self.member.handle(message, &mut effects);
            self.apply(now, &mut effects, nodes, tree, out);
        }
        let pulse = now.saturating_sub(self.pulsed) >= settings.pulse.as_nanos() as u64;
        if pulse || now - self.considered >= settings.policy.pace(settings.ranks).as_nanos() as u64 {
            self.considered = now;
            if pulse {
                self.pulsed = now;
            }
            let status = self.status(now);
            self.member.look(status, pulse, &mut effects);
            self.apply(now, &mut effects, Vec::new(), tree, out);
        }
        let next = self.patience.look(now, happened);
        self.next_look = self.work_on(now, next, tree);
        self.next_look
    }

    /// Lets the threads work until the communicating thread wakes again. A message that arrives
    /// meanwhile is not seen before, so this may be computed ahead.
    fn work_on(&mut self, now: Time, next: Time, tree: &Tree) -> Option<Time> {
        if !self.asked.is_empty() && self.crew.load() == 0 {
            return Some(now);
        }
        let pause = self.crew.next_pause()?;
        let until = if self.asked.is_empty() { next } else { next.min(pause.max(now)) };
        Some(self.crew.work_until(until, tree).unwrap_or(until))
    }

    fn apply(&mut self, now: Time, effects: &mut Vec<Effect>, nodes: Vec<Node>, tree: &Tree, out: &mut Vec<Leaving>) {
        let mut nodes = Some(nodes);
        let mut more = Vec::new();
        for effect in effects.drain(..) {
            match effect {
                Effect::Report(message) => {
                    out.push(Leaving::Report(message));
                }
                Effect::Send(to, message) => out.push(Leaving::Send(to, message, nodes.take().unwrap_or_default())),
                Effect::Deliver(_) => {
                    self.deliveries += 1;
                    self.dry = false;
                    self.crew.take_in(now, nodes.take().unwrap_or_default(), tree);
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
            self.apply(now, effects, Vec::new(), tree, out);
        }
    }

    fn totals(&self) -> Totals {
        Totals { explored: self.crew.done().nodes, ..Totals::default() }
    }

    fn status(&self, now: Time) -> Status {
        let open = self.crew.load() as u64;
        Status { open, explored: self.crew.done().nodes, bound: (open > 0).then(|| self.bound(now)) }
    }

    /// Returns an arbitrary bound, so that the coordinator has many bounds to keep in order.
    fn bound(&self, now: Time) -> i64 {
        below(mix_two(self.bound_seed, now), 64) as i64
    }
}

/// Makes a parcel without bytes for nodes that travel beside their message.
fn parcels(nodes: u64, bound: i64) -> Vec<Parcel> {
    if nodes == 0 {
        Vec::new()
    } else {
        vec![Parcel::new(nodes, bound, Vec::new())]
    }
}
