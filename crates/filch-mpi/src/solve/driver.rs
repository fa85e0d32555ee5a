//! A rank's loop between the network, the protocol and its search.
//!
//! The thread sleeps in the port's wait, for a millisecond at most, and checks for messages between
//! two waits. So it takes almost nothing of its core.

use core::time::Duration;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use filch::explore::Cancel;
use filch_dd::port::{Event, Parcel, Port, Totals};
use filch_dd::{Cost, Solution};

use super::desk::Desk;
use super::options::{Failure, Options, Solved};
use super::silence::{sentence, Silence};
use crate::network::Network;
use crate::protocol::{Answer, Effect, Member, Message, Policy, RankStatistics, Status, To, ToCoordinator, ToMember};

/// Waits grow from the first to the second while nothing happens.
pub(crate) const SHORTEST_WAIT: Duration = Duration::from_micros(50);
pub(crate) const LONGEST_WAIT: Duration = Duration::from_millis(1);

/// How often a rank sends a sign of life.
const PULSE: Duration = Duration::from_secs(1);

/// How many messages are handled before the events of the search.
const MESSAGES: usize = 256;

/// How long to wait until the last messages of a failed run have left.
const FLUSH: Duration = Duration::from_secs(5);

/// The search of this rank.
#[derive(Clone, Copy)]
pub(super) struct Task<'t> {
    pub(super) port: &'t Port,
    pub(super) minimise: bool,
    /// Returns whether its thread has ended.
    pub(super) is_gone: &'t dyn Fn() -> bool,
    /// Why it failed.
    pub(super) failure: &'t Mutex<Option<String>>,
}

impl Task<'_> {
    /// Converts a cost to the protocol's worth, where more is better, and back.
    pub(super) fn turn(&self, cost: Cost) -> Cost {
        if self.minimise {
            cost.saturating_neg()
        } else {
            cost
        }
    }

    pub(super) fn answer(&self, solution: &Solution) -> Answer {
        let bytes = postcard::to_stdvec(solution).expect("a solution has nothing in it that postcard cannot write");
        Answer { worth: self.turn(solution.cost), bytes }
    }
}

/// Communicates for this rank until the run is over.
pub(super) fn drive(
    network: &mut dyn Network,
    task: Task<'_>,
    mut options: Options<'_>,
) -> Result<Option<Solved>, Failure> {
    let on_checkpoint = options.on_checkpoint.take();
    std::thread::scope(|scope| {
        let (rank, ranks) = (network.rank(), network.ranks());
        let mut effects = Vec::new();
        let member = Member::new(options.identity, options.threads as u64, options.policy, &mut effects);
        let mut out = Vec::new();
        let desk = (rank == 0).then(|| Desk::new(scope, ranks, task, &mut options, on_checkpoint, &mut out));
        let now = Instant::now();
        let mut driver = Driver {
            network,
            task,
            rank,
            ranks,
            policy: options.policy,
            cancel: options.cancel.take(),
            member,
            desk,
            statistics: RankStatistics { host: core::mem::take(&mut options.host), ..RankStatistics::default() },
            patience: options.patience,
            silence: None,
            start: now,
            pulsed: now,
            looked: now,
            ended: false,
            quit: false,
        };
        driver.perform(effects);
        driver.post(out);
        driver.run();
        driver.finish()
    })
}

struct Driver<'t, 'n, 'h> {
    network: &'n mut dyn Network,
    task: Task<'t>,
    rank: usize,
    ranks: usize,
    policy: Policy,
    cancel: Option<Cancel>,
    member: Member,
    /// The coordinator's desk, on rank 0.
    desk: Option<Desk<'t, 'h>>,
    statistics: RankStatistics,
    patience: Duration,
    /// How long rank 0 has been silent. Counted from its first message, as it may read its input
    /// for long before that. `None` on rank 0.
    silence: Option<Silence>,
    start: Instant,
    pulsed: Instant,
    looked: Instant,
    /// Whether the search has ended.
    ended: bool,
    /// Whether the coordinator was told that this rank was cancelled.
    quit: bool,
}

impl Driver<'_, '_, '_> {
    fn run(&mut self) {
        let mut wait = SHORTEST_WAIT;
        let mut turn = self.start;
        while !self.is_over() {
            let heard = self.hear();
            let was_idle = self.member.is_idle();
            let gone = (self.task.is_gone)();
            let before = Instant::now();
            let events = self.task.port.events(wait);
            let after = Instant::now();
            let happened = heard || !events.is_empty();
            for event in events {
                self.happened(event);
            }
            // The thread ended without an event: it panicked before the search began.
            if gone && !self.ended {
                self.failed();
            }
            self.look(after);
            wait = if happened { SHORTEST_WAIT } else { (wait * 2).min(LONGEST_WAIT) };
            self.statistics.communicating += nanoseconds(before.duration_since(turn));
            if was_idle {
                self.statistics.idle += nanoseconds(after.duration_since(turn));
            }
            turn = after;
        }
    }

    fn is_over(&self) -> bool {
        let coordinated = self.desk.as_ref().is_none_or(|desk| desk.coordinator.is_over());
        self.ended && self.member.is_over() && coordinated
    }

    fn finish(self) -> Result<Option<Solved>, Failure> {
        let since = Instant::now();
        while !self.network.is_flushed() && (self.failure().is_none() || since.elapsed() < FLUSH) {
            std::thread::sleep(LONGEST_WAIT);
        }
        match (self.failure(), self.desk) {
            (Some(why), _) => Err(Failure(why)),
            (None, Some(desk)) => Ok(Some(desk.finish(self.start.elapsed()))),
            (None, None) => Ok(None),
        }
    }

    fn failure(&self) -> Option<String> {
        let failure = self.desk.as_ref().and_then(|desk| desk.coordinator.failure());
        failure.or(self.member.failure()).map(str::to_owned)
    }

    /// Handles messages that have arrived. Returns whether there were any.
    fn hear(&mut self) -> bool {
        for heard in 0..MESSAGES {
            let Some((from, bytes)) = self.network.receive() else { return heard > 0 };
            self.statistics.messages_received += 1;
            if from == 0 && self.rank != 0 {
                let now = Instant::now();
                self.silence.get_or_insert_with(|| Silence::new(1, now)).heard(0, now);
            }
            let mut effects = Vec::new();
            match Message::decode(&bytes) {
                Ok(Message::ToCoordinator(message)) => self.coordinate(from, message),
                Ok(Message::ToMember(ToMember::Give { to, .. })) if to >= self.ranks => self.member.fail(
                    format!("from rank {from}: nodes were to be given to rank {to}, which there is not; do all ranks run the same build of the program?"),
                    &mut effects,
                ),
                Ok(Message::ToMember(message)) => self.member.handle(message, &mut effects),
                Err(why) => self.member.fail(format!("from rank {from}: {why}"), &mut effects),
            }
            self.perform(effects);
        }
        true
    }

    fn happened(&mut self, event: Event) {
        let mut effects = Vec::new();
        match event {
            Event::Given(parcels) => {
                let status = self.status();
                self.member.given(parcels, status, &mut effects);
            }
            Event::Snapshot(parcels, totals) => self.member.snapshot(parcels, totals, &mut effects),
            Event::Found(solution) => self.member.found(self.task.answer(&solution), &mut effects),
            Event::Idle { delivered } => {
                let explored = self.status().explored;
                self.member.searched_all(delivered, explored, &mut effects);
            }
            Event::Ended { left, totals } => self.ended(left, totals),
            Event::Failed => self.failed(),
            _ => {}
        }
        self.perform(effects);
    }

    fn ended(&mut self, left: Vec<Parcel>, totals: Totals) {
        self.ended = true;
        self.statistics.elapsed = nanoseconds(self.start.elapsed());
        let mut effects = Vec::new();
        self.member.ended(left, totals, self.statistics.clone(), &mut effects);
        self.perform(effects);
    }

    fn failed(&mut self) {
        self.ended = true;
        // The search sends the event as its last action. Its thread ends soon, and then the reason
        // is known.
        while !(self.task.is_gone)() {
            std::thread::sleep(SHORTEST_WAIT);
        }
        let failure = self.task.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.give_up(failure.unwrap_or_else(|| "its search panicked".to_owned()));
    }

    /// Reports that this rank cannot go on.
    fn give_up(&mut self, why: String) {
        let mut effects = Vec::new();
        self.member.fail(why, &mut effects);
        self.perform(effects);
    }

    /// Performs the periodic actions.
    fn look(&mut self, now: Instant) {
        let mut effects = Vec::new();
        let pulse = now.duration_since(self.pulsed) >= PULSE;
        if pulse || now.duration_since(self.looked) >= self.policy.pace(self.ranks) {
            self.looked = now;
            let status = self.status();
            self.member.look(status, pulse, &mut effects);
            if pulse {
                self.pulsed = now;
            }
        }
        if !self.quit && self.cancel.as_ref().is_some_and(Cancel::is_cancelled) {
            self.quit = true;
            self.member.quit(&mut effects);
        }
        self.perform(effects);
        if let Some(silence) = &mut self.silence {
            silence.look(now);
            // Some launchers do not end all ranks when one dies. Without this check the ranks would
            // wait for rank 0 forever.
            if silence.of(0, now) > self.patience && !self.member.is_leaving() {
                self.give_up(sentence(0, self.patience));
            }
        }
        if let Some(desk) = &mut self.desk {
            let mut out = Vec::new();
            desk.look(now, now.duration_since(self.start), &mut out);
            self.post(out);
        }
    }

    fn status(&self) -> Status {
        let standing = self.task.port.standing();
        Status { open: standing.open, explored: standing.explored, bound: standing.bound }
    }

    fn coordinate(&mut self, from: usize, message: ToCoordinator) {
        let Some(desk) = &mut self.desk else { return };
        let mut out = Vec::new();
        desk.handle(from, message, self.start.elapsed(), &mut out);
        self.post(out);
    }

    /// Sends the coordinator's messages. Those to this rank are handled at once.
    fn post(&mut self, out: Vec<(To, ToMember)>) {
        for (to, message) in out {
            let message = Message::ToMember(message);
            let bytes = if to == To::Rank(0) { Vec::new() } else { message.encode() };
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
        let port = self.task.port;
        // Reports to the coordinator on this rank come last: it may answer at once.
        let mut reports = Vec::new();
        for effect in effects {
            match effect {
                Effect::Report(message) if self.rank == 0 => reports.push(message),
                Effect::Report(message) => self.send(0, Message::ToCoordinator(message).encode()),
                Effect::Send(to, message) => self.send(to, Message::ToMember(message).encode()),
                Effect::Deliver(parcels) => {
                    if port.deliver(parcels).is_err() && !self.member.is_over() {
                        self.give_up("nodes came for a search that had ended".to_owned());
                    }
                }
                Effect::Ask(share) => port.ask(share.fraction()),
                Effect::Tell(answer) => match postcard::from_bytes(&answer.bytes) {
                    Ok(solution) => port.tell(solution),
                    Err(_) => self.give_up("a solution from another rank could not be read".to_owned()),
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
