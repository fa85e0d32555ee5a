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
    Delivered(String),
    /// A state could not be serialized. The text says why.
    Unportable(String),
    /// The problem contradicts itself. The text says how.
    Contradiction(String),
}

impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolveError::CostTooGreat => {
                f.write_str("the costs of this problem may add up to more than 2^62; give them in greater units")
            }
            SolveError::Overflow => f.write_str(
                "a cost left the range of 64 bits during the search, although the problem's limit of costs says that none does",
            ),
            SolveError::NoWidth => f.write_str("a diagram of width 0 has no nodes; the width has to be at least 1"),
            SolveError::NoThreads => f.write_str("a search with 0 threads does nothing; there has to be at least 1"),
            SolveError::Delivered(how) => {
                write!(f, "what came from outside does not belong to this problem: {how}")
            }
            SolveError::Unportable(why) => {
                write!(f, "a state cannot be written as bytes, as its `Serialize` says: {why}")
            }
            SolveError::Contradiction(how) => write!(f, "the problem contradicts itself: {how}"),
        }
    }
}

impl std::error::Error for SolveError {}
