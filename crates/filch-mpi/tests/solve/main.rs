//! Real searches on ranks that are threads, with delayed messages.

mod checkpoints;
mod common;
mod failures;
mod needle;
mod optima;
mod panics;
mod stops;
