//! Ctrl-C: the first time the search ends with what it has, the second time the program ends.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use filch::explore::Cancel;

use crate::say;

/// What a shell takes for a program that was ended by Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Cancels when the user, or the system, asks the program to end.
pub(super) fn listen(cancel: &Cancel) -> Result<()> {
    let cancel = cancel.clone();
    let asked = AtomicBool::new(false);
    ctrlc::set_handler(move || {
        // Relaxed: only this thread, which handles one signal after another, looks at it.
        if asked.swap(true, Ordering::Relaxed) {
            process::exit(INTERRUPTED);
        }
        say("Ending with the best that was found; once more ends it at once.");
        cancel.cancel();
    })
    .context("Ctrl-C cannot be listened to")
}
