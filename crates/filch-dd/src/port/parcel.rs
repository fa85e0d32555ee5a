//! Open nodes as bytes, and what a search has done as numbers.

use core::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

use crate::problem::Cost;

/// Open nodes as bytes. A list of nodes is a list of parcels, of about a mebibyte at most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Parcel {
    nodes: u64,
    bound: Cost,
    #[serde(with = "plain")]
    bytes: Vec<u8>,
}

impl Parcel {
    /// So many nodes, of which none leads to anything better than `bound`, as bytes. A search that they are delivered to checks them.
    pub fn new(nodes: u64, bound: Cost, bytes: Vec<u8>) -> Parcel {
        Parcel { nodes, bound, bytes }
    }

    /// How many nodes.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// No solution below any of them is better than this; more is better, see [`Standing`](super::Standing).
    pub fn bound(&self) -> Cost {
        self.bound
    }

    /// The nodes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// How many nodes all these say that they are, which may be anything.
pub(crate) fn nodes(parcels: &[Parcel]) -> u64 {
    parcels.iter().fold(0, |nodes, parcel| parcel.nodes.saturating_add(nodes))
}

/// What a search has done, to be added up with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Totals {
    /// Open nodes looked at, each by building diagrams from it.
    pub explored: u64,
    /// Of these, those of which nothing was left open.
    pub closed: u64,
    /// Nodes of all diagrams.
    pub diagram_nodes: u64,
    /// Open nodes dropped unseen.
    pub pruned: u64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Totals) {
        // What was read from a file may be any numbers.
        self.explored = self.explored.saturating_add(other.explored);
        self.closed = self.closed.saturating_add(other.closed);
        self.diagram_nodes = self.diagram_nodes.saturating_add(other.diagram_nodes);
        self.pruned = self.pruned.saturating_add(other.pruned);
    }
}

impl Add for Totals {
    type Output = Totals;

    fn add(mut self, other: Totals) -> Totals {
        self += other;
        self
    }
}

/// Bytes as they are. A list of anything is written one by one, and bytes are no exception unless it is said.
mod plain {
    use core::fmt;

    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        from.deserialize_byte_buf(Plain)
    }

    struct Plain;

    impl Visitor<'_> for Plain {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("bytes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }

        fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
            Ok(bytes)
        }
    }
}
