//! Packages: open nodes as bytes; and the totals of a search.

use core::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

use crate::problem::Cost;

/// Open nodes as bytes.
///
/// A list of nodes is a list of packages, of about a mebibyte each at most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Package {
    nodes: u64,
    bound: Cost,
    #[serde(with = "plain")]
    bytes: Vec<u8>,
}

impl Package {
    /// Returns a package of `nodes` nodes, of which none leads to anything better than `bound`.
    ///
    /// A search that the package is delivered to checks them.
    pub fn new(nodes: u64, bound: Cost, bytes: Vec<u8>) -> Package {
        Package { nodes, bound, bytes }
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Returns the bound: no solution below any of the nodes is better than this.
    ///
    /// More is better, see [`SearchStatus`](super::SearchStatus).
    pub fn bound(&self) -> Cost {
        self.bound
    }

    /// Returns the nodes as bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Returns the total number of nodes that the packages claim to have. It is not checked.
pub(crate) fn nodes(packages: &[Package]) -> u64 {
    packages.iter().fold(0, |nodes, package| package.nodes.saturating_add(nodes))
}

/// The totals of a search, to be added up with those of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Totals {
    /// Open nodes that were explored, each by building diagrams from it.
    pub explored: u64,
    /// ExploredNode nodes that left nothing open.
    pub closed: u64,
    /// Nodes of all diagrams.
    pub diagram_nodes: u64,
    /// Open nodes that were dropped unexplored.
    pub pruned: u64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Totals) {
        // Saturating: numbers that were read from a file may be anything.
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

/// Serializes bytes as one block.
///
/// By default serde writes a list of bytes element by element.
mod plain {
    use core::fmt;

    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        from.deserialize_byte_buf(BytesVisitor)
    }

    struct BytesVisitor;

    impl Visitor<'_> for BytesVisitor {
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
