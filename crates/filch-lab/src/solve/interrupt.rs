//! Ctrl-C, or the system: the first time the search ends with what it has, the second time the program ends; not at once if there is a checkpoint to write.

use std::time::Duration;

use anyhow::Result;
use filch::explore::Cancel;

use crate::interrupt::{handle, leave};
use crate::say;

/// How soon after the first signal another is taken for the same one: a batch system may ask a program to end and then all of its group, or ranks and also `mpirun`, which asks them too. The second one must not cost the checkpoint.
const ECHO: Duration = Duration::from_secs(10);

/// Cancels when the user, or the system, asks the program to end; once more ends it at once, unless what is left is `kept` in a file: then a while later.
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

/// The same on a rank, of which the first speaks for all.
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
