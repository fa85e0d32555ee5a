//! FF-CL, the fence-free Chase-Lev: `crates/filch-queue/src/ff_cl.rs`.
//!
//! The owner empties the queue while thieves steal; it also pushes, over the end of its array and into a larger one, and takes a smaller one, while thieves hold the old array.
//!
//! With the delta of the paper each task is had exactly once, and with one less a task is had twice, for every bound and number of extra stores that was tried
//! ([`delta`](crate::delta)). With coalescing and no extra store no delta helps, nor do extra stores to the line of the tail where whole lines coalesce. It takes two
//! steals to go wrong, since the owner settles the last task by CAS: the first moves the head to a task that the owner has popped and not shown.
//!
//! Where nobody vouches for the bound, and delta is too small, a task may be had twice but none is lost, because the first push after a pop settles, and so
//! does a pop before it takes a smaller array. Without the one a task is lost; without the other a thief takes what is in a slot that nobody wrote.
//!
//! No steal calls a queue empty that never was.

use crate::delta::{enough_tasks, formula};
use crate::machine::{Buffer, Claims, Coalescing};
use crate::models::scenario::{
    DROPPED, GROWS, GROWS_AFTER_A_POP, GROWS_UNDER_THEFT, NEVER_EMPTY, NOBODY_POPS, ONE_STEAL, REUSES, REUSES_TWO,
    REUSES_TWO_OF_THREE, SHRINKS, SHRINKS_EMPTY,
};
use crate::models::{Case, Model, Parameters, Takes};
use crate::search::Claim;

pub(in crate::models) fn models() -> Vec<Model> {
    let ff_cl = Model {
        name: "ff_cl",
        about: "FF-CL: the owner pops without a fence, and a thief allows for delta hidden pops",
        mirrors: "crates/filch-queue/src/ff_cl.rs",
        text: include_str!("ff_cl.tso"),
        form: &[],
        claims: Claims { at_most_once: true, nothing_lost: true },
        ends: true,
        takes: Takes { most_tasks: 12, most_thieves: 3, delta: true, extra: true },
        cases: holds(),
    };
    let at_least_once = Claims { at_most_once: false, nothing_lost: true };
    let other_forms = [
        Model {
            name: "ff_cl/delta-too-small",
            about: "FF-CL with a delta one less than it should be",
            cases: too_small(),
            ends: false,
            ..ff_cl.clone()
        },
        Model {
            name: "ff_cl/no-extra-store",
            about: "FF-CL on a machine that coalesces, without a store between pops: no delta is enough",
            cases: hopeless(Coalescing::Word, 0),
            ends: false,
            ..ff_cl.clone()
        },
        Model {
            name: "ff_cl/beside-the-tail",
            about: "FF-CL whose extra stores go to the line of the tail, on a machine that coalesces lines: no delta is enough",
            form: &[("BESIDE", 1)],
            cases: [hopeless(Coalescing::Line, 1), hopeless(Coalescing::Line, 2)].concat(),
            ends: false,
            ..ff_cl.clone()
        },
        Model {
            name: "ff_cl/untrusted",
            about: "FF-CL as the safe constructors make it: at least once with any delta",
            form: &[("TRUSTED", 0)],
            claims: at_least_once,
            cases: untrusted(),
            ..ff_cl.clone()
        },
        Model {
            name: "ff_cl/shrinks-unsettled",
            about: "FF-CL as the safe constructors make it, but with no settling before a smaller array: a thief reads what nobody pushed",
            form: &[("TRUSTED", 0), ("SETTLES_FIRST", 0)],
            claims: at_least_once,
            cases: (1..=4).map(shrinks_unsettled).collect(),
            ends: false,
            ..ff_cl.clone()
        },
        Model {
            name: "ff_cl/unsettled",
            about: "FF-CL with a delta that is too small and an owner that does not settle: a task is lost",
            claims: at_least_once,
            cases: unsettled(),
            ends: false,
            ..ff_cl.clone()
        },
    ];
    [ff_cl].into_iter().chain(other_forms).collect()
}

/// A machine, the delta that the paper gives for it, or so many less, and enough tasks to tell the difference.
fn exact(buffer: Buffer, extra: i16, less: i16) -> Parameters {
    let delta = formula(buffer, extra).expect("there is an extra store, or no egress slot") - less;
    let parameters = Parameters::new(buffer.capacity() as u8, enough_tasks(buffer, extra), 1).with_delta(delta, extra);
    Parameters { egress: buffer.egress(), ..parameters }
}

fn holds() -> Vec<Case> {
    let mut cases = vec![Case::holds(exact(Buffer::Bounded(4), 1, 0)).quick()];
    for bound in 1..=6 {
        for extra in 0..=3 {
            let case = Case::holds(exact(Buffer::Bounded(bound), extra, 0));
            cases.push(if bound < 4 { case.quick() } else { case });
            if extra > 0 {
                for coalescing in [Coalescing::Word, Coalescing::Line] {
                    let case = Case::holds(exact(Buffer::Egress(bound, coalescing), extra, 0));
                    cases.push(if bound < 3 { case.quick() } else { case });
                }
            }
        }
    }
    for bound in 1..=4 {
        for buffer in [Buffer::Bounded(bound), Buffer::Egress(bound, Coalescing::Word)] {
            let one = exact(buffer, 1, 0);
            let two = Parameters { thieves: 2, ..one };
            cases.push(Case::holds(one).with(GROWS).quick());
            cases.push(Case::holds(one).with(GROWS_AFTER_A_POP).quick());
            cases.push(Case::holds(Parameters { tasks: 5, ..one }).with(SHRINKS).quick());
            cases.push(Case::holds(Parameters { tasks: 4, ..two }).with(SHRINKS_EMPTY));
            cases.push(Case::holds(one).with(REUSES).quick());
            cases.push(Case::holds(Parameters { tasks: 4, ..one }).with(DROPPED).quick());
            cases.push(Case::holds(Parameters { tasks: 4, ..two }).with(NEVER_EMPTY).quick());
            cases.push(Case::holds(Parameters { tasks: 1, ..two }).with(NOBODY_POPS).quick());
            cases.push(Case::holds(Parameters { tasks: 3, ..two }).with(ONE_STEAL));
            cases.push(Case::holds(Parameters { tasks: 3, ..two }).with(GROWS_AFTER_A_POP));
        }
    }
    let two_thieves = |bound| Parameters { thieves: 2, ..exact(Buffer::Bounded(bound), 1, 0) };
    cases.push(Case::holds(two_thieves(2)).with(ONE_STEAL).quick());
    cases.push(Case::holds(two_thieves(2)));
    cases.push(Case::holds(two_thieves(4)));
    cases.push(Case::holds(two_thieves(2)).with(GROWS_UNDER_THEFT));
    cases.push(Case::holds(Parameters { thieves: 3, ..two_thieves(2) }).with(ONE_STEAL));
    cases
}

fn too_small() -> Vec<Case> {
    let mut cases = Vec::new();
    for bound in 1..=6 {
        for extra in 0..=3 {
            cases.push(Case::refutes(Claim::AtMostOnce, exact(Buffer::Bounded(bound), extra, 1)).quick());
            if extra > 0 {
                let buffer = Buffer::Egress(bound, Coalescing::Word);
                cases.push(Case::refutes(Claim::AtMostOnce, exact(buffer, extra, 1)).quick());
            }
        }
    }
    cases
}

/// Every delta that lets a thief steal twice, for more and more tasks.
fn hopeless(coalescing: Coalescing, extra: i16) -> Vec<Case> {
    let each = (2..=7).flat_map(|tasks| (0..tasks - 1).map(move |delta| (tasks, delta)));
    let case = |(tasks, delta)| {
        let parameters = Parameters::new(2, tasks, 1).with_delta(delta, extra).with_egress(coalescing);
        Case::refutes(Claim::AtMostOnce, parameters).quick()
    };
    each.map(case).collect()
}

fn untrusted() -> Vec<Case> {
    let mut cases = Vec::new();
    for bound in 1..=4 {
        for delta in 0..=1 {
            let one = Parameters::new(bound, 4, 1).with_delta(delta, 0);
            for one in [one, one.with_egress(Coalescing::Word)] {
                let two = Parameters { thieves: 2, ..one };
                cases.push(Case::holds(one).with(REUSES_TWO).quick());
                cases.push(Case::holds(one).with(SHRINKS).quick());
                cases.push(Case::holds(two).with(SHRINKS_EMPTY));
                cases.push(Case::holds(one).with(REUSES).quick());
                cases.push(Case::holds(one).with(GROWS_UNDER_THEFT));
                cases.push(Case::holds(Parameters { tasks: 3, ..two }).with(GROWS_AFTER_A_POP));
                cases.push(Case::holds(two).with(REUSES_TWO));
            }
        }
    }
    cases
}

fn shrinks_unsettled(bound: u8) -> Case {
    Case::refutes(Claim::NoFault, Parameters::new(bound, 4, 1).with_delta(0, 1)).with(SHRINKS).quick()
}

fn unsettled() -> Vec<Case> {
    let mut cases = Vec::new();
    for bound in 2..=4 {
        let alone = Parameters::new(bound, 5, 1).with_delta(1, 0);
        let spaced = Parameters::new(bound, 5, 1).with_delta(1, 1).with_egress(Coalescing::Word);
        for parameters in [alone, alone.with_egress(Coalescing::Word), spaced] {
            cases.push(Case::refutes(Claim::NothingLost, parameters).with(REUSES_TWO_OF_THREE).quick());
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn ff_cl_is_exactly_once_given_delta_and_at_least_once_without() {
        confirm(&models(), true);
    }

    #[test]
    #[ignore = "minutes; part of the deep run"]
    fn ff_cl_is_exactly_once_on_larger_buffers_and_with_more_thieves() {
        confirm(&models(), false);
    }
}
