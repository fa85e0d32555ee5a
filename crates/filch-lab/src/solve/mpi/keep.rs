//! Saves checkpoints of all ranks on rank 0. The format is the same as on a single machine.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use filch_dd::checkpoint::{sweep, Checkpoint, CheckpointError};
use filch_mpi::Left;

use super::super::checkpoint::{to_go_on, warn};
use crate::figures::time;

/// The state of this run's checkpoints, shared with the thread that writes them.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept(Arc<Mutex<Done>>);

#[derive(Debug, Default)]
struct Done {
    /// How many were written.
    written: u64,
    /// When the last written checkpoint was taken.
    last: Option<Instant>,
    /// Why the last checkpoint was not written.
    trouble: Option<CheckpointError>,
}

impl Kept {
    /// Returns a function that writes the rest of a run to this file.
    ///
    /// `all` holds the identity of the search, and what was done before this run.
    pub(super) fn writer(&self, path: &Path, all: Checkpoint) -> impl FnMut(Left) + Send + 'static {
        sweep(path);
        let (path, kept) = (path.to_owned(), self.clone());
        let before = (all.elapsed, all.totals);
        let mut all = all;
        move |left| {
            let Left { parcels, best, totals, elapsed, last } = left;
            // If no node is open the run is about to end: only the last checkpoint may say so.
            if parcels.is_empty() && !last {
                return;
            }
            let taken = Instant::now();
            (all.elapsed, all.totals) = (before.0.saturating_add(elapsed), before.1 + totals);
            (all.parcels, all.best) = (parcels, best);
            let result = all.write(&path);
            all.parcels = Vec::new();
            let mut done = kept.lock();
            match result {
                Ok(()) => {
                    done.written += 1;
                    (done.last, done.trouble) = (Some(taken), None);
                }
                Err(error) => {
                    // Of several failures in a row only the first is reported here. A failure of
                    // the last checkpoint is reported at the end.
                    if !last && done.trouble.is_none() {
                        warn(&error);
                    }
                    done.trouble = Some(error);
                }
            }
        }
    }

    /// Returns how many were written, and why the last one was not.
    pub(super) fn conclude(&self) -> (u64, Option<CheckpointError>) {
        let mut done = self.lock();
        (done.written, done.trouble.take())
    }

    /// Says how to resume a run that ended too early.
    pub(super) fn consolation(&self, path: Option<&Path>, resumed: Option<&Path>, ranks: usize) -> String {
        let go_on = |file: &Path| format!("mpirun -n {ranks} {}", to_go_on(std::env::args_os(), file));
        match (path, self.lock().last, resumed) {
            (Some(path), Some(taken), _) => {
                let ago = taken.elapsed().max(Duration::from_millis(1)).as_secs_f64();
                format!(
                    "The last checkpoint, {}, is whole and was taken {} ago. To go on with it, on any number of ranks:\n  {}",
                    path.display(),
                    time(ago),
                    go_on(path)
                )
            }
            (_, _, Some(resumed)) => format!(
                "No checkpoint was written since it began from {}, which is still there. To begin from there again:\n  {}",
                resumed.display(),
                go_on(resumed)
            ),
            (Some(path), None, None) => format!("No checkpoint was written to {} yet.", path.display()),
            (None, _, None) => "There is no checkpoint of it: none was asked for by --checkpoint.".to_owned(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Done> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use filch_dd::checkpoint::Identity;
    use filch_dd::port::{Parcel, Totals};

    use super::*;

    fn left(explored: u64, last: bool) -> Left {
        let totals = Totals { explored, ..Totals::default() };
        Left { parcels: vec![Parcel::default()], totals, last, ..Left::default() }
    }

    #[test]
    fn what_is_written_counts_what_was_done_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut all = Checkpoint::new(Identity::new("golomb", "5"));
        all.totals.explored = 100;
        let kept = Kept::default();
        assert!(kept.consolation(Some(&path), None, 2).contains("No checkpoint was written"));
        let mut write = kept.writer(&path, all);
        write(left(1, false));
        write(left(2, false));
        // A checkpoint without open nodes reads as a proof, which only the last checkpoint may
        // give.
        write(Left::default());
        assert_eq!(Checkpoint::read(&path).unwrap().totals.explored, 102);
        let words = kept.consolation(Some(&path), None, 2);
        assert!(words.contains("is whole") && words.contains("mpirun -n 2") && words.contains("--resume"), "{words}");
        assert!(matches!(kept.conclude(), (2, None)));
    }

    #[test]
    fn a_last_one_that_is_not_written_is_told_of() {
        let kept = Kept::default();
        let mut write = kept.writer(Path::new("no such folder/a"), Checkpoint::new(Identity::new("golomb", "5")));
        write(left(1, true));
        let (written, trouble) = kept.conclude();
        assert_eq!(written, 0);
        assert!(trouble.unwrap().to_string().contains("no such folder"));
    }
}
