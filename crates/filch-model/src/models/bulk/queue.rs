//! The bulk queue of `crates/filch-queue/src/bulk`.
//!
//! An owner pushes tasks one by one and in batches, and pops them. One or two thieves each make a
//! few attempts to steal a share of the queue. The model has both the control words and the
//! storage:
//!
//! - the look at the queue, the search in the directory, the check of the look, and the claim,
//!   which shrinks if the owner pops,
//! - the directory of entries, which wraps in its ring and moves to a larger ring,
//! - the segments and the counts of their held slots,
//! - an entry that is replaced in place, a block that is kept, and entries that are left by pops,
//! - a stolen run that is pushed again,
//! - and the end of the queue, which the last of its handles brings about.
//!
//! The three words of an entry are read one by one, so a thief may read parts of two entries.
//! Positions begin anywhere and wrap.
//!
//! Claimed, at every bound that was searched and with an egress slot:
//!
//! - Each task is extracted once.
//! - A steal that succeeds claims at least one task. It claims at most its share, rounded up, of
//!   the tasks in the queue at that moment. It gets the oldest tasks, in order.
//! - An attempt returns without tasks only if the queue was empty or another thief has claimed
//!   tasks during the attempt. (A thief does not see pushes that are still in the owner's store
//!   buffer.)
//! - The owner pops the youngest task. If it reports an empty queue, it is right.
//! - A side reads only slots that it holds, and none after its segment was freed. Each segment is
//!   freed, once.
//! - Every fair run ends.
//!
//! The claims depend on the following rules. For each, a run goes wrong without it:
//!
//! | without | what happens |
//! |---|---|
//! | the CAS of a pop, or of a steal | two sides count the same task as theirs |
//! | the count of pops in the anchor | a steal uses a length from before some pops, and claims popped tasks: the classic overshoot |
//! | the ring read after `last` | the thief reads an entry that its ring does not have |
//! | the check of `oldest` after the reads | the owner reuses the cells that the thief's search reads, and the search ends at a wrong entry; the claim succeeds, since no task was taken |
//! | `oldest` raised before cells are reused | the same, between the reuse and the store of `oldest` |
//! | cells reused only after the top has passed them | the owner writes over an entry with tasks |
//! | a claim that shrinks after a pop | it overshoots |
//! | anchor and `pushed` loaded again before the first CAS of a claim | the number of pops has wrapped since the look, and the CAS does not notice (`bulk/claims-at-once`) |
//! | the anchor loaded again before a look reports an empty queue | the owner has pushed and popped so many tasks between the two loads that the counts agree (`bulk/looks-once`) |
//! | the anchor loaded again before a pop reports an empty queue | the owner has pushed 2^32 tasks without a pop, most of which were stolen, and its copy of the number of stolen tasks is too old (`bulk/pops-once`) |
//! | what is left counted again, also if the number of pops is that of the look | the owner makes almost 2^32 pushes and pops after a look has loaded the anchor and before it loads `pushed`. The length is below zero then, which is a huge number (`bulk/wraps-in-look`) |
//! | a second look after many pushes | the count of pops has wrapped, so the thief takes the length of an empty queue for a positive number |
//! | these pushes counted after the pops | the same |
//! | tasks read after the claim | the oldest task was popped and its segment freed; the CAS would have failed, but too late |
//! | slots released after their tasks are read | the owner releases the other slots, or has popped their tasks, and the segment is freed |
//! | `last` lowered when an entry is popped | a later push fills the entry before instead, but the thief's search finds the old entry, which seems to begin within the claim |
//! | an entry stored before `last` | the search finds the old content of the entry's cell |
//! | `last` stored before `pushed` | the search does not reach the entry of the claim's youngest tasks |
//! | a larger ring whose unused entries start at the bottom | a thief that has not seen that the youngest entry was left finds it in the larger ring, with a start before the top |
//! | `oldest` raised before entries are half of 2^32 apart | the search takes the start of an old entry for one after the top |
//! | kept free slots that count as held | the thief frees the segment that the owner still uses |
//! | the length of 2^32, compared with the pops or the stolen tasks during a CAS | with counts that wrap after four, the thief misses four pops, or four tasks that another thief steals, between its last load of the anchor and its CAS |
//!
//! The faults do not depend on store buffers: all of these are refuted without any, too. A pop that
//! empties the queue at the very moment of a steal needs no fence either, because both sides must
//! change the same word.
//!
//! The last row of the table is a limit: a few batches of 2^30 tasks that are stolen and pushed
//! again bring the number of stolen tasks back to its old value.
//!
//! Not needed for the claims:
//!
//! - The check that a look's entries fit into its ring (`bulk/capacity-unchecked`). If they do not,
//!   the owner has raised `oldest`, and the later check of `oldest` fails. The check keeps the
//!   search and the copies short.
//! - The order of the first two loads of a look (`bulk/pushed-first`). A `pushed` that is older than
//!   the anchor makes the length too small, at worst below zero. The claim counts what is left of
//!   the tasks that `pushed` counts, and looks again if that is nothing. A queue may seem to be empty
//!   for a moment.
//! - The check of the hint (`bulk/hint-unchecked`). The hint is an entry with a stolen task. It is
//!   after the top only if that task was stolen since the look, and then the claim fails. The check
//!   keeps the search short.
//! - The release of a claim's CAS. Without it, a second thief could see the claim and not the
//!   pushes before it, and so more taken tasks than pushed ones. On TSO a thief that has seen a
//!   push in memory claims after it, and every other thread sees the two in this order. The release
//!   is for weaker machines, and loom needs it.
//! - The fence between `oldest` and the reuse of cells, and that between the reads and the check.
//!   On TSO stores stay in order, and so do loads.

use super::scenarios::*;
use crate::machine::{Claims, Coalescing};
use crate::models::{Case, Model, OptionLimits, Parameters};
use crate::search::Claim;

/// Parameters with one thief.
const fn on(bound: u8, tasks: i16) -> Parameters {
    Parameters::new(bound, tasks, 1)
}

/// Parameters with two thieves.
const fn with_two(bound: u8, tasks: i16) -> Parameters {
    Parameters::new(bound, tasks, 2)
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
        takes: OptionLimits { most_tasks: 8, most_thieves: 2, delta: false, extra: false },
        cases: holds(),
    };
    let form = |name, about, form, cases| Model { name, about, form, cases, ends: false, ..queue.clone() };
    let other_forms = [
        form(
            "bulk/pop-by-store",
            "the owner changes the anchor by a plain store",
            &[("POP_CLAIMS", 0), ("STRICT", 0)],
            refuted(Claim::AtMostOnce, 3, &[]),
        ),
        form(
            "bulk/steal-by-store",
            "the thief changes the anchor by a plain store",
            &[("STEAL_CLAIMS", 0), ("STRICT", 0)],
            [
                refuted(Claim::AtMostOnce, 3, &[]),
                refuted_with_two(Claim::AtMostOnce, 2, &[("STEALS", 1), ("LAST_POPS", 0)]),
            ]
            .concat(),
        ),
        form(
            "bulk/overshoot",
            "a steal does not check whether a task was popped since it read the length",
            &[("WATCHES_POPS", 0), ("STRICT", 0)],
            refuted(Claim::AtMostOnce, 2, &[("OF", 1)]),
        ),
        form(
            "bulk/ring-first",
            "a look loads the ring before the last entry",
            &[("RING_FIRST", 1), ("STRICT", 0)],
            refuted(
                Claim::NoFault,
                4,
                &[("SINGLES", 1), ("ROUNDS", 1), ("PUSHED_BATCH", 3), ("SMALL", 2), ("LARGE", 4), ("OF", 1)],
            ),
        ),
        form(
            "bulk/oldest-unchecked",
            "the thief does not check whether cells that it read were reused",
            &[("CHECKS_OLDEST", 0), ("STRICT", 0)],
            refuted(Claim::NoFault, 5, REUSES_CELLS),
        ),
        form(
            "bulk/oldest-too-late",
            "the owner stores the oldest entry after it has reused cells",
            &[("OLDEST_BEFORE_CELLS", 0), ("STRICT", 0)],
            refuted(Claim::NoFault, 5, REUSES_CELLS_FOR_BATCH),
        ),
        form(
            "bulk/cells-too-early",
            "the owner reuses cells before the top has passed their entries",
            &[("WAITS_FOR_TOP", 0), ("STRICT", 0)],
            refuted(Claim::NoFault, 6, GROWS),
        ),
        form(
            "bulk/claim-not-shrunk",
            "a claim after a pop is as large as before",
            &[("SHRINKS", 0), ("STRICT", 0)],
            refuted(Claim::AtMostOnce, 2, &[("OF", 1)]),
        ),
        form(
            "bulk/pushes-unlimited",
            "a claim relies on the count of pops after any number of pushes; it wraps after eight here",
            &[("LIMITS_PUSHES", 0), ("ONE", 1), ("STRICT", 0)],
            refuted(Claim::AtMostOnce, 7, MANY_PUSHES),
        ),
        form(
            "bulk/pushes-too-early",
            "a claim counts the pushes before the pops; the latter wrap after eight here",
            &[("PUSHES_LATER", 0), ("STRICT", 0)],
            refuted(Claim::AtMostOnce, 7, MANY_PUSHES),
        ),
        form(
            "bulk/tasks-first",
            "the thief reads a task before it claims it: the segment may be freed",
            &[("TASKS_FIRST", 1), ("STRICT", 0)],
            refuted(Claim::NoFault, 6, REPLACED),
        ),
        form(
            "bulk/released-too-early",
            "the thief releases its slots before it reads them",
            &[("RELEASES_LATE", 0)],
            [
                refuted(Claim::NoFault, 3, &[]),
                refuted_with_two(Claim::NoFault, 2, &[("STEALS", 1), ("SINGLES", 0), ("BATCH", 2), ("LAST_POPS", 0)]),
            ]
            .concat(),
        ),
        form(
            "bulk/last-not-lowered",
            "an owner that steps back from an entry still counts it",
            &[("LAST_LOWERED", 0), ("STRICT", 0)],
            refuted(Claim::AtMostOnce, 4, &[("SINGLES", 1), ("BATCH", 1), ("ROUNDS", 1), ("POPS", 2), ("PUSHES", 2)]),
        ),
        form(
            "bulk/last-too-early",
            "a new entry is counted before it is stored",
            &[("CELLS_BEFORE_LAST", 0), ("STRICT", 0)],
            refuted(Claim::NoFault, 4, &[("SINGLES", 1), ("ROUNDS", 1), ("PUSHED_BATCH", 3), ("OF", 1)]),
        ),
        form(
            "bulk/last-too-late",
            "a new entry is counted after its tasks",
            &[("LAST_BEFORE_PUSHED", 0), ("STRICT", 0)],
            refuted(Claim::NoFault, 5, &[("SINGLES", 1), ("BATCH", 2), ("ROUNDS", 1), ("PUSHED_BATCH", 2), ("OF", 1)]),
        ),
        form(
            "bulk/grown-at-zero",
            "the unused entries of a larger ring start at 0",
            &[("GROWN_AT_BOTTOM", 0), ("STRICT", 0)],
            refuted(Claim::NoFault, 7, GROWS_AFTER_STEP_BACK),
        ),
        form(
            "bulk/too-far-apart",
            "entries may be half of the positions apart; there are eight here",
            &[("KEEPS_DISTANCE", 0), ("STRICT", 0)],
            few_refuted(Claim::NoFault, 7, KEEPS_DISTANCE),
        ),
        form(
            "bulk/spare-not-held",
            "free slots that the owner keeps do not count as held",
            &[("SPARE_COUNTS", 0), ("STRICT", 0)],
            refuted(Claim::NoFault, 5, &[("SINGLES", 1), ("BATCH", 2), ("ROUNDS", 1), ("PUSHES", 2)]),
        ),
        form(
            "bulk/wraps-too-soon",
            "counts that wrap after four instead of 2^32: four pops or steals during a steal are missed; with eight \
             they are not",
            &[("STRICT", 0)],
            [
                refuted(Claim::AtMostOnce, 4, FOUR_POPS_OF_FOUR),
                (0..=2).map(|bound| Case::holds(on(bound, 4)).with(FOUR_POPS_OF_EIGHT).quick()).collect(),
                (0..=2)
                    .map(|bound| Case::refutes(Claim::NoFault, with_two(bound, 4)).with(FOUR_STEALS_OF_FOUR))
                    .collect(),
                (0..=2).map(|bound| Case::holds(with_two(bound, 4)).with(FOUR_STEALS_OF_EIGHT)).collect(),
            ]
            .concat(),
        ),
        form(
            "bulk/pops-once",
            "the owner does not load the anchor again before it reports an empty queue; the counts wrap after eight here",
            &[("POPS_TWICE", 0)],
            few_refuted(Claim::NoFault, 8, EIGHT_PUSHES_OF_EIGHT),
        ),
        form(
            "bulk/looks-once",
            "a look does not check the anchor before it reports an empty queue; the counts wrap after eight here",
            &[("LOOKS_TWICE", 0)],
            few_refuted(Claim::NoFault, 8, NEVER_EMPTY),
        ),
        form(
            "bulk/claims-at-once",
            "the first CAS of a claim relies on the look, however many pushes there were; the pops wrap after eight here",
            &[("LOADS_AGAIN", 0), ("STRICT", 0)],
            few_refuted(Claim::AtMostOnce, 9, WRAPS_BEFORE_CLAIM),
        ),
        form(
            "bulk/wraps-in-look",
            "a claim does not look at what is left if the number of pops is that of the look: eight pops, after which the \
             counts wrap here, are missed if most of them are between the first two loads of a look",
            &[("CHECKS_LEFT", 0), ("STRICT", 0)],
            few_refuted(Claim::AtMostOnce, 9, WRAPS_BEFORE_CLAIM),
        ),
        form(
            "bulk/left-checked",
            "the algorithm as it is notices eight pops between the loads of a look, after which the counts wrap here",
            &[("STRICT", 0)],
            (0..=2).map(|bound| Case::holds(on(bound, 9)).with(WRAPS_BEFORE_CLAIM).quick()).collect(),
        ),
        form(
            "bulk/pushed-first",
            "a look loads the number of pushed tasks before the anchor: not worse, since a claim counts what is left",
            &[("PUSHED_FIRST", 1)],
            not_needed(),
        ),
        form(
            "bulk/hint-unchecked",
            "the thief relies on the hint, which may name an entry after its top: not worse, since its claim fails then",
            &[("HINT_CHECKED", 0)],
            not_needed(),
        ),
        form(
            "bulk/capacity-unchecked",
            "a look accepts more entries than its ring has: not worse, since the check of the oldest entry fails",
            &[("CHECKS_CAPACITY", 0)],
            not_needed(),
        ),
    ];
    [queue].into_iter().chain(other_forms).collect()
}

/// The owner makes four pops and leaves the queue empty. The counts wrap after four.
const FOUR_POPS_OF_FOUR: Scenario =
    &[("WRAP", 4), ("SINGLES", 1), ("ROUNDS", 3), ("POPS", 1), ("PUSHES", 1), ("LAST_POPS", 1), ("STEALS", 1)];
/// The owner makes four pops. The counts wrap after eight, so the thief notices.
const FOUR_POPS_OF_EIGHT: Scenario =
    &[("WRAP", 8), ("SINGLES", 1), ("ROUNDS", 3), ("POPS", 1), ("PUSHES", 1), ("LAST_POPS", 1), ("STEALS", 1)];

/// The second thief steals four tasks, one after the other, while the first one steals. The counts
/// wrap after four.
const FOUR_STEALS_OF_FOUR: Scenario = &[
    ("WRAP", 4),
    ("SEGMENTS", 3),
    ("SINGLES", 1),
    ("ROUNDS", 3),
    ("PUSHES", 1),
    ("LAST_POPS", 0),
    ("STEALS", 4),
    ("FIRST_STEALS", 1),
    ("ONE", 1),
];
/// The same with counts that wrap after eight.
const FOUR_STEALS_OF_EIGHT: Scenario = &[
    ("WRAP", 8),
    ("SEGMENTS", 3),
    ("SINGLES", 1),
    ("ROUNDS", 3),
    ("PUSHES", 1),
    ("LAST_POPS", 0),
    ("STEALS", 4),
    ("FIRST_STEALS", 1),
    ("ONE", 1),
];
/// The owner pushes eight tasks and then pops. The counts wrap after eight.
const EIGHT_PUSHES_OF_EIGHT: Scenario = &[
    ("WRAP", 8),
    ("SMALL", 5),
    ("SINGLES", 2),
    ("ROUNDS", 6),
    ("PUSHES", 1),
    ("LAST_POPS", 1),
    ("STEALS", 3),
    ("OF", 1),
];

/// The thief begins with an empty queue. The owner makes eight pushes and seven pops. The counts wrap
/// after eight.
const NEVER_EMPTY: Scenario =
    &[("WRAP", 8), ("SINGLES", 0), ("ROUNDS", 8), ("POPS", 1), ("PUSHES", 1), ("LAST_POPS", 0), ("STEALS", 1)];
/// The owner makes eight pops before the claim of a thief begins. The counts wrap after eight.
const WRAPS_BEFORE_CLAIM: Scenario = &[
    ("WRAP", 8),
    ("PAUSES", 1),
    ("SINGLES", 1),
    ("ROUNDS", 8),
    ("POPS", 1),
    ("PUSHES", 1),
    ("LAST_POPS", 0),
    ("STEALS", 1),
];

/// Cases that refute a claim on every machine, also without buffers.
fn refuted(claim: Claim, tasks: i16, scenario: Scenario) -> Vec<Case> {
    (0..=4).map(|bound| Case::refutes(claim, on(bound, tasks)).with(scenario).quick()).collect()
}

/// The same for larger searches.
fn few_refuted(claim: Claim, tasks: i16, scenario: Scenario) -> Vec<Case> {
    (0..=2).map(|bound| Case::refutes(claim, on(bound, tasks)).with(scenario).quick()).collect()
}

/// The same with two thieves.
fn refuted_with_two(claim: Claim, tasks: i16, scenario: Scenario) -> Vec<Case> {
    (0..=2).map(|bound| Case::refutes(claim, with_two(bound, tasks)).with(scenario).quick()).collect()
}

/// Cases in which claims hold without a step of the algorithm.
fn not_needed() -> Vec<Case> {
    let mut cases = Vec::new();
    for bound in 0..=2 {
        let case = Case::holds(on(bound, 5)).with(REUSES_CELLS_FOR_BATCH);
        cases.push(if bound == 2 { case.quick() } else { case });
        cases.push(Case::holds(on(bound, 5)).with(REUSES_CELLS));
        cases.push(Case::holds(on(bound, 7)).with(GROWS_AFTER_STEP_BACK));
        cases.push(Case::holds(with_two(bound, 4)).with(TWO_GROWS));
        cases.push(Case::holds(with_two(bound, 5)).with(TWO_REUSE_CELLS));
    }
    cases
}

fn holds() -> Vec<Case> {
    let scenarios: [(i16, Scenario); 19] = [
        (6, &[]),
        (6, &[("OF", 1)]),
        (6, BATCH_ON_TOP),
        (6, REPLACED),
        (5, POPPED_OUT),
        (6, SWINGS),
        (6, GROWS),
        (6, GROWS_AND_ENDS),
        (7, GROWS_AFTER_STEP_BACK),
        (5, REUSES_CELLS),
        (5, REUSES_CELLS_FOR_BATCH),
        (7, WRAPS),
        (7, MANY_PUSHES),
        (7, KEEPS_DISTANCE),
        (4, RETURNED),
        (6, ONE_BY_ONE),
        (8, MOVED),
        (8, EIGHT_PUSHES_OF_EIGHT),
        (8, NEVER_EMPTY),
    ];
    let small_for_two: [(i16, Scenario); 7] = [
        (4, TWO_OF_A_BATCH),
        (3, TWO_TWICE),
        (4, TWO_GREEDY),
        (3, TWO_ONE_BY_ONE),
        (4, TWO_REPLACED),
        (4, TWO_RETURNED),
        (4, TWO_GROWS),
    ];
    let large_for_two: [(i16, Scenario); 4] =
        [(4, TWO_AND_POPS), (4, TWO_TWICE), (4, TWO_POPPED_OUT), (5, TWO_REUSE_CELLS)];
    let mut cases = vec![Case::holds(on(2, 4)).quick()];
    for bound in 0..=4 {
        for (tasks, scenario) in scenarios {
            let case = Case::holds(on(bound, tasks)).with(scenario);
            cases.push(if bound == 0 || bound == 2 { case.quick() } else { case });
        }
        cases.push(Case::holds(on(bound, 5)).with(RETURNED_LATER));
    }
    for bound in 0..=2 {
        cases.extend(small_for_two.map(|(tasks, scenario)| Case::holds(with_two(bound, tasks)).with(scenario).quick()));
        cases.extend(large_for_two.map(|(tasks, scenario)| Case::holds(with_two(bound, tasks)).with(scenario)));
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
            let two_with_egress = |tasks| Case::holds(with_two(bound, tasks).with_egress(coalescing));
            cases.extend(small_for_two.map(|(tasks, scenario)| two_with_egress(tasks).with(scenario)));
            cases.push(two_with_egress(4).with(TWO_GREEDY).quick());
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
