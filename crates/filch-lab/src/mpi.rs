//! How to build with MPI, for all commands that use it.

/// The error message of a filch that was built without MPI.
#[cfg_attr(feature = "mpi", allow(dead_code))]
pub(crate) const HOW_TO_GET_IT: &str = "this filch was built without MPI. Install an MPI and libclang (on Debian or Ubuntu: `apt install libopenmpi-dev openmpi-bin libclang-dev`), \
    build with `cargo build --release -p filch-lab --features mpi`, and start with `mpirun -n 4 target/release/filch solve --mpi …`";
