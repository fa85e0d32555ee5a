//! A network with delayed messages.

use std::collections::VecDeque;

use filch_mpi::network::Network;

/// Delays each message by a random number of calls of `receive`.
///
/// Messages of one rank stay in order. Messages of different ranks overtake each other.
pub(super) struct Late<'a> {
    network: &'a mut dyn Network,
    /// For each rank: how many calls the first message still waits, and all its messages.
    held: Vec<(u64, VecDeque<Vec<u8>>)>,
    /// The longest delay, in calls of `receive`.
    longest: u64,
    state: u64,
}

impl<'a> Late<'a> {
    /// Delays messages by up to `longest` calls. The delays depend on the seed and the rank.
    pub(super) fn new(network: &'a mut dyn Network, longest: u64, seed: u64) -> Self {
        let held = vec![(0, VecDeque::new()); network.ranks()];
        let state = (seed << 8 | network.rank() as u64) + 1;
        Late { network, held, longest, state }
    }

    /// Returns a random delay, by xorshift.
    fn looks(&mut self) -> u64 {
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

impl Network for Late<'_> {
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
            if self.held[from].1.is_empty() {
                self.held[from].0 = self.looks();
            }
            self.held[from].1.push_back(message);
        }
        for (looks, _) in &mut self.held {
            *looks = looks.saturating_sub(1);
        }
        let from = self.held.iter().position(|(looks, messages)| *looks == 0 && !messages.is_empty())?;
        let message = self.held[from].1.pop_front()?;
        self.held[from].0 = self.looks();
        Some((from, message))
    }

    fn is_flushed(&mut self) -> bool {
        self.network.is_flushed()
    }
}
