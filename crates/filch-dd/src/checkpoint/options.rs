//! Settings of the checkpoints of a search.

use core::time::Duration;
use std::path::PathBuf;

use super::error::CheckpointError;
use super::{Checkpoint, Identity};
use crate::solver::Solution;

/// The default time between two checkpoints.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(60);

/// The callback for a checkpoint that could not be written.
pub(super) type OnWriteError<'a> = Box<dyn FnMut(&CheckpointError) + Send + 'a>;

/// Settings of the checkpoints of a search.
///
/// For [`Solver::solve_with_checkpoints`](crate::Solver::solve_with_checkpoints).
pub struct CheckpointOptions<'a> {
    pub(super) identity: Identity,
    pub(super) path: Option<PathBuf>,
    pub(super) every: Duration,
    pub(super) resumed: Option<Checkpoint>,
    pub(super) on_write_error: Option<OnWriteError<'a>>,
}

impl<'a> CheckpointOptions<'a> {
    /// Returns the settings for a new search of this instance, without a file.
    pub fn new(identity: Identity) -> Self {
        CheckpointOptions { identity, path: None, every: DEFAULT_INTERVAL, resumed: None, on_write_error: None }
    }

    /// Keeps checkpoints in this file.
    ///
    /// The first is written at once, so that there always is one. The next ones follow every
    /// minute, or as [`every`](Self::every) says. The last is written when the search ends, for
    /// whatever reason. Partial files that a killed search left beside it are removed.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Sets the time from the start of a checkpoint to the start of the next.
    #[must_use]
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// Resumes from a checkpoint.
    ///
    /// # Errors
    ///
    /// If the checkpoint belongs to something else.
    pub fn resume(mut self, checkpoint: Checkpoint) -> Result<Self, CheckpointError> {
        checkpoint.check(&self.identity)?;
        self.resumed = Some(checkpoint);
        Ok(self)
    }

    /// Calls `callback` if a checkpoint could not be written.
    ///
    /// The search continues, and the next checkpoint is tried. Of several failures in a row only
    /// the first is reported. A failure of the last checkpoint is not reported here: see
    /// [`CheckpointedOutcome::write_error`](super::CheckpointedOutcome::write_error).
    #[must_use]
    pub fn on_write_error(mut self, callback: impl FnMut(&CheckpointError) + Send + 'a) -> Self {
        self.on_write_error = Some(Box::new(callback));
        self
    }

    /// Returns the best solution of the checkpoint to resume from.
    pub(crate) fn best(&self) -> Option<&Solution> {
        self.resumed.as_ref()?.best.as_ref()
    }
}

impl core::fmt::Debug for CheckpointOptions<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let CheckpointOptions { identity, path, every, .. } = self;
        f.debug_struct("CheckpointOptions")
            .field("identity", identity)
            .field("path", path)
            .field("every", every)
            .finish_non_exhaustive()
    }
}
