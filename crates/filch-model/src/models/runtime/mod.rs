//! What the fork-join runtime rests on: its fork stack, and how its workers fall asleep.

pub(super) mod sleep;
pub(super) mod stack;
pub(super) mod waiters;
