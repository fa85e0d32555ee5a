//! The settings of both solvers.

use std::fmt;

use filch_dd::{Cutset, Width};

/// The cutset of a relaxed diagram, and whether thresholds of expanded states are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// The deepest layer without merged nodes, and no thresholds.
    LastExactLayer,
    /// Every exact node with an inexact child, and thresholds.
    CachedFrontier,
}

impl Method {
    /// The cutset as filch's solver names it.
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

/// The settings of a case. Problems with dominance use it.
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
