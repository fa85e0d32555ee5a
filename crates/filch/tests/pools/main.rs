//! Pools: how they are built and dropped, and how they work with one another.

mod broadcasts;
mod builder;
#[path = "../common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
mod fork;
mod global;
mod installs;
mod lifetime;
