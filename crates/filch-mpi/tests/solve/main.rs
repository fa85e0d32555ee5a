//! Real searches on ranks that are threads, with messages that are late.

mod checkpoints;
mod common;
mod failures;
mod needle;
mod optima;
mod panics;
mod stops;
