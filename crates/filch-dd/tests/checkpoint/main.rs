//! The file of a checkpoint: always whole when written, never trusted when read.
//!
//! The tests of this program run one at a time, because they count memory.

#[path = "../../../filch-graph/tests/counting/mod.rs"]
mod counting;
#[path = "../../../filch-graph/tests/damage/mod.rs"]
mod damage;

mod read;
mod resume;
mod samples;
mod write;
