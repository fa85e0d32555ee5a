//! Double-ended extraction: `crates/filch-queue/src/idempotent/double_ended.rs`.
//!
//! An owner pushes and pops, in several rhythms, in an array that grows, shrinks and is renewed.
//! Each thief tries a few times. At the end the owner pops until the queue is empty, so that every
//! task must have been extracted.
//!
//! The tag has four values instead of 1,024, so that it wraps many times. The owner checks for
//! thieves at every push instead of every 256 pushes: as in the source, four times in a round.
//! Indices are counted modulo the slots of the largest array, so that they wrap too.
//!
//! Claimed: no task is lost, however often the tag wraps during a steal. Every extracted task is a
//! whole task that was pushed. This holds with buffers of every length that was tried, coalescing
//! or not.
//!
//! What is broken: without the tag, or without the owner's check for thieves, a task is lost. With
//! three tags and a check at every push nothing is lost; with two tags something is lost. Two
//! checks must be less than a round apart, and an owner that checks twice in a round instead of
//! four times is too late. Both fences are needed: the owner's before it checks, and the thief's
//! after it has announced what it reads. The owner's fence makes a difference only if its buffer
//! holds the pushes of about a quarter of a round.
//!
//! Not claimed, and shown to be false: each task is extracted once. It is true if there are no
//! thieves, and if the owner does nothing. Each operation of the owner can cause one more
//! extraction of a task. So can each new array, because its tasks can be extracted from the old
//! array too. With k operations and n arrays, a task is extracted up to k + n times.

use super::scenario::{more_often_by_pops, never_empty, NEVER_EMPTY, THIEVES_ALONE};
use crate::machine::{Claims, Coalescing};
use crate::models::{Case, Model, OptionLimits, Parameters};
use crate::search::Claim;

const MODEL: Model = Model {
    name: "idempotent::double_ended",
    about: "the owner takes the youngest task and thieves the oldest, at least once",
    mirrors: "crates/filch-queue/src/idempotent/double_ended.rs",
    text: include_str!("double_ended.tso"),
    form: &[],
    claims: Claims { at_most_once: false, nothing_lost: true },
    ends: false,
    takes: OptionLimits { most_tasks: 3, most_thieves: 2, delta: false, extra: false },
    cases: Vec::new(),
};

/// The owner pops and pushes in turn, in the same slot.
const REUSE: &[(&str, i16)] = &[("PREFILLED", 1), ("POPS", 1), ("STEALS", 1)];
/// Two pops and two pushes in turn. The queue is never empty when the owner checks.
const SWING: &[(&str, i16)] = &[("PREFILLED", 1), ("FIRST", 1), ("POPS", 2), ("PUSHES", 2), ("STEALS", 1)];
/// The owner pushes beyond an array of two slots, one of which is spare.
const GROWTH: &[(&str, i16)] = &[("PREFILLED", 1), ("SLOTS", 2), ("LARGEST", 8), ("STEALS", 2)];
/// The array grows to 16 slots, and shrinks to 4 when one task is left. Needs five tasks.
const SHRINKING: &[(&str, i16)] =
    &[("PREFILLED", 3), ("FIRST", 1), ("POPS", 3), ("LOW_WATER", 2), ("LARGEST", 16), ("STEALS", 1)];

pub(in crate::models) fn models() -> Vec<Model> {
    let lost = |tasks, settings| {
        let cases = (1..=4).map(|bound| Case::refutes(Claim::NothingLost, Parameters::new(bound, tasks, 1)));
        cases.map(|case| case.with(settings).quick()).collect::<Vec<_>>()
    };
    vec![
        Model { cases: as_it_is(), ..MODEL },
        Model {
            name: "idempotent::double_ended/never-empty",
            about: "a queue with more tasks than are taken is not reported empty",
            form: NEVER_EMPTY,
            claims: Claims { at_most_once: false, nothing_lost: false },
            cases: never_empty(),
            ..MODEL
        },
        Model {
            name: "idempotent::double_ended/how-often",
            about: "each operation by the owner, and each new array, may return one task once more, and no more",
            form: &[("DRAINS", 0), ("STEALS", 5)],
            claims: Claims { at_most_once: false, nothing_lost: false },
            cases: how_often(),
            ..MODEL
        },
        Model {
            name: "idempotent::double_ended/exactly-once",
            about: "at least once does not promise that a task is extracted only once",
            claims: Claims { at_most_once: true, nothing_lost: false },
            cases: exactly_once(),
            ..MODEL
        },
        Model {
            name: "idempotent::double_ended/untagged",
            about: "without the tag a thief mistakes an old task for a new one",
            form: &[("TAGS", 1), ("WATCHED", 0)],
            cases: lost(2, REUSE),
            ..MODEL
        },
        Model {
            name: "idempotent::double_ended/torn",
            about: "without the tag a thief takes half of one task and half of another",
            form: &[("TAGS", 1), ("WATCHED", 0), ("WORDS", 2)],
            claims: Claims { at_most_once: false, nothing_lost: false },
            cases: (1..=4)
                .map(|bound| Case::refutes(Claim::NoFault, Parameters::new(bound, 2, 1)).with(REUSE).quick())
                .collect(),
            ..MODEL
        },
        Model {
            name: "idempotent::double_ended/unwatched",
            about: "a tag of four values without the watch loses a task with the fourth push",
            form: &[("WATCHED", 0)],
            cases: (1..=4)
                .flat_map(|bound| {
                    let on = |tasks| Parameters::new(bound, tasks, 1);
                    [Case::refutes(Claim::NothingLost, on(5)), Case::holds(on(4))].map(|case| case.with(REUSE).quick())
                })
                .collect(),
            ..MODEL
        },
        Model {
            name: "idempotent::double_ended/two-looks-a-round",
            about: "an owner that watches twice in a round of tags, not four times, is too late",
            form: &[("QUARTER", 2)],
            cases: lost(6, SWING),
            ..MODEL
        },
        Model {
            name: "idempotent::double_ended/two-tags",
            about: "with two tags even a watch at every push is too late; with three it is not",
            form: &[("TAGS", 2), ("QUARTER", 1)],
            cases: two_tags(),
            ..MODEL
        },
        Model {
            name: "idempotent::double_ended/owner-unfenced",
            about: "an owner that watches before its pushes are visible misses a thief that then reads an old anchor",
            form: &[("OWNER_UNFENCED", 1)],
            cases: owner_unfenced(),
            ..MODEL
        },
        Model {
            name: "idempotent::double_ended/thief-unfenced",
            about: "the owner misses a thief that reads the anchor before its announcement is visible",
            form: &[("THIEF_UNFENCED", 1)],
            cases: lost(5, REUSE),
            ..MODEL
        },
    ]
}

fn as_it_is() -> Vec<Case> {
    const UNWATCHED: &[(&str, i16)] =
        &[("PREFILLED", 1), ("POPS", 1), ("STEALS", 2), ("WATCHED", 0), ("TAGS", 32), ("WORDS", 2), ("CHECKED", 1)];
    let mut cases = vec![Case::holds(Parameters::new(2, 3, 2)).quick()];
    for bound in 0..=4 {
        let on = |tasks, thieves| Case::holds(Parameters::new(bound, tasks, thieves));
        cases.extend([
            on(3, 1).quick(),
            on(7, 1).with(REUSE).quick(),
            on(6, 1).with(SWING).quick(),
            on(10, 1).with(&[("PREFILLED", 1), ("FIRST", 1), ("POPS", 2), ("PUSHES", 2), ("STEALS", 1), ("TAGS", 8)]),
            on(3, 1).with(GROWTH).quick(),
            on(5, 1).with(SHRINKING).quick(),
            on(4, 1).with(UNWATCHED).quick(),
            on(5, 1).with(&[("PREFILLED", 1), ("POPS", 1), ("STEALS", 1), ("WORDS", 2), ("CHECKED", 1)]).quick(),
            on(3, 2),
            on(5, 2).with(REUSE),
            on(6, 2).with(SWING),
            on(6, 1).with(&[("PREFILLED", 1), ("FIRST", 1), ("POPS", 2), ("PUSHES", 2), ("STEALS", 2)]),
            on(3, 2).with(GROWTH),
            on(5, 2).with(SHRINKING),
        ]);
    }
    // A long buffer.
    let long = |settings| Case::holds(Parameters::new(8, 3, 1)).with(settings).quick();
    cases.extend([long(REUSE), long(GROWTH)]);
    for bound in 1..=4 {
        let coalescing =
            |tasks, thieves| Case::holds(Parameters::new(bound, tasks, thieves).with_egress(Coalescing::Word));
        cases.extend([
            coalescing(3, 1).quick(),
            coalescing(6, 1).with(SWING).quick(),
            coalescing(3, 1).with(GROWTH),
            coalescing(4, 2).with(REUSE),
        ]);
    }
    cases.push(Case::holds(Parameters::new(3, 8, 2)).with(SWING));
    cases
}

fn how_often() -> Vec<Case> {
    let mut cases = more_often_by_pops();
    for bound in 0..=4 {
        let on = Parameters::new(bound, 3, 1);
        cases.extend([
            Case::refutes(Claim::NoFault, on).with(&[("PREFILLED", 1), ("WATCHED", 0), ("MOST", 2)]).quick(),
            Case::holds(on).with(&[("PREFILLED", 1), ("WATCHED", 0), ("MOST", 3)]).quick(),
            Case::refutes(Claim::NoFault, on).with(&[("PREFILLED", 1), ("MOST", 3)]).quick(),
            Case::holds(on).with(&[("PREFILLED", 1), ("MOST", 4)]).quick(),
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
            Case::holds(Parameters::new(bound, 3, 2)).with(THIEVES_ALONE).quick(),
        ]);
    }
    cases
}

fn two_tags() -> Vec<Case> {
    const OF_THREE: &[(&str, i16)] =
        &[("PREFILLED", 1), ("FIRST", 1), ("POPS", 2), ("PUSHES", 2), ("STEALS", 1), ("TAGS", 3)];
    let mut cases = Vec::new();
    for bound in 1..=4 {
        cases.extend([
            Case::refutes(Claim::NothingLost, Parameters::new(bound, 4, 1)).with(SWING).quick(),
            Case::holds(Parameters::new(bound, 6, 1)).with(OF_THREE).quick(),
        ]);
    }
    cases
}

fn owner_unfenced() -> Vec<Case> {
    const OF_THREE: &[(&str, i16)] =
        &[("PREFILLED", 1), ("FIRST", 1), ("POPS", 2), ("PUSHES", 2), ("STEALS", 1), ("TAGS", 3), ("QUARTER", 1)];
    let on = |bound| Parameters::new(bound, 6, 1);
    vec![
        Case::refutes(Claim::NothingLost, on(6)).with(SWING).quick(),
        Case::holds(on(4)).with(SWING).quick(),
        Case::refutes(Claim::NothingLost, on(4)).with(OF_THREE).quick(),
        Case::refutes(Claim::NothingLost, on(3)).with(OF_THREE).quick(),
        Case::holds(on(2)).with(OF_THREE).quick(),
    ]
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn no_task_is_lost_although_the_tag_wraps_if_the_owner_watches() {
        confirm(&models());
    }
}
