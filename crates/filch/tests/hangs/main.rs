//! Closures that wait for each other. The programs end because a waiting worker runs all that its
//! wait needs.

#[path = "../common/mod.rs"]
mod common;
mod descendants;
mod locks;
mod other_settings;
mod random_programs;

use std::env;
use std::time::Duration;

use common::{watchdog_for, Watchdog};

/// The time limit of a test. Each test takes seconds if it does not hang, and minutes if it is
/// repeated often.
const TIMEOUT: Duration = Duration::from_secs(600);

fn watchdog() -> Watchdog {
    watchdog_for(TIMEOUT)
}

/// Returns how often each program is run.
fn rounds() -> usize {
    env::var("FILCH_HANGS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(100)
}
