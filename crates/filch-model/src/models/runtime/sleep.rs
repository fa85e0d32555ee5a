//! How workers sleep, and why no wake-up is lost. The text is `sleep.tso`, which mirrors
//! `crates/filch/src/sleep/mod.rs` and its callers. `event_counter.tso` is the protocol that it
//! replaced.
//!
//! In each scenario work appears while one or two workers fall asleep: a fork, a spawned job, an
//! injected job, a job for a single worker, the end of a stolen job, or a job from outside that
//! forks. Claimed: no worker sleeps forever while work is left. A lost wake-up is a state in which
//! no thread can continue. That no run repeats forever is claimed too (every fair run ends), except
//! for two sleepers and one forking worker.
//!
//! The claims depend on the following rules. For each, a run goes wrong without it:
//!
//! | without | what happens |
//! |---|---|
//! | the heavy barrier | the fork's `bottom` waits in its store buffer and its load of the alarm came before; the sleeper sees neither. On a machine without store buffers nothing goes wrong |
//! | the recheck after it | a fork that came before the barrier is visible, but no worker checks |
//! | the order in a fork, `bottom` and then the alarm | the alarm is raised in between |
//! | raising an alarm again that was answered while another worker still sleeps | the next fork wakes no worker |
//! | the recheck of the last searcher | work that other workers left to it stays unclaimed |
//! | the fence between a spawned job and the counters | the spawned job waits in the store buffer |
//! | the order in an injection or a delivery: queue the job, then wake | the woken worker finds nothing and sleeps again |
//! | any recheck after the worker has announced its sleep | a job that was queued just before is not seen, and its publisher saw a searcher |
//! | `Waking`, between `Idle` and `Awake` | a worker that is awake before it is counted as a searcher takes itself off the count, which goes below zero |
//! | a check of the job when its owner announces its sleep | the job was done before, and its thief saw no sleeper to wake |
//! | the alarm that a worker raises for itself when it begins to run a job | the owner that waits for the job went to sleep before it knew which worker runs the job, so the job's forks check no sleep state |
//!
//! Two results are unexpected:
//!
//! - The fence of an *injection* is not needed on these machines: the injector's length goes up by
//!   a locked instruction, which is already a fence. The C11 model needs it, and so do *spawned*
//!   jobs, which are published by plain stores.
//! - If a raid changed `epoch` when it begins, as in an earlier version, two sleepers that raid the
//!   same owner could cancel each other's raids forever (`sleep/raids-cancel`). Both kept
//!   searching, so no worker slept while there was work. But there was no bound on the time until a
//!   worker gets it. This search found the problem. Now a raid is cancelled only when `limit` is
//!   lowered. A raid lowers it when it ends, so the first raid to end succeeds.

use super::{of_sleep, Settings};
use crate::machine::Coalescing;
use crate::models::{Case, Model, OptionLimits, Parameters};
use crate::search::Claim;

const TEXT: &str = include_str!("sleep.tso");
const EVENT_COUNTER: &str = include_str!("event_counter.tso");

/// Each idle worker runs one job, as if the jobs waited for each other.
const ONE_EACH: (&str, i16) = ("ONE_EACH", 1);

pub(in crate::models) fn models() -> Vec<Model> {
    [forks(), forks_and_two(), queues(), waits(), event_counter()].concat()
}

fn forks() -> Vec<Model> {
    let one = |bound, tasks| Parameters::new(bound, tasks, 1);
    let stuck = |bound, tasks| Case::refutes(Claim::NeverStuck, one(bound, tasks)).quick();
    vec![
        Model {
            cases: vec![
                Case::holds(one(1, 1)).quick(),
                Case::holds(one(0, 1)).quick(),
                Case::holds(one(2, 1)).quick(),
                Case::holds(one(3, 1)).quick(),
                Case::holds(one(4, 1)).quick(),
                Case::holds(one(2, 2)).quick(),
                Case::holds(one(4, 2)),
                Case::holds(one(4, 3)),
                Case::holds(one(2, 2).with_egress(Coalescing::Word)),
                Case::holds(one(2, 2).with_egress(Coalescing::Line)),
            ],
            ..form("sleep/fork", "a fork, and a worker that falls asleep", &[("FORK", 1)])
        },
        Model {
            cases: vec![Case::holds(one(1, 1)).quick(), Case::holds(one(4, 1)).quick(), Case::holds(one(4, 3))],
            ..form("sleep/fork-fenced", "the same where the owner pays for the fence", &[("FORK", 1), ("FENCED", 1)])
        },
        Model {
            // Without store buffers the barrier has no effect.
            cases: vec![Case::holds(one(0, 1)).quick(), stuck(1, 1), stuck(4, 1)],
            ..form("sleep/fork-without-barrier", "no heavy barrier before sleep", &[("FORK", 1), ("HAS_BARRIER", 0)])
        },
        Model {
            cases: vec![stuck(0, 1), stuck(1, 1)],
            ..form("sleep/fork-without-look", "no look after the barrier", &[("FORK", 1), ("LOOKS", 0)])
        },
        Model {
            cases: vec![stuck(0, 1), stuck(1, 1)],
            ..form(
                "sleep/fork-looks-first",
                "a fork looks at the alarm before its job is visible",
                &[("FORK", 1), ("WAKES_FIRST", 1)],
            )
        },
    ]
}

fn forks_and_two() -> Vec<Model> {
    let two = |bound, tasks| Parameters::new(bound, tasks, 2);
    vec![
        Model {
            cases: vec![
                Case::holds(two(0, 2)).with(&[ONE_EACH]),
                Case::holds(two(1, 2)).with(&[ONE_EACH]),
                Case::holds(two(4, 2)).with(&[ONE_EACH]),
                Case::holds(two(1, 1)),
            ],
            ends: false,
            ..form("sleep/two-forks", "two forks, and two workers that fall asleep", &[("FORK", 1)])
        },
        Model {
            cases: vec![Case::holds(two(1, 2)).with(&[ONE_EACH]), Case::holds(two(4, 2)).with(&[ONE_EACH])],
            ends: false,
            ..form(
                "sleep/two-forks-fenced",
                "the same where the owner pays for the fence",
                &[("FORK", 1), ("FENCED", 1)],
            )
        },
        Model {
            cases: vec![
                Case::refutes(Claim::NeverStuck, two(0, 2)).with(&[ONE_EACH]).quick(),
                Case::refutes(Claim::NeverStuck, two(1, 2)).with(&[ONE_EACH]),
            ],
            ends: false,
            ..form(
                "sleep/two-forks-alarm-off",
                "an alarm that was answered stays off",
                &[("FORK", 1), ("ALARM_AGAIN", 0)],
            )
        },
        Model {
            cases: vec![
                Case::refutes(Claim::NeverStuck, two(0, 2)).with(&[ONE_EACH]),
                Case::refutes(Claim::NeverStuck, two(1, 2)).with(&[ONE_EACH]),
            ],
            ends: false,
            ..form(
                "sleep/two-forks-without-last-look",
                "the last searcher does not look for work when it stops",
                &[("FORK", 1), ("STOPS_WITH_LOOK", 0)],
            )
        },
        Model {
            cases: vec![Case::holds(two(0, 1)), Case::holds(two(1, 1))],
            ..form("sleep/two-raiders", "two workers raid the same owner until one succeeds", &[("FORK", 1)])
        },
        Model {
            cases: vec![Case::refutes(Claim::Ends, two(0, 1))],
            ..form(
                "sleep/raids-cancel",
                "the same if a raid that begins cancels raids under way",
                &[("FORK", 1), ("RAIDS_AGREE", 0)],
            )
        },
    ]
}

fn queues() -> Vec<Model> {
    let on = Parameters::new;
    let stuck = |parameters| Case::refutes(Claim::NeverStuck, parameters).quick();
    vec![
        Model {
            cases: vec![
                Case::holds(on(1, 1, 1)).quick(),
                Case::holds(on(4, 1, 1)).quick(),
                Case::holds(on(1, 1, 2)).quick(),
                Case::holds(on(4, 1, 2)),
                Case::holds(on(1, 2, 2)).with(&[ONE_EACH]).quick(),
                Case::holds(on(4, 2, 2)),
            ],
            ..form("sleep/inject", "a job from outside, and one or two workers that fall asleep", &[("INJECT", 1)])
        },
        Model {
            cases: vec![Case::holds(on(1, 1, 1)).quick(), Case::holds(on(4, 2, 2))],
            ..form(
                "sleep/inject-without-fence",
                "no fence before the counters, but a locked instruction",
                &[("INJECT", 1), ("EVENT_FENCES", 0)],
            )
        },
        Model {
            cases: vec![stuck(on(0, 1, 1)), stuck(on(1, 1, 2))],
            ..form("sleep/inject-wakes-first", "woken, then queued", &[("INJECT", 1), ("WAKES_FIRST", 1)])
        },
        Model {
            cases: vec![stuck(on(0, 1, 1)), stuck(on(1, 1, 2))],
            ..form(
                "sleep/inject-without-look",
                "no look at the queue after the worker has announced its sleep",
                &[("INJECT", 1), ("LOOKS", 0), ("LOOKS_BEFORE_BARRIER", 0)],
            )
        },
        Model {
            cases: vec![stuck(on(1, 2, 2)).with(&[ONE_EACH])],
            ..form(
                "sleep/inject-without-last-look",
                "the last searcher does not look for work when it stops",
                &[("INJECT", 1), ("STOPS_WITH_LOOK", 0)],
            )
        },
        Model {
            cases: vec![Case::refutes(Claim::NoFault, on(0, 1, 1)).quick()],
            ..form(
                "sleep/inject-without-waking",
                "`Awake` before the counters are right",
                &[("INJECT", 1), ("HAS_WAKING_STATE", 0)],
            )
        },
        Model {
            cases: vec![
                Case::holds(on(1, 1, 1)).quick(),
                Case::holds(on(4, 1, 1)).quick(),
                Case::holds(on(1, 2, 2)).with(&[ONE_EACH]).quick(),
                Case::holds(on(4, 2, 2)),
            ],
            ..form("sleep/spawn", "a spawned job, published by a plain store", &[("SPAWN", 1)])
        },
        Model {
            cases: vec![Case::holds(on(0, 1, 1)).quick(), stuck(on(1, 1, 1)), stuck(on(4, 1, 2))],
            ..form("sleep/spawn-without-fence", "no fence before the counters", &[("SPAWN", 1), ("EVENT_FENCES", 0)])
        },
        Model {
            cases: vec![Case::holds(on(1, 1, 2)).with(&[ONE_EACH])],
            ..form(
                "sleep/spawn-and-inject",
                "both at once, for two workers that fall asleep",
                &[("SPAWN", 1), ("INJECT", 1)],
            )
        },
        Model {
            cases: vec![Case::holds(on(1, 1, 1)).quick(), Case::holds(on(4, 1, 2)).quick()],
            ..form("sleep/deliver", "a job for one particular worker", &[("MAIL", 1)])
        },
        Model {
            cases: vec![stuck(on(1, 1, 1))],
            ..form("sleep/deliver-calls-first", "notified, then delivered", &[("MAIL", 1), ("WAKES_FIRST", 1)])
        },
    ]
}

fn waits() -> Vec<Model> {
    let on = |bound, tasks| Parameters::new(bound, tasks, 0);
    let stuck = |bound, tasks| Case::refutes(Claim::NeverStuck, on(bound, tasks)).quick();
    vec![
        Model {
            cases: vec![Case::holds(on(1, 1)).quick(), Case::holds(on(0, 1)).quick(), Case::holds(on(4, 1)).quick()],
            ..form("sleep/complete", "the end of a stolen job, and its owner", &[("STEAL", 1)])
        },
        Model {
            cases: vec![stuck(0, 1), stuck(1, 1)],
            ..form(
                "sleep/complete-without-look",
                "a waiting owner sleeps without a look at its job",
                &[("STEAL", 1), ("ANNOUNCE_LOOKS", 0)],
            )
        },
        Model {
            cases: vec![
                Case::holds(on(1, 2)).quick(),
                Case::holds(on(4, 2)).quick(),
                Case::holds(on(1, 3)).quick(),
                Case::holds(on(4, 3)),
            ],
            ..form("sleep/leapfrog", "the forks of a stolen job, and the job's owner", &[("STEAL", 1)])
        },
        Model {
            cases: vec![Case::holds(on(4, 3))],
            ..form(
                "sleep/leapfrog-fenced",
                "the same where the thief pays for the fence",
                &[("STEAL", 1), ("FENCED", 1)],
            )
        },
        Model {
            // The first fork of the stolen job checks the sleep states by itself.
            cases: vec![Case::holds(on(1, 2)).quick(), stuck(1, 3)],
            ..form(
                "sleep/leapfrog-without-barrier",
                "no heavy barrier before sleep",
                &[("STEAL", 1), ("HAS_BARRIER", 0)],
            )
        },
        Model {
            cases: vec![stuck(0, 2), stuck(1, 2)],
            ..form(
                "sleep/leapfrog-without-alarm",
                "a thief begins without raising its own alarm",
                &[("STEAL", 1), ("BEGIN_ALARMS", 0)],
            )
        },
        Model {
            cases: vec![
                Case::holds(Parameters::new(0, 2, 2)).with(&[ONE_EACH]),
                Case::holds(Parameters::new(1, 2, 2)).with(&[ONE_EACH]),
                Case::holds(Parameters::new(4, 2, 2)).with(&[ONE_EACH]),
                Case::holds(Parameters::new(1, 2, 2)),
            ],
            ..form("sleep/install", "a job from outside that forks", &[("INSTALL", 1)])
        },
        Model {
            cases: vec![Case::refutes(Claim::NeverStuck, Parameters::new(1, 2, 2)).with(&[ONE_EACH])],
            ..form("sleep/install-without-look", "no look after the barrier", &[("INSTALL", 1), ("LOOKS", 0)])
        },
    ]
}

/// Models of the jobs event counter of the Blitz paper.
fn event_counter() -> Vec<Model> {
    let form = |name, about, settings| Model {
        text: EVENT_COUNTER,
        mirrors: "the sleep protocol of the Blitz paper",
        takes: OptionLimits { most_tasks: 1, most_thieves: 3, delta: false, extra: false },
        ..form(name, about, settings)
    };
    let stuck = |bound, workers| Case::refutes(Claim::NeverStuck, Parameters::new(bound, 1, workers)).quick();
    vec![
        Model {
            cases: vec![
                Case::holds(Parameters::new(1, 1, 1)).quick(),
                Case::holds(Parameters::new(0, 1, 2)).quick(),
                Case::holds(Parameters::new(4, 1, 2)).quick(),
                Case::holds(Parameters::new(4, 1, 3)),
            ],
            ..form("sleep/event-counter", "queued jobs, and workers that compare the event counter", &[])
        },
        Model {
            cases: vec![stuck(0, 1), stuck(1, 2)],
            ..form("sleep/event-counter-not-read-again", "a sleeper does not compare the counter", &[("RE_READS", 0)])
        },
        Model {
            cases: vec![Case::holds(Parameters::new(0, 1, 2)).quick(), stuck(1, 1), stuck(4, 2)],
            ..form("sleep/event-counter-without-fence", "no fence before the counter is read", &[("FENCED", 0)])
        },
        Model {
            cases: vec![stuck(0, 2)],
            ..form("sleep/event-counter-tries-once", "a worker that loses a race goes to sleep", &[("TRIES_AGAIN", 0)])
        },
    ]
}

fn form(name: &'static str, about: &'static str, form: Settings) -> Model {
    let waits = form.contains(&("STEAL", 1));
    let takes = OptionLimits { most_tasks: 3, most_thieves: if waits { 0 } else { 2 }, delta: false, extra: false };
    Model { takes, ..of_sleep(TEXT, name, about, form) }
}

#[cfg(test)]
mod tests {
    use super::models;
    use crate::models::confirm;

    #[test]
    fn no_worker_sleeps_forever_while_work_is_left_and_every_rule_is_needed() {
        confirm(&models());
    }
}
