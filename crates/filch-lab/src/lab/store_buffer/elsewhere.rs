//! Other CPUs: there are no loops for them, and no bound that would rest on what they say.

use std::ops::RangeInclusive;

use anyhow::{bail, Result};

/// Where the stores of a loop go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Places {
    /// To different cache lines.
    Lines,
    /// All to one word.
    One,
}

/// None.
#[derive(Debug)]
pub(super) enum Sequences {}

impl Sequences {
    /// Refuses.
    pub(super) fn new(_stores: RangeInclusive<usize>, _places: Places) -> Result<Sequences> {
        bail!(
            "the store buffer is measured on x86-64 only, and this is {}: here nothing bounds what a load overtakes, and the queues keep their fences",
            std::env::consts::ARCH
        )
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match *self {}
    }

    /// Nanoseconds that a turn of one of them takes.
    pub(super) fn time(&mut self, _which: usize) -> f64 {
        match *self {}
    }
}
