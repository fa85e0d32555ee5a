//! What is simulated.

use core::time::Duration;

use super::patience::Patience;
use super::wire::Wire;
use crate::protocol::{Policy, ToCoordinator};
use crate::solve::driver::{LONGEST_WAIT, SHORTEST_WAIT};

/// What is simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How many ranks.
    pub ranks: usize,
    /// How many threads each has.
    pub threads: usize,
    /// What is between them.
    pub wire: Wire,
    /// How long a rank waits, after something happened, before it looks for messages again.
    pub shortest_wait: Duration,
    /// While nothing happens it waits twice as long each time, up to this.
    pub longest_wait: Duration,
    /// How often a rank that works says how much it has, whether or not that has changed.
    pub pulse: Duration,
    /// How work is balanced.
    pub policy: Policy,
    /// What an open node is in a message, in bytes.
    pub node_bytes: u64,
    /// How often a better solution is found somewhere, and told to all.
    pub solutions: u32,
    /// How long the coordinator takes for a message.
    pub costs: Costs,
    /// Where all that is random comes from.
    pub seed: u64,
    /// Which message is lost, counted from the first: a defect, to see that it is noticed.
    #[cfg(test)]
    pub(super) lose: Option<u64>,
}

impl Settings {
    /// So many ranks of one thread, on InfiniBand, with a coordinator that takes no time.
    #[must_use]
    pub fn new(ranks: usize) -> Settings {
        Settings {
            ranks,
            threads: 1,
            wire: Wire::INFINIBAND,
            shortest_wait: SHORTEST_WAIT,
            longest_wait: LONGEST_WAIT,
            pulse: Duration::from_secs(1),
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
    pub(super) fn patience(&self) -> Patience {
        Patience::new(self.shortest_wait.as_nanos() as u64, self.longest_wait.as_nanos() as u64)
    }
}

/// How long the coordinator takes for a message, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// To read it, to handle it and to write the answers, for each kind in the order of [`Kind::ALL`].
    pub handle: [f64; Kind::ALL.len()],
    /// For the network's library to receive it.
    pub receive: f64,
    /// For the network's library to send one answer.
    pub send: f64,
}

/// What the coordinator is told, by kind.
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
    /// All there are.
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

    /// As in tables.
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
