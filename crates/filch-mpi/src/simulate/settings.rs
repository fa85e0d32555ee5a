//! The settings of a simulation.

use core::time::Duration;

use super::backoff::Backoff;
use super::wire::Wire;
use crate::protocol::{Policy, ToCoordinator};
use crate::solve::driver::{LONGEST_WAIT, SHORTEST_WAIT};

/// The settings of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The number of ranks.
    pub ranks: usize,
    /// The number of threads of each rank.
    pub threads: usize,
    /// The network between the ranks.
    pub wire: Wire,
    /// How long a rank waits, after something happened, before it checks for messages again.
    pub shortest_wait: Duration,
    /// The longest wait. While nothing happens, each wait is twice the one before, up to this.
    pub longest_wait: Duration,
    /// How often a working rank reports how much it has, even without a change.
    pub heartbeat: Duration,
    /// The settings of load balancing.
    pub policy: Policy,
    /// The size of an open node in a message, in bytes.
    pub node_bytes: u64,
    /// The number of better solutions that are found and sent to all ranks.
    pub solutions: u32,
    /// The time that a message takes the coordinator.
    pub costs: Costs,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The number of the message to lose, from 1: a defect that tests must notice.
    #[cfg(test)]
    pub(super) lose: Option<u64>,
}

impl Settings {
    /// Returns settings for ranks of one thread, on InfiniBand, with a coordinator of no cost.
    #[must_use]
    pub fn new(ranks: usize) -> Settings {
        Settings {
            ranks,
            threads: 1,
            wire: Wire::INFINIBAND,
            shortest_wait: SHORTEST_WAIT,
            longest_wait: LONGEST_WAIT,
            heartbeat: Duration::from_secs(1),
            policy: Policy::default(),
            node_bytes: 100,
            solutions: 10,
            costs: Costs::default(),
            seed: 1,
            #[cfg(test)]
            lose: None,
        }
    }
}

impl Settings {
    pub(super) fn backoff(&self) -> Backoff {
        Backoff::new(self.shortest_wait.as_nanos() as u64, self.longest_wait.as_nanos() as u64)
    }
}

/// The time that a message takes the coordinator, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// The time to decode and handle a message and to encode the answers. One entry for each kind,
    /// in the order of [`Kind::ALL`].
    pub handle: [f64; Kind::ALL.len()],
    /// The time for the network library to receive it.
    pub receive: f64,
    /// The time for the network library to send one answer.
    pub send: f64,
}

/// The kind of a message to the coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Hello,
    Status,
    Idle,
    Refused,
    Received,
    Found,
    Finished,
    Other,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 8] = [
        Kind::Hello,
        Kind::Status,
        Kind::Idle,
        Kind::Refused,
        Kind::Received,
        Kind::Found,
        Kind::Finished,
        Kind::Other,
    ];

    /// Returns the name used in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Hello => "hello",
            Kind::Status => "status",
            Kind::Idle => "idle",
            Kind::Refused => "refused",
            Kind::Received => "received",
            Kind::Found => "found",
            Kind::Finished => "finished",
            Kind::Other => "other",
        }
    }

    pub(super) fn of(message: &ToCoordinator) -> Kind {
        match message {
            ToCoordinator::Hello(_) => Kind::Hello,
            ToCoordinator::Status(_) => Kind::Status,
            ToCoordinator::Idle { .. } => Kind::Idle,
            ToCoordinator::Refused { .. } => Kind::Refused,
            ToCoordinator::Received { .. } => Kind::Received,
            ToCoordinator::Found(_) => Kind::Found,
            ToCoordinator::Finished(_) => Kind::Finished,
            _ => Kind::Other,
        }
    }
}
