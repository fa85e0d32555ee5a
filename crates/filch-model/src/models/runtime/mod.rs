//! Models of the fork-join runtime. They cover its fork stack, its task deques and scopes, how its
//! workers fall asleep, and how callers from outside take the seats of sleeping workers.

pub(super) mod seats;
pub(super) mod sleep;
pub(super) mod stack;
pub(super) mod tasks;
pub(super) mod waiters;

use crate::machine::Claims;
use crate::models::{Model, OptionLimits};

/// The settings of a form or a scenario of a program: constants and their values.
type Settings = &'static [(&'static str, i16)];

/// Builds a model of the sleep protocol. Its only claims are that it has no fault, never gets stuck
/// and ends. The number of jobs and workers is part of its scenario.
fn of_sleep(text: &'static str, name: &'static str, about: &'static str, form: Settings) -> Model {
    Model {
        name,
        about,
        mirrors: "crates/filch/src/sleep/mod.rs",
        text,
        form,
        claims: Claims::default(),
        ends: true,
        takes: OptionLimits { most_tasks: 0, most_thieves: 0, delta: false, extra: false },
        cases: Vec::new(),
    }
}
