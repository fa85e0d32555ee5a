//! A network with delayed messages.

use std::collections::VecDeque;

use filch_mpi::network::Network;

/// Delays each message by a random number of calls of `receive`.
///
/// Messages of one rank stay in order. Messages of different ranks overtake each other.
pub(super) struct DelayedNetwork<'a> {
    network: &'a mut dyn Network,
    /// For each rank: how many calls the first message still waits, and all its messages.
    delayed: Vec<(u64, VecDeque<Vec<u8>>)>,
    /// The longest delay, in calls of `receive`.
    longest: u64,
    state: u64,
}

impl<'a> DelayedNetwork<'a> {
    /// Delays messages by up to `longest` calls. The delays depend on the seed and the rank.
    pub(super) fn new(network: &'a mut dyn Network, longest: u64, seed: u64) -> Self {
        let delayed = vec![(0, VecDeque::new()); network.ranks()];
        let state = (seed << 8 | network.rank() as u64) + 1;
        DelayedNetwork { network, delayed, longest, state }
    }

    /// Returns a random delay, by xorshift.
    fn random_delay(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        // Most messages are on time, so that they overtake the few late ones.
        let late = self.state >> 33;
        if late % 3 == 0 {
            late / 3 % (self.longest + 1)
        } else {
            0
        }
    }
}

impl Network for DelayedNetwork<'_> {
    fn rank(&self) -> usize {
        self.network.rank()
    }

    fn ranks(&self) -> usize {
        self.network.ranks()
    }

    fn send(&mut self, to: usize, message: Vec<u8>) {
        self.network.send(to, message);
    }

    fn receive(&mut self) -> Option<(usize, Vec<u8>)> {
        while let Some((from, message)) = self.network.receive() {
            if self.delayed[from].1.is_empty() {
                self.delayed[from].0 = self.random_delay();
            }
            self.delayed[from].1.push_back(message);
        }
        for (delay, _) in &mut self.delayed {
            *delay = delay.saturating_sub(1);
        }
        let from = self.delayed.iter().position(|(delay, messages)| *delay == 0 && !messages.is_empty())?;
        let message = self.delayed[from].1.pop_front()?;
        self.delayed[from].0 = self.random_delay();
        Some((from, message))
    }

    fn is_flushed(&mut self) -> bool {
        self.network.is_flushed()
    }
}
