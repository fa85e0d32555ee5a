//! Chase-Lev with the fence on the thief's side. It mirrors `crates/filch-queue/src/asymmetric.rs`,
//! and `deque.rs` beside it.
//!
//! An owner pushes and pops, in several rhythms, in an array that grows and shrinks. Each thief
//! tries a few times. At the end the owner pops until the queue is empty, so that every task must
//! have been extracted.
//!
//! Claimed: each task is extracted once, and none is lost, with buffers of every length that was
//! tried, coalescing or not. A steal never reports a queue as empty that was never empty. Every
//! fair run ends. This also holds if the kernel begins to refuse the barrier, to all thieves or to
//! one, and the thief requests the fence from the owner; if the owner makes the fence from the
//! start; and if the owner has been dropped.
//!
//! What is broken:
//!
//! - Without the barrier a task is extracted twice on every machine with a store buffer, however
//!   short.
//! - A barrier after the load of the tail has no effect.
//! - A barrier before the load of the head is enough against one thief, but not against two: the
//!   head that the owner has missed then comes from another thief.
//! - A thief that was refused the barrier must wait until the owner has granted the fence.

use crate::machine::{Claims, Coalescing};
use crate::models::{Case, Model, OptionLimits, Parameters};
use crate::search::Claim;

const MODEL: Model = Model {
    name: "asymmetric",
    about: "Chase-Lev whose owner has no fence: a thief has the kernel make the owner's stores visible",
    mirrors: "crates/filch-queue/src/asymmetric.rs",
    text: include_str!("asymmetric.tso"),
    form: &[],
    claims: Claims { at_most_once: true, nothing_lost: true },
    ends: true,
    takes: OptionLimits { most_tasks: 6, most_thieves: 2, delta: false, extra: false },
    cases: Vec::new(),
};

/// The owner pops and pushes in turn, in the same slot.
const REUSE: &[(&str, i16)] = &[("PREFILLED", 1), ("POPS", 1)];
/// The owner pushes beyond an array of two slots, one of which is spare.
const GROWTH: &[(&str, i16)] = &[("PREFILLED", 1), ("SLOTS", 2)];
/// The array grows to 16 slots, and shrinks to 4 when few tasks are left. Needs five tasks.
const SHRINKING: &[(&str, i16)] = &[("PREFILLED", 3), ("FIRST", 1), ("POPS", 3), ("LOW_WATER", 2), ("STEALS", 2)];

pub(in crate::models) fn models() -> Vec<Model> {
    let twice = |thieves| {
        (1..=4).map(move |bound| Case::refutes(Claim::AtMostOnce, Parameters::new(bound, 2, thieves)).quick())
    };
    let once = |bound, thieves| Case::holds(Parameters::new(bound, 2, thieves)).quick();
    vec![
        Model { cases: as_it_is(), ..MODEL },
        Model {
            name: "asymmetric/never-empty",
            about: "a queue with more tasks than are taken is not reported empty",
            form: &[("NEVER_EMPTY", 1), ("DRAINS", 0), ("STEALS", 1)],
            claims: Claims { at_most_once: true, nothing_lost: false },
            cases: never_empty(),
            ..MODEL
        },
        Model {
            name: "asymmetric/no-barrier",
            about: "without the barrier a thief takes a task that the owner has popped",
            form: &[("NO_BARRIER", 1)],
            cases: twice(1).chain(twice(2)).chain([once(0, 1), once(0, 2)]).collect(),
            ..MODEL
        },
        Model {
            name: "asymmetric/barrier-last",
            about: "with the barrier after the load of the tail a thief takes a task that the owner has popped",
            form: &[("BARRIER_LAST", 1)],
            cases: twice(1).chain([once(0, 1)]).collect(),
            ..MODEL
        },
        Model {
            name: "asymmetric/barrier-first",
            about: "with the barrier before the load of the head one thief is safe and two are not",
            form: &[("BARRIER_FIRST", 1)],
            cases: twice(2).chain((0..=4).map(|bound| once(bound, 1))).chain([once(0, 2)]).collect(),
            ..MODEL
        },
        Model {
            name: "asymmetric/impatient",
            about: "a thief without a barrier that does not wait for the owner's fence takes a popped task",
            form: &[("WORKS", 0), ("IMPATIENT", 1)],
            cases: twice(1).chain([once(0, 1)]).collect(),
            ..MODEL
        },
    ]
}

fn as_it_is() -> Vec<Case> {
    /// The kernel refuses a thief's second barrier.
    const REFUSED: &[(&str, i16)] = &[("WORKS", 1)];
    const REFUSED_AT_ONCE: &[(&str, i16)] = &[("WORKS", 0)];
    const FENCED: &[(&str, i16)] = &[("MODE", 2)];
    const DROPPED: &[(&str, i16)] = &[("POPS", 1), ("DROPPED", 1)];
    const DROPPED_AND_REFUSED: &[(&str, i16)] = &[("POPS", 1), ("DROPPED", 1), ("WORKS", 0)];
    let mut cases = vec![Case::holds(Parameters::new(2, 3, 2)).quick()];
    for bound in 0..=4 {
        let on = |tasks, thieves| Case::holds(Parameters::new(bound, tasks, thieves));
        cases.extend([
            on(4, 1).quick(),
            on(4, 1).with(REUSE).quick(),
            on(4, 1).with(GROWTH).quick(),
            on(5, 1).with(SHRINKING).quick(),
            on(3, 1).with(REFUSED).quick(),
            on(3, 1).with(REFUSED_AT_ONCE).quick(),
            on(4, 1).with(FENCED).quick(),
            on(3, 2).with(DROPPED).quick(),
            on(3, 2).with(DROPPED_AND_REFUSED).quick(),
            on(4, 2),
            on(3, 2).with(REUSE),
            on(3, 2).with(GROWTH),
            on(5, 2).with(SHRINKING),
            on(3, 2).with(REFUSED),
            on(3, 2).with(REFUSED_AT_ONCE),
        ]);
    }
    // A long buffer.
    let long = |settings| Case::holds(Parameters::new(8, 4, 1)).with(settings).quick();
    cases.extend([long(REUSE), long(GROWTH)]);
    for bound in 1..=4 {
        let coalescing =
            |tasks, thieves| Case::holds(Parameters::new(bound, tasks, thieves).with_egress(Coalescing::Word));
        cases.extend([
            coalescing(3, 1).quick(),
            coalescing(3, 1).with(GROWTH).quick(),
            coalescing(3, 2),
            coalescing(3, 2).with(GROWTH),
        ]);
    }
    cases.extend([
        Case::holds(Parameters::new(4, 5, 2)).with(&[("PREFILLED", 2), ("POPS", 1), ("STEALS", 3)]),
        Case::holds(Parameters::new(4, 4, 3)).with(&[("PREFILLED", 2), ("POPS", 1), ("STEALS", 1)]),
    ]);
    cases
}

fn never_empty() -> Vec<Case> {
    const ONE_POP: &[(&str, i16)] = &[("POPS", 1)];
    const TWO_POPS: &[(&str, i16)] = &[("POPS", 2)];
    const IN_TURN: &[(&str, i16)] = &[("PREFILLED", 3), ("POPS", 1)];
    let mut cases = Vec::new();
    for bound in 0..=4 {
        cases.extend([
            Case::holds(Parameters::new(bound, 4, 1)).with(TWO_POPS).quick(),
            Case::holds(Parameters::new(bound, 5, 1)).with(IN_TURN).quick(),
            Case::holds(Parameters::new(bound, 4, 2)).with(ONE_POP).quick(),
        ]);
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn each_task_is_extracted_once_with_the_barrier_and_twice_without() {
        confirm(&models());
    }
}
