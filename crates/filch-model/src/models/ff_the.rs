//! FF-THE, the fence-free THE: `crates/filch-queue/src/ff_the.rs`.
//!
//! The owner empties the queue while thieves steal. It also pushes, past the end of its array and
//! into a larger array, and moves to a smaller array.
//!
//! With the delta of the paper each task is extracted exactly once, and with one less a task is
//! extracted twice, for every bound and number of extra stores that was tried
//! ([`delta`](crate::delta)). With coalescing and no extra store no delta helps. Extra stores to
//! the line of the tail do not help if whole lines coalesce. Extra stores to one line help as much
//! as stores to two lines in turn: stores that coalesce in the egress slot have each used an entry
//! of the buffer.
//!
//! If the bound is not guaranteed and delta is too small, a task may be extracted twice, but none
//! is lost. The first push after a pop settles, and a pop settles before it moves to a smaller
//! array. Without the settling push a task is lost. Without the settling pop a thief takes the
//! contents of an unwritten slot.
//!
//! No steal reports a queue as empty that was never empty. For that, a thief must check whether
//! another thief is inside that will withdraw.

use crate::machine::{Claims, Coalescing};
use crate::models::fence_free;
use crate::models::scenario::NO_POPS;
use crate::models::{Case, Model, OptionLimits, Parameters};
use crate::search::Claim;

pub(in crate::models) fn models() -> Vec<Model> {
    let ff_the = Model {
        name: "ff_the",
        about: "FF-THE: the owner pops without a fence, and a thief allows for delta hidden pops",
        mirrors: "crates/filch-queue/src/ff_the.rs",
        text: include_str!("ff_the.tso"),
        form: &[],
        claims: Claims { at_most_once: true, nothing_lost: true },
        ends: true,
        takes: OptionLimits { most_tasks: 12, most_thieves: 3, delta: true, extra: true },
        cases: [fence_free::exactly_once(0), fence_free::never_empty()].concat(),
    };
    let at_least_once = Claims { at_most_once: false, nothing_lost: true };
    let hasty = |bound| Parameters::new(bound, 1, 2).with_delta(1, 1);
    let other_forms = [
        Model {
            name: "ff_the/delta-too-small",
            about: "FF-THE with a delta one less than it should be",
            cases: fence_free::too_small(0),
            ends: false,
            ..ff_the.clone()
        },
        Model {
            name: "ff_the/no-extra-store",
            about: "FF-THE on a machine that coalesces, without a store between pops: no delta is enough",
            cases: fence_free::no_safe_delta(Coalescing::Word, 0, 1),
            ends: false,
            ..ff_the.clone()
        },
        Model {
            name: "ff_the/beside-the-tail",
            about: "FF-THE whose extra stores go to the line of the tail, on a machine that coalesces lines: no delta is enough",
            form: &[("BESIDE", 1)],
            cases: [1, 2].map(|extra| fence_free::no_safe_delta(Coalescing::Line, extra, 1)).concat(),
            ends: false,
            ..ff_the.clone()
        },
        Model {
            name: "ff_the/one-spacer",
            about: "FF-THE whose extra stores all go to one line, which is as safe as two",
            form: &[("ONE_SPACER", 1)],
            cases: fence_free::coalescing_spacers(),
            ..ff_the.clone()
        },
        Model {
            name: "ff_the/hasty-look",
            about: "FF-THE whose thieves report the queue empty while another thief may withdraw",
            form: &[("HASTY", 1)],
            cases: (0..=4).map(|bound| Case::refutes(Claim::NoFault, hasty(bound)).with(NO_POPS).quick()).collect(),
            ends: false,
            ..ff_the.clone()
        },
        Model {
            name: "ff_the/client-stores",
            about: "FF-THE with a delta that counts the stores of the client",
            cases: fence_free::client_stores(),
            ..ff_the.clone()
        },
        Model {
            name: "ff_the/client-stores-delta-too-small",
            about: "FF-THE with a delta that counts one store of the client too many, or that is one too small",
            cases: fence_free::client_stores_too_small(),
            ends: false,
            ..ff_the.clone()
        },
        Model {
            name: "ff_the/untrusted",
            about: "FF-THE as the safe constructors make it: at least once with any delta",
            form: &[("TRUSTED", 0)],
            claims: at_least_once,
            cases: fence_free::untrusted(0),
            ..ff_the.clone()
        },
        Model {
            name: "ff_the/shrinks-unsettled",
            about: "FF-THE as the safe constructors make it, but with no settling before a smaller array: a thief reads an unwritten slot",
            form: &[("TRUSTED", 0), ("SETTLES_FIRST", 0)],
            claims: at_least_once,
            cases: fence_free::shrinks_unsettled(),
            ends: false,
            ..ff_the.clone()
        },
        Model {
            name: "ff_the/unsettled",
            about: "FF-THE with a delta that is too small and an owner that does not settle: a task is lost",
            claims: at_least_once,
            cases: fence_free::unsettled(),
            ends: false,
            ..ff_the.clone()
        },
    ];
    [ff_the].into_iter().chain(other_forms).collect()
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn ff_the_is_exactly_once_given_delta_and_at_least_once_without() {
        confirm(&models());
    }
}
