//! How long messages are in transit.

use core::time::Duration;

use super::queue::Time;

/// The properties of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire {
    /// The time from one rank to another, for any size.
    pub latency: Duration,
    /// The number of bytes that a rank sends per second.
    pub bandwidth: f64,
}

impl Wire {
    /// InfiniBand of 100 gigabits a second, as MPI programs see it.
    pub const INFINIBAND: Wire = Wire { latency: Duration::from_nanos(1_500), bandwidth: 12e9 };
    /// Ethernet of 10 gigabits a second with TCP, as MPI programs see it.
    pub const ETHERNET: Wire = Wire { latency: Duration::from_micros(30), bandwidth: 1.1e9 };
}

/// The outgoing side of a rank, which sends one message after the other. The latency is the same
/// for all messages, so messages between two ranks arrive in the order in which they were sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OutgoingLink {
    free_at: Time,
}

impl OutgoingLink {
    /// Returns when a message arrives that is sent now.
    pub(super) fn send(&mut self, now: Time, bytes: u64, wire: &Wire) -> Time {
        let taken = (bytes as f64 / wire.bandwidth * 1e9) as Time;
        self.free_at = self.free_at.max(now) + taken;
        self.free_at + wire.latency.as_nanos() as Time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_takes_its_latency_and_its_bytes() {
        let wire = Wire { latency: Duration::from_micros(2), bandwidth: 1e9 };
        assert_eq!(OutgoingLink::default().send(10, 500, &wire), 10 + 500 + 2_000);
    }

    #[test]
    fn a_small_message_does_not_overtake_a_large_one() {
        let (wire, mut link) = (Wire::ETHERNET, OutgoingLink::default());
        let large = link.send(0, 1 << 20, &wire);
        assert!(link.send(1, 8, &wire) >= large);
    }
}
