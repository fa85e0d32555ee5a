//! Task deques and the end of scopes. The text is `tasks.tso`, which mirrors
//! `crates/filch/src/tasks/mod.rs` and the parts of `crates/filch/src/scope` that count tasks.
//!
//! An owner opens scopes and spawns tasks into its deque. Thieves steal public tasks; raiders make
//! private tasks public. A stolen task may spawn tasks into the deque of its thief, where another
//! thief, or the owner that waits for the scope, steals them. There are four shapes: one scope
//! (`ONE`), a scope for each task (`ROW`), a scope for two tasks and then another (`PAIRS`), and a
//! scope within a scope (`NESTED`). Workers run their own tasks youngest first, or oldest first
//! (`OLDEST`). With two slots a deque has to use the memory of a slot again.
//!
//! Claimed: each task runs once; when a scope is over all of its tasks have run; no thief reads a
//! slot that was written again; no raid leaves `limit` raised; every fair run ends. This holds with
//! every bound that was searched, and with fenced and unfenced owners.
//!
//! The claims depend on the following rules. For each, a run goes wrong without it:
//!
//! - For the boundary between private and public tasks, as for the fork stack: the barrier of a
//!   raid, `limit` raised before it, the check of `epoch`, its count in `settle` and `share`, and
//!   the lock in both. Otherwise the owner and a thief run the same task.
//! - A pop that finds its task stolen restores `bottom`. Otherwise the next task is pushed below
//!   `top`: the owner treats it as stolen, and no worker runs it.
//! - A worker that takes its oldest task first, and finds nothing public and then nothing private,
//!   checks for public tasks again. Otherwise a raid between the two checks publishes the last
//!   task, and the scope ends with that task in the deque.
//! - A scope's end waits for `moved`. Otherwise a thief has claimed a task and not counted it: the
//!   balance is 0 and the scope ends.
//! - A thief counts the task in `balance` before it counts it in `moved`. Otherwise the scope ends
//!   between the two.
//! - A scope's end reads `balance` after `moved`. Otherwise the theft is counted between the two
//!   reads, and the scope ends while the task runs.
//! - A stolen task is over after all tasks that it has spawned. Otherwise the balance is 0 while a
//!   child is in the thief's deque.
//! - A stolen task's end also waits for `moved`. Otherwise the balance is 0 while another thief has
//!   claimed a child and not counted it.
//! - The owner reads `moved` before it uses memory again. Otherwise it overwrites a slot that a
//!   thief has claimed and not read.
//! - This check reads `moved` before `top`. Otherwise a younger theft hides an older one that is
//!   not moved out, and the older slot is overwritten.
//! - The same check compares the position with the same `top`. With a later `top`, nothing is
//!   claimed at first, and then a thief that has not read the position has claimed it.
//! - The owner sleeps only if it finds counted tasks when it announces its wait. Otherwise the last
//!   task is over before that, and no thief wakes the owner.
//!
//! What is not needed on these machines:
//!
//! - `moved` read before `top` at the end of a scope or of a stolen task. Thieves take the oldest
//!   task first. So if any task of the segment is stolen, and the segment is empty, then all
//!   positions are claimed, and `top` does not change.
//! - The wait for `moved` after a pop that found the segment empty. Then no task of it was stolen.
//! - `balance` counted before the slot is read. It is enough to count before `moved`.

use super::Settings;
use crate::machine::{Claims, Coalescing};
use crate::models::{Case, Model, OptionLimits, Parameters};
use crate::search::Claim;

const TEXT: &str = include_str!("tasks.tso");
const EACH_ONCE: Claims = Claims { at_most_once: true, nothing_lost: true };

/// A thief raids, and the owner shares nothing.
const RAIDED: Settings = &[("RAIDERS", 1), ("SHARE_FROM", 9)];
const RAIDED_ROW: Settings = &[("SHAPE", 1), ("RAIDERS", 1), ("SHARE_FROM", 9)];
/// The owner shares when it has spawned two tasks, and a raider tries twice.
const RAIDED_AND_SHARED: Settings = &[("RAIDERS", 1), ("SHARE_FROM", 2), ("TRIES", 2)];
const ROW: Settings = &[("SHAPE", 1)];
const NESTED: Settings = &[("SHAPE", 3), ("TRIES", 2)];
const TRIES: Settings = &[("TRIES", 2)];
/// The deque has memory for two tasks.
const SMALL: Settings = &[("SLOTS", 2)];
const SMALL_PAIRS: Settings = &[("SHAPE", 2), ("SLOTS", 2), ("TRIES", 2)];
/// The first task spawns the last one.
const CHILD: Settings = &[("CHILDREN", 1)];
/// The first task spawns the second, which spawns the third. The owner steals while it waits.
const CHAIN: Settings = &[("CHILDREN", 2), ("HELPS", 1)];
/// A raider takes a child that its spawner does not share.
const CHILD_RAIDED: Settings = &[("CHILDREN", 1), ("CHILD_IS_SHARED", 0), ("RAIDERS", 1)];
const OLDEST: Settings = &[("OLDEST", 1), ("TRIES", 2)];
const OLDEST_RAIDED: Settings = &[("OLDEST", 1), ("RAIDERS", 1), ("SHARE_FROM", 9)];
const OLDEST_RAIDED_TWICE: Settings = &[("OLDEST", 1), ("RAIDERS", 1), ("SHARE_FROM", 9), ("TRIES", 2)];
const OLDEST_TWO_RAIDERS: Settings = &[("OLDEST", 1), ("RAIDERS", 2), ("SHARE_FROM", 9)];
const OLDEST_RAIDED_ROW: Settings = &[("OLDEST", 1), ("SHAPE", 1), ("RAIDERS", 1), ("SHARE_FROM", 9)];
/// A raider takes a child that its spawner does not share. The spawner runs the oldest task first.
const OLDEST_CHILD_RAIDED: Settings = &[("OLDEST", 1), ("CHILDREN", 1), ("CHILD_IS_SHARED", 0), ("RAIDERS", 1)];

/// Parameters with one thief.
const fn one(bound: u8, tasks: i16) -> Parameters {
    Parameters::new(bound, tasks, 1)
}

/// Parameters with two thieves.
const fn two(bound: u8, tasks: i16) -> Parameters {
    Parameters::new(bound, tasks, 2)
}

pub(in crate::models) fn models() -> Vec<Model> {
    [sound(), boundary(), ends(), memory()].concat()
}

fn sound() -> Vec<Model> {
    vec![
        Model { cases: as_it_is(), ..form("tasks", "task deques and the end of scopes", &[]) },
        Model {
            cases: vec![
                Case::holds(one(1, 3)).with(RAIDED).quick(),
                Case::holds(one(4, 3)).with(RAIDED_ROW).quick(),
                Case::holds(one(4, 3)).with(RAIDED_AND_SHARED),
                Case::holds(two(4, 3)).with(&[("RAIDERS", 2), ("SHARE_FROM", 9)]),
                Case::holds(two(2, 3)).with(CHILD_RAIDED),
                Case::holds(two(2, 4)).with(SMALL_PAIRS),
                Case::holds(one(2, 3)).with(OLDEST_RAIDED_TWICE).quick(),
            ],
            ..form("tasks/fenced", "the same where the owner pays for the fence", &[("FENCED", 1)])
        },
        Model {
            cases: vec![
                Case::holds(one(1, 3)).with(TRIES).quick(),
                Case::holds(two(1, 3)).with(CHILD).quick(),
                Case::holds(two(1, 4)).with(SMALL_PAIRS),
                Case::holds(two(2, 3)).with(CHILD_RAIDED),
                Case::holds(two(2, 3)).with(CHAIN),
                Case::holds(two(2, 3)).with(NESTED),
            ],
            ..form(
                "tasks/always-waits",
                "the owner waits for thefts even if its last pop met none, which is not needed",
                &[("ALWAYS_WAITS", 1)],
            )
        },
        Model {
            cases: vec![
                Case::holds(two(1, 2)).with(CHILD).quick(),
                Case::holds(two(1, 3)).with(TRIES).quick(),
                Case::holds(two(2, 3)).with(CHAIN),
                Case::holds(two(1, 3)).with(NESTED),
                Case::holds(two(1, 3)).with(OLDEST),
                Case::holds(two(1, 3)).with(&[("CHILDREN", 2), ("BROOD", 1), ("HELPS", 1), ("TRIES", 2)]),
            ],
            ..form(
                "tasks/end-reads-top-first",
                "the end of a segment reads `top` before `moved`, which does no harm",
                &[("TOP_FIRST", 1)],
            )
        },
        Model {
            cases: vec![
                Case::holds(one(1, 2)).quick(),
                Case::holds(two(2, 3)).with(CHAIN),
                Case::holds(two(2, 4)).with(SMALL_PAIRS),
            ],
            ..form(
                "tasks/counted-before-read",
                "a thief counts a task before it reads the slot, which is not needed",
                &[("COUNTS_BEFORE_READ", 1)],
            )
        },
    ]
}

fn as_it_is() -> Vec<Case> {
    vec![
        Case::holds(one(1, 3)).with(RAIDED).quick(),
        Case::holds(one(0, 3)).with(RAIDED).quick(),
        Case::holds(one(4, 3)).with(RAIDED).quick(),
        Case::holds(one(2, 3)).with(RAIDED_ROW).quick(),
        Case::holds(one(2, 3)).with(RAIDED_AND_SHARED).quick(),
        Case::holds(one(2, 3)).with(&[("SHAPE", 3), ("RAIDERS", 1), ("SHARE_FROM", 9), ("TRIES", 2)]).quick(),
        Case::holds(one(2, 3)).with(SMALL).quick(),
        Case::holds(two(1, 3)).with(SMALL).quick(),
        Case::holds(two(1, 3)).with(CHILD).quick(),
        Case::holds(two(1, 3)).with(CHAIN).quick(),
        Case::holds(one(2, 3)).with(OLDEST).quick(),
        Case::holds(one(0, 1)).with(OLDEST_RAIDED).quick(),
        Case::holds(one(1, 1)).with(OLDEST_RAIDED).quick(),
        Case::holds(one(0, 3)).with(OLDEST_RAIDED_TWICE).quick(),
        Case::holds(one(2, 3)).with(OLDEST_RAIDED_TWICE).quick(),
        Case::holds(one(2, 3)).with(OLDEST_RAIDED_ROW).quick(),
        Case::holds(two(1, 2)).with(OLDEST_CHILD_RAIDED).quick(),
        // The owner raids the thief, or searches for tasks without sleep.
        Case::holds(one(2, 2))
            .with(&[("CHILDREN", 1), ("CHILD_IS_SHARED", 0), ("HELPS", 1), ("OWNER_RAIDS", 1)])
            .quick(),
        Case::holds(one(2, 3)).with(&[("CHILDREN", 1), ("HELPS", 1), ("SLEEPS", 0)]).quick(),
        Case::holds(two(4, 3)).with(TRIES),
        Case::holds(two(2, 3)).with(CHILD_RAIDED),
        Case::holds(two(2, 4)).with(SMALL_PAIRS),
        Case::holds(two(2, 4)).with(&[("SLOTS", 2), ("TRIES", 2)]),
        Case::holds(two(2, 4)).with(&[("SHAPE", 1), ("SLOTS", 2), ("TRIES", 2)]),
        Case::holds(two(2, 3)).with(NESTED),
        Case::holds(two(2, 3)).with(OLDEST),
        Case::holds(two(2, 3)).with(&[("OLDEST", 1), ("CHILDREN", 1), ("HELPS", 1)]),
        Case::holds(two(2, 4)).with(&[("OLDEST", 1), ("SHAPE", 2), ("SLOTS", 2)]),
        Case::holds(one(2, 3)).with(&[("OLDEST", 1), ("RAIDERS", 1), ("SHARE_FROM", 2), ("TRIES", 2)]),
        Case::holds(two(2, 3)).with(OLDEST_RAIDED_TWICE),
        Case::holds(two(2, 3)).with(OLDEST_TWO_RAIDERS),
        Case::holds(two(2, 3)).with(OLDEST_CHILD_RAIDED),
        Case::holds(two(2, 3)).with(&[("OLDEST", 1), ("SHAPE", 1), ("RAIDERS", 2), ("SHARE_FROM", 9)]),
        // A thief uses memory again, too.
        Case::holds(two(2, 4)).with(&[("CHILDREN", 3), ("BROOD", 1), ("SLOTS", 2), ("HELPS", 1)]),
        Case::holds(two(1, 3)).with(&[("CHILDREN", 2), ("HELPS", 1), ("TRIES", 2)]),
        Case::holds(two(2, 4)).with(&[("SHAPE", 2), ("CHILDREN", 1), ("SLOTS", 2), ("HELPS", 1), ("TRIES", 2)]),
        // Two raiders. The first to return cancels the other's raid.
        Case::holds(two(2, 3)).with(&[("RAIDERS", 2), ("SHARE_FROM", 9)]),
        Case::holds(two(4, 3)).with(&[("SHAPE", 1), ("RAIDERS", 2), ("SHARE_FROM", 9)]),
        Case::holds(two(4, 3)).with(&[("SHAPE", 3), ("RAIDERS", 2), ("SHARE_FROM", 9)]),
        Case::holds(two(4, 4)).with(&[("SHAPE", 2), ("SLOTS", 2), ("RAIDERS", 2), ("SHARE_FROM", 9)]),
        // With an egress slot behind the store buffer.
        Case::holds(one(1, 3).with_egress(Coalescing::Word)).with(RAIDED),
        Case::holds(one(2, 3).with_egress(Coalescing::Line)).with(RAIDED_ROW),
        // Three thieves.
        Case::holds(Parameters::new(2, 4, 3)).with(SMALL),
    ]
}

/// Models of the boundary between private, public and stolen tasks.
fn boundary() -> Vec<Model> {
    let twice = |bound, settings| Case::refutes(Claim::AtMostOnce, one(bound, 2)).with(settings).quick();
    vec![
        Model {
            cases: vec![
                // Without store buffers the barrier has no effect.
                Case::holds(one(0, 2)).with(RAIDED).quick(),
                twice(1, RAIDED),
            ],
            ..form("tasks/raid-without-barrier", "the owner passes no barrier", &[("RAID_HAS_BARRIER", 0)])
        },
        Model {
            cases: vec![twice(0, RAIDED), twice(1, RAIDED)],
            ..form(
                "tasks/raid-without-limit",
                "a raid raises `limit` only when it raises `split`",
                &[("RAID_RAISES_LIMIT", 0)],
            )
        },
        Model {
            cases: vec![twice(0, RAIDED_ROW), twice(1, RAIDED_ROW)],
            ..form(
                "tasks/raid-ignores-epoch",
                "a raid publishes although the owner has settled meanwhile",
                &[("RAID_LOOKS_AT_EPOCH", 0)],
            )
        },
        Model {
            cases: vec![twice(0, RAIDED), twice(1, RAIDED)],
            ..form("tasks/settle-without-cancelling", "an owner that settles cancels no raid", &[("SETTLE_CANCELS", 0)])
        },
        Model {
            cases: vec![twice(0, RAIDED_AND_SHARED), twice(1, RAIDED_AND_SHARED)],
            ..form("tasks/share-without-cancelling", "an owner that shares cancels no raid", &[("SHARE_CANCELS", 0)])
        },
        Model {
            cases: vec![twice(0, RAIDED), twice(1, RAIDED)],
            ..form("tasks/settle-without-lock", "an owner settles without the lock", &[("SETTLE_LOCKS", 0)])
        },
        Model {
            cases: vec![twice(0, RAIDED_AND_SHARED), twice(1, RAIDED_AND_SHARED)],
            ..form("tasks/share-without-lock", "an owner shares without the lock", &[("SHARE_LOCKS", 0)])
        },
        Model {
            cases: vec![early(one(0, 2), ROW), early(one(1, 2), ROW)],
            ..form(
                "tasks/bottom-not-put-back",
                "a pop that finds its task stolen leaves `bottom` below `top`",
                &[("PUTS_BOTTOM_BACK", 0)],
            )
        },
    ]
}

/// A case in which a scope ends before all of its tasks have run.
fn early(parameters: Parameters, settings: Settings) -> Case {
    Case::refutes(Claim::NoFault, parameters).with(settings).quick()
}

/// Models of the check for the end of a scope.
fn ends() -> Vec<Model> {
    let both = || vec![early(one(0, 2), &[]), early(one(1, 2), &[])];
    vec![
        Model {
            cases: [both(), vec![early(one(1, 2), OLDEST)]].concat(),
            ..form("tasks/end-without-moved", "the end of a scope waits for no theft", &[("END_WAITS", 0)])
        },
        Model {
            cases: vec![
                // One raid publishes half of two tasks. The worker finds the other one private.
                Case::holds(one(1, 2)).with(OLDEST_RAIDED).quick(),
                early(one(0, 1), OLDEST_RAIDED),
                early(one(1, 1), OLDEST_RAIDED),
                early(one(1, 2), OLDEST_RAIDED_TWICE),
                early(two(1, 2), OLDEST_TWO_RAIDERS),
                early(one(1, 2), OLDEST_RAIDED_ROW),
                early(two(1, 2), OLDEST_CHILD_RAIDED),
            ],
            ..form(
                "tasks/oldest-takes-private-for-all",
                "a worker without private tasks regards its deque as empty",
                &[("OLDEST_LOOKS_AGAIN", 0)],
            )
        },
        Model {
            cases: both(),
            ..form(
                "tasks/end-without-balance",
                "the end of a scope does not look at the balance",
                &[("END_LOOKS_AT_BALANCE", 0)],
            )
        },
        Model {
            cases: both(),
            ..form(
                "tasks/end-reads-balance-first",
                "the end of a scope reads `balance` before `moved`",
                &[("BALANCE_LAST", 0)],
            )
        },
        Model {
            cases: both(),
            ..form(
                "tasks/counted-late",
                "a thief counts a task after it has counted it as moved",
                &[("COUNTS_FIRST", 0)],
            )
        },
        Model {
            cases: vec![early(one(0, 2), CHILD), early(one(1, 2), CHILD)],
            ..form("tasks/finish-before-drain", "a stolen task ends before its spawned tasks", &[("FINISH_DRAINS", 0)])
        },
        Model {
            cases: vec![
                // With a single thief, no other thief steals its child.
                Case::holds(one(1, 3)).with(CHILD).quick(),
                early(two(0, 2), CHILD),
                early(two(1, 2), CHILD),
            ],
            ..form(
                "tasks/finish-without-moved",
                "a stolen task ends before thefts of its spawned tasks are counted",
                &[("FINISH_WAITS", 0)],
            )
        },
        Model {
            cases: vec![
                Case::refutes(Claim::NeverStuck, one(0, 2)).quick(),
                Case::refutes(Claim::NeverStuck, one(1, 2)).quick(),
            ],
            ..form(
                "tasks/sleep-unasked",
                "the owner sleeps even if its scope was done when it requested a wake-up",
                &[("HEEDS_ANNOUNCEMENT", 0)],
            )
        },
    ]
}

/// Models of memory that is used again.
fn memory() -> Vec<Model> {
    let twice = |parameters| Case::refutes(Claim::AtMostOnce, parameters).with(SMALL).quick();
    vec![
        Model {
            cases: vec![twice(one(0, 3)), twice(one(1, 3))],
            ..form(
                "tasks/reuse-without-moved",
                "memory is used again before all thieves have read it",
                &[("REUSE_LOOKS_AT_MOVED", 0)],
            )
        },
        Model {
            cases: vec![twice(one(0, 3)), twice(one(1, 3))],
            ..form(
                "tasks/reuse-without-top",
                "memory is used again although its task is in the deque",
                &[("REUSE_LOOKS_AT_TOP", 0)],
            )
        },
        Model {
            cases: vec![
                // The fault takes a theft that hides another one.
                Case::holds(one(1, 4)).with(&[("SLOTS", 2), ("TRIES", 2)]).quick(),
                twice(two(0, 3)),
                twice(two(1, 3)),
            ],
            ..form(
                "tasks/reuse-reads-top-first",
                "the look before memory is used again reads `top` before `moved`",
                &[("REUSE_TOP_FIRST", 1)],
            )
        },
        Model {
            cases: vec![twice(one(0, 3)), twice(one(1, 3))],
            ..form(
                "tasks/reuse-reads-top-twice",
                "the position is compared with a later `top` than `moved` is",
                &[("REUSE_TOP_TWICE", 1)],
            )
        },
    ]
}

fn form(name: &'static str, about: &'static str, form: Settings) -> Model {
    Model {
        name,
        about,
        mirrors: "crates/filch/src/tasks/mod.rs",
        text: TEXT,
        form,
        claims: EACH_ONCE,
        ends: true,
        takes: OptionLimits { most_tasks: 4, most_thieves: 3, delta: false, extra: false },
        cases: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn a_scope_ends_after_its_tasks_ran_once_and_every_rule_is_needed() {
        confirm(&models());
    }
}
