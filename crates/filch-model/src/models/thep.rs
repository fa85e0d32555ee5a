//! THEP, the fence-free THE whose owner answers: `crates/filch-queue/src/thep.rs`.
//!
//! The owner empties the queue while thieves steal. It also pushes, past the end of its array and
//! into a larger array, and moves to a smaller array.
//!
//! With the delta of the paper each task is extracted exactly once; with one less a task is
//! extracted twice ([`delta`](crate::delta)). THEP needs the same delta as FF-THE. The echo does
//! not help a thief that trusts the tail, and a thief that does not trust it needs no bound. A
//! thief may abort instead of waiting; the only effect is that it ends. No steal reports a queue as
//! empty that was never empty.
//!
//! If the owner pops until the queue is empty, or is dropped, every fair run ends. If it stops
//! while tasks are left, a thief waits forever. In figure 5 a thief also waits forever if the owner
//! has meanwhile pushed more than delta tasks and then pops no more. The thief of filch loads the
//! tail again.
//!
//! The counter of steals must not wrap while an echo is in the store buffer. With a counter of
//! three values a thief takes the echo of an earlier pop for an answer, although it skips the
//! counter that it can see there. The counter of filch has 2^32 values, and no store waits that
//! long.
//!
//! The counter may be a word of its own (`thep/separate-counter`). Then a thief must store the head
//! before the counter. If it stores the counter first, the owner can echo it in two pops that both
//! load the old head. The thief sees the first pop with its echo; the second is still hidden, so a
//! task is extracted twice. In which order the owner loads the two words does not matter: a pop
//! that loads the new counter may have loaded the old head, but its own tail is visible with its
//! echo, and all later pops see the new head. On sequential consistency no order matters.
//!
//! If the bound is not guaranteed and delta is too small, a task may be extracted twice, but none
//! is lost. The first push after a pop settles, and a pop settles before it moves to a smaller
//! array. Without the settling push a task is lost. Without the settling pop a thief takes the
//! contents of an unwritten slot.

use crate::machine::{Buffer, Claims};
use crate::models::fence_free::{self, exact};
use crate::models::scenario::Scenario;
use crate::models::{Case, Model, OptionLimits, Parameters};
use crate::search::Claim;

/// The owner pops once and then stops.
const OWNER_STOPS: Scenario = &[("DRAINS", 0), ("POPS", 1)];

/// The owner never pops, but pushes two tasks after the first one.
const OWNER_ONLY_PUSHES: Scenario = &[("PREFILLED", 1), ("DRAINS", 0), ("STEALS", 1)];

/// Each thief steals as many times as the counter has values.
const THREE_STEALS: Scenario = &[("STEALS", 3)];

pub(in crate::models) fn models() -> Vec<Model> {
    let thep = Model {
        name: "thep",
        about: "THEP: the owner pops without a fence and echoes the thief, which waits for it if necessary",
        mirrors: "crates/filch-queue/src/thep.rs",
        text: include_str!("thep.tso"),
        form: &[],
        claims: Claims { at_most_once: true, nothing_lost: true },
        ends: true,
        takes: OptionLimits { most_tasks: 12, most_thieves: 3, delta: true, extra: true },
        cases: fence_free::exactly_once(1),
    };
    let at_least_once = Claims { at_most_once: false, nothing_lost: true };
    let at_most_once = Claims { at_most_once: true, nothing_lost: false };
    let left = |bound| exact(Buffer::Bounded(bound), 1, 0);
    let pushed = |bound| Parameters::new(bound, 3, 1).with_delta(1, 1);
    let other_forms = [
        Model {
            name: "thep/delta-too-small",
            about: "THEP with a delta one less than it should be",
            cases: fence_free::too_small(1),
            ends: false,
            ..thep.clone()
        },
        Model {
            name: "thep/never-empty",
            about: "THEP on a queue that is never empty: no steal reports it empty, but a thief may wait forever",
            cases: fence_free::never_empty(),
            ends: false,
            ..thep.clone()
        },
        Model {
            name: "thep/owner-stops",
            about: "THEP with an owner that stops popping while tasks are left: a thief waits forever",
            claims: at_most_once,
            cases: (1..=4).map(|bound| Case::refutes(Claim::Ends, left(bound)).with(OWNER_STOPS).quick()).collect(),
            ..thep.clone()
        },
        Model {
            name: "thep/owner-only-pushes",
            about: "THEP with an owner that pops no more but pushes beyond delta: a thief does not wait",
            claims: at_most_once,
            cases: (0..=2).map(|bound| Case::holds(pushed(bound)).with(OWNER_ONLY_PUSHES).quick()).collect(),
            ..thep.clone()
        },
        Model {
            name: "thep/impatient",
            about: "THEP whose thieves abort where they would wait: exactly once, and none waits for an owner that stops popping",
            form: &[("IMPATIENT", 1)],
            cases: fence_free::exactly_once(1),
            ..thep.clone()
        },
        Model {
            name: "thep/impatient-owner-stops",
            about: "THEP whose thieves abort where they would wait, with an owner that stops popping while tasks are left",
            form: &[("IMPATIENT", 1)],
            claims: at_most_once,
            cases: (1..=4).map(|bound| Case::holds(left(bound)).with(OWNER_STOPS).quick()).collect(),
            ..thep.clone()
        },
        Model {
            name: "thep/figure",
            about: "THEP as in figure 5, whose thief then waits forever",
            mirrors: "figure 5 of Fence-Free Work Stealing on Bounded TSO Processors",
            form: &[("FIGURE", 1)],
            claims: at_most_once,
            cases: (0..=2)
                .map(|bound| Case::refutes(Claim::Ends, pushed(bound)).with(OWNER_ONLY_PUSHES).quick())
                .collect(),
            ..thep.clone()
        },
        Model {
            name: "thep/counter-comes-round",
            about: "THEP with a counter so small that it wraps while an echo is in the store buffer",
            form: &[("COUNTERS", 3)],
            cases: (2..=4)
                .map(|bound| Parameters::new(bound, 4, 1).with_delta(2, 1))
                .map(|parameters| Case::refutes(Claim::AtMostOnce, parameters).with(THREE_STEALS).quick())
                .collect(),
            ends: false,
            ..thep.clone()
        },
        Model {
            name: "thep/separate-counter",
            about: "THEP with the counter in a word of its own, which a thief stores after the head",
            mirrors: "section 5 of Fence-Free Work Stealing on Bounded TSO Processors",
            form: &[("SEPARATE", 1)],
            cases: [fence_free::exactly_once(1), vec![in_order()]].concat(),
            ..thep.clone()
        },
        Model {
            name: "thep/separate-counter-loaded-last",
            about: "THEP with a counter that the owner loads after the head: as good as before it",
            mirrors: "section 5 of Fence-Free Work Stealing on Bounded TSO Processors",
            form: &[("SEPARATE", 1), ("HEAD_LOADED_FIRST", 1)],
            cases: fence_free::exactly_once(1).into_iter().filter(|case| case.quick).collect(),
            ..thep.clone()
        },
        Model {
            name: "thep/separate-counter-stored-first",
            about: "THEP with a counter that a thief stores before the head: an echo proves too little",
            mirrors: "section 5 of Fence-Free Work Stealing on Bounded TSO Processors",
            form: &[("SEPARATE", 1), ("HEAD_STORED_FIRST", 0)],
            cases: stored_first(),
            ends: false,
            ..thep.clone()
        },
        Model {
            name: "thep/separate-counter-both-wrong",
            about: "THEP with a counter that a thief stores before the head and the owner loads after it",
            mirrors: "section 5 of Fence-Free Work Stealing on Bounded TSO Processors",
            form: &[("SEPARATE", 1), ("HEAD_STORED_FIRST", 0), ("HEAD_LOADED_FIRST", 1)],
            cases: stored_first(),
            ends: false,
            ..thep.clone()
        },
        Model {
            name: "thep/client-stores",
            about: "THEP with a delta that counts the stores of the client",
            cases: fence_free::client_stores(),
            ..thep.clone()
        },
        Model {
            name: "thep/client-stores-delta-too-small",
            about: "THEP with a delta that counts one store of the client too many, or that is one too small",
            cases: fence_free::client_stores_too_small(),
            ends: false,
            ..thep.clone()
        },
        Model {
            name: "thep/untrusted",
            about: "THEP as the safe constructors make it: at least once with any delta",
            form: &[("TRUSTED", 0)],
            claims: at_least_once,
            cases: fence_free::untrusted(1),
            ..thep.clone()
        },
        Model {
            name: "thep/shrinks-unsettled",
            about: "THEP as the safe constructors make it, but with no settling before a smaller array: a thief reads an unwritten slot",
            form: &[("TRUSTED", 0), ("SETTLES_FIRST", 0)],
            claims: at_least_once,
            cases: fence_free::shrinks_unsettled(),
            ends: false,
            ..thep.clone()
        },
        Model {
            name: "thep/unsettled",
            about: "THEP with a delta that is too small and an owner that does not settle: a task is lost",
            claims: at_least_once,
            cases: fence_free::unsettled(),
            ends: false,
            ..thep.clone()
        },
    ];
    [thep].into_iter().chain(other_forms).collect()
}

/// Cases of a thief that stores the counter before the head.
fn stored_first() -> Vec<Case> {
    let refuted = |bound| Case::refutes(Claim::AtMostOnce, exact(Buffer::Bounded(bound), 1, 0)).quick();
    (1..=4).map(refuted).chain([in_order()]).collect()
}

/// A case without store buffers.
fn in_order() -> Case {
    Case::holds(Parameters::new(0, 3, 1).with_delta(1, 1)).quick()
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn thep_is_exactly_once_given_delta_and_ends_if_the_owner_keeps_popping() {
        confirm(&models());
    }
}
