//! What the fork-join runtime rests on: its fork stack, its task deques and scopes, how its workers
//! fall asleep, and how callers from outside take the seats of sleeping workers.

pub(super) mod seats;
pub(super) mod sleep;
pub(super) mod stack;
pub(super) mod tasks;
pub(super) mod waiters;

use crate::machine::Claims;
use crate::models::{Model, Takes};

/// What makes a form or a scenario of a program: constants, and what they are set to.
type Settings = &'static [(&'static str, i16)];

/// A model of the sleep protocol. Nothing is claimed of it but that it meets no fault, is never
/// stuck and ends; how many jobs and workers there are is part of its scenario.
fn of_sleep(text: &'static str, name: &'static str, about: &'static str, form: Settings) -> Model {
    Model {
        name,
        about,
        mirrors: "crates/filch/src/sleep/mod.rs",
        text,
        form,
        claims: Claims::default(),
        ends: true,
        takes: Takes { most_tasks: 0, most_thieves: 0, delta: false, extra: false },
        cases: Vec::new(),
    }
}
