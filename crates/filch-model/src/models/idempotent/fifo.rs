//! FIFO extraction: `crates/filch-queue/src/idempotent/fifo.rs`.
//!
//! An owner pushes and pops, in several rhythms, in an array that grows and shrinks. Each thief
//! tries a few times. At the end the owner pops until the queue is empty, so that every task must
//! have been extracted.
//!
//! Claimed: no task is lost. Every extracted task is a whole task that was pushed. A stolen task
//! was the first of the queue when the thief's CAS found the head unchanged. This needs no tag,
//! though the head moves back. It holds with buffers of every length that was tried, coalescing or
//! not.
//!
//! Not claimed, and shown to be false: each task is extracted once. Each pop can cause one more
//! extraction of a task: with k pops, up to k + 1 extractions. But here only a pop undoes a steal.
//! If the owner only pushes and thieves take all tasks, each task is extracted once, also with
//! growth. The other two idempotent queues cannot claim that.
//!
//! What is broken: a thief that loads the tail before the head reports a queue as empty that was
//! never empty. If a thief loads the array before the head, or the owner publishes the array after
//! the tail, a thief reads a slot that an old array does not have.

use super::scenario::{
    more_often_by_pops, never_empty, on_other_buffers, GROWTH, NEVER_EMPTY, REUSE, SHRINKING, THIEVES_ALONE,
};
use crate::machine::Claims;
use crate::models::{Case, Model, OptionLimits, Parameters};
use crate::search::Claim;

const MODEL: Model = Model {
    name: "idempotent::fifo",
    about: "owner and thieves take the oldest task, at least once",
    mirrors: "crates/filch-queue/src/idempotent/fifo.rs",
    text: include_str!("fifo.tso"),
    form: &[],
    claims: Claims { at_most_once: false, nothing_lost: true },
    ends: false,
    takes: OptionLimits { most_tasks: 6, most_thieves: 2, delta: false, extra: false },
    cases: Vec::new(),
};

pub(in crate::models) fn models() -> Vec<Model> {
    let refuted = |settings, tasks| {
        let cases = (0..=4).map(|bound| Case::refutes(Claim::NoFault, Parameters::new(bound, tasks, 1)));
        cases.map(|case| case.with(settings).quick()).collect::<Vec<_>>()
    };
    vec![
        Model { cases: as_it_is(), ..MODEL },
        Model {
            name: "idempotent::fifo/never-empty",
            about: "a queue with more tasks than are taken is not reported empty",
            form: NEVER_EMPTY,
            claims: Claims { at_most_once: false, nothing_lost: false },
            cases: never_empty(),
            ..MODEL
        },
        Model {
            name: "idempotent::fifo/how-often",
            about: "each pop by the owner may return one task once more, and no more",
            form: &[("DRAINS", 0), ("STEALS", 5)],
            claims: Claims { at_most_once: false, nothing_lost: false },
            cases: how_often(),
            ..MODEL
        },
        Model {
            name: "idempotent::fifo/exactly-once",
            about: "at least once does not promise that a task is extracted only once",
            claims: Claims { at_most_once: true, nothing_lost: false },
            cases: exactly_once(),
            ..MODEL
        },
        Model {
            name: "idempotent::fifo/tail-first",
            about: "a thief that loads the tail before the head reports a queue empty that never was",
            form: &[("TAIL_FIRST", 1), ("NEVER_EMPTY", 1), ("DRAINS", 0), ("STEALS", 1)],
            claims: Claims { at_most_once: false, nothing_lost: false },
            cases: refuted(&[("PREFILLED", 2), ("POPS", 1)], 4),
            ..MODEL
        },
        Model {
            name: "idempotent::fifo/array-first",
            about: "a thief that loads the array before the head reads a slot that an old array lacks",
            form: &[("ARRAY_FIRST", 1)],
            cases: refuted(GROWTH, 3),
            ..MODEL
        },
        Model {
            name: "idempotent::fifo/array-late",
            about:
                "an owner that publishes a new array after the tail makes a thief read a slot that the old array lacks",
            form: &[("ARRAY_LATE", 1)],
            cases: refuted(GROWTH, 3),
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
            on(5, 1).with(&[("PREFILLED", 1), ("POPS", 1), ("SLOTS", 2), ("STEALS", 3)]).quick(),
            on(4, 1).with(GROWTH).quick(),
            on(5, 1).with(SHRINKING).quick(),
            on(4, 1).with(&[("PREFILLED", 1), ("POPS", 1), ("SLOTS", 2), ("WORDS", 2), ("CHECKED", 1)]).quick(),
            on(3, 1).with(&[("PREFILLED", 1), ("SLOTS", 2), ("WORDS", 2), ("CHECKED", 1)]).quick(),
            on(4, 2),
            on(3, 2).with(REUSE),
            on(3, 2).with(GROWTH),
            on(5, 2).with(SHRINKING),
            on(4, 2).with(&[("PREFILLED", 1), ("POPS", 1), ("SLOTS", 2), ("STEALS", 2), ("WORDS", 2), ("CHECKED", 1)]),
        ]);
    }
    cases.extend(on_other_buffers(4));
    cases
}

fn how_often() -> Vec<Case> {
    let mut cases = more_often_by_pops();
    for bound in 0..=4 {
        let on = Parameters::new(bound, 3, 1);
        cases.push(Case::holds(on).with(&[("PREFILLED", 1), ("MOST", 1)]).quick());
    }
    cases
}

fn exactly_once() -> Vec<Case> {
    const OWNER_PUSHES: &[(&str, i16)] = &[("PREFILLED", 1), ("DRAINS", 0), ("SLOTS", 2), ("STEALS", 3)];
    let mut cases = vec![Case::refutes(Claim::AtMostOnce, Parameters::new(1, 1, 1)).quick()];
    for bound in 0..=4 {
        cases.extend([
            Case::refutes(Claim::AtMostOnce, Parameters::new(bound, 1, 1)).quick(),
            Case::holds(Parameters::new(bound, 4, 0)).with(REUSE).quick(),
            Case::holds(Parameters::new(bound, 4, 0)).with(GROWTH).quick(),
            Case::holds(Parameters::new(bound, 4, 2)).with(THIEVES_ALONE).quick(),
            Case::holds(Parameters::new(bound, 4, 1)).with(OWNER_PUSHES).quick(),
            Case::holds(Parameters::new(bound, 4, 2)).with(OWNER_PUSHES),
        ]);
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn no_task_is_lost_although_the_head_moves_back() {
        confirm(&models());
    }
}
