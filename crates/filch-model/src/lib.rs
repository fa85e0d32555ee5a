//! The bounded-TSO machine, and every queue and protocol of filch on it, searched exhaustively.

pub mod delta;
pub mod explore;
pub mod language;
pub mod litmus;
pub mod machine;
pub mod models;
pub mod search;
pub mod trace;
