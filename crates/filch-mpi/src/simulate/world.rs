//! All ranks and the coordinator, in virtual time.

use core::time::Duration;

use super::outcome::{Failure, Histogram, Outcome};
use super::queue::{Queue, Time};
use super::rank::{self, Rank};
use super::server::Server;
use super::settings::{Costs, Settings};
use super::stopwatch::Stopwatch;
use super::tree::{Node, Size, Tree};
use crate::protocol::{ToCoordinator, ToMember};
use crate::random::{below, mix_two};

/// The size of a message without nodes. It counts the bytes of the protocol and of the library.
const MESSAGE_BYTES: u64 = 64;

/// An event.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The message at this place of `in_transit` arrives.
    Arrive(usize),
    /// The communicating thread of a rank wakes.
    Poll(usize),
    /// The coordinator is free for the next message.
    Serve,
    /// A better solution of this worth is found.
    Find(i64),
}

#[derive(Debug)]
enum Message {
    ToCoordinator(usize, ToCoordinator),
    ToMember(usize, ToMember, Vec<Node>),
}

struct World<'a> {
    settings: &'a Settings,
    tree: &'a Tree,
    queue: Queue<Event>,
    ranks: Vec<Rank>,
    server: Server,
    /// Messages in transit, and the free places.
    in_transit: Vec<Option<Message>>,
    free_places: Vec<usize>,
    sent: u64,
    hunger: Histogram,
    moved: u64,
}

/// Simulates a run of the whole tree.
///
/// # Errors
///
/// If nodes were lost or duplicated, or the run does not end.
pub fn run(tree: &Tree, settings: &Settings) -> Result<Outcome, Failure> {
    let mut world = World::new(tree, settings);
    world.run()
}

/// Simulates a run and measures the cost of messages for the coordinator on this machine.
///
/// The costs to receive and to send are those of the library, and are taken from the settings.
///
/// # Errors
///
/// As [`run`].
pub fn calibrate(tree: &Tree, settings: &Settings) -> Result<Costs, Failure> {
    let mut world = World::new(tree, settings);
    world.server.stopwatch = Some(Stopwatch::new());
    world.run()?;
    let stopwatch = world.server.stopwatch.take().expect("the stopwatch was set above");
    Ok(stopwatch.costs(settings.costs.receive, settings.costs.send))
}

impl<'a> World<'a> {
    fn new(tree: &'a Tree, settings: &'a Settings) -> Self {
        let backoff = settings.backoff();
        let mut world = World {
            settings,
            tree,
            queue: Queue::new(),
            ranks: Vec::with_capacity(settings.ranks),
            server: Server::new(settings.ranks, settings.policy, settings.costs, backoff),
            in_transit: Vec::new(),
            free_places: Vec::new(),
            sent: 0,
            hunger: Histogram::new(),
            moved: 0,
        };
        let mut out = Vec::new();
        for rank in 0..settings.ranks {
            let mut new = Rank::new(rank, settings, &mut out);
            if rank == 0 {
                new.start_with_root(tree);
            }
            world.ranks.push(new);
            world.send(0, rank, &mut out);
            world.queue.push(0, Event::Poll(rank));
            world.ranks[rank].next_poll = Some(0);
        }
        // Better solutions become rarer: each takes twice as long as the one before.
        let ideal = tree.size().work as f64 / (settings.ranks * settings.threads) as f64;
        for number in 0..settings.solutions {
            let at = ideal / 2f64.powi((settings.solutions - number) as i32);
            world.queue.push(at as Time, Event::Find(i64::from(number)));
        }
        world
    }

    fn run(&mut self) -> Result<Outcome, Failure> {
        let mut out = Vec::new();
        let mut outgoing = Vec::new();
        let mut now = 0;
        while !self.server.coordinator().is_over() {
            let Some((at, event)) = self.queue.pop() else {
                let done = self.done().nodes;
                let nodes = self.tree.size().nodes;
                return Err(Failure::Stuck { at: Duration::from_nanos(now), done, nodes });
            };
            debug_assert!(at >= now, "time does not run backwards");
            now = at;
            match event {
                Event::Arrive(place) => self.arrive(now, place),
                Event::Poll(rank) => {
                    let next = self.ranks[rank].poll(now, self.tree, self.settings, &mut self.hunger, &mut out);
                    self.send(now, rank, &mut out);
                    if let Some(next) = next {
                        self.queue.push(next, Event::Poll(rank));
                    }
                }
                Event::Serve => {
                    if let Some(done) = self.server.serve(now, &mut outgoing) {
                        self.queue.push(done, Event::Serve);
                    }
                    for (at, to, message) in outgoing.drain(..) {
                        self.transmit(at, 0, to, Message::ToMember(to, message, Vec::new()), 0);
                    }
                }
                Event::Find(worth) => {
                    let random = mix_two(self.settings.seed ^ 0xF0_0D, worth as u64);
                    let rank = below(random, self.settings.ranks as u64) as usize;
                    self.ranks[rank].report_solution(worth, &mut out);
                    self.send(now, rank, &mut out);
                }
            }
        }
        self.outcome(now)
    }

    fn arrive(&mut self, now: Time, place: usize) {
        let message = self.in_transit[place].take().expect("a message arrives once");
        self.free_places.push(place);
        match message {
            Message::ToCoordinator(from, message) => {
                if let Some(at) = self.server.arrive(now, from, message) {
                    self.queue.push(at, Event::Serve);
                }
            }
            Message::ToMember(to, message, nodes) => {
                if let Some(at) = self.ranks[to].arrive(now, message, nodes) {
                    self.queue.push(at, Event::Poll(to));
                }
            }
        }
    }

    /// Sends the outgoing messages of a rank.
    fn send(&mut self, now: Time, from: usize, out: &mut Vec<rank::Outgoing>) {
        for outgoing in out.drain(..) {
            match outgoing {
                rank::Outgoing::Report(message) => {
                    self.transmit(now, from, 0, Message::ToCoordinator(from, message), 0);
                }
                rank::Outgoing::Send(to, message, nodes) => {
                    let count = nodes.len() as u64;
                    self.moved += count;
                    self.transmit(
                        now,
                        from,
                        to,
                        Message::ToMember(to, message, nodes),
                        count * self.settings.node_bytes,
                    );
                }
            }
        }
    }

    fn transmit(&mut self, now: Time, from: usize, to: usize, message: Message, bytes: u64) {
        self.sent += 1;
        #[cfg(test)]
        if self.settings.lose == Some(self.sent) {
            return;
        }
        let arrival =
            if from == to { now } else { self.ranks[from].link.send(now, MESSAGE_BYTES + bytes, &self.settings.wire) };
        let place = self.free_places.pop().unwrap_or_else(|| {
            self.in_transit.push(None);
            self.in_transit.len() - 1
        });
        self.in_transit[place] = Some(message);
        self.queue.push(arrival, Event::Arrive(place));
    }

    fn done(&self) -> Size {
        self.ranks.iter().map(|rank| rank.workers().done()).fold(Size::default(), Size::plus)
    }

    fn outcome(&mut self, now: Time) -> Result<Outcome, Failure> {
        if let Some(why) = self.server.coordinator().failure().or_else(|| self.ranks.iter().find_map(Rank::failure)) {
            return Err(Failure::Protocol(why.to_owned()));
        }
        let done = self.done();
        if done != self.tree.size() {
            return Err(Failure::Lost { done: done.nodes, nodes: self.tree.size().nodes });
        }
        let kinds = self.server.kinds;
        Ok(Outcome {
            elapsed: Duration::from_nanos(now),
            done,
            threads: self.settings.ranks * self.settings.threads,
            messages: kinds.iter().sum(),
            kinds: kinds.to_vec(),
            busy: Duration::from_nanos(self.server.busy as u64),
            queueing: self.server.queueing.summary(),
            hunger: self.hunger.summary(),
            orders: self.server.coordinator().orders(),
            refused: kinds[super::settings::Kind::Refused as usize],
            moved: self.moved,
        })
    }
}
