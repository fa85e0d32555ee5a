//! What the fork-join runtime rests on: its fork stack, how its workers fall asleep, and how callers
//! from outside take the seats of sleeping workers.

pub(super) mod seats;
pub(super) mod sleep;
pub(super) mod stack;
pub(super) mod waiters;
