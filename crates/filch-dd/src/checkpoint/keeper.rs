//! Who writes checkpoints while a search goes on: the outside of its port.
//!
//! It asks for all open nodes every so often, and writes what it gets. The search goes on as soon as the nodes are copied; it never waits for the disk.

use core::time::Duration;
use std::path::PathBuf;
use std::time::Instant;

use super::error::{CheckpointError, Reason};
use super::{file, Checkpoint, Identity};
use crate::port::{Event, Parcel, Port, Totals};
use crate::solver::{Outcome, Solution};

/// How often a checkpoint is written unless it is said.
const USUAL: Duration = Duration::from_secs(60);
/// To wait for ever is to wait for this again and again.
const LONG: Duration = Duration::from_secs(3600);

/// Who is told of a checkpoint that could not be written.
type OnTrouble<'a> = Box<dyn FnMut(&CheckpointError) + Send + 'a>;

/// What is to be kept of a search, where, and what to begin with; for [`Solver::solve_with_checkpoints`](crate::Solver::solve_with_checkpoints).
pub struct Keeper<'a> {
    identity: Identity,
    path: Option<PathBuf>,
    every: Duration,
    resumed: Option<Checkpoint>,
    on_trouble: Option<OnTrouble<'a>>,
}

/// What came of a search, and of its checkpoints.
#[derive(Debug)]
pub struct Kept {
    /// What the search came to. Its nodes and its time are those of all who searched, one after the other; what is told of workers is of the last.
    pub outcome: Outcome,
    /// How many checkpoints were written.
    pub written: u64,
    /// Why the last checkpoint, with what was left at the end, could not be written.
    pub trouble: Option<CheckpointError>,
}

impl<'a> Keeper<'a> {
    /// For a search of this instance. It begins at the beginning and keeps nothing, unless told.
    pub fn new(identity: Identity) -> Self {
        Keeper { identity, path: None, every: USUAL, resumed: None, on_trouble: None }
    }

    /// Keeps checkpoints in this file: the first at once, so that there always is one, then every minute or as [often](Self::every) as it is said, and the last
    /// when the search ends, for whatever reason. What a killed keeper left half written beside it is removed.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// How long after a checkpoint was begun the next one is.
    #[must_use]
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// Goes on from a checkpoint.
    ///
    /// # Errors
    ///
    /// If it is of something else.
    pub fn resume(mut self, checkpoint: Checkpoint) -> Result<Self, CheckpointError> {
        checkpoint.check(&self.identity)?;
        self.resumed = Some(checkpoint);
        Ok(self)
    }

    /// Tells of a checkpoint that could not be written, while the search goes on and the next one is tried. Of several in a row it tells once. The last one is not told of here: see [`Kept::trouble`].
    #[must_use]
    pub fn on_trouble(mut self, tell: impl FnMut(&CheckpointError) + Send + 'a) -> Self {
        self.on_trouble = Some(Box::new(tell));
        self
    }

    /// The best solution of the checkpoint to begin with.
    pub(crate) fn best(&self) -> Option<&Solution> {
        self.resumed.as_ref()?.best.as_ref()
    }

    /// Gets a search started, which knows this solution. Whether it begins at the root.
    pub(crate) fn begin(self, port: &Port, best: Option<Solution>, threads: usize) -> (Keeping<'a>, bool) {
        let root = self.resumed.is_none();
        let mut all = self.resumed.unwrap_or_else(|| Checkpoint::new(self.identity));
        (all.ranks, all.threads) = (1, u32::try_from(threads).unwrap_or(u32::MAX));
        let parcels = core::mem::take(&mut all.parcels);
        if !root {
            port.deliver(parcels).expect("no search has ended that has not begun");
        }
        port.end();
        if let Some(path) = &self.path {
            file::sweep(path);
            // Answered before the first node is taken.
            port.snapshot();
        }
        let keeping = Keeping {
            before: (all.elapsed, all.totals),
            best,
            all,
            path: self.path,
            every: self.every,
            on_trouble: self.on_trouble,
            start: Instant::now(),
            written: 0,
            is_trouble_told: false,
        };
        (keeping, root)
    }
}

impl core::fmt::Debug for Keeper<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Keeper { identity, path, every, .. } = self;
        f.debug_struct("Keeper")
            .field("identity", identity)
            .field("path", path)
            .field("every", every)
            .finish_non_exhaustive()
    }
}

/// A keeper at work.
pub(crate) struct Keeping<'a> {
    /// The checkpoint that is written next. Its nodes are there only while it is written.
    all: Checkpoint,
    /// The best solution so far: of those found, the last.
    best: Option<Solution>,
    /// What others had done before this search, and how long it took them.
    before: (Duration, Totals),
    path: Option<PathBuf>,
    every: Duration,
    on_trouble: Option<OnTrouble<'a>>,
    start: Instant,
    written: u64,
    is_trouble_told: bool,
}

/// What was open at some moment.
struct Left {
    parcels: Vec<Parcel>,
    totals: Totals,
}

/// What was open at the end, and what was shown right before; nothing, if the search failed.
pub(crate) struct Last {
    shown: Option<Left>,
    left: Left,
}

impl Keeping<'_> {
    /// Writes checkpoints until the search is over.
    pub(crate) fn keep(&mut self, port: &Port) -> Last {
        let (mut is_asked, mut due) = (self.path.is_some(), self.start.checked_add(self.every));
        loop {
            let wait = match due {
                Some(due) if self.path.is_some() && !is_asked => due.saturating_duration_since(Instant::now()),
                _ => LONG,
            };
            let mut shown = None;
            for event in port.events(wait.min(LONG)) {
                match event {
                    Event::Found(solution) => self.best = Some(solution),
                    Event::Snapshot(parcels, totals) => shown = Some(Left { parcels, totals }),
                    Event::Ended { left, totals } => return Last { shown, left: Left { parcels: left, totals } },
                    Event::Failed => {
                        return Last { shown: None, left: Left { parcels: Vec::new(), totals: Totals::default() } }
                    }
                    Event::Given(_) | Event::Idle { .. } => {}
                }
            }
            if let Some(shown) = shown {
                is_asked = false;
                self.write_on_the_way(shown);
            }
            let now = Instant::now();
            if self.path.is_some() && !is_asked && due.is_some_and(|due| due <= now) {
                port.snapshot();
                (is_asked, due) = (true, now.checked_add(self.every));
            }
        }
    }

    /// Writes the last checkpoint, of a search that ended well or early but did not fail.
    pub(crate) fn finish(mut self, last: Last, mut outcome: Outcome) -> Kept {
        let Last { shown, left } = last;
        if let Some(shown) = shown {
            self.write_on_the_way(shown);
        }
        let totals = self.before.1 + left.totals;
        let statistics = &mut outcome.statistics;
        statistics.elapsed = statistics.elapsed.saturating_add(self.before.0);
        (statistics.explored, statistics.closed) = (totals.explored, totals.closed);
        (statistics.diagram_nodes, statistics.pruned) = (totals.diagram_nodes, totals.pruned);
        let mut trouble = None;
        if let Some(path) = &self.path {
            let proven = outcome.ending.is_proven();
            // What nothing better can come of need not be kept: who resumes has the proof at once.
            let parcels = if proven { Vec::new() } else { left.parcels };
            self.best.clone_from(&outcome.best);
            trouble = if parcels.is_empty() && !proven {
                // It would read as a proof.
                let why = std::io::Error::other("the open nodes could not be had");
                Some(CheckpointError::new(Reason::NotWritten(why)).of(path))
            } else {
                self.write(Left { parcels, totals: left.totals }, outcome.statistics.elapsed).err()
            };
        }
        Kept { outcome, written: self.written, trouble }
    }

    /// Writes what is left after so long in all.
    fn write(&mut self, left: Left, elapsed: Duration) -> Result<(), CheckpointError> {
        let Some(path) = &self.path else { return Ok(()) };
        self.all.parcels = left.parcels;
        self.all.totals = self.before.1 + left.totals;
        self.all.elapsed = elapsed;
        self.all.best.clone_from(&self.best);
        let result = self.all.write(path);
        self.all.parcels = Vec::new();
        self.written += u64::from(result.is_ok());
        result
    }

    /// Writes one that is not the last. If it cannot be written, the search goes on, and the next is tried.
    fn write_on_the_way(&mut self, shown: Left) {
        // If nothing is open the search is about to end, with its proof or without: that is for the last checkpoint to say.
        if shown.parcels.is_empty() {
            return;
        }
        let result = self.write(shown, self.before.0.saturating_add(self.start.elapsed()));
        let was_told = core::mem::replace(&mut self.is_trouble_told, result.is_err());
        if let (Err(error), false, Some(tell)) = (result, was_told, &mut self.on_trouble) {
            tell(&error);
        }
    }
}
