//! The kinds of cores that the system reports.
//!
//! Each kind has a store buffer of its own size. A measurement on one kind says nothing about
//! another.

use std::fs;

use anyhow::{bail, Result};
use serde::{Deserialize, Serialize};

use super::calibration::cpuid;

/// The kind of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// All cores are alike, or the kind is unknown.
    Any,
    /// A fast core of a hybrid CPU.
    Performance,
    /// A small core of a hybrid CPU.
    Efficient,
}

/// The hardware threads of each kind of core, as Linux lists them on hybrid CPUs.
///
/// Both lists are empty if all cores are alike or the system does not report kinds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Kinds {
    /// The hardware threads of fast cores.
    pub(super) performance: Vec<usize>,
    /// The hardware threads of small cores.
    pub(super) efficient: Vec<usize>,
}

impl Kinds {
    /// Reads the kinds of this machine.
    pub(super) fn here() -> Kinds {
        let list =
            |path: &str| fs::read_to_string(path).ok().and_then(|text| parse_cpu_list(&text)).unwrap_or_default();
        Kinds { performance: list("/sys/devices/cpu_core/cpus"), efficient: list("/sys/devices/cpu_atom/cpus") }
    }

    /// Returns the usable hardware threads of each kind. Kinds without any are left out.
    ///
    /// If the system reports no kinds, there is a single kind.
    pub(super) fn usable(&self, allowed: &[usize]) -> Vec<(Kind, Vec<usize>)> {
        let usable = |threads: &[usize]| allowed.iter().copied().filter(|id| threads.contains(id)).collect::<Vec<_>>();
        let kinds = [(Kind::Performance, usable(&self.performance)), (Kind::Efficient, usable(&self.efficient))];
        let mut kinds: Vec<_> = kinds.into_iter().filter(|(_, threads)| !threads.is_empty()).collect();
        if kinds.is_empty() {
            kinds.push((Kind::Any, allowed.to_vec()));
        }
        kinds
    }

    /// Returns why a process restricted to these hardware threads cannot measure all cores, if so.
    fn unmeasurable_reason(&self, allowed: &[usize], is_hybrid: bool) -> Option<&'static str> {
        let lacks = |kind: &[usize]| !kind.is_empty() && !kind.iter().any(|thread| allowed.contains(thread));
        if lacks(&self.performance) {
            Some("this process may not use the fast cores of this CPU")
        } else if lacks(&self.efficient) {
            Some("this process may not use the small cores of this CPU")
        } else if is_hybrid && (self.performance.is_empty() || self.efficient.is_empty()) {
            Some("this CPU has several kinds of cores, and the system does not report which core is of which kind")
        } else {
            None
        }
    }
}

/// The hardware threads that this process may use, in order; empty if unknown.
pub(super) fn allowed() -> Vec<usize> {
    core_affinity::get_core_ids().unwrap_or_default().iter().map(|core| core.id).collect()
}

/// Returns an error if a measurement would not cover all kinds of cores. A program may run on any
/// of them.
pub(super) fn ensure_all_measurable() -> Result<()> {
    match Kinds::here().unmeasurable_reason(&allowed(), is_hybrid()) {
        Some(reason) => bail!("{reason}: each kind has a store buffer of its own size, so no calibration is possible"),
        None => Ok(()),
    }
}

/// Whether the CPU reports several kinds of cores.
fn is_hybrid() -> bool {
    let ([last, ..], [_, _, _, features]) = (cpuid(0), cpuid(7));
    last >= 7 && features >> 15 & 1 == 1
}

/// Parses a list of numbers as the kernel writes it: `0-3,8`.
pub(super) fn parse_cpu_list(text: &str) -> Option<Vec<usize>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some(first..=last)
    };
    let text = text.trim();
    if text.is_empty() {
        return Some(Vec::new());
    }
    let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
    Some(ranges?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_allowed_threads() {
        let both = Kinds { performance: vec![5, 6, 7, 16], efficient: vec![8, 9] };
        assert_eq!(both.usable(&[5, 6, 9]), [(Kind::Performance, vec![5, 6]), (Kind::Efficient, vec![9])]);
        assert_eq!(both.usable(&[16]), [(Kind::Performance, vec![16])]);
        assert_eq!(Kinds::default().usable(&[3, 4]), [(Kind::Any, vec![3, 4])]);
        assert_eq!(Kinds::default().usable(&[]), [(Kind::Any, vec![])]);
    }

    #[test]
    fn a_kind_without_an_allowed_core_is_reported() {
        let both = Kinds { performance: vec![0, 1, 2, 3], efficient: vec![4, 5] };
        assert_eq!(both.unmeasurable_reason(&[3, 4], true), None);
        assert!(both.unmeasurable_reason(&[0, 1], true).unwrap().contains("small cores"));
        assert!(both.unmeasurable_reason(&[4, 5], false).unwrap().contains("fast cores"));
        assert!(both.unmeasurable_reason(&[], true).is_some());
    }

    #[test]
    fn unknown_kinds_are_reported_only_on_a_hybrid_cpu() {
        assert_eq!(Kinds::default().unmeasurable_reason(&[0, 1], false), None);
        assert!(Kinds::default().unmeasurable_reason(&[0, 1], true).unwrap().contains("does not report"));
        let half = Kinds { performance: vec![0], efficient: vec![] };
        assert!(half.unmeasurable_reason(&[0, 1], true).unwrap().contains("does not report"));
    }

    #[test]
    fn the_kernels_cpu_lists_are_parsed() {
        assert_eq!(parse_cpu_list("0-2,8\n"), Some(vec![0, 1, 2, 8]));
        assert_eq!(parse_cpu_list("5"), Some(vec![5]));
        assert_eq!(parse_cpu_list("\n"), Some(vec![]));
        assert_eq!(parse_cpu_list("a-b"), None);
    }
}
