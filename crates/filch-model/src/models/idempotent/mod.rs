//! The queues of *Idempotent Work Stealing*: at least once.

pub(super) mod double_ended;
pub(super) mod fifo;
pub(super) mod lifo;
mod scenario;
