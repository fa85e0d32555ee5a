//! Handles Ctrl-C and the system's termination signals.
//!
//! The first signal ends the search with the best solution so far. The second ends the program, but
//! not at once if there is a checkpoint to write.

use std::time::Duration;

use anyhow::Result;
use filch::explore::Cancel;

use crate::interrupt::{handle, leave};
use crate::say;

/// How long after the first signal another counts as the same one.
///
/// A batch system may signal a program and then its whole group, or ranks and also `mpirun`, which
/// signals them too. The second signal must not cost the checkpoint.
const ECHO: Duration = Duration::from_secs(10);

/// Cancels the search when the user or the system asks the program to end.
///
/// A second signal ends the program at once. If the rest of the search is `kept` in a file, it does
/// so only after a while.
pub(super) fn listen(cancel: &Cancel, kept: bool) -> Result<()> {
    let cancel = cancel.clone();
    let echo = if kept { ECHO } else { Duration::ZERO };
    handle(move |first| match first {
        None => {
            say(if kept {
                "Ending with the best that was found, and a last checkpoint."
            } else {
                "Ending with the best that was found; once more ends it at once."
            });
            cancel.cancel();
        }
        Some(first) if first.elapsed() > echo => leave(),
        Some(_) => {}
    })
}

/// Cancels the search on a rank in the same way. The first rank prints for all.
#[cfg(feature = "mpi")]
pub(super) fn listen_on_rank(cancel: &Cancel, speaks: bool) -> Result<()> {
    let cancel = cancel.clone();
    handle(move |first| match first {
        None => {
            if speaks {
                say("Ending with the best that was found, on all ranks.");
            }
            cancel.cancel();
        }
        Some(first) if first.elapsed() > ECHO => leave(),
        Some(_) => {}
    })
}
