//! Other CPUs: there are no loops for them, and no bound depends on them.

use std::ops::RangeInclusive;

use anyhow::{bail, Result};

use super::Places;

/// No sequences: this type has no values.
#[derive(Debug)]
pub(super) enum Sequences {}

impl Sequences {
    /// Returns an error: this CPU is not supported.
    pub(super) fn new(_stores: RangeInclusive<usize>, _places: Places) -> Result<Sequences> {
        bail!(
            "the store buffer can be measured on x86-64 only, and this CPU is {}: it has no bound on the stores that a load overtakes, and the queues keep their fences",
            std::env::consts::ARCH
        )
    }

    /// The number of sequences.
    pub(super) fn len(&self) -> usize {
        match *self {}
    }

    /// The nanoseconds that an iteration of a sequence takes.
    pub(super) fn time(&mut self, _which: usize) -> f64 {
        match *self {}
    }
}
