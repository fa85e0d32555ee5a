//! Queues that push and steal in batches.

pub(super) mod published;
