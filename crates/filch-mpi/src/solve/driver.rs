//! A rank's loop between the network, the protocol and its search.
//!
//! The thread sleeps in the port's wait, for a millisecond at most, and checks for messages between
//! two waits. So it takes almost nothing of its core.

use core::time::Duration;
use std::sync::Mutex;
use std::time::Instant;

use filch::explore::Cancel;
use filch_dd::port::{Event, Package, Port, Totals};
use filch_dd::{Cost, Solution};

use super::options::{Failure, Options, Solved};
use super::rank_zero::RankZero;
use super::silence::{silence_error, Silence};
use crate::network::Network;
use crate::protocol::{
    Destination, Effect, EncodedSolution, Member, Message, Policy, RankStatistics, Status, ToCoordinator, ToMember,
};
use crate::sync::lock;

/// Waits grow from the first to the second while nothing happens.
pub(crate) const SHORTEST_WAIT: Duration = Duration::from_micros(50);
pub(crate) const LONGEST_WAIT: Duration = Duration::from_millis(1);

/// How often a rank sends a heartbeat.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

/// How many messages are handled before the events of the search.
const MESSAGES_PER_TURN: usize = 256;

/// How long to wait until the last messages of a failed run have left.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// The search of this rank.
#[derive(Clone, Copy)]
pub(super) struct SearchHandle<'t> {
    pub(super) port: &'t Port,
    pub(super) minimise: bool,
    /// Returns whether its thread has ended.
    pub(super) has_exited: &'t dyn Fn() -> bool,
    /// Why it failed.
    pub(super) failure: &'t Mutex<Option<String>>,
}

impl SearchHandle<'_> {
    /// Converts a cost to the protocol's worth, where more is better, and back.
    pub(super) fn negate_if_minimising(&self, cost: Cost) -> Cost {
        if self.minimise {
            cost.saturating_neg()
        } else {
            cost
        }
    }

    pub(super) fn encode(&self, solution: &Solution) -> EncodedSolution {
        let bytes = postcard::to_stdvec(solution).expect("postcard can encode every solution");
        EncodedSolution { worth: self.negate_if_minimising(solution.cost), bytes }
    }
}

/// Communicates for this rank until the run is over.
pub(super) fn drive(
    network: &mut dyn Network,
    search: SearchHandle<'_>,
    mut options: Options<'_>,
) -> Result<Option<Solved>, Failure> {
    let on_checkpoint = options.on_checkpoint.take();
    std::thread::scope(|scope| {
        let (rank, ranks) = (network.rank(), network.ranks());
        let mut effects = Vec::new();
        let member = Member::new(options.identity, options.threads as u64, options.policy, &mut effects);
        let mut out = Vec::new();
        let rank_zero = (rank == 0).then(|| RankZero::new(scope, ranks, search, &mut options, on_checkpoint, &mut out));
        let now = Instant::now();
        let mut driver = Driver {
            network,
            search,
            rank,
            ranks,
            policy: options.policy,
            cancel: options.cancel.take(),
            member,
            rank_zero,
            statistics: RankStatistics { host: core::mem::take(&mut options.host), ..RankStatistics::default() },
            silence_timeout: options.silence_timeout,
            silence: None,
            start: now,
            last_heartbeat: now,
            last_report: now,
            ended: false,
            cancel_reported: false,
        };
        driver.perform(effects);
        driver.send_orders(out);
        driver.run();
        driver.finish()
    })
}

struct Driver<'t, 'n, 'h> {
    network: &'n mut dyn Network,
    search: SearchHandle<'t>,
    rank: usize,
    ranks: usize,
    policy: Policy,
    cancel: Option<Cancel>,
    member: Member,
    /// The work of the coordinator, on rank 0.
    rank_zero: Option<RankZero<'t, 'h>>,
    statistics: RankStatistics,
    silence_timeout: Duration,
    /// How long rank 0 has been silent. Counted from its first message, as it may read its input
    /// for long before that. `None` on rank 0.
    silence: Option<Silence>,
    start: Instant,
    last_heartbeat: Instant,
    last_report: Instant,
    /// Whether the search has ended.
    ended: bool,
    /// Whether this rank has reported to the coordinator that it was cancelled.
    cancel_reported: bool,
}

impl Driver<'_, '_, '_> {
    fn run(&mut self) {
        let mut wait = SHORTEST_WAIT;
        let mut turn_start = self.start;
        while !self.is_over() {
            let received = self.handle_messages();
            let was_idle = self.member.is_idle();
            let exited = (self.search.has_exited)();
            let before = Instant::now();
            let events = self.search.port.events(wait);
            let after = Instant::now();
            let happened = received || !events.is_empty();
            for event in events {
                self.handle_event(event);
            }
            // The thread ended without an event: it panicked before the search began.
            if exited && !self.ended {
                self.search_failed();
            }
            self.tick(after);
            wait = if happened { SHORTEST_WAIT } else { (wait * 2).min(LONGEST_WAIT) };
            self.statistics.communicating += nanoseconds(before.duration_since(turn_start));
            if was_idle {
                self.statistics.idle += nanoseconds(after.duration_since(turn_start));
            }
            turn_start = after;
        }
    }

    fn is_over(&self) -> bool {
        let coordinated = self.rank_zero.as_ref().is_none_or(|rank_zero| rank_zero.coordinator.is_over());
        self.ended && self.member.is_over() && coordinated
    }

    fn finish(self) -> Result<Option<Solved>, Failure> {
        let since = Instant::now();
        while !self.network.is_flushed() && (self.failure().is_none() || since.elapsed() < FLUSH_TIMEOUT) {
            std::thread::sleep(LONGEST_WAIT);
        }
        match (self.failure(), self.rank_zero) {
            (Some(why), _) => Err(Failure(why)),
            (None, Some(rank_zero)) => Ok(Some(rank_zero.finish(self.start.elapsed()))),
            (None, None) => Ok(None),
        }
    }

    fn failure(&self) -> Option<String> {
        let failure = self.rank_zero.as_ref().and_then(|rank_zero| rank_zero.coordinator.failure());
        failure.or(self.member.failure()).map(str::to_owned)
    }

    /// Handles messages that have arrived. Returns whether there were any.
    fn handle_messages(&mut self) -> bool {
        for received in 0..MESSAGES_PER_TURN {
            let Some((from, bytes)) = self.network.receive() else { return received > 0 };
            self.statistics.messages_received += 1;
            if from == 0 && self.rank != 0 {
                let now = Instant::now();
                self.silence.get_or_insert_with(|| Silence::new(1, now)).record_message(0, now);
            }
            let mut effects = Vec::new();
            match Message::decode(&bytes) {
                Ok(Message::ToCoordinator(message)) => self.coordinate(from, message),
                Ok(Message::ToMember(ToMember::Give { to, .. })) if to >= self.ranks => self.member.fail(
                    format!("from rank {from}: an order to give nodes to rank {to}, which does not exist; run the same build of the program on all ranks"),
                    &mut effects,
                ),
                Ok(Message::ToMember(message)) => self.member.handle(message, &mut effects),
                Err(why) => self.member.fail(format!("from rank {from}: {why}"), &mut effects),
            }
            self.perform(effects);
        }
        true
    }

    fn handle_event(&mut self, event: Event) {
        let mut effects = Vec::new();
        match event {
            Event::Given(packages) => {
                let status = self.status();
                self.member.given(packages, status, &mut effects);
            }
            Event::Snapshot(packages, totals) => self.member.snapshot(packages, totals, &mut effects),
            Event::Found(solution) => self.member.found(self.search.encode(&solution), &mut effects),
            Event::Idle { delivered } => {
                let explored = self.status().explored;
                self.member.searched_all(delivered, explored, &mut effects);
            }
            Event::Ended { left, totals } => self.search_ended(left, totals),
            Event::Failed => self.search_failed(),
            _ => {}
        }
        self.perform(effects);
    }

    fn search_ended(&mut self, left: Vec<Package>, totals: Totals) {
        self.ended = true;
        self.statistics.elapsed = nanoseconds(self.start.elapsed());
        let mut effects = Vec::new();
        self.member.ended(left, totals, self.statistics.clone(), &mut effects);
        self.perform(effects);
    }

    fn search_failed(&mut self) {
        self.ended = true;
        // The search sends the event as its last action. Its thread ends soon, and then the reason
        // is known.
        while !(self.search.has_exited)() {
            std::thread::sleep(SHORTEST_WAIT);
        }
        let failure = lock(self.search.failure).take();
        self.fail(failure.unwrap_or_else(|| "its search panicked".to_owned()));
    }

    /// Reports that this rank cannot go on.
    fn fail(&mut self, why: String) {
        let mut effects = Vec::new();
        self.member.fail(why, &mut effects);
        self.perform(effects);
    }

    /// Performs the periodic actions.
    fn tick(&mut self, now: Instant) {
        let mut effects = Vec::new();
        let heartbeat = now.duration_since(self.last_heartbeat) >= HEARTBEAT_INTERVAL;
        if heartbeat || now.duration_since(self.last_report) >= self.policy.report_interval(self.ranks) {
            self.last_report = now;
            let status = self.status();
            self.member.report_load(status, heartbeat, &mut effects);
            if heartbeat {
                self.last_heartbeat = now;
            }
        }
        if !self.cancel_reported && self.cancel.as_ref().is_some_and(Cancel::is_cancelled) {
            self.cancel_reported = true;
            self.member.quit(&mut effects);
        }
        self.perform(effects);
        if let Some(silence) = &mut self.silence {
            silence.tick(now);
            // Some launchers do not end all ranks when one dies. Without this check the ranks would
            // wait for rank 0 forever.
            if silence.since_last_message(0, now) > self.silence_timeout && !self.member.is_leaving() {
                self.fail(silence_error(0, self.silence_timeout));
            }
        }
        if let Some(rank_zero) = &mut self.rank_zero {
            let mut out = Vec::new();
            rank_zero.tick(now, now.duration_since(self.start), &mut out);
            self.send_orders(out);
        }
    }

    fn status(&self) -> Status {
        let standing = self.search.port.standing();
        Status { open: standing.open, explored: standing.explored, bound: standing.bound }
    }

    fn coordinate(&mut self, from: usize, message: ToCoordinator) {
        let Some(rank_zero) = &mut self.rank_zero else { return };
        let mut out = Vec::new();
        rank_zero.handle(from, message, self.start.elapsed(), &mut out);
        self.send_orders(out);
    }

    /// Sends the coordinator's messages. Those to this rank are handled at once.
    fn send_orders(&mut self, out: Vec<(Destination, ToMember)>) {
        for (to, message) in out {
            let message = Message::ToMember(message);
            let bytes = if to == Destination::Rank(0) { Vec::new() } else { message.encode() };
            for to in to.ranks(self.ranks).filter(|&to| to != 0) {
                self.send(to, bytes.clone());
            }
            if let (true, Message::ToMember(message)) = (to.ranks(self.ranks).any(|to| to == 0), message) {
                let mut effects = Vec::new();
                self.member.handle(message, &mut effects);
                self.perform(effects);
            }
        }
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        let port = self.search.port;
        // Reports to the coordinator on this rank come last: it may answer at once.
        let mut reports = Vec::new();
        for effect in effects {
            match effect {
                Effect::Report(message) if self.rank == 0 => reports.push(message),
                Effect::Report(message) => self.send(0, Message::ToCoordinator(message).encode()),
                Effect::Send(to, message) => self.send(to, Message::ToMember(message).encode()),
                Effect::Deliver(packages) => {
                    if port.deliver(packages).is_err() && !self.member.is_over() {
                        self.fail("nodes arrived after the search had ended".to_owned());
                    }
                }
                Effect::Ask(share) => port.ask(share.fraction()),
                Effect::Tell(solution) => match postcard::from_bytes(&solution.bytes) {
                    Ok(solution) => port.tell(solution),
                    Err(_) => self.fail("cannot decode a solution from another rank".to_owned()),
                },
                Effect::Snapshot => port.snapshot(),
                Effect::Stop => port.stop(),
                Effect::End => port.end(),
            }
        }
        for message in reports {
            self.coordinate(0, message);
        }
    }

    fn send(&mut self, to: usize, bytes: Vec<u8>) {
        self.statistics.messages_sent += 1;
        self.network.send(to, bytes);
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
