//! Section 3.3 of *Fence-Free Work Stealing on Bounded TSO Processors*: which queues are
//! linearizable, and what a fence at the end of push changes.
//!
//! Each program records its [history](crate::history). Chase-Lev, THE and THEP must be linearizable
//! to a deque, FF-CL and FF-THE to a deque whose steals may also abort. None of the five is, not
//! even those whose pop has a fence: a push returns while its stores wait in the store buffer, and
//! a later steal reports an empty queue. The five behave like that on TSO from the smallest bound
//! on, and not on sequential consistency.
//!
//! With a fence at the end of push all five are linearizable, in every case searched. The pops of
//! FF-CL, FF-THE and THEP still have no fence: a store of a pop only lowers the tail, so a thief
//! that does not see it yet finds too many tasks, never too few, and delta is for that. A fence
//! before the store of the tail does not help. It is the store of the tail that thieves miss.
//!
//! FF-THE as in figure 3 needs no fence. Its thief never reports an empty queue; it aborts, which
//! the relaxed specification allows at any time. Only the thief of filch, which tells an empty
//! queue from one with at most delta tasks, can be wrong about that. The paper says that all of its
//! algorithms have such violations.

use super::fence_free::exact;
use super::scenario::Scenario;
use super::{Case, Model, OptionLimits, Parameters};
use crate::machine::{Buffer, Claims};
use crate::search::Claim;

/// The text of a queue, and the routines that record its history.
macro_rules! with_history {
    ($file:literal) => {
        concat!(include_str!($file), include_str!("history.tso"))
    };
}
pub(super) use with_history;

/// The queue is empty at first. The owner pushes the tasks and empties the queue; each thief steals
/// once.
const PUSHES: Scenario = &[("PREFILLED", 0), ("STEALS", 1)];

/// One task is in the queue at first. The owner pops it, pushes the others and empties the queue;
/// each thief steals once.
const POPS_AND_PUSHES: Scenario = &[("PREFILLED", 1), ("POPS", 1), ("STEALS", 1)];

/// The same, and each thief steals twice.
const POPS_PUSHES_STEALS: Scenario = &[("PREFILLED", 1), ("POPS", 1)];

/// The owner pushes a task to two others and empties the queue; each thief steals once.
const PUSHES_A_THIRD: Scenario = &[("PREFILLED", 2), ("STEALS", 1)];

/// The names of the forms of a queue, in the order of [`Forms`].
macro_rules! names {
    ($queue:literal) => {
        [
            concat!("linearizability/", $queue),
            concat!("linearizability/", $queue, "-fenced-push"),
            concat!("linearizability/", $queue, "-fence-too-early"),
        ]
    };
}

/// The settings of the forms: push without a fence, with a fence, with a fence before the tail.
type Forms = [&'static [(&'static str, i16)]; 3];

/// The specification is the deque.
const STRICT: Forms = [&[("HISTORY", 1)], &[("HISTORY", 1), ("PUSH_FENCED", 1)], &[("HISTORY", 1), ("PUSH_FENCED", 2)]];

/// The specification is the deque whose steals may abort.
const RELAXED: Forms = [
    &[("HISTORY", 1), ("ABORTS", 1)],
    &[("HISTORY", 1), ("ABORTS", 1), ("PUSH_FENCED", 1)],
    &[("HISTORY", 1), ("ABORTS", 1), ("PUSH_FENCED", 2)],
];

pub(super) fn models() -> Vec<Model> {
    let chase_lev = queue(with_history!("chase_lev.tso"), "crates/filch-queue/src/chase_lev.rs", false);
    let the = queue(with_history!("the.tso"), "crates/filch-queue/src/the.rs", false);
    let ff_cl = queue(with_history!("ff_cl.tso"), "crates/filch-queue/src/ff_cl.rs", true);
    let ff_the = queue(with_history!("ff_the.tso"), "crates/filch-queue/src/ff_the.rs", true);
    let thep = queue(with_history!("thep.tso"), "crates/filch-queue/src/thep.rs", true);
    let figure = Model {
        name: "linearizability/ff_the-figure",
        about: "FF-THE as in figure 3, whose thief aborts on an empty queue too: linearizable without any fence",
        mirrors: "figure 3 of Fence-Free Work Stealing on Bounded TSO Processors",
        form: &[("HISTORY", 1), ("ABORTS", 1), ("FIGURE", 1)],
        cases: linearizable(),
        ..ff_the.clone()
    };
    let each = [
        forms(&chase_lev, STRICT, names!("chase_lev")),
        forms(&the, STRICT, names!("the")),
        forms(&ff_the, RELAXED, names!("ff_the")),
        forms(&ff_cl, RELAXED, names!("ff_cl")),
        forms(&thep, STRICT, names!("thep")),
    ];
    each.into_iter().flatten().chain([figure]).collect()
}

/// A queue that records its history. `fence_free` says that its thieves allow for hidden pops.
pub(super) fn queue(text: &'static str, mirrors: &'static str, fence_free: bool) -> Model {
    Model {
        name: "",
        about: "",
        mirrors,
        text,
        form: &[],
        claims: Claims { at_most_once: true, nothing_lost: true },
        ends: true,
        takes: OptionLimits { most_tasks: 3, most_thieves: 2, delta: fence_free, extra: fence_free },
        cases: Vec::new(),
    }
}

fn forms(queue: &Model, settings: Forms, names: [&'static str; 3]) -> [Model; 3] {
    let form = |which: usize, about, cases, ends| Model {
        name: names[which],
        about,
        form: settings[which],
        cases,
        ends,
        ..queue.clone()
    };
    [
        form(0, "the queue as it is: a steal that begins after a push can miss it", misses_a_push(), false),
        form(1, "the queue with a fence at the end of push, and no other: linearizable", linearizable(), true),
        form(
            2,
            "the queue with a fence in push before the store of the tail: not linearizable",
            misses_a_push(),
            false,
        ),
    ]
}

/// A machine with this bound, and the delta of the paper.
pub(super) fn bounded(bound: u8, tasks: i16, thieves: i16) -> Parameters {
    // Without store buffers, delta is as for the smallest buffer.
    let delta = exact(Buffer::Bounded(bound.max(1)), 1, 0).delta;
    Parameters::new(bound, tasks, thieves).with_delta(delta, 1)
}

/// Cases in which a push waits in the store buffer while a thief finds an empty queue.
fn misses_a_push() -> Vec<Case> {
    let refuted = |bound| Case::refutes(Claim::Linearizable, bounded(bound, 1, 1)).with(PUSHES).quick();
    [4, 1, 2, 3].map(refuted).into_iter().chain([Case::holds(bounded(0, 1, 1)).with(PUSHES).quick()]).collect()
}

/// Cases in which every history is linearizable.
fn linearizable() -> Vec<Case> {
    let mut cases = Vec::new();
    for bound in [4, 0, 1, 2, 3] {
        cases.push(Case::holds(bounded(bound, 1, 1)).with(PUSHES).quick());
        cases.push(Case::holds(bounded(bound, 2, 1)).with(POPS_AND_PUSHES).quick());
        cases.push(Case::holds(bounded(bound, 3, 1)).with(PUSHES_A_THIRD).quick());
        cases.push(Case::holds(bounded(bound, 2, 1)).with(POPS_PUSHES_STEALS));
        cases.push(Case::holds(bounded(bound, 1, 2)).with(PUSHES));
        cases.push(Case::holds(bounded(bound, 2, 2)).with(PUSHES));
        cases.push(Case::holds(bounded(bound, 3, 2)).with(PUSHES_A_THIRD));
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn a_queue_is_linearizable_only_with_a_fence_at_the_end_of_push() {
        confirm(&models());
    }
}
