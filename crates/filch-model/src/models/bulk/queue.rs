//! The bulk queue of `crates/filch-queue/src/bulk`.
//!
//! An owner pushes tasks one by one and in batches, and pops them. A thief steals a share of the
//! queue, a few times. The model has both the control words and the storage:
//!
//! - the directory of entries, which wraps in its ring and moves to a larger ring,
//! - the segments and their parties,
//! - an entry that is replaced in place, and a block that is kept,
//! - a stolen run that is pushed again,
//! - and the end of the queue, which the last of the two sides brings about.
//!
//! Positions begin anywhere and wrap.
//!
//! Claimed, at every bound that was searched and with an egress slot:
//!
//! - Each task is extracted once.
//! - A steal claims at least one task. It claims at most its share, rounded up, of the tasks in the
//!   queue at that moment. It gets the oldest tasks, in order.
//! - A side that reports an empty queue is right. (A thief does not see pushes that are still in
//!   the owner's store buffer.)
//! - The owner pops the youngest task.
//! - A side reads only slots that it owns, and none after its segment was freed. Each segment is
//!   freed, once.
//! - Every fair run ends.
//!
//! The claims depend on the following rules. For each, a run goes wrong without it:
//!
//! | without | what happens |
//! |---|---|
//! | the CAS of a pop, or of a steal | both sides count the same task as theirs |
//! | the count of pops in the anchor | a steal uses a length from before some pops, and claims popped tasks: the classic overshoot |
//! | `pushed` read after the anchor | the length is from before some pushes and after some pops. At best it is too short; below zero it wraps to a huge length |
//! | tasks read after the claim | the oldest task was popped and its segment freed; the CAS would have failed, but too late |
//! | `last` lowered when an entry is popped | a later push fills the entry before instead, but the thief's search finds the old entry, which seems to begin within the claim |
//! | `last` stored before `pushed` | the search does not reach the entry of the claim's youngest tasks |
//! | `last` read anew by each attempt | the search does not reach the entry of the claim's youngest tasks |
//! | the ring read after `last` | the search wraps in a ring that is too small for it |
//! | `first` published after the entries were copied | the owner writes a new entry over an entry that is being copied |
//! | not replacing an entry that the thief is in | the owner writes over an entry that is being copied, when the queue is empty |
//! | a party for each run, and for free slots that are kept | the thief frees the segment that the owner still uses |
//! | leaving the party of an entry that was passed | its segment is never freed |
//! | the length of 2^32, compared with the pops during one steal | with counts that wrap after four, the thief misses four pops between its load of the anchor and its CAS |
//!
//! The faults of the storage do not depend on store buffers: all of these are refuted without any,
//! too. A pop that empties the queue at the very moment of a steal needs no fence either, because
//! both sides must change the same word.

use crate::machine::{Claims, Coalescing};
use crate::models::{Case, Model, OptionLimits, Parameters};
use crate::search::Claim;

type Scenario = &'static [(&'static str, i16)];

/// Tasks in blocks, and a batch on top of them.
const BATCH_ON_TOP: Scenario = &[("SINGLES", 3), ("BATCH", 3)];
/// The owner pops a batch and pushes another in its place, and again.
const REPLACED: Scenario = &[("SINGLES", 0), ("BATCH", 2), ("ROUNDS", 2), ("POPS", 2), ("PUSHED_BATCH", 2)];
/// The owner pops out of a batch. It pushes the next tasks into the block before it.
const POPPED_OUT: Scenario = &[("SINGLES", 1), ("BATCH", 1), ("ROUNDS", 3), ("POPS", 1), ("PUSHES", 1)];
/// The owner pops and pushes across the end of a block and back.
const SWINGS: Scenario = &[("SINGLES", 2), ("ROUNDS", 2), ("POPS", 1), ("PUSHES", 2)];
/// Entries wrap in a ring of two. If the thief, which takes everything, is late, they move to a
/// ring of four.
const GROWS: Scenario =
    &[("SINGLES", 2), ("BATCH", 2), ("ROUNDS", 1), ("PUSHED_BATCH", 2), ("SMALL", 2), ("LARGE", 4), ("OF", 1)];
/// The ring grows, the owner pops, and the queue is dropped with tasks in it.
const GROWS_AND_ENDS: Scenario = &[
    ("SINGLES", 2),
    ("BATCH", 2),
    ("ROUNDS", 2),
    ("POPS", 2),
    ("PUSHED_BATCH", 1),
    ("SMALL", 2),
    ("LARGE", 4),
    ("LAST_POPS", 1),
];
/// Positions wrap.
const WRAPS: Scenario = &[("BEGIN", 13), ("SINGLES", 3), ("BATCH", 2), ("ROUNDS", 2), ("POPS", 3), ("PUSHES", 1)];
/// A stolen run is pushed again. The queue may hold another part of the run's segment.
const RETURNED: Scenario = &[("RETURNS", 1), ("STRICT", 0), ("LAST_POPS", 3)];
/// A stolen run is pushed again while the owner continues in its block.
const RETURNED_LATER: Scenario =
    &[("RETURNS", 1), ("STRICT", 0), ("STEALS", 3), ("SINGLES", 1), ("ROUNDS", 2), ("PUSHES", 2), ("POPS", 1)];
/// The thief takes one task at a time.
const ONE_BY_ONE: Scenario =
    &[("ONE", 1), ("STEALS", 4), ("SINGLES", 2), ("BATCH", 2), ("ROUNDS", 1), ("POPS", 1), ("PUSHED_BATCH", 2)];
/// Batches of two are moved into blocks of three. Each leaves a free slot, which is kept and used
/// by the next single task.
const MOVED: Scenario = &[
    ("MOVED", 1),
    ("SLOTS", 3),
    ("SEGMENTS", 4),
    ("SINGLES", 2),
    ("ROUNDS", 2),
    ("POPS", 1),
    ("PUSHED_BATCH", 2),
    ("PUSHES", 1),
];
/// Three steals, and all features at once.
const LONG: Scenario = &[
    ("BEGIN", 11),
    ("SINGLES", 3),
    ("BATCH", 1),
    ("ROUNDS", 3),
    ("POPS", 2),
    ("PUSHES", 1),
    ("PUSHED_BATCH", 1),
    ("SMALL", 3),
    ("LARGE", 4),
    ("SEGMENTS", 6),
    ("STEALS", 3),
    ("LAST_POPS", 6),
];
/// Fewer pops, a thief that takes two thirds, and batches without free slots.
const LONG_AND_GREEDY: Scenario = &[
    ("BEGIN", 11),
    ("SINGLES", 3),
    ("BATCH", 1),
    ("ROUNDS", 2),
    ("POPS", 1),
    ("PUSHES", 1),
    ("PUSHED_BATCH", 1),
    ("SMALL", 3),
    ("LARGE", 5),
    ("SEGMENTS", 6),
    ("STEALS", 3),
    ("SHARE", 2),
    ("OF", 3),
    ("EXACT", 1),
    ("LAST_POPS", 4),
];

/// Parameters with one thief: the type allows no more.
const fn on(bound: u8, tasks: i16) -> Parameters {
    Parameters::new(bound, tasks, 1)
}

pub(in crate::models) fn models() -> Vec<Model> {
    let queue = Model {
        name: "bulk",
        about: "the bulk queue: batches are pushed whole, and a share of the oldest tasks is stolen by one CAS",
        mirrors: "crates/filch-queue/src/bulk",
        text: include_str!("queue.tso"),
        form: &[],
        claims: Claims { at_most_once: true, nothing_lost: true },
        ends: true,
        takes: OptionLimits { most_tasks: 8, most_thieves: 1, delta: false, extra: false },
        cases: holds(),
    };
    let broken = |name, about, form, cases| Model { name, about, form, cases, ends: false, ..queue.clone() };
    let other_forms = [
        broken(
            "bulk/pop-by-store",
            "the owner changes the anchor by a plain store",
            &[("POP_CLAIMS", 0), ("STRICT", 0)],
            refuted(Claim::AtMostOnce, 3, &[]),
        ),
        broken(
            "bulk/steal-by-store",
            "the thief changes the anchor by a plain store",
            &[("STEAL_CLAIMS", 0), ("STRICT", 0)],
            refuted(Claim::AtMostOnce, 3, &[]),
        ),
        broken(
            "bulk/overshoot",
            "a steal does not check whether a task was popped since it read the length",
            &[("WATCHES_POPS", 0), ("STRICT", 0)],
            refuted(Claim::AtMostOnce, 2, &[("OF", 1)]),
        ),
        broken(
            "bulk/pushed-first",
            "the thief loads the number of pushed tasks before the anchor",
            &[("PUSHED_FIRST", 1)],
            [
                refuted(Claim::NoFault, 2, &[("SINGLES", 1), ("ROUNDS", 1), ("PUSHES", 1), ("LAST_POPS", 1)]),
                refuted(Claim::AtMostOnce, 3, PUSHES_AND_POPS),
            ]
            .concat(),
        ),
        broken(
            "bulk/tasks-first",
            "the thief reads a task before it claims it: the segment may be freed",
            &[("TASKS_FIRST", 1), ("STRICT", 0)],
            refuted(Claim::NoFault, 6, REPLACED),
        ),
        broken(
            "bulk/last-not-lowered",
            "an owner that steps back from an entry still counts it",
            &[("LAST_LOWERED", 0), ("STRICT", 0)],
            refuted(Claim::AtMostOnce, 5, POPPED_OUT),
        ),
        broken(
            "bulk/last-too-late",
            "a new entry is counted after its tasks",
            &[("LAST_BEFORE_PUSHED", 0), ("STRICT", 0)],
            refuted(Claim::NoFault, 5, &[("SINGLES", 1), ("BATCH", 2), ("ROUNDS", 1), ("PUSHED_BATCH", 2), ("OF", 1)]),
        ),
        broken(
            "bulk/last-once",
            "the thief loads the last entry only before its first attempt",
            &[("LAST_AFRESH", 0), ("STRICT", 0)],
            refuted(Claim::NoFault, 5, &[("SINGLES", 1), ("BATCH", 2), ("ROUNDS", 1), ("PUSHED_BATCH", 2), ("OF", 1)]),
        ),
        broken(
            "bulk/ring-first",
            "the thief loads the ring before the last entry",
            &[("RING_FIRST", 1), ("STRICT", 0)],
            refuted(Claim::NoFault, 6, GROWS),
        ),
        broken(
            "bulk/first-too-early",
            "the thief releases its entries before it has copied them",
            &[("FIRST_AFTER_COPY", 0), ("STRICT", 0)],
            refuted(Claim::NoFault, 6, GROWS),
        ),
        broken(
            "bulk/entered-replaced",
            "the owner of an empty queue replaces an entry that the thief may use",
            &[("REPLACES_ENTERED", 1), ("STRICT", 0)],
            refuted(Claim::NoFault, 3, &[("SINGLES", 1), ("ROUNDS", 1), ("POPS", 1), ("PUSHED_BATCH", 2)]),
        ),
        broken(
            "bulk/party-too-few",
            "a run of a part of an entry is no party of the segment",
            &[("RUNS_JOIN", 0), ("STRICT", 0)],
            refuted(Claim::NoFault, 3, &[]),
        ),
        broken(
            "bulk/spare-without-party",
            "free slots that the owner keeps are no party of their segment",
            &[("SPARES_JOIN", 0), ("STRICT", 0)],
            refuted(Claim::NoFault, 5, &[("SINGLES", 1), ("BATCH", 2), ("ROUNDS", 1), ("PUSHES", 2)]),
        ),
        broken(
            "bulk/party-too-many",
            "the thief passes an empty entry and does not leave its segment",
            &[("PASSED_LEAVE", 0)],
            refuted(Claim::EndsWell, 4, &[("SINGLES", 2), ("ROUNDS", 1), ("PUSHED_BATCH", 2)]),
        ),
        broken(
            "bulk/wraps-too-soon",
            "counts that wrap after four instead of 2^32: four pops during a steal are missed; with eight they are not",
            &[],
            [
                refuted(Claim::NoFault, 5, FOUR_POPS_OF_FOUR),
                (0..=4).map(|bound| Case::holds(on(bound, 5)).with(FOUR_POPS_OF_EIGHT).quick()).collect(),
            ]
            .concat(),
        ),
    ];
    [queue].into_iter().chain(other_forms).collect()
}

/// The owner pushes and pops in turn. So the queue is never empty during a steal.
const PUSHES_AND_POPS: Scenario =
    &[("SINGLES", 1), ("ROUNDS", 2), ("PUSHES", 1), ("POPS", 1), ("LAST_POPS", 1), ("STRICT", 0)];
/// The owner makes four pops from a queue of two. The counts wrap after four.
const FOUR_POPS_OF_FOUR: Scenario =
    &[("WRAP", 4), ("SINGLES", 2), ("ROUNDS", 3), ("POPS", 1), ("PUSHES", 1), ("LAST_POPS", 2), ("OF", 1)];
/// The owner makes four pops. The counts wrap after eight, so the thief notices.
const FOUR_POPS_OF_EIGHT: Scenario =
    &[("WRAP", 8), ("SINGLES", 2), ("ROUNDS", 3), ("POPS", 1), ("PUSHES", 1), ("LAST_POPS", 2), ("OF", 1)];

/// Cases that refute a claim on every machine, also without buffers.
fn refuted(claim: Claim, tasks: i16, scenario: Scenario) -> Vec<Case> {
    (0..=4).map(|bound| Case::refutes(claim, on(bound, tasks)).with(scenario).quick()).collect()
}

fn holds() -> Vec<Case> {
    let scenarios: [(i16, Scenario); 12] = [
        (6, &[]),
        (6, &[("OF", 1)]),
        (6, BATCH_ON_TOP),
        (6, REPLACED),
        (5, POPPED_OUT),
        (6, SWINGS),
        (6, GROWS),
        (6, GROWS_AND_ENDS),
        (7, WRAPS),
        (4, RETURNED),
        (6, ONE_BY_ONE),
        (8, MOVED),
    ];
    let mut cases = vec![Case::holds(on(2, 4)).quick()];
    for bound in 0..=4 {
        cases.extend(scenarios.map(|(tasks, scenario)| Case::holds(on(bound, tasks)).with(scenario).quick()));
        cases.push(Case::holds(on(bound, 5)).with(RETURNED_LATER));
    }
    // States with larger buffers would be too large.
    cases.extend([0, 1, 2, 3].map(|bound| Case::holds(on(bound, 8)).with(LONG_AND_GREEDY)));
    cases.extend([0, 1, 2].map(|bound| Case::holds(on(bound, 10)).with(LONG)));
    for coalescing in [Coalescing::Word, Coalescing::Line] {
        for bound in [1, 2] {
            let with_egress = |tasks| Case::holds(on(bound, tasks).with_egress(coalescing));
            cases.extend(scenarios.map(|(tasks, scenario)| with_egress(tasks).with(scenario)));
            cases.push(with_egress(5).with(POPPED_OUT).quick());
            cases.push(with_egress(6).with(GROWS_AND_ENDS).quick());
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn the_bulk_queue_is_exactly_once_and_frees_its_segments_and_every_rule_is_needed() {
        confirm(&models());
    }
}
