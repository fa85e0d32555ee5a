//! Ranks that are threads of one process, for tests, with delayed messages.

use std::collections::VecDeque;
use std::sync::mpsc::{channel, Receiver, Sender};

use super::Network;
use crate::random::{mix, STEP};

/// How long messages are delayed, counted in calls of `receive` by the receiver.
///
/// No clock is involved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// The seed of the random delays.
    pub seed: u64,
    /// The longest delay.
    pub most: u64,
}

impl Delays {
    /// No delay: messages arrive as soon as they are sent.
    pub const NONE: Delays = Delays { seed: 0, most: 0 };

    /// Delays each message by up to `most` calls of `receive`, at random from `seed`.
    pub fn up_to(most: u64, seed: u64) -> Delays {
        Delays { seed, most }
    }
}

/// A rank that is a thread; see [`connect`].
#[derive(Debug)]
pub struct Threads {
    rank: usize,
    others: Vec<Sender<(usize, Vec<u8>)>>,
    arrived: Receiver<(usize, Vec<u8>)>,
    /// The delayed messages from each rank: until which call of `receive`, and the message.
    held: Vec<VecDeque<(u64, Vec<u8>)>>,
    /// How often this rank has called `receive`.
    looks: u64,
    most: u64,
    dice: u64,
}

/// Returns `ranks` connected ranks. Move each to a thread of its own.
pub fn connect(ranks: usize, delays: Delays) -> Vec<Threads> {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
    let connected = receivers.into_iter().enumerate().map(|(rank, arrived)| Threads {
        rank,
        others: senders.clone(),
        arrived,
        held: vec![VecDeque::new(); ranks],
        looks: 0,
        most: delays.most,
        dice: delays.seed.wrapping_mul(ranks as u64 + 1).wrapping_add(rank as u64),
    });
    connected.collect()
}

/// Runs `work` on one thread per rank and returns the results in rank order.
///
/// A panic in `work` is passed on.
///
/// ```
/// use filch_mpi::network::threads::{self, Delays};
///
/// let ranks = threads::run(3, Delays::NONE, |network| network.rank());
/// assert_eq!(ranks, [0, 1, 2]);
/// ```
pub fn run<R: Send>(ranks: usize, delays: Delays, work: impl Fn(&mut dyn Network) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let on_rank = |mut network: Threads| {
            let work = &work;
            scope.spawn(move || work(&mut network))
        };
        let threads: Vec<_> = connect(ranks, delays).into_iter().map(on_rank).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

impl Threads {
    /// Returns a random number from 0 to `most`.
    fn roll(&mut self) -> u64 {
        let roll = mix(self.dice);
        self.dice = self.dice.wrapping_add(STEP);
        roll % (self.most + 1)
    }
}

impl Network for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.others.len()
    }

    fn send(&mut self, to: usize, message: Vec<u8>) {
        // A rank that has left does not read its messages.
        let _ = self.others[to].send((self.rank, message));
    }

    fn receive(&mut self) -> Option<(usize, Vec<u8>)> {
        self.looks += 1;
        while let Ok((from, message)) = self.arrived.try_recv() {
            let late = self.roll();
            // No sooner than the message that was sent before it.
            let before = self.held[from].back().map_or(0, |&(until, _)| until);
            self.held[from].push_back((before.max(self.looks) + late, message));
        }
        let looks = self.looks;
        // The first rank to be looked at rotates, so that no rank always comes first.
        let ranks = self.held.len();
        let first = (looks % ranks as u64) as usize;
        let from = (first..first + ranks)
            .map(|from| from % ranks)
            .find(|&from| self.held[from].front().is_some_and(|&(until, _)| until <= looks))?;
        self.held[from].pop_front().map(|(_, message)| (from, message))
    }

    fn is_flushed(&mut self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_between_two_ranks_arrive_once_and_in_order_however_late() {
        for seed in 0..20 {
            let mut ranks = connect(3, Delays::up_to(seed % 7, seed));
            for number in 0..50u8 {
                for rank in &mut ranks {
                    rank.send(2, vec![number]);
                }
            }
            let mut next = [0; 3];
            let mut looks = 0;
            while next.iter().any(|&next| next < 50) {
                looks += 1;
                assert!(looks < 10_000, "something never arrived");
                if let Some((from, message)) = ranks[2].receive() {
                    assert_eq!(message, [next[from]]);
                    next[from] += 1;
                }
            }
            assert_eq!(ranks[2].receive(), None);
        }
    }

    #[test]
    fn delays_change_who_is_heard_first_and_a_seed_repeats_them() {
        let order = |seed| {
            let mut ranks = connect(3, Delays::up_to(5, seed));
            for rank in &mut ranks {
                for _ in 0..10 {
                    rank.send(0, Vec::new());
                }
            }
            let mut order = Vec::new();
            while order.len() < 30 {
                order.extend(ranks[0].receive().map(|(from, _)| from));
            }
            order
        };
        let late = |most, seed| {
            let mut ranks = connect(2, Delays::up_to(most, seed));
            ranks[1].send(0, Vec::new());
            (0..).find(|_| ranks[0].receive().is_some())
        };
        for looks in 0..=5 {
            assert!((0..100).any(|seed| late(5, seed) == Some(looks)), "none of a hundred is late by {looks}");
            assert_eq!(late(0, looks), Some(0));
        }
        assert_eq!(order(1), order(1));
        assert!((2..10).any(|seed| order(seed) != order(1)));
    }
}
