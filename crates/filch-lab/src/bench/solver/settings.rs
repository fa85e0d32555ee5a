//! What both solvers are told.

use std::fmt;

use filch_dd::{Cutset, Width};

/// Which nodes of a relaxed diagram are left to explore, and whether thresholds of states that were expanded are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// The deepest layer in which nothing was merged, and nothing is kept.
    LastExactLayer,
    /// Every exact node with a child that is not, and thresholds are kept.
    CachedFrontier,
}

impl Method {
    /// In the words of our solver.
    pub(crate) fn cutset(self) -> Cutset {
        match self {
            Method::LastExactLayer => Cutset::LastExactLayer,
            Method::CachedFrontier => Cutset::Frontier,
        }
    }

    /// Whether thresholds are kept.
    pub(crate) fn cache(self) -> bool {
        self == Method::CachedFrontier
    }
}

/// How a case is to be solved. Dominance is used by problems that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) width: Width,
    pub(crate) method: Method,
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.width {
            Width::Fixed(width) => write!(f, "width {width}")?,
            Width::Unassigned { factor } => write!(f, "width {factor} an undecided variable")?,
        }
        f.write_str(match self.method {
            Method::LastExactLayer => ", last exact layer, no cache",
            Method::CachedFrontier => ", frontier, cache",
        })
    }
}
