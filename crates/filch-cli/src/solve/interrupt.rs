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
pub(super) const SAME_SIGNAL: Duration = Duration::from_secs(10);

/// Cancels the search when the user or the system asks the program to end.
///
/// The first signal prints the message. A later one ends the program at once, unless it counts as
/// the same signal.
pub(super) fn cancel_on_signal(cancel: &Cancel, message: Option<&'static str>, same_signal: Duration) -> Result<()> {
    let cancel = cancel.clone();
    handle(move |first| match first {
        None => {
            message.into_iter().for_each(say);
            cancel.cancel();
        }
        Some(first) if first.elapsed() > same_signal => process::exit(CODE.into()),
        Some(_) => {}
    })
}
