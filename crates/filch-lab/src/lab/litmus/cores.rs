//! Where worker and thief run.
//!
//! For every kind of core: on one core, on two cores, or wherever the system puts them.

use std::collections::BTreeMap;
use std::fs;

use core_affinity::CoreId;

use super::Placement;
use crate::lab::kinds::{self, parse_cpu_list, Kind, Kinds};

/// Where a race takes place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// The kind of the worker's core, whose store buffer is under test.
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
    /// The hardware threads of each kind.
    kinds: Kinds,
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
        Topology { siblings: siblings.collect(), kinds: Kinds::here(), allowed }
    }

    /// The number of hardware threads.
    pub(super) fn threads(&self) -> usize {
        self.allowed.len()
    }

    /// Returns all sites to race on. The sites that find the most violations come first.
    pub(super) fn sites(&self) -> Vec<Site> {
        let mut sites = Vec::new();
        for (kind, threads) in self.kinds.usable(&self.allowed) {
            for (placement, shares) in [(Placement::DifferentCores, false), (Placement::SameCore, true)] {
                let cores = self.pair(&threads, shares);
                sites.extend(cores.map(|cores| Site { kind, placement, cores: Some(cores) }));
            }
        }
        sites.push(Site::anywhere());
        sites
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

    #[test]
    fn sites_follow_from_siblings_and_kinds() {
        let different = |worker, thief| (Kind::Any, Placement::DifferentCores, Some((worker, thief)));
        let same = |worker, thief| (Kind::Any, Placement::SameCore, Some((worker, thief)));
        let unpinned = (Kind::Any, Placement::Unpinned, None);
        let hybrid = Kinds { performance: vec![0, 1], efficient: vec![2, 3, 9] };
        for (allowed, siblings, kinds, expected) in [
            // Siblings share a core, and other threads do not.
            (
                vec![0, 1, 2, 3],
                vec![(0, vec![0, 2]), (1, vec![1, 3]), (2, vec![0, 2]), (3, vec![1, 3])],
                Kinds::default(),
                vec![different(0, 1), same(0, 2), unpinned],
            ),
            // Without siblings, there is no site on one core.
            (vec![0, 1], vec![(0, vec![0]), (1, vec![1])], Kinds::default(), vec![different(0, 1), unpinned]),
            // A sibling that is not allowed is not used.
            (vec![4], vec![(4, vec![4, 5])], Kinds::default(), vec![unpinned]),
            // Neighbours of unknown topology do not count as different cores.
            (vec![0, 1, 2, 3], vec![], Kinds::default(), vec![different(0, 2), unpinned]),
            // Every kind of core runs the worker. There is only one fast core, so that the thief
            // is on another kind.
            (
                vec![0, 1, 2, 3],
                vec![(0, vec![0, 1]), (1, vec![0, 1]), (2, vec![2]), (3, vec![3])],
                hybrid,
                vec![
                    (Kind::Performance, Placement::DifferentCores, Some((0, 2))),
                    (Kind::Performance, Placement::SameCore, Some((0, 1))),
                    (Kind::Efficient, Placement::DifferentCores, Some((2, 3))),
                    unpinned,
                ],
            ),
        ] {
            let topology = Topology { allowed, siblings: siblings.into_iter().collect(), kinds };
            let sites = topology.sites().into_iter().map(|site| (site.kind, site.placement, site.cores));
            assert_eq!(sites.collect::<Vec<_>>(), expected, "{topology:?}");
        }
    }

    #[test]
    fn there_is_always_a_site() {
        assert!(Topology::here().sites().contains(&Site::anywhere()));
    }
}
