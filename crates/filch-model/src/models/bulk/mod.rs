//! Queues that push and steal in batches.

pub(in crate::models) mod published;
mod replay;

pub use replay::{replay, Replay};
