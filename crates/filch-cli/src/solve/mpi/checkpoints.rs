//! Saves checkpoints of all ranks on rank 0. The format is the same as on a single machine.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use filch_dd::checkpoint::{remove_partial_files, Checkpoint, CheckpointError};
use filch_mpi::RunCheckpoint;

use super::super::checkpoint::{resume_command, warn};
use crate::format::time;
use crate::sync::lock;

/// The state of this run's checkpoints, shared with the thread that writes them.
#[derive(Clone, Debug, Default)]
pub(super) struct SavedCheckpoints(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// How many were written.
    written: u64,
    /// When the last written checkpoint was taken.
    last: Option<Instant>,
    /// Why the last checkpoint was not written.
    error: Option<CheckpointError>,
}

impl SavedCheckpoints {
    /// Returns a function that writes the rest of a run to this file.
    ///
    /// `all` holds the identity of the search, and what was done before this run.
    pub(super) fn writer(&self, path: &Path, all: Checkpoint) -> impl FnMut(RunCheckpoint) + Send + 'static {
        remove_partial_files(path);
        let (path, saved) = (path.to_owned(), self.clone());
        let before = (all.elapsed, all.totals);
        let mut all = all;
        move |left| {
            let RunCheckpoint { packages, best, totals, elapsed, last } = left;
            // If no node is open the run is about to end: only the last checkpoint may say so.
            if packages.is_empty() && !last {
                return;
            }
            let taken = Instant::now();
            (all.elapsed, all.totals) = (before.0.saturating_add(elapsed), before.1 + totals);
            (all.packages, all.best) = (packages, best);
            let result = all.write(&path);
            all.packages = Vec::new();
            let mut state = saved.lock();
            match result {
                Ok(()) => {
                    state.written += 1;
                    (state.last, state.error) = (Some(taken), None);
                }
                Err(failure) => {
                    // Of several failures in a row only the first is reported here. A failure of
                    // the last checkpoint is reported at the end.
                    if !last && state.error.is_none() {
                        warn(&failure);
                    }
                    state.error = Some(failure);
                }
            }
        }
    }

    /// Returns how many were written, and why the last one was not.
    pub(super) fn written_and_error(&self) -> (u64, Option<CheckpointError>) {
        let mut state = self.lock();
        (state.written, state.error.take())
    }

    /// Says how to resume a run that ended too early.
    pub(super) fn resume_hint(&self, path: Option<&Path>, resumed: Option<&Path>, ranks: usize) -> String {
        let command = |file: &Path| format!("mpirun -n {ranks} {}", resume_command(std::env::args_os(), file));
        match (path, self.lock().last, resumed) {
            (Some(path), Some(taken), _) => {
                let age = taken.elapsed().max(Duration::from_millis(1)).as_secs_f64();
                format!(
                    "The last checkpoint, {}, is complete and {} old. To resume it, on any number of ranks:\n  {}",
                    path.display(),
                    time(age),
                    command(path)
                )
            }
            (_, _, Some(resumed)) => format!(
                "No checkpoint was written since the run resumed from {}, which still exists. To resume from it again:\n  {}",
                resumed.display(),
                command(resumed)
            ),
            (Some(path), None, None) => format!("No checkpoint was written to {} yet.", path.display()),
            (None, _, None) => "There is no checkpoint: --checkpoint was not given.".to_owned(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use filch_dd::checkpoint::Identity;
    use filch_dd::port::{Package, Totals};

    use super::*;

    fn left(explored: u64, last: bool) -> RunCheckpoint {
        let totals = Totals { explored, ..Totals::default() };
        RunCheckpoint { packages: vec![Package::default()], totals, last, ..RunCheckpoint::default() }
    }

    #[test]
    fn a_checkpoint_includes_the_totals_of_earlier_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut all = Checkpoint::new(Identity::new("golomb", "5"));
        all.totals.explored = 100;
        let saved = SavedCheckpoints::default();
        assert!(saved.resume_hint(Some(&path), None, 2).contains("No checkpoint was written"));
        let mut write = saved.writer(&path, all);
        write(left(1, false));
        write(left(2, false));
        // A checkpoint without open nodes reads as a proof, which only the last checkpoint may
        // give.
        write(RunCheckpoint::default());
        assert_eq!(Checkpoint::read(&path).unwrap().totals.explored, 102);
        let hint = saved.resume_hint(Some(&path), None, 2);
        assert!(hint.contains("is complete") && hint.contains("mpirun -n 2") && hint.contains("--resume"), "{hint}");
        assert!(matches!(saved.written_and_error(), (2, None)));
    }

    #[test]
    fn a_failure_to_write_the_last_checkpoint_is_reported() {
        let saved = SavedCheckpoints::default();
        let mut write = saved.writer(Path::new("no such folder/a"), Checkpoint::new(Identity::new("golomb", "5")));
        write(left(1, true));
        let (written, error) = saved.written_and_error();
        assert_eq!(written, 0);
        assert!(error.unwrap().to_string().contains("no such folder"));
    }
}
