//! Ranks that are threads of one process, for tests, with delayed messages.

use std::collections::VecDeque;
use std::sync::mpsc::{channel, Receiver, Sender};

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

use super::Network;

/// How long messages are delayed, counted in calls of `receive` by the receiver.
///
/// No clock is involved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// The seed of the random delays.
    pub seed: u64,
    /// The longest delay.
    pub longest: u64,
}

impl Delays {
    /// No delay: messages arrive as soon as they are sent.
    pub const NONE: Delays = Delays { seed: 0, longest: 0 };

    /// Delays each message by up to `longest` calls of `receive`, at random from `seed`.
    pub fn up_to(longest: u64, seed: u64) -> Delays {
        Delays { seed, longest }
    }
}

/// A rank that is a thread; see [`connect`].
#[derive(Debug)]
pub struct Threads {
    rank: usize,
    senders: Vec<Sender<(usize, Vec<u8>)>>,
    receiver: Receiver<(usize, Vec<u8>)>,
    /// The delayed messages from each rank: until which call of `receive`, and the message.
    delayed: Vec<VecDeque<(u64, Vec<u8>)>>,
    /// How often this rank has called `receive`.
    receives: u64,
    longest: u64,
    random: SplitMix64,
}

/// Returns `ranks` connected ranks. Move each to a thread of its own.
pub fn connect(ranks: usize, delays: Delays) -> Vec<Threads> {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
    let connected = receivers.into_iter().enumerate().map(|(rank, receiver)| Threads {
        rank,
        senders: senders.clone(),
        receiver,
        delayed: vec![VecDeque::new(); ranks],
        receives: 0,
        longest: delays.longest,
        random: SplitMix64::seed_from_u64(delays.seed.wrapping_mul(ranks as u64 + 1).wrapping_add(rank as u64)),
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
    /// Returns a random number from 0 to `longest`.
    fn random_delay(&mut self) -> u64 {
        self.random.next_u64() % (self.longest + 1)
    }
}

impl Network for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.senders.len()
    }

    fn send(&mut self, to: usize, message: Vec<u8>) {
        // A rank that has left does not read its messages.
        let _ = self.senders[to].send((self.rank, message));
    }

    fn receive(&mut self) -> Option<(usize, Vec<u8>)> {
        self.receives += 1;
        while let Ok((from, message)) = self.receiver.try_recv() {
            let late = self.random_delay();
            // No sooner than the message that was sent before it.
            let earlier = self.delayed[from].back().map_or(0, |&(until, _)| until);
            self.delayed[from].push_back((earlier.max(self.receives) + late, message));
        }
        let receives = self.receives;
        // The first rank to be looked at rotates, so that no rank always comes first.
        let ranks = self.delayed.len();
        let first = (receives % ranks as u64) as usize;
        let from = (first..first + ranks)
            .map(|from| from % ranks)
            .find(|&from| self.delayed[from].front().is_some_and(|&(until, _)| until <= receives))?;
        self.delayed[from].pop_front().map(|(_, message)| (from, message))
    }

    fn is_flushed(&mut self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_between_two_ranks_arrive_once_and_in_order_with_any_delay() {
        for seed in 0..20 {
            let mut ranks = connect(3, Delays::up_to(seed % 7, seed));
            for number in 0..50u8 {
                for rank in &mut ranks {
                    rank.send(2, vec![number]);
                }
            }
            let mut next = [0; 3];
            let mut receives = 0;
            while next.iter().any(|&next| next < 50) {
                receives += 1;
                assert!(receives < 10_000, "a message did not arrive");
                if let Some((from, message)) = ranks[2].receive() {
                    assert_eq!(message, [next[from]]);
                    next[from] += 1;
                }
            }
            assert_eq!(ranks[2].receive(), None);
        }
    }

    #[test]
    fn delays_change_the_order_of_arrival_and_a_seed_repeats_it() {
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
        let late = |longest, seed| {
            let mut ranks = connect(2, Delays::up_to(longest, seed));
            ranks[1].send(0, Vec::new());
            (0..).find(|_| ranks[0].receive().is_some())
        };
        for receives in 0..=5 {
            assert!(
                (0..100).any(|seed| late(5, seed) == Some(receives)),
                "none of a hundred messages is late by {receives}"
            );
            assert_eq!(late(0, receives), Some(0));
        }
        assert_eq!(order(1), order(1));
        assert!((2..10).any(|seed| order(seed) != order(1)));
    }
}
