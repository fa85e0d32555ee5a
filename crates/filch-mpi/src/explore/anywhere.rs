//! Tasks without homes: idle ranks get tasks from ranks that have many.
//!
//! The [protocol](crate::protocol) of the solver decides which rank gives to which, and when the
//! exploration is over. Its nodes are tasks here, and have no bounds. A rank that gives takes the
//! oldest tasks out of its workers' queues (the youngest, if thieves of that queue take those). In
//! a depth-first exploration of a tree, the oldest tasks are the largest pieces of work. The
//! workers are not interrupted.

use std::time::{Duration, Instant};

use filch_dd::port::Parcel;
use serde::de::DeserializeOwned;

use super::courier::{decode, Post, Way};
use super::lent::Steals;
use super::ranks::{Garbled, Kind};
use super::traffic::Traffic;
use crate::protocol::{Coordinator, Effect, Member, Message, Policy, Status, ToCoordinator, ToMember};

/// The state of `anywhere` on one rank; see the module.
pub(super) struct Anywhere<'s> {
    member: Member,
    /// The coordinator, on rank 0.
    coordinator: Option<Coordinator>,
    steals: &'s dyn Steals,
    policy: Policy,
    rank: usize,
    ranks: usize,
    /// The number of workers.
    threads: u64,
    /// The number of deliveries of tasks.
    delivered: u64,
    last_look: Instant,
    last_pulse: Instant,
    over: bool,
    /// Effects of the member that are not performed yet.
    effects: Vec<Effect>,
}

/// Constant: all ranks run the same exploration. A rank that does not sends other messages.
const IDENTITY: u64 = 0;

/// How often a rank that has tasks reports its load even without a change. A rank that refused an
/// order is not asked again before its next report.
const PULSE: Duration = Duration::from_secs(1);

impl<'s> Anywhere<'s> {
    pub(super) fn new(rank: usize, ranks: usize, threads: usize, steals: &'s dyn Steals) -> Self {
        let (policy, threads) = (Policy::default(), threads as u64);
        let (mut effects, now) = (Vec::new(), Instant::now());
        Anywhere {
            member: Member::new(IDENTITY, threads, policy, &mut effects),
            coordinator: (rank == 0).then(|| Coordinator::new(ranks, IDENTITY, policy)),
            steals,
            policy,
            rank,
            ranks,
            threads,
            delivered: 0,
            last_look: now,
            last_pulse: now,
            over: false,
            effects,
        }
    }

    fn status(&self, idle: bool) -> Status {
        // While any worker runs, each worker counts as having a task.
        let open = if idle { 0 } else { self.threads + self.steals.queued() };
        Status { open, explored: 0, bound: (!idle).then_some(0) }
    }

    /// Reports how much is open, if a report is due.
    fn look(&mut self, now: Instant) {
        let pulse = now.duration_since(self.last_pulse) >= PULSE;
        if pulse || now.duration_since(self.last_look) >= self.policy.pace(self.ranks) {
            self.last_look = now;
            if pulse {
                self.last_pulse = now;
            }
            self.member.look(self.status(false), pulse, &mut self.effects);
        }
    }

    /// Performs the effects of the member, and those that follow on this rank.
    fn act<T: DeserializeOwned>(&mut self, post: &mut Post<'_, '_>, traffic: &Traffic<T>) -> Result<bool, ()> {
        let acted = !self.effects.is_empty();
        while !self.effects.is_empty() {
            // The coordinator may answer at once, so it gets the reports after all other effects.
            let mut reports = Vec::new();
            for effect in std::mem::take(&mut self.effects) {
                match effect {
                    Effect::Report(report) if self.coordinator.is_some() => reports.push(report),
                    Effect::Report(report) => post.send(0, Kind::Protocol, &Message::ToCoordinator(report).encode()),
                    Effect::Send(rank, message) => self.send(rank, message, post),
                    Effect::Deliver(parcels) => {
                        self.delivered += 1;
                        for parcel in parcels {
                            post.counts.received += parcel.nodes();
                            traffic.deliver(decode(parcel.nodes(), parcel.bytes()).ok_or(())?);
                        }
                    }
                    Effect::Ask(share) => {
                        let taken = self.steals.take(share.fraction());
                        post.counts.sent += taken.tasks;
                        let parcel = (taken.tasks > 0).then(|| Parcel::new(taken.tasks, 0, taken.bytes));
                        let now = self.status(traffic.is_idle());
                        self.member.given(parcel.into_iter().collect(), now, &mut self.effects);
                    }
                    Effect::End => self.over = true,
                    // The coordinator never asks for these here, and a failed run is stopped by
                    // `Kind::Stop`.
                    Effect::Tell(_) | Effect::Snapshot | Effect::Stop => return Err(()),
                }
            }
            for report in reports {
                self.coordinate(0, report, post);
            }
        }
        Ok(acted)
    }

    fn coordinate(&mut self, from: usize, report: ToCoordinator, post: &mut Post<'_, '_>) {
        let Some(coordinator) = &mut self.coordinator else { return };
        let mut orders = Vec::new();
        coordinator.handle(from, report, &mut orders);
        for (to, order) in orders {
            for rank in to.ranks(self.ranks) {
                self.send(rank, order.clone(), post);
            }
        }
    }

    fn send(&mut self, rank: usize, message: ToMember, post: &mut Post<'_, '_>) {
        match rank == self.rank {
            true => self.member.handle(message, &mut self.effects),
            false => post.send(rank, Kind::Protocol, &Message::ToMember(message).encode()),
        }
    }
}

impl<T: DeserializeOwned> Way<T> for Anywhere<'_> {
    fn take(
        &mut self,
        message: &super::ranks::Message,
        post: &mut Post<'_, '_>,
        traffic: &Traffic<T>,
    ) -> Result<(), Garbled> {
        let garbled = || message.garbled();
        if message.kind != Kind::Protocol {
            return Err(garbled());
        }
        match Message::decode(message.rest()).map_err(|_| garbled())? {
            Message::ToCoordinator(report) if self.coordinator.is_some() => {
                self.coordinate(message.from, report, post);
            }
            Message::ToMember(order) => self.member.handle(order, &mut self.effects),
            Message::ToCoordinator(_) => return Err(garbled()),
        }
        self.act(post, traffic).map(|_| ()).map_err(|()| garbled())
    }

    fn go_on(&mut self, post: &mut Post<'_, '_>, traffic: &Traffic<T>) -> Result<bool, Garbled> {
        if traffic.is_idle() {
            self.member.searched_all(self.delivered, 0, &mut self.effects);
        } else {
            self.look(Instant::now());
        }
        // Effects that no message from another rank caused come from the coordinator.
        self.act(post, traffic).map_err(|()| Garbled::of(0))
    }

    fn is_over(&self) -> bool {
        self.over
    }
}

#[cfg(test)]
mod tests {
    use super::super::ranks::Ranks;
    use super::super::traffic;
    use super::super::RankCounts;
    use super::*;
    use crate::network::threads::{self, Delays};
    use crate::protocol::Share;

    /// Queues that report tasks but from which no task can be stolen.
    struct Stubborn;

    impl Steals for Stubborn {
        fn queued(&self) -> u64 {
            100
        }

        fn take(&self, _: f64) -> traffic::Parcel {
            traffic::Parcel::default()
        }

        fn forget(&self) {}
    }

    /// Runs `work` as rank 1 of two.
    fn on_rank_1(work: impl FnOnce(&mut Anywhere<'_>, &mut Post<'_, '_>, &Traffic<u32>)) {
        let mut network = threads::connect(2, Delays::NONE).remove(1);
        let mut ranks = Ranks::new(&mut network);
        ranks.begin();
        let mut post = Post { ranks: &mut ranks, counts: RankCounts::default() };
        work(&mut Anywhere::new(1, 2, 1, &Stubborn), &mut post, &Traffic::new(vec![1]));
    }

    #[test]
    fn a_rank_that_refused_speaks_again() {
        on_rank_1(|way, post, traffic| {
            let spoken = Effect::Report(ToCoordinator::Status(way.status(false)));
            let start = way.last_look;
            let soon = start + way.policy.pace(2);
            way.look(soon);
            assert_eq!(way.effects.pop(), Some(spoken.clone()));
            way.member.handle(ToMember::Give { order: 1, to: 0, share: Share::HALF }, &mut way.effects);
            way.act(post, traffic).unwrap();
            way.look(soon + way.policy.pace(2));
            assert_eq!(way.effects, [], "it has as many as before");
            way.look(start + PULSE);
            assert_eq!(way.effects, [spoken]);
        });
    }

    #[test]
    fn what_is_wrong_without_a_message_is_told_as_well() {
        on_rank_1(|way, post, traffic| {
            way.effects.push(Effect::Snapshot);
            assert_eq!(way.go_on(post, traffic), Err(Garbled::of(0)));
        });
    }
}
