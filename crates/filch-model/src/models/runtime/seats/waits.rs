//! Guests that wait: for a stolen job, and for parts of broadcasts.

use super::{form, holds, stuck, ASLEEP};
use crate::models::Model;

/// Models of a guest that waits for a stolen job.
pub(super) fn waits() -> Vec<Model> {
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
pub(super) fn broadcasts() -> Vec<Model> {
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
