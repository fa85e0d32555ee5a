//! What is said. Messages travel as [postcard](https://docs.rs/postcard).

use core::fmt;

pub use filch_dd::port::{Parcel, Totals};
use filch_dd::Cost;
use serde::{Deserialize, Serialize};

/// The version of all that is said here. Ranks of different versions do not work together.
pub const VERSION: u32 = 1;

/// A solution as bytes, and what it is worth.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Answer {
    /// More is better, whatever the user calls its cost.
    pub worth: Cost,
    /// The solution.
    pub bytes: Vec<u8>,
}

/// A share of what is open, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Share(pub u16);

impl Share {
    /// One of two equal parts.
    pub const HALF: Share = Share(500);

    /// More than 0, at most 1.
    pub fn fraction(self) -> f64 {
        f64::from(self.0.clamp(1, 1000)) / 1000.0
    }
}

/// How much a rank has open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Status {
    /// Open nodes, with those that are being looked at.
    pub open: u64,
    /// Nodes looked at since the rank started.
    pub explored: u64,
    /// A bound on all that is open; more is better. `None`: nothing is open. The greatest cost: it is not known yet.
    pub bound: Option<Cost>,
}

/// What a rank did, told when it leaves. Durations are in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RankStatistics {
    /// Where it ran.
    pub host: String,
    /// How many threads worked.
    pub threads: u64,
    /// What its search did.
    pub totals: Totals,
    /// Times that it gave open nodes away.
    pub gifts: u64,
    /// Nodes that it gave away.
    pub nodes_given: u64,
    /// Their bytes.
    pub bytes_given: u64,
    /// Times that it was asked for nodes and had none to spare.
    pub refusals: u64,
    /// Times that it received open nodes.
    pub receipts: u64,
    /// Nodes that it received.
    pub nodes_received: u64,
    /// Their bytes.
    pub bytes_received: u64,
    /// Messages that it sent.
    pub messages_sent: u64,
    /// Messages that it received.
    pub messages_received: u64,
    /// How long it had nothing to do.
    pub idle: u64,
    /// How long the communicating thread was at work, rather than asleep.
    pub communicating: u64,
    /// How long it took from its start to its end.
    pub elapsed: u64,
}

/// The first word of every rank. What comes first in it is the same in all versions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the protocol that it was built with.
    pub version: u32,
    /// A hash of what is to be solved and how; the same on all ranks.
    pub identity: u64,
    /// How many threads work there.
    pub threads: u64,
}

/// What is said to the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ToCoordinator {
    /// I am here.
    Hello(Hello),
    /// So much is open here.
    Status(Status),
    /// Nothing has changed, or nothing is known for sure just now, but I am alive.
    Alive,
    /// Nothing is open here.
    Idle {
        /// Nodes looked at since the rank started.
        explored: u64,
    },
    /// I had nothing to spare for this order.
    Refused {
        /// Which one.
        order: u64,
    },
    /// What this order was about has arrived here.
    Received {
        /// Which one.
        order: u64,
        /// How many nodes there were.
        nodes: u64,
        /// The greatest bound among them.
        bound: Option<Cost>,
    },
    /// I found this.
    Found(Answer),
    /// These are open here.
    Frontier {
        /// The number of the checkpoint that this is for.
        round: u64,
        /// All open nodes, or some of them: a frontier may take several messages.
        parcels: Vec<Parcel>,
        /// With the last of these, what was done until then.
        last: Option<Totals>,
    },
    /// Somebody wants the run to stop.
    Quit,
    /// I cannot go on, and why.
    Failed(String),
    /// I have ended, and did so much.
    Finished(RankStatistics),
}

/// What is said to a member: by the coordinator, and nodes by other members.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ToMember {
    /// Give a share of what you have open to somebody else.
    Give {
        /// The number of this order.
        order: u64,
        /// Who gets it.
        to: usize,
        /// How much.
        share: Share,
    },
    /// Here are nodes.
    Nodes {
        /// The order that they are given for.
        order: u64,
        /// The nodes.
        parcels: Vec<Parcel>,
        /// Whether there are no more for this order.
        last: bool,
    },
    /// Somebody found this.
    Found(Answer),
    /// Say what you have open, and work on.
    Snapshot {
        /// The number of the checkpoint.
        round: u64,
    },
    /// Stop, and say what you have open.
    Stop {
        /// The number of the checkpoint.
        round: u64,
    },
    /// All is done.
    End,
    /// The run is over, and why.
    Failed(String),
    /// There is nothing to say, but I am alive.
    Alive,
}

/// Whom a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum To {
    /// One rank.
    Rank(usize),
    /// All, rank 0 as well.
    All,
    /// All but this one.
    AllBut(usize),
}

impl To {
    /// Which ranks these are, of so many.
    pub fn ranks(self, ranks: usize) -> impl Iterator<Item = usize> {
        let (range, but) = match self {
            To::Rank(rank) => (rank..rank + 1, None),
            To::All => (0..ranks, None),
            To::AllBut(rank) => (0..ranks, Some(rank)),
        };
        range.filter(move |&rank| Some(rank) != but)
    }
}

/// What travels.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Something for the coordinator.
    ToCoordinator(ToCoordinator),
    /// Something for a member.
    ToMember(ToMember),
}

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUnderstood;

impl fmt::Display for NotUnderstood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message could not be understood; do all ranks run the same build of the program?")
    }
}

impl std::error::Error for NotUnderstood {}

impl Message {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("a message has nothing in it that postcard cannot write")
    }

    /// From bytes.
    ///
    /// # Errors
    ///
    /// If the bytes are no message, or more than one.
    pub fn decode(bytes: &[u8]) -> Result<Message, NotUnderstood> {
        match postcard::take_from_bytes(bytes) {
            Ok((message, [])) => Ok(message),
            _ => Err(NotUnderstood),
        }
    }
}

/// Messages with more bytes than this are sent in parts, so that nothing waits long behind them.
const PART: usize = 4 << 20;

/// Parcels, in parts that are not too large to send; at least one part.
pub(crate) fn parts(parcels: Vec<Parcel>) -> impl Iterator<Item = Vec<Parcel>> {
    let mut parcels = parcels.into_iter().peekable();
    let mut first = true;
    core::iter::from_fn(move || {
        let mut part = Vec::new();
        let mut size = 0;
        while let Some(parcel) = parcels.next_if(|parcel| size == 0 || size + parcel.bytes().len() <= PART) {
            size += parcel.bytes().len().max(1);
            part.push(parcel);
        }
        (core::mem::take(&mut first) || !part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_what_arrives_and_anything_else_is_not_understood() {
        let parcel = Parcel::new(3, -7, vec![1, 2, 3]);
        let message =
            Message::ToMember(ToMember::Nodes { order: 300, parcels: vec![parcel.clone(), parcel], last: true });
        let bytes = message.encode();
        assert_eq!(Message::decode(&bytes), Ok(message));
        for end in 0..bytes.len() {
            assert_eq!(Message::decode(&bytes[..end]), Err(NotUnderstood));
        }
        assert_eq!(Message::decode(&[&bytes[..], &[0]].concat()), Err(NotUnderstood));
        assert_eq!(Message::decode(&[9, 9, 9]), Err(NotUnderstood));
    }

    #[test]
    fn a_hello_begins_alike_in_all_versions() {
        let hello = Hello { version: 77, identity: 1, threads: 1 };
        assert_eq!(Message::ToCoordinator(ToCoordinator::Hello(hello)).encode()[..3], [0, 0, 77]);
    }
}
