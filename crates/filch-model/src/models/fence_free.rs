//! The cases of the three fence-free queues, which have the same searches.
//!
//! `fewest` is the minimum number of extra stores of a pop. It is 1 for THEP, because of its echo.

use super::scenario::{
    Scenario, DROPPED, GROWS, GROWS_AFTER_A_POP, GROWS_UNDER_THEFT, NEVER_EMPTY, NO_POPS, ONE_STEAL, REUSES,
    REUSES_TWO, REUSES_TWO_OF_THREE, SHRINKS, SHRINKS_EMPTY,
};
use super::{Case, Parameters};
use crate::delta::{enough_tasks, formula};
use crate::machine::{Buffer, Coalescing};
use crate::search::Claim;

/// A machine with the delta of the paper minus `less`. It has enough tasks to show the difference.
pub(super) fn exact(buffer: Buffer, extra: i16, less: i16) -> Parameters {
    let delta = formula(buffer, extra).expect("there is an extra store, or no egress slot") - less;
    let parameters = Parameters::new(buffer.capacity() as u8, enough_tasks(buffer, extra), 1).with_delta(delta, extra);
    Parameters { egress: buffer.egress(), ..parameters }
}

fn quick_if(small: bool, case: Case) -> Case {
    if small {
        case.quick()
    } else {
        case
    }
}

/// Adds a case to the quick run if its store buffer is small.
fn quick_if_small(case: Case) -> Case {
    let most = if case.parameters.egress.is_some() { 1 } else { 2 };
    quick_if(case.parameters.bound <= most, case)
}

/// Cases with the exact delta.
pub(super) fn exactly_once(fewest: i16) -> Vec<Case> {
    let mut cases = vec![Case::holds(exact(Buffer::Bounded(4), 1, 0)).quick()];
    for bound in 1..=6 {
        for extra in fewest..=3 {
            cases.push(quick_if_small(Case::holds(exact(Buffer::Bounded(bound), extra, 0))));
            for coalescing in [Coalescing::Word, Coalescing::Line].into_iter().filter(|_| extra > 0) {
                cases.push(quick_if_small(Case::holds(exact(Buffer::Egress(bound, coalescing), extra, 0))));
            }
        }
    }
    for bound in 1..=4 {
        for buffer in [Buffer::Bounded(bound), Buffer::Egress(bound, Coalescing::Word)] {
            let one = exact(buffer, 1, 0);
            let two = Parameters { thieves: 2, ..one };
            cases.push(quick_if_small(Case::holds(one).with(GROWS)));
            cases.push(quick_if_small(Case::holds(one).with(GROWS_AFTER_A_POP)));
            cases.push(quick_if_small(Case::holds(Parameters { tasks: 5, ..one }).with(SHRINKS)));
            cases.push(quick_if_small(Case::holds(one).with(REUSES)));
            cases.push(quick_if_small(Case::holds(Parameters { tasks: 4, ..one }).with(DROPPED)));
            cases.push(Case::holds(Parameters { tasks: 3, ..two }).with(ONE_STEAL));
            cases.push(Case::holds(Parameters { tasks: 3, ..two }).with(GROWS_AFTER_A_POP));
            cases.push(Case::holds(Parameters { tasks: 4, ..two }).with(SHRINKS_EMPTY));
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

/// Cases with the exact delta, on a queue that is never empty.
pub(super) fn never_empty() -> Vec<Case> {
    let mut cases = Vec::new();
    for bound in 1..=4 {
        let two = Parameters { thieves: 2, ..exact(Buffer::Bounded(bound), 1, 0) };
        cases.push(Case::holds(Parameters { tasks: 4, ..two }).with(NEVER_EMPTY).quick());
        cases.push(Case::holds(Parameters { tasks: 5, ..two }).with(NEVER_EMPTY).quick());
        cases.push(Case::holds(Parameters { tasks: 1, ..two }).with(NO_POPS).quick());
    }
    cases
}

/// Cases with a delta of one less.
pub(super) fn too_small(fewest: i16) -> Vec<Case> {
    let mut cases = Vec::new();
    for bound in 1..=6 {
        for extra in fewest..=3 {
            cases.push(Case::refutes(Claim::AtMostOnce, exact(Buffer::Bounded(bound), extra, 1)).quick());
            if extra > 0 {
                let buffer = Buffer::Egress(bound, Coalescing::Word);
                cases.push(quick_if(bound < 4, Case::refutes(Claim::AtMostOnce, exact(buffer, extra, 1))));
            }
        }
    }
    cases
}

/// The extra stores of which the client makes 1 or 2, as [settings](Case::settings).
///
/// The pop makes at least one of the extra stores itself.
const CLIENT_STORES: [(i16, Scenario); 3] = [(2, &[("CLIENT", 1)]), (3, &[("CLIENT", 1)]), (3, &[("CLIENT", 2)])];

/// The store buffers of the cases in which the client makes some of the extra stores.
fn each_buffer_and_client() -> impl Iterator<Item = (Buffer, i16, Scenario)> {
    let buffers = (1..=6).flat_map(|bound| [Buffer::Bounded(bound), Buffer::Egress(bound, Coalescing::Word)]);
    buffers.flat_map(|buffer| CLIENT_STORES.map(|(extra, client)| (buffer, extra, client)))
}

/// Cases with the exact delta. The client makes some of the extra stores.
pub(super) fn client_stores() -> Vec<Case> {
    let case = |(buffer, extra, client)| quick_if_small(Case::holds(exact(buffer, extra, 0)).with(client));
    let by_line =
        |(bound, (extra, client))| Case::holds(exact(Buffer::Egress(bound, Coalescing::Line), extra, 0)).with(client);
    let lines = (1..=6).flat_map(|bound| CLIENT_STORES.map(|client| (bound, client)));
    each_buffer_and_client().map(case).chain(lines.map(by_line)).collect()
}

/// Cases with a delta of one less. The client makes some of the extra stores.
pub(super) fn client_stores_too_small() -> Vec<Case> {
    let case = |(buffer, extra, client)| {
        let case = Case::refutes(Claim::AtMostOnce, exact(buffer, extra, 1)).with(client);
        quick_if(case.parameters.bound < 4, case)
    };
    let too_many = |bound, extra, client| {
        // The delta for `extra` stores, of which the client makes one less than it claims.
        let wrong = exact(Buffer::Bounded(bound), extra, 0);
        let right = exact(Buffer::Bounded(bound), extra - 1, 0);
        Case::refutes(Claim::AtMostOnce, Parameters { delta: wrong.delta, ..right }).with(client).quick()
    };
    let counted = [too_many(3, 2, &[]), too_many(4, 3, &[("CLIENT", 1)]), too_many(6, 2, &[])];
    each_buffer_and_client().map(case).chain(counted).collect()
}

/// Cases with the exact delta and several extra stores, which may coalesce with each other.
pub(super) fn coalescing_spacers() -> Vec<Case> {
    let each = (2..=6).flat_map(|bound| [(bound, 2), (bound, 3)]);
    let case = |(bound, extra)| Case::holds(exact(Buffer::Egress(bound, Coalescing::Word), extra, 0));
    each.map(case).map(|case| quick_if(case.parameters.bound <= 2, case)).collect()
}

/// Cases in which the owner's stores coalesce and no delta helps. They have every delta that leaves
/// a thief `steals` steals, for more and more tasks.
pub(super) fn no_safe_delta(coalescing: Coalescing, extra: i16, steals: i16) -> Vec<Case> {
    let each = (steals..=6).flat_map(|tasks| (0..=tasks - steals).map(move |delta| (tasks, delta)));
    let case = |(tasks, delta)| {
        let parameters = Parameters::new(2, tasks, 1).with_delta(delta, extra).with_egress(coalescing);
        quick_if(tasks < 5, Case::refutes(Claim::AtMostOnce, parameters))
    };
    each.map(case).collect()
}

/// Cases with deltas that are too small, and a queue that settles.
pub(super) fn untrusted(fewest: i16) -> Vec<Case> {
    let mut cases = Vec::new();
    for bound in 1..=4 {
        for delta in 0..=1 {
            let one = Parameters::new(bound, 4, 1).with_delta(delta, fewest);
            for one in [one, one.with_egress(Coalescing::Word)] {
                cases.push(quick_if_small(Case::holds(one).with(REUSES_TWO)));
                cases.push(quick_if_small(Case::holds(one).with(SHRINKS)));
                cases.push(quick_if_small(Case::holds(one).with(REUSES)));
                cases.push(Case::holds(one).with(GROWS_UNDER_THEFT));
                if bound <= 2 {
                    let two = Parameters { thieves: 2, tasks: 3, ..one };
                    cases.push(Case::holds(two).with(GROWS_AFTER_A_POP));
                    cases.push(Case::holds(two).with(REUSES_TWO));
                }
            }
        }
    }
    cases.push(Case::holds(Parameters::new(2, 4, 2).with_delta(0, fewest)).with(SHRINKS_EMPTY));
    cases
}

/// Cases with deltas that are too small, and a queue that does not settle.
pub(super) fn unsettled() -> Vec<Case> {
    let mut cases = Vec::new();
    for bound in 1..=4 {
        let alone = Parameters::new(bound, 5, 1).with_delta(0, 1);
        let coalescing = Parameters::new(bound + 1, 5, 1).with_delta(1, 1).with_egress(Coalescing::Word);
        for parameters in [alone, coalescing] {
            let case = Case::refutes(Claim::NothingLost, parameters).with(REUSES_TWO_OF_THREE);
            cases.push(quick_if(bound <= 2, case));
        }
    }
    cases
}

/// Cases with a delta that is too small. The queue settles, but not before it moves to a smaller
/// array.
pub(super) fn shrinks_unsettled() -> Vec<Case> {
    let parameters = |bound| Parameters::new(bound, 4, 1).with_delta(0, 1);
    (1..=4).map(|bound| Case::refutes(Claim::NoFault, parameters(bound)).with(SHRINKS).quick()).collect()
}
