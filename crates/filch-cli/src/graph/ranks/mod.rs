//! `filch graph closure --mpi`: the closure of a graph that is divided among ranks.
//!
//! Each rank builds and explores a part.

// Without MPI, only tests run this on ranks, which are threads then.
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
mod rank;
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
mod summary;

use anyhow::Result;

pub(super) use summary::RankSummary;

use super::Arguments;

#[cfg(not(feature = "mpi"))]
pub(super) fn run(_: &Arguments) -> Result<()> {
    Err(crate::mpi::missing())
}

/// Runs the task on all ranks. Rank 0 reports the result; another rank prints only if it fails
/// alone.
#[cfg(feature = "mpi")]
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    use anyhow::anyhow;
    use filch_mpi::network::{agree, Mpi, Network};

    let mut network = Mpi::start()?;
    let is_first = network.rank() == 0;
    let prepared = rank::prepare(arguments, is_first);
    if let Err(reason) = agree(&mut network, prepared.as_ref().map(|_| ()).map_err(|error| format!("{error:#}"))) {
        network.finish();
        return if is_first { Err(anyhow!(reason)) } else { Ok(()) };
    }
    let found = rank::closure(arguments, &prepared?, &mut network, Mpi::machine());
    let summary = match found {
        Ok(summary) => summary,
        // The other ranks would wait for this rank.
        Err(error) => network.abort(&format!("error: rank {}: {error:#}", network.rank())),
    };
    network.finish();
    if !is_first {
        return Ok(());
    }
    // There is no --out: each rank has a part of the result.
    super::report(arguments, &summary, |_| Ok(()))
}
