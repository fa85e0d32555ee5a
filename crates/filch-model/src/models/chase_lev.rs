//! Chase-Lev for weak memory: `crates/filch-queue/src/chase_lev.rs`.
//!
//! The owner empties the queue while thieves steal. It also pushes, past the end of its array and
//! into a larger array, and moves to a smaller array, while thieves hold the old array. Each task
//! is extracted exactly once, every fair run ends, and no steal reports a queue as empty that was
//! never empty.
//!
//! The owner's fence is needed at every bound from 1 on. The thief's fence is not needed on this
//! machine: the thief makes no store before its loads, and TSO keeps loads in order. It is there
//! for weaker machines, and because entering the visit makes a fence anyway.
//!
//! TSO does not break the resize as first published either. Its fault is an array published without
//! release, but under TSO stores reach memory in order.
//!
//! Two changes break the queue on this machine. A thief that loads the array before the indices is
//! wrong. A thief that does not check whether its index is older than the array reads an unwritten
//! slot, though its CAS then fails.

use crate::machine::{Claims, Coalescing};
use crate::models::scenario::{
    GOES_ROUND, GROWS, GROWS_AFTER_A_POP, GROWS_UNDER_THEFT, NEVER_EMPTY, ONE_STEAL, REUSES, SHRINKS, SHRINKS_EMPTY,
};
use crate::models::{Case, Model, OptionLimits, Parameters};
use crate::search::Claim;

pub(in crate::models) fn models() -> Vec<Model> {
    let chase_lev = Model {
        name: "chase_lev",
        about: "Chase-Lev: the owner pops with a fence, thieves steal by CAS",
        mirrors: "crates/filch-queue/src/chase_lev.rs",
        text: include_str!("chase_lev.tso"),
        form: &[],
        claims: Claims { at_most_once: true, nothing_lost: true },
        ends: true,
        takes: OptionLimits { most_tasks: 12, most_thieves: 3, delta: false, extra: false },
        cases: holds(),
    };
    let unfenced = |bound| Case::refutes(Claim::AtMostOnce, Parameters::new(bound, 3, 1)).quick();
    let array_first = |bound| Case::refutes(Claim::NoFault, Parameters::new(bound, 4, 1)).with(GROWS).quick();
    let unchecked = |bound| Case::refutes(Claim::NoFault, Parameters::new(bound, 4, 2)).with(GROWS_AFTER_A_POP).quick();
    let other_forms = [
        Model {
            name: "chase_lev/unfenced",
            about: "Chase-Lev without the owner's fence",
            form: &[("FENCED", 0)],
            cases: (1..=5).map(unfenced).chain([Case::holds(Parameters::new(0, 3, 1)).quick()]).collect(),
            ends: false,
            ..chase_lev.clone()
        },
        Model {
            name: "chase_lev/thief-unfenced",
            about: "Chase-Lev without the thief's barrier, which TSO does not need",
            form: &[("THIEF_FENCED", 0)],
            cases: holds().into_iter().filter(|case| case.quick).collect(),
            ..chase_lev.clone()
        },
        Model {
            name: "chase_lev/array-first",
            about: "Chase-Lev whose thief loads the array before the indices",
            form: &[("ARRAY_FIRST", 1)],
            cases: (0..=4).map(array_first).collect(),
            ends: false,
            ..chase_lev.clone()
        },
        Model {
            name: "chase_lev/unchecked",
            about: "Chase-Lev whose thief reads any slot of the array that it finds",
            form: &[("CHECKED", 0)],
            cases: (0..=4).map(unchecked).collect(),
            ends: false,
            ..chase_lev.clone()
        },
    ];
    [chase_lev].into_iter().chain(other_forms).collect()
}

fn holds() -> Vec<Case> {
    let mut cases: Vec<_> = [4, 0, 1, 2, 3, 5].map(|bound| Case::holds(Parameters::new(bound, 4, 1)).quick()).into();
    for bound in 1..=4 {
        cases.push(Case::holds(Parameters::new(bound, 5, 1)).with(SHRINKS).quick());
        cases.push(Case::holds(Parameters::new(bound, 4, 1)).with(SHRINKS_EMPTY).quick());
        cases.push(Case::holds(Parameters::new(bound, 4, 2)).with(SHRINKS_EMPTY));
        cases.push(Case::holds(Parameters::new(bound, 5, 1)).with(GROWS).quick());
        cases.push(Case::holds(Parameters::new(bound, 4, 2)).with(GROWS_AFTER_A_POP).quick());
        cases.push(Case::holds(Parameters::new(bound, 5, 2)).with(GOES_ROUND));
        cases.push(Case::holds(Parameters::new(bound, 5, 1)).with(REUSES).quick());
        cases.push(Case::holds(Parameters::new(bound, 4, 2)).with(NEVER_EMPTY).quick());
        cases.push(Case::holds(Parameters::new(bound, 3, 2)).quick());
        cases.push(Case::holds(Parameters::new(bound, 6, 2)));
        cases.push(Case::holds(Parameters::new(bound, 5, 2)).with(GROWS_UNDER_THEFT));
        cases.push(Case::holds(Parameters::new(bound, 4, 3)).with(ONE_STEAL));
        cases.push(Case::holds(Parameters::new(bound, 5, 3)).with(GROWS_AFTER_A_POP));
    }
    for coalescing in [Coalescing::Word, Coalescing::Line] {
        let parameters = Parameters::new(2, 4, 1).with_egress(coalescing);
        cases.push(Case::holds(parameters).quick());
        cases.push(Case::holds(parameters).with(GROWS_AFTER_A_POP).quick());
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn chase_lev_is_exactly_once_only_with_the_owners_fence() {
        confirm(&models());
    }
}
