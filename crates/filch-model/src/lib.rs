//! Exhaustive search of all filch queues and protocols on a bounded-TSO machine.

pub mod delta;
pub mod explore;
pub mod history;
pub mod language;
pub mod litmus;
pub mod machine;
pub mod models;
pub mod search;
pub mod trace;
