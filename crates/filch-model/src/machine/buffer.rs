//! Which store buffers a machine has.

use std::fmt;

/// The store buffers of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buffer {
    /// None: a store is in memory at once. Sequential consistency.
    None,
    /// TSO with a buffer of so many stores: a load overtakes at most that many.
    Bounded(u8),
    /// The same with an egress slot behind it, in which consecutive stores coalesce.
    Egress(u8, Coalescing),
}

/// Which consecutive stores become one in the egress slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coalescing {
    /// Those to the same word.
    Word,
    /// Those to the same cache line, which is then written as a whole.
    Line,
}

impl Buffer {
    /// How many stores fit into the buffer, without the egress slot.
    pub fn capacity(self) -> usize {
        match self {
            Buffer::None => 0,
            Buffer::Bounded(capacity) | Buffer::Egress(capacity, _) => usize::from(capacity),
        }
    }

    /// Whether there is an egress slot, and what coalesces in it.
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
