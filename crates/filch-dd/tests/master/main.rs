//! The master and its workers, on real threads and on a single one.

mod common;
mod idle;
mod notes;
mod pools;
mod stops;
mod trees;
