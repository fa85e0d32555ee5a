//! Saves the counts to the file of `--state` while the sweep runs.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::counts::Counts;
use super::state::State;
use crate::lab::calibration::Cpu;
use crate::say;

/// The interval between two writes.
const INTERVAL: Duration = Duration::from_secs(10);

/// Saves the counts to a file.
pub(super) struct Autosave<'a> {
    path: &'a Path,
    cpu: &'a Cpu,
    last: Instant,
    has_failed: bool,
}

impl<'a> Autosave<'a> {
    pub(super) fn new(path: &'a Path, cpu: &'a Cpu) -> Autosave<'a> {
        Autosave { path, cpu, last: Instant::now(), has_failed: false }
    }

    /// Saves the counts if the last write is long enough ago.
    ///
    /// A full disk does not end a sweep of hours: the failure is reported once, and the write is
    /// retried.
    pub(super) fn save_if_due(&mut self, state: &State, counts: &Counts) {
        if self.last.elapsed() < INTERVAL {
            return;
        }
        self.last = Instant::now();
        match self.save(state, counts) {
            Ok(()) => self.has_failed = false,
            Err(_) if self.has_failed => {}
            Err(error) => {
                self.has_failed = true;
                say(&format!("{error:#}; the sweep continues and tries again later."));
            }
        }
    }

    /// Saves the counts.
    pub(super) fn save(&self, state: &State, counts: &Counts) -> Result<()> {
        let counts = counts.clone();
        State { counts, ..*state }.write(self.path, self.cpu).context("the counts were not saved")
    }
}
