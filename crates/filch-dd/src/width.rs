//! How wide a diagram may be.

/// How many nodes a layer of a diagram may have before it is cut down.
///
/// Wider diagrams bound better and cost more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// So many, always.
    Fixed(usize),
    /// The number of variables not yet decided where the diagram starts, times `factor`.
    Unassigned {
        /// Nodes for each such variable.
        factor: usize,
    },
}

impl Width {
    /// The width of a diagram that starts after `depth` of `variables` decisions; at least 1.
    pub(crate) fn at(self, variables: usize, depth: usize) -> usize {
        match self {
            Width::Fixed(width) => width,
            Width::Unassigned { factor } => variables.saturating_sub(depth).saturating_mul(factor),
        }
        .max(1)
    }

    /// Whether it allows no node at all.
    pub(crate) fn is_nothing(self) -> bool {
        matches!(self, Width::Fixed(0) | Width::Unassigned { factor: 0 })
    }
}

impl Default for Width {
    fn default() -> Self {
        Width::Unassigned { factor: 1 }
    }
}
