//! Forks beside callers that take seats and guests that return them.

use super::{faulty, form, holds, refutes, stuck, stuck_by_buffers, ASLEEP};
use crate::models::runtime::Settings;
use crate::models::Model;
use crate::search::Claim;

/// Models of a fork in one seat, and a guest that returns another seat.
pub(super) fn forks() -> Vec<Model> {
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
pub(super) fn takers() -> Vec<Model> {
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
