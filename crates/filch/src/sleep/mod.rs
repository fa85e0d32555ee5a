//! The sleep protocol: which workers sleep, which search, and how seats are lent to callers. The
//! README of this folder argues why no wake-up is lost, and numbers the steps.
//!
//! | file | what |
//! |---|---|
//! | `state.rs` | the state of one seat, and where its occupants park |
//! | `counters.rs` | the counters of a pool, and the changes of states that go with them |
//! | `fall_asleep.rs` | going to sleep, step by step |
//! | `wake.rs` | what producers of work do for workers that sleep |
//! | `lend.rs` | seats that callers from outside borrow and return |
//! | `parker.rs` | a place to park, with one token |
//!
//! Model-checked on bounded TSO: `sleep.tso`, `waiters.tso` and `seats.tso` in
//! `crates/filch-model/src/models/runtime`.
#![doc = include_str!("README.md")]

mod counters;
mod fall_asleep;
mod lend;
mod parker;
mod state;
mod wake;

pub(crate) use counters::{Sleep, MAX_WORKERS};
pub(crate) use fall_asleep::{fall_asleep, nap, raid_for, Sleeper};
pub(crate) use lend::Guest;
pub(crate) use parker::Parker;
pub(crate) use state::{SleepCell, SleepState};
pub(crate) use wake::{answer, answer_spawned, answer_stray, answer_task};
