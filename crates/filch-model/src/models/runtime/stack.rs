//! The fork stack: `stack.tso`, which mirrors `crates/filch/src/stack/mod.rs`.
//!
//! An owner forks, returns and forks again, so that slots are used for one job after the other. A
//! thief steals public jobs and leaves a demand if there are none. A raider makes private jobs of
//! the owner public. There are five shapes: jobs one after the other above an older one (`NEST`),
//! all in one slot (`ROW`), one above the other (`TOWER`), a fork above a stolen job that is waited
//! for (`ABOVE`), and an owner that takes its own oldest job (`OWN`).
//!
//! Claimed: each job runs once; a worker that waits for a stolen job does not get stuck; the
//! assertions of `reset` are true; no raid leaves `limit` raised. This holds with every bound that
//! was searched, and with fenced and unfenced owners. It also holds if the mutex is unlocked by a
//! plain store, or if the kernel refuses the barrier.
//!
//! The claims depend on the following rules. For each, a run goes wrong without it:
//!
//! | without | what happens |
//! |---|---|
//! | the barrier of a raid | the owner's lowered `bottom` waits in its store buffer, and its load of `limit` came before the raid; the raider sees the old `bottom` and offers a job that the owner runs |
//! | `limit` raised before the barrier | the owner returns after the raider has read `bottom`, and sees no limit |
//! | the lock in `share` | a raid and a share decide on the same `split`. The raid writes the smaller `limit` last, and the owner takes a job that was shared and stolen |
//! | the check of `epoch`, or its count in `settle` | the owner has settled and continued, with a `limit` that settling wrote; then the raider acts on the old state and offers a job that the owner holds |
//! | the count in `share` | the same happens, with the `limit` that sharing wrote |
//! | the count in `reset` | the same happens, with the `limit` that resetting wrote, at the next job in the slot |
//! | `reset` | the next job in the slot is below `top`: its owner treats it as stolen and waits forever |
//! | a `split` that a raid only raises | the raid lowers it below `top`, and `limit` with it: the owner takes a job that was stolen |
//!
//! Not needed: `split` moves before `limit` within one hold of the lock. Only the owner reads
//! `limit` without the lock. When it moves the two itself, it reads neither in between. When a
//! raider moves them, `limit` comes down from the top of the address space to where `split` will
//! be. A job at or above that belongs to the owner in either order.

use super::Settings;
use crate::machine::{Claims, Coalescing};
use crate::models::{Case, Model, OptionLimits, Parameters};
use crate::search::Claim;

const TEXT: &str = include_str!("stack.tso");
const EACH_ONCE: Claims = Claims { at_most_once: true, nothing_lost: true };

// The names of the shapes in the text.
const ROW: (&str, i16) = ("SHAPE", 1);
const TOWER: (&str, i16) = ("SHAPE", 2);
const ABOVE: (&str, i16) = ("SHAPE", 3);
const OWN: (&str, i16) = ("SHAPE", 4);
const RAIDER: (&str, i16) = ("RAIDERS", 1);
const RAIDERS: (&str, i16) = ("RAIDERS", 2);
/// Each thief tries once.
const ONE_TRY: (&str, i16) = ("ROBS", 1);
const TRIES: (&str, i16) = ("ROBS", 3);

/// Parameters with one thief and one raider.
const fn both(bound: u8, tasks: i16) -> Parameters {
    Parameters::new(bound, tasks, 1)
}

pub(in crate::models) fn models() -> Vec<Model> {
    vec![
        Model { cases: sound(), ..form("stack", "the runtime's fork stack", &[]) },
        Model {
            cases: fenced(),
            ..form("stack/fenced", "the same where the owner pays for the fence", &[("FENCED", 1)])
        },
        Model {
            cases: vec![
                Case::holds(both(1, 3)).with(&[RAIDER]).quick(),
                Case::holds(both(4, 3)).with(&[RAIDER]),
                Case::holds(both(4, 3)).with(&[RAIDER, ROW]),
                Case::holds(both(4, 3)).with(&[RAIDER, TOWER]),
            ],
            ..form("stack/unlock-by-store", "with a mutex that is unlocked by a plain store", &[("UNLOCK_BY_STORE", 1)])
        },
        Model {
            cases: vec![
                Case::holds(both(2, 3)).with(&[RAIDER]).quick(),
                Case::holds(both(4, 3)).with(&[RAIDER, ROW]),
                Case::holds(both(4, 3)).with(&[RAIDER, TOWER]),
                Case::holds(both(2, 3)).with(&[RAIDERS, ONE_TRY]),
            ],
            ..form("stack/refused", "the kernel refuses the barrier, and the raid publishes nothing", &[("REFUSED", 1)])
        },
        Model {
            cases: vec![
                Case::holds(both(1, 2)).with(&[RAIDERS, ONE_TRY]).quick(),
                Case::holds(both(4, 3)).with(&[RAIDERS, ONE_TRY]),
                Case::holds(both(4, 3)).with(&[RAIDERS, ONE_TRY, ROW]),
            ],
            ..form("stack/refused-to-one", "the kernel refuses the barrier to one of two raiders", &[("REFUSED", 2)])
        },
        Model {
            cases: vec![
                Case::holds(both(1, 3)).with(&[RAIDER]).quick(),
                Case::holds(both(4, 3)).with(&[RAIDER]),
                Case::holds(both(4, 3)).with(&[RAIDER, ROW]),
                Case::holds(both(4, 3)).with(&[RAIDER, TOWER]),
                Case::holds(both(2, 3)).with(&[RAIDERS, ONE_TRY]),
            ],
            ..form(
                "stack/limit-before-split",
                "`limit` moves before `split`, which does no harm",
                &[("LIMIT_FIRST", 1)],
            )
        },
        Model {
            cases: vec![
                Case::holds(both(1, 2)).with(&[RAIDERS, ONE_TRY, ROW]).quick(),
                Case::holds(both(4, 3)).with(&[RAIDERS, ONE_TRY]),
                Case::holds(both(4, 3)).with(&[RAIDERS, ONE_TRY, ROW]),
                Case::holds(both(4, 3)).with(&[RAIDERS, ONE_TRY, TOWER]),
            ],
            ..form(
                "stack/raids-cancel",
                "a raid that begins cancels raids under way: see `sleep`",
                &[("RAIDS_AGREE", 0)],
            )
        },
        Model {
            cases: vec![
                // Without store buffers the barrier has no effect.
                Case::holds(both(0, 2)).with(&[RAIDER]).quick(),
                Case::refutes(Claim::AtMostOnce, both(1, 2)).with(&[RAIDER]).quick(),
                Case::refutes(Claim::AtMostOnce, both(4, 3)).with(&[RAIDER, TOWER]),
            ],
            ..form("stack/raid-without-barrier", "the owner passes no barrier", &[("RAID_HAS_BARRIER", 0)])
        },
        Model {
            cases: vec![
                Case::refutes(Claim::AtMostOnce, both(0, 2)).with(&[RAIDER]).quick(),
                Case::refutes(Claim::AtMostOnce, both(1, 2)).with(&[RAIDER]).quick(),
            ],
            ..form(
                "stack/raid-without-limit",
                "a raid raises `limit` only when it raises `split`",
                &[("RAID_RAISES_LIMIT", 0)],
            )
        },
        Model {
            cases: vec![
                Case::refutes(Claim::AtMostOnce, both(0, 2)).with(&[RAIDER, ROW]).quick(),
                Case::refutes(Claim::AtMostOnce, both(1, 3)).with(&[RAIDER]),
            ],
            ..form("stack/raid-lowers-split", "a raid may lower `split`", &[("RAID_LOWERS_SPLIT", 1)])
        },
        Model {
            cases: vec![
                Case::refutes(Claim::AtMostOnce, both(0, 2)).with(&[RAIDER, ROW]).quick(),
                Case::refutes(Claim::AtMostOnce, both(1, 3)).with(&[RAIDER]),
                Case::refutes(Claim::AtMostOnce, both(1, 2)).with(&[RAIDER, ABOVE]),
            ],
            ..form("stack/settle-without-cancelling", "an owner that settles cancels no raid", &[("SETTLE_CANCELS", 0)])
        },
        Model {
            cases: vec![
                Case::refutes(Claim::AtMostOnce, both(0, 2)).with(&[RAIDER]).quick(),
                Case::refutes(Claim::AtMostOnce, both(1, 3)).with(&[RAIDER, TOWER]),
                // With one job on the stack, all of it is shared, and a raid finds nothing more.
                Case::holds(both(1, 3)).with(&[RAIDER, ROW]),
            ],
            ..form("stack/share-without-cancelling", "an owner that shares cancels no raid", &[("SHARE_CANCELS", 0)])
        },
        Model {
            cases: vec![Case::refutes(Claim::AtMostOnce, both(1, 3)).with(&[RAIDER, ROW]).quick()],
            ..form("stack/reset-without-cancelling", "an owner that resets cancels no raid", &[("RESET_CANCELS", 0)])
        },
        Model {
            cases: vec![
                Case::refutes(Claim::AtMostOnce, both(1, 2)).with(&[RAIDER, ROW]).quick(),
                Case::refutes(Claim::AtMostOnce, both(1, 3)).with(&[RAIDER]),
            ],
            ..form("stack/share-without-lock", "an owner shares without the lock", &[("SHARE_LOCKS", 0)])
        },
        Model {
            cases: vec![
                Case::refutes(Claim::NeverStuck, both(1, 2)).with(&[ROW]).quick(),
                Case::refutes(Claim::NeverStuck, both(1, 3)).with(&[RAIDER]),
            ],
            ..form("stack/without-reset", "a slot is used again with `top` above it", &[("RESETS", 0)])
        },
    ]
}

fn sound() -> Vec<Case> {
    vec![
        Case::holds(both(1, 3)).with(&[RAIDER]).quick(),
        Case::holds(both(0, 3)).with(&[RAIDER]).quick(),
        Case::holds(both(2, 3)).with(&[RAIDER]).quick(),
        Case::holds(both(3, 3)).with(&[RAIDER]),
        Case::holds(both(4, 3)).with(&[RAIDER]).quick(),
        Case::holds(both(1, 3)).with(&[RAIDER, ROW]).quick(),
        Case::holds(both(4, 3)).with(&[RAIDER, ROW]),
        Case::holds(both(1, 3)).with(&[RAIDER, TOWER]).quick(),
        Case::holds(both(4, 3)).with(&[RAIDER, TOWER]),
        Case::holds(both(2, 2)).with(&[RAIDER, ABOVE]).quick(),
        Case::holds(both(4, 2)).with(&[RAIDER, ABOVE]),
        Case::holds(both(2, 2)).with(&[RAIDER, OWN]).quick(),
        Case::holds(both(4, 2)).with(&[RAIDER, OWN]),
        // Four jobs, three tries.
        Case::holds(both(2, 4)).with(&[RAIDER, TRIES]),
        Case::holds(both(2, 4)).with(&[RAIDER, TRIES, ROW]),
        Case::holds(both(2, 4)).with(&[RAIDER, TRIES, TOWER]),
        // Two raiders. The first to return cancels the other's raid.
        Case::holds(both(1, 2)).with(&[RAIDERS, ONE_TRY, ROW]).quick(),
        Case::holds(both(1, 3)).with(&[RAIDERS, ONE_TRY]),
        Case::holds(both(2, 3)).with(&[RAIDERS, ONE_TRY]),
        Case::holds(both(3, 3)).with(&[RAIDERS, ONE_TRY]),
        Case::holds(both(4, 3)).with(&[RAIDERS, ONE_TRY]),
        Case::holds(both(4, 3)).with(&[RAIDERS, ONE_TRY, ROW]),
        Case::holds(both(4, 3)).with(&[RAIDERS, ONE_TRY, TOWER]),
        Case::holds(both(2, 2)).with(&[RAIDERS, ONE_TRY, OWN]),
        Case::holds(both(1, 2)).with(&[RAIDERS, ONE_TRY, ("RAIDS", 2)]),
        // With an egress slot behind the store buffer.
        Case::holds(both(1, 3).with_egress(Coalescing::Word)).with(&[RAIDER]),
        Case::holds(both(2, 3).with_egress(Coalescing::Line)).with(&[RAIDER]),
        Case::holds(both(2, 3).with_egress(Coalescing::Line)).with(&[RAIDER, ROW]),
        Case::holds(both(2, 3).with_egress(Coalescing::Line)).with(&[RAIDER, TOWER]),
        // Two thieves and a raider.
        Case::holds(Parameters::new(4, 4, 2)).with(&[RAIDER, ONE_TRY]),
        Case::holds(Parameters::new(4, 4, 2)).with(&[RAIDER, ONE_TRY, ROW]),
        Case::holds(Parameters::new(4, 4, 2)).with(&[RAIDER, ONE_TRY, TOWER]),
        Case::holds(Parameters::new(1, 3, 2)).with(&[RAIDER]),
        Case::holds(Parameters::new(2, 3, 2)).with(&[RAIDER]),
    ]
}

fn fenced() -> Vec<Case> {
    vec![
        Case::holds(both(1, 3)).with(&[RAIDER]).quick(),
        Case::holds(both(4, 3)).with(&[RAIDER]).quick(),
        Case::holds(both(4, 3)).with(&[RAIDER, ROW]),
        Case::holds(both(4, 3)).with(&[RAIDER, TOWER]),
        Case::holds(both(4, 2)).with(&[RAIDER, ABOVE]),
        Case::holds(both(4, 2)).with(&[RAIDER, OWN]),
        Case::holds(both(4, 4)).with(&[RAIDER, TRIES, TOWER]),
        Case::holds(both(4, 3)).with(&[RAIDERS, ONE_TRY]),
        Case::holds(both(4, 3)).with(&[RAIDERS, ONE_TRY, TOWER]),
        Case::holds(Parameters::new(4, 4, 2)).with(&[RAIDER, ONE_TRY]),
    ]
}

fn form(name: &'static str, about: &'static str, form: Settings) -> Model {
    Model {
        name,
        about,
        mirrors: "crates/filch/src/stack/mod.rs",
        text: TEXT,
        form,
        claims: EACH_ONCE,
        ends: false,
        takes: OptionLimits { most_tasks: 4, most_thieves: 2, delta: false, extra: false },
        cases: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn each_forked_job_runs_once_and_every_rule_is_needed() {
        confirm(&models());
    }
}
