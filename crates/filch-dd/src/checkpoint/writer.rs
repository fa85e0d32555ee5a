//! Writes checkpoints while a search runs. It is the outside of the search's port.
//!
//! It regularly asks for all open nodes, and writes what it gets. The search continues as soon as
//! the nodes are copied; it never waits for the disk.

use core::time::Duration;
use std::path::PathBuf;
use std::time::Instant;

use super::error::{CheckpointError, Reason};
use super::options::{CheckpointOptions, OnWriteError};
use super::{file, Checkpoint};
use crate::port::{Event, Package, Port, Totals};
use crate::solver::{Outcome, Solution};

/// An endless wait is a sequence of waits of this length.
const LONG_WAIT: Duration = Duration::from_secs(3600);

/// The result of a search with checkpoints.
#[derive(Debug)]
pub struct CheckpointedOutcome {
    /// The outcome of the search.
    ///
    /// Its nodes and its time include the searches that it resumed. The statistics of workers are
    /// of the last search only.
    pub outcome: Outcome,
    /// The number of checkpoints that were written.
    pub written: u64,
    /// Why the last checkpoint, with the nodes left at the end, could not be written.
    pub write_error: Option<CheckpointError>,
}

impl<'a> CheckpointOptions<'a> {
    /// Prepares the port of a search that knows `best`. Returns whether the search begins at the
    /// root.
    pub(crate) fn begin(self, port: &Port, best: Option<Solution>, threads: usize) -> (CheckpointWriter<'a>, bool) {
        let root = self.resumed.is_none();
        let mut checkpoint = self.resumed.unwrap_or_else(|| Checkpoint::new(self.identity));
        (checkpoint.ranks, checkpoint.threads) = (1, u32::try_from(threads).unwrap_or(u32::MAX));
        let packages = core::mem::take(&mut checkpoint.packages);
        if !root {
            port.deliver(packages).expect("the search has not begun, so it has not ended");
        }
        port.end();
        if let Some(path) = &self.path {
            file::remove_partial_files(path);
            // This is answered before the first node is taken.
            port.snapshot();
        }
        let writer = CheckpointWriter {
            before: (checkpoint.elapsed, checkpoint.totals),
            best,
            checkpoint,
            path: self.path,
            every: self.every,
            on_write_error: self.on_write_error,
            start: Instant::now(),
            written: 0,
            trouble_reported: false,
        };
        (writer, root)
    }
}

/// Writes the checkpoints of a running search.
pub(crate) struct CheckpointWriter<'a> {
    /// The checkpoint that is written next. It has its nodes only while it is written.
    checkpoint: Checkpoint,
    /// The best solution so far: the last that was found.
    best: Option<Solution>,
    /// The time and the totals of the searches before this one.
    before: (Duration, Totals),
    path: Option<PathBuf>,
    every: Duration,
    on_write_error: Option<OnWriteError<'a>>,
    start: Instant,
    written: u64,
    trouble_reported: bool,
}

/// The open nodes at some moment.
struct OpenNodes {
    packages: Vec<Package>,
    totals: Totals,
}

/// The nodes left at the end, and the last snapshot right before.
///
/// Empty if the search failed.
pub(crate) struct LastNodes {
    snapshot: Option<OpenNodes>,
    left: OpenNodes,
}

impl CheckpointWriter<'_> {
    /// Writes checkpoints until the search is over.
    pub(crate) fn run(&mut self, port: &Port) -> LastNodes {
        let (mut is_requested, mut due) = (self.path.is_some(), self.start.checked_add(self.every));
        loop {
            let wait = match due {
                Some(due) if self.path.is_some() && !is_requested => due.saturating_duration_since(Instant::now()),
                _ => LONG_WAIT,
            };
            let mut snapshot = None;
            for event in port.events(wait.min(LONG_WAIT)) {
                match event {
                    Event::Found(solution) => self.best = Some(solution),
                    Event::Snapshot(packages, totals) => snapshot = Some(OpenNodes { packages, totals }),
                    Event::Ended { left, totals } => {
                        return LastNodes { snapshot, left: OpenNodes { packages: left, totals } }
                    }
                    Event::Failed => {
                        return LastNodes {
                            snapshot: None,
                            left: OpenNodes { packages: Vec::new(), totals: Totals::default() },
                        }
                    }
                    Event::Given(_) | Event::Idle { .. } => {}
                }
            }
            if let Some(snapshot) = snapshot {
                is_requested = false;
                self.write_intermediate(snapshot);
            }
            let now = Instant::now();
            if self.path.is_some() && !is_requested && due.is_some_and(|due| due <= now) {
                port.snapshot();
                (is_requested, due) = (true, now.checked_add(self.every));
            }
        }
    }

    /// Writes the last checkpoint, unless the search failed.
    ///
    /// The result is proven, or the search was stopped.
    pub(crate) fn finish(mut self, last: LastNodes, mut outcome: Outcome) -> CheckpointedOutcome {
        let LastNodes { snapshot, left } = last;
        if let Some(snapshot) = snapshot {
            self.write_intermediate(snapshot);
        }
        let totals = self.before.1 + left.totals;
        let statistics = &mut outcome.statistics;
        statistics.elapsed = statistics.elapsed.saturating_add(self.before.0);
        (statistics.explored, statistics.closed) = (totals.explored, totals.closed);
        (statistics.diagram_nodes, statistics.pruned) = (totals.diagram_nodes, totals.pruned);
        let mut write_error = None;
        if let Some(path) = &self.path {
            let proven = outcome.status.is_proven();
            // A proven result needs no nodes: a search that resumes has the proof at once.
            let packages = if proven { Vec::new() } else { left.packages };
            self.best.clone_from(&outcome.best);
            write_error = if packages.is_empty() && !proven {
                // Without nodes the checkpoint would look like a proof.
                let why = std::io::Error::other("the search did not return its open nodes");
                Some(CheckpointError::new(Reason::NotWritten(why)).of(path))
            } else {
                self.write(OpenNodes { packages, totals: left.totals }, outcome.statistics.elapsed).err()
            };
        }
        CheckpointedOutcome { outcome, written: self.written, write_error }
    }

    /// Writes a checkpoint with the nodes left; `elapsed` is the total time.
    fn write(&mut self, left: OpenNodes, elapsed: Duration) -> Result<(), CheckpointError> {
        let Some(path) = &self.path else { return Ok(()) };
        self.checkpoint.packages = left.packages;
        self.checkpoint.totals = self.before.1 + left.totals;
        self.checkpoint.elapsed = elapsed;
        self.checkpoint.best.clone_from(&self.best);
        let result = self.checkpoint.write(path);
        self.checkpoint.packages = Vec::new();
        self.written += u64::from(result.is_ok());
        result
    }

    /// Writes a checkpoint that is not the last.
    ///
    /// If it cannot be written, the search continues, and the next one is tried.
    fn write_intermediate(&mut self, snapshot: OpenNodes) {
        // If nothing is open, the search is about to end, with a proof or without. The last
        // checkpoint records which.
        if snapshot.packages.is_empty() {
            return;
        }
        let result = self.write(snapshot, self.before.0.saturating_add(self.start.elapsed()));
        let was_reported = core::mem::replace(&mut self.trouble_reported, result.is_err());
        if let (Err(error), false, Some(callback)) = (result, was_reported, &mut self.on_write_error) {
            callback(&error);
        }
    }
}
