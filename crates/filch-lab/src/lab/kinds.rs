//! The kinds of cores that the system reports.
//!
//! Each kind has a store buffer of its own size. A measurement on one kind says nothing about
//! another.

use std::fs;

use anyhow::{bail, Result};

/// The hardware threads of each kind of core, as Linux lists them on hybrid CPUs.
///
/// Both lists are empty if all cores are alike or the system does not tell.
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
        let list = |path: &str| fs::read_to_string(path).ok().and_then(|text| numbers(&text)).unwrap_or_default();
        Kinds { performance: list("/sys/devices/cpu_core/cpus"), efficient: list("/sys/devices/cpu_atom/cpus") }
    }

    /// Returns why a process restricted to these hardware threads cannot measure all cores, if so.
    fn out_of_reach(&self, allowed: &[usize], is_hybrid: bool) -> Option<&'static str> {
        let lacks = |kind: &[usize]| !kind.is_empty() && !kind.iter().any(|thread| allowed.contains(thread));
        if lacks(&self.performance) {
            Some("this process may not use the fast cores of this CPU")
        } else if lacks(&self.efficient) {
            Some("this process may not use the small cores of this CPU")
        } else if is_hybrid && (self.performance.is_empty() || self.efficient.is_empty()) {
            Some("this CPU has several kinds of cores, and the system does not tell which are which")
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
pub(super) fn ensure_all_in_reach() -> Result<()> {
    match Kinds::here().out_of_reach(&allowed(), is_hybrid()) {
        Some(reason) => bail!("{reason}: each kind has a store buffer of its own size, so there is no calibration"),
        None => Ok(()),
    }
}

/// Whether the CPU reports several kinds of cores.
#[cfg(target_arch = "x86_64")]
fn is_hybrid() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};

    // SAFETY: every x86-64 CPU has the instruction. Newer compilers know that and require no
    // `unsafe`.
    #[allow(unused_unsafe)]
    let (last, features) = unsafe { (__cpuid(0).eax, __cpuid_count(7, 0)) };
    last >= 7 && features.edx >> 15 & 1 == 1
}

#[cfg(not(target_arch = "x86_64"))]
fn is_hybrid() -> bool {
    false
}

/// Parses a list of numbers as the kernel writes it: `0-3,8`.
pub(super) fn numbers(text: &str) -> Option<Vec<usize>> {
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
    fn a_kind_that_may_not_be_used_is_out_of_reach() {
        let both = Kinds { performance: vec![0, 1, 2, 3], efficient: vec![4, 5] };
        assert_eq!(both.out_of_reach(&[3, 4], true), None);
        assert!(both.out_of_reach(&[0, 1], true).unwrap().contains("small cores"));
        assert!(both.out_of_reach(&[4, 5], false).unwrap().contains("fast cores"));
        assert!(both.out_of_reach(&[], true).is_some());
    }

    #[test]
    fn kinds_that_nobody_tells_of_are_out_of_reach_only_if_there_are_some() {
        assert_eq!(Kinds::default().out_of_reach(&[0, 1], false), None);
        assert!(Kinds::default().out_of_reach(&[0, 1], true).unwrap().contains("does not tell"));
        let half = Kinds { performance: vec![0], efficient: vec![] };
        assert!(half.out_of_reach(&[0, 1], true).unwrap().contains("does not tell"));
    }

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        assert_eq!(numbers("0-2,8\n"), Some(vec![0, 1, 2, 8]));
        assert_eq!(numbers("5"), Some(vec![5]));
        assert_eq!(numbers("\n"), Some(vec![]));
        assert_eq!(numbers("a-b"), None);
    }
}
