//! The ways of calling into a pool that are compared.
//!
//! A way is a core, and the thread that runs a call from outside the pool.

use std::path::Path;
use std::process::Command;

use super::core::Core;

/// The environment variable that tells filch's core which thread runs a call from outside.
const CALLERS: &str = "FILCH_CALLERS";

/// A way of calling into a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Rayon's own core. A worker runs the call, and the caller waits.
    Stock,
    /// filch's core with its default. A worker runs the call, and the caller waits.
    Shipped,
    /// filch's core, configured to let the caller take part.
    InPlace,
}

impl Way {
    /// A way for each core.
    pub(crate) const CORES: &'static [Way] = &[Way::Stock, Way::Shipped];

    /// All ways.
    pub(crate) const ALL: &'static [Way] = &[Way::Stock, Way::Shipped, Way::InPlace];

    /// Its name in plots.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Way::Stock | Way::Shipped => self.core().name(),
            Way::InPlace => "filch-in-place",
        }
    }

    /// The way with that name.
    pub(crate) fn named(name: &str) -> Option<Way> {
        Way::ALL.iter().copied().find(|way| way.name() == name)
    }

    /// The core that a program is built on.
    pub(crate) fn core(self) -> Core {
        match self {
            Way::Stock => Core::Stock,
            Way::Shipped | Way::InPlace => Core::Ours,
        }
    }

    /// A command that starts `program` this way, with `threads` threads.
    ///
    /// The program does not inherit the variable from the environment of the lab.
    pub(crate) fn command(self, program: &Path, threads: usize) -> Command {
        let mut command = Command::new(program);
        command.env("RAYON_NUM_THREADS", threads.to_string()).env_remove(CALLERS);
        if self == Way::InPlace {
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
    fn names_are_unique_and_lead_back() {
        assert_eq!(Way::ALL.iter().map(|way| way.name()).collect::<Vec<_>>(), ["rayon", "filch", "filch-in-place"]);
        for &way in Way::ALL {
            assert_eq!(Way::named(way.name()), Some(way));
        }
        assert_eq!(Way::named("serial"), None);
    }

    #[test]
    fn only_a_caller_in_place_has_the_variable_and_the_others_do_not_inherit_it() {
        for &way in Way::ALL {
            let command = way.command(Path::new("program"), 3);
            let variable = |name: &str| command.get_envs().find(|(known, _)| *known == name).map(|(_, value)| value);
            let callers = (way == Way::InPlace).then_some(OsStr::new("in-place"));
            // `Some(None)` is a variable that is removed.
            assert_eq!(variable("FILCH_CALLERS"), Some(callers), "{way:?}");
            assert_eq!(variable("RAYON_NUM_THREADS"), Some(Some(OsStr::new("3"))));
        }
    }

    #[test]
    fn in_place_is_the_same_program_as_shipped() {
        assert_eq!(Way::InPlace.core(), Way::Shipped.core());
        assert_ne!(Way::Stock.core(), Way::Shipped.core());
    }
}
