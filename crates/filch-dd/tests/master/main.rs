//! The master and its workers, on real threads and on a single one.

mod common;
mod ends;
mod learnt;
mod places;
mod trees;
mod waits;
