//! The kinds of store buffers.

use std::fmt;

/// The store buffers of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buffer {
    /// No buffer: a store is in memory at once. This is sequential consistency.
    None,
    /// TSO with a buffer of this many stores. A load overtakes at most that many.
    Bounded(u8),
    /// TSO with such a buffer and an egress slot behind it. Consecutive stores coalesce in the
    /// slot.
    Egress(u8, Coalescing),
}

/// Which consecutive stores coalesce in the egress slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coalescing {
    /// Stores to the same word.
    Word,
    /// Stores to the same cache line, which is then written as a whole.
    Line,
}

impl Buffer {
    /// The number of stores that fit into the buffer, without the egress slot.
    pub fn capacity(self) -> usize {
        match self {
            Buffer::None => 0,
            Buffer::Bounded(capacity) | Buffer::Egress(capacity, _) => usize::from(capacity),
        }
    }

    /// What coalesces in the egress slot, or `None` if there is no egress slot.
    pub fn egress(self) -> Option<Coalescing> {
        match self {
            Buffer::Egress(_, coalescing) => Some(coalescing),
            Buffer::None | Buffer::Bounded(_) => None,
        }
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Buffer::None => write!(f, "SC"),
            Buffer::Bounded(capacity) => write!(f, "TSO[{capacity}]"),
            Buffer::Egress(capacity, Coalescing::Word) => write!(f, "TSO[{capacity}]+egress"),
            Buffer::Egress(capacity, Coalescing::Line) => write!(f, "TSO[{capacity}]+egress by line"),
        }
    }
}
