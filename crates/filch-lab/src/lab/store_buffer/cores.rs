//! The kinds of cores of this machine. Each kind has a store buffer of its own size.

use core_affinity::CoreId;

use crate::lab::kinds::Kinds;

/// A kind of core, and a core of that kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kind {
    /// Its common name.
    pub(super) name: &'static str,
    /// A core that this process may run on; `None` if threads cannot be pinned.
    pub(super) core: Option<CoreId>,
    /// Whether there are other kinds, so that a measurement elsewhere is not about this kind.
    pub(super) is_one_of_several: bool,
}

/// Returns all kinds. If the system reports none, there is a single kind.
pub(super) fn kinds() -> Vec<Kind> {
    let allowed = core_affinity::get_core_ids().unwrap_or_default();
    choose(&allowed, &Kinds::here())
}

fn choose(allowed: &[CoreId], reported: &Kinds) -> Vec<Kind> {
    let reported = [("performance core", &reported.performance), ("efficiency core", &reported.efficient)];
    let of_kind = |(name, threads): (&'static str, &Vec<usize>)| {
        let core = allowed.iter().copied().find(|core| threads.contains(&core.id))?;
        Some(Kind { name, core: Some(core), is_one_of_several: true })
    };
    let kinds: Vec<Kind> = reported.into_iter().filter_map(of_kind).collect();
    if kinds.is_empty() {
        vec![Kind { name: "core", core: allowed.first().copied(), is_one_of_several: false }]
    } else {
        kinds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cores(ids: &[usize]) -> Vec<CoreId> {
        ids.iter().map(|&id| CoreId { id }).collect()
    }

    #[test]
    fn each_kind_gets_an_allowed_core() {
        let reported = Kinds { performance: vec![5, 6, 7, 16], efficient: vec![8, 9] };
        let chosen = |ids: &[usize]| {
            choose(&cores(ids), &reported).iter().map(|kind| (kind.name, kind.core.unwrap().id)).collect::<Vec<_>>()
        };
        assert_eq!(chosen(&[5, 6, 9]), [("performance core", 5), ("efficiency core", 9)]);
        assert_eq!(chosen(&[16]), [("performance core", 16)]);
    }

    #[test]
    fn without_reported_kinds_there_is_a_single_kind() {
        let one = |core| [Kind { name: "core", core, is_one_of_several: false }];
        assert_eq!(choose(&cores(&[3, 4]), &Kinds::default()), one(Some(CoreId { id: 3 })));
        assert_eq!(choose(&[], &Kinds::default()), one(None));
    }
}
