//! `filch lab`: instruments for this machine.
//!
//! They repeat what the papers measured on theirs, and measure the prices that all designs here
//! trade in.

pub(crate) mod delta;
pub(crate) mod fences;
mod kinds;
pub(crate) mod litmus;
pub(crate) mod published;
pub(crate) mod store_buffer;

use anyhow::Result;
use clap::Subcommand;

/// Something to find out about this machine, or about a program on it.
#[derive(Debug, Subcommand)]
pub(crate) enum Instrument {
    /// How many stores the store buffer of this CPU holds.
    StoreBuffer(store_buffer::Arguments),
    /// Whether a load overtakes more stores than the bound says: the litmus test of the fence-free queues.
    Litmus(litmus::Arguments),
    /// How many stores a compiled program makes at least between two pops, and the delta that follows.
    Delta(delta::Arguments),
    /// What fences, barriers, wake-ups and steals cost.
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
