//! The file of a checkpoint: written so that it is always whole, and read with distrust.
//!
//! The tests of this program run one at a time, because of the memory that they count.

#[path = "../../../filch-graph/tests/counting/mod.rs"]
mod counting;
#[path = "../../../filch-graph/tests/damage/mod.rs"]
mod damage;

mod keeping;
mod made;
mod noise;
mod writing;
