//! The messages. They are encoded with [postcard](https://docs.rs/postcard).

use core::fmt;

pub use filch_dd::port::{Package, Totals};
use filch_dd::Cost;
use serde::{Deserialize, Serialize};

/// The version of the protocol. Ranks of different versions do not work together.
pub const VERSION: u32 = 1;

/// A solution as bytes, and its worth.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EncodedSolution {
    /// The worth: more is better, even if the user minimises a cost.
    pub worth: Cost,
    /// The encoded solution.
    pub bytes: Vec<u8>,
}

/// A share of the open nodes, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Share(pub u16);

impl Share {
    /// One half.
    pub const HALF: Share = Share(500);

    /// Returns the share as a fraction: more than 0, at most 1.
    pub fn fraction(self) -> f64 {
        f64::from(self.0.clamp(1, 1000)) / 1000.0
    }
}

/// How much a rank has open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Status {
    /// The number of open nodes, including those being processed.
    pub open: u64,
    /// The number of nodes processed since the rank started.
    pub explored: u64,
    /// A bound on all open nodes; more is better. `None` if nothing is open. The greatest cost if
    /// the bound is not known yet.
    pub bound: Option<Cost>,
}

/// What a rank did, sent when it leaves. Durations are in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RankStatistics {
    /// The host that it ran on.
    pub host: String,
    /// The number of working threads.
    pub threads: u64,
    /// The totals of its search.
    pub totals: Totals,
    /// How often it gave open nodes away.
    pub gifts: u64,
    /// The number of nodes that it gave away.
    pub nodes_given: u64,
    /// The number of bytes of the nodes that it gave away.
    pub bytes_given: u64,
    /// How often it was asked for nodes and had none to spare.
    pub refusals: u64,
    /// How often it received open nodes.
    pub receipts: u64,
    /// The number of nodes that it received.
    pub nodes_received: u64,
    /// The number of bytes of the nodes that it received.
    pub bytes_received: u64,
    /// The number of messages that it sent.
    pub messages_sent: u64,
    /// The number of messages that it received.
    pub messages_received: u64,
    /// How long it was idle.
    pub idle: u64,
    /// How long the communicating thread was at work, rather than asleep.
    pub communicating: u64,
    /// The time from its start to its end.
    pub elapsed: u64,
}

/// The first message of every rank. Its first field is the same in all versions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the protocol that the rank was built with.
    pub version: u32,
    /// A hash of the problem and the options. It must be the same on all ranks.
    pub identity: u64,
    /// The number of working threads of the rank.
    pub threads: u64,
}

/// A message to the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ToCoordinator {
    /// The rank has started.
    Hello(Hello),
    /// The rank has this much open.
    Status(Status),
    /// The rank is alive. Nothing has changed, or its status is not known just now.
    Alive,
    /// Nothing is open on the rank.
    Idle {
        /// The number of nodes processed since the rank started.
        explored: u64,
    },
    /// The rank had nothing to spare for this order.
    Refused {
        /// The number of the order.
        order: u64,
    },
    /// The nodes of this order have arrived at the rank.
    Received {
        /// The number of the order.
        order: u64,
        /// The number of nodes.
        nodes: u64,
        /// The greatest bound among them.
        bound: Option<Cost>,
    },
    /// The rank found this solution.
    Found(EncodedSolution),
    /// The open nodes of the rank.
    Frontier {
        /// The number of the checkpoint that this is for.
        round: u64,
        /// All open nodes, or some of them: a frontier may take several messages.
        packages: Vec<Package>,
        /// The totals of the search so far. Only in the last message of a frontier.
        last: Option<Totals>,
    },
    /// The rank was asked to stop the run.
    Quit,
    /// The rank cannot go on, and why.
    Failed(String),
    /// The rank has ended, with these statistics.
    Finished(RankStatistics),
}

/// A message to a member from the coordinator. Nodes also come from other members.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ToMember {
    /// Give a share of the open nodes to another rank.
    Give {
        /// The number of this order.
        order: u64,
        /// The rank that receives the nodes.
        to: usize,
        /// The share to give.
        share: Share,
    },
    /// Nodes for this member.
    Nodes {
        /// The order that they are given for.
        order: u64,
        /// The nodes.
        packages: Vec<Package>,
        /// Whether there are no more for this order.
        last: bool,
    },
    /// Another rank found this solution.
    Found(EncodedSolution),
    /// Report the open nodes, and work on.
    Snapshot {
        /// The number of the checkpoint.
        round: u64,
    },
    /// Stop, and report the open nodes.
    Stop {
        /// The number of the checkpoint.
        round: u64,
    },
    /// All work is done.
    End,
    /// The run failed, and why.
    Failed(String),
    /// The coordinator is alive.
    Alive,
}

/// The receivers of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Destination {
    /// One rank.
    Rank(usize),
    /// All ranks, including rank 0.
    All,
    /// All ranks except this one.
    AllBut(usize),
}

impl Destination {
    /// Returns the receiving ranks, out of `ranks`.
    pub fn ranks(self, ranks: usize) -> impl Iterator<Item = usize> {
        let (range, but) = match self {
            Destination::Rank(rank) => (rank..rank + 1, None),
            Destination::All => (0..ranks, None),
            Destination::AllBut(rank) => (0..ranks, Some(rank)),
        };
        range.filter(move |&rank| Some(rank) != but)
    }
}

/// A message between ranks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// A message to the coordinator.
    ToCoordinator(ToCoordinator),
    /// A message to a member.
    ToMember(ToMember),
}

/// Error from decoding bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError;

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot decode a message; run the same build of the program on all ranks")
    }
}

impl std::error::Error for DecodeError {}

impl Message {
    /// Encodes the message.
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("postcard can encode every message")
    }

    /// Decodes a message.
    ///
    /// # Errors
    ///
    /// If the bytes are no message, or more than one.
    pub fn decode(bytes: &[u8]) -> Result<Message, DecodeError> {
        match postcard::take_from_bytes(bytes) {
            Ok((message, [])) => Ok(message),
            _ => Err(DecodeError),
        }
    }
}

/// The size above which nodes are sent in parts. So other messages do not wait long.
const PART_BYTES: usize = 4 << 20;

/// Splits packages into parts that are not too large to send; at least one part.
pub(crate) fn parts(packages: Vec<Package>) -> impl Iterator<Item = Vec<Package>> {
    let mut packages = packages.into_iter().peekable();
    let mut first = true;
    core::iter::from_fn(move || {
        let mut part = Vec::new();
        let mut size = 0;
        while let Some(package) = packages.next_if(|package| size == 0 || size + package.bytes().len() <= PART_BYTES) {
            size += package.bytes().len().max(1);
            part.push(package);
        }
        (core::mem::take(&mut first) || !part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_survives_encoding_and_other_bytes_are_refused() {
        let package = Package::new(3, -7, vec![1, 2, 3]);
        let message =
            Message::ToMember(ToMember::Nodes { order: 300, packages: vec![package.clone(), package], last: true });
        let bytes = message.encode();
        assert_eq!(Message::decode(&bytes), Ok(message));
        for end in 0..bytes.len() {
            assert_eq!(Message::decode(&bytes[..end]), Err(DecodeError));
        }
        assert_eq!(Message::decode(&[&bytes[..], &[0]].concat()), Err(DecodeError));
        assert_eq!(Message::decode(&[9, 9, 9]), Err(DecodeError));
    }

    #[test]
    fn a_hello_starts_with_the_same_bytes_in_all_versions() {
        let hello = Hello { version: 77, identity: 1, threads: 1 };
        assert_eq!(Message::ToCoordinator(ToCoordinator::Hello(hello)).encode()[..3], [0, 0, 77]);
    }
}
