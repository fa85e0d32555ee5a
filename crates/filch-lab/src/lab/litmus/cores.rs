//! Where worker and thief run.
//!
//! For every kind of core: on one core, on two cores, or wherever the system puts them.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;

use core_affinity::CoreId;
use serde::{Deserialize, Serialize};

use super::Placement;
use crate::lab::kinds::{self, parse_cpu_list, Kinds};

/// The kind of the worker's core, whose store buffer is under test.
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

/// Where a race takes place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) kind: Kind,
    pub(super) placement: Placement,
    /// The hardware threads of the worker and the thief; `None` for anywhere.
    cores: Option<(usize, usize)>,
}

impl Site {
    /// Returns the site where the operating system places both threads.
    pub(super) fn anywhere() -> Site {
        Site { kind: Kind::Any, placement: Placement::Unpinned, cores: None }
    }

    /// Pins the calling thread where the worker runs. Returns whether it is there.
    pub(super) fn pin_worker(&self) -> bool {
        self.cores.is_none_or(|(worker, _)| pin(worker))
    }

    /// Pins the calling thread where the thief runs. Returns whether it is there.
    pub(super) fn pin_thief(&self) -> bool {
        self.cores.is_none_or(|(_, thief)| pin(thief))
    }

    /// Returns a site on two cores that no machine has.
    #[cfg(test)]
    pub(super) fn nowhere() -> Site {
        Site { kind: Kind::Any, placement: Placement::DifferentCores, cores: Some((1_023, 1_022)) }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&place_name(self.kind, self.placement))
    }
}

/// Describes a kind and a placement.
pub(super) fn place_name(kind: Kind, placement: Placement) -> String {
    let place = match placement {
        Placement::Unpinned => "unpinned",
        Placement::SameCore => "same core",
        Placement::DifferentCores => "different cores",
    };
    match kind {
        Kind::Any => place.to_owned(),
        Kind::Performance => format!("{place}, performance"),
        Kind::Efficient => format!("{place}, efficient"),
    }
}

/// Pins the calling thread. Returns whether the system allowed it; if not, the thread may run
/// anywhere.
fn pin(id: usize) -> bool {
    core_affinity::set_for_current(CoreId { id })
}

/// The known hardware threads of a machine.
#[derive(Debug, Default)]
pub(super) struct Topology {
    /// The hardware threads that this process may use, in order.
    allowed: Vec<usize>,
    /// The hardware threads that share each thread's core, itself included. Empty if unknown.
    siblings: BTreeMap<usize, Vec<usize>>,
    /// The hardware threads of each kind. Empty if all are alike.
    kinds: Vec<(Kind, Vec<usize>)>,
}

impl Topology {
    /// Reads the topology of this machine.
    pub(super) fn here() -> Topology {
        let allowed = kinds::allowed();
        let list = |path: &str| fs::read_to_string(path).ok().and_then(|text| parse_cpu_list(&text));
        let siblings = allowed.iter().filter_map(|&id| {
            let path = format!("/sys/devices/system/cpu/cpu{id}/topology/thread_siblings_list");
            Some((id, list(&path)?))
        });
        let Kinds { performance, efficient } = Kinds::here();
        let kinds = vec![(Kind::Performance, performance), (Kind::Efficient, efficient)];
        Topology { siblings: siblings.collect(), kinds, allowed }
    }

    /// The number of hardware threads.
    pub(super) fn threads(&self) -> usize {
        self.allowed.len()
    }

    /// Returns all sites to race on. The sites that find the most violations come first.
    pub(super) fn sites(&self) -> Vec<Site> {
        let mut sites = Vec::new();
        for (kind, threads) in self.kinds() {
            for (placement, shares) in [(Placement::DifferentCores, false), (Placement::SameCore, true)] {
                let cores = self.pair(&threads, shares);
                sites.extend(cores.map(|cores| Site { kind, placement, cores: Some(cores) }));
            }
        }
        sites.push(Site::anywhere());
        sites
    }

    /// The usable hardware threads of each kind. Kinds without any are left out.
    fn kinds(&self) -> Vec<(Kind, Vec<usize>)> {
        let usable =
            |threads: &[usize]| self.allowed.iter().copied().filter(|id| threads.contains(id)).collect::<Vec<_>>();
        let kinds: Vec<_> = self.kinds.iter().map(|(kind, threads)| (*kind, usable(threads))).collect();
        let kinds: Vec<_> = kinds.into_iter().filter(|(_, threads)| !threads.is_empty()).collect();
        if kinds.is_empty() {
            vec![(Kind::Any, self.allowed.clone())]
        } else {
            kinds
        }
    }

    /// Returns a worker of `workers`, and a thief that shares its core or does not. The thief is of
    /// the same kind, if possible.
    fn pair(&self, workers: &[usize], shares: bool) -> Option<(usize, usize)> {
        let is_pair = |worker: usize, thief: usize| worker != thief && self.share(worker, thief) == Some(shares);
        let among = |thieves: &[usize]| {
            let pairs = workers.iter().flat_map(|&worker| thieves.iter().map(move |&thief| (worker, thief)));
            pairs.into_iter().find(|&(worker, thief)| is_pair(worker, thief))
        };
        among(workers).or_else(|| among(&self.allowed))
    }

    /// Whether two hardware threads share a core. If that is unknown, neighbours may, and threads
    /// further apart do not.
    fn share(&self, one: usize, other: usize) -> Option<bool> {
        match self.siblings.get(&one) {
            Some(siblings) => Some(siblings.contains(&other)),
            None if one.abs_diff(other) == 1 && self.allowed.len() > 2 => None,
            None => Some(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites_of(topology: &Topology) -> Vec<(Kind, Placement, Option<(usize, usize)>)> {
        topology.sites().into_iter().map(|site| (site.kind, site.placement, site.cores)).collect()
    }

    #[test]
    fn siblings_share_a_core_and_other_threads_do_not() {
        let siblings = [(0, vec![0, 2]), (1, vec![1, 3]), (2, vec![0, 2]), (3, vec![1, 3])];
        let topology = Topology { allowed: vec![0, 1, 2, 3], siblings: siblings.into(), kinds: vec![] };
        assert_eq!(
            sites_of(&topology),
            [
                (Kind::Any, Placement::DifferentCores, Some((0, 1))),
                (Kind::Any, Placement::SameCore, Some((0, 2))),
                (Kind::Any, Placement::Unpinned, None),
            ]
        );
    }

    #[test]
    fn without_siblings_there_is_no_same_core_site() {
        let topology = Topology { allowed: vec![0, 1], siblings: [(0, vec![0]), (1, vec![1])].into(), kinds: vec![] };
        let places: Vec<_> = topology.sites().into_iter().map(|site| site.placement).collect();
        assert_eq!(places, [Placement::DifferentCores, Placement::Unpinned]);
    }

    #[test]
    fn a_sibling_that_is_not_allowed_is_not_used() {
        let topology = Topology { allowed: vec![4], siblings: [(4, vec![4, 5])].into(), kinds: vec![] };
        assert_eq!(sites_of(&topology), [(Kind::Any, Placement::Unpinned, None)]);
    }

    #[test]
    fn every_kind_of_core_runs_the_worker_at_some_site() {
        let siblings = [(0, vec![0, 1]), (1, vec![0, 1]), (2, vec![2]), (3, vec![3])];
        let kinds = vec![(Kind::Performance, vec![0, 1]), (Kind::Efficient, vec![2, 3, 9])];
        let topology = Topology { allowed: vec![0, 1, 2, 3], siblings: siblings.into(), kinds };
        assert_eq!(
            sites_of(&topology),
            [
                // There is only one fast core: the thief is on another kind.
                (Kind::Performance, Placement::DifferentCores, Some((0, 2))),
                (Kind::Performance, Placement::SameCore, Some((0, 1))),
                (Kind::Efficient, Placement::DifferentCores, Some((2, 3))),
                (Kind::Any, Placement::Unpinned, None),
            ]
        );
    }

    #[test]
    fn neighbours_of_unknown_topology_do_not_count_as_different_cores() {
        let topology = Topology { allowed: vec![0, 1, 2, 3], ..Topology::default() };
        let places = sites_of(&topology);
        assert_eq!(places[0], (Kind::Any, Placement::DifferentCores, Some((0, 2))));
        assert_eq!(places.len(), 2);
    }

    #[test]
    fn there_is_always_a_site() {
        assert!(Topology::here().sites().contains(&Site::anywhere()));
    }
}
