//! Errors of a search.

use core::fmt;

/// Errors from starting or finishing a search.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SolveError {
    /// The costs may overflow 64 bits; see [`Problem::cost_limit`](crate::Problem::cost_limit).
    CostTooGreat,
    /// A cost or a bound overflowed 64 bits, although the problem promised that none would.
    Overflow,
    /// The width is 0: a diagram whose layers have no nodes finds nothing.
    NoWidth,
    /// The number of threads is 0.
    NoThreads,
    /// A node or solution from outside does not belong to this problem. The text says how.
    InvalidDelivery(String),
    /// A state could not be serialized. The text says why.
    CannotSerialize(String),
    /// The problem contradicts itself. The text says how.
    Contradiction(String),
}

impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolveError::CostTooGreat => f.write_str("the costs of this problem may exceed 2^62: use larger units"),
            SolveError::Overflow => {
                f.write_str("a cost overflowed 64 bits during the search: `cost_limit` of the problem is too low")
            }
            SolveError::NoWidth => f.write_str("the width is 0: it must be at least 1"),
            SolveError::NoThreads => f.write_str("a search with 0 threads does nothing: set at least 1"),
            SolveError::InvalidDelivery(how) => {
                write!(f, "a node or solution from outside does not belong to this problem: {how}")
            }
            SolveError::CannotSerialize(why) => {
                write!(f, "cannot serialize a state: {why}")
            }
            SolveError::Contradiction(how) => write!(f, "the problem contradicts itself: {how}"),
        }
    }
}

impl std::error::Error for SolveError {}
