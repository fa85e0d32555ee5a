//! Queues that return each task at least once, with the cheapest owner.
//!
//! On any CPU, a push and a pop need neither a fence between store and load nor an atomic
//! read-modify-write. (The owner of [`double_ended`] passes a fence every 256 pushes.)
//!
//! They are for work that may be done twice: marking, relaxing, visiting. In return a push and a
//! pop are a few plain loads and stores. Tasks are `Copy`, of any size. An extracted task is always
//! a whole task that was pushed.
//!
//! Source: *Idempotent Work Stealing* (Michael, Vechev, Saraswat), with two orderings added that
//! the paper omits and that cost nothing on x86. In the paper a pop's store of an index and the
//! next push's write of a slot are unordered. So on other CPUs a thief could read a half-written
//! slot and yet find the index unchanged. A release fence before the write of the slot and an
//! acquire fence between a thief's read of it and its CAS prevent this. If a thief reads any word
//! of the new task, the older store of the index comes before its CAS, which then fails. loom
//! cannot show the difference, because its CAS always reads the newest value. The argument is from
//! C11: the two fences synchronise through the word of the slot, so the pop's store happens before
//! the CAS, which must read that store or a newer one.

pub mod double_ended;
pub mod fifo;
pub mod lifo;
