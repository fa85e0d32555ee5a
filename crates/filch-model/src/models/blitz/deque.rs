//! Blitz's deque, from the listing of `Deque.zig` on the page *Work Stealing Algorithm*.
//!
//! **Popping the last item loses the next push.** A pop that wins the last item by its exchange has
//! lowered the bottom and raised the top, and returns. The bottom is now one below the top. The
//! next push writes its item at the bottom, below the top, where neither a pop nor a steal looks
//! again. It takes one thread and no store buffer: pop, push, and a pop that says empty (`verify
//! blitz/deque --trace`). Each pop of the last item loses one push. Later pushes are visible, and
//! nothing is extracted twice. A pop that loses the last item to a thief moves the bottom back, so
//! it loses nothing. Nor does an owner that never pushes after a pop.
//!
//! `blitz/deque-restored` also moves the bottom back if the exchange succeeds, as Chase-Lev does.
//! It is exactly once. `blitz/deque-unfenced` is that without the sequentially consistent store in
//! pop: a task is extracted twice.
//!
//! What the page leaves open, and what is assumed here:
//!
//! - The listing tests `!cmpxchgStrong(…)`, which Zig does not compile: the result is an optional,
//!   null on success. The comments say that the branch is that of a thief that got the item, so it
//!   is read as "if the exchange fails". It does not matter for the loss, which is in the other
//!   branch.
//! - Pop's store of the bottom is sequentially consistent. On x86 that is an exchange or a store
//!   and a fence; here it is the latter. All loads are plain loads on this machine.
//! - Steal's weak exchange may also fail without cause. The thief then retries, so it is not
//!   modelled.
//! - The page says that a push always succeeds and lists no growth. The buffer is large enough
//!   here.
//! - The published library may differ from its page. This is a model of the page.

use crate::machine::Claims;
use crate::models::scenario::{Scenario, ONE_STEAL};
use crate::models::{Case, Model, OptionLimits, Parameters};
use crate::search::Claim;

/// The owner pops the only item, pushes the others and empties the deque; each thief steals once.
const PUSHES_LATE: Scenario = &[("PREFILLED", 1), ("POPS", 1), ("STEALS", 1)];

/// The same, but before the pushes the owner pops once more.
const PUSHES_WHEN_EMPTY: Scenario = &[("PREFILLED", 1), ("POPS", 2), ("STEALS", 1)];

/// Each push is followed by a pop.
const POPS_EACH: Scenario = &[("PREFILLED", 0), ("BETWEEN", 1)];

/// The owner pushes to two items and only then pops.
const PUSHES_FIRST: Scenario = &[("PREFILLED", 2)];

pub(in crate::models) fn models() -> Vec<Model> {
    let deque = Model {
        name: "blitz/deque",
        about: "Blitz's deque: after a pop of the last item the next push is lost",
        mirrors: "Deque.zig on the page Work Stealing Algorithm",
        text: include_str!("deque.tso"),
        form: &[],
        claims: Claims { at_most_once: true, nothing_lost: true },
        ends: true,
        takes: OptionLimits { most_tasks: 8, most_thieves: 3, delta: false, extra: false },
        cases: [
            each(|bound| Case::refutes(Claim::NothingLost, Parameters::new(bound, 2, 1)).with(PUSHES_LATE)),
            each(|bound| Case::refutes(Claim::NothingLost, Parameters::new(bound, 2, 1)).with(PUSHES_WHEN_EMPTY)),
            each(|bound| Case::refutes(Claim::NothingLost, Parameters::new(bound, 2, 1)).with(POPS_EACH)),
            pushes_before_pops(),
        ]
        .concat(),
    };
    let other_forms = [
        Model {
            name: "blitz/deque-at-most-once",
            about: "Blitz's deque, claimed only to extract nothing twice",
            claims: Claims { at_most_once: true, nothing_lost: false },
            cases: [pushes_before_pops(), pops_before_pushes()].concat(),
            ..deque.clone()
        },
        Model {
            name: "blitz/deque-restored",
            about: "Blitz's deque whose pop moves the bottom back after it wins the last item: exactly once",
            form: &[("RESTORED", 1)],
            cases: [pushes_before_pops(), pops_before_pushes()].concat(),
            ..deque.clone()
        },
        Model {
            name: "blitz/deque-unfenced",
            about: "The restored deque whose pop stores the bottom like any other store",
            form: &[("RESTORED", 1), ("FENCED", 0)],
            cases: each(|bound| match bound {
                0 => Case::holds(Parameters::new(bound, 3, 1)),
                _ => Case::refutes(Claim::AtMostOnce, Parameters::new(bound, 3, 1)),
            }),
            ends: false,
            ..deque.clone()
        },
    ];
    [deque].into_iter().chain(other_forms).collect()
}

fn each(case: impl Fn(u8) -> Case) -> Vec<Case> {
    [4, 0, 1, 2, 3].map(|bound| case(bound).quick()).into()
}

/// Cases in which the owner never pushes after a pop.
fn pushes_before_pops() -> Vec<Case> {
    [
        each(|bound| Case::holds(Parameters::new(bound, 4, 1))),
        each(|bound| Case::holds(Parameters::new(bound, 3, 1)).with(PUSHES_FIRST)),
        each(|bound| Case::holds(Parameters::new(bound, 2, 2)).with(ONE_STEAL)),
    ]
    .concat()
}

/// Cases in which the owner pushes after the last item was popped or stolen.
fn pops_before_pushes() -> Vec<Case> {
    [
        each(|bound| Case::holds(Parameters::new(bound, 3, 1)).with(PUSHES_LATE)),
        each(|bound| Case::holds(Parameters::new(bound, 3, 1)).with(PUSHES_WHEN_EMPTY)),
        each(|bound| Case::holds(Parameters::new(bound, 3, 1)).with(POPS_EACH)),
        each(|bound| Case::holds(Parameters::new(bound, 2, 2)).with(PUSHES_LATE)),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn the_push_after_a_pop_of_the_last_item_is_lost_unless_the_bottom_moves_back() {
        confirm(&models());
    }
}
