//! How to build with MPI, for all commands that use it.

/// Says which packages a build with MPI needs.
pub const INSTALL: &str =
    "Install an MPI and libclang (on Debian or Ubuntu: `apt install libopenmpi-dev openmpi-bin libclang-dev`)";

/// Returns the error of a `filch` that was built without MPI.
#[cfg(all(feature = "commands", not(feature = "mpi")))]
pub(crate) fn missing() -> anyhow::Error {
    anyhow::anyhow!(
        "this filch was built without MPI. {INSTALL}, build with `cargo build --release -p filch-cli --features mpi`, \
         and start with `mpirun -n 4 target/release/filch solve --mpi …`"
    )
}
