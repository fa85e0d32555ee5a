//! The width of a diagram.

/// The most nodes in a layer of a diagram before it is narrowed.
///
/// Wider diagrams give better bounds and cost more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// A fixed number of nodes.
    Fixed(usize),
    /// The number of variables not yet decided where the diagram starts, times `factor`.
    Unassigned {
        /// The number of nodes for each such variable.
        factor: usize,
    },
}

impl Width {
    /// Returns the width of a diagram that starts after `depth` decisions; at least 1.
    pub(crate) fn at(self, variables: usize, depth: usize) -> usize {
        match self {
            Width::Fixed(width) => width,
            Width::Unassigned { factor } => variables.saturating_sub(depth).saturating_mul(factor),
        }
        .max(1)
    }

    /// Returns whether the width allows no node at all.
    pub(crate) fn is_zero(self) -> bool {
        matches!(self, Width::Fixed(0) | Width::Unassigned { factor: 0 })
    }
}

impl Default for Width {
    fn default() -> Self {
        Width::Unassigned { factor: 1 }
    }
}
