//! The two packages that can stand under rayon.

use std::path::Path;

/// The rayon that everything is built with, and the version of its core that ours stands in for.
pub(crate) const RAYON_VERSION: &str = "1.12.0";
pub(crate) const CORE_VERSION: &str = "1.13.0";

/// Who does the work of a parallel iterator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Core {
    /// The rayon-core of the registry.
    Stock,
    /// Ours, put in its place by `[patch.crates-io]`.
    Ours,
}

impl Core {
    pub(crate) const BOTH: [Core; 2] = [Core::Stock, Core::Ours];

    /// The name that plots know it by.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Core::Stock => "rayon",
            Core::Ours => "filch",
        }
    }

    /// How `cargo tree` names it, `ours` being the folder of our package.
    pub(super) fn in_a_tree(self, ours: &Path) -> String {
        match self {
            Core::Stock => format!("rayon-core v{CORE_VERSION}"),
            Core::Ours => format!("rayon-core v{CORE_VERSION} ({})", ours.display()),
        }
    }
}
