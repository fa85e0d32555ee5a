//! Cilk's THE: `crates/filch-queue/src/the.rs`.
//!
//! The owner empties the queue while thieves steal. It also pushes, past the end of its array and
//! into a larger array, and moves to a smaller array. Each task is extracted exactly once, every
//! fair run ends, and no steal reports a queue as empty that was never empty.
//!
//! Both fences are needed on every machine with a store buffer, however small. Without the owner's
//! fence, or without the thief's, a task is extracted twice at each bound from 1 to 5.
//!
//! The spare slot is needed for a thief that still reads a slot behind the head. The copy of the
//! slot before the head is needed for a thief that finds the new array after it has announced a
//! task of the old array.

use crate::machine::{Claims, Coalescing};
use crate::models::scenario::{
    GOES_ROUND, GROWS, GROWS_AFTER_A_POP, GROWS_UNDER_THEFT, NEVER_EMPTY, ONE_STEAL, REUSES, SHRINKS, SHRINKS_EMPTY,
};
use crate::models::{Case, Model, OptionLimits, Parameters};
use crate::search::Claim;

pub(in crate::models) fn models() -> Vec<Model> {
    let the = Model {
        name: "the",
        about: "Cilk's THE: the owner pops with a fence, thieves steal under a lock",
        mirrors: "crates/filch-queue/src/the.rs",
        text: include_str!("the.tso"),
        form: &[],
        claims: Claims { at_most_once: true, nothing_lost: true },
        ends: true,
        takes: OptionLimits { most_tasks: 12, most_thieves: 3, delta: false, extra: false },
        cases: holds(),
    };
    let unfenced = |name, about, form| {
        let case = |bound| Case::refutes(Claim::AtMostOnce, Parameters::new(bound, 2, 1)).quick();
        let cases = (1..=5).map(case).chain([Case::holds(Parameters::new(0, 3, 1)).quick()]).collect();
        Model { name, about, form, cases, ends: false, ..the.clone() }
    };
    let broken = [
        unfenced("the/unfenced", "THE without the owner's fence", &[("FENCED", 0)]),
        unfenced("the/thief-unfenced", "THE without the thief's fence", &[("THIEF_FENCED", 0)]),
        Model {
            name: "the/no-spare-slot",
            about: "THE whose owner fills every slot, even the slot that a thief is still reading",
            form: &[("SPARE", 0)],
            cases: (0..=4)
                .map(|bound| Case::refutes(Claim::AtMostOnce, Parameters::new(bound, 4, 1)).with(GROWS).quick())
                .collect(),
            ends: false,
            ..the.clone()
        },
        Model {
            name: "the/copied-from-the-head",
            about: "THE whose larger array lacks the task that a thief has announced",
            form: &[("FROM_BEFORE", 0)],
            cases: (0..=4)
                .map(|bound| Case::refutes(Claim::NoFault, Parameters::new(bound, 4, 1)).with(GROWS).quick())
                .collect(),
            ends: false,
            ..the.clone()
        },
    ];
    [the].into_iter().chain(broken).collect()
}

fn holds() -> Vec<Case> {
    let mut cases: Vec<_> = [4, 0, 1, 2, 3, 5].map(|bound| Case::holds(Parameters::new(bound, 3, 1)).quick()).into();
    for bound in 1..=4 {
        cases.push(Case::holds(Parameters::new(bound, 5, 1)).with(SHRINKS).quick());
        cases.push(Case::holds(Parameters::new(bound, 4, 1)).with(SHRINKS_EMPTY).quick());
        cases.push(Case::holds(Parameters::new(bound, 4, 2)).with(SHRINKS_EMPTY));
        cases.push(Case::holds(Parameters::new(bound, 4, 1)).with(GROWS).quick());
        cases.push(Case::holds(Parameters::new(bound, 4, 1)).with(GROWS_AFTER_A_POP).quick());
        cases.push(Case::holds(Parameters::new(bound, 5, 1)).with(GOES_ROUND).quick());
        cases.push(Case::holds(Parameters::new(bound, 4, 1)).with(REUSES).quick());
        cases.push(Case::holds(Parameters::new(bound, 4, 2)).with(NEVER_EMPTY).quick());
        cases.push(Case::holds(Parameters::new(bound, 2, 2)).with(ONE_STEAL).quick());
        cases.push(Case::holds(Parameters::new(bound, 4, 2)));
        cases.push(Case::holds(Parameters::new(bound, 4, 2)).with(GROWS_AFTER_A_POP));
    }
    for coalescing in [Coalescing::Word, Coalescing::Line] {
        let parameters = Parameters::new(2, 4, 1).with_egress(coalescing);
        cases.push(Case::holds(parameters).quick());
        cases.push(Case::holds(parameters).with(GROWS_AFTER_A_POP).quick());
    }
    cases.push(Case::holds(Parameters::new(2, 4, 2)).with(GROWS_UNDER_THEFT));
    cases.push(Case::holds(Parameters::new(4, 4, 2)).with(GROWS_UNDER_THEFT));
    cases.push(Case::holds(Parameters::new(3, 3, 3)).with(ONE_STEAL));
    cases
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn the_is_exactly_once_only_with_both_fences() {
        confirm(&models());
    }
}
