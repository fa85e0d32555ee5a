//! Tasks without homes: idle ranks get tasks from ranks that have many.
//!
//! The [protocol](crate::protocol) of the solver decides which rank gives to which, and when the
//! exploration is over. Its nodes are tasks here, and have no bounds. A rank that gives takes the
//! oldest tasks out of its workers' queues (the youngest, if thieves of that queue take those). In
//! a depth-first exploration of a tree, the oldest tasks are the largest pieces of work. The
//! workers are not interrupted.

use std::time::{Duration, Instant};

use filch_dd::port::Package;
use serde::de::DeserializeOwned;

use super::communicate::{decode, MessageSender, Routing};
use super::exchange::Exchange;
use super::extra_thief::TaskSource;
use super::ranks::{Kind, MessageError};
use crate::protocol::{Coordinator, Effect, Member, Message, Policy, Status, ToCoordinator, ToMember};

/// The state of `anywhere` on one rank; see the module.
pub(super) struct Anywhere<'s> {
    member: Member,
    /// The coordinator, on rank 0.
    coordinator: Option<Coordinator>,
    source: &'s dyn TaskSource,
    policy: Policy,
    rank: usize,
    ranks: usize,
    /// The number of workers.
    threads: u64,
    /// The number of deliveries of tasks.
    delivered: u64,
    last_report: Instant,
    last_heartbeat: Instant,
    over: bool,
    /// Effects of the member that are not performed yet.
    effects: Vec<Effect>,
}

/// Constant: all ranks run the same exploration. A rank that does not sends other messages.
const IDENTITY: u64 = 0;

/// How often a rank that has tasks reports its load even without a change. A rank that refused an
/// order is not asked again before its next report.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

impl<'s> Anywhere<'s> {
    pub(super) fn new(rank: usize, ranks: usize, threads: usize, source: &'s dyn TaskSource) -> Self {
        let (policy, threads) = (Policy::default(), threads as u64);
        let (mut effects, now) = (Vec::new(), Instant::now());
        Anywhere {
            member: Member::new(IDENTITY, threads, policy, &mut effects),
            coordinator: (rank == 0).then(|| Coordinator::new(ranks, IDENTITY, policy)),
            source,
            policy,
            rank,
            ranks,
            threads,
            delivered: 0,
            last_report: now,
            last_heartbeat: now,
            over: false,
            effects,
        }
    }

    fn status(&self, idle: bool) -> Status {
        // While any worker runs, each worker counts as having a task.
        let open = if idle { 0 } else { self.threads + self.source.queued() };
        Status { open, explored: 0, bound: (!idle).then_some(0) }
    }

    /// Reports how much is open, if a report is due.
    fn report_load(&mut self, now: Instant) {
        let heartbeat = now.duration_since(self.last_heartbeat) >= HEARTBEAT_INTERVAL;
        if heartbeat || now.duration_since(self.last_report) >= self.policy.report_interval(self.ranks) {
            self.last_report = now;
            if heartbeat {
                self.last_heartbeat = now;
            }
            self.member.report_load(self.status(false), heartbeat, &mut self.effects);
        }
    }

    /// Performs the effects of the member, and those that follow on this rank.
    fn perform<T: DeserializeOwned>(
        &mut self,
        sender: &mut MessageSender<'_, '_>,
        exchange: &Exchange<T>,
    ) -> Result<bool, ()> {
        let performed = !self.effects.is_empty();
        while !self.effects.is_empty() {
            // The coordinator may answer at once, so it gets the reports after all other effects.
            let mut reports = Vec::new();
            for effect in std::mem::take(&mut self.effects) {
                match effect {
                    Effect::Report(report) if self.coordinator.is_some() => reports.push(report),
                    Effect::Report(report) => sender.send(0, Kind::Protocol, &Message::ToCoordinator(report).encode()),
                    Effect::Send(rank, message) => self.send(rank, message, sender),
                    Effect::Deliver(packages) => {
                        self.delivered += 1;
                        for package in packages {
                            sender.counts.received += package.nodes();
                            exchange.deliver(decode(package.nodes(), package.bytes()).ok_or(())?);
                        }
                    }
                    Effect::Ask(share) => {
                        let taken = self.source.take(share.fraction());
                        sender.counts.sent += taken.tasks;
                        let package = (taken.tasks > 0).then(|| Package::new(taken.tasks, 0, taken.bytes));
                        let now = self.status(exchange.is_idle());
                        self.member.given(package.into_iter().collect(), now, &mut self.effects);
                    }
                    Effect::End => self.over = true,
                    // The coordinator never asks for these here, and a failed run is stopped by
                    // `Kind::Stop`.
                    Effect::Tell(_) | Effect::Snapshot | Effect::Stop => return Err(()),
                }
            }
            for report in reports {
                self.coordinate(0, report, sender);
            }
        }
        Ok(performed)
    }

    fn coordinate(&mut self, from: usize, report: ToCoordinator, sender: &mut MessageSender<'_, '_>) {
        let Some(coordinator) = &mut self.coordinator else { return };
        let mut orders = Vec::new();
        coordinator.handle(from, report, &mut orders);
        for (to, order) in orders {
            for rank in to.ranks(self.ranks) {
                self.send(rank, order.clone(), sender);
            }
        }
    }

    fn send(&mut self, rank: usize, message: ToMember, sender: &mut MessageSender<'_, '_>) {
        match rank == self.rank {
            true => self.member.handle(message, &mut self.effects),
            false => sender.send(rank, Kind::Protocol, &Message::ToMember(message).encode()),
        }
    }
}

impl<T: DeserializeOwned> Routing<T> for Anywhere<'_> {
    fn handle(
        &mut self,
        message: &super::ranks::Message,
        sender: &mut MessageSender<'_, '_>,
        exchange: &Exchange<T>,
    ) -> Result<(), MessageError> {
        let error = || message.error();
        if message.kind != Kind::Protocol {
            return Err(error());
        }
        match Message::decode(message.body()).map_err(|_| error())? {
            Message::ToCoordinator(report) if self.coordinator.is_some() => {
                self.coordinate(message.from, report, sender);
            }
            Message::ToMember(order) => self.member.handle(order, &mut self.effects),
            Message::ToCoordinator(_) => return Err(error()),
        }
        self.perform(sender, exchange).map(|_| ()).map_err(|()| error())
    }

    fn advance(&mut self, sender: &mut MessageSender<'_, '_>, exchange: &Exchange<T>) -> Result<bool, MessageError> {
        if exchange.is_idle() {
            self.member.searched_all(self.delivered, 0, &mut self.effects);
        } else {
            self.report_load(Instant::now());
        }
        // Effects that no message from another rank caused come from the coordinator.
        self.perform(sender, exchange).map_err(|()| MessageError::new(0))
    }

    fn is_over(&self) -> bool {
        self.over
    }
}

#[cfg(test)]
mod tests {
    use super::super::exchange;
    use super::super::ranks::Ranks;
    use super::super::RankCounts;
    use super::*;
    use crate::network::threads::{self, Delays};
    use crate::protocol::Share;

    /// Queues that report tasks but from which no task can be stolen.
    struct NothingToSteal;

    impl TaskSource for NothingToSteal {
        fn queued(&self) -> u64 {
            100
        }

        fn take(&self, _: f64) -> exchange::Batch {
            exchange::Batch::default()
        }

        fn release(&self) {}
    }

    /// Runs `work` as rank 1 of two.
    fn on_rank_1(work: impl FnOnce(&mut Anywhere<'_>, &mut MessageSender<'_, '_>, &Exchange<u32>)) {
        let mut network = threads::connect(2, Delays::NONE).remove(1);
        let mut ranks = Ranks::new(&mut network);
        ranks.begin_operation();
        let mut sender = MessageSender { ranks: &mut ranks, counts: RankCounts::default() };
        work(&mut Anywhere::new(1, 2, 1, &NothingToSteal), &mut sender, &Exchange::new(vec![1]));
    }

    #[test]
    fn a_rank_that_refused_reports_its_load_again() {
        on_rank_1(|routing, sender, exchange| {
            let report = Effect::Report(ToCoordinator::Status(routing.status(false)));
            let start = routing.last_report;
            let soon = start + routing.policy.report_interval(2);
            routing.report_load(soon);
            assert_eq!(routing.effects.pop(), Some(report.clone()));
            routing.member.handle(ToMember::Give { order: 1, to: 0, share: Share::HALF }, &mut routing.effects);
            routing.perform(sender, exchange).unwrap();
            routing.report_load(soon + routing.policy.report_interval(2));
            assert_eq!(routing.effects, [], "the load has not changed");
            routing.report_load(start + HEARTBEAT_INTERVAL);
            assert_eq!(routing.effects, [report]);
        });
    }

    #[test]
    fn an_unexpected_effect_is_reported_as_an_error_of_rank_0() {
        on_rank_1(|routing, sender, exchange| {
            routing.effects.push(Effect::Snapshot);
            assert_eq!(routing.advance(sender, exchange), Err(MessageError::new(0)));
        });
    }
}
