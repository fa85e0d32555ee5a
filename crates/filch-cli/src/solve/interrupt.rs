//! Handles Ctrl-C and the system's termination signals.
//!
//! The first signal ends the search with the best solution so far. The second ends the program, but
//! not at once if there is a checkpoint to write.

use std::process;
use std::time::Duration;

use anyhow::Result;
use filch::explore::Cancel;

use crate::interrupt::{handle, CODE};
use crate::say;

/// How long after the first signal another counts as the same one.
///
/// A batch system may signal a program and then its whole group, or ranks and also `mpirun`, which
/// signals them too. The second signal must not cost the checkpoint.
const SAME_SIGNAL: Duration = Duration::from_secs(10);

/// Cancels the search when the user or the system asks the program to end.
///
/// A second signal ends the program at once. With a checkpoint to write, it does so only after a
/// while.
pub(super) fn cancel_on_signal(cancel: &Cancel, has_checkpoint: bool) -> Result<()> {
    let cancel = cancel.clone();
    let same_signal = if has_checkpoint { SAME_SIGNAL } else { Duration::ZERO };
    handle(move |first| match first {
        None => {
            say(if has_checkpoint {
                "Stopping with the best solution so far, after a last checkpoint."
            } else {
                "Stopping with the best solution so far; a second Ctrl-C stops at once."
            });
            cancel.cancel();
        }
        Some(first) if first.elapsed() > same_signal => process::exit(CODE.into()),
        Some(_) => {}
    })
}

/// Cancels the search on a rank in the same way. The first rank prints for all.
#[cfg(feature = "mpi")]
pub(super) fn cancel_on_signal_on_rank(cancel: &Cancel, prints: bool) -> Result<()> {
    let cancel = cancel.clone();
    handle(move |first| match first {
        None => {
            if prints {
                say("Stopping with the best solution so far, on all ranks.");
            }
            cancel.cancel();
        }
        Some(first) if first.elapsed() > SAME_SIGNAL => process::exit(CODE.into()),
        Some(_) => {}
    })
}
