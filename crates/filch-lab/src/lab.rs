//! `filch-lab lab`: instruments for this machine.
//!
//! They repeat what the papers measured on theirs, and measure the prices that all designs here
//! trade in.

pub(crate) mod calibration;
pub(crate) mod delta;
pub(crate) mod fences;
mod kinds;
pub(crate) mod litmus;
pub(crate) mod published;
pub(crate) mod store_buffer;

use anyhow::Result;
use clap::Subcommand;

/// Measure this machine, or analyse a program for it.
#[derive(Debug, Subcommand)]
pub(crate) enum Instrument {
    /// Measure the capacity of the store buffer of this CPU.
    StoreBuffer(store_buffer::Arguments),
    /// Test whether a load overtakes more stores than the bound allows.
    ///
    /// The fence-free queues rely on this bound.
    Litmus(litmus::Arguments),
    /// Compute delta for a compiled program, from the fewest stores between two pops.
    Delta(delta::Arguments),
    /// Measure what fences, barriers, wake-ups and steals cost.
    Fences(fences::Arguments),
}

impl Instrument {
    /// Runs the chosen instrument.
    pub(crate) fn run(&self) -> Result<()> {
        match self {
            Instrument::StoreBuffer(arguments) => store_buffer::run(arguments),
            Instrument::Litmus(arguments) => litmus::run(arguments),
            Instrument::Delta(arguments) => delta::run(arguments),
            Instrument::Fences(arguments) => fences::run(arguments),
        }
    }
}
