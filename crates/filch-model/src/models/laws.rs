//! Section 6 of *Fence-Free Work Stealing on Bounded TSO Processors*: why pops without a fence do
//! not contradict the laws of order.
//!
//! The law: if two methods are strongly non-commutative, each changing the other's answer if it
//! comes first, then a linearizable and tight implementation has a run with an atomic instruction
//! in the method, or (on TSO) a fence. Tight means that every sequential run of the specification
//! is a run of the implementation. A pop and a steal are such methods, but only on a queue with one
//! task. So each model has one task and a thief whose steal begins and ends before the owner pops,
//! unless it says otherwise. The claim `SPARES` is that no steal extracts a task. It is refuted
//! where the implementation is tight.
//!
//! | queue | a steal alone, one task | so |
//! |---|---|---|
//! | Chase-Lev, THE | takes the task | tight; the pop has a fence |
//! | FF-THE | aborts | not tight: its specification is a deque whose steals may abort |
//! | FF-CL | aborts | the same |
//! | THEP | never returns | not tight, by waiting; its specification is the deque |
//!
//! - The premise that fails is tightness, on every bound and on sequential consistency. It is not
//!   linearizability: with a fence at the end of push, which has nothing to do with the law, all
//!   five are linearizable ([`linearizability`](super::linearizability)). FF-THE and FF-CL are so
//!   only to the relaxed specification (`laws/ff_the-strict`, `laws/ff_cl-strict`).
//! - FF-THE with a delta of 0 is tight, and its pop, if it runs alone, has no fence and no lock. So
//!   the law applies: a task is extracted twice, with any store buffer (`laws/ff_the-no-delta`). On
//!   sequential consistency it is not: there a store and then a load of another word, as in pop, is
//!   all that the law demands.
//! - FF-CL with a delta of 0 is tight too, and yet its only task is extracted once
//!   (`laws/ff_cl-no-delta`). Its pop of the last task is a CAS, which is all that the law demands.
//!   Delta protects the other pops, of which the law says nothing: with more tasks and two steals a
//!   task is extracted twice.
//! - Bounded reordering makes the relaxed specification useful, rather than the law void. With a
//!   known bound there is a delta, and a steal from a queue with more than delta tasks succeeds.
//!   With a delta that is too small for the bound a task is extracted twice, so without any bound
//!   every steal would have to abort.

use super::linearizability::{bounded, queue, with_history};
use super::scenario::{NO_POPS, ONE_STEAL};
use super::{Case, Model, Parameters};
use crate::search::Claim;

const BOUNDS: [u8; 5] = [4, 0, 1, 2, 3];

pub(super) fn models() -> Vec<Model> {
    let spares: &[_] = &[("HISTORY", 1), ("ABORTS", 1), ("SPARES", 1)];
    let chase_lev = queue(with_history!("chase_lev.tso"), "crates/filch-queue/src/chase_lev.rs", false);
    let the = queue(with_history!("the.tso"), "crates/filch-queue/src/the.rs", false);
    let ff_cl = queue(with_history!("ff_cl.tso"), "crates/filch-queue/src/ff_cl.rs", true);
    let ff_the = queue(with_history!("ff_the.tso"), "crates/filch-queue/src/ff_the.rs", true);
    let thep = queue(with_history!("thep.tso"), "crates/filch-queue/src/thep.rs", true);
    vec![
        Model {
            name: "laws/chase_lev",
            about: "Chase-Lev is tight: a steal that runs alone takes the only task",
            form: spares,
            cases: each(|bound| Case::refutes(Claim::NoFault, bounded(bound, 1, 1)).with(NO_POPS)),
            ends: false,
            ..chase_lev
        },
        Model {
            name: "laws/the",
            about: "THE is tight: a steal that runs alone takes the only task",
            form: spares,
            cases: each(|bound| Case::refutes(Claim::NoFault, bounded(bound, 1, 1)).with(NO_POPS)),
            ends: false,
            ..the
        },
        Model {
            name: "laws/ff_the",
            about: "FF-THE is not tight: a steal that runs alone takes a task only if there are more than delta",
            form: spares,
            cases: spares_delta_tasks(),
            ..ff_the.clone()
        },
        Model {
            name: "laws/ff_the-strict",
            about: "FF-THE with a fenced push is not linearizable to the deque whose steals never abort",
            form: &[("HISTORY", 1), ("PUSH_FENCED", 1)],
            cases: each(|bound| Case::refutes(Claim::Linearizable, bounded(bound, 1, 1)).with(NO_POPS)),
            ends: false,
            ..ff_the.clone()
        },
        Model {
            name: "laws/ff_the-no-delta",
            about: "FF-THE with a delta of 0 is tight, and the only task is extracted twice",
            form: &[("HISTORY", 1)],
            cases: [
                takes_the_only_task(),
                each(|bound| match bound {
                    0 => Case::holds(no_delta(bound, 1)).with(ONE_STEAL),
                    _ => Case::refutes(Claim::AtMostOnce, no_delta(bound, 1)).with(ONE_STEAL),
                }),
            ]
            .concat(),
            ..ff_the
        },
        Model {
            name: "laws/ff_cl",
            about: "FF-CL is not tight: a steal that runs alone takes a task only if there are more than delta",
            form: spares,
            cases: spares_delta_tasks(),
            ..ff_cl.clone()
        },
        Model {
            name: "laws/ff_cl-strict",
            about: "FF-CL with a fenced push is not linearizable to the deque whose steals never abort",
            form: &[("HISTORY", 1), ("PUSH_FENCED", 1)],
            cases: each(|bound| Case::refutes(Claim::Linearizable, bounded(bound, 1, 1)).with(NO_POPS)),
            ends: false,
            ..ff_cl.clone()
        },
        Model {
            name: "laws/ff_cl-no-delta",
            about: "FF-CL with a delta of 0 is tight: a CAS protects the only task, but nothing two tasks",
            form: &[("HISTORY", 1)],
            cases: [
                takes_the_only_task(),
                each(|bound| Case::holds(no_delta(bound, 1)).with(ONE_STEAL)),
                each(|bound| match bound {
                    0 => Case::holds(no_delta(bound, 2)),
                    _ => Case::refutes(Claim::AtMostOnce, no_delta(bound, 2)),
                }),
            ]
            .concat(),
            ..ff_cl
        },
        Model {
            name: "laws/thep",
            about: "THEP is not tight: a steal that runs alone on one task never returns",
            form: &[("HISTORY", 1)],
            cases: each(|bound| Case::refutes(Claim::Ends, bounded(bound, 1, 1)).with(NO_POPS)),
            ..thep
        },
    ]
}

fn each(case: impl Fn(u8) -> Case) -> Vec<Case> {
    BOUNDS.map(|bound| case(bound).quick()).into()
}

fn no_delta(bound: u8, tasks: i16) -> Parameters {
    Parameters::new(bound, tasks, 1).with_delta(0, 1)
}

/// Cases with up to delta tasks, which a steal spares, and with one more.
fn spares_delta_tasks() -> Vec<Case> {
    let few = |bound| (1..=bounded(bound, 1, 1).delta).map(move |tasks| Case::holds(bounded(bound, tasks, 1)));
    let enough = |bound| Case::refutes(Claim::NoFault, bounded(bound, bounded(bound, 1, 1).delta + 1, 1));
    let all = BOUNDS.into_iter().flat_map(|bound| few(bound).chain([enough(bound)]));
    all.map(|case| case.with(NO_POPS).quick()).collect()
}

/// Cases in which a steal that runs alone takes the only task.
fn takes_the_only_task() -> Vec<Case> {
    const ALONE: &[(&str, i16)] = &[("NEVER_EMPTY", 1), ("STEALS", 1), ("SPARES", 1)];
    each(|bound| Case::refutes(Claim::NoFault, no_delta(bound, 1)).with(ALONE))
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn a_queue_without_the_owners_fence_is_not_tight_or_not_exactly_once() {
        confirm(&models());
    }
}
