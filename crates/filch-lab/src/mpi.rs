//! MPI, for all commands that use it: how to get it.

/// What a filch without MPI says to who wants it.
#[cfg_attr(feature = "mpi", allow(dead_code))]
pub(crate) const HOW_TO_GET_IT: &str = "this filch was built without MPI. With an MPI and libclang (on Debian or Ubuntu: `apt install libopenmpi-dev openmpi-bin libclang-dev`), \
    build it by `cargo build --release -p filch-lab --features mpi` and start it by `mpirun -n 4 target/release/filch solve --mpi …`";
