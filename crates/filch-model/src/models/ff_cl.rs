//! FF-CL, the fence-free Chase-Lev: `crates/filch-queue/src/ff_cl.rs`.
//!
//! The owner empties the queue while thieves steal. It also pushes, past the end of its array and
//! into a larger array, and moves to a smaller array, while thieves hold the old array.
//!
//! With the delta of the paper each task is extracted exactly once, and with one less a task is
//! extracted twice, for every bound and number of extra stores that was tried
//! ([`delta`](crate::delta)). With coalescing and no extra store no delta helps. Extra stores to
//! the line of the tail do not help if whole lines coalesce. A fault takes two steals, because the
//! owner settles the last task by CAS. The first steal moves the head to a task whose pop is still
//! hidden.
//!
//! If the bound is not guaranteed and delta is too small, a task may be extracted twice, but none
//! is lost. The first push after a pop settles, and a pop settles before it moves to a smaller
//! array. Without the settling push a task is lost. Without the settling pop a thief takes the
//! contents of an unwritten slot.
//!
//! No steal reports a queue as empty that was never empty.

use crate::machine::{Claims, Coalescing};
use crate::models::fence_free;
use crate::models::{Model, OptionLimits};

pub(in crate::models) fn models() -> Vec<Model> {
    let ff_cl = Model {
        name: "ff_cl",
        about: "FF-CL: the owner pops without a fence, and a thief allows for delta hidden pops",
        mirrors: "crates/filch-queue/src/ff_cl.rs",
        text: include_str!("ff_cl.tso"),
        form: &[],
        claims: Claims { at_most_once: true, nothing_lost: true },
        ends: true,
        takes: OptionLimits { most_tasks: 12, most_thieves: 3, delta: true, extra: true },
        cases: [fence_free::exactly_once(0), fence_free::never_empty()].concat(),
    };
    let at_least_once = Claims { at_most_once: false, nothing_lost: true };
    let other_forms = [
        Model {
            name: "ff_cl/delta-too-small",
            about: "FF-CL with a delta one less than it should be",
            cases: fence_free::too_small(0),
            ends: false,
            ..ff_cl.clone()
        },
        Model {
            name: "ff_cl/no-extra-store",
            about: "FF-CL on a machine that coalesces, without a store between pops: no delta is enough",
            cases: fence_free::no_safe_delta(Coalescing::Word, 0, 2),
            ends: false,
            ..ff_cl.clone()
        },
        Model {
            name: "ff_cl/beside-the-tail",
            about: "FF-CL whose extra stores go to the line of the tail, on a machine that coalesces lines: no delta is enough",
            form: &[("BESIDE", 1)],
            cases: [1, 2].map(|extra| fence_free::no_safe_delta(Coalescing::Line, extra, 2)).concat(),
            ends: false,
            ..ff_cl.clone()
        },
        Model {
            name: "ff_cl/client-stores",
            about: "FF-CL with a delta that counts the stores of the client",
            cases: fence_free::client_stores(),
            ..ff_cl.clone()
        },
        Model {
            name: "ff_cl/client-stores-delta-too-small",
            about: "FF-CL with a delta that counts one store of the client too many, or that is one too small",
            cases: fence_free::client_stores_too_small(),
            ends: false,
            ..ff_cl.clone()
        },
        Model {
            name: "ff_cl/untrusted",
            about: "FF-CL as the safe constructors make it: at least once with any delta",
            form: &[("TRUSTED", 0)],
            claims: at_least_once,
            cases: fence_free::untrusted(0),
            ..ff_cl.clone()
        },
        Model {
            name: "ff_cl/shrinks-unsettled",
            about: "FF-CL as the safe constructors make it, but with no settling before a smaller array: a thief reads an unwritten slot",
            form: &[("TRUSTED", 0), ("SETTLES_FIRST", 0)],
            claims: at_least_once,
            cases: fence_free::shrinks_unsettled(),
            ends: false,
            ..ff_cl.clone()
        },
        Model {
            name: "ff_cl/unsettled",
            about: "FF-CL with a delta that is too small and an owner that does not settle: a task is lost",
            claims: at_least_once,
            cases: fence_free::unsettled(),
            ends: false,
            ..ff_cl.clone()
        },
    ];
    [ff_cl].into_iter().chain(other_forms).collect()
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn ff_cl_is_exactly_once_given_delta_and_at_least_once_without() {
        confirm(&models());
    }
}
