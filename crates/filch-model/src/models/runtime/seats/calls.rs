//! Calls, and mail, in the seat of one worker.

use super::{faulty, form, holds, stuck};
use crate::models::Model;

/// Models of two calls. They take the seat of a worker, or are injected for it.
pub(super) fn calls() -> Vec<Model> {
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
pub(super) fn mail() -> Vec<Model> {
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
