//! Saves the counts to the file of `--state` while the sweep runs.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use filch_queue::calibration::Cpu;

use super::counts::Counts;
use super::state::State;
use crate::say;

/// The interval between two writes.
const EVERY: Duration = Duration::from_secs(10);

/// Saves the counts to a file.
pub(super) struct Keeper<'a> {
    path: &'a Path,
    cpu: &'a Cpu,
    last: Instant,
    is_in_trouble: bool,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(path: &'a Path, cpu: &'a Cpu) -> Keeper<'a> {
        Keeper { path, cpu, last: Instant::now(), is_in_trouble: false }
    }

    /// Saves the counts if the last write is long enough ago.
    ///
    /// A full disk does not end a sweep of hours: the failure is reported once, and the write is
    /// retried.
    pub(super) fn sometimes(&mut self, state: &State, counts: &Counts) {
        if self.last.elapsed() < EVERY {
            return;
        }
        self.last = Instant::now();
        match self.keep(state, counts) {
            Ok(()) => self.is_in_trouble = false,
            Err(_) if self.is_in_trouble => {}
            Err(trouble) => {
                self.is_in_trouble = true;
                say(&format!("{trouble:#}; the sweep goes on, and so do attempts to keep them."));
            }
        }
    }

    /// Saves the counts.
    pub(super) fn keep(&self, state: &State, counts: &Counts) -> Result<()> {
        let counts = counts.clone();
        State { counts, ..*state }.write(self.path, self.cpu).context("the counts were not kept")
    }
}
