//! Handles Ctrl-C and the system's request to end the program.

use std::sync::OnceLock;
use std::time::Instant;

use anyhow::{Context, Result};

/// The exit code of a program that was ended by Ctrl-C.
pub const CODE: u8 = 130;

/// Installs a handler for signals, which receives the time of the first one. For the first signal
/// that is `None`.
///
/// It can be called only once in a process.
pub fn handle(on_signal: impl Fn(Option<Instant>) + Send + 'static) -> Result<()> {
    let first = OnceLock::new();
    ctrlc::set_handler(move || {
        on_signal(first.get().copied());
        first.get_or_init(Instant::now);
    })
    .context("cannot install the Ctrl-C handler")
}
