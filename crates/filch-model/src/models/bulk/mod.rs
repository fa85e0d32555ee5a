//! Queues that push and steal in batches.

pub(in crate::models) mod published;
pub(in crate::models) mod queue;
mod replay;
mod scenarios;

pub use replay::{replay, Replay};
