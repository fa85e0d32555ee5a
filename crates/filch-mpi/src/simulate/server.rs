//! The coordinator as a server that handles one message at a time.

use std::collections::VecDeque;

use super::backoff::Backoff;
use super::outcome::Histogram;
use super::queue::Time;
use super::settings::{Costs, Kind};
use super::stopwatch::Stopwatch;
use crate::protocol::{Coordinator, Destination, Policy, ToCoordinator, ToMember};

/// The coordinator with its queue of messages.
#[derive(Debug)]
pub(super) struct Server {
    coordinator: Coordinator,
    costs: Costs,
    /// The messages that have arrived, with their times and senders.
    inbox: VecDeque<(Time, usize, ToCoordinator)>,
    /// Whether its queue has been empty since it last checked.
    asleep: bool,
    backoff: Backoff,
    ranks: usize,
    /// How long it was busy, in nanoseconds.
    pub(super) busy: f64,
    pub(super) kinds: [u64; Kind::ALL.len()],
    pub(super) queueing: Histogram,
    /// Measures the cost of messages on this machine.
    pub(super) stopwatch: Option<Stopwatch>,
}

/// An outgoing message of the coordinator: the time, the receiver, the message.
pub(super) type TimedMessage = (Time, usize, ToMember);

impl Server {
    pub(super) fn new(ranks: usize, policy: Policy, costs: Costs, backoff: Backoff) -> Server {
        Server {
            coordinator: Coordinator::new(ranks, 0, policy),
            costs,
            inbox: VecDeque::new(),
            asleep: true,
            backoff,
            ranks,
            busy: 0.0,
            kinds: [0; Kind::ALL.len()],
            queueing: Histogram::new(),
            stopwatch: None,
        }
    }

    pub(super) fn coordinator(&self) -> &Coordinator {
        &self.coordinator
    }

    /// Adds a message that has arrived. Returns when the coordinator sees it, if it is asleep.
    pub(super) fn arrive(&mut self, now: Time, from: usize, message: ToCoordinator) -> Option<Time> {
        self.inbox.push_back((now, from, message));
        core::mem::take(&mut self.asleep).then(|| self.backoff.next_check_after(now))
    }

    /// Handles the next message and adds the answers to `out`. Returns when it is done, or `None`
    /// if there was no message and it sleeps.
    pub(super) fn serve(&mut self, now: Time, out: &mut Vec<TimedMessage>) -> Option<Time> {
        let Some((arrived, from, message)) = self.inbox.pop_front() else {
            self.asleep = true;
            self.backoff.record_check(now, true);
            return None;
        };
        let kind = Kind::of(&message);
        self.kinds[kind as usize] += 1;
        self.queueing.add(now - arrived);

        let mut answers: Vec<(Destination, ToMember)> = Vec::new();
        match &mut self.stopwatch {
            Some(stopwatch) => stopwatch.handle(&mut self.coordinator, from, message, &mut answers),
            None => self.coordinator.handle(from, message, &mut answers),
        }
        let mut spent = self.costs.receive + self.costs.handle[kind as usize];
        for (to, message) in answers {
            for rank in to.ranks(self.ranks) {
                spent += self.costs.send;
                out.push((now + spent as Time, rank, message.clone()));
            }
        }
        self.busy += spent;
        Some(now + spent as Time)
    }
}
