//! Keeps the counts in the file of `--state` while there are more to come.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use filch_queue::calibration::Cpu;

use super::counts::Counts;
use super::state::State;
use crate::say;

/// How often the counts are written.
const EVERY: Duration = Duration::from_secs(10);

/// Keeps the counts in a file.
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

    /// Writes them if that was long ago. A sweep of hours is not given up because a disk is full for a while: that is said once, and tried again.
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

    /// Writes them.
    pub(super) fn keep(&self, state: &State, counts: &Counts) -> Result<()> {
        let counts = counts.clone();
        State { counts, ..*state }.write(self.path, self.cpu).context("the counts were not kept")
    }
}
