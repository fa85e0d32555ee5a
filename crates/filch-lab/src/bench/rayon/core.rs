//! The two packages that can stand under rayon.

use std::path::Path;

/// The version of rayon that everything is built with.
///
/// [`CORE_VERSION`] is the version of rayon-core that filch's core replaces.
pub(crate) const RAYON_VERSION: &str = "1.12.0";
pub(crate) const CORE_VERSION: &str = "1.13.0";

/// A package that runs the work of a parallel iterator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Core {
    /// The rayon-core of the registry.
    Stock,
    /// filch's, put in its place by `[patch.crates-io]`.
    Filch,
}

impl Core {
    pub(crate) const BOTH: [Core; 2] = [Core::Stock, Core::Filch];

    /// Its name in plots.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Core::Stock => "rayon",
            Core::Filch => "filch",
        }
    }

    /// Its name in the output of `cargo tree`. `filch` is the folder of filch's package.
    pub(super) fn in_cargo_tree(self, filch: &Path) -> String {
        match self {
            Core::Stock => format!("rayon-core v{CORE_VERSION}"),
            Core::Filch => format!("rayon-core v{CORE_VERSION} ({})", filch.display()),
        }
    }
}
