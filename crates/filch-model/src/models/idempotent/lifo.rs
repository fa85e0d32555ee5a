//! LIFO extraction: `crates/filch-queue/src/idempotent/lifo.rs`.
//!
//! An owner pushes and pops, in several rhythms, in an array that grows and shrinks. Each thief
//! tries a few times. At the end the owner pops until the queue is empty, so that every task must
//! have been extracted.
//!
//! Claimed: no task is lost. Every extracted task is a whole task that was pushed. A stolen task
//! was the last of the queue when the thief's CAS found the anchor unchanged. This holds with
//! buffers of every length that was tried, coalescing or not, because owner and thieves share one
//! word and the stores of a thread reach memory in order.
//!
//! Not claimed, and shown to be false: each task is extracted once. It is true if there are no
//! thieves, and if the owner does nothing. A single pop or push of the owner is enough to undo a
//! steal. Each can cause one more extraction of a task: with k of them, up to k + 1 extractions.
//!
//! Without the tag a task is lost as section 3.2 of the paper describes, or a thief gets half of
//! one task and half of another. A tag that wraps after n pushes loses a task after n pushes and
//! not before. And a thief must load the array after the anchor.

use super::scenario::{
    more_often_by_pops, never_empty, on_other_buffers, GROWTH, NEVER_EMPTY, REUSE, SHRINKING, THIEVES_ALONE,
};
use crate::machine::Claims;
use crate::models::{Case, Model, OptionLimits, Parameters};
use crate::search::Claim;

const MODEL: Model = Model {
    name: "idempotent::lifo",
    about: "owner and thieves take the youngest task, at least once",
    mirrors: "crates/filch-queue/src/idempotent/lifo.rs",
    text: include_str!("lifo.tso"),
    form: &[],
    claims: Claims { at_most_once: false, nothing_lost: true },
    ends: false,
    takes: OptionLimits { most_tasks: 6, most_thieves: 2, delta: false, extra: false },
    cases: Vec::new(),
};

pub(in crate::models) fn models() -> Vec<Model> {
    vec![
        Model { cases: as_it_is(), ..MODEL },
        Model {
            name: "idempotent::lifo/never-empty",
            about: "a queue with more tasks than are taken is not reported empty",
            form: NEVER_EMPTY,
            claims: Claims { at_most_once: false, nothing_lost: false },
            cases: never_empty(),
            ..MODEL
        },
        Model {
            name: "idempotent::lifo/how-often",
            about: "each operation by the owner may return one task once more, and no more",
            form: &[("DRAINS", 0), ("STEALS", 5)],
            claims: Claims { at_most_once: false, nothing_lost: false },
            cases: how_often(),
            ..MODEL
        },
        Model {
            name: "idempotent::lifo/exactly-once",
            about: "at least once does not promise that a task is extracted only once",
            claims: Claims { at_most_once: true, nothing_lost: false },
            cases: exactly_once(),
            ..MODEL
        },
        Model {
            name: "idempotent::lifo/untagged",
            about: "without the tag a thief mistakes an old task for a new one",
            form: &[("TAGS", 1)],
            cases: (0..=4)
                .map(|bound| Case::refutes(Claim::NothingLost, Parameters::new(bound, 2, 1)).with(REUSE).quick())
                .collect(),
            ..MODEL
        },
        Model {
            name: "idempotent::lifo/torn",
            about: "without the tag a thief takes half of one task and half of another",
            form: &[("TAGS", 1), ("WORDS", 2)],
            claims: Claims { at_most_once: false, nothing_lost: false },
            cases: (0..=4)
                .map(|bound| Case::refutes(Claim::NoFault, Parameters::new(bound, 2, 1)).with(REUSE).quick())
                .collect(),
            ..MODEL
        },
        Model {
            name: "idempotent::lifo/short-tag",
            about: "a tag of two values loses a task with the second push, and of three with the third",
            form: &[("TAGS", 2)],
            cases: short_tag(),
            ..MODEL
        },
        Model {
            name: "idempotent::lifo/array-first",
            about: "a thief that loads the array before the anchor reads a slot that an old array lacks",
            form: &[("ARRAY_FIRST", 1)],
            cases: (0..=4)
                .map(|bound| Case::refutes(Claim::NoFault, Parameters::new(bound, 3, 1)).with(GROWTH).quick())
                .collect(),
            ..MODEL
        },
    ]
}

fn as_it_is() -> Vec<Case> {
    let mut cases = vec![Case::holds(Parameters::new(2, 3, 2)).quick()];
    for bound in 0..=4 {
        let on = |tasks, thieves| Case::holds(Parameters::new(bound, tasks, thieves));
        cases.extend([
            on(4, 1).quick(),
            on(4, 1).with(REUSE).quick(),
            on(4, 1).with(GROWTH).quick(),
            on(5, 1).with(SHRINKING).quick(),
            on(3, 1).with(&[("PREFILLED", 1), ("POPS", 1), ("WORDS", 2), ("CHECKED", 1)]).quick(),
            on(3, 1).with(&[("PREFILLED", 1), ("SLOTS", 2), ("WORDS", 2), ("CHECKED", 1)]).quick(),
            on(4, 2),
            on(3, 2).with(REUSE),
            on(3, 2).with(GROWTH),
            on(5, 2).with(SHRINKING),
            on(4, 2).with(&[("PREFILLED", 2), ("POPS", 1), ("STEALS", 2), ("WORDS", 2), ("CHECKED", 1)]),
            on(6, 2).with(&[("PREFILLED", 1), ("FIRST", 1), ("POPS", 2), ("PUSHES", 2), ("STEALS", 2)]),
        ]);
    }
    cases.extend(on_other_buffers(3));
    cases
}

fn how_often() -> Vec<Case> {
    let mut cases = more_often_by_pops();
    for bound in 0..=4 {
        let on = Parameters::new(bound, 3, 1);
        cases.extend([
            Case::refutes(Claim::NoFault, on).with(&[("PREFILLED", 1), ("MOST", 1)]).quick(),
            Case::holds(on).with(&[("PREFILLED", 1), ("MOST", 3)]).quick(),
        ]);
    }
    cases
}

fn exactly_once() -> Vec<Case> {
    const OWNER_PUSHES: &[(&str, i16)] = &[("PREFILLED", 1), ("DRAINS", 0)];
    let mut cases = vec![Case::refutes(Claim::AtMostOnce, Parameters::new(1, 1, 1)).quick()];
    for bound in 0..=4 {
        cases.extend([
            Case::refutes(Claim::AtMostOnce, Parameters::new(bound, 1, 1)).quick(),
            Case::refutes(Claim::AtMostOnce, Parameters::new(bound, 3, 1)).with(OWNER_PUSHES).quick(),
            Case::holds(Parameters::new(bound, 4, 0)).with(REUSE).quick(),
            Case::holds(Parameters::new(bound, 4, 0)).with(GROWTH).quick(),
            Case::holds(Parameters::new(bound, 4, 2)).with(THIEVES_ALONE).quick(),
        ]);
    }
    cases
}

fn short_tag() -> Vec<Case> {
    const OF_THREE: &[(&str, i16)] = &[("PREFILLED", 1), ("POPS", 1), ("TAGS", 3)];
    let mut cases = Vec::new();
    for bound in 0..=4 {
        cases.extend([
            Case::refutes(Claim::NothingLost, Parameters::new(bound, 3, 1)).with(REUSE).quick(),
            Case::holds(Parameters::new(bound, 2, 1)).with(REUSE).quick(),
            Case::refutes(Claim::NothingLost, Parameters::new(bound, 4, 1)).with(OF_THREE).quick(),
            Case::holds(Parameters::new(bound, 3, 1)).with(OF_THREE).quick(),
        ]);
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn no_task_is_lost_with_the_tag_and_one_is_lost_without() {
        confirm(&models());
    }
}
