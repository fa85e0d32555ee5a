//! Queues that give each task at least once, and whose owner needs neither a fence between store and load nor an atomic read-modify-write, on any CPU.
//!
//! They are for work that may be done twice: marking, relaxing, visiting. In return a push and a pop are a few plain loads and stores.
//! Tasks are `Copy`, of any size; what comes out is always a whole task that went in.
//!
//! Source: *Idempotent Work Stealing* (Michael, Vechev, Saraswat), with two orderings added that it leaves out and that cost nothing on x86. A pop's store of an index
//! and the next push's write of a slot are unordered in the paper, so elsewhere a thief could read a half-written slot and yet find the
//! index unchanged. A release fence before the write of the slot and an acquire fence between a thief's read of it and its CAS
//! put that right: a thief that reads anything of the new task has the older store of the index before its CAS, which then fails. loom cannot
//! show the difference, because its CAS always meets the newest value; the argument is C11's: the two fences synchronise through the word of the
//! slot, so the pop's store happens before the CAS, which must read it or something newer.

pub mod double_ended;
pub mod fifo;
pub mod lifo;
mod width;

pub use width::{Wide, Width};
