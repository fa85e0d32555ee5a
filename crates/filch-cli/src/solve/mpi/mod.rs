//! `--mpi`: the same search on all ranks that `mpirun` started.

#[cfg(feature = "mpi")]
mod checkpoints;
#[cfg(feature = "mpi")]
mod rank;

#[cfg(feature = "mpi")]
pub(super) use rank::{outcome, run};

/// Returns an error that says how to build with MPI.
#[cfg(not(feature = "mpi"))]
pub(super) fn run(_: &super::Arguments) -> anyhow::Result<std::process::ExitCode> {
    Err(crate::mpi::missing())
}
