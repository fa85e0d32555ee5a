//! Strict waiters and searchers. The text is `waiters.tso`, which mirrors
//! `crates/filch/src/sleep/mod.rs` and its callers.
//!
//! A fork that finds an idle worker asleep wakes that worker, or none if another worker searches.
//! It wakes no waiter then, so waiters rely on searchers, too. Claimed: no worker sleeps forever
//! while there is work that it may take and that no other worker will take. At the end all counters
//! are 0.
//!
//! `sleep.tso` has fewer workers and more detail. Here up to four workers meet, so many cases begin
//! with workers that sleep already. The other cases show how the workers reach that state.
//!
//! The claims depend on the following rules. For each, a run goes wrong without it:
//!
//! - The count of waiters. Without it, the last searcher takes a job that blocks and does not
//!   recheck, because no worker sleeps idle. The waiter that may run the fork keeps sleeping.
//! - The wake-up of waiters by the last searcher. Without it, the recheck has no effect.
//! - The check of every stack. The first stack with jobs may have none that a waiter may take.
//! - The last searcher leaves the count before it rechecks. Otherwise a fork relies on a searcher
//!   that has checked already.
//! - The waiter counts itself before it writes its sleep state. Otherwise its waker takes it out of
//!   the count before it is in.
//! - The waker takes the waiter out of the count. Otherwise the count stays too high.
//! - A waiter that slept checks for unclaimed work when it takes a job. Otherwise one of two
//!   waiters is woken for the second fork and takes the first, and the other waiter keeps sleeping.
//! - It also checks before it runs a job from its inbox. Otherwise it is woken for a fork and runs
//!   a part of a broadcast.
//! - A searcher that sleeps wakes waiters for the jobs on its own stack. It was the last searcher,
//!   and does not take its own forks.
//!
//! The fence between the count and the last check is not needed on these machines: a searcher
//! leaves the count by a locked instruction. The C11 model needs it.

use super::{of_sleep, Settings};
use crate::models::{Case, Model, Parameters};
use crate::search::Claim;

const TEXT: &str = include_str!("waiters.tso");

const ALL_ASLEEP: Settings = &[("WAITERS_ASLEEP", 1), ("IDLE_ASLEEP", 1)];
const IDLE_ASLEEP: Settings = &[("IDLE_ASLEEP", 1)];
const WAITERS_ASLEEP: Settings = &[("WAITERS_ASLEEP", 1)];

pub(in crate::models) fn models() -> Vec<Model> {
    [blockers(), counts(), looks(), passes()].concat()
}

/// A case with one fork and one idle worker.
fn holds(bound: u8, settings: Settings) -> Case {
    Case::holds(Parameters::new(bound, 1, 1)).with(settings)
}

fn refutes(claim: Claim, bound: u8, settings: Settings) -> Case {
    Case::refutes(claim, Parameters::new(bound, 1, 1)).with(settings).quick()
}

fn stuck(bound: u8, settings: Settings) -> Case {
    refutes(Claim::NeverStuck, bound, settings)
}

/// Models of a waiter, its runner and an idle worker. One job may be taken only by the idle worker.
fn blockers() -> Vec<Model> {
    vec![
        Model {
            cases: vec![
                holds(1, ALL_ASLEEP).quick(),
                holds(0, ALL_ASLEEP).quick(),
                holds(4, ALL_ASLEEP).quick(),
                holds(1, &[("WAITERS_ASLEEP", 1), ("IDLE_ASLEEP", 1), ("FORKED_FIRST", 1)]).quick(),
                holds(1, &[("WAITERS_ASLEEP", 1), ("IDLE_ASLEEP", 1), ("ONE_EACH", 0)]),
                holds(1, IDLE_ASLEEP),
                holds(1, WAITERS_ASLEEP),
            ],
            ..form("waiters/blocker", "an idle worker takes a job that blocks, not the fork", &[("OWNERS", 1)])
        },
        Model {
            cases: vec![stuck(0, ALL_ASLEEP), stuck(1, ALL_ASLEEP)],
            ..form(
                "waiters/blocker-not-counted",
                "waiters are not counted, and the last searcher wakes none",
                &[("OWNERS", 1), ("COUNTS_WAITERS", 0), ("WAKES_WAITERS", 0)],
            )
        },
        Model {
            cases: vec![stuck(0, ALL_ASLEEP), stuck(1, ALL_ASLEEP)],
            ..form(
                "waiters/blocker-wakes-idle-only",
                "waiters are counted, and the last searcher wakes none",
                &[("OWNERS", 1), ("WAKES_WAITERS", 0)],
            )
        },
        Model {
            cases: vec![
                holds(1, ALL_ASLEEP).quick(),
                holds(1, IDLE_ASLEEP).quick(),
                holds(4, &[]).quick(),
                holds(1, &[("IDLE_ASLEEP", 1), ("BEGUN", 0)]),
                holds(4, IDLE_ASLEEP),
            ],
            ..form("waiters/mail", "the same with a job that blocks in the idle worker's inbox", &[("MAIL", 2)])
        },
        Model {
            cases: vec![stuck(0, ALL_ASLEEP), stuck(1, IDLE_ASLEEP)],
            ..form(
                "waiters/mail-not-counted",
                "the same if waiters are not counted",
                &[("MAIL", 2), ("COUNTS_WAITERS", 0), ("WAKES_WAITERS", 0)],
            )
        },
    ]
}

fn counts() -> Vec<Model> {
    let alone = |claim, bound| Case::refutes(claim, Parameters::new(bound, 1, 0)).quick();
    vec![
        Model {
            cases: vec![
                Case::holds(Parameters::new(1, 1, 0)).quick(),
                Case::holds(Parameters::new(4, 1, 0)).with(&[("BEGUN", 0)]).quick(),
            ],
            ..form("waiters/alone", "a waiter and its runner, and no idle worker", &[])
        },
        Model {
            cases: vec![alone(Claim::NoFault, 0), alone(Claim::NoFault, 1)],
            ..form(
                "waiters/counted-late",
                "a waiter counts itself after it has written its state",
                &[("COUNTS_FIRST", 0)],
            )
        },
        Model {
            cases: vec![alone(Claim::EndsWell, 0), refutes(Claim::EndsWell, 1, &[("MAIL", 2), ("IDLE_ASLEEP", 1)])],
            ..form("waiters/counted-on", "a waker leaves the waiter that it wakes in the count", &[("WAKER_COUNTS", 0)])
        },
        Model {
            // A load overtakes the fork's store.
            cases: vec![
                Case::holds(Parameters::new(0, 1, 0)).quick(),
                Case::refutes(Claim::NeverStuck, Parameters::new(1, 1, 0)).quick(),
            ],
            ..form("waiters/without-barrier", "no heavy barrier before sleep", &[("HAS_BARRIER", 0)])
        },
    ]
}

/// Models of what the last searcher checks, and when.
fn looks() -> Vec<Model> {
    vec![
        Model {
            cases: vec![holds(1, ALL_ASLEEP).quick(), holds(4, IDLE_ASLEEP)],
            ..form(
                "waiters/look-without-fence",
                "no fence before the last look, but a locked instruction",
                &[("MAIL", 2), ("STOP_FENCES", 0)],
            )
        },
        Model {
            cases: vec![Case::holds(Parameters::new(0, 1, 2)).with(ALL_ASLEEP)],
            ends: false,
            ..form("waiters/two-idle", "two idle workers, one with mail", &[("MAIL", 2), ("ONE_EACH", 0)])
        },
        Model {
            cases: vec![
                Case::refutes(Claim::NeverStuck, Parameters::new(0, 1, 2)).with(ALL_ASLEEP).quick(),
                Case::refutes(Claim::NeverStuck, Parameters::new(1, 1, 2)).with(ALL_ASLEEP).quick(),
            ],
            ends: false,
            ..form(
                "waiters/two-idle-looks-first",
                "the last searcher looks before it leaves the count",
                &[("MAIL", 2), ("ONE_EACH", 0), ("LEAVES_FIRST", 0)],
            )
        },
        Model {
            cases: vec![holds(0, ALL_ASLEEP), holds(1, ALL_ASLEEP)],
            ends: false,
            ..form(
                "waiters/two-stacks",
                "a stack with jobs for no waiter, before the stack of the runner",
                &[("OWNERS", 1), ("MAIL", 2)],
            )
        },
        Model {
            cases: vec![stuck(0, ALL_ASLEEP), stuck(1, ALL_ASLEEP)],
            ends: false,
            ..form(
                "waiters/two-stacks-first-only",
                "the last searcher wakes waiters for the first stack with jobs",
                &[("OWNERS", 1), ("MAIL", 2), ("WAKES_FOR_ALL", 0)],
            )
        },
        Model {
            cases: vec![holds(0, ALL_ASLEEP), holds(1, ALL_ASLEEP)],
            ends: false,
            ..form(
                "waiters/two-runners",
                "two waiters, each with its own runner, and an idle worker with mail",
                &[("WAITERS", 2), ("RUNNERS", 2), ("MAIL", 3)],
            )
        },
        Model {
            cases: vec![stuck(0, ALL_ASLEEP), stuck(1, ALL_ASLEEP)],
            ends: false,
            ..form(
                "waiters/two-runners-not-counted",
                "the same if waiters are not counted",
                &[("WAITERS", 2), ("RUNNERS", 2), ("MAIL", 3), ("COUNTS_WAITERS", 0), ("WAKES_WAITERS", 0)],
            )
        },
        Model {
            cases: vec![holds(1, ALL_ASLEEP).quick(), holds(1, IDLE_ASLEEP), holds(4, &[])],
            ..form(
                "waiters/own-jobs",
                "a runner that waits as a searcher, and sleeps above its own forks",
                &[("RUNNERS_SEARCH", 1), ("MAIL", 2)],
            )
        },
        Model {
            cases: vec![stuck(0, ALL_ASLEEP), stuck(1, ALL_ASLEEP)],
            ..form(
                "waiters/own-jobs-for-idle-only",
                "it wakes idle workers for them, and no waiters",
                &[("RUNNERS_SEARCH", 1), ("MAIL", 2), ("LEAVES_OWN_TO_WAITERS", 0)],
            )
        },
    ]
}

/// Models of two waiters that may take the same jobs. Some have a waiter and an idle worker
/// instead.
fn passes() -> Vec<Model> {
    let two = |bound, tasks| Parameters::new(bound, tasks, 0);
    vec![
        Model {
            cases: vec![Case::holds(two(0, 2)), Case::holds(two(1, 2))],
            ends: false,
            ..form("waiters/two-waiters", "two forks that wait for each other, and two waiters", &[("WAITERS", 2)])
        },
        Model {
            cases: vec![
                Case::refutes(Claim::NeverStuck, two(0, 2)).quick(),
                Case::refutes(Claim::NeverStuck, two(1, 2)),
            ],
            ends: false,
            ..form(
                "waiters/two-waiters-keep",
                "a waiter that slept takes a job and does not look for more",
                &[("WAITERS", 2), ("PASSES_ON", 0)],
            )
        },
        Model {
            cases: vec![Case::holds(two(1, 1)).with(WAITERS_ASLEEP).quick(), Case::holds(two(1, 1))],
            ..form(
                "waiters/two-waiters-mail",
                "a fork, and two waiters, one with a job that blocks in its inbox",
                &[("WAITERS", 2), ("MAIL", 1)],
            )
        },
        Model {
            cases: vec![
                Case::refutes(Claim::NeverStuck, two(0, 1)).with(WAITERS_ASLEEP).quick(),
                Case::refutes(Claim::NeverStuck, two(1, 1)).with(WAITERS_ASLEEP).quick(),
            ],
            ..form(
                "waiters/two-waiters-mail-keep",
                "it runs the job from its inbox and does not look for more",
                &[("WAITERS", 2), ("MAIL", 1), ("PASSES_ON_FOR_MAIL", 0)],
            )
        },
        Model {
            cases: vec![
                Case::holds(Parameters::new(1, 2, 1)).with(ALL_ASLEEP).quick(),
                Case::holds(Parameters::new(1, 2, 1)).with(IDLE_ASLEEP),
                Case::holds(Parameters::new(1, 2, 1)),
            ],
            ends: false,
            ..form("waiters/both", "two forks that wait for each other, for a waiter and an idle worker", &[])
        },
    ]
}

fn form(name: &'static str, about: &'static str, form: Settings) -> Model {
    of_sleep(TEXT, name, about, form)
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn no_waiter_sleeps_while_work_is_left_that_only_it_may_take_and_every_rule_is_needed() {
        confirm(&models());
    }
}
