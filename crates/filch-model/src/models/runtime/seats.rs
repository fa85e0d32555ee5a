//! Callers from outside a pool that take the seat of a sleeping worker. The text is `seats.tso`,
//! which mirrors `crates/filch/src/sleep/mod.rs` and its callers.
//!
//! Claimed: a seat has one occupant, no worker and no guest sleeps forever while there is work for
//! it, every fair run ends, and at the end all counters are 0.
//!
//! `sleep.tso` and `waiters.tso` have the protocol without guests, and the rules it depends on.
//! Guests add the following rules. For each, a run goes wrong without it:
//!
//! | rule | without it |
//! |---|---|
//! | Callers take vacant seats only, not the seat of an owner that still searches | two occupants |
//! | Callers do not take the seat of an owner that sleeps in a wait | two occupants |
//! | An owner that is called while its seat is taken continues to sleep | two occupants |
//! | A waker retries if the word changed from `Resting` to `Vacant`, or back | an injected call waits forever |
//! | A waker unparks the parker that the word names | a guest keeps sleeping although there is work that only it may take |
//! | A call also unparks the parker that the word names | a guest keeps sleeping although its wait is over |
//! | A waiter checks again after it has written its word | a guest keeps sleeping although its wait is over, because calls skip occupants that are awake |
//! | Mail is in the inbox before its seat is called | the call skips a guest, which sees no mail |
//! | A fork whose sleeper was taken by a caller looks for another sleeper | the job waits for the end of that call, while another worker sleeps |
//! | A returned seat is counted before its word is written | its waker takes it out of the count before it is in |
//! | The guest checks the queues, its mail and the stacks after its word is written | the owner keeps sleeping although there is work |
//! | It reads the counters after its word is written | a second guest forks and has seen no sleeper |
//! | It compares the number of seats at the bottom, not of all sleepers, with the number of seats | the jobs below a worker that sleeps in a wait are not seen |
//! | It raises the alarm of the other workers | a fork checks no seat |
//! | It makes a fence before it checks the stacks | the alarm waits in the store buffer |
//! | It wakes the owner for a barrier unless the owner has promised one | a fork waits in the store buffer |
//! | The owner ends its promise before it reads its word | the guest trusts a promise that is over |
//! | A guest begins as a worker does | its first fork checks no seat |
//! | The last searcher checks if a waiter sleeps, guests included | a guest keeps sleeping although there is work that only it may take |
//! | A guest in a wait runs the parts of broadcasts that its wait needs | the wait never ends |
//! | If one of these parts was sent from inside a pool, it also runs all other parts | two guests that broadcast wait for each other |
//!
//! Not needed for these claims:
//!
//! - Look 1 of the text, which hands the seat over to its owner. It keeps callers from overtaking
//!   queued jobs.
//! - Calls skip occupants that are awake. That saves system calls.
//! - The fence of a call, on these machines: a locked instruction publishes the reason for the
//!   call. The C11 model needs the fence.
//! - `Waking` between a wait and `Awake`. Without it, a waiter may be counted for a moment too
//!   long.
//! - A wake-up of another worker if look 2 cannot wake the owner. The code does not do this. Then
//!   the owner is awake and searches itself, or the seat has a new guest, which checks when it
//!   returns the seat.

use super::{of_sleep, Settings};
use crate::models::{Case, Model, Parameters};
use crate::search::Claim;

const TEXT: &str = include_str!("seats.tso");

/// The owners sleep at the start.
const ASLEEP: Settings = &[("ASLEEP", 1)];

pub(in crate::models) fn models() -> Vec<Model> {
    [calls(), mail(), waits(), broadcasts(), forks(), takers()].concat()
}

/// A case with this many workers that own a seat.
fn holds(bound: u8, owners: i16) -> Case {
    Case::holds(Parameters::new(bound, 1, owners))
}

fn refutes(claim: Claim, bound: u8, owners: i16) -> Case {
    Case::refutes(claim, Parameters::new(bound, 1, owners)).quick()
}

/// Cases that get stuck on machines with and without store buffers.
fn stuck(owners: i16) -> Vec<Case> {
    vec![refutes(Claim::NeverStuck, 0, owners), refutes(Claim::NeverStuck, 1, owners)]
}

fn faulty(owners: i16) -> Vec<Case> {
    vec![refutes(Claim::NoFault, 0, owners), refutes(Claim::NoFault, 1, owners)]
}

/// Cases that get stuck only with a store buffer.
fn stuck_by_buffers(bound: u8, owners: i16) -> Vec<Case> {
    vec![holds(0, owners).quick(), refutes(Claim::NeverStuck, bound, owners)]
}

/// Models of two calls. They take the seat of a worker, or are injected for it.
fn calls() -> Vec<Model> {
    vec![
        Model {
            cases: vec![
                holds(1, 1).quick(),
                holds(0, 1).quick(),
                holds(4, 1).quick(),
                holds(1, 1).with(&[("MAILS", 1)]).quick(),
                holds(1, 1).with(&[("CALLERS", 3)]),
                holds(1, 2).with(&[("LAST_TRIED", 2), ("ASLEEP", 1)]),
            ],
            ..form("seats/calls", "two calls and the owner of a seat", &[("CALLERS", 2), ("INJECTS", 1)])
        },
        Model {
            cases: faulty(1),
            ..form(
                "seats/calls-take-resting",
                "callers take the seat of an owner that is not asleep yet",
                &[("CALLERS", 2), ("INJECTS", 1), ("TAKES_RESTING", 1)],
            )
        },
        Model {
            cases: faulty(1),
            ..form(
                "seats/calls-owner-returns",
                "an owner that is notified takes its seat back from a guest",
                &[("CALLERS", 2), ("INJECTS", 1), ("OWNER_CHECKS", 0)],
            )
        },
        Model {
            cases: faulty(1),
            ..form(
                "seats/calls-counted-late",
                "a returned seat is counted after its word is written",
                &[("CALLERS", 2), ("INJECTS", 1), ("COUNTS_FIRST", 0)],
            )
        },
        Model {
            cases: stuck(1),
            ..form(
                "seats/calls-without-look",
                "no look at the queues after a seat is returned",
                &[("CALLERS", 2), ("INJECTS", 1), ("LOOKS", 0)],
            )
        },
        Model {
            cases: stuck(1),
            ..form(
                "seats/calls-wake-once",
                "a waker gives up if the word went from `Resting` to `Vacant`",
                &[("CALLERS", 2), ("INJECTS", 1), ("WAKE_RETRIES", 0)],
            )
        },
        Model {
            cases: vec![holds(1, 1).quick(), holds(1, 1).with(&[("MAILS", 1)])],
            ..form(
                "seats/calls-not-handed-over",
                "no look before a seat is returned",
                &[("CALLERS", 2), ("INJECTS", 1), ("HANDS_OVER", 0)],
            )
        },
        Model {
            cases: vec![holds(1, 1).quick(), holds(2, 1).quick(), holds(1, 2).with(&[("CALLERS", 1)])],
            ..form(
                "seats/spawn",
                "calls that leave a spawned job in the seat",
                &[("CALLERS", 2), ("INJECTS", 1), ("SPAWNS", 1)],
            )
        },
        Model {
            cases: stuck(1),
            ..form(
                "seats/spawn-without-look",
                "no look at spawned jobs when a seat is returned",
                &[("CALLERS", 2), ("INJECTS", 1), ("SPAWNS", 1), ("LOOKS_FOR_SPAWNED", 0)],
            )
        },
    ]
}

/// Models of a job for the occupant of a seat alone. A guest leaves it to the owner.
fn mail() -> Vec<Model> {
    vec![
        Model {
            cases: vec![holds(1, 1).quick(), holds(4, 1).quick(), holds(1, 1).with(&[("CALLERS", 2)]).quick()],
            ..form("seats/mail", "mail and a call in the same seat", &[("MAILS", 1)])
        },
        Model {
            cases: faulty(1),
            ..form(
                "seats/mail-owner-returns",
                "an owner that is notified takes its seat back from a guest",
                &[("MAILS", 1), ("OWNER_CHECKS", 0)],
            )
        },
        Model {
            cases: stuck(1),
            ..form("seats/mail-without-look", "no look after a seat is returned", &[("MAILS", 1), ("LOOKS", 0)])
        },
        Model {
            cases: stuck(1),
            ..form("seats/mail-not-seen", "no look at mail at all", &[("MAILS", 1), ("LOOKS_FOR_MAIL", 0)])
        },
        Model {
            cases: stuck(1),
            ..form("seats/mail-calls-first", "notified, then delivered", &[("MAILS", 1), ("MAIL_FIRST", 0)])
        },
    ]
}

/// Models of a guest that waits for a stolen job.
fn waits() -> Vec<Model> {
    let leaps = |bound| holds(bound, 2).quick();
    vec![
        Model {
            cases: vec![
                holds(1, 2).quick(),
                holds(0, 2).quick(),
                holds(4, 2),
                holds(1, 2).with(&[("ASLEEP", 1), ("MAILS", 1)]),
                holds(1, 2).with(&[("INJECTS", 1)]),
            ],
            ..form("seats/join", "a guest that forks a job and waits for its thief", &[("JOINS", 1)])
        },
        Model {
            cases: vec![holds(1, 2).with(ASLEEP), holds(1, 2)],
            ends: false,
            ..form("seats/two-joins", "two guests, one after the other", &[("JOINS", 1), ("CALLERS", 2)])
        },
        Model {
            cases: stuck(2),
            ..form(
                "seats/join-calls-owner",
                "a notification unparks the owner",
                &[("JOINS", 1), ("CALL_SEES_GUEST", 0)],
            )
        },
        Model {
            cases: stuck(2),
            ..form(
                "seats/join-without-look",
                "a guest sleeps in its wait without another look",
                &[("JOINS", 1), ("LOOKS_IN_WAIT", 0)],
            )
        },
        Model {
            cases: vec![holds(1, 2).quick(), holds(1, 2).with(&[("ASLEEP", 1), ("MAILS", 1)])],
            ..form(
                "seats/join-spares-none",
                "a notification unparks occupants that are awake, too",
                &[("JOINS", 1), ("CALL_SPARES", 0)],
            )
        },
        Model {
            cases: vec![holds(1, 2).quick(), holds(4, 2).with(ASLEEP).quick()],
            ..form(
                "seats/join-calls-without-fence",
                "no fence before a notification looks at the word, but a locked instruction",
                &[("JOINS", 1), ("CALL_FENCES", 0)],
            )
        },
        Model {
            cases: vec![leaps(1), leaps(0), holds(4, 2), holds(1, 2).with(&[("MAILS", 1), ("ASLEEP", 1)])],
            ..form(
                "seats/leapfrog",
                "a stolen job that forks, and the guest that waits for it",
                &[("JOINS", 1), ("LEAPS", 1)],
            )
        },
        Model {
            cases: vec![holds(1, 2).with(ASLEEP).quick(), holds(4, 2)],
            ..form(
                "seats/leapfrog-fenced",
                "the same where workers and guests pay for the fence",
                &[("JOINS", 1), ("LEAPS", 1), ("FENCED", 1)],
            )
        },
        Model {
            cases: stuck(2),
            ..form(
                "seats/leapfrog-wakes-owner",
                "a waker of a guest unparks the owner",
                &[("JOINS", 1), ("LEAPS", 1), ("WAKE_SEES_GUEST", 0)],
            )
        },
        Model {
            cases: vec![holds(1, 2).quick(), holds(4, 2)],
            ..form(
                "seats/leapfrog-without-waking",
                "a waiter is `Awake` before the counters are right",
                &[("JOINS", 1), ("LEAPS", 1), ("WAITER_IS_WAKING", 0)],
            )
        },
    ]
}

/// Models of guests, and of parts of broadcasts that a call waits for.
fn broadcasts() -> Vec<Model> {
    vec![
        Model {
            cases: vec![holds(1, 2).quick(), holds(1, 2).with(ASLEEP).quick()],
            ..form(
                "seats/broadcast",
                "a stolen job that broadcasts, and the guest that waits for it",
                &[("JOINS", 1), ("ASKS", 1)],
            )
        },
        Model {
            cases: stuck(2),
            ..form(
                "seats/broadcast-left-to-owner",
                "a guest leaves every part to the owner",
                &[("JOINS", 1), ("ASKS", 1), ("RUNS_NEEDED_PARTS", 0)],
            )
        },
        Model {
            cases: vec![holds(1, 2).quick(), holds(4, 2)],
            ..form(
                "seats/two-broadcasts",
                "two guests that broadcast at the same time, and run all parts",
                &[("BROADCASTS", 1), ("CALLERS", 2), ("LAST_TRIED", 2), ("ASLEEP", 1), ("RUNS_ALL_PARTS", 1)],
            )
        },
        Model {
            cases: stuck(2),
            ..form(
                "seats/two-broadcasts-needed-only",
                "the same if a guest runs only the parts that its wait needs",
                &[("BROADCASTS", 1), ("CALLERS", 2), ("LAST_TRIED", 2), ("ASLEEP", 1)],
            )
        },
    ]
}

/// Models of a fork in one seat, and a guest that returns another seat.
fn forks() -> Vec<Model> {
    vec![
        Model {
            cases: vec![
                holds(1, 1).quick(),
                holds(0, 1).quick(),
                holds(2, 1).quick(),
                holds(4, 1),
                holds(1, 1).with(ASLEEP).quick(),
                holds(2, 1).with(&[("FENCED", 1)]).quick(),
            ],
            ..form(
                "seats/fork",
                "a worker that forks while a guest returns its seat",
                &[("FORKERS", 1), ("AFTER_CALL", 1), ("BEFORE", 1)],
            )
        },
        Model {
            cases: vec![holds(1, 2).with(ASLEEP)],
            ends: false,
            ..form(
                "seats/fork-two-owners",
                "the same with two workers that may take the job",
                &[("FORKERS", 1), ("AFTER_CALL", 1), ("BEFORE", 1)],
            )
        },
        Model {
            cases: stuck(1),
            ..form(
                "seats/fork-without-alarm",
                "a guest raises no alarm when it returns its seat",
                &[("FORKERS", 1), ("AFTER_CALL", 1), ("BEFORE", 1), ("RAISES_ALARM", 0)],
            )
        },
        Model {
            cases: stuck_by_buffers(1, 1),
            ..form(
                "seats/fork-without-fence",
                "no fence between the alarm and the look at the stacks",
                &[("FORKERS", 1), ("AFTER_CALL", 1), ("BEFORE", 1), ("LOOK_FENCES", 0)],
            )
        },
        Model {
            cases: stuck_by_buffers(1, 1),
            ..form(
                "seats/fork-without-promise",
                "a guest wakes no owner for a barrier",
                &[("FORKERS", 1), ("AFTER_CALL", 1), ("BEFORE", 1), ("CHECKS_PROMISE", 0)],
            )
        },
        Model {
            cases: stuck_by_buffers(1, 1),
            ..form(
                "seats/fork-promise-ends-late",
                "an owner looks at its word before it ends its promise",
                &[("FORKERS", 1), ("AFTER_CALL", 1), ("BEFORE", 1), ("PROMISE_ENDS_FIRST", 0)],
            )
        },
        Model {
            cases: stuck_by_buffers(1, 1),
            ..form(
                "seats/fork-without-barrier",
                "no heavy barrier before sleep",
                &[("FORKERS", 1), ("AFTER_CALL", 1), ("BEFORE", 1), ("HAS_BARRIER", 0)],
            )
        },
        Model {
            cases: vec![holds(1, 1).quick(), holds(0, 1).quick(), holds(2, 1).quick()],
            ..form("seats/two-guests", "a guest that forks while another guest leaves", &[("FORKERS", 2)])
        },
        Model {
            cases: stuck_by_buffers(2, 1),
            ..form(
                "seats/two-guests-without-fence",
                "a guest begins without a fence and without its own alarm",
                &[("FORKERS", 2), ("GUEST_BEGINS", 0)],
            )
        },
        Model {
            cases: stuck(1),
            ..form(
                "seats/two-guests-counted-once",
                "the counters are not read again after the word is written",
                &[("FORKERS", 2), ("COUNTS_AGAIN", 0)],
            )
        },
        Model {
            cases: vec![holds(1, 1).quick(), holds(0, 1), holds(1, 1).with(ASLEEP).quick()],
            ..form("seats/idle", "a worker that sleeps idle above its fork, and a guest that leaves", &[("FORKERS", 3)])
        },
        Model {
            cases: stuck(1),
            ..form(
                "seats/idle-counts-sleepers",
                "a guest looks at no stack if all workers sleep, wherever they sleep",
                &[("FORKERS", 3), ("COUNTS_BOTTOM", 0)],
            )
        },
        Model {
            cases: stuck(1),
            ..form("seats/idle-without-look", "a guest looks at no stack", &[("FORKERS", 3), ("LOOKS_FOR_FORKED", 0)])
        },
        Model {
            cases: faulty(1),
            ..form(
                "seats/idle-is-taken",
                "callers take the seat of a worker that sleeps in a wait",
                &[("FORKERS", 3), ("LAST_TRIED", 2), ("TAKES_IDLE", 1)],
            )
        },
    ]
}

/// Models of a fork whose sleeper is taken by a caller, or by other work.
fn takers() -> Vec<Model> {
    const TAKEN: Settings = &[("FORKERS", 1), ("AWAITS", 1), ("ASLEEP", 1)];
    const WAITER: Settings = &[("WAITERS", 1), ("WAITER_ASLEEP", 1)];
    vec![
        Model {
            cases: vec![
                holds(1, 2).quick(),
                holds(0, 2).quick(),
                holds(4, 2),
                holds(1, 1).with(WAITER).quick(),
                holds(2, 1).with(WAITER),
                holds(1, 1).with(&[("WAITERS", 1)]),
                holds(2, 2).with(&[("FENCED", 1)]),
            ],
            ..form("seats/taken", "a fork whose sleeper a caller takes, and another sleeper", TAKEN)
        },
        Model {
            cases: vec![
                refutes(Claim::NeverStuck, 0, 2),
                refutes(Claim::NeverStuck, 1, 2),
                refutes(Claim::NeverStuck, 0, 1).with(WAITER),
                refutes(Claim::NeverStuck, 1, 1).with(WAITER),
            ],
            ..form(
                "seats/taken-without-retry",
                "the fork looks for no other sleeper",
                &[("FORKERS", 1), ("AWAITS", 1), ("ASLEEP", 1), ("ANSWER_RETRIES", 0)],
            )
        },
        Model {
            cases: vec![holds(1, 1).quick(), holds(0, 1)],
            ..form(
                "seats/waiter",
                "a fork whose sleeper has a job that blocks, and a guest in a wait",
                &[
                    ("CALLERS", 0),
                    ("FORKERS", 1),
                    ("ASLEEP", 1),
                    ("MAILS", 1),
                    ("MAIL_BLOCKS", 1),
                    ("WAITERS", 1),
                    ("WAITER_ASLEEP", 1),
                ],
            )
        },
        Model {
            cases: stuck(1),
            ..form(
                "seats/waiter-not-counted",
                "the last searcher looks for idle workers only",
                &[
                    ("CALLERS", 0),
                    ("FORKERS", 1),
                    ("ASLEEP", 1),
                    ("MAILS", 1),
                    ("MAIL_BLOCKS", 1),
                    ("WAITERS", 1),
                    ("WAITER_ASLEEP", 1),
                    ("COUNTS_WAITERS", 0),
                ],
            )
        },
        Model {
            cases: vec![holds(1, 2).quick(), holds(2, 2).quick(), holds(1, 2).with(&[("ASLEEP", 0)])],
            ..form(
                "seats/meeting",
                "a call that forks and waits for a thief, in any seat of two",
                &[("MEETS", 1), ("INJECTS", 1), ("LAST_TRIED", 2), ("BEFORE", 1), ("ASLEEP", 1)],
            )
        },
        Model {
            cases: stuck_by_buffers(1, 2),
            ..form(
                "seats/meeting-without-barrier",
                "no heavy barrier before sleep",
                &[("MEETS", 1), ("INJECTS", 1), ("LAST_TRIED", 2), ("BEFORE", 1), ("ASLEEP", 1), ("HAS_BARRIER", 0)],
            )
        },
    ]
}

fn form(name: &'static str, about: &'static str, form: Settings) -> Model {
    of_sleep(TEXT, name, about, form)
}

#[cfg(test)]
mod tests {
    use super::{form, holds, models, Settings};
    use crate::models::{confirm, Model};

    #[test]
    fn a_seat_has_one_occupant_and_loses_no_wake_up_and_every_rule_is_needed() {
        confirm(&models());
    }

    /// Each of these has 5 to 25 million states.
    #[test]
    #[ignore = "four minutes; `cargo xtask deep` runs it"]
    fn the_same_holds_with_more_calls_and_more_seats() {
        const LARGER: [(i16, Settings); 7] = [
            (2, &[("JOINS", 1), ("CALLERS", 2), ("LAST_TRIED", 2), ("ASLEEP", 1)]),
            (2, &[("MEETS", 1), ("CALLERS", 2), ("LAST_TRIED", 2), ("ASLEEP", 1), ("INJECTS", 1), ("BEFORE", 1)]),
            (2, &[("FORKERS", 3), ("ASLEEP", 1)]),
            (1, &[("FORKERS", 3), ("CALLERS", 2)]),
            (1, &[("FORKERS", 1), ("CALLERS", 2), ("AFTER_CALL", 1), ("BEFORE", 1)]),
            (1, &[("FORKERS", 1), ("CALLERS", 2), ("AWAITS", 1), ("ASLEEP", 1), ("WAITERS", 1), ("WAITER_ASLEEP", 1)]),
            (
                1,
                &[
                    ("FORKERS", 1),
                    ("ASLEEP", 1),
                    ("MAILS", 1),
                    ("MAIL_BLOCKS", 1),
                    ("WAITERS", 1),
                    ("WAITER_ASLEEP", 1),
                ],
            ),
        ];
        let case = |(owners, settings)| holds(1, owners).with(settings).quick();
        confirm(&[Model { ends: false, cases: LARGER.map(case).to_vec(), ..form("seats", "larger", &[]) }]);
    }
}
