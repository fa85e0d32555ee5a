//! The bulk queue as published, for comparison with [filch's](super::queue), which is correct.
//!
//! The program follows listings 1 to 4 of *A Lock-Free Work-Stealing Algorithm for Bulk Operations*
//! line by line. The queue is a linked list. The owner pushes a batch by putting its last node
//! before the head, and pops the head. The only thief walks to the node where it will cut off a
//! part of the list. It checks that the size is still about the same, and cuts by a store of null
//! to that node's link. The thief owns the nodes behind the cut. The paper argues that the cut
//! decides: the owner keeps the nodes before it.
//!
//! # What is refuted
//!
//! - `bulk/published`: **a node is extracted twice.** The owner can pop between the thief's check
//!   of the size (listing 4, line 22) and its cut (line 27). Suppose the owner pops the node at
//!   which the thief is about to cut. Then it has read that node's link before the cut. The head
//!   now points into the part that the thief claims, the cut goes into a node that is in no list,
//!   and both sides have all nodes that follow. This needs no store buffer; it happens under
//!   sequential consistency. A higher `_queue_limit_` only means more pops in that time. At the end
//!   the size is one below zero, which in a `size_t` is the largest number. Four nodes are enough.
//!   If the owner only pops, fewer are not enough: the check of the size passes only if the thief
//!   skips two or more nodes, so the cut is behind the third node at the earliest. (For the same
//!   reason a thief that wants nine tenths never gets any of fewer than 20 nodes.) If the owner
//!   pushes during the steal, two nodes are enough, because the size has then grown and a thief
//!   that skips none passes the check. [`replay`](fn@super::replay) replays the run with four nodes
//!   on a Rust version of the listings.
//! - `bulk/published-freed`: **the thief reads freed nodes.** The owner owns a popped node and
//!   frees it. A thief that has just read the head, or a link, then reads the link in the freed
//!   node. Two nodes are enough.
//! - `bulk/published-reused`: **a task is lost.** The thief writes its null into a node that was
//!   popped, filled with another task and pushed again (or freed and allocated again). This cuts
//!   off all nodes behind that node. The thief has read the node's link when it was another link,
//!   or null.
//!
//! Besides, the links are plain words of memory in listing 1, and the owner reads a link while the
//! thief writes it. In C++ that alone makes the behavior undefined. On this machine a word is read
//! and written as a whole, and the refutations do not depend on it.
//!
//! # What holds
//!
//! - `bulk/published-kept`: if no node is used again, nothing is lost. The thief has read every
//!   node that the owner no longer reaches because of the cut.
//! - `bulk/published-in-turn`: if the owner does not pop during a steal, every task is extracted
//!   exactly once, even if the owner pushes during the steal. So the problem is a pop during the
//!   cut.

use crate::machine::Claims;
use crate::models::{Case, Model, OptionLimits, Parameters};
use crate::search::Claim;

const EXACTLY_ONCE: Claims = Claims { at_most_once: true, nothing_lost: true };
const NOTHING_LOST: Claims = Claims { at_most_once: false, nothing_lost: true };

/// Parameters with one thief, as the paper demands.
const fn on(bound: u8, tasks: i16) -> Parameters {
    Parameters::new(bound, tasks, 1)
}

/// The bounds of the machines, sequential consistency first.
fn bounds() -> impl Iterator<Item = u8> {
    0..=4
}

pub(in crate::models) fn models() -> Vec<Model> {
    let published = Model {
        name: "bulk/published",
        about: "the bulk queue as it was published: a node popped during a steal is extracted twice",
        mirrors: "listings 1 to 4 of A Lock-Free Work-Stealing Algorithm for Bulk Operations",
        text: include_str!("published.tso"),
        form: &[],
        claims: EXACTLY_ONCE,
        ends: false,
        takes: OptionLimits { most_tasks: 32, most_thieves: 1, delta: false, extra: false },
        cases: published_cases(),
    };
    let freed = Model {
        name: "bulk/published-freed",
        about: "the same when the owner frees popped nodes: the thief walks freed nodes",
        form: &[("FREED", 1)],
        claims: Claims::default(),
        cases: bounds().map(|bound| Case::refutes(Claim::NoFault, on(bound, 2)).quick()).collect(),
        ..published.clone()
    };
    let reused = Model {
        name: "bulk/published-reused",
        about: "the same when the owner pushes popped nodes again: the thief cuts off new tasks",
        form: &[("REUSED", 1)],
        claims: NOTHING_LOST,
        takes: OptionLimits { most_tasks: 0, ..published.takes },
        cases: bounds().map(|bound| Case::refutes(Claim::NothingLost, on(bound, 6)).quick()).collect(),
        ..published.clone()
    };
    let kept = Model {
        name: "bulk/published-kept",
        about: "the same without reuse of nodes: no task is lost, but some are extracted twice",
        claims: NOTHING_LOST,
        cases: kept_cases(),
        ..published.clone()
    };
    let in_turn = Model {
        name: "bulk/published-in-turn",
        about: "the same when the owner may push during a steal, but not pop",
        form: &[("IN_TURN", 1)],
        cases: in_turn_cases(),
        ..published.clone()
    };
    vec![published, freed, reused, kept, in_turn]
}

fn published_cases() -> Vec<Case> {
    let twice = |bound, tasks| Case::refutes(Claim::AtMostOnce, on(bound, tasks)).quick();
    let mut cases: Vec<Case> = bounds().map(|bound| twice(bound, 4)).collect();
    cases.extend(bounds().map(|bound| twice(bound, 2).with(&[("PUSHED", 1)])));
    // A limit below which the thief does not steal only takes more pops.
    cases.extend([0, 4].map(|bound| twice(bound, 8).with(&[("LIMIT", 8)])));
    cases.extend([0, 4].map(|bound| twice(bound, 24).with(&[("LIMIT", 24)])));
    // A tenth and nine tenths, of enough nodes that rounding in floating point makes no difference.
    cases.push(twice(0, 12).with(&[("STOLEN", 1), ("OF", 10)]));
    cases.push(twice(0, 21).with(&[("STOLEN", 9), ("OF", 10)]));
    // Three nodes are too few with every proportion. One node is too few with or without a push.
    let proportions: [&[_]; 4] = [&[], &[("OF", 1)], &[("OF", 4)], &[("STOLEN", 3), ("OF", 4)]];
    for bound in bounds() {
        cases.extend(proportions.map(|proportion| Case::holds(on(bound, 3)).with(proportion).quick()));
        cases.push(Case::holds(on(bound, 1)).with(&[("PUSHED", 1), ("LIMIT", 0)]).quick());
    }
    cases
}

fn kept_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for bound in bounds() {
        cases.push(Case::holds(on(bound, 8)).quick());
        cases.push(Case::holds(on(bound, 8)).with(&[("PUSHED", 4)]).quick());
        cases.push(Case::holds(on(bound, 24)).with(&[("PUSHED", 8)]));
        cases.push(Case::holds(on(bound, 32)));
    }
    cases
}

fn in_turn_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for bound in bounds() {
        cases.push(Case::holds(on(bound, 8)).with(&[("PUSHED", 4)]).quick());
        cases.push(Case::holds(on(bound, 8)).with(&[("PUSHED", 7)]).quick());
        cases.push(Case::holds(on(bound, 24)).with(&[("PUSHED", 16)]));
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::confirm;

    #[test]
    fn the_published_queue_extracts_twice_reads_freed_nodes_and_loses_tasks() {
        confirm(&models());
    }

    #[test]
    fn pushing_nodes_again_breaks_no_other_claim_of_the_program() {
        // Otherwise a search on several threads could find the other broken claim first.
        let reused = models().into_iter().find(|model| model.name == "bulk/published-reused").expect("it is listed");
        let holds = reused.cases.iter().map(|case| Case { refuted: None, ..case.clone() }).collect();
        confirm(&[Model { claims: Claims::default(), cases: holds, ..reused }]);
    }
}
