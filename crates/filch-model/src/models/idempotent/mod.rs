//! The queues of *Idempotent Work Stealing*, which extract each task at least once.

pub(super) mod double_ended;
pub(super) mod fifo;
pub(super) mod lifo;
mod scenario;
