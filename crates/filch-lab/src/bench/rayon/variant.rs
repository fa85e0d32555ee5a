//! The variants of rayon that are compared.
//!
//! A variant is a core, and the thread that runs a call from outside the pool.

use std::path::Path;
use std::process::Command;

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

/// The environment variable that tells filch's core which thread runs a call from outside.
const CALLERS: &str = "FILCH_CALLERS";

/// A core, and the thread that runs a call from outside the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Rayon's own core. A worker runs the call, and the caller waits.
    Stock,
    /// filch's core with its default. A worker runs the call, and the caller waits.
    Shipped,
    /// filch's core, configured to let the caller take part.
    InPlace,
}

impl Variant {
    /// A variant for each core.
    pub(crate) const CORES: &'static [Variant] = &[Variant::Stock, Variant::Shipped];

    /// All variants.
    pub(crate) const ALL: &'static [Variant] = &[Variant::Stock, Variant::Shipped, Variant::InPlace];

    /// Its name in plots.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Variant::Stock | Variant::Shipped => self.core().name(),
            Variant::InPlace => "filch-in-place",
        }
    }

    /// The core that a program is built on.
    pub(crate) const fn core(self) -> Core {
        match self {
            Variant::Stock => Core::Stock,
            Variant::Shipped | Variant::InPlace => Core::Filch,
        }
    }

    /// A command that starts `program` as this variant, with `threads` threads.
    ///
    /// The program does not inherit the variable from the environment of the lab.
    pub(crate) fn command(self, program: &Path, threads: usize) -> Command {
        let mut command = Command::new(program);
        command.env("RAYON_NUM_THREADS", threads.to_string()).env_remove(CALLERS);
        if self == Variant::InPlace {
            command.env(CALLERS, "in-place");
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn variants_have_the_names_that_plots_know() {
        assert_eq!(
            Variant::ALL.iter().map(|variant| variant.name()).collect::<Vec<_>>(),
            ["rayon", "filch", "filch-in-place"]
        );
    }

    #[test]
    fn only_in_place_sets_the_variable_and_the_others_do_not_inherit_it() {
        for &variant in Variant::ALL {
            let command = variant.command(Path::new("program"), 3);
            let variable = |name: &str| command.get_envs().find(|(known, _)| *known == name).map(|(_, value)| value);
            let callers = (variant == Variant::InPlace).then_some(OsStr::new("in-place"));
            // `Some(None)` is a variable that is removed.
            assert_eq!(variable("FILCH_CALLERS"), Some(callers), "{variant:?}");
            assert_eq!(variable("RAYON_NUM_THREADS"), Some(Some(OsStr::new("3"))));
        }
    }

    #[test]
    fn in_place_is_the_same_program_as_shipped() {
        assert_eq!(Variant::InPlace.core(), Variant::Shipped.core());
        assert_ne!(Variant::Stock.core(), Variant::Shipped.core());
    }
}
